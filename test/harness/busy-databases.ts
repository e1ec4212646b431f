/** What keeps a request waiting for a database for longer than the application lets it. */
import { DataSource, type EntityTarget, type ObjectLiteral, type QueryRunner } from 'typeorm';
import { DATABASES, type DatabaseName } from './databases.js';

export interface BusyCase {
  readonly database: DatabaseName;
  readonly what: string;
  /** Of the pool. */
  readonly extra: object;
  /** Said to the one connection, or to that of a pool of one. */
  readonly limit?: string;
  /** What somebody else does meanwhile with the table, on a connection of the same pool, or of another one. */
  readonly hold: (table: string) => readonly string[];
  readonly ofSamePool?: boolean;
  /** Whether somebody waits for a connection already. */
  readonly isQueued?: boolean;
  readonly release: string;
}

const taken = { hold: () => ['SELECT 1'], ofSamePool: true, release: 'SELECT 1' };

const locked = {
  hold: (table: string) => ['BEGIN', `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`],
  release: 'COMMIT',
};

const CASES: readonly BusyCase[] = [
  {
    database: 'sqlite',
    what: 'busy_timeout',
    extra: {},
    limit: 'PRAGMA busy_timeout = 0',
    hold: () => ['BEGIN EXCLUSIVE'],
    release: 'COMMIT',
  },
  { database: 'postgres', what: 'statement_timeout', extra: { statement_timeout: 200 }, ...locked },
  { database: 'postgres', what: 'lock_timeout', extra: { lock_timeout: 200 }, ...locked },
  { database: 'postgres', what: 'a full pool', extra: { max: 1, connectionTimeoutMillis: 200 }, ...taken },
  {
    database: 'mariadb',
    what: 'max_statement_time',
    extra: { connectionLimit: 1 },
    limit: 'SET SESSION max_statement_time = 0.2',
    hold: (table) => [`LOCK TABLES ${table} WRITE`],
    release: 'UNLOCK TABLES',
  },
  { database: 'mariadb', what: 'a full pool', extra: { connectionLimit: 1, waitForConnections: false }, ...taken },
  {
    database: 'mariadb',
    what: 'a pool with a full queue',
    extra: { connectionLimit: 1, queueLimit: 1 },
    ...taken,
    isQueued: true,
  },
];

/** Of the databases that are there. */
export const BUSY_CASES = CASES.filter(({ database }) => DATABASES.includes(database));

/** Makes the table of an entity busy. @returns what ends it */
export async function makeBusy(
  dataSource: DataSource,
  entity: EntityTarget<ObjectLiteral>,
  { limit, hold, ofSamePool, isQueued, release }: BusyCase,
): Promise<() => Promise<void>> {
  if (limit) await dataSource.query(limit);
  const other = ofSamePool ? dataSource : await besides(dataSource);
  const runner: QueryRunner = other.createQueryRunner();
  const table = dataSource.driver.escape(dataSource.getMetadata(entity).tableName);
  for (const sql of hold(table)) await runner.query(sql);
  const queued = isQueued ? dataSource.query('SELECT 1') : undefined;
  return async () => {
    await runner.query(release);
    await runner.release();
    await queued;
    if (!ofSamePool) await other.destroy();
  };
}

/** Another application's connections to the same database. */
export const besides = (dataSource: DataSource): Promise<DataSource> =>
  new DataSource({ ...dataSource.options, extra: {}, synchronize: false } as never).initialize();
