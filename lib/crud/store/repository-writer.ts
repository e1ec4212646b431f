/** Writes a resource through the methods of its repository: listeners and subscribers run. */
import { isDeepStrictEqual } from 'node:util';
import type { DataSource, QueryRunner, RemoveOptions } from 'typeorm';
import { QueryFailedError, Repository, TypeORMError } from 'typeorm';
import { columnValue, propertyOf, valueAt } from '../../entities/entity-instances.js';
import type { ColumnMetadata } from '../../entities/column-types.js';
import type { Field } from '../../entities/entity-schema.js';
import { isPostgres, isSqlite } from '../../entities/database-family.js';
import { DATABASE_DEFAULT, type Values } from '../../entities/record-input.js';
import { arraySql } from '../../entities/text-reads.js';
import type { Condition } from '../sql/condition.js';
import { escapePath } from '../sql/dialect.js';
import { databaseDefault, renewedColumns } from '../sql/set-columns.js';
import type { Call } from './call.js';
import { EntityLoader } from './entity-loader.js';
import { announce, changedColumns, changesOf, type EntityEvent, hears } from './entity-events.js';
import { entityOf, fill, setAtPath, setOwn } from './entity-values.js';
import type { Inserted, NewRow, RecordWriter, Table } from './table.js';
import type { Reader } from './reader.js';
import { refusalOf } from './row-projection.js';

type Deletion = Exclude<EntityEvent, 'insert' | 'update'>;

export class RepositoryWriter implements RecordWriter {
  /** The events in which code of the application takes part. */
  protected readonly events: ReadonlySet<EntityEvent>;
  private readonly loader: EntityLoader;

  constructor(
    protected readonly table: Table,
    protected readonly reader: Reader,
  ) {
    this.loader = new EntityLoader(table, reader);
    const all = ['insert', 'update', 'remove', 'soft-remove', 'recover'] as const;
    this.events = new Set(all.filter((each) => hears(each, table.metadata, table.dataSource)));
  }

  async insert(call: Call, rows: readonly NewRow[]): Promise<readonly Inserted[]> {
    const inserted: Inserted[] = [];
    for (const { entity, values } of rows) {
      const { key } = this.table.schema;
      // A constant that the class gives every new entity is no key.
      for (const field of key.fields)
        if (field.insertable && !values.has(field)) setOwn(entity, field.property, undefined);
      const stored = await this.insertEntity(call, fill(entity, values), values);
      const parts = await Promise.all(key.fields.map((field) => this.exact(call, field, stored, values)));
      inserted.push({ key: key.hold(parts) });
    }
    return inserted;
  }

  /** @returns an object with the key */
  protected async insertEntity(call: Call, entity: object, _values: Values): Promise<object> {
    const { metadata, schema } = this.table;
    const isHeard = this.announces('insert');
    if (isHeard) await announce('Before', 'insert', this.runner(call), [metadata, entity]);
    const held = new Map(schema.fields.map((field) => [field, columnValue(field.column, entity)]));
    const storable = this.storable(held);
    const arrays = new Map([...held].filter(([field, value]) => storable.get(field) !== value));
    fill(entity, new Map([...arrays.keys()].map((field) => [field, storable.get(field)])));
    const repository = this.table.methods(call);
    const builder = (isHeard ? this.table.manager(call) : repository.manager).createQueryBuilder().insert();
    const insert = this.table.insertInto(builder).values(entity).callListeners(!isHeard);
    const isOwn = repository.insert !== Repository.prototype.insert;
    try {
      const { identifiers } = await (isOwn ? repository.insert(entity as never) : insert.execute());
      const [key = {}] = identifiers;
      if (isHeard) {
        // As `save` leaves a new record.
        for (const column of metadata.columns.filter((each) => !each.isVirtual && !each.isDeleteDate))
          if (column.isNullable && columnValue(column, entity) === undefined) column.setEntityValue(entity, null);
        await announce('After', 'insert', this.runner(call), [metadata, fill(entity, arrays), key]);
      }
      // The driver may round the key that it returns.
      const given = schema.key.fields.filter((field) => field.textRead && typeof held.get(field) === 'string');
      return isOwn ? key : fill(key, new Map(given.map((field) => [field, held.get(field)])));
    } catch (error) {
      // TypeORM reads the defaults of a new row by its key, and fails where no listener made one.
      const hasKey = schema.key.fields.every(({ column }) => columnValue(column, entity) != null);
      if (!hasKey && error instanceof TypeORMError && !(error instanceof QueryFailedError)) return {};
      throw refusalOf(error, entity, schema, this.table.dataSource);
    }
  }

  async update(...args: Parameters<RecordWriter['update']>): Promise<object | undefined> {
    const [call, key, condition, values, , check] = args;
    if (this.announces('update')) return this.updateHeard(...args);
    await check?.(call);
    const entity = fill(entityOf(this.table.entity, this.table.schema.key, key), this.storable(values));
    const repository = this.table.methods(call);
    // A repository with an `update` of its own may read what it gets.
    if (repository.update === Repository.prototype.update) this.renew(entity);
    const { affected } = await repository.update(this.table.where(condition), entity as never);
    return affected === 0 ? undefined : {};
  }

  /** Like `save`, but for the statement: it has the condition, and exact values. */
  private async updateHeard(...args: Parameters<RecordWriter['update']>) {
    const [call, key, condition, values, , check] = args;
    const { metadata, schema } = this.table;
    const { dataSource } = this.table;
    const entity = await this.loader.find(call, key, condition);
    if (!entity) return undefined;
    const plain = await this.loader.withDefaults(call, values);
    const stored = await this.loader.stored(call, key, fill(entity, plain));
    if (!stored) return undefined;
    const sent = new Map([...values.keys()].map((field) => [field.column, field]));
    // Without a lock, another request may have changed a column between the two reads: its old value is not written.
    const old = new Map<ColumnMetadata, unknown>();
    const differences = () =>
      changedColumns(metadata, [entity, stored], dataSource).filter(
        (column) => !old.has(column) || old.get(column) !== columnValue(column, entity),
      );
    for (const column of differences()) if (!sent.has(column)) old.set(column, columnValue(column, entity));
    const details = (columns: Iterable<ColumnMetadata>) => [metadata, entity, stored, ...changesOf(columns)] as const;
    const changed = new Set(differences());
    const isChanged = changed.size > 0;
    if (isChanged) await announce('Before', 'update', this.runner(call), details(changed));
    await check?.(call);
    differences().forEach((column) => changed.add(column));
    const set = {};
    for (const column of new Set([...sent.keys(), ...changed])) {
      const field = sent.get(column) ?? schema.fields.find((each) => each.column === column);
      const value = columnValue(column, entity);
      const isSent = field && values.has(field) && isDeepStrictEqual(value, plain.get(field));
      const written = isSent ? values.get(field) : value;
      if (field) fill(set, this.storable(new Map([[field, written]])));
      else setAtPath(set, propertyOf(column).split('.'), written);
    }
    this.renew(set);
    const update = this.table.manager(call).createQueryBuilder().update(metadata.target).set(set).callListeners(false);
    // TypeORM sets the new version on the entity.
    const { affected } = await update.whereEntity(entity).where(this.table.where(condition)).execute();
    if (affected === 0) return undefined;
    if (isChanged) await announce('After', 'update', this.runner(call), details(changed));
    return {};
  }

  /** The reader decides whether there is a record: a repository may restrict what it reads to one tenant. */
  async remove(call: Call, key: unknown, condition: Condition, purges: boolean): Promise<boolean> {
    const repository = this.table.methods(call);
    const isSoft = !purges && this.table.metadata.deleteDateColumn !== undefined;
    const event = isSoft ? 'soft-remove' : 'remove';
    if (this.events.has(event)) return this.changeHeard(call, key, condition, event);
    if (!(await this.reader.exists(call, condition))) return false;
    const where = this.table.where(condition);
    const { affected } = await (isSoft ? repository.softDelete(where) : repository.delete(where));
    return affected !== 0;
  }

  async restore(call: Call, key: unknown, condition: Condition): Promise<boolean> {
    if (this.events.has('recover')) return this.changeHeard(call, key, condition, 'recover');
    const { affected } = await this.table.methods(call).restore(this.table.where(condition));
    return affected !== 0;
  }

  /** Listeners may write the row by another connection, which would wait for a lock of this one for ever. */
  private async changeHeard(call: Call, key: unknown, condition: Condition, event: Deletion): Promise<boolean> {
    const { metadata, schema } = this.table;
    const method = event === 'soft-remove' ? 'softRemove' : event;
    const repository = this.table.methods(call);
    const change = repository[method] as (entity: object, options: RemoveOptions) => Promise<object>;
    // TypeORM calls the listeners of eager relations too.
    const listeners = change !== Repository.prototype[method] || metadata.eagerRelations.length > 0;
    const entity = await this.loader.find(call, key, condition);
    if (!entity) return false;
    const stored = Object.assign(Object.create(Object.getPrototypeOf(entity) as object) as object, entity);
    const details = [metadata, entity, stored, metadata.getEntityIdMap(entity)] as const;
    if (!listeners) await announce('Before', event, this.runner(call), details);
    if (!(await this.reader.findOne(call, condition, schema.key.fields, true))) return false;
    await change.call(repository, entity, { transaction: false, listeners });
    if (!listeners) await announce('After', event, this.runner(call), details);
    // TypeORM does not say whether a trigger ignored the statement.
    return !(await this.reader.exists(call, condition));
  }

  /** Replaces by SQL what TypeORM cannot persist. */
  private storable(values: Values): Values {
    const { dataSource } = this.table;
    const sql = (value: unknown, { column }: Field): unknown =>
      value === DATABASE_DEFAULT
        ? () => databaseDefault(column, dataSource)
        : (arraySql(value, column, dataSource) ?? value);
    return new Map([...values].map(([field, value]) => [field, sql(value, field)]));
  }

  private renew(values: object): void {
    for (const [column, sql] of renewedColumns(this.table.metadata, this.table.dataSource)) {
      const path = propertyOf(column).split('.');
      // A listener may have set it.
      if (valueAt(path, values) === undefined) setAtPath(values, path, sql);
    }
  }

  private announces(event: 'insert' | 'update'): boolean {
    // A repository with methods of its own is called, and decides what its subscribers get.
    return this.events.has(event) && this.table.repository[event] === Repository.prototype[event];
  }

  protected runner(call: Call): QueryRunner {
    return this.table.runner(call) as QueryRunner;
  }

  /** The driver may round the generated key of a new row, but its connection still has it. */
  protected async exact(call: Call, field: Field, identifiers: object, values: Values): Promise<unknown> {
    const { column, textRead, type } = field;
    const held = column.getEntityValue(identifiers) as unknown;
    if (!textRead) return held;
    const key = type.write(held);
    if (values.has(field) || !column.isGenerated || Number.isSafeInteger(Number(key))) return key;
    const { dataSource } = this.table;
    const sequence = [escapePath(this.table.metadata.tablePath, dataSource.driver), column.databaseName];
    const parameters = isPostgres(dataSource) ? sequence : [];
    const [row] = await this.table.manager(call).query<{ found: string }[]>(lastKey(dataSource), parameters);
    // A listener may have made another one, which is farther away than rounding leads. On MySQL, TypeORM appends the
    // place of the row to a key that the driver returns as text.
    const isOwn = [row?.found, `${row?.found}0`].some((own) => Math.abs(Number(own) - Number(key)) < 2_048);
    return isOwn ? row?.found : key;
  }
}

/** Reads the key that the connection has generated last. */
function lastKey(dataSource: DataSource): string {
  if (isSqlite(dataSource)) return 'SELECT CAST(last_insert_rowid() AS TEXT) AS found';
  if (!isPostgres(dataSource)) return 'SELECT CAST(LAST_INSERT_ID() AS CHAR) AS found';
  const sequence = 'pg_get_serial_sequence($1, $2)';
  // It fails where no key was taken.
  return `SELECT CAST(currval(${sequence}) AS TEXT) AS found WHERE pg_sequence_last_value(${sequence}) IS NOT NULL`;
}
