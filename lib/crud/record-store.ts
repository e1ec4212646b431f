/**
 * How a resource's table is read and written: by statements compiled at boot, or through TypeORM's repository, each
 * access for itself. Nobody can tell the two apart but by the time they take.
 */
import type { DataSource } from 'typeorm';
import type { Checked } from '../schema/record-input.js';
import { CompiledReader } from './compiled-reader.js';
import { CompiledWriter } from './compiled-writer.js';
import { featureOf, reasonsForRepository, type Access, type Reasons } from './data-path.js';
import type { ListMetadata } from './envelope.js';
import type { ListRequest } from './list-query.js';
import { RepositoryReader } from './repository-reader.js';
import { RepositoryWriter } from './repository-writer.js';
import type { Resource } from './resource.js';
import { statementsOf } from './statement.js';

export interface Listed<T> {
  readonly records: T[];
  readonly metadata?: ListMetadata;
}

/** Records are as the client sees them: every readable field, and nothing else. */
export interface RecordReader<T> {
  /** In the order of the primary key. */
  list(request: ListRequest): Promise<Listed<T>>;
  one(key: unknown): Promise<T | undefined>;
  exists(key: unknown): Promise<boolean>;
}

export interface RecordWriter<T> {
  /** @returns the key of the new record */
  insert(entity: T): Promise<unknown>;
  /** Sets the fields of `checked`, which the entity holds. One statement, so that of two at once one stands whole. */
  update(key: unknown, entity: T, checked: Checked): Promise<void>;
  /** @returns whether there was a record */
  remove(key: unknown): Promise<boolean>;
}

export class RecordStore<T extends object> {
  private readonly repository: { readonly reader: RepositoryReader<T>; readonly writer: RepositoryWriter<T> };
  private readonly compiled: { readonly reader: CompiledReader<T>; readonly writer: CompiledWriter<T> } | undefined;
  private decided: { readonly subscribers: number; readonly reasons: Reasons } | undefined;

  constructor(
    private readonly resource: Resource<T>,
    private readonly dataSource: DataSource,
  ) {
    const reader = new RepositoryReader(resource, dataSource);
    this.repository = { reader, writer: new RepositoryWriter(resource, reader, dataSource) };
    const prepare = statementsOf(dataSource);
    const isCarried = prepare && featureOf(dataSource.getMetadata(resource.options.entity), dataSource) === undefined;
    this.compiled = isCarried
      ? {
          reader: new CompiledReader(resource, dataSource, prepare),
          writer: new CompiledWriter(resource, dataSource, prepare),
        }
      : undefined;
  }

  get reader(): RecordReader<T> {
    return this.pathOf('read').reader;
  }

  writer(access: Exclude<Access, 'read'>): RecordWriter<T> {
    return this.pathOf(access).writer;
  }

  /** Whether listeners may hear of it, who are not to be called for a record that is not there. */
  goesThroughRepository(access: Access): boolean {
    return this.pathOf(access) === this.repository;
  }

  /** Why an access goes through the repository. Asked anew when a provider has added a subscriber. */
  get reasons(): Reasons {
    const subscribers = this.dataSource.subscribers.length;
    if (this.decided?.subscribers !== subscribers) {
      const metadata = this.dataSource.getMetadata(this.resource.options.entity);
      this.decided = { subscribers, reasons: reasonsForRepository(metadata, this.dataSource) };
    }
    return this.decided.reasons;
  }

  private pathOf(access: Access): { readonly reader: RecordReader<T>; readonly writer: RecordWriter<T> } {
    return this.reasons[access] === undefined && this.compiled ? this.compiled : this.repository;
  }
}
