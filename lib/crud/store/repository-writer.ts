/** Writes a resource through the methods of its repository: listeners and subscribers run. */
import { ConflictException } from '@nestjs/common';
import { type DataSource, type FindOptionsWhere, QueryFailedError, type Repository, TypeORMError } from 'typeorm';
import { columnValue } from '../../entities/entity-instances.js';
import type { Field } from '../../entities/entity-schema.js';
import { isPostgres, isSqlite } from '../../entities/database-family.js';
import { DATABASE_DEFAULT, type Values } from '../../entities/record-input.js';
import { arraySql } from '../../entities/text-reads.js';
import { type Condition, keyIs } from '../sql/condition.js';
import { databaseDefault, escapePath } from '../sql/dialect.js';
import { managerOf, type Call } from './call.js';
import type { Database } from './database.js';
import { entityOf, fill, setOwn } from './entity-values.js';
import { inCurrentTransaction, whereOf } from './query-parts.js';
import type { Inserted, NewRow, RecordWriter, StoredResource } from './record-access.js';
import type { Reader } from './reader.js';

export class RepositoryWriter<T extends object> implements RecordWriter<T> {
  readonly returnsUpdated = false;

  constructor(
    protected readonly resource: StoredResource<T>,
    protected readonly reader: Reader<T>,
    private readonly repository: Repository<T>,
    protected readonly database: Database,
  ) {}

  protected methods(call: Call): Repository<T> {
    return inCurrentTransaction(call, this.repository, this.database);
  }

  async insert(call: Call, rows: readonly NewRow<T>[]): Promise<readonly Inserted<T>[]> {
    const inserted: Inserted<T>[] = [];
    for (const { entity, values } of rows) {
      const { key } = this.resource.schema;
      // A constant that the class gives every new entity is no key.
      for (const field of key.fields)
        if (field.insertable && !values.has(field)) setOwn(entity, field.property, undefined);
      const stored = await this.insertEntity(call, fill(entity, this.storable(values)), values);
      inserted.push({ key: key.hold(await Promise.all(key.fields.map((field) => this.exact(call, field, stored)))) });
    }
    return inserted;
  }

  /** @returns an object with the key */
  protected async insertEntity(call: Call, entity: T, _values: Values): Promise<object> {
    try {
      const { identifiers } = await this.methods(call).insert(entity as never);
      return identifiers[0] ?? {};
    } catch (error) {
      // TypeORM reads the defaults of a new row by its key, and fails where no listener made one.
      const hasKey = this.resource.schema.key.fields.every(({ column }) => columnValue(column, entity) != null);
      if (hasKey || error instanceof QueryFailedError || !(error instanceof TypeORMError)) throw error;
      return {};
    }
  }

  async update(call: Call, key: unknown, condition: Condition, values: Values): Promise<object | undefined> {
    const entity = fill(entityOf(this.resource.options.entity, this.resource.schema.key, key), this.storable(values));
    const { affected } = await this.methods(call).update(this.where(condition), entity as never);
    return affected === 0 ? undefined : {};
  }

  /** The reader decides whether there is a record: a repository may restrict what it reads to one tenant. */
  async remove(call: Call, key: unknown, condition: Condition, purges: boolean): Promise<boolean> {
    const repository = this.methods(call);
    const isSoft = !purges && this.resource.metadata.deleteDateColumn !== undefined;
    if (this.hasListeners(isSoft ? 'soft-remove' : 'remove')) {
      const entity = await this.entityOf(call, key, condition);
      const options = { transaction: false };
      if (!entity) return false;
      await (isSoft ? repository.softRemove(entity as never, options) : repository.remove(entity, options));
      // TypeORM does not say whether a trigger ignored the statement.
      return !(await this.reader.exists(call, condition));
    }
    if (!(await this.reader.exists(call, condition))) return false;
    const where = this.where(condition);
    const { affected } = await (isSoft ? repository.softDelete(where) : repository.delete(where));
    return affected !== 0;
  }

  async restore(call: Call, key: unknown, condition: Condition): Promise<boolean> {
    if (!this.hasListeners('recover')) {
      const { affected } = await this.methods(call).restore(this.where(condition));
      return affected !== 0;
    }
    const entity = await this.entityOf(call, key, condition);
    if (!entity) return false;
    await this.methods(call).recover(entity as never, { transaction: false });
    return !(await this.reader.exists(call, condition));
  }

  /** With SQL for what TypeORM cannot persist. */
  private storable(values: Values): Values {
    const { dataSource } = this.database;
    const sql = (value: unknown, { column }: Field): unknown =>
      value === DATABASE_DEFAULT
        ? () => databaseDefault(column, dataSource)
        : (arraySql(value, column, dataSource) ?? value);
    return new Map([...values].map(([field, value]) => [field, sql(value, field)]));
  }

  private where(condition: Condition): FindOptionsWhere<T> {
    return whereOf(condition, this.database.dataSource, this.resource.metadata);
  }

  protected hasListeners(event: 'remove' | 'soft-remove' | 'recover'): boolean {
    return this.resource.metadata.listeners.some(({ type }) => type === `before-${event}` || type === `after-${event}`);
  }

  /** Listeners are called with the entity, so it is loaded first. Its row is locked, so that the condition stays true. */
  private async entityOf(call: Call, key: unknown, condition: Condition): Promise<T | null> {
    const { key: primary } = this.resource.schema;
    if (!(await this.reader.findOne(call, condition, primary.fields, true))) return null;
    const where = this.where(keyIs(primary, key));
    const entity = await this.methods(call)
      .findOne({ where, withDeleted: true, cache: false })
      .catch((error: unknown) => {
        if (!(error instanceof SyntaxError)) throw error;
        throw new ConflictException(`${this.resource.schema.name} was not changed: its stored JSON is malformed`);
      });
    // The driver may have changed the key to that of another record.
    const isOther = ([{ column }, part]: [Field, unknown]): boolean =>
      entity !== null && String(columnValue(column, entity)) !== String(part);
    const parts = primary.fields.map((field, index): [Field, unknown] => [field, primary.parts(key)[index]]);
    return entity && fill(entity, new Map(parts.filter(isOther)));
  }

  /** The driver may round the generated key of a new row, but its connection still has it. */
  protected async exact(call: Call, { column, textRead, insertable }: Field, identifiers: object): Promise<unknown> {
    const key = column.getEntityValue(identifiers) as unknown;
    if (!textRead || insertable || Number.isSafeInteger(Number(key))) return key;
    const { dataSource } = this.database;
    const [row] = await (managerOf(call, this.database) ?? dataSource).query<{ found: string }[]>(
      lastKey(dataSource),
      isPostgres(dataSource)
        ? [escapePath(this.resource.metadata.tablePath, dataSource.driver), column.databaseName]
        : [],
    );
    // A listener may have made another one, which is farther away than rounding leads.
    return Math.abs(Number(row?.found) - Number(key)) < 2_048 ? row?.found : key;
  }
}

function lastKey(dataSource: DataSource): string {
  if (isSqlite(dataSource)) return 'SELECT CAST(last_insert_rowid() AS TEXT) AS found';
  if (!isPostgres(dataSource)) return 'SELECT CAST(LAST_INSERT_ID() AS CHAR) AS found';
  const sequence = 'pg_get_serial_sequence($1, $2)';
  // It fails where no key was taken.
  return `SELECT CAST(currval(${sequence}) AS TEXT) AS found WHERE pg_sequence_last_value(${sequence}) IS NOT NULL`;
}
