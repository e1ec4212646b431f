/** Reads TypeORM's `FindOptionsWhere` as a condition. What it cannot read is an error, and never a wider condition. */
import { FindOperator, type EntityMetadata } from 'typeorm';
import { isSqlite } from '../../entities/database-family.js';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { and, compare, EVERYTHING, NOTHING, or, type Condition, type Relation } from '../sql/condition.js';
import { existing } from '../query/field-path.js';
import type { Database } from '../store/database.js';
import { globOf, type OperatorName } from '../sql/operators.js';

type Where = Readonly<Record<string, unknown>>;

/** @throws TypeError for what it cannot read */
export function conditionOfWhere(where: unknown, metadata: EntityMetadata, database: Database): Condition {
  if (where === true) return EVERYTHING;
  if (where === false) return NOTHING;
  if (Array.isArray(where)) return or(...where.map((each) => conditionOfWhere(each, metadata, database)));
  if (!isPlain(where)) throw new TypeError(`A scope must be an object, an array of objects, true or false`);
  return conditionOfObject(where, '', metadata, database);
}

const isPlain = (value: unknown): value is Where =>
  typeof value === 'object' && value !== null && !(value instanceof Date) && !(value instanceof Uint8Array);

function conditionOfObject(where: Where, prefix: string, metadata: EntityMetadata, database: Database): Condition {
  const schema = database.describe(metadata);
  const { fields } = schema;
  const parts = Object.entries(where).map(([name, value]): Condition => {
    const path = prefix + name;
    // TypeORM 0.3 ignores such a condition, which would show every record.
    if (value === undefined || value === null)
      throw new TypeError(`The scope of ${metadata.name} has no value for ${path}. Use IsNull() for NULL.`);
    const relation = metadata.findRelationWithPropertyPath(path);
    const field = fields.find((each) => (each.reference ? each.name : each.property) === path);
    if (relation) return conditionOfRelation(relation, value, schema, database);
    if (field) return conditionOfValue(field, value, database);
    const isEmbedded = fields.some(({ property }) => property.startsWith(`${path}.`));
    if (isEmbedded && isPlain(value)) return conditionOfObject(value, `${path}.`, metadata, database);
    throw new TypeError(`The scope of ${metadata.name} names ${path}, which the entity does not have.`);
  });
  return and(...parts);
}

function conditionOfRelation(
  relation: Relation,
  value: unknown,
  { references }: EntityDescription,
  database: Database,
): Condition {
  const target = relation.inverseEntityMetadata;
  const [key, ...others] = references.find((each) => each.relation === relation)?.fields ?? [];
  if (key && others.length === 0 && (!isPlain(value) || value instanceof FindOperator))
    return conditionOfValue(key, value, database);
  if (!isPlain(value))
    throw new TypeError(`The scope of ${relation.entityMetadata.name} needs a condition on ${relation.propertyPath}.`);
  const related = database.describe(target);
  const isRecord = typeof target.target === 'function' && value instanceof target.target;
  const where = isRecord
    ? Object.fromEntries(related.key.fields.map(({ property, column }) => [property, column.getEntityValue(value)]))
    : value;
  const part = and(conditionOfWhere(where, target, database), existing(related));
  return { kind: 'related', relation, part };
}

/** TypeORM's operators that take one value, or a list of values. */
const COMPARED: Readonly<Partial<Record<FindOperator<unknown>['type'], OperatorName>>> = {
  equal: 'eq',
  lessThan: 'lt',
  lessThanOrEqual: 'lte',
  moreThan: 'gt',
  moreThanOrEqual: 'gte',
  between: 'between',
  in: 'in',
  any: 'in',
  like: 'like',
};

function conditionOfValue(field: Field, value: unknown, database: Database): Condition {
  if (!(value instanceof FindOperator)) return compare(field, 'eq', value);
  const operator = value as FindOperator<unknown>;
  // `value` of an operator inside another one is the innermost value.
  const { type, child } = operator;
  const inner: unknown = child ?? operator.value;
  const nested = (each: unknown): Condition => conditionOfValue(field, each, database);
  if (type === 'raw') {
    const { getSql, value: sql, objectLiteralParameters } = operator;
    const write = (column: string): string => getSql?.(column) ?? `${column} = ${String(sql)}`;
    return { kind: 'raw', field, write, parameters: { ...objectLiteralParameters } };
  }
  if (type === 'isNull') return compare(field, 'isNull');
  if (type === 'and') return and(...(inner as unknown[]).map(nested));
  if (type === 'or') return or(...(inner as unknown[]).map(nested));
  if (type === 'not') {
    const isNull = inner instanceof FindOperator && inner.type === 'isNull';
    // As in SQL: NULL is neither equal nor unequal.
    return isNull
      ? compare(field, 'isNotNull')
      : and(compare(field, 'isNotNull'), { kind: 'unless', part: nested(inner) });
  }
  if (type === 'equal' && inner instanceof FindOperator) return nested(inner);
  const name = COMPARED[type];
  if (!name || inner instanceof FindOperator)
    throw new TypeError(
      `The scope of ${field.column.entityMetadata.name} uses the operator ${type}, which scopes do not support.`,
    );
  const values = Array.isArray(inner) ? (inner as unknown[]) : [inner];
  if (values.some((each) => each === undefined || each === null))
    throw new TypeError(`The scope of ${field.column.entityMetadata.name} has no value for ${field.name}.`);
  if (name === 'like' && isSqlite(database.dataSource))
    return compare(field, name, ...values.map((each) => globOf(String(each))));
  return values.length === 0 ? NOTHING : compare(field, name, ...values);
}
