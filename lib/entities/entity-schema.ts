/**
 * The immutable description of an entity, compiled from TypeORM's metadata at boot. Checks, projection, search and the
 * statements all derive from it.
 */
import type { DataSource, EntityMetadata } from 'typeorm';
import { kindOf, losesDigits, type ColumnMetadata } from './column-kind.js';
import type { ValueKind } from './value-kinds.js';

export interface Field {
  /** Where it stands in the JSON object: `['price']`, `['address', 'city']`, `['categoryId']`. */
  readonly path: readonly string[];
  /** The same as a name for messages: `address.city`. */
  readonly name: string;
  /** Where the entity holds it: `address.city`, or the relation's name. */
  readonly property: string;
  readonly column: ColumnMetadata;
  readonly kind: ValueKind;
  readonly nullable: boolean;
  /** `select: false` columns never leave. */
  readonly readable: boolean;
  /** Whether a client may give it for a new record, or change it. */
  readonly insertable: boolean;
  readonly updatable: boolean;
  /** The database or the entity's constructor gives it a value when the client does not. */
  readonly hasDefault: boolean;
  /** The relation that it refers by, read and written as `<relation>Id`. */
  readonly reference: EntityMetadata['relations'][number] | undefined;
  /** Read as text, because the driver loses digits of it. */
  readonly readsAsText: boolean;
}

export interface EntitySchema {
  /** `Product`, for messages. */
  readonly name: string;
  readonly fields: readonly Field[];
  readonly id: Field;
}

/** Columns that TypeORM keeps for itself, which are no fields of the record. */
const isInternal = (column: ColumnMetadata): boolean =>
  column.isDiscriminator ||
  column.isTreeLevel ||
  column.isMaterializedPath ||
  column.isNestedSetLeft ||
  column.isNestedSetRight ||
  (column.isVirtual && !column.relationMetadata);

const isGenerated = (column: ColumnMetadata): boolean =>
  column.isPrimary ||
  column.isGenerated ||
  column.isCreateDate ||
  column.isUpdateDate ||
  column.isDeleteDate ||
  column.isVersion ||
  column.isVirtualProperty ||
  column.asExpression !== undefined;

export function describeEntity(metadata: EntityMetadata, dataSource: DataSource): EntitySchema {
  const blank = metadata.create() as object;
  const fields = metadata.columns
    .filter((column) => !isInternal(column))
    .map((column) => describeField(column, blank, dataSource));
  const id = fields.find(({ column }) => column.isPrimary);
  if (!id) throw new TypeError(`${metadata.name} has no primary key`);
  return Object.freeze({ name: metadata.name, fields: Object.freeze(fields), id });
}

function describeField(column: ColumnMetadata, blank: object, dataSource: DataSource): Field {
  const relation = column.isVirtual ? column.relationMetadata : undefined;
  const property = relation?.propertyPath ?? column.propertyPath;
  const path = (relation ? `${property}Id` : property).split('.');
  return Object.freeze({
    path: Object.freeze(path),
    name: path.join('.'),
    property,
    column,
    kind: kindOf(column, dataSource),
    nullable: column.isNullable,
    readable: column.isSelect,
    insertable: !isGenerated(column) && column.isInsert,
    updatable: !isGenerated(column) && column.isUpdate,
    hasDefault: column.default !== undefined || column.getEntityValue(blank) !== undefined,
    reference: relation,
    readsAsText: losesDigits(column, dataSource),
  });
}
