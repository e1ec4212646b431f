/** How the statements and transactions of an application share the connections of a data source. */
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, EntityManager, QueryRunner, ReplicationMode } from 'typeorm';
import { databaseFailureOf, DatabaseUnavailable, isLostRace } from '../entities/database-errors.js';
import { isMysql, isPostgres, isSqlite } from '../entities/database-family.js';
import { contexts } from '../http/request-context.js';
import type { ColumnMetadata } from '../entities/column-types.js';
import { checkLimits } from './server-settings.js';
import { OutageLog } from './outage-log.js';
import { Semaphore } from './semaphore.js';
import { endsOf, managerWithin, runTransaction, type TransactionContext } from './transactions.js';

/** A write has a turn, and its listeners may write too. */
type Context = TransactionContext & { readonly turn?: { readonly dataSource: DataSource; isOpen: boolean } };

const contextOf = (): Partial<Context> => (contexts.getStore() as Context | undefined) ?? {};

/** Statements weigh 1. A transaction of SQLite weighs as much as all of them: it waits for them, and they for it. */
const ALL = Number.MAX_SAFE_INTEGER;
export const MAX_REPEATS = 3;
/** Two that wait for each other must not begin again at the same time. */
export const beforeRepeat = (repeats: number): Promise<void> => delay(Math.random() * 20 * 2 ** repeats);

export class ConnectionQueue {
  /** Code that reads outside of its transaction would wait for ever. On SQLite it shares the connection. */
  readonly isPoolOfOne: boolean;
  /** The pool of pg limits how long statements wait for a connection, the one of mysql2 does not. */
  private readonly statements: Semaphore | undefined;
  private readonly writes: Semaphore | undefined;
  private readonly outages = new OutageLog();
  limits: Promise<void> | undefined;
  /** Whether the server is a node of a Galera cluster, whose locks hold on that node only. Known after the start. */
  isCluster = false;

  constructor(private readonly dataSource: DataSource) {
    const { poolSize = ALL, pools = 1, timeoutMs } = poolOf(dataSource);
    const limits = { timeoutMs, refusal: () => this.unavailable(new Error('no connection was free in time')) };
    this.isPoolOfOne = poolSize === 1;
    this.statements = isPostgres(dataSource) ? undefined : new Semaphore(poolSize * pools, limits);
    // Writes may wait for locks. The other connections are left for reads, also for those of hooks.
    this.writes = isSqlite(dataSource) ? undefined : new Semaphore(Math.floor(poolSize / 2) || 1, limits);
    endsOf(dataSource);
  }

  /** The manager of the transaction that the running code takes part in; `undefined` outside of transactions. */
  get manager(): EntityManager | undefined {
    return managerWithin(contextOf().transaction, this.dataSource);
  }

  /** Runs statements. On SQLite, those outside of a transaction wait for an open one. */
  statement<R>(work: () => Promise<R>, weight?: number): Promise<R> {
    const result = this.statements && !this.hasTurn ? this.statements.run(work, weight) : work();
    if (this.outages.refused > 0) void result.then(() => this.outages.succeed()).catch(() => undefined);
    return result;
  }

  transaction<R>(run: () => Promise<R>, record?: string): Promise<R> {
    return this.writes ? this.write(run, record) : this.statement(run, ALL);
  }

  /** Runs work in the transaction of the running code, or else in one of its own. */
  transacted<R>(work: (manager: EntityManager) => Promise<R>, record?: string): Promise<R> {
    const { manager } = this;
    return manager ? work(manager) : this.transaction(() => runTransaction(this.dataSource, work), record);
  }

  /** Like `transacted`, but repeats work that lost a race to another transaction. @throws DatabaseUnavailable (503) */
  async settled<R>(work: (manager: EntityManager) => Promise<R>): Promise<R> {
    for (let repeats = 0; ; repeats += 1)
      try {
        return await this.transacted(work);
      } catch (error) {
        const isLost = isLostRace(error);
        if (!isLost && databaseFailureOf(error) === 'unavailable') throw this.unavailable(error);
        if (!isLost || this.manager) throw error;
        if (repeats === MAX_REPEATS) throw new DatabaseUnavailable({ cause: error });
        await beforeRepeat(repeats);
      }
  }

  /**
   * Lets only one of the transactions on nodes of Galera commit that claim a row. Nodes compare changed rows, and no
   * locks, so `changes`, SQL of the column, changes the row and changes it back.
   */
  async claim(manager: EntityManager, column: ColumnMetadata, changes: (name: string) => string[], id: unknown) {
    const { driver } = this.dataSource;
    const { tablePath, primaryColumns, updateDateColumn } = column.entityMetadata;
    const [name = '', key] = [column, ...primaryColumns].map((each) => driver.escape(each.databaseName));
    const table = tablePath.split('.').map((each) => driver.escape(each));
    const date = updateDateColumn && driver.escape(updateDateColumn.databaseName);
    // MySQL would renew it.
    const kept = date ? `, ${date} = ${date}` : '';
    if (this.isCluster && id != null)
      for (const change of changes(name))
        await manager.query(`UPDATE ${table.join('.')} SET ${name} = ${change}${kept} WHERE ${key} = ?`, [id]);
  }

  /** Runs a statement that writes. Writes take half of the pool together, and those of one record one connection. */
  write<R>(work: () => Promise<R>, record?: string): Promise<R> {
    const { writes, dataSource } = this;
    // sql.js asks for the inserted key, and saves its file, after other statements: there a write is alone.
    if ((!writes && dataSource.options.type !== 'sqljs') || this.hasTurn) return work();
    const turn = { dataSource, isOpen: true };
    const within = (): Promise<R> => contexts.run({ request: undefined, ...contextOf(), turn } as Context, work);
    const run = writes ? writes.run(() => this.statement(within), 1, record) : this.statement(within, ALL);
    return run.finally(() => (turn.isOpen = false));
  }

  /** Runs statements that read on one connection, for which they wait once. Writes and SQLite have theirs already. */
  read<R>(work: (runner?: QueryRunner) => Promise<R>): Promise<R> {
    return this.statement(() => (this.writes && !this.hasTurn ? this.withRunner(work) : work()));
  }

  private withRunner<R>(work: (runner: QueryRunner) => Promise<R>, mode?: ReplicationMode): Promise<R> {
    const runner = this.dataSource.createQueryRunner(mode ?? this.dataSource.defaultReplicationModeForReads());
    return work(runner).finally(() => runner.release());
  }

  /** Runs statements on the primary: a replica might not have a row yet. @throws DatabaseUnavailable (503) */
  onPrimary<R>(work: (manager: EntityManager) => Promise<R>): Promise<R> {
    const { manager } = this;
    const run = () => (manager ? work(manager) : this.withRunner((runner) => work(runner.manager), 'master'));
    return this.statement(run).catch((error: unknown) => {
      throw databaseFailureOf(error) === 'unavailable' ? this.unavailable(error, { cause: error }) : error;
    });
  }

  /** Runs statements that write, on the primary. Galera repeats one outside of a transaction, also after it sent its rows. */
  change<R>(work: (manager: EntityManager) => Promise<R>): Promise<R> {
    return this.isCluster ? this.settled(work) : this.write(() => this.onPrimary(work));
  }

  unavailable(error: unknown, options?: { readonly cause: unknown }): DatabaseUnavailable {
    this.outages.refuse(error);
    return new DatabaseUnavailable(options);
  }

  /** Work inside of a transaction, or of another write, would wait for its end. */
  private get hasTurn(): boolean {
    const { turn } = contextOf();
    return this.manager !== undefined || (turn?.isOpen === true && turn.dataSource === this.dataSource);
  }
}

export class ConnectionQueues {
  private readonly known = new Map<DataSource, ConnectionQueue>();

  connectionsOf(dataSource: DataSource): ConnectionQueue {
    const connections = this.known.get(dataSource) ?? new ConnectionQueue(dataSource);
    this.known.set(dataSource, connections);
    return connections;
  }

  /** Once for each data source. @throws InvalidOptionError */
  async checkLimits(isStrict: boolean): Promise<void> {
    for (const [source, each] of this.known)
      await (each.limits ??= checkLimits(source, isStrict).then((isCluster) => void (each.isCluster = isCluster)));
  }
}

/** Reads the size of the pool, if it is known. `extra` of TypeORM's options has priority, as in its drivers. */
function poolOf(dataSource: DataSource) {
  if (!isPostgres(dataSource) && !isMysql(dataSource)) return {};
  type Options = Readonly<Record<string, number | undefined>>;
  type Others = { readonly extra?: Options; readonly replication?: { readonly slaves: readonly unknown[] } };
  const { extra = {}, replication, ...options } = dataSource.options as object as Options & Others;
  // mysql2 calls it `connectionLimit`, and pg `max`; 0 is no limit. The default of `connectTimeout` is that of mysql2.
  const poolSize = Number(extra['connectionLimit'] ?? extra['max'] ?? options['poolSize'] ?? 10) || ALL;
  const timeoutMs = isPostgres(dataSource)
    ? (extra['connectionTimeoutMillis'] ?? options['connectTimeoutMS'])
    : (extra['connectTimeout'] ?? options['connectTimeout'] ?? 10_000);
  return { poolSize, pools: 1 + (replication?.slaves.length ?? 0), timeoutMs };
}
