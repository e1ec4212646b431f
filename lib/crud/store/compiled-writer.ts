/**
 * Writes a resource by compiled statements. TypeORM's query builder makes the text once for each set of fields that
 * clients send together.
 */
import { randomUUID } from 'node:crypto';
import type { DataSource, QueryBuilder, Repository } from 'typeorm';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { isSqlite } from '../../entities/database-family.js';
import type { Values } from '../../entities/record-input.js';
import { PARAMETER } from '../query/search-conditions.js';
import type { Resource } from '../resource/resource.js';
import type { RecordWriter } from './record-access.js';
import { compileStatement, type Statement } from './statement.js';
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

  async update(key: unknown, sent: Values): Promise<void> {
    const values: unknown[] = [];
    let shape = '';
    for (const { column, place } of this.updated) {
      const given = sent[place];
      if (given === undefined) continue;
      const isSql = typeof given === 'function';
      shape += ` ${column.databaseName}${isSql ? '=' : ''}`;
      if (!isSql) values.push(this.dataSource.driver.preparePersistentValue(given, column));
    }
    if (shape === '') return;
    values.push(key);
    await this.statements.get(`update${shape}`, () => this.replacement(sent))(values);
  }

  async remove(key: unknown): Promise<boolean> {
    const { affected } = await this.statements.get('delete', () => this.removal())([key]);
    return affected > 0;
  }

  private insertion(columns: readonly ColumnMetadata[]): Statement {
    const query = this.repository
      .createQueryBuilder()
      .insert()
      .values(placeholders(columns) as never)
      .updateEntity(false)
      .setParameters(named(columns.length));
    const { driver } = this.dataSource;
    if (!isSqlite(this.dataSource))
      return this.statement(driver.isReturningSqlSupported('insert') ? query.returning(['id']) : query);
    // SQLite's driver rounds integers beyond 53 bits, and so the key of a new row: it is read as text.
    const key = driver.escape(this.idColumn.databaseName);
    const selected = this.resource.schema.id.readsAsText ? `CAST(${key} AS TEXT) AS ${key}` : key;
    return this.statement(query, ` RETURNING ${selected}`);
  }

  private replacement(sent: Values): Statement {
    const set = this.updated.filter(({ place }) => sent[place] !== undefined);
    const isSql = ({ place }: Target): boolean => typeof sent[place] === 'function';
    const columns = set.filter((target) => !isSql(target)).map(({ column }) => column);
    const defaults = set.filter(isSql).map(({ column, place }) => [propertyOf(column), sent[place]]);
    const query = this.repository
      .createQueryBuilder()
      .update()
      .set({ ...placeholders(columns), ...Object.fromEntries(defaults) } as never)
      .where(this.keyed(columns.length), named(columns.length + 1));
    return this.statement(query);
  }

  private removal(): Statement {
    const query = this.repository.createQueryBuilder();
    const deletion = this.resource.metadata.deleteDateColumn ? query.softDelete() : query.delete();
    return this.statement(deletion.where(this.keyed(0), named(1)));
  }

  /** The record of the key, unless it is marked as deleted. TypeORM would write a number of `where({ id })` into the SQL. */
  private keyed(place: number): string {
    const { driver } = this.dataSource;
    const { deleteDateColumn } = this.resource.metadata;
    const alive = deleteDateColumn ? ` AND ${driver.escape(deleteDateColumn.databaseName)} IS NULL` : '';
    return `${driver.escape(this.idColumn.databaseName)} = :${nameOf(place)}${alive}`;
  }

  /** The query builder decides the order of the parameters. */
  private statement(query: QueryBuilder<T>, end = ''): Statement {
    const [sql, names] = query.getQueryAndParameters();
    const places = names.map((name) => Number(String(name).slice(PARAMETER.length)));
    const run = compileStatement(this.dataSource, 'master', sql + end);
    return (values) => run(places.map((place) => values[place]));
  }
}

const nameOf = (place: number): string => `${PARAMETER}${place}`;

/** A value for each parameter: its own name, which shows its place in the statement. */
const named = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, place) => [nameOf(place), nameOf(place)]));

/** SQL instead of values: the query builder writes it in the place of each value. */
const placeholders = (columns: readonly ColumnMetadata[]): Record<string, () => string> =>
  Object.fromEntries(columns.map((column, place) => [propertyOf(column), () => `:${nameOf(place)}`]));

/** The query builder knows a reference by the name of its relation. */
const propertyOf = ({ isVirtual, relationMetadata, propertyName }: ColumnMetadata): string =>
  (isVirtual ? relationMetadata?.propertyName : undefined) ?? propertyName;
