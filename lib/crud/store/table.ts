/** The table of a resource, with the repository of its controller. */
import type {
  DataSource,
  EntityManager,
  EntityMetadata,
  FindOptionsWhere,
  QueryRunner,
  SelectQueryBuilder,
} from 'typeorm';
import { Repository } from 'typeorm';
import type { Type } from '@nestjs/common';
import { readPrimary } from '../../database/database-time.js';
import type { EntityDescription } from '../../entities/entity-schema.js';
import type { RecordParameters } from '../query/record-request.js';
import { boundValues, type Condition } from '../sql/condition.js';
import { parametersOf, RECORD } from '../sql/condition-sql.js';
import { managerOf, type Call } from './call.js';
import type { Database } from './database.js';
import { addCondition, whereOf } from './query-parts.js';

export interface StoredResource<T extends object = object> {
  readonly options: { readonly entity: Type<T> };
  readonly metadata: EntityMetadata;
  readonly schema: EntityDescription;
  readonly list: Pick<RecordParameters, 'linkable'>;
}

export class Table<T extends object> {
  readonly entity: Type<T>;
  readonly metadata: EntityMetadata;
  readonly schema: EntityDescription;
  readonly dataSource: DataSource;

  constructor(
    { options, metadata, schema }: StoredResource<T>,
    readonly repository: Repository<T>,
    readonly database: Database,
  ) {
    this.entity = options.entity;
    this.metadata = metadata;
    this.schema = schema;
    this.dataSource = database.dataSource;
  }

  /** The manager of the transaction of the call, or else that of the data source. */
  manager(call: Call): EntityManager {
    return managerOf(call, this.database) ?? this.dataSource.manager;
  }

  /** The query runner of the transaction of the call. */
  runner(call: Call): QueryRunner | undefined {
    return managerOf(call, this.database)?.queryRunner;
  }

  /** The repository in the transaction of the call. */
  methods(call: Call): Repository<T> {
    const manager = managerOf(call, this.database);
    return manager && this.repository instanceof Repository ? manager.withRepository(this.repository) : this.repository;
  }

  /** What a write reads decides what is written. */
  query({ writes }: Call, repository = this.repository): SelectQueryBuilder<T> {
    const query = repository.createQueryBuilder(RECORD);
    return writes ? readPrimary(query) : query;
  }

  /** Reads in the transaction of the call, never from the query cache of the data source: a write may depend on it. */
  matching(call: Call, condition: Condition): SelectQueryBuilder<T> {
    const query = this.query(call, this.methods(call)).cache(false);
    return addCondition(query, condition, parametersOf(boundValues(condition, this.dataSource)), this.dataSource);
  }

  /** The condition for methods of the repository. */
  where(condition: Condition): FindOptionsWhere<T> {
    return whereOf(condition, this.dataSource, this.metadata);
  }
}
