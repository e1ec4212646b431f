/** The query strings of lists, searches and single records, without a database. */
import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { EVERYTHING, type Relation, type SortKey } from '../../../lib/crud/sql/condition.js';
import { encodeCursor, readCursor } from '../../../lib/crud/query/cursor.js';
import { isDeletedChoice, QueryParameters } from '../../../lib/crud/query/parameters.js';
import { isGroupName } from '../../../lib/crud/query/filter-parameter.js';
import {
  conditionParameters,
  parameterNames,
  parseDeleteQuery,
  parseCountQuery,
  parseExportQuery,
  parseListQuery,
  type ListParameters,
} from '../../../lib/crud/query/list-query.js';
import {
  parseRecordQuery,
  allFields,
  selectedFields,
  type Includable,
  type RecordRequest,
  hasRelations,
  withKey,
} from '../../../lib/crud/query/record-request.js';
import { RawQuery, rawQueryOf, sentKey, withoutParameters } from '../../../lib/crud/query/raw-query.js';
import type { ListQuery } from '../../../lib/crud/declare/envelope.js';
import type { Paging } from '../../../lib/crud/declare/list-options.js';
import { QueryErrors, refuseParameter } from '../../../lib/crud/query/query-errors.js';
import type { FilterableField } from '../../../lib/crud/query/field-path.js';
import { customOperator, operatorsFor, type FilterOperator, type Operator } from '../../../lib/crud/sql/operators.js';
import { entityKey } from '../../../lib/entities/entity-key.js';
import type { Field } from '../../../lib/entities/entity-schema.js';
import * as calendar from '../../../lib/entities/calendar-types.js';
import { decimal } from '../../../lib/entities/decimals.js';
import * as types from '../../../lib/entities/value-types.js';
import type { HttpRequest } from '../../../lib/http/http-request.js';
import { show, wrong } from './shown.js';

const fieldOf = (name: string, type: types.ValueType = types.text()): Field =>
  ({ name, path: name.split('.'), type, column: {} }) as unknown as Field;
const text = (most?: number): types.ValueType => ({ ...types.text(most), comparison: 'text' });

const id = fieldOf('id', types.signed(32n));
const title = fieldOf('title', text(3));
const pages = fieldOf('pages', types.signed(32n));
const FIELDS = [
  id,
  title,
  pages,
  fieldOf('price', decimal({}, Infinity, [], {})),
  fieldOf('free', types.boolean),
  fieldOf('stage', types.oneOf(['open', 'done'])),
  fieldOf('readAt', calendar.dateTime),
  fieldOf('day', calendar.date),
  fieldOf('code', types.uuid),
  fieldOf('address.city', text()),
  fieldOf('address.zip', text()),
  fieldOf('extra', types.json),
];
const byName = (...fields: readonly Field[]) => new Map(fields.map((each) => [each.name, each]));
const relationOf = (propertyPath: string) => ({ propertyPath }) as Relation;
const pathOf = (field: Field, custom: readonly Operator[] = []): FilterableField => ({
  relations: [],
  field,
  operators: operatorsFor(field, custom),
});
const FILTERABLE = new Map<string, FilterableField>([
  ...FIELDS.map((field): [string, FilterableField] => [field.name, pathOf(field)]),
  ['author.name', { ...pathOf(title), relations: [relationOf('author')] }],
  ['author.team.size', { ...pathOf(pages), relations: ['author', 'team'].map(relationOf) }],
]);

const includableOf = (path: string): [string, Includable] => [
  path,
  { path, relation: relationOf(path), readable: [id, title] },
];

const BASE: ListParameters = {
  key: entityKey([id]),
  paged: true,
  searchable: new Map(),
  filterable: new Map(),
  sortable: new Map(),
  defaultSort: [],
  choosesDeleted: false,
  readable: FIELDS,
  includable: new Map(),
  linkable: [],
};
const sent = (query: string): ListQuery =>
  rawQueryOf({ method: 'GET', headers: {}, url: `/api/texts?${query}` } as HttpRequest);
const listOf = (query: string | ListQuery, parameters: Partial<ListParameters>) =>
  parseListQuery(typeof query === 'string' ? sent(query) : query, { ...BASE, ...parameters }, 'findAll');

describe('[7.1] filters', () => {
  const parse = (query: string | ListQuery) => listOf(query, { filterable: FILTERABLE });

  it.each<[query: string, condition: string]>([
    ['', 'all'],
    ['filter[pages]=7', 'pages eq 7'],
    ['filter[pages][eq]=-7', 'pages eq -7'],
    ['filter[title]=longer than the column', 'title eq "longer than the column"'],
    ['filter[title]=', 'title eq ""'],
    ['filter[title][ne]=a,b', 'title ne "a,b"'],
    ['filter[pages][gt]=1&filter[pages][lte]=9', '(pages gt 1 & pages lte 9)'],
    ['filter[price][gte]=1.50', 'price gte "1.50"'],
    ['filter[price][lt]=2', 'price lt "2"'],
    ['filter[price][between]=1,2', 'price between "1" "2"'],
    ['filter[free]=false', 'free eq false'],
    ['filter[readAt]=2026-01-31', 'readAt eq "2026-01-31T00:00:00.000Z"'],
    ['filter[title][in]=a,b', 'title in "a" "b"'],
    ['filter[title][in]=', 'title in ""'],
    ['filter[title][in]=,', 'title in "" ""'],
    ['filter[title][in]=a\\,b,c', 'title in "a,b" "c"'],
    ['filter[title][in]=a\\b,\\', 'title in "a\\\\b" "\\\\"'],
    ['filter[title][nin]=\\,', 'title nin ","'],
    ['filter[title][contains]=a,b', 'title contains "a,b"'],
    ['filter[title][icontains]=abcd', 'title icontains "abcd"'],
    ['filter[stage][startsWith]=o', 'stage startsWith "o"'],
    ['filter[title][endsWith]=\\,', 'title endsWith "\\\\,"'],
    ['filter[title][isNull]=true', 'title isNull'],
    ['filter[title][isNull]=false', 'title isNotNull'],
    ['filter[address.city]=Ulm', 'address.city eq "Ulm"'],
    ['filter[author.name]=Ann', 'author{title eq "Ann"}'],
    ['filter[author.name][isNull]=true', 'author{title isNull}'],
    ['filter[author.name][isNull]=false', 'author{title isNotNull}'],
    ['filter[author.team.size][gt]=3', 'author{team{pages gt 3}}'],
    ['filter[or][0][pages]=1', 'pages eq 1'],
    ['filter[or][0][pages]=1&filter[or][999][free]=true', '(pages eq 1 | free eq true)'],
    ['filter[or][0][pages]=1&filter[or][1][free]=true&filter[id]=4', '(id eq 4 & (pages eq 1 | free eq true))'],
    ['filter[or][0][pages]=1&filter[or][00][free]=true', '(pages eq 1 & free eq true)'],
    ['filter[and][0][pages]=1&filter[and][1][free]=true', '(pages eq 1 & free eq true)'],
    ['filter[not][pages]=1', '!pages eq 1'],
    ['filter[not][pages]=1&filter[not][free]=true', '!(pages eq 1 & free eq true)'],
    ['filter[not][not][pages][gt]=1', '!!pages gt 1'],
    [
      'filter[and][0][or][0][pages]=1&filter[and][0][or][1][pages]=2&filter[and][1][free]=true',
      '((pages eq 1 | pages eq 2) & free eq true)',
    ],
    ['filter[or][0][and][0][not][pages]=1&filter[or][1][id]=2', '(!pages eq 1 | id eq 2)'],
    [`filter[pages][in]=${'1,'.repeat(99)}1`, `pages in${' 1'.repeat(100)}`],
  ])('%s is %s', (query, condition) => {
    expect(show(parse(query).condition)).toBe(condition);
  });

  const known = `; known ones are ${[...FILTERABLE.keys()].join(', ')}`;
  const ORDERED = 'eq, ne, gt, gte, lt, lte, between, in, nin';

  it.each<[query: string, ...errors: string[]]>([
    ['filter=1', 'filter: must have the form filter[field] or filter[field][operator]'],
    ['filter[title=1', 'filter[title: must have the form filter[field] or filter[field][operator]'],
    ['filter[title]x=1', 'filter[title]x: must have the form filter[field] or filter[field][operator]'],
    ['filter[title][a[b]]=1', 'filter[title][a[b]]: must have the form filter[field] or filter[field][operator]'],
    ['filter[ti]tle]=1', 'filter[ti]tle]: must have the form filter[field] or filter[field][operator]'],
    ['filter[]=1', `filter[]: unknown field${known}`],
    ['filter[colour]=1&filter[shape]=1', `filter[colour]: unknown field${known}`, 'filter[shape]: unknown field'],
    ['filter[or][0]=1', `filter[or][0]: unknown field${known}`],
    ['filter[__proto__]=1', `filter[__proto__]: unknown field${known}`],
    ['filter[pages][eq][eq]=1', 'filter[pages][eq][eq]: has names after the operator'],
    ['filter[pages][like]=1', `filter[pages][like]: unknown operator; known ones are ${ORDERED}, isNull`],
    ['filter[price][isAbove]=1', `filter[price][isAbove]: unknown operator; known ones are ${ORDERED}, isNull`],
    ['filter[readAt][contains]=1', `filter[readAt][contains]: unknown operator; known ones are ${ORDERED}, isNull`],
    ['filter[day][contains]=1', `filter[day][contains]: unknown operator; known ones are ${ORDERED}, isNull`],
    ['filter[code][isBelow]=1', `filter[code][isBelow]: unknown operator; known ones are ${ORDERED}, isNull`],
    ['filter[free][gt]=true', 'filter[free][gt]: unknown operator; known ones are eq, ne, in, nin, isNull'],
    [
      'filter[title][isExactly]=1&filter[stage][isNotNull]=1',
      `filter[title][isExactly]: unknown operator; known ones are ${ORDERED}, contains, icontains, startsWith, endsWith, isNull`,
      'filter[stage][isNotNull]: unknown operator',
    ],
    ['filter[extra][eq]=1', 'filter[extra][eq]: unknown operator; none is known'],
    ['filter[pages]=x', 'filter[pages]: must be an integer from -2147483648 to 2147483647'],
    ['filter[pages][in]=1,x', 'filter[pages][in]: must be an integer from -2147483648 to 2147483647'],
    ['filter[free]=1', 'filter[free]: must be true or false'],
    ['filter[pages][between]=1', 'filter[pages][between]: must be two values separated by a comma'],
    ['filter[pages][between]=1,2,3', 'filter[pages][between]: must be two values separated by a comma'],
    [`filter[pages][in]=${'1,'.repeat(100)}1`, 'filter[pages][in]: must have at most 100 values'],
    ['filter[title][contains]=', 'filter[title][contains]: must be a text to look for, got an empty one'],
    ['filter[title][isNull]=yes', 'filter[title][isNull]: must be true or false'],
    ['filter[title]=a%00b', 'filter[title]: must be text without the character NUL'],
    ['filter[title][in]=a,%00', 'filter[title][in]: must be text without the character NUL'],
    ['filter[title][endsWith]=%00', 'filter[title][endsWith]: must be text without the character NUL'],
    ['filter[or][pages]=1', 'filter[or][pages]: must have a number after [or], such as filter[or][0][field]'],
    ['filter[and]=1', 'filter[and]: must have a number after [and], such as filter[and][0][field]'],
    ['filter[or][1000][id]=1', 'filter[or][1000][id]: must have a number after [or], such as filter[or][0][field]'],
    ['filter[or][a1][id]=1', 'filter[or][a1][id]: must have a number after [or], such as filter[or][0][field]'],
    ['filter[or][1a][id]=1', 'filter[or][1a][id]: must have a number after [or], such as filter[or][0][field]'],
    [
      'filter[not][not][not][not][id]=1',
      'filter[not][not][not][not][id]: must have at most 3 groups inside each other',
    ],
  ])('%s is refused', (query, ...errors) => {
    expect(wrong(() => parse(query))).toEqual(errors);
  });

  it.each<[column: object, operators: string]>([
    [{ type: 'jsonb' }, 'near'],
    [{ type: 'text', isArray: true }, 'near'],
    [{ type: 'json' }, ''],
    [{ type: 'jsonb', isArray: true }, ''],
    [{ type: 'jsonb', isVirtualProperty: true }, ''],
    [{ type: 'jsonb', transformer: {} }, ''],
  ])('[7.1] a column %j without a comparison takes the operators %j', (column, operators) => {
    const near = customOperator({ name: 'near', takes: ['jsonb', 'text[]'] } as unknown as FilterOperator);
    const field = { ...fieldOf('extra', types.json), column } as Field;
    expect([...operatorsFor(field, [near]).keys()].join()).toBe(operators);
    expect([...operatorsFor(field).keys()]).toEqual([]);
  });

  it('[7.1] only the database knows when opaque values are equal', () => {
    const opaque = fieldOf('extra', { ...types.json, comparison: 'opaque' });
    expect([...operatorsFor(opaque).keys()]).toEqual(['eq', 'ne', 'in', 'nin', 'isNull']);
  });

  it.each<[query: string, read: string]>([
    ['filter[pages][near]=10,2', 'pages near 10 2'],
    ['filter[pages][near]=10', 'filter[pages][near]: must be a number and a distance'],
    ['filter[pages][near]=10,2&filter[pages][near]=3,1', 'filter[pages][near]: must be sent once, got several'],
    ['filter[pages][near]=%00', 'filter[pages][near]: must be a number and a distance'],
    ['filter[title][isNull]=true&filter[title][isNull]=true', 'filter[title][isNull]: must be sent once, got several'],
  ])('[7.1] with an operator of the application, %s is %s', (query, read) => {
    const near = customOperator({
      name: 'near',
      takes: ['number'],
      expected: 'a number and a distance',
      read: (text) => (text === '10' ? undefined : text.split(',').map(Number)),
      sql: () => '',
    });
    const parameters = { filterable: new Map([...FILTERABLE, ['pages', pathOf(pages, [near])]]) };
    const [error] = wrong(() => listOf(query, parameters));
    expect(error === 'accepted' ? show(listOf(query, parameters).condition) : error).toBe(read);
  });

  it.each(['filter[title]', 'filter[title][contains]'])('a lone surrogate is no text for %s', (name) => {
    expect(wrong(() => parse({ [name]: '\ud800' }))).toEqual([`${name}: must be text without the character NUL`]);
  });

  it('[7.9] has at most 50 conditions, and says so once', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, place) => `filter[or][${place}][id]=${place}`).join('&');
    expect(show(parse(many(50)).condition).split(' | ')).toHaveLength(50);
    expect(wrong(() => parse(many(51)))).toEqual(['filter: must have at most 50 conditions']);
    expect(wrong(() => parse(many(53)))).toEqual(['filter: must have at most 50 conditions']);
  });

  it('group names cannot be fields', () => {
    expect(['and', 'or', 'not', 'xor'].map(isGroupName)).toEqual([true, true, true, false]);
  });
});

describe('[4.5] searches', () => {
  const searchable = byName(title, fieldOf('address.city'));
  const search = (query: string | ListQuery, more: Partial<ListParameters> = {}) =>
    parseListQuery(typeof query === 'string' ? sent(query) : query, { ...BASE, searchable, ...more }, 'search');

  it.each<[query: string, condition: string, more?: Partial<ListParameters>]>([
    ['title=pen', 'title icontains "pen"'],
    ['q=pen', '(title icontains "pen" | address.city icontains "pen")'],
    ['address.city=Ulm&title=pen', '(title icontains "pen" & address.city icontains "Ulm")'],
    ['q=pen', 'q icontains "pen"', { searchable: byName(fieldOf('q')) }],
    ['title=pen&filter[id]=1', '(title icontains "pen" & id eq 1)', { filterable: FILTERABLE }],
    ['title=pen', '(fts.id holds "pen" & title icontains "pen")', { searchTable: 'fts' }],
    ['title=pe', 'title icontains "pe"', { searchTable: 'fts' }],
    ['title=😀😀', 'title icontains "😀😀"', { searchTable: 'fts' }],
    [`title=${'😀'.repeat(100)}`, `title icontains "${'😀'.repeat(100)}"`],
  ])('%s is %s', (query, condition, more = {}) => {
    expect(show(search(query, more).condition)).toBe(condition);
  });

  it.each<[query: string, ...errors: string[]]>([
    ['', 'q: is missing: send at least one of title, address.city, q'],
    ['page=1', 'q: is missing: send at least one of title, address.city, q'],
    [
      'page=0&colour=red',
      'colour: unknown parameter; known ones are title, address.city, q, page, size, count, fields',
      'page: must be an integer from 1',
    ],
    ['title=', 'title: must be a text to search for, got an empty one'],
    ['title=a%00b', 'title: must be a text without the character NUL'],
    [`q=${'😀'.repeat(101)}`, 'q: must be at most 100 characters long, got 101'],
    [
      'filter[title]=a&title=b',
      'filter[title]: unknown parameter; known ones are title, address.city, q, page, size, count, fields',
    ],
  ])('%j is refused', (query, ...errors) => {
    expect(wrong(() => search(query))).toEqual(errors);
  });

  it('needs no term where a list is asked for, and knows none', () => {
    expect(show(listOf('', { searchable }).condition)).toBe('all');
    expect(wrong(() => listOf('title=pen', { searchable }))).toEqual([
      'title: unknown parameter; known ones are page, size, count, fields',
    ]);
  });
});

describe('[4.4] the query string', () => {
  it('has one text for each parameter, and all of a repeated one', () => {
    expect(sent('a=1&b=2&%62=3&b=&c&__proto__=x')).toEqual(
      Object.assign(Object.create(null), { a: '1', b: ['2', '3', ''], c: '', ['__proto__']: 'x' }),
    );
    expect(Object.keys(sent('__proto__=x'))).toEqual(['__proto__']);
  });

  it('[7.9] has at most 4,096 bytes', () => {
    expect(Object.keys(sent(`x=${'ä'.repeat(2_047)}`))).toEqual(['x']);
    expect(() => sent(`x=${'ä'.repeat(2_047)}y`)).toThrow('The query string must be at most 4096 bytes long, got 4097');
  });

  it('loses the parameters that the application reads itself, and no others', () => {
    const query = sent('a=1&trace=x&b=2&b=3');
    expect({ ...withoutParameters(query, new Set(['trace', 'other'])) }).toEqual({ a: '1', b: ['2', '3'] });
    expect({ ...withoutParameters(query, new Set()) }).toEqual({ a: '1', trace: 'x', b: ['2', '3'] });
  });

  it('is the parameter of handlers', () => {
    class Texts {
      list(@RawQuery() query: ListQuery): ListQuery {
        return query;
      }
    }
    const parameters = Reflect.getMetadata('__routeArguments__', Texts, 'list') as object;
    const [{ factory }] = Object.values(parameters) as [{ factory(data: unknown, context: object): ListQuery }];
    const getRequest = () => ({ method: 'GET', headers: {}, url: '/api/texts?a=1' });
    expect({ ...factory(undefined, { switchToHttp: () => ({ getRequest }) }) }).toEqual({ a: '1' });
  });

  it.each<[url: string | undefined, value: string, key: string]>([
    ['/api/a%2Cb,c', 'a,b,c', 'a%2Cb,c'],
    ['/api/a%2Cb;c', 'a,b;c', 'a%2Cb;c'],
    ['/api/a%2Cb,c/d,e', 'a,b,c', 'a%2Cb,c'],
    ['/api/texts?id=a%2Cb,c&x=d,e', 'a,b,c', 'a%2Cb,c'],
    ['/api/a%20b', 'a b', 'a b'],
    ['/api/d,e', 'a,b', 'a,b'],
    [undefined, 'a,b', 'a,b'],
  ])('[8.2] of %s, the key %s was sent as %s', (url, value, key) => {
    expect(sentKey(url === undefined ? undefined : { method: 'GET', headers: {}, url }, value)).toBe(key);
  });

  it('has texts only, and no condition where it has no filters', () => {
    expect(wrong(() => listOf({ page: ['1', 2], size: 5 } as never, {}))).toEqual([
      'page: must be a string',
      'size: must be a string',
    ]);
    expect(new QueryParameters({}, []).condition).toBe(EVERYTHING);
  });

  it('refuses what is sent twice, and what begins like a filter', () => {
    expect(wrong(() => listOf('page=1&page=1&filter[id]=1&filter[id]=1', { filterable: FILTERABLE }))).toEqual([
      'page: must be sent once, got several',
      'filter[id]: must be sent once, got several',
    ]);
    expect(wrong(() => listOf('filters=1&xfilter[id]=1', { filterable: FILTERABLE, paged: false }))).toEqual([
      'filters: unknown parameter; known ones are filter, fields',
      'xfilter[id]: unknown parameter',
    ]);
  });

  it('answers 400 with every wrong parameter', () => {
    const errors = new QueryErrors();
    errors.throwIfAny();
    errors.add('a', 'b');
    const response = { message: 'The query is not valid', errors: [{ field: 'a', message: 'b' }] };
    expect(() => errors.throwIfAny()).toThrow(expect.objectContaining({ response }));
  });

  it('refuses one parameter after the whole query was read', () => {
    expect(wrong(() => refuseParameter('after', 'is gone'))).toEqual(['after: is gone']);
  });

  it('lists the known names once, but others again', () => {
    const errors = new QueryErrors();
    errors.addUnknown('a', 'field', ['x', 'y']);
    errors.addUnknown('b', 'field', ['x', 'y'], 'n"');
    errors.addUnknown('c', 'field', ['x']);
    errors.addUnknown('d', 'relation', ['x']);
    errors.addUnknown('e', 'relation', []);
    expect(wrong(() => errors.throwIfAny())).toEqual([
      'a: unknown field; known ones are x, y',
      'b: unknown field "n\\""',
      'c: unknown field; known ones are x',
      'd: unknown relation; known ones are x',
      'e: unknown relation; none is known',
    ]);
  });

  it.each<[Partial<ListParameters>, string[]]>([
    [{}, ['page', 'size', 'count', 'fields']],
    [{ paged: false }, ['fields']],
    [{ paged: 'cursor' }, ['size', 'after', 'pagination', 'fields']],
    [{ paged: 'both' }, ['page', 'size', 'count', 'after', 'pagination', 'fields']],
    [
      {
        paged: false,
        sortable: byName(id),
        filterable: FILTERABLE,
        choosesDeleted: true,
        includable: new Map([includableOf('author')]),
      },
      ['sort', 'filter', 'deleted', 'fields', 'include'],
    ],
  ])('%# knows what is declared', (more, names) => {
    expect(parameterNames({ ...BASE, ...more })).toEqual(names);
    expect(conditionParameters({ ...BASE, ...more })).toEqual(
      names.filter((name) => name === 'filter' || name === 'deleted'),
    );
  });
});

describe('[8.4] deleted records', () => {
  it.each<[query: string, ...errors: string[]]>([
    ['deleted=with', 'accepted'],
    ['deleted=only', 'accepted'],
    ['', 'accepted'],
    ['deleted=without', 'deleted: must be with or only'],
    ['deleted=', 'deleted: must be with or only'],
  ])('%j is %s', (query, ...errors) => {
    expect(wrong(() => listOf(query, { choosesDeleted: true }))).toEqual(errors);
  });

  it('are chosen by two words', () => {
    expect(['with', 'only', 'without', ['with'], undefined].map(isDeletedChoice)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('are removed by a flag, where that is allowed', () => {
    expect(['', 'purge=false', 'purge=true'].map((query) => parseDeleteQuery(sent(query), true))).toEqual([
      false,
      false,
      true,
    ]);
    expect(wrong(() => parseDeleteQuery(sent('purge=1'), true))).toEqual(['purge: must be true or false']);
    expect(wrong(() => parseDeleteQuery(sent('purge=true'), false))).toEqual([
      'purge: unknown parameter; none is known',
    ]);
  });

  it('a flag has the fallback where it is not sent', () => {
    const flag = (fallback: boolean, value?: string) =>
      new QueryParameters(value === undefined ? {} : { atomic: value }, ['atomic']).flag('atomic', fallback);
    expect([flag(true), flag(true, 'false'), flag(false), flag(false, 'true')]).toEqual([true, false, false, true]);
  });
});

describe('[4.4] [7.5] pages', () => {
  const pageOf = (paged: Paging, query: string) => {
    const { page, count, cursor } = listOf(query, { paged });
    return { ...(page && { page, count }), ...(cursor && { cursor }) };
  };
  const numbered = (page: number, size: number, count = 'exact') => ({ page: { page, size }, count });
  const cursor = (size: number, after?: string) => ({ cursor: { size, after } });

  it.each<[Paging, query: string, page: object]>([
    [false, '', {}],
    [true, '', numbered(1, 20)],
    [true, 'page=3&size=7&count=none', numbered(3, 7, 'none')],
    [true, 'size=100&count=estimated', numbered(1, 100, 'estimated')],
    [true, 'size=101&count=exact', numbered(1, 100)],
    [true, 'count=capped', numbered(1, 20, 'capped')],
    [true, `size=${'9'.repeat(400)}`, numbered(1, 100)],
    [true, 'page=9007199254740991&size=1', numbered(9_007_199_254_740_991, 1)],
    ['cursor', '', cursor(20)],
    ['cursor', 'size=5&after=x&pagination=cursor', cursor(5, 'x')],
    ['both', '', numbered(1, 20)],
    ['both', 'size=5&pagination=cursor', cursor(5)],
    ['both', 'after=', cursor(20, '')],
  ])('with %j, %j is %j', (paged, query, page) => {
    expect(pageOf(paged, query)).toEqual(page);
  });

  it.each<[Paging, query: string, ...errors: string[]]>([
    [true, 'page=0&size=-1', 'page: must be an integer from 1', 'size: must be an integer from 1'],
    [true, 'page=1.0&size=1e1', 'page: must be an integer from 1', 'size: must be an integer from 1'],
    [true, 'page=&size=x1', 'page: must be an integer from 1', 'size: must be an integer from 1'],
    [true, 'page=9007199254740992', 'page: must be an integer from 1'],
    [true, 'count=all', 'count: must be one of exact, estimated, capped, none'],
    [false, 'page=1', 'page: unknown parameter; known ones are fields'],
    [
      'both',
      'page=1&count=none&after=x',
      'page: must not be sent together with a cursor',
      'count: must not be sent together with a cursor',
    ],
    ['both', 'page=1&pagination=cursor', 'page: must not be sent together with a cursor'],
    ['both', 'pagination=page', 'pagination: must be cursor'],
    ['cursor', 'page=1', 'page: unknown parameter; known ones are size, after, pagination, fields'],
  ])('with %j, %j is refused', (paged, query, ...errors) => {
    expect(wrong(() => pageOf(paged, query))).toEqual(errors);
  });

  it.each<[Paging, query: string, ...errors: string[]]>([
    [true, 'page=11&size=10'],
    [true, 'page=12&size=10', 'page: must skip at most 100 records: send filters to read the ones behind them'],
    [true, 'page=102&size=1', 'page: must skip at most 100 records: send filters to read the ones behind them'],
    ['both', 'page=7', 'page: must skip at most 100 records: send pagination=cursor to read the ones behind them'],
    ['both', 'pagination=cursor&size=100'],
  ])('with %j and maxOffset 100, the errors of %j are as listed', (paged, query, ...errors) => {
    const read = (): unknown => listOf(query, { paged, maxOffset: 100 });
    expect(errors.length > 0 ? wrong(read) : (read(), [])).toEqual(errors);
  });
});

describe('[7.2] sorts', () => {
  const [price, free] = [FIELDS[3]!, FIELDS[4]!];
  const sortOf = (query: string, more: Partial<ListParameters> = {}) =>
    listOf(query, {
      sortable: byName(...FIELDS.slice(0, 9)),
      defaultSort: [{ field: price, descending: true }],
      ...more,
    })
      .sort.map(({ field, descending }) => `${descending ? '-' : ''}${field.name}`)
      .join();

  it.each<[query: string, sort: string, more?: Partial<ListParameters>]>([
    ['', '-price,id'],
    ['', 'id', { defaultSort: [] }],
    ['', 'id', { readable: [id, title] }],
    ['sort=title', 'title,id'],
    ['sort=-pages,free', '-pages,free,id'],
    ['sort=-id', '-id'],
    ['sort=title,id,free', 'title,id,free'],
    ['sort=title&sort=-pages', 'title,-pages,id'],
    ['', '-price,id', { key: entityKey<Field>([]), readable: [id, price, FIELDS[11]!] }],
    ['sort=id,title,pages,price,free,stage,readAt,-day', 'id,title,pages,price,free,stage,readAt,-day'],
  ])('%j is %s', (query, sort, more = {}) => {
    expect(sortOf(query, more)).toBe(sort);
  });

  const known = '; known ones are title';
  it.each<[query: string, ...errors: string[]]>([
    ['sort=', 'sort: must name at least one field'],
    ['sort=--title', `sort: unknown field "-title"${known}`],
    [
      'sort=ti-tle,title-,',
      `sort: unknown field "ti-tle"${known}`,
      'sort: unknown field "title-"',
      'sort: unknown field ""',
    ],
    ['sort=title,-title', 'sort: must name title once'],
    [
      'sort=title,a,b,c,d,e,f,g,h',
      'sort: must name at most 8 fields, got 9',
      ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(
        (name, place) => `sort: unknown field "${name}"${place === 0 ? known : ''}`,
      ),
    ],
  ])('%j is refused', (query, ...errors) => {
    expect(
      wrong(() => sortOf(query, { sortable: byName(title), defaultSort: [{ field: free, descending: false }] })),
    ).toEqual(errors);
  });
});

describe('[7.3] [7.4] fields and relations', () => {
  const linkable = ['tags', 'readers'].map((path) => ({ name: `${path}Ids`, path, relation: relationOf(path) }));
  const readable = [id, title, ...FIELDS.slice(9, 11)];
  const includable = new Map(
    ['author', 'comments', 'authors', 'comments.author', 'comments.author.team'].map(includableOf),
  );
  const parameters = { readable, linkable, includable };

  const shown = ({ fields, linked, includes }: RecordRequest): string =>
    [
      ...[...fields, ...linked].map(({ name }) => name),
      ...includes.map((each) => `${each.includable.path}(${shown(each)})`),
    ].join(' ');
  const all = 'id title address.city address.zip tagsIds readersIds';

  it.each<[query: string, request: string]>([
    ['', all],
    ['fields=title,id', 'id title'],
    ['fields=title,title', 'title'],
    ['fields=address', 'address.city address.zip'],
    ['fields=address.zip,tagsIds', 'address.zip tagsIds'],
    ['fields=readersIds', 'readersIds'],
    ['include=author', `${all} author(id title)`],
    ['fields=id&include=author&include=comments', 'id author(id title) comments(id title)'],
    ['fields=id&include=comments,author', 'id author(id title) comments(id title)'],
    ['fields=id&include=comments.author&fields[comments]=title', 'id comments(title comments.author(id title))'],
    [
      'fields=id&include=comments.author.team,comments.author,comments&fields[comments.author]=id',
      'id comments(id title comments.author(id comments.author.team(id title)))',
    ],
  ])('%j reads %s', (query, request) => {
    expect(shown(parseRecordQuery(sent(query), { ...BASE, ...parameters }))).toBe(request);
    expect(shown(listOf(query, parameters))).toBe(request);
  });

  const known = '; known ones are id, title, address.city, address.zip, tagsIds, readersIds';
  it.each<[query: string, ...errors: string[]]>([
    ['fields=', 'fields: must name at least one field'],
    ['fields=city,zip', `fields: unknown field "city"${known}`, 'fields: unknown field "zip"'],
    ['fields=title,', `fields: unknown field ""${known}`],
    ['fields=tags', `fields: unknown field "tags"${known}`],
    ['fields=id&fields=x', `fields: unknown field "x"${known}`],
    ['include=', 'include: must name at least one relation'],
    [
      'include=team,aut',
      `include: unknown relation "team"; known ones are ${[...includable.keys()].join(', ')}`,
      'include: unknown relation "aut"',
    ],
    ['fields[author]=id', 'fields[author]: unknown included relation; none is known'],
    ['include=comments&fields[author]=id', 'fields[author]: unknown included relation; known ones are comments'],
    ['include=author&fields[author]=tagsIds', 'fields[author]: unknown field "tagsIds"; known ones are id, title'],
    ['include=author&fields[author]=', 'fields[author]: must name at least one field'],
    ['xfields[author]=id', 'xfields[author]: unknown parameter; known ones are fields, include'],
    ['fields[author]x=id', 'fields[author]x: unknown parameter; known ones are fields, include'],
    ['filter[title]=x', 'filter[title]: unknown parameter; known ones are fields, include'],
  ])('%j is refused', (query, ...errors) => {
    expect(wrong(() => parseRecordQuery(sent(query), { ...BASE, ...parameters }))).toEqual(errors);
  });

  it('knows no relation where none is declared', () => {
    expect(wrong(() => parseRecordQuery(sent('include=author&fields[author]=id'), BASE))).toEqual([
      'include: unknown parameter; known ones are fields',
      'fields[author]: unknown parameter',
    ]);
    expect(shown(parseRecordQuery({}, { ...BASE, readable: [id] }))).toBe('id');
  });

  it('[7.9] includes at most 10 relations', () => {
    const names = Array.from({ length: 11 }, (_, place) => `r${place}`);
    const many = { ...BASE, includable: new Map(names.map(includableOf)) };
    const include = (count: number) => wrong(() => parseRecordQuery(sent(`include=${names.slice(0, count)}`), many));
    expect(include(10)).toEqual(['accepted']);
    expect(include(11)).toEqual(['include: must name at most 10 relations, got 11']);
  });

  it('adds the key to the fields of a record where they are without it', () => {
    const withIt = [title, id];
    expect(withKey(withIt, BASE.key)).toBe(withIt);
    expect(withKey([title], BASE.key)).toEqual([id, title]);
  });

  it('reads everything where nothing is asked for', () => {
    expect(shown(allFields({ ...BASE, ...parameters }))).toBe(all);
  });

  it.each<[query: string, selected: string]>([
    ['fields=title', 'title'],
    ['fields=title,tagsIds', 'id title'],
    ['fields=title&include=author', 'id title'],
    ['fields=id,title,tagsIds&include=author', 'id title'],
  ])('for %j the database reads %s', (query, selected) => {
    const request = parseRecordQuery(sent(query), { ...BASE, ...parameters });
    expect(
      selectedFields(request, BASE.key)
        .map(({ name }) => name)
        .join(' '),
    ).toBe(selected);
  });
});

describe('[7.7] [7.8] counts and exports', () => {
  const list = { ...BASE, filterable: FILTERABLE, sortable: byName(title), choosesDeleted: true };

  it('a count takes filters and the choice of deleted records', () => {
    expect(show(parseCountQuery(sent('filter[pages]=7&deleted=with'), list))).toBe('pages eq 7');
    expect(wrong(() => parseCountQuery(sent('filter[pages]=x&sort=title&deleted=no'), list))).toEqual([
      'filter[pages]: must be an integer from -2147483648 to 2147483647',
      'sort: unknown parameter; known ones are filter, deleted',
      'deleted: must be with or only',
    ]);
  });

  it.each(['ndjson', 'csv'])('an export as %s takes filters, a sort and fields', (format) => {
    const request = parseExportQuery(sent(`format=${format}&filter[pages]=7&sort=-title&fields=title`), list);
    expect([request.format, show(request.condition)]).toEqual([format, 'pages eq 7']);
    expect(request.sort).toEqual([
      { field: title, descending: true },
      { field: id, descending: false },
    ]);
    expect(request.request).toEqual({ fields: [title], linked: [], includes: [] });
  });

  it('an export without a known format, or with parameters of lists, is refused', () => {
    expect(wrong(() => parseExportQuery(sent('format=xml'), list))).toEqual(['format: must be one of ndjson, csv']);
    expect(wrong(() => parseExportQuery(sent('page=1'), list))).toEqual([
      'page: unknown parameter; known ones are format, sort, filter, deleted, fields',
      'format: must be one of ndjson, csv',
    ]);
  });

  it('an answer has relations where ids of links or included records are asked for', () => {
    const linked = { name: 'tagsIds', path: 'tags', relation: relationOf('tags') };
    const none = { fields: [], linked: [], includes: [] };
    expect(hasRelations(none)).toBe(false);
    expect(hasRelations({ ...none, linked: [linked] })).toBe(true);
    expect(hasRelations({ ...none, includes: [{ ...none, includable: includableOf('author')[1] }] })).toBe(true);
  });
});

describe('[7.1] limits of filters', () => {
  const refused = (query: string) => wrong(() => listOf(query, { filterable: FILTERABLE }));
  const many = (count: number, parameter: string): string =>
    Array.from({ length: count }, (_, index) => `filter[or][${index}]${parameter}`).join('&');

  it('at most 5 conditions are on related records', () => {
    expect(() => listOf(many(5, '[author.name]=x'), { filterable: FILTERABLE })).not.toThrow();
    expect(refused(many(6, '[author.name]=x'))).toEqual([
      'filter[or][5][author.name]: must be one of at most 5 conditions on related records',
    ]);
  });

  it('a text to look for has at most 100 characters, counted in code points, and all of them 500', () => {
    const smile = encodeURIComponent('😀'.repeat(100));
    expect(() => listOf(`filter[title][contains]=${smile}`, { filterable: FILTERABLE })).not.toThrow();
    expect(refused(`filter[title][contains]=${smile}x`)).toEqual([
      'filter[title][contains]: must have at most 100 characters',
    ]);
    expect(() => listOf(many(5, `[title][contains]=${'x'.repeat(100)}`), { filterable: FILTERABLE })).not.toThrow();
    expect(refused(`${many(5, `[title][contains]=${'x'.repeat(100)}`)}&filter[title][contains]=y`)).toEqual([
      'filter[title][contains]: must have at most 500 characters with the other texts to look for',
    ]);
  });
});

describe('[7.5] cursors', () => {
  /** As a client could make it: the digest keeps no secret. */
  const forge = (continuation: unknown, binding = 'sort'): string => {
    const digest = createHash('sha256')
      .update(JSON.stringify([continuation, binding]))
      .digest('base64url')
      .slice(0, 16);
    return Buffer.from(JSON.stringify([digest, continuation])).toString('base64url');
  };

  /** By fields of several kinds: the second one holds numbers. */
  const sortOf = (length: number): SortKey[] =>
    (['text', 'number', 'exact number', 'moment'] as const).slice(0, length).map((comparison) => ({
      field: { type: { comparison } } as Field,
      descending: false,
    }));

  it.each([
    [['a', 1], true],
    [['a', '1'], true],
    [[1, 1], false],
    [['a', 1, 2], true],
    [['a', 1, 'b', 2], false],
  ])('have numbers for columns of numbers only: %j', (position, isRead) => {
    expect(readCursor(forge(position), sortOf(position.length), 'sort') !== undefined).toBe(isRead);
  });

  it.each([[[]], [['a', 1, null]], [['ä'.repeat(248)]]])('keep the position %j', (position) => {
    const sort = sortOf(position.length);
    const cursor = encodeCursor(position, '7', 'sort');
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(cursor).toBe(forge(position));
    expect(readCursor(cursor, sort, 'sort')).toEqual(position);
    expect(readCursor(cursor, sort, 'other')).toBeUndefined();
    if (position.length > 0) expect(readCursor(cursor, sortOf(position.length - 1), 'sort')).toBeUndefined();
    expect(readCursor(`${cursor}=`, sort, 'sort')).toBeUndefined();
  });

  it('keep the key instead of a position of more than 500 bytes', () => {
    expect(readCursor(encodeCursor([`${'ä'.repeat(248)}x`], '7', 'sort'), sortOf(1), 'sort')).toBe('7');
  });

  it.each([
    ['', undefined],
    ['x', undefined],
    [Buffer.from('null').toString('base64url'), undefined],
    [Buffer.from('["a","b"]').toString('base64url'), undefined],
    [forge('7'), '7'],
    [forge(7), undefined],
    [forge(null), undefined],
    [forge({ length: 0 }), undefined],
    [forge([1, [2]]), undefined],
    [forge([true]), undefined],
    [forge([{}, 1]), undefined],
  ])('%s is read as %j', (cursor, continuation) => {
    for (const length of [0, 1, 2]) expect(readCursor(cursor, sortOf(length), 'sort')).toEqual(continuation);
  });
});

describe('parameters that are sent twice', () => {
  const errorsOf = (known: readonly string[], lists?: readonly string[]) => {
    const parameters = new QueryParameters({ min: ['a', 'b'] }, known, lists);
    return { value: parameters.get('min'), throws: () => parameters.throwIfAny() };
  };

  it('[4.4] are joined where the request takes a list of that name', () => {
    expect(errorsOf(['min'], ['min']).value).toBe('a,b');
  });

  it('[4.4] are refused where it is the name of a searched field or of a parameter of a custom operation', () => {
    const { value, throws } = errorsOf(['min'], ['sort']);
    expect(value).toBeUndefined();
    expect(throws).toThrow();
    expect(errorsOf(['min']).throws).toThrow();
  });
});
