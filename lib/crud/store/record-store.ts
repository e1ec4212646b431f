/**
 * Reads and writes the table of a resource, through compiled SQL or the TypeORM repository. Both give the same results.
 * The repository is used where the entity declares something that compiled statements do not support.
 */
import type { Type } from '@nestjs/common';
import { Repository, TreeRepository, type DataSource, type EntityMetadata } from 'typeorm';
import { isMysql, isSqlite } from '../../entities/database-family.js';
import { hasAccessor, initialValue, newEntity } from '../../entities/entity-instances.js';
import { assertServes } from '../../entities/entity-guard.js';
import type { Field } from '../../entities/entity-schema.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { CompiledWriter } from './compiled-writer.js';
import { hookOf } from './entity-events.js';
import { CompiledReader, type Reader } from './reader.js';
import { type RecordWriter, Table, type StoredResource } from './table.js';
import { RepositoryReader } from './repository-reader.js';
import { RepositoryWriter } from './repository-writer.js';
import { parentFieldOf, TreeWriter } from './tree-writer.js';

export const STORE_OPERATIONS = ['read', 'create', 'update', 'delete', 'restore'] as const;
export type StoreOperation = (typeof STORE_OPERATIONS)[number];

export interface RecordStore {
  readonly reader: Reader;
  readonly writers: Readonly<Record<Exclude<StoreOperation, 'read'>, RecordWriter>>;
  /** The operations that run code of the application: listeners, subscribers or a repository of its own. */
  readonly runsAppCode: ReadonlySet<StoreOperation>;
  /** The operations that may call listeners, which must not happen for a record that does not exist. */
  readonly mayCallListeners: ReadonlySet<StoreOperation>;
  readonly traits: WriteTraits;
}

/** What no request decides about creations and updates. */
export interface WriteTraits {
  /** Whether a new record has to be read back in the transaction of its statement. */
  readonly createsInTransaction: boolean;
  /** Whether TypeORM may refuse to read a new record, and does not say which one. */
  readonly createsOneByOne: boolean;
  /** Whether `RETURNING` of the statement has all that the caller may read of the record. */
  readonly returnsCreated: boolean;
  readonly returnsUpdated: boolean;
}

/**
 * Decides how each operation reads and writes. Subscribers of the data source must be known by then.
 * @throws InvalidOptionError for a repository that replaces methods which read
 */
export function createStore(resource: StoredResource, repository: Repository<object>): RecordStore {
  const { options, metadata, schema, database } = resource;
  const { dataSource } = database;
  assertReadable(repository, options.entity);
  // Nest injects a new TreeRepository for each tree.
  const isOwn = repository !== database.repositoryOf(options.entity) && repository.constructor !== TreeRepository;
  const runsCode = (operation: StoreOperation): boolean =>
    isOwn || hookNotCompiled(operation, metadata, dataSource) !== undefined;
  const runsAppCode = new Set(STORE_OPERATIONS.filter(runsCode));
  const isCompiled = featureNotCompiled(metadata, dataSource) === undefined;
  const mayCallListeners = isCompiled ? runsAppCode : new Set(STORE_OPERATIONS);
  const table = new Table(resource, repository);
  const reader = mayCallListeners.has('read') ? new RepositoryReader(table) : new CompiledReader(table);
  const compiled = new CompiledWriter(table);
  const Through = parentFieldOf(schema) ? TreeWriter : RepositoryWriter;
  const through = new Through(table, reader);
  const writerFor = (operation: StoreOperation) => (mayCallListeners.has(operation) ? through : compiled);
  return Object.freeze({
    reader,
    writers: {
      create: writerFor('create'),
      update: writerFor('update'),
      delete: writerFor('delete'),
      restore: writerFor('restore'),
    },
    runsAppCode,
    mayCallListeners,
    traits: traitsOf(resource, { runsAppCode, mayCallListeners }),
  });
}

type CalledCode = Pick<RecordStore, 'runsAppCode' | 'mayCallListeners'>;

function traitsOf(resource: StoredResource, { runsAppCode, mayCallListeners }: CalledCode): WriteTraits {
  const { metadata, schema, list, database } = resource;
  const { dataSource, connections } = database;
  const hasTriggers = database.hasTriggers(metadata);
  // A transformer may not read what it has written.
  const mayRefuse = metadata.columns.some(({ transformer }) => transformer);
  // A listener may replace a key, or make none. A driver may round one, which only its connection still has.
  const isUncertain = ({ insertable, textRead }: Field): boolean =>
    insertable || (textRead !== undefined && !isSqlite(dataSource));
  const mayReplaceKey = mayCallListeners.has('create') && schema.key.fields.some(isUncertain);
  const isReadBack = mayRefuse || mayReplaceKey || metadata.treeType !== undefined || hasTriggers;
  // Listeners are called with a record that is read, and a statement returns no links.
  const mayReturn = !hasTriggers && list.linkable.length === 0 && !mayCallListeners.has('read');
  return {
    // A node of Galera repeats a statement without a transaction, also after it has sent the rows of `RETURNING`.
    createsInTransaction: isReadBack || connections.isCluster || runsAppCode.has('create'),
    createsOneByOne: mayRefuse && mayCallListeners.has('create'),
    returnsCreated: mayReturn,
    returnsUpdated: mayReturn && !mayCallListeners.has('update') && dataSource.driver.isReturningSqlSupported('update'),
  };
}

/** `Product: read, create, delete compiled; update through the repository (the subscriber Audit)` */
export function describePaths(entity: Type, dataSource: DataSource): string {
  const metadata = dataSource.getMetadata(entity);
  const feature = featureNotCompiled(metadata, dataSource);
  const byPath = new Map<string, StoreOperation[]>();
  for (const access of STORE_OPERATIONS.filter((each) => each !== 'restore' || metadata.deleteDateColumn)) {
    const reason = feature ?? hookNotCompiled(access, metadata, dataSource);
    const path = reason === undefined ? 'compiled' : `through the repository (${reason})`;
    byPath.set(path, [...(byPath.get(path) ?? []), access]);
  }
  return `${entity.name}: ${[...byPath].map(([path, accesses]) => `${accesses.join(', ')} ${path}`).join('; ')}`;
}

const EVENTS: Readonly<Record<StoreOperation, Parameters<typeof hookOf>[0]>> = {
  read: ['load'],
  create: ['insert'],
  update: ['update'],
  delete: ['remove', 'soft-remove'],
  restore: ['recover'],
};

export const hookNotCompiled = (operation: StoreOperation, metadata: EntityMetadata, dataSource: DataSource) =>
  hookOf(EVENTS[operation], metadata, dataSource);

type Declares = (metadata: EntityMetadata, dataSource: DataSource, blank: object) => boolean;

/** Declarations of an entity that compiled statements do not support. */
const FEATURES: readonly [reason: string, declares: Declares][] = [
  ['a view', ({ tableType }) => tableType === 'view'],
  [
    // Classes that share a table; one that extends another and has a table of its own is as any other.
    'inheritance',
    ({ inheritancePattern, parentEntityMetadata }) =>
      inheritancePattern !== undefined || parentEntityMetadata !== undefined,
  ],
  ['a tree', ({ treeType }) => treeType !== undefined],
  ['an eager relation', ({ eagerRelations }) => eagerRelations.length > 0],
  ['a key with a value transformer', ({ primaryColumns }) => primaryColumns.some(({ transformer }) => transformer)],
  ['a column written by a function of the database', isWrittenByFunction],
  // SQLite binds dates only as text.
  [
    'a key that is a date',
    ({ primaryColumns }, dataSource) =>
      isSqlite(dataSource) && primaryColumns.some(({ type }) => type === Date || type === 'datetime'),
  ],
  ['a virtual column', ({ columns }) => columns.some(({ isVirtualProperty }) => isVirtualProperty)],
  ['a column behind a getter or setter', ({ columns }) => columns.some(hasAccessor)],
  [
    'a column whose default is a function',
    ({ columns }, _, blank) => columns.some((column) => typeof initialValue(column, blank) === 'function'),
  ],
  // TypeORM takes the key of what is there for the value of the relation's column, also of one that is sent.
  [
    'a relation that its constructor fills',
    ({ relations }, _, blank) =>
      relations.some(({ propertyName }) => Object.getOwnPropertyDescriptor(blank, propertyName)?.value != null),
  ],
  ['a table or column name with other characters than letters, digits and _', (metadata) => !hasPlainNames(metadata)],
];

const READ_METHODS = ['find', 'findOne', 'count', 'exists'] as const;

/**
 * Generated operations read through the query builder of a repository that a provider put in the place of TypeORM's.
 * @throws InvalidOptionError where such a repository restricts what its other methods read, or is that of another class
 */
export function assertReadable(given: object, entity: Type): void {
  const repository = given as { readonly [K in keyof Repository<never>]?: unknown };
  const replaced = READ_METHODS.find((name) => repository[name] !== Repository.prototype[name]);
  if (replaced === undefined && typeof repository.createQueryBuilder === 'function')
    return assertServes(given as Repository<object>, entity);
  const got = replaced === undefined ? 'one without `createQueryBuilder`' : `one with its own \`${replaced}\``;
  const advice = 'override `createQueryBuilder`, or restrict the records by the option `scope`';
  throw new InvalidOptionError(`The repository of ${entity.name}`, 'one that reads by its query builder', got, advice);
}

export function featureNotCompiled(metadata: EntityMetadata, dataSource: DataSource): string | undefined {
  const { type } = dataSource.options;
  if (type !== 'better-sqlite3' && type !== 'postgres' && !isMysql(dataSource)) return `the driver ${type}`;
  const blank = newEntity(metadata);
  return FEATURES.find(([, declares]) => declares(metadata, dataSource, blank))?.[0];
}

/**
 * Whether the query builder can tell every name from the rest of a statement. A name that every object has, such as
 * `constructor`, is not plain either.
 */
export function hasPlainNames({ tablePath, columns, relations }: EntityMetadata): boolean {
  const properties = [...columns, ...relations].map(({ propertyName }) => propertyName);
  const names = [...tablePath.split('.'), ...columns.map(({ databaseName }) => databaseName), ...properties];
  return names.every(isWord) && properties.every((name) => !(name in Object.prototype));
}

const isWord = (name: string): boolean => /^[a-z_]\w*$/i.test(name);

/** Spatial types, and `jsonb` on SQLite. */
function isWrittenByFunction({ columns }: EntityMetadata, dataSource: DataSource): boolean {
  const { spatialTypes = [] } = dataSource.driver as { spatialTypes?: readonly unknown[] };
  return columns.some(({ type }) => spatialTypes.includes(type) || (type === 'jsonb' && isSqlite(dataSource)));
}
