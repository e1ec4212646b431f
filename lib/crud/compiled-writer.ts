/**
 * Writes a resource by statements whose text TypeORM's query builder makes, once for each set of fields that is sent
 * together, and of which only the values are new for a request.
 */
import { randomUUID } from 'node:crypto';
import type { DataSource, Repository } from 'typeorm';
import { after, type Answer } from '../http/at-once.js';
import type { ColumnMetadata } from '../schema/column-kind.js';
import type { Field } from '../schema/entity-schema.js';
import type { Checked } from '../schema/record-input.js';
import type { RecordWriter, Written } from './record-store.js';
import type { Resource } from './resource.js';
import { compileReturnedRow, type ReturnedRow } from './returned-row.js';
import type { RowProjection } from './row-projection.js';
import { PARAMETER } from './record-selection.js';
import type { Statement, StatementText } from './statement.js';

type Query = { getQueryAndParameters(): [string, unknown[]] };

/**
 * Sets of fields are chosen by clients: the oldest one's statement is given up for the newest one's, and only the first
 * are ever named, for PostgreSQL keeps a name as long as the connection.
 */
const MOST_SHAPES = 64;

export class CompiledWriter<T extends object> implements RecordWriter<T> {
  private readonly repository: Repository<T>;
  private readonly idColumn: ColumnMetadata;
  private readonly inserted: readonly ColumnMetadata[];
  private readonly generated: readonly ColumnMetadata[];
  /** Of each column its place among all: a statement is known by places, as names could be mistaken. */
  private readonly places: ReadonlyMap<ColumnMetadata, number>;
  private readonly statements = new Map<string, Statement>();
  private readonly namedShapes = new Set<string>();
  private readonly returned: ReturnedRow<T> | undefined;
  private deletionOnceAsked?: Statement;

  constructor(
    private readonly resource: Resource<T>,
    private readonly dataSource: DataSource,
    row: RowProjection<T>,
    private readonly prepare: (text: StatementText) => Statement,
  ) {
    this.repository = dataSource.getRepository(resource.options.entity);
    const { metadata } = this.repository;
    this.returned = compileReturnedRow(row, metadata, dataSource);
    this.idColumn = resource.schema.id.column;
    this.inserted = metadata.columns.filter(({ isInsert }) => isInsert);
    this.generated = this.inserted.filter(
      ({ isGenerated, generationStrategy }) =>
        isGenerated && generationStrategy === 'uuid' && !dataSource.driver.isUUIDGenerationSupported(),
    );
    this.places = new Map(metadata.columns.map((column, place) => [column, place]));
  }

  /** At boot rather than at a request: whatever its names are, every field gets its own value. */
  expectCompilable(): void {
    const { fields } = this.resource.schema;
    const sent = fields.filter(({ insertable }) => insertable).map(({ column }) => column);
    const inserted = [...this.generated, ...sent];
    this.statement(this.insertion(inserted), inserted.length);
    const updated = fields.filter(({ updatable }) => updatable).map((field): [Field, unknown] => [field, undefined]);
    if (updated.length > 0) this.statement(this.replacement(updated), updated.length + 1);
    void this.deletion;
  }

  insert(entity: T): Answer<Written<T> & { key: unknown }> {
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
    const shape = `insert ${sent.map((column) => this.places.get(column)).join()}`;
    const statement = this.statementOf(shape, values.length, () => this.insertion(sent));
    return after(statement.run(values), ({ rows: [row], insertedKey }) =>
      row && this.returned
        ? this.returned.written(row)
        : { key: this.idColumn.getEntityValue(entity) ?? row?.[this.idColumn.databaseName] ?? insertedKey },
    );
  }

  update(key: unknown, entity: T, checked: Checked): Answer<Written<T>> {
    if (checked.values.size === 0) return {};
    const values: unknown[] = [];
    let shape = 'update';
    for (const [{ column }, value] of checked.values) {
      const isSql = typeof value === 'function';
      shape += ` ${isSql ? '=' : ''}${this.places.get(column)}`;
      if (!isSql) values.push(this.persistent(column, entity));
    }
    values.push(key);
    const statement = this.statementOf(shape, values.length, () => this.replacement([...checked.values]));
    return after(statement.run(values), ({ rows: [row] }) => (row && this.returned ? this.returned.written(row) : {}));
  }

  remove(key: unknown): Answer<boolean> {
    return after(this.deletion.run([key]), ({ affected }) => affected > 0);
  }

  private insertion(columns: readonly ColumnMetadata[]): Query {
    const query = this.repository
      .createQueryBuilder()
      .insert()
      .values(placeholders(columns) as never)
      .updateEntity(false)
      .setParameters(named(columns.length));
    if (this.returned) return followedBy(this.returned.sql('insert'), query);
    return this.dataSource.driver.isReturningSqlSupported('insert') ? query.returning(['id']) : query;
  }

  private replacement(values: readonly [Field, unknown][]): Query {
    const columns = values.filter(([, value]) => typeof value !== 'function').map(([{ column }]) => column);
    const defaults = values.filter(([, value]) => typeof value === 'function');
    const set = Object.fromEntries(defaults.map(([{ property }, sql]) => [property, sql]));
    const query = this.repository
      .createQueryBuilder()
      .update()
      .set({ ...placeholders(columns), ...set } as never)
      .where(this.keyed(columns.length), named(columns.length + 1));
    return this.returned ? followedBy(this.returned.sql('update'), query) : query;
  }

  private get deletion(): Statement {
    return (this.deletionOnceAsked ??= this.statement(this.removal(), 1));
  }

  private removal(): Query {
    const { deleteDateColumn } = this.repository.metadata;
    const query = this.repository.createQueryBuilder();
    return (deleteDateColumn ? query.softDelete() : query.delete()).where(this.keyed(0), named(1));
  }

  /**
   * The record of the key, unless it is marked as deleted. Written out: of `where({ id })`, TypeORM writes a number into
   * the text.
   */
  private keyed(place: number): string {
    const { deleteDateColumn } = this.repository.metadata;
    const alive = deleteDateColumn ? ` AND ${this.column(deleteDateColumn)} IS NULL` : '';
    return `${this.column(this.idColumn)} = :${nameOf(place)}${alive}`;
  }

  private column({ databaseName }: ColumnMetadata): string {
    return this.dataSource.driver.escape(databaseName);
  }

  private persistent(column: ColumnMetadata, entity: T): unknown {
    return this.dataSource.driver.preparePersistentValue(column.getEntityValue(entity), column);
  }

  private statementOf(shape: string, count: number, query: () => Query): Statement {
    const known = this.statements.get(shape);
    if (known) return known;
    if (this.namedShapes.size < MOST_SHAPES) this.namedShapes.add(shape);
    const statement = this.statement(query(), count, this.namedShapes.has(shape));
    this.statements.set(shape, statement);
    const [oldest] = this.statements.keys();
    if (oldest !== undefined && this.statements.size > MOST_SHAPES) this.statements.delete(oldest);
    return statement;
  }

  /** @throws where the query does not hold each value once: none must get lost, or into another one's column */
  private statement(query: Query, count: number, named = true): Statement {
    const [sql, bound] = query.getQueryAndParameters();
    const places = bound.map((name) => Number(String(name).slice(PARAMETER.length)));
    const isEach = places.length === count && places.every((place) => place < count);
    if (!isEach || new Set(places).size < count)
      throw new TypeError(`${sql} does not hold each of ${count} values once`);
    const { run } = this.prepare({ sql, mode: 'master', named });
    // A property whose name is a number stands before the others.
    return { run: places.every((place, at) => place === at) ? run : (values) => run(places.map((at) => values[at])) };
  }
}

const followedBy = (end: string, query: Query): Query => ({
  getQueryAndParameters: () => {
    const [sql, bound] = query.getQueryAndParameters();
    return [sql + end, bound];
  },
});

const nameOf = (place: number): string => `${PARAMETER}${place}`;

/** A value for each parameter: its own name, which tells its place in the statement. */
const named = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, place) => [nameOf(place), nameOf(place)]));

/** SQL instead of a value, which the query builder puts where the value would stand. */
const placeholders = (columns: readonly ColumnMetadata[]): Record<string, () => string> =>
  Object.fromEntries(
    columns.map(({ isVirtual, relationMetadata, propertyName }, place) => [
      (isVirtual ? relationMetadata?.propertyName : undefined) ?? propertyName,
      () => `:${nameOf(place)}`,
    ]),
  );
