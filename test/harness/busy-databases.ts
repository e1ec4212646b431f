/** Cases in which a database makes a request wait longer than the application allows. */
import { DataSource, type EntityTarget, type ObjectLiteral, type QueryRunner } from 'typeorm';
import { DATABASES, type DatabaseName } from './databases.js';

export interface BusyCase {
  readonly database: DatabaseName;
  readonly what: string;
  /** Options of the connection pool. */
  readonly extra: object;
  /** A statement that limits the waiting, run on the only connection. */
  readonly limit?: string;
  /** The statements with which another connection blocks the table. */
  readonly hold: (table: string) => readonly string[];
  readonly ofSamePool?: boolean;
  /** Whether another request already waits for a connection. */
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

/** The cases for the databases that the tests run on. */
export const BUSY_CASES = CASES.filter(({ database }) => DATABASES.includes(database));

/** Blocks the table of an entity. @returns a function that releases it */
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
