/** What plugins and main.ts give to Fastify itself, past Nest's routes: static files among them. */
import { observe } from './observed-method.js';
import type { Handler, MountRequest, Mounts } from './mounts.js';

interface ForeignRoute {
  readonly method: string;
  readonly path: string;
  readonly handler: object;
}

type Gate = (request: unknown, reply: unknown, enter: () => unknown) => unknown;
type Hook = (request: unknown, reply: unknown, done: (error?: unknown) => void) => void;
interface RouteOptions {
  readonly method: string | string[];
  readonly url: string;
  readonly handler: object;
  preValidation?: Hook | Hook[];
}
interface FastifyInstance {
  readonly supportedMethods: readonly string[];
  addHook(name: 'onRoute', hook: (options: RouteOptions) => void): void;
}

/**
 * @param isNests whether the adapter is registering a route just now
 * @param found is told of every other route, once for each method
 * @param gate asked before each
 */
export function watchForeignRoutes(
  instance: FastifyInstance,
  isNests: () => boolean,
  { found, gate }: { readonly found: (route: ForeignRoute) => void; readonly gate: Gate },
): void {
  // Behind the body, which a policy may look at; before what the route itself has that could answer.
  const hook: Hook = (request, reply, done) => {
    const ask = async (): Promise<unknown> => gate(request, reply, () => done());
    ask().catch(done);
  };
  instance.addHook('onRoute', (options) => {
    const { url, handler, preValidation = [] } = options;
    // The second is the preflight of Fastify's CORS plugin.
    if (isNests() || isPreflight(options)) return;
    const methods = [options.method].flat();
    const isAll = instance.supportedMethods.every((method) => methods.includes(method));
    for (const method of isAll ? ['ALL'] : methods) found({ method, path: url, handler });
    options.preValidation = [hook, ...[preValidation].flat()];
  });
}

const isPreflight = ({ method, url }: RouteOptions): boolean => url === '*' && [method].flat().join() === 'OPTIONS';

interface FastifyAdapter {
  getInstance(): { readonly use?: unknown };
}

/** What `app.use` mounts on Fastify, which is called with node's own request and response. */
export function watchMiddleware(
  adapter: object,
  mounts: Mounts,
  nests: { readonly isRegistering: () => boolean; readonly registering: <T>(register: () => T) => T },
): void {
  const watch = (target: object): void =>
    observe(target, 'use', (call, args) =>
      nests.isRegistering() ? call(args) : nests.registering(() => call(guarded(args, mounts))),
    );
  watch(adapter);
  // Fastify's instance has the method as soon as Nest has given it the plugin.
  const instance = (adapter as FastifyAdapter).getInstance();
  if (instance.use) watch(instance);
  else
    observe(adapter, 'init', async (call, args) => {
      await nests.registering(() => call(args));
      watch(instance);
    });
}

function guarded([first, ...rest]: readonly unknown[], mounts: Mounts): unknown[] {
  const [path, given] = typeof first === 'function' ? ['/', [first, ...rest]] : [first, rest];
  const handlers = given.flat(Infinity).map((handler) => {
    const gate = typeof handler === 'function' ? mounts.add({ path, handler: handler as Handler }) : undefined;
    if (!gate) return handler;
    return (request: MountRequest, response: unknown, next: () => unknown): unknown =>
      gate(
        request,
        response,
        () => (handler as Handler)(request, response, next),
        () => next(),
      );
  });
  if (typeof first === 'function') return handlers;
  // It takes one path, and one function or a list of them.
  return [first, handlers.length === 1 ? handlers[0] : handlers];
}
