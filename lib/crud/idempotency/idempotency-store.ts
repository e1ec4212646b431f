/** Stores what a request with an `Idempotency-Key` is answered, in the transaction of its write. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ConflictException } from '@nestjs/common';
import { In, LessThanOrEqual, type DataSource, type EntityManager } from 'typeorm';
import { DatabaseUnavailable, databaseFailureOf } from '../../entities/database-errors.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { etagOf } from '../rows/record-version.js';
import { outsideTransactions, transactionOf } from '../store/transactions.js';
import { IdempotencyKey } from './idempotency-key.js';

const KEPT_MS = 24 * 60 * 60 * 1000;
/** A request may delete more rows than it adds, so that the table shrinks, and only so many, so that it stays fast. */
const MAX_DELETED = 10;

/** A request with an `Idempotency-Key`, while its handler runs. */
export interface KeyedRequest {
  /** The resource whose write stores the answer. */
  readonly options: ResolvedCrudOptions;
  readonly id: string;
  readonly fingerprint: string;
  readonly statusOf: () => number;
  /** Absent until the write is committed. */
  stored?: StoredAnswer;
}

export type StoredAnswer = Pick<IdempotencyKey, 'status' | 'body' | 'etag'>;

/** A request in another process has inserted the key. Its handler may be running still. */
export class KeyTaken extends ConflictException {}

const current = new AsyncLocalStorage<KeyedRequest>();

/** Whether the request that is being handled has an `Idempotency-Key`. */
export const hasKey = (): boolean => current.getStore() !== undefined;

/** Calls a handler, whose write stores its answer. */
export const runKeyed = <R>(request: KeyedRequest, handler: () => R): R => current.run(request, handler);

interface WriteAccess {
  readonly resource: { readonly options: ResolvedCrudOptions };
  readonly dataSource: DataSource;
  transacted<R>(work: () => Promise<R>): Promise<R>;
}

/**
 * Runs a write. Where the request has a key, its row is part of the same transaction. It is inserted first: a concurrent
 * request with the same key waits for it, and fails before it writes anything.
 *
 * Scopes and validation belong before it: where they query the database, the transaction would hold one connection of the
 * pool while they wait for another, and enough requests would wait for each other for ever.
 *
 * @param answer makes the body of the response from what was written
 * @throws KeyTaken
 */
export async function withStoredAnswer<W, R>(
  access: WriteAccess,
  answer: (written: W) => R,
  write: () => Promise<W>,
): Promise<R> {
  const request = current.getStore();
  // An override may write several times, and to other resources.
  if (!request || request.stored || request.options !== access.resource.options) return answer(await write());
  const { id, fingerprint } = request;
  const { body, stored } = await access.transacted(async () => {
    const manager = transactionOf(access.dataSource) as EntityManager;
    const row = { id, request: fingerprint, expiresAt: Date.now() + KEPT_MS };
    await manager.insert(IdempotencyKey, row).catch((error: unknown) => {
      throw databaseFailureOf(error) === 'conflict' ? new KeyTaken() : error;
    });
    const body = answer(await write());
    const stored = storedAnswerOf(body, request.statusOf());
    await manager.update(IdempotencyKey, { id }, stored);
    return { body, stored };
  });
  request.stored = stored;
  return body;
}

function storedAnswerOf(answer: unknown, status: number): StoredAnswer {
  const record = (answer as { readonly data?: unknown } | null | undefined)?.data;
  return { status, body: JSON.stringify(answer) ?? null, etag: etagOf(record) ?? null };
}

/** `undefined` where there is none, or where it has expired. @throws 503 */
export const findStoredAnswer = (dataSource: DataSource, id: string): Promise<IdempotencyKey | undefined> =>
  onPrimary(dataSource, async (manager) => {
    const row = await manager.findOneBy(IdempotencyKey, { id });
    if (!row || row.expiresAt > Date.now()) return row ?? undefined;
    await manager.delete(IdempotencyKey, { id, expiresAt: row.expiresAt });
    return undefined;
  });

/** To be called with the final answer of the handler: an override may answer something else than the operation. */
export async function finishStoredAnswer(
  dataSource: DataSource,
  request: KeyedRequest,
  answer: unknown,
): Promise<void> {
  const { id, stored } = request;
  if (!stored) return;
  try {
    const final = storedAnswerOf(answer, request.statusOf());
    await onPrimary(dataSource, async (manager) => {
      if (JSON.stringify(final) !== JSON.stringify(stored)) await manager.update(IdempotencyKey, { id }, final);
      await deleteExpired(manager);
    });
  } catch {
    // The record is written, and so is the answer of the operation. The next request deletes what has expired.
  }
}

async function deleteExpired(manager: EntityManager): Promise<void> {
  const expired = await manager.find(IdempotencyKey, {
    select: { id: true },
    where: { expiresAt: LessThanOrEqual(Date.now()) },
    order: { expiresAt: 'ASC' },
    take: MAX_DELETED,
  });
  if (expired.length > 0) await manager.delete(IdempotencyKey, { id: In(expired.map(({ id }) => id)) });
}

/** A replica might not have the row yet. */
function onPrimary<R>(dataSource: DataSource, work: (manager: EntityManager) => Promise<R>): Promise<R> {
  return outsideTransactions(dataSource, async () => {
    const runner = dataSource.createQueryRunner('master');
    try {
      return await work(runner.manager);
    } catch (error) {
      throw databaseFailureOf(error) === 'unavailable' ? new DatabaseUnavailable({ cause: error }) : error;
    } finally {
      await runner.release();
    }
  });
}
