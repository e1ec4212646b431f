/** The answers of requests with an `Idempotency-Key`, each stored in the transaction of its write. */
import { ConflictException } from '@nestjs/common';
import { BaseEntity, Column, Entity, In, Index, LessThanOrEqual, PrimaryColumn } from 'typeorm';
import type { DataSource, EntityManager } from 'typeorm';
import { readPrimary, TIME } from '../../database/database-time.js';
import { databaseFailureOf } from '../../entities/database-errors.js';
import { isMysql } from '../../entities/database-family.js';
import { metadataOf, type RequestState, type TransactionSteps } from '../store/call.js';
import type { Database } from '../store/database.js';

/** A stored answer. Active Record, because TypeORM calls `useDataSource` on such classes only. */
@Entity('declarest_idempotency_key')
export class IdempotencyKey extends BaseEntity {
  /** SHA-256 of user, path and key: two requests with one key cannot both insert it. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  id!: string;

  /** SHA-256 of query string and body. */
  @Column({ type: 'varchar', length: 64 })
  request!: string;

  /** Never null outside of the transaction that writes the row. */
  @Column({ type: 'int', nullable: true })
  status!: number | null;

  @Column({ type: 'text', nullable: true })
  body!: string | null;

  @Column({ type: 'varchar', length: 255, nullable: true })
  etag!: string | null;

  @Index()
  @Column(TIME)
  expiresAt!: number;

  /**
   * `text` of MySQL ends at 64 kB. TypeORM calls it between building the metadata and creating the tables.
   * @internal
   */
  static override useDataSource(dataSource: DataSource | null): void {
    super.useDataSource(dataSource);
    if (!dataSource || !isMysql(dataSource) || !dataSource.hasMetadata(this)) return;
    const body = dataSource.getMetadata(this).findColumnWithPropertyName('body');
    if (body) Object.assign(body, { type: 'longtext', charset: 'utf8mb4' });
  }
}

const KEPT_MS = 24 * 60 * 60 * 1000;
/** A request may delete more rows than it adds, so that the table shrinks, and only so many, so that it stays fast. */
const MAX_DELETED = 10;

export interface KeyedRequest extends Pick<RequestState, 'answers'> {
  readonly id: string;
  readonly fingerprint: string;
  readonly response: { readonly statusCode: number };
  /** Set when the transaction of the write is committed. */
  stored?: StoredAnswer;
}

type StoredAnswer = Pick<IdempotencyKey, 'status' | 'body' | 'etag'>;

/** A request in another process has inserted the key. Its handler may be running still. */
export class KeyTaken extends ConflictException {}

/**
 * Makes the row of a request a part of the transaction of its write. It is inserted first: a concurrent request with the
 * same key waits for it, and fails with `KeyTaken` before it writes anything.
 */
export const idempotencySteps = (request: KeyedRequest): TransactionSteps => {
  const { id, fingerprint } = request;
  let stored: StoredAnswer;
  return {
    async begin(manager) {
      const row = { id, request: fingerprint, expiresAt: Date.now() + KEPT_MS };
      await manager.insert(IdempotencyKey, row).catch((error: unknown) => {
        throw databaseFailureOf(error) === 'conflict' ? new KeyTaken() : error;
      });
    },
    async beforeCommit(manager, answer) {
      stored = storedAnswerOf(request, answer);
      await manager.update(IdempotencyKey, { id }, stored);
    },
    afterCommit: () => void (request.stored = stored),
  };
};

const storedAnswerOf = (request: KeyedRequest, answer: unknown): StoredAnswer => ({
  status: request.response.statusCode,
  body: JSON.stringify(answer) ?? null,
  etag: metadataOf(request, answer)?.etag ?? null,
});

/** `undefined` where there is none, or where it has expired. @throws 503 */
export const findStoredAnswer = (database: Database, id: string): Promise<IdempotencyKey | undefined> =>
  database.connections.onPrimary(async (manager) => {
    const query = manager.createQueryBuilder(IdempotencyKey, 'row').cache(false).where({ id });
    const row = await readPrimary(query).getOne();
    if (!row || row.expiresAt > Date.now()) return row ?? undefined;
    await manager.delete(IdempotencyKey, { id, expiresAt: row.expiresAt });
    return undefined;
  });

/** Stores the final answer of the handler, where an override answers something else than the operation. */
export async function finishStoredAnswer(database: Database, request: KeyedRequest, answer: unknown): Promise<void> {
  try {
    const final = storedAnswerOf(request, answer);
    await database.connections.onPrimary(async (manager) => {
      if (JSON.stringify(final) !== JSON.stringify(request.stored))
        await manager.update(IdempotencyKey, { id: request.id }, final);
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
    cache: false,
  });
  if (expired.length > 0) await manager.delete(IdempotencyKey, { id: In(expired.map(({ id }) => id)) });
}
