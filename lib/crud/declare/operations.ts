/** What options, rules and startup checks know of an operation. What it does and how a document describes it are in `operations/`. */
import type { HttpStatus } from '@nestjs/common';
import type { GeneratedController } from './generated-controller.js';
import type { GeneratedHooks } from './generated-hooks.js';

export type OperationName = Exclude<keyof GeneratedController<object>, keyof GeneratedHooks<object>>;
export const CREATIONS: readonly OperationName[] = ['create', 'createMany', 'import'];

interface Route {
  readonly verb: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A path below that of the controller. */
  readonly path: string;
  /** The status code, if it differs from that of Nest for the verb. */
  readonly status?: HttpStatus;
  /** The parameters of the method. */
  readonly takes: readonly ('id' | 'query' | 'body' | 'patch')[];
}

export interface OperationDeclaration {
  /** The name of the method, which a subclass can override. */
  readonly name: string;
  readonly route: Route;
  /** The option without which the operation does not exist. */
  readonly enabledBy?: string;
  /** Whether it may be sent with an `Idempotency-Key`. */
  readonly isRepeatable?: true;
  /** Where `If-Match` counts: it names the version of one record. No version names a batch, which only `*` matches. */
  readonly ifMatch?: 'version' | 'any';
  /** Whether a GET reads the request itself, or answers more than a body. */
  readonly needsRequest?: 'always' | 'with a version' | 'with a total';
  /** The operation that does the same: its override does not run for this one, and its rule does not cover this one. */
  readonly copyOf?: string;
  /** The query parameters of an operation of the application. */
  readonly parameterNames?: readonly string[];
  /** The operation that this one undoes: whoever may not do that one should not do this one. */
  readonly undoes?: string;
}

/** An operation of the package. */
export type StandardOperation = OperationDeclaration & { readonly name: OperationName };

/** The option that an operation needs and that is not set. */
export function missingOption({ enabledBy }: OperationDeclaration, options: object): string | undefined {
  const value = enabledBy === undefined || (options as Readonly<Record<string, unknown>>)[enabledBy];
  return value === true || (Array.isArray(value) && value.length > 0) ? undefined : enabledBy;
}

/** Whether its path has no parameter. */
export const isFixed = ({ route }: OperationDeclaration): boolean => !route.path.includes(':id');

/** Whether an operation only reads, and needs no key. */
export const isKeyless = (each: OperationDeclaration): boolean => each.route.verb === 'GET' && isFixed(each);
