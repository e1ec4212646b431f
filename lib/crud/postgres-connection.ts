/**
 * A connection of TypeORM's own pool for one statement, as its query runners take one, but without the runner and its
 * promises: 6 of 98 microseconds of a record by id (docs/performance.md).
 */
import type { DataSource } from 'typeorm';
import type { RawRow } from './statement.js';

export interface PostgresConnection {
  query(config: QueryConfig, values: readonly unknown[], done: Callback<QueryResult>): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** A connection that was lost does not go back to the pool. */
  release(lost?: Error): void;
}

interface QueryConfig {
  readonly text: string;
  /** PostgreSQL keeps it under this name. */
  readonly name?: string;
}

interface QueryResult {
  readonly rows: RawRow[];
  readonly rowCount: number | null;
}

interface Pool {
  connect(done: Callback<PostgresConnection>): unknown;
}

type Callback<R> = (error: Error | undefined, result: R) => void;

/** Asked for a promise itself, pg makes two. */
const promised = <R>(ask: (done: Callback<R>) => unknown): Promise<R> =>
  new Promise((resolve, reject) => void ask((error, result) => (error ? reject(error) : resolve(result))));

export const query = (
  connection: PostgresConnection,
  config: QueryConfig,
  values: readonly unknown[],
): Promise<QueryResult> => promised((done) => connection.query(config, values, done));

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
  const pool = poolOf(driver, mode);
  const connection = await promised<PostgresConnection>((done) => pool.connect(done));
  const held = new Held(connection, driver.connectedQueryRunners);
  try {
    return await use(connection);
  } catch (error) {
    if (isEnd(error)) held.lose(error as Error);
    throw error;
  } finally {
    held.giveBack();
  }
}

/** "Operator intervention": the server says so before it closes its end, of which the socket hears later. */
const isEnd = (error: unknown): boolean =>
  (error as { readonly code?: unknown }).code?.toString().startsWith('57P') ?? false;

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

  /** It is of no use to the next statement. */
  readonly lose = (error: Error): void => void (this.lost = error);

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
}

/** Any of the replicas, as TypeORM chooses. */
function poolOf({ master, slaves = [] }: Driver, mode: 'master' | 'slave'): Pool {
  const pool = (mode === 'slave' ? slaves[Math.floor(Math.random() * slaves.length)] : undefined) ?? master;
  if (!pool) throw new TypeError('The data source is not connected');
  return pool;
}
