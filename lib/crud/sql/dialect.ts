/**
 * What differs between databases in the SQL of conditions, sorts and aggregates. Text compares by its code points and
 * labels by their text, so that every database gives the same results.
 */
import type { DataSource } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { isMysql, isPostgres } from '../../entities/database-family.js';
import { comparedScale } from '../../entities/decimals.js';
import { isFloat, type ColumnKind, type ValueType } from '../../entities/value-types.js';

interface ColumnSql {
  readonly name: string;
  readonly ordered: string;
}

/** Tests of a text by a part of it or by a pattern, which are SQL too. */
interface TextTests {
  contains(column: ColumnSql, part: string): string;
  /** `!` escapes `%`, `_` and itself in the pattern. */
  containsAnyCase(column: ColumnSql, pattern: string): string;
  startsWith(column: ColumnSql, part: string): string;
  endsWith(column: ColumnSql, part: string): string;
  /** Compares code points, in the same case. SQLite gets a pattern of GLOB. */
  like(column: ColumnSql, pattern: string): string;
}

/** A column in conditions. Parameters are SQL too. A moment has two: it is the millisecond that clients see of it. */
export interface Comparable extends ColumnSql {
  readonly database: Dialect['name'];
  equal(start: string, end?: string): string;
  oneOf(...parameters: readonly string[]): string;
  above(start: string, end?: string): string;
  from(start: string): string;
  below(start: string): string;
  upTo(start: string, end?: string): string;
  matches(test: keyof TextTests, text: string): string;
  /** Compares with a text that `exactText` selected. */
  exactly(operator: '=' | '>' | '<', text: string): string;
}

interface Form {
  ordered(column: string): string;
  bound(parameter: string, type: ValueType): string;
  /** For an index, which cannot find converted columns. */
  equal?: ((column: string, parameter: string) => string) | undefined;
  /** For tests of a part of the text. */
  name?(column: string): string;
  /** The parameter for a text that `exactText` selected, if it differs from `bound`. */
  exact?(parameter: string): string;
}

interface Dialect extends TextTests {
  readonly name: 'sqlite' | 'postgres' | 'mysql';
  readonly forms: Readonly<Partial<Record<ColumnKind, Form>>>;
  /** Selects a value without a loss, as the driver may round or cut it. */
  exactText(column: string, field: Field): string;
  /** Ascending, as this package does. */
  readonly sortsNullsLast: boolean;
  /** A text of a value that sorts as text. */
  asText(ordered: string): string;
  /** A UUID that groups and sorts. */
  uuid(column: string): string;
  /** A moment without what clients do not see of it. */
  millisecond(column: string, field: Field): string;
  sameBoolean(column: string): string;
  /** Digits that `readSum` reads. */
  sum(column: string, field: Field): string;
}

const same = (sql: string): string => sql;
const PLAIN: Form = { ordered: same, bound: same };

/** SQLite's own sum of integers fails beyond 64 bits: the billions and the rest are summed. */
export const BILLION = 1_000_000_000;

const sqlite: Dialect = {
  name: 'sqlite',
  forms: {},
  // SQLite's LIKE folds the letters A to Z only.
  containsAnyCase: ({ name }, pattern) => `${name} LIKE ${pattern} ESCAPE '!'`,
  contains: ({ ordered }, part) => `instr(${ordered}, ${part}) > 0`,
  startsWith: ({ ordered }, part) => `substr(${ordered}, 1, length(${part})) = ${part}`,
  endsWith: ({ ordered }, part) => `substr(${ordered}, -length(${part})) = ${part}`,
  like: ({ name }, pattern) => `${name} GLOB ${pattern}`,
  // The driver rounds integers only. CAST would round a REAL, and a cursor has no infinity.
  exactText: (column) =>
    `CASE WHEN typeof(${column}) = 'integer' THEN CAST(${column} AS TEXT)` +
    ` WHEN typeof(${column}) = 'real' AND abs(${column}) = 9e999 THEN iif(${column} > 0, '9e999', '-9e999') ELSE ${column} END`,
  sortsNullsLast: false,
  asText: same,
  uuid: same,
  // Other programs write other forms: with `T`, a zone, or other digits of the second.
  millisecond(column) {
    const zone = `ltrim(substr(${column}, 20), '.0123456789')`;
    const fraction = `substr(${column}, 20, length(${column}) - 19 - length(${zone}))`;
    const digits = `substr(COALESCE(NULLIF(${fraction}, ''), '.') || '000', 1, 4)`;
    const seconds = `strftime('%Y-%m-%d %H:%M:%S', substr(${column}, 1, 19) || ${zone}) || ${digits}`;
    const moment = `COALESCE(${seconds}, strftime('%Y-%m-%d %H:%M:%f', ${column}), ${column})`;
    return `CASE typeof(${column}) WHEN 'text' THEN ${moment} ELSE ${column} END`;
  },
  sameBoolean: (column) => `MIN(${column})`,
  sum(column, { type, type: { digits } }) {
    if (isFloat(type) || (digits && digits.scale === undefined)) return `SUM(${column})`;
    const whole = `CAST(${column} AS INTEGER)`;
    const parts = digits ? [whole, `CAST(ROUND((${column} - ${whole}) * 1e${digits.scale}) AS INTEGER)`] : [column];
    const sums = parts.flatMap((part) => ['/', '%'].map((by) => `CAST(SUM(${part} ${by} ${BILLION}) AS TEXT)`));
    return sums.join(" || ' ' || ");
  },
};

const postgresText: Form = {
  ordered: (column) => `CAST(${column} AS text) COLLATE "C"`,
  bound: same,
  equal: (column, parameter) => `CAST(${column} AS text) = ${parameter}`,
};
/** Without the index of a nondeterministic collation, which takes different texts for equal. */
const postgresBytes: Form = { ...postgresText, name: (column) => `(${column} COLLATE "default")`, equal: undefined };
const postgres: Dialect = {
  name: 'postgres',
  forms: { text: postgresText, label: postgresText },
  containsAnyCase: ({ name }, pattern) => `CAST(${name} AS text) ILIKE ${pattern} ESCAPE '!'`,
  contains: ({ ordered }, part) => `strpos(${ordered}, ${part}) > 0`,
  startsWith: ({ ordered }, part) => `starts_with(${ordered}, ${part})`,
  endsWith: ({ ordered }, part) => `right(${ordered}, length(${part})) = ${part}`,
  like: ({ name }, pattern) => `CAST(${name} AS text) LIKE ${pattern}`,
  exactText: (column) => `CAST(${column} AS text)`,
  sortsNullsLast: true,
  asText: same,
  uuid: (column) => `CAST(${column} AS text)`,
  millisecond: (column) => `date_trunc('milliseconds', ${column})`,
  sameBoolean: (column) => `BOOL_AND(${column})`,
  sum: (column, { type }) => `CAST(SUM(CAST(${column} AS ${isFloat(type) ? 'double precision' : 'numeric'})) AS text)`,
};

const utf8 = (text: string): string => `CONVERT(${text} USING utf8mb4)`;
const bytesOf = (text: string): string => `CAST(${utf8(text)} AS BINARY)`;
/** Without an index, but for texts of every character set. */
const mysqlBytes: Form = { ordered: bytesOf, bound: bytesOf };
const asDouble = (value: string): string => `(${value} + 0e0)`;
const mysql: Dialect = {
  name: 'mysql',
  forms: {
    text: {
      ordered: bytesOf,
      bound: bytesOf,
      equal: (column, parameter) => `(${column} = ${parameter} AND ${bytesOf(column)} = ${bytesOf(parameter)})`,
    },
    label: mysqlBytes,
    number: { ordered: same, bound: same, exact: asDouble },
    boolean: { ordered: same, bound: same, exact: asDouble },
    // Two strings of digits would compare as doubles.
    'exact number': {
      ordered: same,
      bound: (parameter, { digits }) => `CAST(${parameter} AS DECIMAL(65, ${comparedScale(digits ?? {})}))`,
    },
  },
  // Other collations also fold accents.
  containsAnyCase: ({ name }, pattern) => `LOWER(${utf8(name)}) COLLATE utf8mb4_bin LIKE LOWER(${pattern}) ESCAPE '!'`,
  contains: ({ ordered }, part) => `LOCATE(${bytesOf(part)}, ${ordered}) > 0`,
  startsWith: ({ ordered }, part) => `LEFT(${ordered}, LENGTH(${bytesOf(part)})) = ${bytesOf(part)}`,
  endsWith: ({ ordered }, part) => `RIGHT(${ordered}, LENGTH(${bytesOf(part)})) = ${bytesOf(part)}`,
  like: ({ name }, pattern) => `${utf8(name)} COLLATE utf8mb4_bin LIKE ${pattern}`,
  // A FLOAT as text has 6 digits.
  exactText: (column, { type }) => utf8(type.comparison === 'number' ? asDouble(column) : column),
  sortsNullsLast: false,
  asText: utf8,
  uuid: utf8,
  // `0000-00-00` less an interval is NULL.
  millisecond(column, { column: { precision } }) {
    const rest = `MICROSECOND(${column}) % 1000`;
    if ((precision ?? 0) <= 3) return column;
    return `CASE WHEN ${rest} = 0 THEN ${column} ELSE ${column} - INTERVAL (${rest}) MICROSECOND END`;
  },
  sameBoolean: (column) => `MIN(${column})`,
  sum: (column, field) => `CAST(SUM(${field.column.type === 'float' ? summand(column) : column}) AS CHAR)`,
};
const lastMicrosecond = (moment: string): string => `(CAST(${moment} AS DATETIME(6)) + INTERVAL 999 MICROSECOND)`;
/** `FLOAT` has 4 bytes: its text has the digits that are sent, where they are at most six. */
const summand = (column: string): string =>
  `IF(CAST(CONCAT(${column}) AS FLOAT) = ${column}, CONCAT(${column}) + 0e0, ${column} + 0e0)`;
/** `FLOAT` has 4 bytes: `f = 0.1` is false for a column that holds 0.1. */
const mysqlFloat: Form = { ordered: same, bound: (parameter) => `CAST(${parameter} AS FLOAT)`, exact: asDouble };

export const dialectOf = (dataSource: DataSource): Dialect =>
  isPostgres(dataSource) ? postgres : isMysql(dataSource) ? mysql : sqlite;

function formOf(dialect: Dialect, { type, column, hasLimitedCharset }: Field): Form {
  if (dialect === mysql && column.type === 'float') return mysqlFloat;
  const comparison = type.stored ?? type.comparison;
  if (hasLimitedCharset && comparison === 'text') return dialect === mysql ? mysqlBytes : postgresBytes;
  return (comparison && dialect.forms[comparison]) ?? PLAIN;
}

/** @param name the column in SQL */
export function comparable(dialect: Dialect, field: Field, name: string): Comparable {
  const form = formOf(dialect, field);
  const ordered = form.ordered(name);
  const bound = (parameter: string): string => form.bound(parameter, field.type);
  const isRange = field.type.comparison === 'moment';
  const test = (operator: string, parameter: string): string => {
    if (!isRange || dialect !== sqlite) return `${ordered} ${operator} ${bound(parameter)}`;
    // An index finds the days around it, in whatever zone other programs wrote them.
    const day = operator.startsWith('>')
      ? `date(${parameter}, '-1 day')`
      : `COALESCE(date(${parameter}, '+2 days'), ':')`;
    return `(${name} ${operator} ${day} AND ${dialect.millisecond(name, field)} ${operator} ${parameter})`;
  };
  const last = dialect === mysql ? lastMicrosecond : same;
  const isInclusive = dialect !== postgres;
  const upTo = (end: string): string => (isInclusive ? test('<=', last(end)) : test('<', end));
  const equal = (start: string, end?: string): string => {
    if (end !== undefined) return `(${test('>=', start)} AND ${upTo(end)})`;
    return form.equal?.(name, start) ?? test('=', start);
  };
  return {
    name,
    database: dialect.name,
    ordered,
    equal,
    oneOf(...parameters) {
      if (!isRange && !form.equal) return `${ordered} IN (${parameters.map(bound).join(', ')})`;
      const starts = parameters.filter((_, place) => !isRange || place % 2 === 0);
      return `(${starts.map((start, place) => equal(start, isRange ? parameters[2 * place + 1] : undefined)).join(' OR ')})`;
    },
    above: (start, end) =>
      end === undefined ? test('>', start) : isInclusive ? test('>', last(end)) : test('>=', end),
    from: (start) => test('>=', start),
    below: (start) => test('<', start),
    upTo: (start, end) => (end === undefined ? test('<=', start) : upTo(end)),
    matches: (operation, text) => dialect[operation]({ name: form.name?.(name) ?? name, ordered }, text),
    exactly: (operator, text) =>
      operator === '=' && form.equal ? form.equal(name, text) : `${ordered} ${operator} ${(form.exact ?? bound)(text)}`,
  };
}

/** The terms of ORDER BY: NULLs come last ascending and first descending on every database. */
export function orderBy(dialect: Dialect, field: Field, name: string, descending: boolean) {
  const direction = descending ? 'DESC' : 'ASC';
  const { ordered } = comparable(dialect, field, name);
  const isSorted = dialect.sortsNullsLast || !field.nullable;
  return [...(isSorted ? [] : [`(${name} IS NULL)`]), ordered].map((expression) => [expression, direction] as const);
}

/** `shop.product` → `"shop"."product"` */
export const escapePath = (path: string, driver: DataSource['driver']): string =>
  path
    .split('.')
    .map((name) => driver.escape(name))
    .join('.');
