/**
 * Writes a resource by compiled statements. TypeORM's query builder makes the text once for each set of fields that
 * clients send together.
 */
import { randomUUID } from 'node:crypto';
import type { DataSource, DeleteQueryBuilder, QueryBuilder, Repository, UpdateQueryBuilder } from 'typeorm';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { isSqlite } from '../../entities/database-family.js';
import type { Values } from '../../entities/record-input.js';
import type { Condition } from '../query/condition.js';
import type { Resource } from '../resource/resource.js';
import { boundValues, conditionSql, shapeOf } from '../sql/condition-sql.js';
import type { RecordWriter } from './record-access.js';
import { compileStatement, namedParameters, parameterName, type Statement, type StatementEnd } from './statement.js';
import { StatementCache } from './statement-cache.js';

/** A column that a client may send a value for. */
interface Target {
  readonly column: ColumnMetadata;
  /** The index of its value among the fields. */
  readonly place: number;
}

export class CompiledWriter<T extends object> implements RecordWriter<T> {
  private readonly repository: Repository<T>;
  private readonly idColumn: ColumnMetadata;
  private readonly inserted: readonly Target[];
  private readonly updated: readonly Target[];
  private readonly generated: readonly ColumnMetadata[];
  private readonly statements = new StatementCache<Statement>();

  constructor(
    private readonly resource: Resource<T>,
    private readonly dataSource: DataSource,
  ) {
    this.repository = dataSource.getRepository(resource.options.entity);
    this.idColumn = resource.schema.id.column;
    const { fields } = resource.schema;
    const targets = resource.metadata.columns.map((column): Target => ({
      column,
      place: fields.findIndex((field) => field.column === column),
    }));
    this.inserted = targets.filter(({ column }) => column.isInsert);
    this.updated = targets.filter(({ place }) => fields[place]?.updatable);
    const generatesUuids = !dataSource.driver.isUUIDGenerationSupported();
    this.generated = this.inserted
      .map(({ column }) => column)
      .filter(({ generationStrategy }) => generationStrategy === 'uuid' && generatesUuids);
  }

  async insert(entity: T, sent: Values): Promise<unknown> {
    for (const column of this.generated)
      if (column.getEntityValue(entity) === undefined) column.setEntityValue(entity, randomUUID());
    const { driver } = this.dataSource;
    const columns: ColumnMetadata[] = [];
    const values: unknown[] = [];
    let shape = 'insert';
    for (const { column, place } of this.inserted) {
      const given: unknown = sent[place] === undefined ? column.getEntityValue(entity) : sent[place];
      const value: unknown = driver.preparePersistentValue(given, column);
      if (value === undefined) continue;
      columns.push(column);
      values.push(value);
      shape += ` ${column.databaseName}`;
    }
    const statement = this.statements.get(shape, () => this.insertion(columns));
    const { rows, affected, insertedKey } = await statement(values);
    const [row] = rows;
    // The database ignored the statement: `ON CONFLICT IGNORE` and `RAISE(IGNORE)` on SQLite, a trigger or rule on PostgreSQL.
    if (!row && affected === 0) return undefined;
    const key: unknown = this.idColumn.getEntityValue(entity) ?? row?.[this.idColumn.databaseName] ?? insertedKey;
    return this.resource.schema.id.readsAsText ? this.resource.schema.id.type.write(key) : key;
  }

  async update(_key: unknown, condition: Condition, sent: Values): Promise<boolean> {
    const values: unknown[] = [];
    let shape = 'update';
    for (const { column, place } of this.updated) {
      const given = sent[place];
      if (given === undefined) continue;
      const isSql = typeof given === 'function';
      shape += ` ${column.databaseName}${isSql ? '=' : ''}`;
      if (!isSql) values.push(this.dataSource.driver.preparePersistentValue(given, column));
    }
    const compile = (): Statement => this.replacement(sent, condition);
    return this.run(`${shape} ${shapeOf(condition)}`, compile, [...values, ...this.bound(condition)]);
  }

  async remove(_key: unknown, condition: Condition, purges: boolean): Promise<boolean> {
    const isSoft = !purges && this.resource.metadata.deleteDateColumn !== undefined;
    const compile = (): Statement => {
      const query = this.repository.createQueryBuilder();
      return this.matching(isSoft ? query.softDelete() : query.delete(), condition, 0);
    };
    return this.run(`${isSoft ? 'hide' : 'delete'} ${shapeOf(condition)}`, compile, this.bound(condition));
  }

  async restore(_key: unknown, condition: Condition): Promise<boolean> {
    const compile = (): Statement => this.matching(this.repository.createQueryBuilder().restore(), condition, 0);
    return this.run(`restore ${shapeOf(condition)}`, compile, this.bound(condition));
  }

  private async run(shape: string, compile: () => Statement, values: readonly unknown[]): Promise<boolean> {
    const { affected } = await this.statements.get(shape, compile)(values);
    return affected > 0;
  }

  private bound(condition: Condition): unknown[] {
    return boundValues(condition, this.dataSource);
  }

  private insertion(columns: readonly ColumnMetadata[]): Statement {
    const query = this.repository
      .createQueryBuilder()
      .insert()
      .values(placeholders(columns) as never)
      .updateEntity(false)
      .setParameters(namedParameters(columns.length));
    const { driver } = this.dataSource;
    if (!isSqlite(this.dataSource))
      return this.statement(driver.isReturningSqlSupported('insert') ? query.returning(['id']) : query);
    // SQLite's driver rounds integers beyond 53 bits, and so the key of a new row: it is read as text.
    const key = driver.escape(this.idColumn.databaseName);
    const selected = this.resource.schema.id.readsAsText ? `CAST(${key} AS TEXT) AS ${key}` : key;
    return this.statement(query, () => ` RETURNING ${selected}`);
  }

  private replacement(sent: Values, condition: Condition): Statement {
    const set = this.updated.filter(({ place }) => sent[place] !== undefined);
    const isSql = ({ place }: Target): boolean => typeof sent[place] === 'function';
    const columns = set.filter((target) => !isSql(target)).map(({ column }) => column);
    const defaults = set.filter(isSql).map(({ column, place }) => [propertyOf(column), sent[place]]);
    const values = { ...placeholders(columns), ...Object.fromEntries(defaults) } as never;
    return this.matching(this.repository.createQueryBuilder().update().set(values), condition, columns.length);
  }

  /** @param first the number of the condition's first parameter */
  private matching(query: Restrictable<T>, condition: Condition, first: number): Statement {
    const { tableName } = this.resource.metadata;
    const where = conditionSql(condition, this.dataSource.driver.escape(tableName), this.dataSource, first);
    return this.statement(query.where(where, namedParameters(first + this.bound(condition).length)));
  }

  private statement(query: QueryBuilder<T>, end?: StatementEnd): Statement {
    return compileStatement(this.dataSource, 'master', query, end);
  }
}

type SoftDeleteQueryBuilder<T extends object> = ReturnType<QueryBuilder<T>['softDelete']>;
type Restrictable<T extends object> = UpdateQueryBuilder<T> | SoftDeleteQueryBuilder<T> | DeleteQueryBuilder<T>;

/** SQL instead of values: the query builder writes it in the place of each value. */
const placeholders = (columns: readonly ColumnMetadata[]): Record<string, () => string> =>
  Object.fromEntries(columns.map((column, place) => [propertyOf(column), () => `:${parameterName(place)}`]));

/** The query builder knows a reference by the name of its relation. */
const propertyOf = ({ isVirtual, relationMetadata, propertyName }: ColumnMetadata): string =>
  (isVirtual ? relationMetadata?.propertyName : undefined) ?? propertyName;
