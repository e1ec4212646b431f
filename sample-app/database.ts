import { createRequire } from 'node:module';
import type { TypeOrmModuleOptions } from '@nestjs/typeorm';
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

export const databaseOptions = (database: string): TypeOrmModuleOptions => ({
  ...embedded(database),
  autoLoadEntities: true,
  synchronize: true,
  toRetry: () => false,
});

/** Writes to the file and rolls back, because SQLite opens a read-only file without an error. */
export async function assertWritable(database: string): Promise<void> {
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
