/** The package's own tables for accounts, each of which an option needs. */
import { Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, Provider, Type } from '@nestjs/common';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, Raw, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { ConnectionQueues, type ConnectionQueue } from '../../database/connections.js';
import { databaseClock, readPrimary } from '../../database/database-time.js';
import { DatabaseUnavailable } from '../../entities/database-errors.js';
import { refuseAuthOption } from '../../options/option-table.js';
import { Application } from '../../routes/application.js';

/** The option that needs each entity. */
type NeededTables = ReadonlyMap<Type, string>;

const CLEANUP_MS = 60 * 60 * 1000;
const NOT_REMOVED = 'Expired sessions and tokens could not be removed. The next attempt is in an hour.';

export class AccountTables implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** The database's current time, as SQL. */
  readonly now: () => string;
  private cleanup: NodeJS.Timeout | undefined;

  constructor(
    private readonly needed: NeededTables,
    readonly dataSource: DataSource,
    readonly connections: ConnectionQueue,
  ) {
    this.now = databaseClock(dataSource);
  }

  /** Runs statements that write, on the primary. @throws DatabaseUnavailable (503) */
  run<R>(work: (manager: EntityManager) => Promise<R>): Promise<R> {
    return this.connections.change(work);
  }

  /** Reads the primary. @throws DatabaseUnavailable (503) */
  read<R>(work: (manager: EntityManager) => Promise<R>): Promise<R> {
    return this.connections.onPrimary(work);
  }

  /** Reads rows of the primary, also through a pooler. @param order of properties @throws DatabaseUnavailable (503) */
  find<T extends object>(entity: Type<T>, where: FindOptionsWhere<T>, ...order: string[]): Promise<T[]> {
    return this.read((manager) => {
      const query = readPrimary(manager.createQueryBuilder(entity, 'row').cache(false).where(where));
      for (const name of order) query.addOrderBy(`row.${name}`);
      return query.getMany();
    });
  }

  async findOne<T extends object>(entity: Type<T>, where: FindOptionsWhere<T>): Promise<T | undefined> {
    return (await this.find(entity, where))[0];
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
        await this.run((manager) =>
          manager.delete(entity, { expiresAt: Raw((column) => `${column} <= ${this.now()}`) }),
        );
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
