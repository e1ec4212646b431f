/** The fields that a query may name: of the entity itself, and of related entities by a path such as `author.name`. */
import type { EntityMetadata } from 'typeorm';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { and, compare, EVERYTHING, type Condition, type Relation } from '../sql/condition.js';
import type { Operator } from '../sql/operators.js';

export interface FieldPath {
  readonly relations: readonly Relation[];
  readonly field: Field;
}

/** A field that filters may name, with the operators that it takes. */
export interface FilterableField extends FieldPath {
  readonly operators: ReadonlyMap<string, Operator>;
}

export type Describe = (metadata: EntityMetadata) => EntityDescription;

export function findFieldPath(name: string, metadata: EntityMetadata, describe: Describe): FieldPath | undefined {
  const own = describe(metadata).fields.find((field) => field.name === name);
  if (own) return { relations: [], field: own };
  for (const relation of metadata.relations) {
    const prefix = `${relation.propertyPath}.`;
    if (!name.startsWith(prefix)) continue;
    const related = relation.inverseEntityMetadata;
    const rest = findFieldPath(name.slice(prefix.length), related, describe);
    if (rest) return { relations: [relation, ...rest.relations], field: rest.field };
  }
  return undefined;
}

export const deletionOf = ({ fields }: EntityDescription): Field | undefined =>
  fields.find(({ column }) => column.isDeleteDate);

/** Whether a row of the table is a record of the entity, which may share its table with other classes. */
export const classCondition = ({ discriminator }: EntityDescription): Condition =>
  discriminator ? compare(discriminator.field, 'in', ...discriminator.values) : EVERYTHING;

/** Records of the entity that are not marked as deleted. */
export function existing(schema: EntityDescription): Condition {
  const deletion = deletionOf(schema);
  return and(classCondition(schema), ...(deletion ? [compare(deletion, 'isNull')] : []));
}
