/**
 * The call of a generated operation, an argument of everything that the operation does. It is the context of the
 * application's code that calls operations itself: overrides and hooks.
 */
import type { EntityManager, QueryRunner } from 'typeorm';
import { managerWithin, type TransactionContext } from '../../database/transactions.js';
import type { EntityKey } from '../../entities/entity-key.js';
import type { HttpRequest } from '../../http/http-request.js';
import { contexts } from '../../http/request-context.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
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

/** Code of the server may set every column, and the option `validationSchema` checks bodies of clients only. */
export type Source = 'client' | 'server';

/** Whose operation is called, and for whom. */
interface Called {
  readonly hooks: GeneratedHooks<object>;
  readonly controller: object | undefined;
  readonly source: Source;
}

export interface Call extends TransactionContext, Called {
  readonly state: RequestState | undefined;
  readonly request: HttpRequest | undefined;
  /** Whether the operation, or the request, writes: what it reads decides what is written, and a replica may lag. */
  readonly writes: boolean;
  /** The conditions for visible records of related resources, evaluated once for a call. */
  readonly visible: Map<object, Condition>;
  /** The connection of a read outside of transactions. */
  readonly runner?: QueryRunner | undefined;
}

/** For code outside of operations. */
export const NO_OPERATION: Called = { hooks: {}, controller: undefined, source: 'client' };

/** Runs code of the application: what it calls belongs to the call, and to the transaction of the code around it. */
export const runWithin = <R>(call: Partial<Call>, work: () => R): R =>
  contexts.run({ request: undefined, ...contexts.getStore(), visible: undefined, ...call } as TransactionContext, work);

export const callOf = (state: RequestState): Call => ({
  ...NO_OPERATION,
  state,
  request: state.request,
  writes: !['GET', 'HEAD'].includes(state.request.method),
  visible: new Map(),
});

/** Begins the call of an operation: in the request and the transaction of the code that calls it. */
export function beginCall(writes = false, called = NO_OPERATION): Call {
  const outer = contexts.getStore() as Call | undefined;
  // Scopes are not evaluated again in a transaction, where they would wait for a second connection.
  if (outer?.visible && outer.transaction?.isOpen && outer.transaction.afterCommit) return { ...outer, ...called };
  const { state, request, transaction } = outer ?? {};
  return { ...called, state, request, transaction, writes: writes || outer?.writes === true, visible: new Map() };
}

export const managerOf = ({ transaction }: Call, { dataSource }: Database): EntityManager | undefined =>
  managerWithin(transaction, dataSource);
