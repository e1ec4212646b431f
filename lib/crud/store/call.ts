/**
 * The call of a generated operation, an argument of everything that the operation does. It is the context of the
 * application's code that calls operations itself: overrides and hooks.
 */
import type { EntityManager } from 'typeorm';
import { beginTransaction, endsOf, managerWithin, ownTransaction } from '../../database/transactions.js';
import type { TransactionContext } from '../../database/transactions.js';
import type { EntityKey } from '../../entities/entity-key.js';
import type { HttpRequest } from '../../http/http-request.js';
import { contexts } from '../../http/request-context.js';
import type { Condition } from '../sql/condition.js';
import type { Database } from './database.js';

export interface RequestState {
  readonly request: HttpRequest;
  readonly handler: object;
  /** Metadata of answers, by their `data`. An answer of another object, made by an override, has none. */
  readonly answers: Map<unknown, ResponseMetadata>;
  /** The key of the resource whose operation the handler is, once that has begun. */
  key?: EntityKey;
  /** Set with an `Idempotency-Key`: writes its row in the first transaction of the resource. */
  readonly idempotency?: IdempotencyOf | undefined;
}

export interface ResponseMetadata {
  readonly etag?: string;
  readonly status?: number;
  /** The number of all records of a list. */
  readonly total?: number;
}

export const metadataOf = ({ answers }: Pick<RequestState, 'answers'>, answer: unknown): ResponseMetadata | undefined =>
  answers.get((answer as { readonly data?: unknown } | null | undefined)?.data);

/** @param options of the resource that is written @returns `undefined` for other writes than that of the request */
export type IdempotencyOf = (options: object) => TransactionSteps | undefined;

export interface TransactionSteps {
  begin(manager: EntityManager): Promise<void>;
  /** @param result of the work */
  beforeCommit(manager: EntityManager, result: unknown): Promise<void>;
  afterCommit(): void;
}

export interface Call extends TransactionContext {
  readonly state: RequestState | undefined;
  readonly request: HttpRequest | undefined;
  /** Whether the operation, or the request, writes: what it reads decides what is written, and a replica may lag. */
  readonly writes: boolean;
  /** The conditions for visible records of related resources, evaluated once for a call. */
  readonly visible: Map<object, Condition>;
}

/** Runs code of the application: what it calls belongs to the call, and to the transaction of the code around it. */
export const runWithin = <R>(call: Partial<Call>, work: () => R): R =>
  contexts.run({ request: undefined, ...contexts.getStore(), visible: undefined, ...call } as TransactionContext, work);

export const callOf = (state: RequestState): Call => ({
  state,
  request: state.request,
  writes: !['GET', 'HEAD'].includes(state.request.method),
  visible: new Map(),
});

/** Begins the call of an operation: in the request and the transaction of the code that calls it. */
export function beginCall(writes = false): Call {
  const outer = contexts.getStore() as Call | undefined;
  // Scopes are not evaluated again in a transaction, where they would wait for a second connection.
  if (outer?.visible && outer.transaction?.isOpen && outer.transaction.afterCommit) return outer;
  const { state, request, transaction } = outer ?? {};
  return { state, request, transaction, writes: writes || outer?.writes === true, visible: new Map() };
}

export const managerOf = ({ transaction }: Call, { dataSource }: Database): EntityManager | undefined =>
  managerWithin(transaction, dataSource);

/** Runs statements: of a call that writes, on the primary. */
export function runStatement<R>(call: Call, database: Database, work: (call: Call) => Promise<R>): Promise<R> {
  const { dataSource, connections } = database;
  if (!call.writes || !dataSource.driver.isReplicated || managerOf(call, database))
    return connections.statement(() => work(call));
  return connections.onPrimary((manager) =>
    work({ ...call, transaction: beginTransaction(manager, call.transaction) }),
  );
}

/** Commits when the work is done, and rolls back when it fails. Inside another transaction, the work joins that one. */
export async function inTransaction<R>(
  call: Call,
  database: Database,
  work: (call: Call) => Promise<R>,
  steps?: TransactionSteps,
): Promise<R> {
  const { dataSource, connections } = database;
  if (ownTransaction(call.transaction, dataSource)) return work(call);
  const outer = managerOf(call, database);
  const afterCommit: (() => Promise<void>)[] = [];
  const finish = async (): Promise<void> => {
    steps?.afterCommit();
    for (const each of afterCommit) await each();
  };
  const result = await connections.transacted(async (manager) => {
    const transaction = beginTransaction(manager, call.transaction, afterCommit);
    const inner: Call = { ...call, transaction };
    try {
      await steps?.begin(manager);
      const result = await runWithin(inner, () => work(inner));
      await steps?.beforeCommit(manager, result);
      return result;
    } finally {
      transaction.isOpen = false;
    }
  });
  await afterTransaction(outer, finish);
  return result;
}

/** Runs work after the commit of the transaction of the call; at once where there is none. */
export async function afterCommit(call: Call, database: Database, work: () => Promise<void>): Promise<void> {
  const own = ownTransaction(call.transaction, database.dataSource);
  if (own) own.afterCommit.push(work);
  else await afterTransaction(managerOf(call, database), work);
}

/** The application commits its own transaction, and nothing waits for the work then. */
async function afterTransaction(outer: EntityManager | undefined, work: () => Promise<void>): Promise<void> {
  if (outer?.queryRunner) endsOf(outer.connection).add(outer.queryRunner, work);
  else await work();
}
