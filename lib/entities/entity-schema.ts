/** The immutable description of an entity, compiled from TypeORM's metadata at boot. */
import type { DataSource, EntityMetadata } from 'typeorm';
import { declaredNames } from './declared-entities.js';
import { fieldPath, hasAccessor, hasInsertListener, initialValue, newEntity, propertyOf } from './entity-instances.js';
import { valueTypeOf, type ColumnMetadata } from './column-types.js';
import type { CallerRoles } from '../http/caller.js';
import { guardOf, hiddenColumns, type Restrictions } from './entity-guard.js';
import { entityKey, type EntityKey } from './entity-key.js';
import { excludedProperties } from './class-transformer.js';
import { hiddenByToJson, recordPrototype } from './json-form.js';
import { textReadOf, type TextRead } from './text-reads.js';
import type { Reading, ValueType } from './value-types.js';

export interface Field {
  /** Path in the JSON object: `['price']`, `['address', 'city']`, `['categoryId']`. */
  readonly path: readonly string[];
  readonly name: string;
  /** Path in the entity: `address.city`, or the name of the relation. */
  readonly property: string;
  readonly column: ColumnMetadata;
  readonly type: ValueType;
  readonly nullable: boolean;
  /** False for `select: false` and class-transformer's `@Exclude()`, and where `toJSON` leaves it out: no response contains such a column. */
  readonly readable: boolean;
  /** Whether a client may set it on a new record, or change it. */
  readonly insertable: boolean;
  readonly updatable: boolean;
  /** Whether the database or the entity's constructor sets a value if the client sends none. */
  readonly hasDefault: boolean;
  /** The relation whose foreign key this is, if the entity declares no column for it: `<relation>Id`. */
  readonly reference: EntityMetadata['relations'][number] | undefined;
  /** Set if it is a field of a related record, in a sort by `author.name`: the to-one relations that lead there. */
  readonly through?: readonly EntityMetadata['relations'][number][];
  /** Set if the driver or TypeORM would change the values. */
  readonly textRead: TextRead | undefined;
  /** Whether the column cannot hold every text, or takes different ones for equal: conditions convert it. */
  readonly hasLimitedCharset: boolean;
}

/** A relation whose foreign key is in the table of the entity, whether the entity declares its columns or not. */
export interface Reference {
  readonly relation: EntityMetadata['relations'][number];
  /** In the order of its join columns. Several relations may share one. */
  readonly fields: readonly Field[];
}

export interface EntityDescription {
  readonly name: string;
  readonly metadata: EntityMetadata;
  /** The schema of records, as they are answered. */
  readonly prototype: object;
  readonly fields: readonly Field[];
  readonly key: EntityKey<Field>;
  readonly references: readonly Reference[];
  /** Set if several classes share the table: the column that tells them apart, and its values for this class. */
  readonly discriminator: { readonly field: Field; readonly values: readonly unknown[] } | undefined;
}

// TypeORM leaves the `@TreeLevelColumn` to the application.
const TREE = ['isMaterializedPath', 'isNestedSetLeft', 'isNestedSetRight'] as const;
const isInternal = (column: ColumnMetadata): boolean =>
  TREE.some((flag) => column[flag]) || (column.isVirtual && !column.relationMetadata);

const DATES = ['isCreateDate', 'isUpdateDate', 'isDeleteDate'] as const;
const GENERATED = ['isGenerated', ...DATES, 'isVersion', 'isDiscriminator', 'isVirtualProperty'] as const;
const isGenerated = (column: ColumnMetadata): boolean =>
  GENERATED.some((flag) => column[flag]) || column.asExpression !== undefined;

/** The generator of a new record's key. A listener or subscriber may set it if the client sends none. */
function keyGenerator(column: ColumnMetadata, dataSource: DataSource, metadata: EntityMetadata) {
  const isReturned = column.default !== undefined && dataSource.driver.isReturningSqlSupported('insert');
  if (isGenerated(column) || isReturned) return 'database';
  // A value that two records share, such as a constant or the time, is no key.
  const [first, second] = [newEntity(metadata), newEntity(metadata)].map((each) => initialValue(column, each));
  if (String(first) !== String(second)) return 'class';
  return hasInsertListener(metadata, dataSource) ? 'listener' : undefined;
}

/** The types of the columns of views, as the database calls them. */
export type ViewTypes = ReadonlyMap<ColumnMetadata, string | undefined>;

/**
 * @param narrow the paths of columns such as `product.name` whose character set is not utf8mb4
 * @param roles what the checks of a class of users compare roles with
 */
export function describeEntity(
  metadata: EntityMetadata,
  dataSource: DataSource,
  narrow: ReadonlySet<string> = new Set(),
  roles?: CallerRoles,
  viewTypes: ViewTypes = new Map(),
): EntityDescription {
  const blank = newEntity(metadata);
  const guard = guardOf(metadata.target);
  const hidden = hiddenColumns(metadata, dataSource);
  const isLeftOut = hiddenByToJson(metadata, dataSource);
  const isOwn = ownColumns(metadata);
  const isField = (column: ColumnMetadata): boolean =>
    !isInternal(column) && isOwn(column) && !hidden.has(column.databaseName);
  const columns = metadata.columns.filter(isField);
  const names = [...new Set(columns.flatMap((column) => propertyOf(column).split('.')))];
  /** The class of the entity, then those of the embedded objects that hold the column. */
  const typesOf = ({ embeddedMetadata }: ColumnMetadata): unknown[] => [
    metadata.target,
    ...(embeddedMetadata?.embeddedMetadataTree.map(({ type }) => type) ?? []),
  ];
  const classes = new Set(columns.flatMap(typesOf));
  const excluded = new Map([...classes].map((type) => [type, excludedProperties(type, names)]));
  const fieldOf = (column: ColumnMetadata): Field => {
    const reference = column.isVirtual ? column.relationMetadata : undefined;
    const property = propertyOf(column);
    const path = fieldPath(column);
    const types = typesOf(column);
    const isHidden = property.split('.').some((name, depth) => excluded.get(types[depth])?.has(name));
    const generator = column.isPrimary ? keyGenerator(column, dataSource, metadata) : undefined;
    const isWritten = !isGenerated(column) && (generator === undefined || generator === 'listener');
    return {
      path,
      name: path.join('.'),
      property,
      column,
      type: guarded(valueTypeOf(column, dataSource, viewTypes.get(column)), guard, property, roles),
      nullable: column.isNullable,
      readable: column.isSelect && !isHidden && !isLeftOut?.(column),
      insertable: isWritten && column.isInsert,
      updatable: isWritten && column.isUpdate && !column.isPrimary,
      hasDefault: column.isPrimary
        ? generator !== undefined
        : column.default !== undefined || hasAccessor(column) || initialValue(column, blank) !== undefined,
      reference,
      textRead: textReadOf(column, dataSource, viewTypes.get(column)),
      hasLimitedCharset: narrow.has(`${metadata.tableName}.${column.databaseName}`.toLowerCase()),
    };
  };
  const fields = columns.map(fieldOf);
  const key = entityKey(fields.filter(({ column }) => column.isPrimary));
  const { discriminatorColumn: kind, childEntityMetadatas: children } = metadata;
  const values = [metadata, ...children].map(({ discriminatorValue }) => discriminatorValue);
  // The first class of the table has the records of all others too.
  const discriminator = kind && metadata.parentEntityMetadata && { field: fieldOf(kind), values };
  const references = referencesOf(metadata, fields);
  const prototype = recordPrototype(metadata, isLeftOut !== undefined);
  return { name: metadata.name, metadata, prototype, fields, key, references, discriminator };
}

function referencesOf({ relations }: EntityMetadata, fields: readonly Field[]): Reference[] {
  const owning = relations.filter(({ isOwning, isManyToMany }) => isOwning && !isManyToMany);
  const keys = owning.map((relation) => ({
    relation,
    fields: relation.joinColumns.flatMap(
      ({ databaseName }) => fields.find(({ column }) => column.databaseName === databaseName) ?? [],
    ),
  }));
  return keys.filter(({ relation, fields: found }) => found.length === relation.joinColumns.length);
}

/** If several classes share a table, TypeORM gives a class the columns of its subclasses, and foreign keys of its siblings. */
function ownColumns({ target, inheritancePattern, parentEntityMetadata }: EntityMetadata) {
  const isShared = inheritancePattern !== undefined || parentEntityMetadata !== undefined;
  const names = isShared ? declaredNames(target) : new Set<string>();
  // An `EntitySchema` declares nothing by decorators.
  return (column: ColumnMetadata): boolean => names.size === 0 || names.has(propertyOf(column).split('.')[0] ?? '');
}

function guarded(type: ValueType, guard: Restrictions | undefined, property: string, roles?: CallerRoles): ValueType {
  const check = guard?.reads[property];
  if (!check) return type;
  const read = (value: unknown): Reading => {
    const checked = check(value, roles);
    return 'value' in checked ? type.read(checked.value) : checked;
  };
  return { ...type, read, schemas: { ...type.schemas, body: guard.schemas[property] ?? type.schemas.body } };
}
