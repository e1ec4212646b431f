/** The foreign keys that statements look records up by, and whether they are indexed. */
import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from '../../entities/column-types.js';
import type { EntityDescription } from '../../entities/entity-schema.js';
import { isMysql } from '../../entities/database-family.js';
import type { Relation } from './condition.js';

/** TypeORM gives it to a side of a many-to-many relation only if the other side names that. */
export const junctionOf = ({ junctionEntityMetadata, inverseRelation }: Relation) =>
  junctionEntityMetadata ?? inverseRelation?.junctionEntityMetadata;

/** The column of the related table that refers to the owner of a relation, where it is a single one. */
export function inverseKey(relation: Relation): ColumnMetadata | undefined {
  const [column, ...others] = relation.inverseRelation?.joinColumns ?? [];
  return !relation.isOwning && !junctionOf(relation) && others.length === 0 ? column : undefined;
}

/**
 * The fields of a relation's foreign key, which is in the table of the owner or of the related records. Other relations
 * and columns of the entity may have the same database column.
 */
export function foreignKeyFields(relation: Relation, describe: (metadata: EntityMetadata) => EntityDescription) {
  const { isOwning, joinColumns, inverseRelation, entityMetadata, inverseEntityMetadata } = relation;
  if (junctionOf(relation)) return [];
  const columns = isOwning ? joinColumns : (inverseRelation?.joinColumns ?? []);
  const names = columns.map(({ databaseName }) => databaseName);
  const { fields } = describe(isOwning ? entityMetadata : inverseEntityMetadata);
  return fields.filter(({ column }) => names.includes(column.databaseName));
}

/** Whether the entity declares an index that begins with a column. MySQL and MariaDB create one for each foreign key. */
export function isIndexed(column: ColumnMetadata, dataSource: DataSource): boolean {
  const { indices, uniques, primaryColumns } = column.entityMetadata;
  const declared = [...indices, ...uniques].map(({ columns }) => columns);
  return isMysql(dataSource) || [primaryColumns, ...declared].some(([first]) => first === column);
}
