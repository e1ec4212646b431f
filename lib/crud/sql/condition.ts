/**
 * Conditions on the records of an entity. Filters, searches, the id of a path, soft deletion and scopes are all of this
 * form, so that one compiler writes the WHERE of every statement.
 */
import type { DataSource, EntityMetadata } from 'typeorm';
import { isPostgres } from '../../entities/database-family.js';
import type { EntityKey } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import { OPERATORS, type Operator, type OperatorName } from './operators.js';

export type Relation = EntityMetadata['relations'][number];

export type Condition =
  | Conjunction
  | Comparison
  /** True unless its part is true: also where the part is NULL. */
  | { readonly kind: 'unless'; readonly part: Condition }
  | { readonly kind: 'related'; readonly relation: Relation; readonly part: Condition }
  | RawCondition
  /** Only on SQLite: some column of the search index contains the text, in letters of any case. */
  | { readonly kind: 'indexed'; readonly table: string; readonly key: Field; readonly text: string };

/** `and` of no parts is true, `or` of none is false. */
export interface Conjunction {
  readonly kind: 'and' | 'or';
  readonly parts: readonly Condition[];
}

export interface Comparison {
  readonly kind: 'compare';
  readonly field: Field;
  readonly operator: Operator;
  readonly values: readonly unknown[];
}

/** SQL that the application wrote, as TypeORM's `Raw` has it. */
export interface RawCondition {
  readonly kind: 'raw';
  readonly field: Field;
  /** With the names of parameters, such as `:min` or `:...ids`. */
  readonly write: (column: string) => string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface SortKey {
  readonly field: Field;
  readonly descending: boolean;
}

export const ascending = (fields: readonly Field[]): SortKey[] => fields.map((field) => ({ field, descending: false }));

export const EVERYTHING: Conjunction = { kind: 'and', parts: [] };
export const NOTHING: Conjunction = { kind: 'or', parts: [] };

export function compare(field: Field, operator: Operator | OperatorName, ...values: readonly unknown[]): Comparison {
  return { kind: 'compare', field, operator: typeof operator === 'string' ? OPERATORS[operator] : operator, values };
}

export const isEverything = (condition: Condition): boolean => condition.kind === 'and' && condition.parts.length === 0;

/** Nested conjunctions become one. */
export function and(...conditions: readonly Condition[]): Condition {
  const parts = conditions.flatMap((each) => (each.kind === 'and' ? each.parts : [each]));
  const [only] = parts;
  return only && parts.length === 1 ? only : { kind: 'and', parts };
}

export function or(...parts: readonly Condition[]): Condition {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  return parts.some(isEverything) ? EVERYTHING : { kind: 'or', parts };
}

/** @param held the key as the entity holds it */
export const keyIs = ({ fields, parts }: EntityKey<Field>, held: unknown): Condition =>
  and(...fields.map((field, index) => compare(field, 'eq', parts(held)[index])));

export function keyIsAmong(key: EntityKey<Field>, held: readonly unknown[]): Condition {
  const [first, ...others] = key.fields;
  return first && others.length === 0 ? compare(first, 'in', ...held) : or(...held.map((each) => keyIs(key, each)));
}

/** A condition that a record must meet to be changed, and the answer where it does not. */
export interface WritePrecondition {
  readonly condition: Condition;
  refuse(): Error;
}

/** Two conditions of one shape have the same SQL. */
export function shapeOf(condition: Condition): string {
  switch (condition.kind) {
    case 'compare':
      return `${condition.operator.name} ${condition.field.name} ${condition.values.length};`;
    case 'unless':
      return `unless(${shapeOf(condition.part)})`;
    case 'raw':
      return `raw(${condition.write(condition.field.name)} ${rawLists(condition).map(({ length }) => length)})`;
    case 'related':
      return `related ${condition.relation.propertyPath}(${shapeOf(condition.part)})`;
    case 'indexed':
      return `indexed ${condition.table};`;
    default:
      return `${condition.kind}(${condition.parts.map(shapeOf).join('')})`;
  }
}

/** The values of a condition in the order of its parameters, as the driver takes them. */
export function boundValues(condition: Condition, dataSource: DataSource): unknown[] {
  switch (condition.kind) {
    case 'compare':
      return condition.values.flatMap((value) => bind(condition, value, dataSource));
    case 'raw':
      return rawLists(condition).flat();
    case 'unless':
    case 'related':
      return boundValues(condition.part, dataSource);
    case 'indexed':
      return [`"${condition.text.replaceAll('"', '""')}"`];
    default:
      return condition.parts.flatMap((part) => boundValues(part, dataSource));
  }
}

/** `:name` or `:...names`, as TypeORM writes them. */
export const RAW_PARAMETER = /:(\.\.\.)?(\w+)/g;

/** The values of each parameter, in the order of the text. */
const rawLists = ({ field, write, parameters }: RawCondition): unknown[][] =>
  [...write(field.name).matchAll(RAW_PARAMETER)].flatMap(([, , name = '']) =>
    Object.hasOwn(parameters, name) ? [[parameters[name]].flat()] : [],
  );

function bind({ field, operator }: Comparison, value: unknown, dataSource: DataSource): unknown[] {
  if (operator.bind) return [operator.bind(value)];
  const persist = (held: unknown): unknown =>
    // A transformer may have no value for it.
    dataSource.driver.preparePersistentValue(field.type.bound?.(held) ?? held, field.column) ?? null;
  if (!isMoment(field)) return [persist(value)];
  // Only PostgreSQL has a moment behind the last one of four digits.
  return [persist(value), persist(new Date((value as Date).getTime() + (isPostgres(dataSource) ? 1 : 0)))];
}

export const isMoment = ({ type }: Field): boolean => type.comparison === 'moment';
