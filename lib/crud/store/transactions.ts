/**
 * Transactions of generated operations. Everything that runs inside one joins it, also a generated operation that a hook
 * calls.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Repository, type DataSource, type EntityManager, type ObjectLiteral } from 'typeorm';
import { isSqlite } from '../../entities/database-family.js';
import { ConnectionLock } from './connection-lock.js';

const current = new AsyncLocalStorage<{ readonly dataSource: DataSource; readonly manager: EntityManager }>();

/** The manager of the transaction that the caller runs in. */
export function transactionOf(dataSource: DataSource): EntityManager | undefined {
  const transaction = current.getStore();
  return transaction?.dataSource === dataSource ? transaction.manager : undefined;
}

/** Commits when the work is done, and rolls back when it fails. Inside another transaction, the work joins that one. */
export async function inTransaction<R>(dataSource: DataSource, work: () => Promise<R>): Promise<R> {
  if (transactionOf(dataSource)) return work();
  const run = (): Promise<R> => dataSource.transaction((manager) => current.run({ dataSource, manager }, work));
  return isSqlite(dataSource) ? lockOf(dataSource).exclusive(run) : run();
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
