/** The operators of conditions: one row for each, with the columns and values that it takes and its SQL. */
import type { Comparison } from '../../entities/value-types.js';
import type { Bound, Comparable } from './dialect.js';

export interface Operator {
  readonly arity: 'one' | 'two' | 'list' | 'none';
  readonly takes: readonly Comparison[];
  /** Not for clients: `isNull` of a filter, or a scope, stands for it. */
  readonly internal?: true;
  /** The value that is bound, where that is not the column's own. */
  readonly bind?: (value: unknown) => unknown;
  sql(column: Comparable, ...values: readonly Bound[]): string;
}

const ANY: readonly Comparison[] = ['text', 'label', 'number', 'exact number', 'boolean', 'moment', 'calendar', 'uuid'];
const EQUAL: readonly Comparison[] = [...ANY, 'opaque'];
const ORDERED = ANY.filter((each) => each !== 'boolean');
const TEXT: readonly Comparison[] = ['text', 'label'];
const asIs = (value: unknown): unknown => value;
const asPattern = (value: unknown): string => containing(String(value));
/** NULL counts as false. */
const unless = (condition: string): string => `(${condition}) IS NOT TRUE`;

/** The value may be longer than the column: it is not read as a value of the column. */
const TEXT_OPERATOR = { arity: 'one', takes: TEXT, bind: asIs } as const;
/** For the values of a cursor, which `exactText` selected. */
const CURSOR_OPERATOR = { arity: 'one', takes: ANY, bind: asIs, internal: true } as const;

const ROWS = {
  eq: { arity: 'one', takes: EQUAL, sql: (column, value) => column.equal(value) },
  ne: { arity: 'one', takes: EQUAL, sql: (column, value) => unless(column.equal(value)) },
  gt: { arity: 'one', takes: ORDERED, sql: (column, value) => column.above(value) },
  gte: { arity: 'one', takes: ORDERED, sql: (column, value) => column.from(value) },
  lt: { arity: 'one', takes: ORDERED, sql: (column, value) => column.below(value) },
  lte: { arity: 'one', takes: ORDERED, sql: (column, value) => column.upTo(value) },
  between: {
    arity: 'two',
    takes: ORDERED,
    sql: (column, low, high) => `(${column.from(low)} AND ${column.upTo(high)})`,
  },
  in: { arity: 'list', takes: EQUAL, sql: (column, ...values) => column.oneOf(values) },
  nin: { arity: 'list', takes: EQUAL, sql: (column, ...values) => unless(column.oneOf(values)) },
  contains: { ...TEXT_OPERATOR, sql: (column, text) => column.matches('contains', text) },
  icontains: { ...TEXT_OPERATOR, bind: asPattern, sql: (column, text) => column.matches('containsAnyCase', text) },
  startsWith: { ...TEXT_OPERATOR, sql: (column, text) => column.matches('startsWith', text) },
  endsWith: { ...TEXT_OPERATOR, sql: (column, text) => column.matches('endsWith', text) },
  like: { ...TEXT_OPERATOR, internal: true, sql: (column, pattern) => column.matches('like', pattern) },
  isNull: { arity: 'none', takes: EQUAL, sql: (column) => `${column.name} IS NULL` },
  isNotNull: { arity: 'none', takes: EQUAL, internal: true, sql: (column) => `${column.name} IS NOT NULL` },
  isExactly: { ...CURSOR_OPERATOR, sql: (column, value) => column.exactly('=', value) },
  isAbove: { ...CURSOR_OPERATOR, sql: (column, value) => column.exactly('>', value) },
  isBelow: { ...CURSOR_OPERATOR, sql: (column, value) => column.exactly('<', value) },
} as const satisfies Readonly<Record<string, Operator>>;

export type OperatorName = keyof typeof ROWS;
export const OPERATORS: Readonly<Record<OperatorName, Operator>> = ROWS;

/**
 * A LIKE pattern of PostgreSQL and MySQL, in which `\` escapes, as a GLOB pattern of SQLite: its LIKE folds letters, and
 * has no escape.
 */
export const globOf = (pattern: string): string =>
  pattern.replace(
    /\\(.)|[%_*?[]/gsu,
    (text, escaped: string | undefined) => WILDCARDS[text] ?? literal(escaped ?? text),
  );

const WILDCARDS: Readonly<Record<string, string>> = { '%': '*', _: '?' };
const literal = (character: string): string => (/[*?[]/.test(character) ? `[${character}]` : character);

/** The text as a LIKE pattern in which it is literal; `!` escapes. */
const containing = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}%`;
