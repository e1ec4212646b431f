/**
 * A connection of TypeORM's own pool for one statement, as its query runners take one, but without the runner and its
 * promises: 6 of 98 microseconds of a record by id (docs/performance.md).
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

type Driver = {
  readonly master?: Pool;
  readonly slaves?: readonly Pool[];
  /** What is given back at once when the data source is destroyed. */
  readonly connectedQueryRunners: { release(): Promise<void> }[];
};

/** @param mode on a replicated data source: where the statement runs */
export async function withPostgres<R>(
  dataSource: DataSource,
  mode: 'master' | 'slave',
  use: (connection: PostgresConnection) => Promise<R>,
): Promise<R> {
  const driver = dataSource.driver as unknown as Driver;
  const connection = await poolOf(driver, mode).connect();
  const held = new Held(connection, driver.connectedQueryRunners);
  try {
    return await use(connection);
  } finally {
    held.giveBack();
  }
}

/** A connection, until it is given back: by the statement, or by TypeORM where the data source is destroyed meanwhile. */
class Held {
  private lost: Error | undefined;

  constructor(
    private readonly connection: PostgresConnection,
    private readonly all: Driver['connectedQueryRunners'],
  ) {
    all.push(this);
    // What nobody hears of would end the process.
    connection.on('error', this.lose);
  }

  async release(): Promise<void> {
    this.giveBack();
  }

  giveBack(): void {
    const place = this.all.indexOf(this);
    if (place === -1) return;
    this.all.splice(place, 1);
    this.connection.removeListener('error', this.lose);
    this.connection.release(this.lost);
  }

  private readonly lose = (error: Error): void => void (this.lost = error);
}

/** Any of the replicas, as TypeORM chooses. */
function poolOf({ master, slaves = [] }: Driver, mode: 'master' | 'slave'): Pool {
  const pool = (mode === 'slave' ? slaves[Math.floor(Math.random() * slaves.length)] : undefined) ?? master;
  if (!pool) throw new TypeError('The data source is not connected');
  return pool;
}
