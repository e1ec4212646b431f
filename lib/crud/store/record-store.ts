/** Reads and writes the table of a resource, through compiled SQL or the TypeORM repository. Both give the same results. */
import type { DataSource, Repository } from 'typeorm';
import type { Resource } from '../resource/resource.js';
import {
  featureNotCompiled,
  hasPlainNames,
  isUnaltered,
  reasonsNotCompiled,
  type Access,
  type Reasons,
} from './compilability.js';
import { CompiledReader } from './compiled-reader.js';
import { CompiledWriter } from './compiled-writer.js';
import type { RecordReader, RecordWriter } from './record-access.js';
import { ReplacedRepository } from './replaced-repository.js';
import { RepositoryReader } from './repository-reader.js';
import { RepositoryWriter } from './repository-writer.js';

interface Path<T> {
  readonly reader: RecordReader<T>;
  readonly writer: RecordWriter<T>;
}

export class RecordStore<T extends object> {
  private readonly throughRepository: Path<T>;
  private readonly feature: string | undefined;
  private readonly compiled: Path<T> | undefined;
  private decided: { readonly subscribers: DataSource['subscribers']; readonly reasons: Reasons } | undefined;
  private replaced: Path<T> | undefined;

  constructor(
    private readonly resource: Resource<T>,
    private readonly repository: Repository<T>,
    private readonly dataSource: DataSource,
  ) {
    const reader = new RepositoryReader(resource, repository);
    this.throughRepository = { reader, writer: new RepositoryWriter(resource, reader, repository, dataSource) };
    this.feature = featureNotCompiled(dataSource.getMetadata(resource.options.entity), dataSource);
    this.compiled = this.feature === undefined ? this.compile() : undefined;
  }

  get reader(): RecordReader<T> {
    return this.pathOf('read').reader;
  }

  writer(access: Exclude<Access, 'read'>): RecordWriter<T> {
    return this.pathOf(access).writer;
  }

  /** Whether listeners may be called, which must not happen for a record that does not exist. */
  callsListeners(access: Access): boolean {
    return this.pathOf(access) !== this.compiled;
  }

  /** Why an access is not compiled. Decided again when a provider has added or removed a subscriber. */
  get reasons(): Reasons {
    const { subscribers } = this.dataSource;
    const { decided } = this;
    const isDecided =
      decided?.subscribers.length === subscribers.length &&
      decided.subscribers.every((each, index) => each === subscribers[index]);
    if (isDecided) return decided.reasons;
    const metadata = this.dataSource.getMetadata(this.resource.options.entity);
    const feature = this.feature ?? (this.compiled ? undefined : 'a name that no statement can hold');
    const reasons = reasonsNotCompiled(metadata, this.dataSource, feature);
    this.decided = { subscribers: [...subscribers], reasons };
    return reasons;
  }

  private compile(): Path<T> | undefined {
    try {
      const reader = new CompiledReader(this.resource, this.dataSource);
      const writer = new CompiledWriter(this.resource, this.dataSource);
      // With plain names, each statement is compiled on first use: 500 resources would compile 4,000 at startup.
      if (!hasPlainNames(this.dataSource.getMetadata(this.resource.options.entity)))
        for (const each of [reader, writer]) each.assertCompilable();
      return { reader, writer };
    } catch {
      return undefined;
    }
  }

  private pathOf(access: Access): Path<T> {
    if (!isUnaltered(this.repository, this.dataSource)) return this.replacedPath;
    return this.reasons[access] === undefined && this.compiled ? this.compiled : this.throughRepository;
  }

  /** Of a repository whose query builder alone is replaced, the query builder is used. */
  private get replacedPath(): Path<T> {
    if (ReplacedRepository.replacesOnlyQueryBuilder(this.repository)) return this.throughRepository;
    if (!this.replaced) {
      const path = new ReplacedRepository(this.resource, this.repository);
      this.replaced = { reader: path, writer: path };
    }
    return this.replaced;
  }
}
