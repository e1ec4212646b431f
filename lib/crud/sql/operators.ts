/** The operators of conditions: one row for each, with the columns and values that it takes and its SQL. */
import type { Comparison } from '../../entities/value-types.js';
import type { Bound, Comparable } from './dialect.js';
import { containing } from './like-pattern.js';

/** How many values an operator takes. */
type Arity = 'one' | 'two' | 'list' | 'none';

export interface Operator {
  readonly arity: Arity;
  readonly takes: readonly Comparison[];
  /** Not for clients: `isNull` of a filter, or a scope, stands for it. */
  readonly internal?: true;
  /** The value that is bound, where that is not the column's own. */
  readonly bind?: (value: unknown) => unknown;
  /** @param values the parameters */
  sql(column: Comparable, values: readonly Bound[]): string;
}

const ANY: readonly Comparison[] = ['text', 'label', 'number', 'exact number', 'boolean', 'moment', 'calendar', 'uuid'];
const ORDERED = ANY.filter((each) => each !== 'boolean');
const TEXT: readonly Comparison[] = ['text', 'label'];
const asIs = (value: unknown): unknown => value;
const asPattern = (value: unknown): string => containing(String(value));
/** NULL counts as false. */
const unless = (condition: string): string => `(${condition}) IS NOT TRUE`;

type Sql<A> = (column: Comparable, ...values: A extends 'two' ? [Bound, Bound] : [Bound]) => string;
const row = <A extends 'one' | 'two'>(
  arity: A,
  takes: readonly Comparison[],
  sql: Sql<A>,
  bind?: Operator['bind'],
): Operator => ({
  arity,
  takes,
  sql: (column, values) => sql(column, ...(values as never)),
  ...(bind && { bind }),
});

const ROWS = {
  eq: row('one', ANY, (column, value) => column.equal(value)),
  ne: row('one', ANY, (column, value) => unless(column.equal(value))),
  gt: row('one', ORDERED, (column, value) => column.above(value)),
  gte: row('one', ORDERED, (column, value) => column.from(value)),
  lt: row('one', ORDERED, (column, value) => column.below(value)),
  lte: row('one', ORDERED, (column, value) => column.upTo(value)),
  between: row('two', ORDERED, (column, least, most) => `(${column.from(least)} AND ${column.upTo(most)})`),
  in: { arity: 'list', takes: ANY, sql: (column, values) => column.oneOf(values) },
  nin: { arity: 'list', takes: ANY, sql: (column, values) => unless(column.oneOf(values)) },
  contains: row('one', TEXT, (column, text) => column.contains(text), asIs),
  icontains: row('one', TEXT, (column, text) => column.containsAnyCase(text), asPattern),
  startsWith: row('one', TEXT, (column, text) => column.startsWith(text), asIs),
  endsWith: row('one', TEXT, (column, text) => column.endsWith(text), asIs),
  like: { ...row('one', TEXT, (column, pattern) => column.like(pattern), asIs), internal: true },
  isNull: { arity: 'none', takes: ANY, sql: (column) => `${column.name} IS NULL` },
  isNotNull: { arity: 'none', takes: ANY, sql: (column) => `${column.name} IS NOT NULL`, internal: true },
  // For the values of a cursor, which `exactText` selected.
  isExactly: { ...row('one', ANY, (column, value) => column.exactly('=', value), asIs), internal: true },
  isAbove: { ...row('one', ANY, (column, value) => column.exactly('>', value), asIs), internal: true },
  isBelow: { ...row('one', ANY, (column, value) => column.exactly('<', value), asIs), internal: true },
} as const satisfies Readonly<Record<string, Operator>>;

export type OperatorName = keyof typeof ROWS;
export const OPERATORS: Readonly<Record<OperatorName, Operator>> = ROWS;
