/** The conditions of filters as SQL, on the rows of an SQLite database. */
import 'reflect-metadata';
import type { DataSource } from 'typeorm';
import {
  boundValues,
  shapeOf,
  and,
  compare,
  EVERYTHING,
  keyIsAmong,
  NOTHING,
  or,
  type Condition,
} from '../../../lib/crud/sql/condition.js';
import { parseListQuery } from '../../../lib/crud/query/list-query.js';
import type { Plan } from '../../../lib/crud/plan/plan.js';
import { conditionSql, joinsOf, parametersOf, RECORD } from '../../../lib/crud/sql/condition-sql.js';
import { customOperator, type FilterOperator, type OperatorName } from '../../../lib/crud/sql/operators.js';
import { type Kind, MATCHES } from '../../crud/filter-model.js';
import { entityKey } from '../../../lib/entities/entity-key.js';
import { openDatabase, planOf } from './articles.js';
import { show } from './shown.js';

const COLUMNS = [
  'article_id',
  'title',
  'note',
  'page_count',
  'free',
  'readAt',
  'placeCity',
  'writerId',
  'editor_name',
  'sequelOfId',
];
const ROWS = [
  [1, 'Alpha', 'a_b', 10, 1, '2026-01-31 09:30:15.123', 'Ulm', 1, 'bob', null],
  [2, 'alpha', null, null, 0, null, null, null, null, 1],
  // As a default of the database writes it.
  [3, 'Beta', '50 % "hi"', -3, 1, '2026-01-31 09:30:15', 'Köln', 2, null, 2],
  [4, 'beta!', '', 0, 0, '2026-01-31 09:30:15.124', '', 2, 'Ann', 1],
] as const;
const valueOf = (row: (typeof ROWS)[number], name: string): unknown => {
  const value = row[COLUMNS.indexOf(name)];
  if (name === 'free') return value === 1;
  return name === 'readAt' && typeof value === 'string' ? `${value.replace(' ', 'T')}Z` : value;
};

let dataSource: DataSource;
let articles: Plan;
beforeAll(async () => {
  dataSource = await openDatabase();
  articles = planOf(dataSource, {
    filterableFields: [
      'title',
      'note',
      'pages',
      'free',
      'readAt',
      'place.city',
      'writer.name',
      'editor.name',
      'sequelOf.title',
      'sequelOf.sequelOf.title',
      'tags.word',
      'writer.articles.tags.word',
      'tags.articles.title',
      'cover.colour',
      'cover.article.title',
    ] as never,
    enableSearch: true,
    searchableFields: ['title', 'note'],
    searchIndex: true,
  });
  const insert = async (table: string, columns: readonly string[], rows: readonly (readonly unknown[])[]) => {
    for (const row of rows)
      await dataSource.query(`INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`, [
        ...row,
      ]);
  };
  await insert(
    'writer',
    ['writer_id', 'name', 'goneAt'],
    [
      [1, 'Ann', null],
      [2, 'bob', null],
      [3, 'Cid', '2026-01-01'],
    ],
  );
  await insert('article', COLUMNS, ROWS);
  await insert(
    'tag',
    ['tag_id', 'word'],
    [
      [7, 'red'],
      [8, 'big'],
    ],
  );
  await insert(
    'article_tag',
    ['articleArticleId', 'tagTagId'],
    [
      [1, 7],
      [1, 8],
      [3, 8],
    ],
  );
  await insert('cover', ['colour', 'articleId'], [['blue', 3]]);
  for (const statement of articles.searchIndex!.statements) await dataSource.query(statement);
});
afterAll(() => dataSource.destroy());

const parsed = (query: Record<string, string>, operation: 'findAll' | 'search' = 'findAll'): Condition =>
  parseListQuery(query, articles.listWithDeleted, operation).condition;

/** The ids of the records that a condition matches, written for an alias and for the table. */
async function matching(condition: Condition): Promise<number[]> {
  const found: number[][] = [];
  for (const [from, owner, first] of [
    ['"article" "record"', dataSource.driver.escape(RECORD), 0],
    ['"article"', '"article"', 3],
  ] as const) {
    const written = conditionSql(condition, owner, dataSource, first);
    const values = [...Array.from({ length: first }), ...boundValues(condition, dataSource)];
    const [sql, parameters] = dataSource.driver.escapeQueryWithParameters(written, parametersOf(values));
    const rows = await dataSource.query<{ id: number }[]>(
      `SELECT article_id AS id FROM ${from} WHERE ${sql} ORDER BY 1`,
      parameters,
    );
    found.push(rows.map(({ id }) => id));
  }
  expect(found[0]).toEqual(found[1]);
  return found[0]!;
}

const ORDERED = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'];
const TEXT = ['contains', 'icontains', 'startsWith', 'endsWith'];
const LISTS = ['in', 'nin'];
/** Fields with their columns, operators, and what is sent to each. */
const CASES: readonly [field: string, column: string, Kind, operators: readonly string[], sent: readonly string[]][] = [
  ['title', 'title', 'text', [...ORDERED, ...LISTS], ['alpha']],
  ['title', 'title', 'text', TEXT, ['a']],
  ['title', 'title', 'text', TEXT, ['Beta']],
  ['note', 'note', 'text', [...TEXT, ...ORDERED], ['%']],
  ['note', 'note', 'text', TEXT, ['_']],
  ['title', 'title', 'text', TEXT, ['!']],
  ['note', 'note', 'text', LISTS, ['', '50 % "hi"']],
  ['note', 'note', 'text', ['isNull'], ['true']],
  ['note', 'note', 'text', ['isNull'], ['false']],
  ['pages', 'page_count', 'number', [...ORDERED, ...LISTS], ['0']],
  ['pages', 'page_count', 'number', ['between'], ['-3', '0']],
  ['pages', 'page_count', 'number', ['between'], ['1', '10']],
  ['free', 'free', 'text', ['eq', 'ne', ...LISTS], ['true']],
  ['readAt', 'readAt', 'moment', [...ORDERED, ...LISTS], ['2026-01-31T09:30:15.123Z']],
  ['readAt', 'readAt', 'moment', [...ORDERED, ...LISTS], ['2026-01-31T09:30:15Z']],
  ['readAt', 'readAt', 'moment', ['between'], ['2026-01-31T09:30:15Z', '2026-01-31T09:30:15.123Z']],
  ['place.city', 'placeCity', 'text', ['eq', 'ne'], ['Köln']],
];

describe('[7.1] a filter', () => {
  const cases = CASES.flatMap(([field, column, kind, operators, sent]) =>
    operators.map((operator) => [field, operator, sent, column, kind] as const),
  );
  it.each(cases)('by %s %s %j finds what the model finds', async (field, operator, sent, column, kind) => {
    const expected = ROWS.filter((row) => MATCHES[operator]!(kind, valueOf(row, column), sent)).map(([id]) => id);
    expect(await matching(parsed({ [`filter[${field}][${operator}]`]: sent.join() }))).toEqual(expected);
  });

  it.each<[Record<string, string>, number[]]>([
    [{}, [1, 2, 3, 4]],
    [{ 'filter[pages][lt]': '5', 'filter[free]': 'true' }, [3]],
    [{ 'filter[or][0][pages]': '10', 'filter[or][1][note]': '' }, [1, 4]],
    [{ 'filter[or][0][pages]': '10', 'filter[or][1][pages]': '0', 'filter[free]': 'true' }, [1]],
    [{ 'filter[readAt][gt]': '2026-01-31', 'filter[pages]': '0' }, [4]],
    [{ 'filter[not][pages][lt]': '5' }, [1, 2]],
    [{ 'filter[not][not][pages][lt]': '5' }, [3, 4]],
    [{ 'filter[writer.name]': 'Ann' }, [1]],
    [{ 'filter[writer.name][ne]': 'Ann' }, [3, 4]],
    [{ 'filter[editor.name]': 'Ann' }, [4]],
    [{ 'filter[not][editor.name]': 'Ann' }, [1, 2, 3]],
    [{ 'filter[sequelOf.title]': 'Alpha' }, [2, 4]],
    [{ 'filter[sequelOf.sequelOf.title]': 'Alpha' }, [3]],
    [{ 'filter[tags.word]': 'big' }, [1, 3]],
    [{ 'filter[tags.word]': 'red', 'filter[writer.name]': 'Ann' }, [1]],
    [{ 'filter[tags.word][in]': 'red,x' }, [1]],
    [{ 'filter[tags.articles.title]': 'Beta' }, [1, 3]],
    [{ 'filter[writer.articles.tags.word]': 'big', 'filter[pages]': '0' }, [4]],
    [{ 'filter[cover.colour]': 'blue' }, [3]],
    [{ 'filter[cover.article.title]': 'Beta' }, [3]],
  ])('%j finds %j', async (query, ids) => {
    expect(await matching(parsed(query))).toEqual(ids);
  });
});

const fieldOf = (name: string) => articles.schema.fields.find((field) => field.name === name)!;
const is = (name: string, operator: OperatorName, ...values: unknown[]) => compare(fieldOf(name), operator, ...values);

describe('[9.1] conditions that clients cannot send', () => {
  it.each<[what: string, condition: () => Condition, ids: number[]]>([
    ['everything', () => EVERYTHING, [1, 2, 3, 4]],
    ['nothing', () => NOTHING, []],
    ['nothing as an alternative', () => or(NOTHING, is('id', 'eq', 2)), [2]],
    ['a pattern', () => is('title', 'like', '?eta*'), [3, 4]],
    ['a value', () => is('pages', 'isNotNull'), [1, 3, 4]],
    ['exactly', () => is('title', 'isExactly', 'beta!'), [4]],
    ['above', () => is('title', 'isAbove', 'Beta'), [2, 4]],
    ['below', () => is('pages', 'isBelow', 0), [3]],
    ['above a moment', () => and(is('readAt', 'isAbove', '2026-01-31 09:30:15'), is('pages', 'eq', 0)), [4]],
    ['a moment as a Date', () => is('readAt', 'eq', new Date('2026-01-31T09:30:15.123Z')), [1]],
    ['no list', () => and(is('id', 'in', 1, 2), is('id', 'nin', 2)), [1]],
    [
      'an operator of the application, between other conditions',
      () => {
        const among: FilterOperator = {
          name: 'among',
          takes: ['number'],
          expected: 'two numbers',
          read: () => undefined,
          sql: ({ name }, one, other) => `${name} = ${one} OR ${name} = ${other}`,
        };
        return and(is('free', 'eq', true), compare(fieldOf('pages'), customOperator(among), 10, 0), is('id', 'ne', 9));
      },
      [1],
    ],
    [
      'SQL with a value twice, a list, and a time that is no parameter',
      () => ({
        kind: 'raw',
        field: fieldOf('pages'),
        write: (column) =>
          `${column} > :least AND ${column} > :least - 1 AND ${column} IN (:...pages) AND '12:30' <> :no_2`,
        parameters: { least: -4, pages: [10, -3], no_2: 'x', unused: 5 },
      }),
      [1, 3],
    ],
    [
      'SQL with alternatives, between other conditions',
      () =>
        and(
          is('free', 'eq', true),
          {
            kind: 'raw',
            field: fieldOf('id'),
            write: (column) => `${column} = :a OR ${column} = :b`,
            parameters: { a: 1, b: 2 },
          },
          is('title', 'ne', 'x'),
        ),
      [1],
    ],
    [
      'SQL in a negation',
      () => ({
        kind: 'unless',
        part: { kind: 'raw', field: fieldOf('pages'), write: (column) => `${column} > :min`, parameters: { min: 0 } },
      }),
      [2, 3, 4],
    ],
  ])('%s', async (_, condition, ids) => {
    expect(await matching(condition())).toEqual(ids);
  });

  it.each<[what: string, names: string[], held: unknown[], condition: string, ids: number[]]>([
    ['a key', ['id'], [1, 3], 'id in 1 3', [1, 3]],
    [
      'a key of two columns',
      ['pages', 'title'],
      [
        [0, 'beta!'],
        [10, 'Beta'],
        [-3, 'Beta'],
      ],
      '((pages eq 0 & title eq "beta!") | (pages eq 10 & title eq "Beta") | (pages eq -3 & title eq "Beta"))',
      [3, 4],
    ],
    ['a key of two columns, without records', ['pages', 'title'], [], 'none', []],
  ])('the records with one of several values of %s, and no others', async (_, names, held, condition, ids) => {
    const among = keyIsAmong(entityKey(names.map(fieldOf)), held);
    expect(show(among)).toBe(condition);
    expect(await matching(among)).toEqual(ids);
  });

  it('SQL with lists of other lengths has another shape', () => {
    const raw = (a: number[], b: number[]): Condition => ({
      kind: 'raw',
      field: fieldOf('id'),
      write: (column) => `${column} IN (:...a) AND ${column} NOT IN (:...b)`,
      parameters: { a, b },
    });
    expect(shapeOf(raw([1, 2], [3]))).not.toBe(shapeOf(raw([1], [2, 3])));
    expect(shapeOf(raw([1, 2], [3]))).toBe(shapeOf(raw([4, 5], [6])));
  });

  it('leaves the names that are no parameters as they are', () => {
    const condition: Condition = {
      kind: 'raw',
      field: fieldOf('note'),
      write: (column) => `${column} = 'a:toString :b'`,
      parameters: {},
    };
    expect(conditionSql(condition, '"record"', dataSource)).toBe(`("record"."note" = 'a:toString :b')`);
    expect(boundValues(condition, dataSource)).toEqual([]);
  });

  it('names its parameters as no query builder does', () => {
    expect(conditionSql(is('id', 'eq', 1), 'r', dataSource)).toMatch(/^r."article_id" = :declarest_[\da-f]{16}_0$/);
  });

  it('binds a text that ends like a moment as it is', () => {
    expect(boundValues(is('title', 'eq', '1.000'), dataSource)).toEqual(['1.000']);
  });

  it.each<[type: string, prepared: unknown, bound: unknown]>([
    ['better-sqlite3', '2026-01-31 09:30:15.000', '2026-01-31 09:30:15.000'],
    ['better-sqlite3', 7, 7],
    ['postgres', new Date(0), new Date(0)],
    ['mysql', '2026-01-31 09:30:15.000', '2026-01-31 09:30:15.000'],
  ])('on %s, binds a moment that its driver writes as %o as %o', (type, prepared, bound) => {
    const other = { options: { type }, driver: { preparePersistentValue: () => prepared } } as unknown as DataSource;
    expect(boundValues(is('readAt', 'eq', new Date(0)), other)).toEqual([bound, bound]);
  });

  it.each([
    ['postgres', 1],
    ['better-sqlite3', 0],
    ['mysql', 0],
  ])('on %s, a moment ends %d ms behind the value of the client, which has no microseconds', (type, more) => {
    const driver = { preparePersistentValue: (value: unknown) => value };
    const bound = boundValues(is('readAt', 'eq', new Date(5)), { options: { type }, driver } as unknown as DataSource);
    expect(bound).toEqual([new Date(5), new Date(5 + more)]);
  });

  it.each<[field: string, depth: number, words: string]>([
    ['writer.articles.tags.word', 2, ' IN (SELECT "related1"."writerId" FROM "article" "related1" WHERE '],
    ['cover.colour', 1, 'EXISTS (SELECT 1 FROM "cover" "related0" WHERE '],
    ['tags.word', 1, 'EXISTS (SELECT 1 FROM "article_tag" "link1" INNER JOIN "tag" "related0" ON '],
  ])('the relations of %s are read once where their key has no index, and for each record where it has', (...row) => {
    const [field, depth, words] = row;
    const relations = articles.list.filterable.get(field)!.relations.slice(0, depth);
    const condition = relations.reduceRight<Condition>(
      (part, relation) => ({ kind: 'related', relation, part }),
      EVERYTHING,
    );
    expect(conditionSql(condition, '"record"', dataSource)).toContain(words);
  });

  it('joins records by every column of a key', () => {
    const joinColumns = ['a', 'b'].map((databaseName) => ({ databaseName, referencedColumn: { databaseName } }));
    const relation = { isOwning: true, joinColumns, inverseEntityMetadata: { tablePath: 'shelf' } };
    expect(joinsOf(relation as never, { owner: 'o', link: 'l', related: 'r' }, dataSource)).toEqual([
      { table: '"shelf" r', on: 'o."a" = r."a" AND o."b" = r."b"' },
    ]);
  });
});

describe('[10] a search with an index', () => {
  it.each<[term: string, ids: number[]]>([
    ['alpha', [1, 2]],
    ['ETA', [3, 4]],
    ['ta!', [4]],
    ['"', [3]],
    ['"hi"', [3]],
    ['"et"', []],
    ['a', [1, 2, 3, 4]],
  ])('%j finds %j', async (term, ids) => {
    expect(await matching(parsed({ q: term }, 'search'))).toEqual(ids);
  });
});

describe('the shape of a condition', () => {
  it('is the same for conditions of the same SQL, and for no others', () => {
    const raw = (field: string, sql: string, parameters: Record<string, unknown>): Condition => ({
      kind: 'raw',
      field: fieldOf(field),
      write: (column) => `${column} ${sql}`,
      parameters,
    });
    const related = (name: string, part: Condition): Condition => ({
      kind: 'related',
      relation: articles.metadata.relations.find(({ propertyPath }) => propertyPath === name)!,
      part,
    });
    const indexed = (table: string, text: string): Condition => ({ kind: 'indexed', table, key: fieldOf('id'), text });
    const conditions: Condition[] = [
      EVERYTHING,
      NOTHING,
      is('id', 'eq', 1),
      is('id', 'eq', 2),
      is('id', 'in', 1),
      is('id', 'in', 1, 2),
      is('title', 'eq', 'a'),
      is('title', 'isNull'),
      and(is('id', 'eq', 1), is('title', 'eq', 'a')),
      or(is('id', 'eq', 1), is('title', 'eq', 'a')),
      or(is('title', 'eq', 'a'), is('id', 'eq', 1)),
      { kind: 'unless', part: is('id', 'eq', 1) },
      { kind: 'unless', part: is('id', 'gt', 1) },
      related('writer', EVERYTHING),
      related('editor', EVERYTHING),
      related('writer', NOTHING),
      raw('pages', '> :a', { a: 1 }),
      raw('pages', '> :a', { a: 2 }),
      raw('id', '> :a', { a: 1 }),
      raw('pages', '< :a', { a: 1 }),
      raw('pages', 'IN (:...a)', { a: [1] }),
      raw('pages', 'IN (:...a)', { a: [1, 2] }),
      indexed('a', 'x'),
      indexed('a', 'y'),
      indexed('b', 'x'),
    ];
    const sqls = conditions.map((each) => conditionSql(each, '"record"', dataSource));
    const shapes = conditions.map(shapeOf);
    for (const [one, shape] of shapes.entries())
      expect(shapes.map((each) => each === shape)).toEqual(sqls.map((each) => each === sqls[one]));
  });
});
