/** One resource, compiled at boot from its declaration and the data source's metadata; immutable. */
import type { DataSource, EntityMetadata } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { isSqlite } from '../../entities/database-family.js';
import { guardOf } from '../../entities/entity-guard.js';
import { IdempotencyKey } from '../idempotency/idempotency-keys.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { optionsOf } from '../declare/declared-options.js';
import { CREATIONS, type OperationName } from '../declare/operations.js';
import { refuseOption, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import type { ListParameters } from '../query/list-query.js';
import type { FieldPermissions } from '../rows/field-permissions.js';
import type { Ownership } from '../rows/owner.js';
import type { ScopeFunction } from '../declare/scope.js';
import type { Relation } from '../sql/condition.js';
import { searchIndexOf, type SearchIndex } from '../sql/search-index.js';
import type { Database } from '../store/database.js';
import { hears } from '../store/entity-events.js';
import { parentFieldOf } from '../store/tree-writer.js';
import { deletionOf } from '../query/field-path.js';
import { aggregatableFields, compileListParameters, withoutDeletion, includedRelations } from './list-parameters.js';
import { compileFieldPermissions, compileOwner, compilePathParameters, compileScope } from './row-options.js';
import type { DeclaredResource, FindProvider } from './row-options.js';

export interface Resource extends DeclaredResource {
  readonly metadata: EntityMetadata;
  readonly deletion: Field | undefined;
  readonly list: ListParameters;
  readonly pathParameters: ReadonlyMap<string, Field>;
  readonly scope: ScopeFunction<object> | undefined;
  readonly owner: Ownership | undefined;
  readonly fieldPermissions: FieldPermissions;
  /** The list parameters of users with one of the `deletedRoles`, who may also name the delete date. */
  readonly listWithDeleted: ListParameters;
  /** The fields that `aggregate` may name, if the caller may read them. */
  readonly aggregatable: readonly Field[];
  readonly searchIndex: SearchIndex | undefined;
}

export function compileResource(
  options: ResolvedCrudOptions,
  database: Database,
  findProvider: FindProvider,
): Resource {
  const { dataSource } = database;
  const metadata = assertKnown(options, dataSource).getMetadata(options.entity);
  assertUsable(options, metadata, dataSource);
  assertColumns(options, metadata);
  assertKeysAreStored(options, dataSource);
  assertOperations(options, metadata, database);
  return describeResource(options, database, findProvider);
}

/** Describes an entity of the data source, also one that no resource could serve. @throws InvalidOptionError */
export function describeResource(
  options: ResolvedCrudOptions,
  database: Database,
  findProvider: FindProvider = () => undefined,
): Resource {
  const { dataSource } = database;
  const metadata = dataSource.getMetadata(options.entity);
  const schema = database.describe(metadata);
  const declared = { options, schema, database };
  const parameters = compileListParameters(declared);
  const searched = [...parameters.searchable.values()];
  const searchIndex = options.searchIndex ? searchIndexOf(metadata, searched, dataSource) : undefined;
  const searchTable = searchIndex?.table;
  const isSerial = schema.key.fields.every(({ column }) => column.generationStrategy === 'increment');
  if (searchTable !== undefined && !isSerial) {
    const expected = 'used on SQLite with an id of @PrimaryGeneratedColumn()';
    refuseOption(options, 'searchIndex', expected, 'one of another kind', 'leave the option out');
  }
  const listWithDeleted = searchTable === undefined ? parameters : { ...parameters, searchTable };
  return Object.freeze({
    ...declared,
    metadata,
    deletion: deletionOf(schema),
    list: withoutDeletion(listWithDeleted, schema),
    listWithDeleted,
    searchIndex,
    aggregatable: aggregatableFields(declared),
    pathParameters: compilePathParameters(declared),
    scope: compileScope(options, findProvider),
    owner: compileOwner(declared),
    fieldPermissions: compileFieldPermissions(declared),
  });
}

/** Which resources serve a relation: those of its entity, or the one of the controller that `includableRelations` names. */
export function servingRelation({ options, database }: Resource, path: string, relation: Relation) {
  const through = includedRelations(options).find((each) => each.controller && each.relation === path)?.controller;
  const serves = (each: Resource): boolean =>
    each.options.entity === relation.inverseEntityMetadata.target &&
    each.database === database &&
    (!through || each.options === optionsOf(through));
  return { through, serves };
}

/** @param dataSource `undefined` where the application has none of that name */
export function assertKnown(options: ResolvedCrudOptions, dataSource: DataSource | undefined): DataSource {
  const { entity, dataSource: name } = options;
  if (!dataSource) {
    const advice = `import TypeOrmModule.forRoot({ … })${name === undefined ? '' : ' with that `name`'}`;
    if (name === undefined) return refuseOption(options, 'entity', 'an entity of a data source', 'none', advice);
    return refuseOption(options, 'dataSource', 'the name of a data source', JSON.stringify(name), advice);
  }
  if (dataSource.hasMetadata(entity)) return dataSource;
  const advice =
    'Add it to `entities`, or set `autoLoadEntities` and import CrudModule.forFeature(…) or TypeOrmModule.forFeature([…])';
  throw InvalidOptionError.withMessage(`${entity.name} is not registered with the data source. ${advice}.`);
}

function assertUsable(options: ResolvedCrudOptions, metadata: EntityMetadata, dataSource: DataSource): void {
  const { primaryColumns, columns, relations } = metadata;
  const embedded = primaryColumns.find(({ embeddedMetadata }) => embeddedMetadata);
  if (embedded) {
    const expected = 'an entity whose primary key lies in no embedded object';
    refuseOption(options, 'entity', expected, `\`${embedded.propertyPath}\``, 'declare the column in the entity');
  }
  const computed = columns.find((column) => column.asExpression !== undefined && column.isInsert);
  if (computed && isSqlite(dataSource)) {
    const expected = 'an entity whose computed columns TypeORM leaves out of its statements';
    const advice = 'give the column `insert: false, update: false`';
    refuseOption(options, 'entity', expected, `\`${computed.propertyName}\``, advice);
  }
  const composite = relations.find(
    ({ joinColumns, isManyToMany }) =>
      !isManyToMany && joinColumns.length > 1 && joinColumns.some(({ isVirtual }) => isVirtual),
  );
  if (composite) {
    const names = composite.joinColumns.map(({ databaseName }) => databaseName).join(', ');
    const expected = 'an entity whose relations with several join columns have a property for each column';
    refuseOption(options, 'entity', expected, `\`${composite.propertyName}\``, `declare @Column() for ${names}`);
  }
}

type Refused = readonly [isRefused: boolean, operations: readonly OperationName[], instead: string, reason: string];

/** Records of some classes, such as users, are not created by generated operations, and TypeORM cannot keep every tree. */
function assertOperations(options: ResolvedCrudOptions, metadata: EntityMetadata, database: Database): void {
  const parent = parentFieldOf(database.describe(metadata));
  const guard = guardOf(options.entity);
  const { name = '', column } = parent ?? {};
  const { write } = options.fieldPermissions[name as never] ?? {};
  const moves = ['update', 'patch', 'patchMany'] as const;
  const isComposite = parent !== undefined && metadata.primaryColumns.length > 1;
  const isLevelled = metadata.treeType === 'closure-table' && metadata.treeLevelColumn !== undefined;
  const isNestedSet = metadata.treeType === 'nested-set';
  const isMoving = isNestedSet && write !== 'once' && write !== 'never';
  const isRemoving = metadata.deleteDateColumn === undefined || options.deletedRoles.length > 0;
  const isLosing = isRemoving && (column?.relationMetadata?.onDelete?.startsWith('SET ') ?? false);
  const { cache } = database.dataSource.options;
  const isCached = isNestedSet && isRemoving && typeof cache === 'object' && cache.alwaysEnabled === true;
  const isHeard = hears('remove', metadata, database.dataSource);
  const once = `or set \`fieldPermissions\` to { ${name}: { write: "once" } }`;
  const refused: readonly Refused[] = [
    [guard !== undefined, CREATIONS, 'patch', guard?.creation ?? ''],
    [isComposite, [...CREATIONS, ...moves], 'delete', 'nodes of a tree need a key of one column'],
    [isLevelled, [...CREATIONS, ...moves], 'delete', 'TypeORM cannot write closures of a @TreeLevelColumn'],
    [isMoving, moves, 'create', `TypeORM cannot move nodes of a nested set; ${once}`],
    [isLosing, ['delete', 'deleteMany'], 'patch', 'TypeORM loses nodes below deleted ones; or change `onDelete`'],
    [isCached && isHeard, ['delete', 'deleteMany'], 'create', 'TypeORM reads the tree from its query cache there'],
  ];
  for (const [isRefused, operations, instead, reason] of refused) {
    const found = operations.filter((each) => isRefused && options.generated.has(each));
    if (found.length === 0) continue;
    const expected = `an array without ${operations.slice(0, -1).join(', ')} and ${operations.at(-1)}`;
    const got = options.operations ? `an array with ${found.join(', ')}` : 'none, which means every operation';
    const advice = `set for example ["findAll", "findById", "${instead}"]: ${reason}`;
    refuseOption(options, 'operations', expected, got, advice);
  }
}

function assertKeysAreStored(options: ResolvedCrudOptions, dataSource: DataSource): void {
  if (!options.enableIdempotency || dataSource.hasMetadata(IdempotencyKey)) return;
  const advice =
    'add IdempotencyKey of declarest to `entities`, or set `autoLoadEntities` and import CrudModule.forFeature(…)';
  const expected = 'used with the entity IdempotencyKey in the data source';
  refuseOption(options, 'enableIdempotency', expected, 'a data source that does not know it', advice);
}

function assertColumns(options: ResolvedCrudOptions, { deleteDateColumn, versionColumn }: EntityMetadata): void {
  const { enableRestore, deletedRoles, requireIfMatch } = options;
  const needs = [
    ['enableRestore', enableRestore && !deleteDateColumn, '@DeleteDateColumn()'],
    ['deletedRoles', deletedRoles.length > 0 && !deleteDateColumn, '@DeleteDateColumn()'],
    ['requireIfMatch', requireIfMatch && !versionColumn, '@VersionColumn()'],
  ] as const;
  for (const [option, isMissing, column] of needs) {
    if (!isMissing) continue;
    const problem = `CRUD option \`${option}\` needs a ${column} on ${options.entity.name}`;
    throw InvalidOptionError.withMessage(`${problem}. Declare the column or remove the option.`);
  }
}
