/**
 * Whether Fastify alone calls a handler of the package, and calls it as it got it: then it may answer before it comes to an
 * end. A hook or middleware that has called it by `done` or `next`, and whoever has put a function of his own around it,
 * may still give the answer a header, and is waited for.
 */
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { hidden, isMiddie, ownHooks, reader, routeContextReader, type RouteContext } from './fastify-contexts.js';
import { nestsPrototype } from './nests-adapter.js';

interface RouteOptions {
  readonly method: string | readonly string[];
  readonly url: string;
  handler: object;
  /** Of hosts, for example. */
  constraints?: object;
}
interface Root {
  readonly server: Server;
  addHook(name: 'onRoute', hook: (options: RouteOptions) => void): void;
}
interface Adapter {
  getInstance(): Root;
  /** Of `app.setOnRequestHook()`. */
  readonly onRequestHook?: unknown;
}
interface Hooks {
  readonly onRoute?: readonly object[];
  readonly onRequest?: readonly { readonly name: string }[];
}

/** Places of hooks that may be what calls the handler, beside `onRequest`. */
const BEFORE = ['preParsing', 'preValidation', 'preHandler'] as const;

/** Which tools that watch a server put their own before. */
const { emit } = EventEmitter.prototype;

/** To be called before any route exists. */
export function aloneOnFastify(adapter: object): (reply: unknown) => boolean {
  const nest = adapter as Adapter;
  const root = nest.getInstance();
  const hooks = (): Hooks => hidden(root, 'fastify.hooks') ?? {};
  // One that comes before ours may have put something around the handler already.
  if (hooks().onRoute?.length !== 0) return () => false;
  /** By their paths. */
  const given = new Map<string, { readonly options: RouteOptions; readonly handler: object }[]>();
  root.addHook('onRoute', (options) => {
    const { url, handler } = options;
    const ofPath = given.get(url);
    if (ofPath) ofPath.push({ options, handler });
    else given.set(url, [{ options, handler }]);
  });
  /** Whether the handler is still the one that Nest gave. */
  const isAsGiven = ({ config }: RouteContext): boolean =>
    (given.get(config?.url ?? '') ?? [])
      .filter(({ options }) => options.method === config?.method)
      .every(({ options, handler }) => options.handler === handler && isForEverybody(options));

  const isNests = hooksOfNest(nest);
  const isCalledFirst = (context: RouteContext): boolean => {
    const { onRequest = [] } = hooks();
    return (
      isAsGiven(context) &&
      // Those of the route itself come behind the context's.
      (context.onRequest?.length ?? 0) === onRequest.length &&
      onRequest.every((hook) => ownHooks.has(hook) || isMiddie(hook) || isNests(hook)) &&
      BEFORE.every((name) => context[name] === null)
    );
  };
  const contextOf = routeContextReader();
  const hasMiddleware = reader<boolean>('fastify-middie-has-middlewares');
  const known = new WeakMap<RouteContext, boolean>();
  return (reply) => {
    const context = contextOf((reply as { readonly request: object }).request);
    if (!context) return false;
    let isFirst = known.get(context);
    // All hooks are there when there is a request.
    if (isFirst === undefined) known.set(context, (isFirst = isCalledFirst(context)));
    return (
      isFirst &&
      hasMiddleware(root) === false &&
      nest.onRequestHook === undefined &&
      // Node calls them one after the other.
      root.server.listenerCount('request') === 1 &&
      root.server.emit === emit
    );
  };
}

const isForEverybody = ({ constraints = {} }: RouteOptions): boolean => Object.keys(constraints).length === 0;

/**
 * Nest's own hooks, which call `done` last: those that its adapter's class says word for word. They have no names, and
 * stand among those of an application.
 */
function hooksOfNest(adapter: object): (hook: object) => boolean {
  let text: string | undefined;
  const known = new WeakMap<object, boolean>();
  return (hook) => {
    let isNests = known.get(hook);
    if (isNests === undefined) {
      text ??= String(nestsPrototype(adapter)?.constructor);
      known.set(hook, (isNests = text.includes(`'onRequest', ${String(hook)}`)));
    }
    return isNests;
  };
}
