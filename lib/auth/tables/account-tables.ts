/** The package's own tables for accounts, each of which an option needs. */
import { Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, Provider, Type } from '@nestjs/common';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, Raw, type EntityManager, type FindOperator, type FindOptionsWhere } from 'typeorm';
import { ConnectionQueues, type ConnectionQueue } from '../../database/connections.js';
import { databaseClock, readPrimary } from '../../database/database-time.js';
import { lockRows } from '../../database/locked-rows.js';
import { databaseFailureOf, DatabaseUnavailable } from '../../entities/database-errors.js';
import { refuseAuthOption } from '../../options/option-table.js';
import { Application } from '../../routes/application.js';

/** The option that needs each entity. */
type NeededTables = ReadonlyMap<Type, string>;

/** Values of columns, or SQL of them such as `now`. */
type Values<T> = { readonly [K in keyof T]?: T[K] | (() => string) };

/** In which order rows are found, and how many of them. */
interface Listed<T> {
  readonly order?: { readonly [K in keyof T & string]?: 'ASC' | 'DESC' };
  readonly skip?: number;
  readonly take?: number;
}

const CLEANUP_MS = 60 * 60 * 1000;
const NOT_REMOVED = 'Expired sessions and tokens could not be removed. The next attempt is in an hour.';

/**
 * The rows of the tables that plugins list. Each statement runs on the primary, and each change of a row says what it expects
 * of it. Methods throw DatabaseUnavailable (503) where the database does not answer.
 * @example if ((await tables.update(Invitation, { id, usedBy: IsNull() }, { usedBy: userId })) === 0) throw new ConflictException();
 */
export class AccountTables implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** The database's current time, as SQL. */
  readonly now: () => string;
  private cleanup: NodeJS.Timeout | undefined;

  constructor(
    private readonly needed: NeededTables,
    /** @internal */
    readonly dataSource: DataSource,
    /** @internal */
    readonly connections: ConnectionQueue,
  ) {
    this.now = databaseClock(dataSource);
  }

  /** For a condition: later than so many milliseconds from now, by the clock of the database. */
  after(offsetMs: number): FindOperator<number> {
    return Raw((column) => `${column} > ${this.now()} + (${offsetMs})`);
  }

  /** For a value: so many milliseconds from now, by the clock of the database. */
  within(lifetimeMs: number): () => string {
    return () => `${this.now()} + ${lifetimeMs}`;
  }

  /** @internal Runs statements that write, on the primary. */
  run<R>(work: (manager: EntityManager) => Promise<R>): Promise<R> {
    return this.connections.change(work);
  }

  /** @internal Reads the primary. */
  read<R>(work: (manager: EntityManager) => Promise<R>): Promise<R> {
    return this.connections.onPrimary(work);
  }

  /** Reads rows, also through a pooler. @param where some conditions, of which one must hold, or one */
  find<T extends object>(
    entity: Type<T>,
    where: FindOptionsWhere<T> | FindOptionsWhere<T>[],
    { order = {}, skip, take }: Listed<T> = {},
  ): Promise<T[]> {
    return this.read((manager) => {
      const query = readPrimary(manager.createQueryBuilder(entity, 'row').cache(false).where(where));
      for (const [name, direction] of Object.entries(order))
        query.addOrderBy(`row.${name}`, direction as 'ASC' | 'DESC');
      return query.offset(skip).limit(take).getMany();
    });
  }

  async findOne<T extends object>(
    entity: Type<T>,
    where: FindOptionsWhere<T> | FindOptionsWhere<T>[],
  ): Promise<T | undefined> {
    return (await this.find(entity, where))[0];
  }

  async insert<T extends object>(entity: Type<T>, row: Values<T>): Promise<void> {
    await this.run((manager) =>
      manager
        .createQueryBuilder()
        .insert()
        .into(entity)
        .values(row as object)
        .updateEntity(false)
        .execute(),
    );
  }

  /** @returns `false` where a unique value is taken */
  async insertUnlessTaken<T extends object>(entity: Type<T>, row: Values<T>): Promise<boolean> {
    try {
      await this.insert(entity, row);
      return true;
    } catch (error) {
      if (databaseFailureOf(error) === 'conflict') return false;
      throw error;
    }
  }

  /** @returns how many rows were as expected */
  async update<T extends object>(entity: Type<T>, where: FindOptionsWhere<T>, values: Values<T>): Promise<number> {
    const { affected } = await this.run((manager) => manager.update(entity, where, values as object));
    return affected ?? 0;
  }

  /** @returns how many rows there were */
  async remove<T extends object>(entity: Type<T>, where: FindOptionsWhere<T>): Promise<number> {
    const { affected } = await this.run((manager) => manager.delete(entity, where));
    return affected ?? 0;
  }

  /**
   * Runs work in a transaction, with rows of which one must stay: two requests at once do not take the last two.
   * @param column a number of each row, which a cluster of Galera compares
   */
  lastOf<T extends object & { readonly id: string }, R>(
    entity: Type<T>,
    where: FindOptionsWhere<T>,
    column: keyof T & string,
    work: (rows: readonly T[], manager: EntityManager) => Promise<R>,
  ): Promise<R> {
    const { connections } = this;
    return connections.settled(async (manager) => {
      const query = manager.createQueryBuilder(entity, 'row').cache(false).where(where).orderBy('row.id');
      return work(await lockRows(connections, manager, query, column), manager);
    });
  }

  /** @throws InvalidOptionError for the first table that the database lacks */
  async onApplicationBootstrap(): Promise<void> {
    for (const [entity, option] of this.needed) {
      const { tablePath } = this.dataSource.getMetadata(entity);
      const read = (manager: EntityManager) =>
        manager.createQueryBuilder(entity, 'row').select('1', 'one').limit(1).getRawOne();
      await this.read(read).catch((cause: unknown) => {
        if (cause instanceof DatabaseUnavailable) throw cause;
        const expected = `used with the table ${tablePath} of ${entity.name}`;
        const advice = 'create it by a migration, such as the one that `typeorm migration:generate` writes';
        refuseAuthOption(option, expected, 'a database without it, or with other columns', advice);
      });
    }
    const removeExpired = (): void => void this.removeExpired().catch(() => new Logger('AuthModule').warn(NOT_REMOVED));
    this.cleanup = setInterval(removeExpired, CLEANUP_MS).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.cleanup);
  }

  /** Rows expire in the tables that have a column `expiresAt`. */
  private async removeExpired(): Promise<void> {
    for (const entity of this.needed.keys())
      if (this.dataSource.getMetadata(entity).findColumnWithPropertyName('expiresAt'))
        await this.remove(entity, { expiresAt: Raw((column) => `${column} <= ${this.now()}`) } as object);
  }
}

/** Provides `AccountTables`, and registers the entities for `autoLoadEntities`. Nothing where no option needs a table. */
export function tableProviders(needed: NeededTables): Provider[] {
  const entities = [...needed.keys()];
  if (entities.length === 0) return [];
  TypeOrmModule.forFeature(entities);
  const dataSource = { token: DataSource, optional: true };
  const tables: Provider = {
    provide: AccountTables,
    inject: [dataSource, Application],
    useFactory: (source: DataSource | undefined, application: Application) => {
      const lacking = [...needed].find(([each]) => !source?.hasMetadata(each));
      if (source && !lacking)
        return new AccountTables(needed, source, application.stateOf(ConnectionQueues).connectionsOf(source));
      const [entity, option] = lacking as [Type, string];
      const got = source ? 'a data source that does not know it' : 'no data source';
      const advice = `import TypeOrmModule.forRoot with \`autoLoadEntities: true\`, or add ${entity.name} to its entities`;
      const expected = `used with a default TypeORM data source that has the entity ${entity.name}`;
      return refuseAuthOption(option, expected, got, advice);
    },
  };
  // Commands such as `declarest openapi` find the entities of an application by these.
  const repositories = entities.map((entity): Provider => ({
    provide: getRepositoryToken(entity),
    inject: [dataSource],
    useFactory: (source: DataSource | undefined) =>
      source?.hasMetadata(entity) ? source.getRepository(entity) : undefined,
  }));
  return [tables, ...repositories];
}
