/**
 * Writes a resource by statements whose text TypeORM's query builder makes, once for each set of fields that is sent
 * together, and of which only the values are new for a request.
 */
import { randomUUID } from 'node:crypto';
import type { DataSource, Repository } from 'typeorm';
import { after, type Answer } from '../http/at-once.js';
import type { ColumnMetadata } from '../entities/column-types.js';
import type { Values } from '../entities/record-input.js';
import type { RecordWriter, Written } from './record-store.js';
import type { Resource } from './resource.js';
import { compileReturnedRow, type ReturnedRow } from './returned-row.js';
import type { RowProjection } from './row-projection.js';
import { PARAMETER } from './record-selection.js';
import type { Statement, StatementText } from './statement.js';

type Query = { getQueryAndParameters(): [string, unknown[]] };

/** A column that a client's value may be for. */
interface Target {
  readonly column: ColumnMetadata;
  /** The value's place among those of the fields. */
  readonly place: number;
  /** For the shape of a statement: which of all columns it is, as names could be mistaken. */
  readonly mark: string;
}

/**
 * Sets of fields are chosen by clients: the oldest one's statement is given up for the newest one's, and only the first
 * are ever named, for PostgreSQL keeps a name as long as the connection.
 */
const MOST_SHAPES = 64;

export class CompiledWriter<T extends object> implements RecordWriter<T> {
  private readonly repository: Repository<T>;
  private readonly idColumn: ColumnMetadata;
  private readonly inserted: readonly Target[];
  private readonly updated: readonly Target[];
  private readonly generated: readonly ColumnMetadata[];
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
    const { fields } = resource.schema;
    const targets = metadata.columns.map((column, index): Target => ({
      column,
      place: fields.findIndex((field) => field.column === column),
      mark: ` ${index}`,
    }));
    this.inserted = targets.filter(({ column }) => column.isInsert);
    this.updated = targets.filter(({ place }) => fields[place]?.updatable);
    this.generated = this.inserted
      .map(({ column }) => column)
      .filter(
        ({ isGenerated, generationStrategy }) =>
          isGenerated && generationStrategy === 'uuid' && !dataSource.driver.isUUIDGenerationSupported(),
      );
  }

  /** At boot rather than at a request: whatever its names are, every field gets its own value. */
  expectCompilable(): void {
    const { fields } = this.resource.schema;
    const sent = fields.filter(({ insertable }) => insertable).map(({ column }) => column);
    const inserted = [...this.generated, ...sent];
    this.statement(this.insertion(inserted), inserted.length);
    const updated = fields.map(({ updatable }) => (updatable ? null : undefined));
    if (this.updated.length > 0) this.statement(this.replacement(updated), this.updated.length + 1);
    void this.deletion;
  }

  insert(entity: T, sent: Values): Answer<Written<T> & { key: unknown }> {
    for (const column of this.generated)
      if (column.getEntityValue(entity) === undefined) column.setEntityValue(entity, randomUUID());
    const columns: ColumnMetadata[] = [];
    const values: unknown[] = [];
    let shape = 'insert';
    for (const { column, place, mark } of this.inserted) {
      const given = sent[place];
      const value = this.persistent(column, given === undefined ? column.getEntityValue(entity) : given);
      if (value === undefined) continue;
      columns.push(column);
      values.push(value);
      shape += mark;
    }
    const statement = this.statementOf(shape, values.length, () => this.insertion(columns));
    return after(statement.run(values), ({ rows: [row], affected, insertedKey }) => {
      if (row && this.returned) return this.returned.written(row);
      // SQLite has ignored it (`ON CONFLICT IGNORE`, `RAISE(IGNORE)`), and still tells the key of an earlier one; or a rule
      // or trigger of PostgreSQL has suppressed it.
      if (!row && affected === 0) return { key: undefined };
      return { key: this.idColumn.getEntityValue(entity) ?? row?.[this.idColumn.databaseName] ?? insertedKey };
    });
  }

  update(key: unknown, sent: Values): Answer<Written<T>> {
    const values: unknown[] = [];
    let shape = '';
    for (const { column, place, mark } of this.updated) {
      const given = sent[place];
      if (given === undefined) continue;
      const isSql = typeof given === 'function';
      shape += isSql ? `${mark}=` : mark;
      if (!isSql) values.push(this.persistent(column, given));
    }
    if (shape === '') return {};
    values.push(key);
    const statement = this.statementOf(`update${shape}`, values.length, () => this.replacement(sent));
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

  private replacement(sent: Values): Query {
    const set = this.updated.filter(({ place }) => sent[place] !== undefined);
    const isSql = ({ place }: Target): boolean => typeof sent[place] === 'function';
    const columns = set.filter((target) => !isSql(target)).map(({ column }) => column);
    const defaults = set.filter(isSql).map(({ column, place }) => [propertyOf(column), sent[place]]);
    const query = this.repository
      .createQueryBuilder()
      .update()
      .set({ ...placeholders(columns), ...Object.fromEntries(defaults) } as never)
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

  private persistent(column: ColumnMetadata, value: unknown): unknown {
    return this.dataSource.driver.preparePersistentValue(value, column);
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
  Object.fromEntries(columns.map((column, place) => [propertyOf(column), () => `:${nameOf(place)}`]));

/** As the query builder knows it: of a reference, the relation. */
const propertyOf = ({ isVirtual, relationMetadata, propertyName }: ColumnMetadata): string =>
  (isVirtual ? relationMetadata?.propertyName : undefined) ?? propertyName;
