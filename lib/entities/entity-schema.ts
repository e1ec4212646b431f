/** The immutable description of an entity, compiled from TypeORM's metadata at boot. */
import type { DataSource, EntityMetadata } from 'typeorm';
import { valueTypeOf, isRoundedByDriver, type ColumnMetadata } from './column-types.js';
import { excludedProperties } from './excluded-properties.js';
import type { ValueType } from './value-types.js';

export interface Field {
  /** Path in the JSON object: `['price']`, `['address', 'city']`, `['categoryId']`. */
  readonly path: readonly string[];
  /** The path as a name for messages: `address.city`. */
  readonly name: string;
  /** Path in the entity: `address.city`, or the name of the relation. */
  readonly property: string;
  readonly column: ColumnMetadata;
  readonly type: ValueType;
  readonly nullable: boolean;
  /** False for `select: false` and class-transformer's `@Exclude()`: no response contains such a column. */
  readonly readable: boolean;
  /** Whether a client may set it on a new record, or change it. */
  readonly insertable: boolean;
  readonly updatable: boolean;
  /** Whether the database or the entity's constructor sets a value if the client sends none. */
  readonly hasDefault: boolean;
  /** The relation whose foreign key this is, read and written as `<relation>Id`. */
  readonly reference: EntityMetadata['relations'][number] | undefined;
  /** Selected as text, because the driver rounds 64-bit integers. */
  readonly readsAsText: boolean;
}

export interface EntityDescription {
  /** `Product`, for messages. */
  readonly name: string;
  readonly fields: readonly Field[];
  readonly id: Field;
}

/** Columns that only TypeORM reads and writes. */
const TREE = ['isTreeLevel', 'isMaterializedPath', 'isNestedSetLeft', 'isNestedSetRight'] as const;
const isInternal = (column: ColumnMetadata): boolean =>
  column.isDiscriminator || TREE.some((flag) => column[flag]) || (column.isVirtual && !column.relationMetadata);

const DATES = ['isCreateDate', 'isUpdateDate', 'isDeleteDate'] as const;
const GENERATED = ['isPrimary', 'isGenerated', ...DATES, 'isVersion', 'isVirtualProperty'] as const;
const isGenerated = (column: ColumnMetadata): boolean =>
  GENERATED.some((flag) => column[flag]) || column.asExpression !== undefined;

export function describeEntity(metadata: EntityMetadata, dataSource: DataSource): EntityDescription {
  const blank = metadata.create() as object;
  const columns = metadata.columns.filter((column) => !isInternal(column));
  const names = [...new Set(columns.flatMap((column) => propertyOf(column).split('.')))];
  /** The class of the entity, then those of the embedded objects that hold the column. */
  const typesOf = ({ embeddedMetadata }: ColumnMetadata): unknown[] => [
    metadata.target,
    ...(embeddedMetadata?.embeddedMetadataTree.map(({ type }) => type) ?? []),
  ];
  const excluded = new Map<unknown, ReadonlySet<string>>();
  for (const type of columns.flatMap(typesOf))
    if (!excluded.has(type)) excluded.set(type, excludedProperties(type, names));
  const fields = columns.map((column): Field => {
    const reference = column.isVirtual ? column.relationMetadata : undefined;
    const property = propertyOf(column);
    const path = (reference ? `${property}Id` : property).split('.');
    const types = typesOf(column);
    const isHidden = property.split('.').some((name, depth) => excluded.get(types[depth])?.has(name));
    return {
      path,
      name: path.join('.'),
      property,
      column,
      type: valueTypeOf(column, dataSource),
      nullable: column.isNullable,
      readable: column.isSelect && !isHidden,
      insertable: !isGenerated(column) && column.isInsert,
      updatable: !isGenerated(column) && column.isUpdate,
      hasDefault: column.default !== undefined || column.getEntityValue(blank) !== undefined,
      reference,
      readsAsText: isRoundedByDriver(column, dataSource),
    };
  });
  const id = fields.find(({ column }) => column.isPrimary);
  if (!id) throw new TypeError(`${metadata.name} has no primary key`);
  return { name: metadata.name, fields, id };
}

const propertyOf = ({ isVirtual, relationMetadata, propertyPath }: ColumnMetadata): string =>
  (isVirtual ? relationMetadata?.propertyPath : undefined) ?? propertyPath;
