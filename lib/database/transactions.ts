/** The transaction that the running code takes part in: one of the package, a joined one, or that of `dataSource.manager`. */
import { Logger } from '@nestjs/common';
import type { DataSource, EntityManager, EntitySubscriberInterface, QueryRunner, TransactionStartEvent } from 'typeorm';
import { isPostgres, isSqlite } from '../entities/database-family.js';
import { memoized } from '../http/bounded-map.js';
import { contexts, type RequestContext } from '../http/request-context.js';

export interface Transaction {
  readonly dataSource: DataSource;
  readonly manager: EntityManager;
  /** `dataSource.manager` when it began. Another one now stands for a transaction that was opened since. */
  readonly around: EntityManager;
  /** The transaction of the surrounding code, perhaps of another data source. */
  readonly outer: Transaction | undefined;
  /** Set for transactions of the package: what runs after the commit, in this order. */
  readonly afterCommit?: (() => Promise<void>)[];
  /** Work that a hook started and did not await must not join a transaction that has ended. */
  isOpen: boolean;
}

export type TransactionContext = RequestContext & { readonly transaction?: Transaction | undefined };

export function beginTransaction(manager: EntityManager, outer?: Transaction, after?: Transaction['afterCommit']) {
  const dataSource = manager.connection;
  return { dataSource, manager, around: dataSource.manager, outer, isOpen: true, ...(after && { afterCommit: after }) };
}

/** Stands for no transaction, also where code around has one. */
const OUTSIDE = Object.freeze({ isOpen: false }) as Transaction;

/** The innermost one of the data source, unless the application has opened another one since. */
function innermost(transaction: Transaction | undefined, dataSource: DataSource): Transaction | undefined {
  if (!transaction || transaction === OUTSIDE) return transaction;
  if (transaction.dataSource !== dataSource) return innermost(transaction.outer, dataSource);
  return transaction.around === dataSource.manager ? transaction : undefined;
}

/** The transaction of the package that the code is part of. @returns `undefined` for those of the application */
export function ownTransaction(transaction: Transaction | undefined, dataSource: DataSource) {
  const inner = innermost(transaction, dataSource);
  return inner?.isOpen && inner.afterCommit ? (inner as Required<Transaction>) : undefined;
}

/**
 * The manager of the innermost transaction. Packages such as typeorm-transactional let `dataSource.manager` stand for one.
 * @returns `undefined` outside of transactions
 */
export function managerWithin(transaction: Transaction | undefined, dataSource: DataSource): EntityManager | undefined {
  const inner = innermost(transaction, dataSource);
  if (inner) return inner.isOpen ? inner.manager : undefined;
  const { manager } = dataSource;
  return manager.queryRunner?.isTransactionActive ? manager : undefined;
}

/** Runs work outside of all transactions: what it writes stays, also where they are rolled back. */
export const outsideOfTransactions = <R>(work: () => R): R =>
  contexts.run({ request: undefined, ...contexts.getStore(), transaction: OUTSIDE } as TransactionContext, work);

/**
 * Lets generated operations, `UserAccounts` and `UserRepository` take part in a transaction of the application: they use
 * its manager, and their writes are committed or rolled back with it. The hooks `afterCreate`, `afterUpdate` and
 * `afterDelete` begin when it has committed, and nothing waits for them; where the manager has no transaction, they run
 * when `work` ends. Transactions for which `dataSource.manager` stands are joined without this.
 * @param manager that of `dataSource.transaction(manager => …)`, or of a query runner
 * @returns what `work` returns
 * @throws TypeError for a manager without a query runner
 * @example
 * await this.dataSource.transaction((manager) =>
 *   joinTransaction(manager, async () => {
 *     const { data } = await this.orders.create({ title: 'First' });
 *     await manager.insert(LogEntry, { orderId: data.id });
 *   }),
 * );
 */
export async function joinTransaction<R>(manager: EntityManager, work: () => R): Promise<Awaited<R>> {
  const { queryRunner } = manager;
  if (!queryRunner || queryRunner.isReleased)
    throw new TypeError(
      'joinTransaction must be called with the manager of a transaction, got one without an open connection. ' +
        'Pass the manager that dataSource.transaction(manager => …) gives.',
    );
  const context = contexts.getStore() as TransactionContext | undefined;
  const transaction = beginTransaction(manager, context?.transaction);
  const ends = endsOf(transaction.dataSource);
  try {
    const result = await contexts.run({ request: undefined, ...context, transaction } as TransactionContext, work);
    if (!queryRunner.isTransactionActive) await ends.run(queryRunner);
    return result;
  } finally {
    transaction.isOpen = false;
  }
}

/** Work that waits for the commit, and how much of it there was at the beginning of each savepoint. */
type Waiting = { readonly work: (() => unknown)[]; readonly starts: number[] };

class TransactionEnds implements EntitySubscriberInterface {
  private readonly of = memoized<QueryRunner, [], Waiting>(() => ({ work: [], starts: [] }));

  add(runner: QueryRunner, work: () => unknown): void {
    this.of(runner).work.push(work);
  }

  async run(runner: QueryRunner): Promise<void> {
    for (const each of this.of(runner).work.splice(0)) await each();
  }

  afterTransactionStart({ queryRunner }: TransactionStartEvent): void {
    const { work, starts } = this.of(queryRunner);
    starts.push(work.length);
  }

  afterTransactionCommit({ queryRunner }: TransactionStartEvent): void {
    this.of(queryRunner).starts.pop();
    // Not awaited: the connection is held until TypeORM goes on.
    if (!queryRunner.isTransactionActive) void this.run(queryRunner);
  }

  afterTransactionRollback({ queryRunner }: TransactionStartEvent): void {
    const { work, starts } = this.of(queryRunner);
    work.length = starts.pop() ?? 0;
  }
}

const ends = memoized<DataSource, [], TransactionEnds>(() => new TransactionEnds());

/** Must be called at startup: it adds a subscriber to the data source. */
export function endsOf(dataSource: DataSource): TransactionEnds {
  const known = ends(dataSource);
  if (!dataSource.subscribers.includes(known)) dataSource.subscribers.push(known);
  return known;
}

/**
 * Commits when the work is done, and rolls back when it fails. Unlike `dataSource.transaction`, it never gives back a
 * connection whose transaction is open: the writes of later requests would be part of it, and be lost.
 */
export async function runTransaction<R>(dataSource: DataSource, work: (manager: EntityManager) => Promise<R>) {
  const runner = dataSource.createQueryRunner('master');
  try {
    await runner.startTransaction();
    const result = await work(runner.manager);
    await runner.commitTransaction();
    return result;
  } catch (error) {
    await runner.rollbackTransaction().catch((reason: unknown) => rollBackByHand(runner, reason));
    throw error;
  } finally {
    await runner.release();
  }
}

const logger = new Logger('declarest');

async function rollBackByHand(runner: QueryRunner, reason: unknown): Promise<void> {
  if (!runner.isTransactionActive) return;
  const what = `A transaction could not be rolled back (${reason instanceof Error ? reason.message : String(reason)})`;
  try {
    await runner.query('ROLLBACK');
    // SQLite's only runner goes on: an empty transaction resets what it knows.
    if (isSqlite(runner.connection)) {
      await runner.query('BEGIN');
      await runner.commitTransaction();
    }
    logger.error(`${what}, and was ended by ROLLBACK.`);
  } catch {
    logger.error(`${what}, and its connection was closed.`);
    // Pools drop a connection that was closed, perhaps by the server already.
    const closed = runner.connect().then((own) => (isPostgres(runner.connection) ? own.end() : own.destroy()));
    await closed.catch(() => undefined);
  }
}
