/**
 * The call of a generated operation, an argument of everything that the operation does. It is the context of the
 * application's code that calls operations itself: overrides and hooks.
 */
import type { EntityManager } from 'typeorm';
import { contexts, type Transaction } from '../../database/connections.js';
import type { EntityKey } from '../../entities/entity-key.js';
import type { HttpRequest } from '../../http/http-request.js';
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

interface OperationTransaction extends Transaction {
  /** Run after the commit, in this order. */
  readonly afterCommit: (() => Promise<void>)[];
}

export interface Call {
  readonly state: RequestState | undefined;
  readonly request: HttpRequest | undefined;
  readonly transaction: OperationTransaction | undefined;
  /** Whether the operation, or the request, writes: what it reads decides what is written, and a replica may lag. */
  readonly writes: boolean;
  /** The conditions for visible records of related resources, evaluated once for a call. */
  readonly visible: Map<object, Condition>;
}

/** Runs code of the application: what it calls belongs to the call. */
export const runWithin = <R>(call: Call, work: () => R): R => contexts.run(call, work);

export const callOf = (state: RequestState): Call => ({
  state,
  request: state.request,
  transaction: undefined,
  writes: !['GET', 'HEAD', 'QUERY'].includes(state.request.method),
  visible: new Map(),
});

/** Begins the call of an operation: in the request and the transaction of the code that calls it. */
export function beginCall(writes = false): Call {
  const outer = contexts.getStore() as Call | undefined;
  // Scopes are not evaluated again in a transaction, where they would wait for a second connection.
  if (outer?.transaction?.isOpen) return outer;
  const { state, request } = outer ?? {};
  return { state, request, transaction: undefined, writes: writes || outer?.writes === true, visible: new Map() };
}

export const managerOf = ({ transaction }: Call, database: Database): EntityManager | undefined =>
  transaction?.isOpen && transaction.dataSource === database.dataSource ? transaction.manager : undefined;

/** Runs statements: of a call that writes, on the primary. */
export function runStatement<R>(call: Call, database: Database, work: (call: Call) => Promise<R>): Promise<R> {
  const { dataSource, connections } = database;
  if (!call.writes || !dataSource.driver.isReplicated || managerOf(call, database))
    return connections.statement(() => work(call));
  return connections.onPrimary((manager) =>
    work({ ...call, transaction: { dataSource, manager, afterCommit: [], isOpen: true } }),
  );
}

/** Commits when the work is done, and rolls back when it fails. Inside another transaction, the work joins that one. */
export async function inTransaction<R>(
  call: Call,
  database: Database,
  work: (call: Call) => Promise<R>,
  steps?: TransactionSteps,
): Promise<R> {
  if (managerOf(call, database)) return work(call);
  const afterCommit: OperationTransaction['afterCommit'] = [];
  const { dataSource, connections } = database;
  const run = (): Promise<R> =>
    dataSource.transaction(async (manager) => {
      const transaction: OperationTransaction = { dataSource, manager, afterCommit, isOpen: true };
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
  const result = await connections.transaction(run);
  steps?.afterCommit();
  for (const each of afterCommit) await each();
  return result;
}

/** Runs work after the commit of the transaction of the call; at once where there is none. */
export async function afterCommit(call: Call, database: Database, work: () => Promise<void>): Promise<void> {
  if (managerOf(call, database)) call.transaction?.afterCommit.push(work);
  else await work();
}
