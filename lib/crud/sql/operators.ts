/** The operators of conditions: one row for each, with the columns and values that it takes and its SQL. */
import type { Field } from '../../entities/entity-schema.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import type { ColumnKind } from '../../entities/value-types.js';
import type { Comparable } from './dialect.js';

/** The column in the SQL of an operator. */
export interface FilteredColumn {
  /** In SQL: escaped, with its table. */
  readonly name: string;
  readonly database: 'sqlite' | 'postgres' | 'mysql';
}

/**
 * An operator of `filter[…]` for the option `operators` of `CrudModule.forRoot`.
 * @example
 * const near: FilterOperator = {
 *   name: 'near',
 *   takes: ['number', 'exact number'],
 *   expected: 'a number and a distance, such as "10,0.5"',
 *   read: (text) => (/^\d+(\.\d+)?,\d+(\.\d+)?$/.test(text) ? text.split(',').map(Number) : undefined),
 *   sql: ({ name }, value, distance) => `ABS(${name} - ${value}) <= ${distance}`,
 * };
 */
export interface FilterOperator {
  /** As clients send it: `filter[price][near]`. */
  readonly name: string;
  /** Kinds of columns, or types such as `jsonb` and `text[]` of columns that no built-in operator takes. */
  readonly takes: readonly (ColumnKind | (string & {}))[];
  /** What clients send, for errors and the OpenAPI document; `schema` is any text by default. */
  readonly expected: string;
  readonly schema?: JsonSchema;
  /** @returns the values to bind; `undefined` for a text that is not `expected` */
  readonly read: (text: string) => readonly unknown[] | undefined;
  /** @param parameters the placeholders of the values. The SQL may depend only on their number: it is compiled once. */
  sql(column: FilteredColumn, ...parameters: readonly string[]): string;
}

/** A built-in operator reads its values by the column, and has two parameters for a moment. */
export interface Operator extends Pick<FilterOperator, 'name' | 'takes'> {
  readonly arity: 'one' | 'two' | 'list' | 'none';
  /** Not for clients: `isNull` of a filter, or a scope, stands for it. */
  readonly internal?: true;
  /** The value that is bound, where that is not the column's own. */
  readonly bind?: (value: unknown) => unknown;
  readonly custom?: FilterOperator;
  sql(column: Comparable, ...parameters: readonly string[]): string;
}

/** In parentheses: an OR in the SQL must not widen other conditions. */
export const customOperator = (custom: FilterOperator): Operator => ({
  ...TEXT_OPERATOR,
  name: custom.name,
  takes: custom.takes,
  custom,
  sql: (column, ...parameters) => `(${custom.sql(column, ...parameters)})`,
});

const ANY: readonly ColumnKind[] = ['text', 'label', 'number', 'exact number', 'boolean', 'moment', 'calendar', 'uuid'];
const EQUAL: readonly ColumnKind[] = [...ANY, 'opaque'];
const ORDERED = ANY.filter((each) => each !== 'boolean');
const TEXT: readonly ColumnKind[] = ['text', 'label'];
const asIs = (value: unknown): unknown => value;
const asPattern = (value: unknown): string => containing(String(value));
/** NULL counts as false. */
const unless = (condition: string): string => `(${condition}) IS NOT TRUE`;

/** The value may be longer than the column: it is not read as a value of the column. */
const TEXT_OPERATOR = { arity: 'one', takes: TEXT, bind: asIs } as const;
/** For the values of a cursor, which `exactText` selected. */
const CURSOR_OPERATOR = { arity: 'one', takes: ANY, bind: asIs, internal: true } as const;

const ROWS = {
  eq: { arity: 'one', takes: EQUAL, sql: (column, start, end) => column.equal(start, end) },
  ne: { arity: 'one', takes: EQUAL, sql: (column, start, end) => unless(column.equal(start, end)) },
  gt: { arity: 'one', takes: ORDERED, sql: (column, start, end) => column.above(start, end) },
  gte: { arity: 'one', takes: ORDERED, sql: (column, value) => column.from(value) },
  lt: { arity: 'one', takes: ORDERED, sql: (column, value) => column.below(value) },
  lte: { arity: 'one', takes: ORDERED, sql: (column, start, end) => column.upTo(start, end) },
  between: {
    arity: 'two',
    takes: ORDERED,
    sql(column, low, ...others) {
      const [high = low, end] = others.slice((others.length - 1) / 2);
      return `(${column.from(low)} AND ${column.upTo(high, end)})`;
    },
  },
  in: { arity: 'list', takes: EQUAL, sql: (column, ...values) => column.oneOf(...values) },
  nin: { arity: 'list', takes: EQUAL, sql: (column, ...values) => unless(column.oneOf(...values)) },
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
} as const satisfies Readonly<Record<string, Omit<Operator, 'name'>>>;

export type OperatorName = keyof typeof ROWS;
export const OPERATORS = Object.fromEntries(
  Object.entries(ROWS).map(([name, row]) => [name, { name, ...row }]),
) as Readonly<Record<OperatorName, Operator>>;

/** The operators that clients may use on a field, by name. */
export function operatorsFor(field: Field, custom: readonly Operator[] = []): ReadonlyMap<string, Operator> {
  const kind = kindOf(field);
  const taken = [...Object.values(OPERATORS), ...custom].filter(
    ({ internal, takes }) => !internal && takes.includes(kind),
  );
  return new Map(taken.map((operator) => [operator.name, operator]));
}

/** Conditions write no expressions, such as those of virtual columns, and know the values before a transformer only. */
function kindOf({ type: { comparison }, column: { type, isArray, isVirtualProperty, transformer } }: Field): string {
  return comparison ?? (isVirtualProperty || transformer ? '' : `${String(type)}${isArray ? '[]' : ''}`);
}

/** A LIKE pattern in which `\` escapes, as a GLOB pattern of SQLite: its LIKE folds letters, and has no escape. */
export const globOf = (pattern: string): string =>
  pattern.replace(
    /\\(.)|[%_*?[]/gsu,
    (text, escaped: string | undefined) => WILDCARDS[text] ?? literal(escaped ?? text),
  );

const WILDCARDS: Readonly<Record<string, string>> = { '%': '*', _: '?' };
const literal = (character: string): string => (/[*?[]/.test(character) ? `[${character}]` : character);

/** The text as a LIKE pattern in which it is literal; `!` escapes. */
const containing = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}%`;
