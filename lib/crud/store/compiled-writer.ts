/** Writes a resource by statements that TypeORM's query builder makes once for each set of fields sent together. */
import { randomUUID } from 'node:crypto';
import type { DataSource, DeleteQueryBuilder, QueryBuilder, UpdateQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { isMysql, isSqlite } from '../../entities/database-family.js';
import { propertyOf } from '../../entities/entity-instances.js';
import { DATABASE_DEFAULT, type Values } from '../../entities/record-input.js';
import { persist } from '../../entities/text-reads.js';
import { BoundedMap } from '../../http/bounded-map.js';
import { shapeOf, type Condition } from '../sql/condition.js';
import { conditionSql } from '../sql/condition-sql.js';
import { databaseDefault, keptMoment, presentOf, renewedColumns, type SqlByColumn } from '../sql/set-columns.js';
import type { Call } from './call.js';
import { setAtPath } from './entity-values.js';
import type { Inserted, NewRow, RecordWriter, Table } from './table.js';
import { asRead, compileRow } from './row-projection.js';
import { compileStatement, namedParameters, parameterName } from '../sql/statement.js';
import type { RawRow, Statement, StatementEnd } from '../sql/statement.js';

/** Statements for several rows are kept too: none may take much memory. */
const MAX_PARAMETERS = 2_000;

/** A column that statements write, with the field whose value it gets. */
interface ColumnTarget {
  readonly column: ColumnMetadata;
  readonly field: Field | undefined;
}

/** A statement with `RETURNING`, where there is one. */
interface Returning {
  readonly statement: Statement;
  readonly recordOf: ((row: RawRow) => object) | undefined;
}

export class CompiledWriter implements RecordWriter {
  private readonly dataSource: DataSource;
  private readonly inserted: readonly ColumnTarget[];
  private readonly updated: readonly Field[];
  private readonly generated: readonly ColumnMetadata[];
  private readonly returnsKeys: boolean;
  private readonly insertions = new BoundedMap<Returning>();
  private readonly updates = new BoundedMap<Returning>();
  private readonly statements = new BoundedMap<Statement>();

  constructor(private readonly table: Table) {
    const { dataSource, metadata, schema } = table;
    this.dataSource = dataSource;
    const { fields } = schema;
    const targets = metadata.columns.map((column): ColumnTarget => ({
      column,
      field: fields.find((each) => each.column === column),
    }));
    this.inserted = targets.filter(({ column }) => column.isInsert);
    this.updated = fields.filter(({ updatable }) => updatable);
    this.returnsKeys = isSqlite(dataSource) || dataSource.driver.isReturningSqlSupported('insert');
    const generatesUuids = !dataSource.driver.isUUIDGenerationSupported();
    this.generated = this.inserted
      .map(({ column }) => column)
      .filter(({ generationStrategy }) => generationStrategy === 'uuid' && generatesUuids);
  }

  async insert(call: Call, rows: readonly NewRow[], fields?: readonly Field[]) {
    // Without RETURNING, the database tells the generated key of one row only.
    const isSerial = this.table.schema.key.fields.some(({ column }) => column.generationStrategy === 'increment');
    const isTogether = this.returnsKeys || !isSerial;
    const size = isTogether ? Math.max(1, Math.floor(MAX_PARAMETERS / this.inserted.length)) : 1;
    const inserted: (Inserted | undefined)[] = [];
    for (let start = 0; start < rows.length; start += size)
      inserted.push(...(await this.insertTogether(call, rows.slice(start, start + size), fields)));
    return inserted;
  }

  private keyOf({ entity, values }: NewRow, row: RawRow | undefined, insertedKey: unknown): unknown {
    const { key } = this.table.schema;
    const valueOf = (field: Field): unknown => {
      const given = values.get(field) ?? (field.column.getEntityValue(entity) as unknown);
      const value = given ?? row?.[field.column.databaseName] ?? insertedKey;
      return field.textRead ? field.type.write(value) : value;
    };
    return key.hold(key.fields.map(valueOf));
  }

  private async insertTogether(call: Call, rows: readonly NewRow[], fields: readonly Field[] | undefined) {
    const values: unknown[] = [];
    const columnsOf = ({ entity, values: sent }: NewRow): ColumnMetadata[] => {
      for (const column of this.generated)
        if (column.getEntityValue(entity) === undefined) column.setEntityValue(entity, randomUUID());
      return this.inserted.flatMap(({ column, field }) => {
        const given: unknown = field && sent.has(field) ? sent.get(field) : column.getEntityValue(entity);
        const value = persist(given, column, this.dataSource);
        if (value === undefined) return [];
        values.push(value);
        return [column];
      });
    };
    const columns = rows.map(columnsOf);
    const compile = (): Returning => this.insertion(columns, fields);
    // Rows of different fields hardly ever come again.
    const [shape, another] = new Set(columns.map(namesOf));
    const { statement, recordOf } =
      another === undefined
        ? this.insertions.get(`${rows.length} ${shape} ${shapeOfFields(fields)}`, compile)
        : compile();
    const { rows: returned, affected, insertedKey } = await this.execute(call, statement, values);
    // The database ignored a row: `ON CONFLICT IGNORE` and `RAISE(IGNORE)` on SQLite, a trigger or rule on PostgreSQL.
    const isIgnored = returned.length === 0 ? affected === 0 : returned.length < rows.length;
    return rows.map((each, index) => {
      if (isIgnored) return undefined;
      const row = returned[index];
      return { key: this.keyOf(each, row, insertedKey), record: row && recordOf?.(row) };
    });
  }

  async update(call: Call, _key: unknown, condition: Condition, sent: Values, fields?: readonly Field[]) {
    const values: unknown[] = [];
    let shape = '';
    for (const field of this.updated) {
      if (!sent.has(field)) continue;
      const given = sent.get(field);
      shape += ` ${field.column.databaseName}${given === DATABASE_DEFAULT ? '=' : ''}`;
      if (given !== DATABASE_DEFAULT) values.push(persist(given, field.column, this.dataSource));
    }
    const compile = (): Returning => this.replacement(sent, condition, fields);
    const { statement, recordOf } = this.updates.get(
      `${shape} ${shapeOf(condition)} ${shapeOfFields(fields)}`,
      compile,
    );
    const { rows, affected } = await this.execute(call, statement, [...values, ...this.table.bound(condition)]);
    return affected === 0 ? undefined : { record: rows[0] && recordOf?.(rows[0]) };
  }

  remove(call: Call, _key: unknown, condition: Condition, purges: boolean): Promise<boolean> {
    const isSoft = !purges && this.table.metadata.deleteDateColumn !== undefined;
    return this.change(call, isSoft ? 'softDelete' : 'delete', condition);
  }

  restore(call: Call, _key: unknown, condition: Condition): Promise<boolean> {
    return this.change(call, 'restore', condition);
  }

  private async change(call: Call, kind: 'softDelete' | 'delete' | 'restore', condition: Condition): Promise<boolean> {
    const compile = (): Statement => this.matching(this.changing(kind), condition, 0);
    const statement = this.statements.get(`${kind} ${shapeOf(condition)}`, compile);
    const { affected } = await this.execute(call, statement, this.table.bound(condition));
    return affected > 0;
  }

  private changing(kind: 'softDelete' | 'delete' | 'restore'): Restrictable {
    const { updateDateColumn, deleteDateColumn } = this.table.metadata;
    if (kind === 'delete' || !deleteDateColumn || !updateDateColumn || !isMysql(this.dataSource))
      return this.table.repository.createQueryBuilder()[kind]();
    return this.setting([[deleteDateColumn, kind === 'restore' ? () => 'NULL' : presentOf(deleteDateColumn)]]);
  }

  private execute(call: Call, statement: Statement, values: readonly unknown[]): ReturnType<Statement> {
    return statement(values, this.table.runner(call));
  }

  /** @param rows the columns of each row; its other ones get their defaults */
  private insertion(rows: readonly (readonly ColumnMetadata[])[], fields: readonly Field[] | undefined): Returning {
    let parameters = 0;
    const values = rows.map((columns) => valueSet(columns.map((column) => [column, placeholder(parameters++)])));
    const query = this.table
      .insertInto(this.table.repository.createQueryBuilder().insert())
      .values(values as never)
      .updateEntity(false)
      .setParameters(namedParameters(parameters));
    const compile = (end?: StatementEnd): Statement => compileStatement(this.dataSource, 'master', query, end);
    if (!this.returnsKeys) return { statement: compile(), recordOf: undefined };
    // SQLite's driver rounds integers beyond 53 bits, and so the key of a new row: it is read as text.
    const keys = this.table.schema.key.fields.map((field) => {
      const name = this.dataSource.driver.escape(field.column.databaseName);
      return `${asRead(field, name)} AS ${name}`;
    });
    const row = fields && compileRow(this.table, fields);
    const returned = [...keys, ...(row?.returned ?? [])];
    return { statement: compile(() => ` RETURNING ${returned.join(', ')}`), recordOf: row?.recordOf };
  }

  private replacement(sent: Values, condition: Condition, fields: readonly Field[] | undefined): Returning {
    let parameters = 0;
    const sqlOf = (field: Field): (() => string) =>
      sent.get(field) === DATABASE_DEFAULT
        ? () => databaseDefault(field.column, this.dataSource)
        : keptMoment(field, placeholder(parameters++), this.dataSource);
    const set = this.updated.filter((field) => sent.has(field));
    const query = this.setting(set.map((field) => [field.column, sqlOf(field)]));
    const row = fields && compileRow(this.table, fields);
    const end = row && (() => ` RETURNING ${row.returned.join(', ')}`);
    return { statement: this.matching(query, condition, parameters, end), recordOf: row?.recordOf };
  }

  private setting(sql: readonly SqlByColumn[]): UpdateQueryBuilder<object> {
    const values = valueSet([...sql, ...renewedColumns(this.table.metadata, this.dataSource)]);
    return this.table.repository
      .createQueryBuilder()
      .update()
      .set(values as never);
  }

  /** @param first the number of the condition's first parameter */
  private matching(query: Restrictable, condition: Condition, first: number, end?: StatementEnd): Statement {
    const { tableName } = this.table.metadata;
    const where = conditionSql(condition, this.dataSource.driver.escape(tableName), this.dataSource, first);
    query.where(where, namedParameters(first + this.table.bound(condition).length));
    return compileStatement(this.dataSource, 'master', query, end);
  }
}

type SoftDeleteBuilder = ReturnType<QueryBuilder<object>['softDelete']>;
type Restrictable = UpdateQueryBuilder<object> | SoftDeleteBuilder | DeleteQueryBuilder<object>;

/** SQL instead of a value: the query builder writes it in the place of the value. */
const placeholder = (place: number) => (): string => `:${parameterName(place)}`;

/** As TypeORM takes values: those of embedded columns in objects of their own. */
function valueSet(sql: readonly SqlByColumn[]): object {
  const values = {};
  for (const [column, write] of sql) setAtPath(values, propertyOf(column).split('.'), write);
  return values;
}

const shapeOfFields = (fields: readonly Field[] = []): string => fields.map(({ name }) => name).join();

const namesOf = (columns: readonly ColumnMetadata[]): string =>
  columns.map(({ databaseName }) => databaseName).join(' ');
