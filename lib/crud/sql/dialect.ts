/**
 * What differs between databases in the SQL of conditions and sorts: one row for each kind of column. Text compares by
 * its code points and labels by their text, so that every database gives the same results.
 */
import type { DataSource } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import type { Comparison } from '../../entities/value-types.js';
import { isMysql, isPostgres } from '../../entities/database-family.js';

/** The parameters of one value. A moment is the range of one millisecond, which is what clients see of it. */
export interface Bound {
  /** Inclusive. */
  readonly from: string;
  /** Exclusive where it differs from `from`. */
  readonly to: string;
}

/** A column in conditions. Parameters are SQL too. */
export interface Comparable {
  /** As the database holds it. */
  readonly name: string;
  /** As it sorts and compares. */
  readonly ordered: string;
  equal(value: Bound): string;
  oneOf(values: readonly Bound[]): string;
  above(value: Bound): string;
  from(value: Bound): string;
  below(value: Bound): string;
  upTo(value: Bound): string;
  contains(text: Bound): string;
  containsAnyCase(pattern: Bound): string;
  startsWith(text: Bound): string;
  endsWith(text: Bound): string;
  like(pattern: Bound): string;
  /** Compares with a text that `exactText` selected. */
  exactly(operator: '=' | '>' | '<', text: Bound): string;
}

/** How a column and a parameter are written so that they compare. */
interface Form {
  ordered(column: string): string;
  bound(parameter: string): string;
  /** For an index, which cannot find converted columns. */
  equal?(column: string, parameter: string): string;
  /** Of a text that `exactText` selected, where it differs from `bound`. */
  exact?(parameter: string): string;
}

export interface Dialect {
  readonly forms: Readonly<Partial<Record<Comparison, Form>>>;
  /** Case-insensitive "contains"; `!` escapes `%`, `_` and itself in the pattern. */
  containsAnyCase(column: string, pattern: string): string;
  contains(text: string, part: string): string;
  startsWith(text: string, part: string): string;
  endsWith(text: string, part: string): string;
  /** By code points, in the same case. SQLite gets a pattern of GLOB. */
  like(column: string, pattern: string): string;
  /** Selects a value without a loss, as the driver may round or cut it. */
  exactText(column: string, field: Field): string;
  /** Ascending, as this package does. */
  readonly sortsNullsLast: boolean;
}

const same = (sql: string): string => sql;
const PLAIN: Form = { ordered: same, bound: same };

const sqlite: Dialect = {
  forms: {},
  // SQLite's LIKE folds the letters A to Z only.
  containsAnyCase: (column, pattern) => `${column} LIKE ${pattern} ESCAPE '!'`,
  contains: (text, part) => `instr(${text}, ${part}) > 0`,
  startsWith: (text, part) => `substr(${text}, 1, length(${part})) = ${part}`,
  endsWith: (text, part) => `substr(${text}, -length(${part})) = ${part}`,
  like: (column, pattern) => `${column} GLOB ${pattern}`,
  // The driver rounds integers only. CAST would round a REAL.
  exactText: (column) => `CASE typeof(${column}) WHEN 'integer' THEN CAST(${column} AS TEXT) ELSE ${column} END`,
  sortsNullsLast: false,
};

const postgresText: Form = {
  ordered: (column) => `CAST(${column} AS text) COLLATE "C"`,
  bound: same,
  equal: (column, parameter) => `CAST(${column} AS text) = ${parameter}`,
};
const postgres: Dialect = {
  forms: { text: postgresText, label: postgresText },
  containsAnyCase: (column, pattern) => `CAST(${column} AS text) ILIKE ${pattern} ESCAPE '!'`,
  contains: (text, part) => `strpos(${text}, ${part}) > 0`,
  startsWith: (text, part) => `starts_with(${text}, ${part})`,
  endsWith: (text, part) => `right(${text}, length(${part})) = ${part}`,
  like: (column, pattern) => `CAST(${column} AS text) LIKE ${pattern}`,
  exactText: (column) => `CAST(${column} AS text)`,
  sortsNullsLast: true,
};

const bytesOf = (text: string): string => `CAST(CONVERT(${text} USING utf8mb4) AS BINARY)`;
const asDouble = (value: string): string => `(${value} + 0e0)`;
const mysql: Dialect = {
  forms: {
    text: {
      ordered: bytesOf,
      bound: bytesOf,
      equal: (column, parameter) => `(${column} = ${parameter} AND ${bytesOf(column)} = ${bytesOf(parameter)})`,
    },
    label: { ordered: bytesOf, bound: bytesOf },
    number: { ordered: same, bound: same, exact: asDouble },
    boolean: { ordered: same, bound: same, exact: asDouble },
    // Two strings of digits would compare as doubles.
    'exact number': { ordered: same, bound: (parameter) => `CAST(${parameter} AS DECIMAL(65, 30))` },
  },
  // Other collations also fold accents.
  containsAnyCase: (column, pattern) =>
    `LOWER(CONVERT(${column} USING utf8mb4)) COLLATE utf8mb4_bin LIKE LOWER(${pattern}) ESCAPE '!'`,
  contains: (text, part) => `LOCATE(${bytesOf(part)}, ${text}) > 0`,
  startsWith: (text, part) => `LEFT(${text}, LENGTH(${bytesOf(part)})) = ${bytesOf(part)}`,
  endsWith: (text, part) => `RIGHT(${text}, LENGTH(${bytesOf(part)})) = ${bytesOf(part)}`,
  like: (column, pattern) => `CONVERT(${column} USING utf8mb4) COLLATE utf8mb4_bin LIKE ${pattern}`,
  // A FLOAT as text has 6 digits.
  exactText: (column, { type }) => `CONVERT(${type.comparison === 'number' ? asDouble(column) : column} USING utf8mb4)`,
  sortsNullsLast: false,
};
/** `FLOAT` has 4 bytes: `f = 0.1` is false for a column that holds 0.1. */
const mysqlFloat: Form = { ordered: same, bound: (parameter) => `CAST(${parameter} AS FLOAT)`, exact: asDouble };

export const dialectOf = (dataSource: DataSource): Dialect =>
  isPostgres(dataSource) ? postgres : isMysql(dataSource) ? mysql : sqlite;

function formOf(dialect: Dialect, { type, column }: Field): Form {
  if (dialect === mysql && column.type === 'float') return mysqlFloat;
  return (type.comparison && dialect.forms[type.comparison]) ?? PLAIN;
}

/** @param name the column in SQL */
export function comparable(dialect: Dialect, field: Field, name: string): Comparable {
  const form = formOf(dialect, field);
  const ordered = form.ordered(name);
  const test = (operator: string, parameter: string): string => `${ordered} ${operator} ${form.bound(parameter)}`;
  const equal = ({ from, to }: Bound): string => {
    if (from !== to) return `(${test('>=', from)} AND ${test('<', to)})`;
    return form.equal?.(name, from) ?? test('=', from);
  };
  const isRange = field.type.comparison === 'moment';
  return {
    name,
    ordered,
    equal,
    oneOf: (values) =>
      isRange || form.equal
        ? `(${values.map(equal).join(' OR ')})`
        : `${ordered} IN (${values.map(({ from }) => form.bound(from)).join(', ')})`,
    above: ({ from, to }) => (isRange ? test('>=', to) : test('>', from)),
    from: ({ from }) => test('>=', from),
    below: ({ from }) => test('<', from),
    upTo: ({ from, to }) => (isRange ? test('<', to) : test('<=', from)),
    contains: ({ from }) => dialect.contains(ordered, from),
    containsAnyCase: ({ from }) => dialect.containsAnyCase(name, from),
    startsWith: ({ from }) => dialect.startsWith(ordered, from),
    endsWith: ({ from }) => dialect.endsWith(ordered, from),
    like: ({ from }) => dialect.like(name, from),
    exactly: (operator, { from }) =>
      operator === '=' && form.equal
        ? form.equal(name, from)
        : `${ordered} ${operator} ${(form.exact ?? form.bound)(from)}`,
  };
}

/** What ORDER BY needs: NULLs come last ascending and first descending on every database. */
export function orderBy(
  dialect: Dialect,
  field: Field,
  name: string,
  descending: boolean,
): [expression: string, direction: 'ASC' | 'DESC'][] {
  const direction = descending ? 'DESC' : 'ASC';
  const { ordered } = comparable(dialect, field, name);
  const isSorted = dialect.sortsNullsLast || !field.nullable;
  return [...(isSorted ? [] : [[`(${name} IS NULL)`, direction] as const]), [ordered, direction]].map(
    ([expression, way]) => [expression as string, way as 'ASC' | 'DESC'],
  );
}

/** `shop.product` → `"shop"."product"` */
export const escapePath = (path: string, driver: DataSource['driver']): string =>
  path
    .split('.')
    .map((name) => driver.escape(name))
    .join('.');
