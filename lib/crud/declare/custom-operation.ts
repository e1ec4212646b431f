/** Operations that an application adds to a resource. */
import type { JsonSchema } from '../../entities/json-schema.js';
import type { JsonObject } from '../../http/json-body.js';
import type { Principal } from '../../http/caller.js';
import type { Envelope, ListQuery } from './envelope.js';
import type { GeneratedController } from './generated-controller.js';
import type { HookValues } from './generated-hooks.js';
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

interface AsServer {
  readonly as: 'server';
}

/**
 * The operations of a resource, for code of the server. With `{ as: 'server' }`, the values may be of columns that the caller
 * may not write; overrides and `validationSchema` do not apply, hooks do.
 */
export type ServerResource<T extends object> = GeneratedController<T> & {
  create(values: HookValues<T>, options: AsServer): Promise<Envelope<CrudRecord<T>>>;
  patch(id: string, values: HookValues<T>, options: AsServer): Promise<Envelope<CrudRecord<T>>>;
};

/** What a custom operation works with. Each member keeps to the scope, the owner and the readable fields of the caller. */
export interface OperationContext<T extends object> {
  readonly user: Principal | undefined;
  /**
   * The operations of the resource, with overrides and hooks: for single records and for writes.
   * @example await resource.patch(id, { returnedAt: new Date(), price }, { as: 'server' });
   */
  readonly resource: ServerResource<T>;
  /** Stores a record of the server: `create` with `{ as: 'server' }`. @returns what the caller may read of it */
  insert(values: HookValues<T>): Promise<CrudRecord<T>>;
  /** The records that the caller may see, as the list answers them: without deleted ones and unreadable fields. */
  find(selection?: RecordSelection<T>): Promise<CrudRecord<T>[]>;
  /** How many records the caller may see. */
  count(where?: ScopeResult<T>): Promise<number>;
  /** Refuses as a PATCH of the record, for slow work before one, such as an upload. @throws 400, 403, 404, 412, 428 */
  assertChangeable(id: string): Promise<void>;
  /** Whether the caller may change a field: by `fieldPermissions`, and unless the server sets it. */
  mayWrite(field: keyof CrudRecord<T> & string): boolean;
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
    /** Checked: a wrong body is 400. Names that `properties` does not have are refused, unless `additionalProperties` is set. */
    readonly body?: JsonSchema;
    /** The member `message` of the answer. @default 'Product topSellers' */
    readonly message?: string;
    /** The `operationId` in the OpenAPI document, which is the name of the tool for agents. @default 'topSellersProducts' */
    readonly tool?: string;
    /** What `run` returns: a record, records, or values of a schema. */
    readonly data: 'record' | 'records' | JsonSchema;
  };
  /** @returns the member `data` of the answer */
  run(context: OperationContext<T>, input: OperationInput): unknown;
}
