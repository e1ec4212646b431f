/**
 * How a resource's table is read and written: by statements compiled at boot, or through TypeORM's repository, each
 * access for itself. Nobody can tell the two apart but by the time they take.
 */
import type { DataSource } from 'typeorm';
import type { Values } from '../entities/record-input.js';
import type { Answer } from '../http/at-once.js';
import { CompiledReader } from './compiled-reader.js';
import { CompiledWriter } from './compiled-writer.js';
import { featureOf, hasPlainNames, reasonsForRepository, type Access, type Reasons } from './data-path.js';
import type { ListMetadata } from './envelope.js';
import type { ListRequest } from './list-query.js';
import { RepositoryReader } from './repository-reader.js';
import { RepositoryWriter } from './repository-writer.js';
import type { Resource } from './resource.js';
import { compileRow } from './row-projection.js';
import { statementsOf } from './statement.js';
import type { Unread, UnreadRecord } from './unread.js';

export interface Listed<T> {
  readonly records: Unread<T[]>;
  readonly metadata?: ListMetadata;
}

/** Records are as the client sees them: every readable field, and nothing else. */
export interface RecordReader<T> {
  /** In the order of the primary key. */
  list(request: ListRequest): Answer<Listed<T>>;
  one(key: unknown): Answer<UnreadRecord<T> | undefined>;
  exists(key: unknown): Answer<boolean>;
}

/** What a statement tells of the record that it has written. */
export interface Written<T> {
  /** The record, where the statement gave it back. */
  readonly record?: UnreadRecord<T> | undefined;
}

export interface RecordWriter<T> {
  /** @param entity a new one, which the values are to be put into */
  insert(entity: T, values: Values): Answer<Written<T> & { readonly key: unknown }>;
  /** One statement, so that of two at once one stands whole. A function gives SQL instead of a value. */
  update(key: unknown, values: Values): Answer<Written<T>>;
  /** @returns whether there was a record */
  remove(key: unknown): Answer<boolean>;
}

export class RecordStore<T extends object> {
  private readonly repository: { readonly reader: RepositoryReader<T>; readonly writer: RepositoryWriter<T> };
  private readonly feature: string | undefined;
  private readonly compiled: { readonly reader: CompiledReader<T>; readonly writer: CompiledWriter<T> } | undefined;
  private decided: { readonly subscribers: DataSource['subscribers']; readonly reasons: Reasons } | undefined;

  constructor(
    private readonly resource: Resource<T>,
    private readonly dataSource: DataSource,
  ) {
    const reader = new RepositoryReader(resource, dataSource);
    this.repository = { reader, writer: new RepositoryWriter(resource, reader, dataSource) };
    this.feature = featureOf(dataSource.getMetadata(resource.options.entity), dataSource);
    this.compiled = this.feature === undefined ? this.compile() : undefined;
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

  /** Why an access goes through the repository. Asked anew when a provider has added a subscriber, or taken one away. */
  get reasons(): Reasons {
    const { subscribers } = this.dataSource;
    const { decided } = this;
    const isDecided =
      decided?.subscribers.length === subscribers.length &&
      decided.subscribers.every((each, index) => each === subscribers[index]);
    if (isDecided) return decided.reasons;
    const metadata = this.dataSource.getMetadata(this.resource.options.entity);
    const feature = this.feature ?? (this.compiled ? undefined : 'a name that no statement can hold');
    const reasons = reasonsForRepository(metadata, this.dataSource, feature);
    this.decided = { subscribers: [...subscribers], reasons };
    return reasons;
  }

  private compile(): RecordStore<T>['compiled'] {
    const prepare = statementsOf(this.dataSource);
    if (!prepare) return undefined;
    try {
      const row = compileRow(this.resource, this.dataSource);
      const reader = new CompiledReader(this.resource, this.dataSource, row, prepare);
      const writer = new CompiledWriter(this.resource, this.dataSource, row, prepare);
      // Of plain names each statement is made when it is first asked for: 500 resources would wait for 4,000 of them.
      if (!hasPlainNames(this.dataSource.getMetadata(this.resource.options.entity)))
        for (const each of [reader, writer]) each.expectCompilable();
      return { reader, writer };
    } catch {
      return undefined;
    }
  }

  private pathOf(access: Access): { readonly reader: RecordReader<T>; readonly writer: RecordWriter<T> } {
    return this.reasons[access] === undefined && this.compiled ? this.compiled : this.repository;
  }
}
