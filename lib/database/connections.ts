/** How the statements and transactions of an application share the connections of a data source. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager } from 'typeorm';
import { databaseFailureOf, DatabaseUnavailable } from '../entities/database-errors.js';
import { isMysql, isPostgres, isSqlite } from '../entities/database-family.js';
import { checkLimits } from './limits.js';
import { OutageLog } from './outage-log.js';
import { Semaphore } from './semaphore.js';

export interface Transaction {
  readonly dataSource: DataSource;
  readonly manager: EntityManager;
  /** Work that a hook started and did not await must not join a transaction that has ended. */
  isOpen: boolean;
}

/** The context of the running code. Operations keep more than the transaction there. */
export const contexts = new AsyncLocalStorage<{ readonly transaction: Transaction | undefined }>();

/** Statements weigh 1, and a transaction as much as all statements together: it waits for them, and they for it. */
const ALL = Number.MAX_SAFE_INTEGER;
const DEFAULT_POOL_SIZE = 10;
/** The error of pg if no connection is free in time. */
const refusal = (): Error => new Error('timeout exceeded when trying to connect');

export class Connections {
  /** Code that reads outside of its transaction would wait for ever. On SQLite it shares the connection. */
  readonly isPoolOfOne: boolean;
  private readonly statements: Semaphore | undefined;
  private readonly writes: Semaphore;
  private readonly outages = new OutageLog();
  private limits: Promise<void> | undefined;

  constructor(private readonly dataSource: DataSource) {
    const { poolSize, timeoutMs } = poolOf(dataSource);
    this.isPoolOfOne = poolSize === 1;
    this.statements = isSqlite(dataSource) ? new Semaphore(ALL, { refusal }) : undefined;
    // Writes may wait for locks. The other connections are left for reads, also for those of hooks.
    this.writes =
      this.statements ?? new Semaphore(Math.max(1, Math.floor((poolSize ?? ALL) / 2)), { timeoutMs, refusal });
  }

  checkLimits(isStrict: boolean): Promise<void> {
    return (this.limits ??= checkLimits(this.dataSource, isStrict));
  }

  /** Runs statements. On SQLite, those outside of a transaction wait for an open one. */
  statement<R>(work: () => Promise<R>): Promise<R> {
    return this.watch(!this.statements || this.isInTransaction ? work() : this.statements.run(work));
  }

  transaction<R>(work: () => Promise<R>): Promise<R> {
    return this.watch(this.writes.run(work, this.statements ? ALL : 1));
  }

  /** Runs a statement that writes. Such statements and transactions take half of the pool together. */
  write<R>(work: () => Promise<R>): Promise<R> {
    return this.statements || this.isInTransaction ? work() : this.writes.run(work);
  }

  unavailable(error: unknown, options?: { readonly cause: unknown }): DatabaseUnavailable {
    this.outages.refuse(error);
    return new DatabaseUnavailable(options);
  }

  private watch<R>(result: Promise<R>): Promise<R> {
    if (this.outages.refused > 0) void result.then(() => this.outages.succeed()).catch(() => undefined);
    return result;
  }

  private get isInTransaction(): boolean {
    const transaction = contexts.getStore()?.transaction;
    return transaction?.isOpen === true && transaction.dataSource === this.dataSource;
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

/** Reads the size of the pool, if it is known. `extra` of TypeORM's options has priority, as in its drivers. */
function poolOf(dataSource: DataSource): { readonly poolSize?: number; readonly timeoutMs?: number | undefined } {
  if (!isPostgres(dataSource) && !isMysql(dataSource)) return {};
  type Options = Readonly<Record<string, number | undefined>>;
  const { extra = {}, ...options } = dataSource.options as object as Options & { readonly extra?: Options };
  // mysql2 calls it `connectionLimit`, and pg `max`.
  const poolSize = Number(extra['connectionLimit'] ?? extra['max'] ?? options['poolSize'] ?? DEFAULT_POOL_SIZE);
  return { poolSize, timeoutMs: extra['connectionTimeoutMillis'] ?? options['connectTimeoutMS'] };
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
