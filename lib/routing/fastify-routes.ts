/** The routes that plugins and main.ts give to Fastify itself, past Nest's adapter: static files among them. */
interface ForeignRoute {
  readonly method: string;
  readonly path: string;
  readonly handler: FastifyHandler;
}

type FastifyHandler = (this: unknown, request: unknown, reply: unknown) => unknown;
interface RouteOptions {
  method: string | string[];
  url: string;
  handler: FastifyHandler;
}
interface FastifyInstance {
  readonly supportedMethods: readonly string[];
  addHook(name: 'onRoute', hook: (options: RouteOptions) => void): void;
}

/**
 * @param isNests whether the adapter is registering a route just now
 * @param found is told of every other route, once for each method, and gives the handler to be called instead
 */
export function watchForeignRoutes(
  instance: FastifyInstance,
  isNests: () => boolean,
  found: (route: ForeignRoute) => FastifyHandler,
): void {
  const known = new WeakSet<FastifyHandler>();
  instance.addHook('onRoute', (options) => {
    const { url, handler } = options;
    // The second is the HEAD that Fastify makes of a GET, the third the preflight of its CORS plugin.
    if (isNests() || known.has(handler) || isPreflight(options)) return;
    const methods = [options.method].flat();
    const isAll = instance.supportedMethods.every((method) => methods.includes(method));
    for (const method of isAll ? ['ALL'] : methods) options.handler = found({ method, path: url, handler });
    known.add(options.handler);
  });
}

const isPreflight = ({ method, url }: RouteOptions): boolean => url === '*' && [method].flat().join() === 'OPTIONS';
