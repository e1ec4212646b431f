/** What Fastify and middie keep of each context, the root or a plugin's, behind symbols of their own. */
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

function hidden<T>(context: Context, description: string): T | undefined {
  const symbol = Object.getOwnPropertySymbols(context).find((each) => each.description === description);
  return symbol && (context as Record<symbol, T>)[symbol];
}
