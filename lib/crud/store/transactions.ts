/**
 * Transactions of generated operations. Everything that runs inside one joins it, also a generated operation that a hook
 * calls.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Repository, type DataSource, type EntityManager, type ObjectLiteral } from 'typeorm';
import { isSqlite } from '../../entities/database-family.js';
import { ConnectionLock } from './connection-lock.js';

interface Transaction {
  readonly dataSource: DataSource;
  readonly manager: EntityManager;
  /** Runs after the commit, in this order. */
  readonly afterCommit: (() => Promise<void>)[];
}

const current = new AsyncLocalStorage<Transaction>();

/** The manager of the transaction that the caller runs in. */
export function transactionOf(dataSource: DataSource): EntityManager | undefined {
  const transaction = current.getStore();
  return transaction?.dataSource === dataSource ? transaction.manager : undefined;
}

/** Commits when the work is done, and rolls back when it fails. Inside another transaction, the work joins that one. */
export async function inTransaction<R>(dataSource: DataSource, work: () => Promise<R>): Promise<R> {
  if (transactionOf(dataSource)) return work();
  const afterCommit: Transaction['afterCommit'] = [];
  const run = (): Promise<R> =>
    dataSource.transaction((manager) => current.run({ dataSource, manager, afterCommit }, work));
  const result = await (isSqlite(dataSource) ? lockOf(dataSource).exclusive(run) : run());
  for (const each of afterCommit) await each();
  return result;
}

/** Runs work after the commit of the transaction that the caller runs in; at once where there is none. */
export async function afterCommit(dataSource: DataSource, work: () => Promise<void>): Promise<void> {
  const transaction = current.getStore();
  if (transaction?.dataSource === dataSource) transaction.afterCommit.push(work);
  else await work();
}

/** Runs statements that belong to no transaction. SQLite has one connection: they wait for an open transaction. */
export async function outsideTransactions<R>(dataSource: DataSource, work: () => Promise<R>): Promise<R> {
  if (!isSqlite(dataSource) || transactionOf(dataSource)) return work();
  return lockOf(dataSource).shared(work);
}

/** The same repository, in the transaction that the caller runs in. */
export function joined<T extends ObjectLiteral>(repository: Repository<T>, dataSource: DataSource): Repository<T> {
  const manager = transactionOf(dataSource);
  return manager && repository instanceof Repository ? manager.withRepository(repository) : repository;
}

const locks = new WeakMap<DataSource, ConnectionLock>();

function lockOf(dataSource: DataSource): ConnectionLock {
  const lock = locks.get(dataSource) ?? new ConnectionLock();
  locks.set(dataSource, lock);
  return lock;
}
