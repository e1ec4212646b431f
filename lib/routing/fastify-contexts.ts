/** What Fastify and middie keep of each context (the root, a plugin's, a route's) behind symbols of their own. */
import type { AnyFunction } from './observed-method.js';

export interface Context {
  /** Of middie; a context that was made before it shares the root's. */
  use?: AnyFunction;
}

/** The root first. */
export function contextsOf(root: Context): Context[] {
  return [root, ...(hidden<Context[]>(root, 'fastify.children') ?? []).flatMap(contextsOf)];
}

/** Whether middie is there and has nothing to run, in no context. */
export function isMiddieEmpty(root: Context): boolean {
  const [, ...contexts] = contextsOf(root);
  return (
    hidden<unknown[]>(root, 'fastify-middie-middlewares')?.length === 0 &&
    !contexts.some((context) => Object.hasOwn(context, 'use'))
  );
}

/** Whether nothing runs between middie and this hook. */
export function isBehindMiddie(context: Context, hook: object): boolean {
  const { onRequest = [] } = hidden<{ onRequest: { name: string }[] }>(context, 'fastify.hooks') ?? {};
  return onRequest.some((each, index) => each === hook && onRequest[index - 1]?.name === 'runMiddie');
}

/** What is kept of one route. */
export interface RouteContext {
  readonly preSerialization?: unknown;
  readonly config?: { readonly method: string | readonly string[]; readonly url?: string };
}

/** Of a request: the context of its route. */
export const routeContextReader = (): ((request: object) => RouteContext | undefined) => reader('fastify.context');

/** Of many objects of one kind: the symbol is looked for once. */
export function reader<T>(description: string): (holder: object) => T | undefined {
  let symbol: symbol | undefined;
  return (holder) => {
    symbol ??= symbolOf(holder, description);
    return symbol && (holder as Record<symbol, T>)[symbol];
  };
}

const symbolOf = (holder: object, description: string): symbol | undefined =>
  Object.getOwnPropertySymbols(holder).find((each) => each.description === description);

function hidden<T>(holder: object, description: string): T | undefined {
  const symbol = symbolOf(holder, description);
  return symbol && (holder as Record<symbol, T>)[symbol];
}
