/**
 * Writes a resource by statements whose text TypeORM's query builder makes, once for each set of fields that is sent
 * together, and of which only the values are new for a request.
 */
import { randomUUID } from 'node:crypto';
import type { DataSource, Repository } from 'typeorm';
import type { ColumnMetadata } from '../schema/column-kind.js';
import type { Field } from '../schema/entity-schema.js';
import type { Checked } from '../schema/record-input.js';
import type { RecordWriter } from './record-store.js';
import type { Resource } from './resource.js';
import type { Statement, StatementText } from './statement.js';

type Query = { getQueryAndParameters(): [string, unknown[]] };

/** Sets of fields are chosen by clients: the oldest one's statement is given up for the newest one's. */
const MOST_SHAPES = 64;

export class CompiledWriter<T extends object> implements RecordWriter<T> {
  private readonly repository: Repository<T>;
  private readonly idColumn: ColumnMetadata;
  private readonly inserted: readonly ColumnMetadata[];
  private readonly generated: readonly ColumnMetadata[];
  private readonly statements = new Map<string, Statement>();
  private readonly deletion: Statement;

  constructor(
    resource: Resource<T>,
    private readonly dataSource: DataSource,
    private readonly prepare: (text: StatementText) => Statement,
  ) {
    this.repository = dataSource.getRepository(resource.options.entity);
    const { metadata } = this.repository;
    this.idColumn = resource.schema.id.column;
    this.inserted = metadata.columns.filter(({ isInsert }) => isInsert);
    this.generated = this.inserted.filter(
      ({ isGenerated, generationStrategy }) =>
        isGenerated && generationStrategy === 'uuid' && !dataSource.driver.isUUIDGenerationSupported(),
    );
    this.deletion = this.statement(this.removal());
  }

  async insert(entity: T): Promise<unknown> {
    for (const column of this.generated)
      if (column.getEntityValue(entity) === undefined) column.setEntityValue(entity, randomUUID());
    const sent: ColumnMetadata[] = [];
    const values: unknown[] = [];
    for (const column of this.inserted) {
      const value = this.persistent(column, entity);
      if (value === undefined) continue;
      sent.push(column);
      values.push(value);
    }
    const shape = `insert ${sent.map(({ propertyPath }) => propertyPath).join()}`;
    const statement = this.statementOf(shape, () => this.insertion(sent));
    const { rows, insertedKey } = await statement.run(values);
    return this.idColumn.getEntityValue(entity) ?? rows[0]?.[this.idColumn.databaseName] ?? insertedKey;
  }

  async update(key: unknown, entity: T, checked: Checked): Promise<void> {
    if (checked.values.size === 0) return;
    const values: unknown[] = [];
    let shape = 'update';
    for (const [{ column }, value] of checked.values) {
      const isSql = typeof value === 'function';
      shape += `,${isSql ? '=' : ''}${column.propertyPath}`;
      if (!isSql) values.push(this.persistent(column, entity));
    }
    const statement = this.statementOf(shape, () => this.replacement([...checked.values]));
    values.push(key);
    await statement.run(values);
  }

  async remove(key: unknown): Promise<boolean> {
    return (await this.deletion.run([key])).affected > 0;
  }

  private insertion(columns: readonly ColumnMetadata[]): Query {
    const query = this.repository
      .createQueryBuilder()
      .insert()
      .values(placeholders(columns) as never)
      .updateEntity(false)
      .setParameters(named(columns.length));
    return this.dataSource.driver.isReturningSqlSupported('insert') ? query.returning(['id']) : query;
  }

  private replacement(values: readonly [Field, unknown][]): Query {
    const columns = values.filter(([, value]) => typeof value !== 'function').map(([{ column }]) => column);
    const defaults = values.filter(([, value]) => typeof value === 'function');
    const set = Object.fromEntries(defaults.map(([{ property }, sql]) => [property, sql]));
    return this.repository
      .createQueryBuilder()
      .update()
      .set({ ...placeholders(columns), ...set } as never)
      .where(this.keyed(columns.length), named(columns.length + 1));
  }

  private removal(): Query {
    const { deleteDateColumn } = this.repository.metadata;
    const query = this.repository.createQueryBuilder();
    if (!deleteDateColumn) return query.delete().where(this.keyed(0), named(1));
    return query.softDelete().where(`${this.keyed(0)} AND ${this.column(deleteDateColumn)} IS NULL`, named(1));
  }

  /** Written out: of `where({ id })`, TypeORM writes a number into the text. */
  private keyed(place: number): string {
    return `${this.column(this.idColumn)} = :${nameOf(place)}`;
  }

  private column({ databaseName }: ColumnMetadata): string {
    return this.dataSource.driver.escape(databaseName);
  }

  private persistent(column: ColumnMetadata, entity: T): unknown {
    return this.dataSource.driver.preparePersistentValue(column.getEntityValue(entity), column);
  }

  private statementOf(shape: string, query: () => Query): Statement {
    const known = this.statements.get(shape);
    if (known) return known;
    const statement = this.statement(query());
    this.statements.set(shape, statement);
    const [oldest] = this.statements.keys();
    if (oldest !== undefined && this.statements.size > MOST_SHAPES) this.statements.delete(oldest);
    return statement;
  }

  /** @throws where the parameters do not stand in the order of the values: none must get into another one's column */
  private statement(query: Query): Statement {
    const [sql, bound] = query.getQueryAndParameters();
    if (bound.some((name, place) => name !== nameOf(place)))
      throw new TypeError(`The parameters of ${sql} stand in another order than the fields`);
    return this.prepare({ sql, mode: 'master', named: true });
  }
}

const nameOf = (place: number): string => `declarest${place}`;

/** A value for each parameter: its own name, which tells its place in the statement. */
const named = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, place) => [nameOf(place), nameOf(place)]));

/** SQL instead of a value, which the query builder puts where the value would stand. */
const placeholders = (columns: readonly ColumnMetadata[]): Record<string, () => string> =>
  Object.fromEntries(
    columns.map(({ relationMetadata, propertyName }, place) => [
      relationMetadata?.propertyName ?? propertyName,
      () => `:${nameOf(place)}`,
    ]),
  );
