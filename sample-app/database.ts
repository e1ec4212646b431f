import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { connect, Socket } from 'node:net';
import type { TypeOrmModuleOptions } from '@nestjs/typeorm';
import mysql2 from 'mysql2';
import { DataSource, type DataSourceOptions } from 'typeorm';

import { reasonOf, StartError } from './start-error.js';

/** For Node 20, where better-sqlite3 13 does not run. An application on later versions of Node leaves `driver` out. */
const driver: unknown = process.version.startsWith('v20.')
  ? createRequire(import.meta.url)('better-sqlite3-12')
  : undefined;

/** In WAL mode readers never wait for the writer, and a crash of the process loses nothing. */
const embedded = (database: string): DataSourceOptions => ({
  type: 'better-sqlite3',
  driver,
  database,
  enableWAL: true,
  prepareDatabase: (connection: { pragma(source: string): unknown }) => void connection.pragma('synchronous = NORMAL'),
});

/** Ends a connection whose packets the network drops. */
const limited = (socket: Socket): Socket => socket.setTimeout(15_000, () => socket.destroy());

/** With the limits of its driver, or one locked row would stop all requests. `undefined` for the path of a file. */
function server(url: string): DataSourceOptions | undefined {
  if (/^postgres(ql)?:/.test(url)) {
    const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 10_000, lock_timeout: 1_000 };
    // Without a listener, a connection that ends in the wrong moment would end the process.
    const onConnect = (client: EventEmitter): void => void client.on('error', () => undefined);
    return { type: 'postgres', url, extra: { ...timeouts, onConnect, stream: () => limited(new Socket()) } };
  }
  if (!/^(mysql|mariadb):/.test(url)) return undefined;
  const createPool = (options: mysql2.PoolOptions): mysql2.Pool =>
    mysql2.createPool(options).on('connection', (connection) => {
      connection.query('SET SESSION innodb_lock_wait_timeout = 1, max_statement_time = 10');
    });
  const stream = ({ config: { port, host } }: { readonly config: { readonly port: number; readonly host: string } }) =>
    limited(connect({ port, host, noDelay: true, keepAlive: true }));
  const extra = { queueLimit: 100, connectTimeout: 5_000, stream };
  return { type: 'mariadb', url, extra, driver: { ...mysql2, createPool } };
}

export const databaseOptions = (database: string): TypeOrmModuleOptions => ({
  ...(server(database) ?? embedded(database)),
  autoLoadEntities: true,
  synchronize: true,
  toRetry: () => false,
});

/** Writes to a file and rolls back, because SQLite opens a read-only file without an error. */
export async function assertWritable(database: string): Promise<void> {
  if (server(database)) return;
  const probe = new DataSource(embedded(database));
  try {
    await probe.initialize();
    await probe.query('BEGIN');
    await probe.query('CREATE TABLE write_probe (written)');
    await probe.query('ROLLBACK');
    await probe.destroy();
  } catch (cause) {
    throw new StartError(`DATABASE: cannot write to ${JSON.stringify(database)}: ${reasonOf(cause)}.`, { cause });
  }
}
