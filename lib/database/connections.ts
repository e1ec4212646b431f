/** How the statements and transactions of an application share the connections of a data source. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager } from 'typeorm';
import { databaseFailureOf, DatabaseUnavailable } from '../entities/database-errors.js';
import { isMysql, isPostgres, isSqlite } from '../entities/database-family.js';
import { checkLimits } from './limits.js';
import { OutageLog } from './outage-log.js';
import { Semaphore } from './semaphore.js';

interface Turn {
  readonly dataSource: DataSource;
  /** Work that a hook started and did not await must not join a transaction that has ended. */
  isOpen: boolean;
}

export interface Transaction extends Turn {
  readonly manager: EntityManager;
}

/** The context of the running code. Operations keep more than the transaction there. */
export const contexts = new AsyncLocalStorage<{
  readonly transaction: Transaction | undefined;
  /** The turn of a write. Its listeners may write too. */
  readonly turn?: Turn;
}>();

/** Statements weigh 1. A transaction of SQLite weighs as much as all of them: it waits for them, and they for it. */
const ALL = Number.MAX_SAFE_INTEGER;
const DEFAULT_POOL_SIZE = 10;
const CONNECT_TIMEOUT_OF_MYSQL2 = 10_000;

export class Connections {
  /** Code that reads outside of its transaction would wait for ever. On SQLite it shares the connection. */
  readonly isPoolOfOne: boolean;
  /** The pool of pg limits how long statements wait for a connection, the one of mysql2 does not. */
  private readonly statements: Semaphore | undefined;
  private readonly writes: Semaphore | undefined;
  private readonly outages = new OutageLog();
  private limits: Promise<void> | undefined;

  constructor(private readonly dataSource: DataSource) {
    const { poolSize = ALL, pools = 1, timeoutMs } = poolOf(dataSource);
    const refusal = (): Error => this.unavailable(new Error('no connection was free in time'));
    this.isPoolOfOne = poolSize === 1;
    this.statements = isPostgres(dataSource) ? undefined : new Semaphore(poolSize * pools, { timeoutMs, refusal });
    // Writes may wait for locks. The other connections are left for reads, also for those of hooks.
    const half = Math.max(1, Math.floor(poolSize / 2));
    this.writes = isSqlite(dataSource) ? undefined : new Semaphore(half, { timeoutMs, refusal });
  }

  checkLimits(isStrict: boolean): Promise<void> {
    return (this.limits ??= checkLimits(this.dataSource, isStrict));
  }

  /** Runs statements. On SQLite, those outside of a transaction wait for an open one. */
  statement<R>(work: () => Promise<R>): Promise<R> {
    return this.watch(this.turn(work));
  }

  transaction<R>(work: () => Promise<R>): Promise<R> {
    return this.watch(this.writes ? this.write(work) : this.turn(work, ALL));
  }

  /** Runs a statement that writes. Such statements and transactions take half of the pool together. */
  write<R>(work: () => Promise<R>): Promise<R> {
    if (!this.writes || this.hasTurn) return work();
    const turn: Turn = { dataSource: this.dataSource, isOpen: true };
    const within = (): Promise<R> => contexts.run({ transaction: undefined, ...contexts.getStore(), turn }, work);
    return this.writes.run(() => this.turn(within)).finally(() => (turn.isOpen = false));
  }

  unavailable(error: unknown, options?: { readonly cause: unknown }): DatabaseUnavailable {
    this.outages.refuse(error);
    return new DatabaseUnavailable(options);
  }

  private turn<R>(work: () => Promise<R>, weight?: number): Promise<R> {
    return this.statements && !this.hasTurn ? this.statements.run(work, weight) : work();
  }

  private watch<R>(result: Promise<R>): Promise<R> {
    if (this.outages.refused > 0) void result.then(() => this.outages.succeed()).catch(() => undefined);
    return result;
  }

  /** Work inside of a transaction, or of another write, would wait for its end. */
  private get hasTurn(): boolean {
    const { transaction, turn } = contexts.getStore() ?? {};
    return [transaction, turn].some((each) => each?.isOpen && each.dataSource === this.dataSource);
  }
}

export class DataSources {
  private readonly known = new Map<DataSource, Connections>();

  connectionsOf(dataSource: DataSource): Connections {
    const connections = this.known.get(dataSource) ?? new Connections(dataSource);
    this.known.set(dataSource, connections);
    return connections;
  }

  /** Once for each data source. @throws InvalidOptionError */
  async checkLimits(isStrict: boolean): Promise<void> {
    for (const each of this.known.values()) await each.checkLimits(isStrict);
  }
}

interface Pool {
  readonly poolSize: number;
  /** With replication, each server has one. */
  readonly pools: number;
  readonly timeoutMs: number | undefined;
}

/** Reads the size of the pool, if it is known. `extra` of TypeORM's options has priority, as in its drivers. */
function poolOf(dataSource: DataSource): Partial<Pool> {
  if (!isPostgres(dataSource) && !isMysql(dataSource)) return {};
  type Options = Readonly<Record<string, number | undefined>>;
  type Others = { readonly extra?: Options; readonly replication?: { readonly slaves: readonly unknown[] } };
  const { extra = {}, replication, ...options } = dataSource.options as object as Options & Others;
  // mysql2 calls it `connectionLimit`, and pg `max`; 0 is no limit.
  const poolSize = Number(extra['connectionLimit'] ?? extra['max'] ?? options['poolSize'] ?? DEFAULT_POOL_SIZE) || ALL;
  const timeoutMs = isPostgres(dataSource)
    ? (extra['connectionTimeoutMillis'] ?? options['connectTimeoutMS'])
    : (extra['connectTimeout'] ?? options['connectTimeout'] ?? CONNECT_TIMEOUT_OF_MYSQL2);
  return { poolSize, pools: 1 + (replication?.slaves.length ?? 0), timeoutMs };
}

/** Runs statements on the primary: a replica might not have a row yet. @throws DatabaseUnavailable (503) */
export function onPrimary<R>(
  { dataSource, connections }: { readonly dataSource: DataSource; readonly connections: Connections },
  work: (manager: EntityManager) => Promise<R>,
): Promise<R> {
  return connections.statement(async () => {
    const runner = dataSource.createQueryRunner('master');
    try {
      return await work(runner.manager);
    } catch (error) {
      throw databaseFailureOf(error) === 'unavailable' ? connections.unavailable(error, { cause: error }) : error;
    } finally {
      await runner.release();
    }
  });
}
