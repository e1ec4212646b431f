/** Databases that are locked, out of connections, down or restarting. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { DataSource, type EntityTarget, type ObjectLiteral, type QueryRunner } from 'typeorm';
import { DATABASES, type DatabaseName, IS_MYSQL, IS_POOLED } from './databases.js';

export interface BusyCase {
  readonly database: DatabaseName;
  readonly what: string;
  /** Options of the pool. */
  readonly extra: object;
  /** A statement for the pool's only connection. */
  readonly limit?: string;
  /** Statements that lock the table, on a connection of the same pool or of another one. */
  readonly hold: (table: string) => readonly string[];
  readonly ofSamePool?: boolean;
  /** Whether another query waits for a connection already. */
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
  { database: 'postgres', what: 'a full pool', extra: { max: 1, connectionTimeoutMillis: 1_500 }, ...taken },
  {
    database: 'mariadb',
    // `max_execution_time` of MySQL limits reads only.
    what: IS_MYSQL ? 'lock_wait_timeout' : 'max_statement_time',
    extra: { connectionLimit: 1 },
    limit: IS_MYSQL ? 'SET SESSION lock_wait_timeout = 1' : 'SET SESSION max_statement_time = 0.2',
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

/** The cases of the configured databases. */
export const BUSY_CASES = CASES.filter(({ database }) => DATABASES.includes(database));

/** Locks the table of an entity. @returns a function that releases it */
export async function makeBusy(
  dataSource: DataSource,
  entity: EntityTarget<ObjectLiteral>,
  { extra, limit, hold, ofSamePool, isQueued, release }: BusyCase,
): Promise<() => Promise<void>> {
  if (limit) await dataSource.query(limit);
  if (IS_POOLED) await limitRole(dataSource, extra);
  const other = ofSamePool ? dataSource : await besides(dataSource);
  const runner: QueryRunner = other.createQueryRunner();
  const table = dataSource.driver.escape(dataSource.getMetadata(entity).tableName);
  for (const sql of hold(table)) await runner.query(sql);
  if (IS_POOLED && !ofSamePool) await endOtherConnections(runner);
  const queued = isQueued ? dataSource.query('SELECT 1') : undefined;
  return async () => {
    await runner.query(release);
    await runner.release();
    await queued;
    if (!ofSamePool) await other.destroy();
  };
}

/** PgBouncer does not pass on the limits of a connection. New connections of it have those of the role in the database. */
async function limitRole(dataSource: DataSource, limits: object): Promise<void> {
  const [{ name }] = await dataSource.query('SELECT quote_ident(current_database()) AS name');
  for (const [limit, value] of Object.entries(limits))
    if (/^(lock|statement)_timeout$/.test(limit))
      await dataSource.query(`ALTER ROLE CURRENT_USER IN DATABASE ${name} SET ${limit} = ${value}`);
}

/** Connections of another application to the same database, not through a proxy. */
export const besides = (dataSource: DataSource): Promise<DataSource> =>
  new DataSource({ ...dataSource.options, extra: {}, synchronize: false } as never).initialize();

/** The configured servers, which can be down. */
export const SERVER_DATABASES = DATABASES.filter((database) => database !== 'sqlite');

/** A TCP proxy in front of a database server, which can refuse connections, end those that are open, and drop packets. */
export interface DatabaseProxy {
  /** While it is set, connections are accepted, and nothing that is sent arrives. */
  dropsPackets: boolean;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** The server is reached without the proxy again. */
  remove(): Promise<void>;
}

/** Databases that are created from now on are reached through the proxy. */
export async function startProxy(database: DatabaseName): Promise<DatabaseProxy> {
  const variable = database === 'postgres' ? 'TEST_POSTGRES_URL' : 'TEST_MYSQL_URL';
  const direct = process.env[variable] ?? '';
  const { hostname, port } = new URL(direct);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    client.on('data', (data) => proxy.dropsPackets || upstream.write(data));
    upstream.on('data', (data) => proxy.dropsPackets || client.write(data));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => [client, upstream].forEach((each) => each.destroy()));
    }
  });
  const listen = (at: number): Promise<void> => new Promise((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  process.env[variable] = Object.assign(new URL(direct), { hostname: '127.0.0.1', port: String(own) }).href;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    });
  const remove = (): Promise<void> => {
    process.env[variable] = direct;
    return stop();
  };
  const proxy: DatabaseProxy = { dropsPackets: false, start: () => listen(own), stop, remove };
  return proxy;
}

/** Ends every other connection to the database, as an administrator does, and waits until the server has ended them. */
export async function endOtherConnections(admin: QueryRunner): Promise<void> {
  if (admin.connection.options.type === 'postgres') {
    await admin.query(
      'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    return;
  }
  const others = (): Promise<{ id: number }[]> =>
    admin.query('SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()');
  const ended = new Set((await others()).map(({ id }) => String(id)));
  for (const id of ended) await admin.query(`KILL ${id}`);
  // An application may have opened others by then.
  while ((await others()).some(({ id }) => ended.has(String(id))))
    await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Waits until so many statements of other connections to the database wait for a lock. */
export async function untilBlocked(watcher: QueryRunner, count: number): Promise<void> {
  const isPostgres = watcher.connection.options.type === 'postgres';
  const sql = isPostgres
    ? `SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    : `SELECT COUNT(*) AS n FROM information_schema.processlist p LEFT JOIN information_schema.innodb_trx t
         ON t.trx_mysql_thread_id = p.id
       WHERE p.db = DATABASE() AND (t.trx_state = 'LOCK WAIT' OR p.state LIKE 'Waiting for table%')`;
  for (let tries = 0; tries < 60; tries += 1) {
    // MariaDB reads `innodb_trx` again only where nobody has read it for 100 ms.
    await new Promise((resolve) => setTimeout(resolve, isPostgres ? 10 : 120));
    const [row] = (await watcher.query(sql)) as { n: unknown }[];
    if (Number(row?.n) >= count) return;
  }
  throw new Error(`Fewer than ${count} statements wait for a lock.`);
}
