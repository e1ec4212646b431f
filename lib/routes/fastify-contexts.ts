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

export const isMiddie = (hook: { readonly name: string } | undefined): boolean => hook?.name === 'runMiddie';

/** Whether nothing runs between middie and this hook. */
export function isBehindMiddie(context: Context, hook: object): boolean {
  const { onRequest = [] } = hidden<{ onRequest: { name: string }[] }>(context, 'fastify.hooks') ?? {};
  return onRequest.some((each, index) => each === hook && isMiddie(onRequest[index - 1]));
}

/** What is kept of one route, hooks by the names of their places. */
export interface RouteContext extends Readonly<Partial<Record<(typeof BEHIND)[number], unknown>>> {
  readonly config?: { readonly method: string | readonly string[]; readonly url?: string };
  readonly server: object;
  readonly onRequest: readonly object[] | null;
}

/** Places of hooks behind `onRequest`, until the answer is sent. */
const BEHIND = [
  'preParsing',
  'preValidation',
  'preHandler',
  'preSerialization',
  'onSend',
  'onError',
  'onTimeout',
  'onRequestAbort',
] as const;

/** The package's own hooks, which have nothing left to do when they have called `done`. */
export const ownHooks = new WeakSet<object>();

/** Whether nobody's hook runs between this one and the answer of the route. */
export function isLastHook({ server, ...places }: RouteContext, hook: object): boolean {
  const { onRequest = [] } = hidden<{ onRequest: object[] }>(server, 'fastify.hooks') ?? {};
  const place = onRequest.indexOf(hook);
  return (
    place !== -1 &&
    onRequest.slice(place + 1).every((each) => ownHooks.has(each)) &&
    // Those of the route itself come behind the context's.
    places.onRequest?.length === onRequest.length &&
    hasNothingBehind(places)
  );
}

/** Whether no hook of the route runs between `onRequest` and the end of its answer. */
export const hasNothingBehind = (places: Partial<RouteContext>): boolean =>
  BEHIND.every((name) => places[name] === null);

/** Of a request: the context of its route. */
export const routeContextReader = (): ((request: object) => RouteContext | undefined) => reader('fastify.context');

/** Of many objects of one kind: the symbol is looked for once. */
export function reader<T>(description: string): (holder: object) => T | undefined {
  let symbol: symbol | undefined;
  return (holder) => {
    symbol ??= Object.getOwnPropertySymbols(holder).find((each) => each.description === description);
    return symbol && (holder as Record<symbol, T>)[symbol];
  };
}

export const hidden = <T>(holder: object, description: string): T | undefined => reader<T>(description)(holder);
