/** Reads and writes the table of a resource, through compiled SQL or the TypeORM repository. Both give the same results. */
import { type Repository, TreeRepository } from 'typeorm';
import { featureNotCompiled, hookNotCompiled, assertReadable, STORE_OPERATIONS } from './compilability.js';
import type { StoreOperation } from './compilability.js';
import { CompiledReader } from './compiled-reader.js';
import { CompiledWriter } from './compiled-writer.js';
import type { Database } from './database.js';
import type { Reader } from './reader.js';
import type { RecordWriter, StoredResource } from './record-access.js';
import { RepositoryReader } from './repository-reader.js';
import { RepositoryWriter } from './repository-writer.js';
import { parentFieldOf, TreeWriter } from './tree-writer.js';

export type WriteOperation = Exclude<StoreOperation, 'read'>;

export interface RecordStore<T extends object = object> {
  readonly reader: Reader<T>;
  readonly writers: Readonly<Record<WriteOperation, RecordWriter<T>>>;
  /** The operations that run code of the application: listeners, subscribers or a repository of its own. */
  readonly hooked: ReadonlySet<StoreOperation>;
  /** The operations that may call listeners, which must not happen for a record that does not exist. */
  readonly listened: ReadonlySet<StoreOperation>;
}

/**
 * Decides how each operation reads and writes. Subscribers of the data source must be known by then.
 * @throws InvalidOptionError for a repository that replaces methods which read
 */
export function createStore<T extends object>(
  resource: StoredResource<T>,
  repository: Repository<T>,
  database: Database,
): RecordStore<T> {
  assertReadable(repository, resource.options.entity);
  const { dataSource } = database;
  // Nest injects a new TreeRepository for each tree.
  const isOwn =
    repository !== dataSource.getRepository(resource.options.entity) && repository.constructor !== TreeRepository;
  const isHooked = (operation: StoreOperation): boolean =>
    isOwn || hookNotCompiled(operation, resource.metadata, dataSource) !== undefined;
  const hooked = new Set(STORE_OPERATIONS.filter(isHooked));
  const listened = featureNotCompiled(resource.metadata, dataSource) === undefined ? hooked : new Set(STORE_OPERATIONS);
  const reader = listened.has('read')
    ? new RepositoryReader(resource, repository, database)
    : new CompiledReader(resource, repository, database);
  const compiled = new CompiledWriter(resource, database);
  const Through = parentFieldOf(resource.schema) ? TreeWriter : RepositoryWriter;
  const through = new Through(resource, reader, repository, database);
  const pick = (operation: WriteOperation): RecordWriter<T> => (listened.has(operation) ? through : compiled);
  const writers = { create: pick('create'), update: pick('update'), delete: pick('delete'), restore: pick('restore') };
  return Object.freeze({ reader, writers, hooked, listened });
}
