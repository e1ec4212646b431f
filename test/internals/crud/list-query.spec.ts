/** The query string of lists and searches, without a server. */
import { BadRequestException } from '@nestjs/common';
import type { FieldError } from 'declarest';
import type { Condition } from '../../../lib/crud/sql/condition.js';
import { parseListQuery, type ListParameters, type ListRequest } from '../../../lib/crud/query/list-query.js';
import { rawQueryOf } from '../../../lib/crud/query/raw-query.js';
import { entityKey } from '../../../lib/entities/entity-key.js';
import type { Field } from '../../../lib/entities/entity-schema.js';
import { text } from '../../../lib/entities/value-types.js';
import type { HttpRequest } from '../../../lib/http/http-request.js';
import { startCpuClock } from '../../harness/cpu-time.js';

const queryOf = (query: string) =>
  rawQueryOf({ method: 'GET', headers: {}, url: `/api/products?${query}` } as HttpRequest);

const fieldOf = (name: string): Field => ({ name, path: name.split('.'), type: text() }) as unknown as Field;
const named = (...names: string[]) => new Map(names.map((name) => [name, fieldOf(name)]));

function parameters(paged: boolean, ...searchable: string[]): ListParameters {
  const id = fieldOf('id');
  const readable = [id, fieldOf('name')];
  return {
    key: entityKey([id]),
    readable,
    paged,
    choosesDeleted: false,
    searchable: named(...searchable),
    filterable: new Map(),
    sortable: named(),
    defaultSort: [],
    includable: new Map(),
    linkable: [],
  };
}

const list = (query: string): ListRequest => parseListQuery(queryOf(query), parameters(true), 'findAll');
const search = (query: string, paged = true, searchable = ['name', 'maker.town']): ListRequest =>
  parseListQuery(queryOf(query), parameters(paged, ...searchable), 'search');

/** `name ~ pen` for each text that records must contain. */
function termsOf({ condition }: ListRequest): string[] {
  const termOf = (each: Condition): string => {
    if (each.kind === 'compare') return `${each.field.name} ~ ${String(each.values[0])}`;
    return 'parts' in each ? each.parts.map(termOf).join(' or ') : each.kind;
  };
  return condition.kind === 'and' ? condition.parts.map(termOf) : [termOf(condition)];
}

function errorsOf(parse: () => unknown): FieldError[] {
  try {
    parse();
  } catch (error) {
    const { errors } = (error as BadRequestException).getResponse() as { errors: FieldError[] };
    return errors.map(({ field, message }) => ({ field, message }));
  }
  throw new Error('The query was expected to be refused.');
}
const fieldsOf = (parse: () => unknown): string[] => errorsOf(parse).map(({ field }) => field);

describe('[4.4] the page', () => {
  it.each([
    ['', 1, 20],
    ['page=2&size=1', 2, 1],
    ['size=100', 1, 100],
    ['size=101', 1, 100],
    ['size=9007199254740991', 1, 100],
    ['page=9007199254740991', 9007199254740991, 20],
    ['%70age=%31', 1, 20],
    ['&', 1, 20],
  ])('of %j is %d of size %d', (query, page, size) => {
    expect(list(query).page).toEqual({ page, size });
  });

  it.each(['0', '-1', '-0', '1.0', 'abc', '', '%20', '1%20', '%2B1', '1e1', '0x1', '1,2', '%D9%A1', 'NaN', '1%00'])(
    'is refused as %j',
    (value) => {
      expect(fieldsOf(() => list(`page=${value}`))).toEqual(['page']);
      expect(fieldsOf(() => list(`size=${value}`))).toEqual(['size']);
    },
  );

  it('is refused beyond 53 bits', () => {
    expect(fieldsOf(() => list('page=9007199254740992'))).toEqual(['page']);
  });

  it.each(['101', '9'.repeat(30), '9'.repeat(400)])('has at most 100 records, asked for %s', (size) => {
    expect(list(`size=${size}`).page).toEqual({ page: 1, size: 100 });
  });
});

describe('[4.4] unknown and repeated parameters', () => {
  it.each(['sort', 'PAGE', 'page ', 'page[]', 'page[a]', '__proto__', 'constructor', 'toString', 'q', ''])(
    'refuses the parameter %j',
    (name) => {
      const [error, ...others] = errorsOf(() => list(`${encodeURIComponent(name)}=1`));
      expect([error, others]).toEqual([
        { field: name, message: 'unknown parameter; known ones are page, size, count, fields' },
        [],
      ]);
    },
  );

  it('refuses a parameter that is sent twice, also with the same value', () => {
    expect(errorsOf(() => list('page=1&page=1'))).toEqual([
      { field: 'page', message: 'must be sent once, got several' },
    ]);
  });

  it('refuses a number, which only code can give', () => {
    expect(errorsOf(() => parseListQuery({ page: 1 } as never, parameters(true), 'findAll'))).toEqual([
      { field: 'page', message: 'must be a string' },
    ]);
  });

  it('knows no page of an unpaged list', () => {
    expect(errorsOf(() => parseListQuery(queryOf('page=1'), parameters(false), 'findAll'))).toEqual([
      { field: 'page', message: 'unknown parameter; known ones are fields' },
    ]);
  });

  it('names every wrong parameter, and the known ones once', () => {
    expect(errorsOf(() => list('colour=red&page=0&shape=round'))).toEqual([
      { field: 'colour', message: 'unknown parameter; known ones are page, size, count, fields' },
      { field: 'shape', message: 'unknown parameter' },
      { field: 'page', message: 'must be an integer from 1' },
    ]);
  });

  it('reads 2,000 repeated parameters in linear time', () => {
    const milliseconds = startCpuClock();
    const query = queryOf('a&'.repeat(2_000));
    expect(milliseconds()).toBeLessThan(100);
    expect(query['a']).toHaveLength(2_000);
  });
});

describe('[4.5] the terms of a search', () => {
  it('are texts of searchable fields, or of any with q', () => {
    expect(termsOf(search('name=Fountain+Pen&q=%25&size=5'))).toEqual([
      'name ~ Fountain Pen',
      'name ~ % or maker.town ~ %',
    ]);
    expect(termsOf(search('maker.town=Ulm', false))).toEqual(['maker.town ~ Ulm']);
  });

  it.each<[string, string[]]>([
    ['', ['q']],
    ['page=1', ['q']],
    ['name=', ['name']],
    ['name', ['name']],
    ['q=', ['q']],
    ['name=pen&secret=x', ['secret']],
    ['NAME=pen', ['NAME']],
    ['maker=Ulm', ['maker']],
    ['name[]=pen', ['name[]']],
    ['__proto__=x', ['__proto__']],
    ['name=pen&page=0&size=x', ['page', 'size']],
  ])('are refused in %j', (query, fields) => {
    expect(fieldsOf(() => search(query))).toEqual(fields);
  });

  it('[7.9] have at most 100 characters', () => {
    expect(termsOf(search(`name=${'x'.repeat(100)}&q=${'y'.repeat(100)}`))).toHaveLength(2);
    expect(errorsOf(() => search(`name=${'x'.repeat(101)}&q=${'y'.repeat(3_000)}`))).toEqual([
      { field: 'name', message: 'must be at most 100 characters long, got 101' },
      { field: 'q', message: 'must be at most 100 characters long, got 3000' },
    ]);
  });

  it('have the field named q where there is one', () => {
    expect(termsOf(search('q=many', false, ['q']))).toEqual(['q ~ many']);
  });
});

describe('[4.5] a text to search for', () => {
  const searchFor = (name: string, searchable = ['name']) =>
    parseListQuery({ name }, parameters(false, ...searchable), 'search');

  it('has at most 100 characters, counted in code points', () => {
    expect(termsOf(searchFor('😀'.repeat(100)))).toHaveLength(1);
    expect(() => searchFor('😀'.repeat(101))).toThrow(BadRequestException);
  });

  it('has no NUL, after which SQLite reads nothing', () => {
    expect(() => searchFor('a\0b')).toThrow(BadRequestException);
  });

  it('is an unknown parameter where no field is searchable', () => {
    expect(() => searchFor('a', [])).toThrow(BadRequestException);
    expect(() => search('q=a', false, [])).toThrow(BadRequestException);
  });
});

describe('[7.9] the query string', () => {
  it('has at most 4,096 bytes as sent', () => {
    expect(fieldsOf(() => list(`x=${'y'.repeat(4_094)}`))).toEqual(['x']);
    expect(() => list(`x=${'y'.repeat(4_095)}`)).toThrow('must be at most 4096 bytes long, got 4097');
    expect(() => list(`x=${'%20'.repeat(1_365)}`)).toThrow('got 4097');
  });
});
