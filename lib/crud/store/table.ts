/** The table of a resource, with the repository of its controller, and what its readers and writers take. */
import type {
  DataSource,
  EntityManager,
  EntityMetadata,
  FindOptionsWhere,
  InsertQueryBuilder,
  ObjectLiteral,
  QueryRunner,
  SelectQueryBuilder,
} from 'typeorm';
import { Raw, Repository } from 'typeorm';
import type { Type } from '@nestjs/common';
import { readPrimary } from '../../database/database-time.js';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import type { Values } from '../../entities/record-input.js';
import type { RecordParameters } from '../query/record-request.js';
import { boundValues, isEverything, type Condition, type SortKey } from '../sql/condition.js';
import { conditionSql, fieldSql, parametersOf, RECORD } from '../sql/condition-sql.js';
import { dialectOf, orderBy } from '../sql/dialect.js';
import { OPERATORS } from '../sql/operators.js';
import { managerOf, type Call } from './call.js';
import type { Database } from './database.js';

export interface StoredResource {
  readonly options: { readonly entity: Type };
  readonly metadata: EntityMetadata;
  readonly schema: EntityDescription;
  readonly database: Database;
  readonly list: Pick<RecordParameters, 'linkable'>;
}

export class Table {
  readonly entity: Type;
  readonly metadata: EntityMetadata;
  readonly schema: EntityDescription;
  readonly database: Database;
  readonly dataSource: DataSource;

  constructor(
    { options, metadata, schema, database }: StoredResource,
    readonly repository: Repository<object>,
  ) {
    this.entity = options.entity;
    this.metadata = metadata;
    this.schema = schema;
    this.database = database;
    this.dataSource = database.dataSource;
  }

  /** The manager of the transaction of the call, or else that of the data source. */
  manager(call: Call): EntityManager {
    return managerOf(call, this.database) ?? this.dataSource.manager;
  }

  /** The query runner of the transaction of the call, or else of its read. */
  runner(call: Call): QueryRunner | undefined {
    return managerOf(call, this.database)?.queryRunner ?? call.runner;
  }

  /** The repository in the transaction of the call. */
  methods(call: Call): Repository<object> {
    const manager = managerOf(call, this.database);
    return manager && this.repository instanceof Repository ? manager.withRepository(this.repository) : this.repository;
  }

  /** What a write reads decides what is written. */
  query({ writes }: Call, repository = this.repository): SelectQueryBuilder<object> {
    const query = repository.createQueryBuilder(RECORD);
    return writes ? readPrimary(query) : query;
  }

  /** Reads in the transaction of the call, never from the query cache of the data source: a write may depend on it. */
  matching(call: Call, condition: Condition): SelectQueryBuilder<object> {
    const query = this.query(call, this.methods(call)).cache(false);
    // A repository may read in a transaction that only it knows.
    if (call.runner && !query['queryRunner']) query.setQueryRunner(call.runner);
    return this.addCondition(query, condition, parametersOf(this.bound(condition)));
  }

  /** @param parameters the values by the names of the parameters, or what stands for them */
  addCondition(query: SelectQueryBuilder<object>, condition: Condition, parameters: ObjectLiteral) {
    // The condition says whether deleted records are wanted.
    query.withDeleted();
    if (isEverything(condition)) return query;
    return query.andWhere(conditionSql(condition, query.escape(RECORD), this.dataSource), parameters);
  }

  addSort(query: SelectQueryBuilder<object>, sort: readonly SortKey[], isLocked = false): SelectQueryBuilder<object> {
    const dialect = dialectOf(this.dataSource);
    for (const { field, descending } of sort) {
      const name = fieldSql(field, query.escape(RECORD), this.dataSource);
      for (const [expression, direction] of orderBy(dialect, field, name, descending))
        query.addOrderBy(expression, direction);
    }
    return isLocked ? query.setLock('pessimistic_write') : query;
  }

  /** Names every column: otherwise TypeORM leaves out the generated keys of PostgreSQL, also where one is set. */
  insertInto(query: InsertQueryBuilder<object>): InsertQueryBuilder<object> {
    const { target, columns } = this.metadata;
    const properties = columns.filter(({ isInsert }) => isInsert).map(({ propertyPath }) => propertyPath);
    return query.into<object>(target, properties);
  }

  /** The condition for methods of the repository: of the record with a key, or of any. */
  where(condition: Condition): FindOptionsWhere<object> {
    if (isEverything(condition)) return {};
    const { tableName, primaryColumns } = this.metadata;
    // A plain value, where it is enough, can be read by a repository that an application wrote.
    const parts = condition.kind === 'and' ? condition.parts : [condition];
    const values = parts.flatMap((each) =>
      each.kind === 'compare' && each.operator === OPERATORS.eq && each.field.column.isPrimary
        ? [[each.field.property, each.values[0]] as const]
        : [],
    );
    if (values.length === parts.length && new Set(values.map(([name]) => name)).size === primaryColumns.length)
      return Object.fromEntries(values) as FindOptionsWhere<object>;
    const { driver } = this.dataSource;
    // TypeORM gives `Product.id` in a SELECT, and `id` in an UPDATE or DELETE.
    const owner = (id: string): string => driver.escape(id.includes('.') ? id.slice(0, id.indexOf('.')) : tableName);
    const sql = (id: string): string => conditionSql(condition, owner(id), this.dataSource);
    const matches = Raw(sql, parametersOf(this.bound(condition)));
    return { [primaryColumns[0]?.propertyName ?? '']: matches } as unknown as FindOptionsWhere<object>;
  }

  /** The values of a condition in the order of its parameters, as the driver takes them. */
  bound(condition: Condition): unknown[] {
    return boundValues(condition, this.dataSource);
  }
}

export interface Selection {
  readonly condition: Condition;
  readonly fields: readonly Field[];
  readonly sort: readonly SortKey[];
  /** Locks the rows until the end of the transaction, where one runs and the database has such locks. */
  readonly isLocked?: boolean | undefined;
  readonly range?: { readonly limit: number; readonly offset: number };
}

export interface NewRow {
  readonly entity: object;
  readonly values: Values;
}

export interface Inserted {
  readonly key: unknown;
  /** Set if it was asked for, and the database has `RETURNING`. */
  readonly record?: object | undefined;
}

export interface RecordWriter {
  /** @param fields read by the same statement, if it can @returns `undefined` for a record that was ignored */
  insert(call: Call, rows: readonly NewRow[], fields?: readonly Field[]): Promise<readonly (Inserted | undefined)[]>;
  /**
   * One statement, so that of two concurrent updates one stays whole.
   * @param key of the record; the condition restricts it further
   * @param fields read by the same statement, where it can
   * @param check runs after listeners, before the statement
   * @returns `undefined` where no record matched
   */
  update(
    call: Call,
    key: unknown,
    condition: Condition,
    values: Values,
    fields?: readonly Field[],
    check?: (call: Call) => Promise<void>,
  ): Promise<Pick<Inserted, 'record'> | undefined>;
  /** @param purges removes the row also of an entity with `@DeleteDateColumn` @returns whether a record matched */
  remove(call: Call, key: unknown, condition: Condition, purges: boolean): Promise<boolean>;
  /** Restores a record that is marked as deleted. @returns whether one matched */
  restore(call: Call, key: unknown, condition: Condition): Promise<boolean>;
}
