import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TypeOrmModuleOptions } from '@nestjs/typeorm';
import type { PoolOptions } from 'mysql2';
import type { Connection } from 'mysql2/promise';
import type { DataSource } from 'typeorm';
import { SERVERS } from './servers.js';

export type DatabaseName = 'sqlite' | 'postgres' | 'mariadb';

/** SQLite, unless `TEST_SQLITE=off`, and each server whose variable is set. For `describe.each(DATABASES)`. */
export const DATABASES: readonly DatabaseName[] = [
  ...(process.env['TEST_SQLITE'] === 'off' ? [] : (['sqlite'] as const)),
  ...SERVERS.filter(({ variable }) => process.env[variable]).map(({ database }) => database),
];

/** Whether the server of `TEST_MYSQL_URL` is MySQL. Its suites have the name of MariaDB too. */
export const IS_MYSQL = DATABASES.includes('mariadb') && !(await mysqlVersion()).includes('MariaDB');

/** Whether `TEST_POSTGRES_URL` leads to PgBouncer, by the user that `scripts/engines/pgbouncer` makes. */
export const IS_POOLED = /\/\/declarest_pooled@/.test(process.env['TEST_POSTGRES_URL'] ?? '');

export interface TestDatabase {
  name: DatabaseName;
  /** For `TypeOrmModule.forRoot`. */
  options: TypeOrmModuleOptions;
  /** Removes the database, even while connections to it are open. */
  drop: () => Promise<void>;
}

/** Creates an empty database for one application, so that parallel test files do not share one. */
export function createDatabase(name: DatabaseName = 'sqlite'): Promise<TestDatabase> {
  return { sqlite, postgres, mariadb }[name]();
}

const COMMON = { autoLoadEntities: true, synchronize: true, retryAttempts: 0 } as const;

/** The path of a module whose export replaces better-sqlite3. */
const DRIVER = process.env['TEST_SQLITE_DRIVER'];

async function sqlite(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'declarest-'));
  return {
    name: 'sqlite',
    options: {
      ...COMMON,
      type: 'better-sqlite3',
      database: join(folder, 'test.db'),
      prepareDatabase: dontSync,
      ...(DRIVER && { driver: createRequire(import.meta.url)(DRIVER) as unknown }),
    },
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A test never reads its database after a power failure. */
const dontSync = (connection: { pragma: (setting: string) => unknown }): void => {
  connection.pragma('synchronous = OFF');
};

async function postgres(): Promise<TestDatabase> {
  const { Client } = await import('pg');
  const server = serverUrl('TEST_POSTGRES_URL');
  const database = uniqueName();
  const run = async (sql: string): Promise<void> => {
    const client = new Client({ connectionString: server.href });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  await run(`CREATE DATABASE "${database}"`);
  return {
    name: 'postgres',
    options: {
      ...COMMON,
      type: 'postgres',
      url: withDatabase(server, database),
      // TypeORM sets it for the driver as a whole, and a spec before may have set it.
      parseInt8: false,
      // Long enough for any test.
      extra: {
        connectionTimeoutMillis: 60_000,
        statement_timeout: 60_000,
        lock_timeout: 60_000,
        stream: () => withTimeout(new Socket()),
      },
    },
    drop: () => run(`DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`),
  };
}

async function mariadb(): Promise<TestDatabase> {
  const { createConnection } = await import('mysql2/promise');
  const { default: mysql2 } = await import('mysql2');
  const driver = {
    ...mysql2,
    createPool: (options: PoolOptions) =>
      mysql2.createPool(options).on('connection', (connection) => {
        const limit = IS_MYSQL ? 'max_execution_time = 60000' : 'max_statement_time = 60';
        connection.query(`SET SESSION innodb_lock_wait_timeout = 45, lock_wait_timeout = 60, ${limit}`);
      }),
    // Another process, which gets the options as JSON, uses the driver itself.
    toJSON: () => undefined,
  };
  const server = serverUrl('TEST_MYSQL_URL');
  const database = uniqueName();
  const withConnection = async (work: (connection: Connection) => Promise<unknown>): Promise<void> => {
    const connection = await createConnection(server.href);
    try {
      await work(connection);
    } finally {
      await connection.end();
    }
  };
  await withConnection((connection) => connection.query(`CREATE DATABASE \`${database}\` CHARACTER SET utf8mb4`));
  return {
    name: 'mariadb',
    options: {
      ...COMMON,
      type: IS_MYSQL ? 'mysql' : 'mariadb',
      url: withDatabase(server, database),
      extra: {
        queueLimit: 10_000,
        connectTimeout: 60_000,
        stream: ({ config: { port, host } }: { config: { port: number; host: string } }) =>
          withTimeout(connect({ port, host, noDelay: true })),
      },
      driver,
    },
    drop: () =>
      withConnection(async (connection) => {
        // Connections that a failed boot left open would keep the test worker alive.
        const [rows] = await connection.query('SELECT id FROM information_schema.processlist WHERE db = ?', [database]);
        for (const { id } of rows as { id: number }[]) await connection.query(`KILL ${id}`).catch(() => undefined);
        await connection.query(`DROP DATABASE IF EXISTS \`${database}\``);
      }),
  };
}

/** Removes all records; the next generated keys are those of a new database. An application costs much more to start. */
export async function emptyTables(dataSource: DataSource, name: DatabaseName): Promise<void> {
  const tables = dataSource.entityMetadatas.map(({ tableName }) => dataSource.driver.escape(tableName));
  const statements = {
    sqlite: [
      'PRAGMA foreign_keys = OFF',
      ...tables.map((table) => `DELETE FROM ${table}`),
      'DELETE FROM sqlite_sequence',
      'PRAGMA foreign_keys = ON',
    ],
    postgres: [`TRUNCATE ${tables.join()} RESTART IDENTITY`],
    mariadb: [
      'SET foreign_key_checks = 0',
      ...tables.map((table) => `TRUNCATE ${table}`),
      'SET foreign_key_checks = 1',
    ],
  };
  const runner = dataSource.createQueryRunner();
  try {
    for (const statement of statements[name]) await runner.query(statement);
  } finally {
    await runner.release();
  }
}

async function mysqlVersion(): Promise<string> {
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection(serverUrl('TEST_MYSQL_URL').href);
  const [[row]] = (await connection.query('SELECT VERSION() AS version')) as unknown as [[{ version: string }]];
  await connection.end();
  return row.version;
}

const withTimeout = (socket: Socket): Socket => socket.setTimeout(90_000, () => socket.destroy());

function serverUrl(variable: string): URL {
  const value = process.env[variable];
  if (!value) throw new Error(`Set ${variable} to the URL of a server on which databases may be created.`);
  return new URL(value);
}

function withDatabase(server: URL, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

function uniqueName(): string {
  return `declarest_${process.pid}_${randomBytes(6).toString('hex')}`;
}
