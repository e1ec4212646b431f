/** Reads and writes the table of a resource, through compiled SQL or the TypeORM repository. Both give the same results. */
import type { DataSource, Repository } from 'typeorm';
import type { Resource } from '../plan/resource.js';
import { featureNotCompiled, hookNotCompiled, isUnaltered, replacesReads, type StoreAccess } from './compilability.js';
import { CompiledReader } from './compiled-reader.js';
import { CompiledWriter } from './compiled-writer.js';
import type { RecordReader, RecordWriter } from './record-access.js';
import { RepositoryMethodReader } from './repository-method-reader.js';
import { RepositoryReader } from './repository-reader.js';
import { RepositoryWriter } from './repository-writer.js';

interface Path<T> {
  readonly reader: RecordReader<T>;
  readonly writer: RecordWriter<T>;
}

export class RecordStore<T extends object> {
  private readonly throughQueryBuilder: Path<T>;
  private readonly throughMethods: Path<T>;
  private readonly compiled: Path<T> | undefined;

  constructor(
    private readonly resource: Resource<T>,
    private readonly repository: Repository<T>,
    private readonly dataSource: DataSource,
  ) {
    const pathThrough = (reader: RecordReader<T>): Path<T> => ({
      reader,
      writer: new RepositoryWriter(resource, reader, repository, dataSource),
    });
    this.throughQueryBuilder = pathThrough(new RepositoryReader(resource, repository, dataSource));
    this.throughMethods = pathThrough(new RepositoryMethodReader(resource, repository, dataSource));
    if (featureNotCompiled(resource.metadata, dataSource) === undefined)
      this.compiled = {
        reader: new CompiledReader(resource, dataSource),
        writer: new CompiledWriter(resource, dataSource),
      };
  }

  get reader(): RecordReader<T> {
    return this.pathOf('read').reader;
  }

  writer(access: Exclude<StoreAccess, 'read'>): RecordWriter<T> {
    return this.pathOf(access).writer;
  }

  /** Whether listeners may be called, which must not happen for a record that does not exist. */
  callsListeners(access: StoreAccess): boolean {
    return this.pathOf(access) !== this.compiled;
  }

  /** Decided for each request: a test may replace methods of the repository at any time. */
  private pathOf(access: StoreAccess): Path<T> {
    if (!isUnaltered(this.repository, this.dataSource))
      return replacesReads(this.repository) ? this.throughMethods : this.throughQueryBuilder;
    const hook = hookNotCompiled(access, this.resource.metadata, this.dataSource);
    return hook === undefined && this.compiled ? this.compiled : this.throughQueryBuilder;
  }
}
