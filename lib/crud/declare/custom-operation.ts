/** Operations that an application adds to a resource. */
import type { JsonSchema } from '../../entities/json-schema.js';
import type { JsonObject } from '../../http/json-body.js';
import type { Principal } from '../../http/principal.js';
import type { ListQuery } from './envelope.js';
import type { GeneratedController } from './generated-controller.js';
import type { OperationDeclaration, OperationName } from './operations.js';
import type { CrudRecord, SortText } from './record-types.js';
import type { ScopeResult } from './scope.js';

/** What a request sends. Without a declared body, `body` is empty. */
export interface OperationInput {
  /** As sent in the path. */
  readonly id: string;
  readonly query: ListQuery;
  readonly body: JsonObject;
}

export interface RecordSelection<T extends object> {
  /** As a scope has it; it narrows what the caller may see. It may name columns that the caller may not read. */
  readonly where?: ScopeResult<T>;
  /** In the syntax of `defaultSort`, by any column; the primary key decides between equal records. */
  readonly sort?: SortText<T>;
  /** @default 100 */
  readonly limit?: number;
}

/** What a custom operation works with. Each member keeps to the scope, the owner and the permissions of the caller. */
export interface OperationContext<T extends object> {
  readonly user: Principal | undefined;
  /** The operations of the resource, with overrides and hooks: for single records and for writes. */
  readonly resource: GeneratedController<T>;
  /** The records that the caller may see, as the list answers them: without deleted ones and unreadable fields. */
  find(selection?: RecordSelection<T>): Promise<CrudRecord<T>[]>;
  /** How many records the caller may see. */
  count(where?: ScopeResult<T>): Promise<number>;
}

/**
 * An operation for the option `operations`. Scope, owner, access rules and the OpenAPI document apply as to generated ones.
 * @example
 * const cheapest: CustomOperation<Product> = {
 *   name: 'cheapest',
 *   route: { verb: 'GET', path: 'cheapest' },
 *   description: { summary: 'List the cheapest products', data: 'records' },
 *   run: ({ find }) => find({ sort: 'price', limit: 10 }),
 * };
 */
// An operation may serve resources of any entity.
// oxlint-disable-next-line typescript/no-explicit-any
export interface CustomOperation<T extends object = any> {
  /** The name of the method, for overrides and for `scope`. */
  readonly name: string;
  /** `path` is below that of the resource: `top-sellers`, or `:id/publish` for one record. */
  readonly route: Omit<OperationDeclaration['route'], 'takes'>;
  /** The operation that does the same. Warnings name rules and overrides of that one that do not cover this one. */
  readonly copyOf?: OperationName;
  readonly description: {
    readonly summary: string;
    readonly text?: string;
    /** The query parameters by name. Others, and repeated ones, are 400. */
    readonly parameters?: Readonly<Record<string, JsonSchema>>;
    readonly body?: JsonSchema;
    /** What `run` returns: a record, records, or values of a schema. */
    readonly data: 'record' | 'records' | JsonSchema;
  };
  /** @returns the member `data` of the answer */
  run(context: OperationContext<T>, input: OperationInput): unknown;
}
