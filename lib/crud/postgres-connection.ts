/**
 * A connection of TypeORM's own pool for one statement, as its query runners take one, but without the runner: that is
 * five promises and an object of its own, a fifth of what a record by id takes.
 */
import type { DataSource } from 'typeorm';
import type { RawRow } from './statement.js';

export interface PostgresConnection {
  query(
    config: { text: string; name?: string },
    values: readonly unknown[],
  ): Promise<{ rows: RawRow[]; rowCount: number | null }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** A connection that was lost does not go back to the pool. */
  release(lost?: Error): void;
}

interface Pool {
  connect(): Promise<PostgresConnection>;
}

/** @param mode on a replicated data source: where the statement runs */
export async function withPostgres<R>(
  dataSource: DataSource,
  mode: 'master' | 'slave',
  use: (connection: PostgresConnection) => Promise<R>,
): Promise<R> {
  const connection = await poolOf(dataSource, mode).connect();
  let lost: Error | undefined;
  const lose = (error: Error): void => void (lost = error);
  // What nobody hears of would end the process.
  connection.on('error', lose);
  try {
    return await use(connection);
  } finally {
    connection.removeListener('error', lose);
    connection.release(lost);
  }
}

/** Any of the replicas, as TypeORM chooses. */
function poolOf({ driver }: DataSource, mode: 'master' | 'slave'): Pool {
  const { master, slaves = [] } = driver as { master?: Pool; slaves?: readonly Pool[] };
  const pool = (mode === 'slave' ? slaves[Math.floor(Math.random() * slaves.length)] : undefined) ?? master;
  if (!pool) throw new TypeError('The data source is not connected');
  return pool;
}
