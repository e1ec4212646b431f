/**
 * The route table of the whole application, as the HTTP adapter was told it: every module's controllers with
 * global prefix and URI version, and what main.ts adds to the adapter. Rules, CORS and boot warnings share it.
 *
 * Nest has no public list of the served routes with their handlers, so the table watches the verb methods (`get`,
 * `post`, …) that register them; test/routes/route-table.spec.ts tells when it breaks.
 */
import { METHODS } from 'node:http';
import type { HttpAdapterHost } from '@nestjs/core';
import { DirectBinding, placeLayer } from './direct-middleware.js';
import { DirectHandlers } from './direct-handler.js';
import { watchLayers } from './express-layers.js';
import { ExpressMatching } from './express-matching.js';
import { aloneOnFastify } from './fastify-alone.js';
import { FastifyMiddleware } from './fastify-middleware.js';
import { watchForeignRoutes, watchMiddleware } from './fastify-routes.js';
import { Mounts, type MountedPath } from './mounts.js';
import { observe, type AnyFunction } from './observed-method.js';
import { answers, isDirectAt, paramsOnFastify, routeOnFastify, type FindsRoutes } from './fastify-template.js';
import type { HttpRequest } from '../http/request-facts.js';
import { readingOf, type RouterReading } from './router-reading.js';
import { RouteCollisions } from './route-collision.js';
import { RegisteredRoute, type Route, type ServedRoute } from './route.js';
import { ServedPaths } from './served-paths.js';

type Adapter = HttpAdapterHost['httpAdapter'];

interface FastifyRouter extends FindsRoutes {
  hasRequestDecorator(name: string): boolean;
  after(): PromiseLike<unknown>;
  addHook(name: 'onReady', hook: (done: () => void) => void): void;
}

type Express = { router: { stack: readonly { name: string }[] } };
type RouteArguments = [path: string, handler: AnyFunction, ...further: unknown[]];

/** As Nest and most of main.ts register one; what else the router takes is seen by the router's watch. */
const isRoute = (args: unknown[]): args is RouteArguments =>
  typeof args[0] === 'string' && typeof args[1] === 'function';

const VERBS = ['all', ...METHODS.map((method) => method.toLowerCase())];

export class RouteTable {
  private static readonly tables = new WeakMap<object, RouteTable>();

  readonly routes: Route[] = [];
  /** Paths that middleware was bound to with `consumer.apply(…).forRoutes(…)`. */
  readonly middlewarePaths: string[] = [];

  /** Asked before the handlers outside Nest's routes; `enter` runs the handler. */
  outsideGate?: (request: HttpRequest, response: unknown, enter: () => unknown, at?: MountedPath) => unknown;

  readonly direct: DirectBinding;
  private readonly collisions = new RouteCollisions(() => this.reading.caseSensitive);
  private readonly versions: unknown[] = [];
  private readonly mounts = new Mounts(this);
  /** Whether Nest's adapter is registering something just now. */
  private isNests = false;
  private routing = false;
  /** Whether nobody has anything left to do behind a handler that has this response. */
  readonly isAlone: (response: unknown) => boolean;
  private readonly beforeRouting: (() => void)[] = [];
  private readonly onExpress = new ExpressMatching(this.routes, () => this.reading);
  private readonly served = new ServedPaths(this.routes, (...asked) => this.hasRouteFor(...asked));

  /** One table for each adapter, so that two applications in one process never mix. */
  static of(adapter: Adapter): RouteTable {
    let table = RouteTable.tables.get(adapter);
    if (!table) RouteTable.tables.set(adapter, (table = new RouteTable(adapter)));
    return table;
  }

  /** Watches as soon as there is an adapter: under `@nestjs/testing` that is after the providers were made. */
  static watch(host: HttpAdapterHost, then: (table: RouteTable) => void = () => {}): void {
    if (host.httpAdapter) then(RouteTable.of(host.httpAdapter));
    else host.init$.subscribe(() => then(RouteTable.of(host.httpAdapter)));
  }

  private constructor(private readonly adapter: Adapter) {
    const isFastify = adapter.getType() === 'fastify';
    this.isAlone = isFastify ? aloneOnFastify(adapter) : () => false;
    // Express's own methods, which the adapter calls: main.ts may call them, too.
    for (const verb of VERBS)
      observe(isFastify ? adapter : adapter.getInstance(), verb, (call, args) =>
        this.isNests || !isRoute(args) ? call(args) : this.byNest(() => call(this.add(verb.toUpperCase(), args))),
      );
    for (const name of ['setNotFoundHandler', 'setErrorHandler'])
      observe(adapter, name, (call, args) => this.byNest(() => call(args)));
    const nests = { isRegistering: () => this.isNests, registering: <T>(register: () => T) => this.byNest(register) };
    if (isFastify) {
      watchForeignRoutes(adapter.getInstance(), nests.isRegistering, {
        found: ({ method, path, handler }) => this.routes.push(new RegisteredRoute(method, path, handler, true)),
        gate: (request, reply, enter) => this.ask(request, reply, enter),
      });
      watchMiddleware(adapter, this.mounts, nests);
    } else watchLayers(adapter, this.mounts, nests);
    this.direct = new DirectBinding(
      adapter,
      isFastify
        ? new FastifyMiddleware(adapter as never, nests.registering, (...route) => isDirectAt(this.routes, ...route))
            .place
        : placeLayer,
    );
    this.observeMiddleware();
  }

  /** Calls back when Nest begins to bind middleware and routes: behind the body parser, before all of them. */
  onRouting(callback: () => void): void {
    if (this.routing) callback();
    else this.beforeRouting.push(callback);
  }

  /** In an `onRoute` hook of Fastify, where the adapter may have wrapped the handler: the route that Nest registers. */
  registering(url: string): Route | undefined {
    const last = this.routes.at(-1);
    return last?.path === url ? last : undefined;
  }

  /** Whether the application has a route, of any method, for this path. */
  serves(path: string): boolean {
    return this.served.has(path);
  }

  /** What serves requests beside Nest's routes, before which no guard runs. */
  get outsiders(): Route[] {
    return [...this.routes.filter(({ outside }) => outside), ...this.mounts.serving];
  }

  /** When the plugins that main.ts has given to Fastify have added their routes. */
  async complete(): Promise<void> {
    if (this.adapter.getType() === 'fastify') await this.adapter.getInstance<FastifyRouter>().after();
  }

  /** The route that Express will choose for this request; the first that matches, in order of registration. */
  find(method: string, path: string): Route | undefined {
    return this.onExpress.matching(path).find((route) => answers(route, method));
  }

  /** The route that either platform will choose for this request, with its parameters as the handler will see them. */
  servedBy(method: string, path: string): ServedRoute | undefined {
    if (this.adapter.getType() === 'fastify') {
      const params = this.askFastify(method, path);
      const route = params && routeOnFastify(this.routes, { method, path, params });
      return route ? { route, params } : this.mounts.servedBy(method, path);
    }
    const route = this.find(method, path);
    if (!route) return this.mounts.servedBy(method, path);
    return { route, params: this.onExpress.paramsOf(route, path) };
  }

  /** What is mounted does not count. */
  hasRouteFor(method: string, path: string): boolean {
    const found = this.adapter.getType() === 'fastify' ? this.askFastify(method, path) : this.find(method, path);
    return found !== undefined;
  }

  get reading(): RouterReading {
    return readingOf(this.adapter);
  }

  /** Calls back at boot when `app.enableCors()` was called, in whatever way: the plugin of Fastify is loaded last of all. */
  onPlatformCors(callback: () => void): void {
    if (this.adapter.getType() === 'fastify') {
      const instance = this.adapter.getInstance<FastifyRouter>();
      instance.addHook('onReady', (done) => {
        if (instance.hasRequestDecorator('corsPreflightEnabled')) callback();
        done();
      });
    } else if (this.adapter.getInstance<Express>().router.stack.some(({ name }) => name === 'corsMiddleware'))
      callback();
  }

  /** @returns the arguments with which the route is to be registered */
  private add(method: string, [path, handler, ...further]: RouteArguments): unknown[] {
    // Nest copies metadata onto every handler; what main.ts adds to the adapter has none, and may come before the parser.
    const outside = !Reflect.hasOwnMetadata('path', handler);
    if (!outside) this.beginRouting();
    const own = DirectHandlers.routeOf(this.adapter.getInstance(), handler, this.isAlone);
    const route = new RegisteredRoute(method, path === '' ? '/' : path, handler, outside, own);
    this.routes.push(route);
    this.collisions.add(route);
    if ('version' in handler) this.versions.push(...[handler.version].flat());
    return [path, outside ? this.gated(handler) : (own?.run ?? handler), ...further];
  }

  private gated(handler: AnyFunction): AnyFunction {
    return (...args) => this.ask(args[0], args[1], () => handler(...args));
  }

  private ask(request: unknown, response: unknown, enter: () => unknown): unknown {
    return this.outsideGate ? this.outsideGate(request as HttpRequest, response, enter) : enter();
  }

  private beginRouting(): void {
    this.routing = true;
    for (const callback of this.beforeRouting.splice(0)) callback();
  }

  /** The parameters of the route that its router finds; it tells no template. */
  private askFastify(method: string, path: string): ServedRoute['params'] | undefined {
    return paramsOnFastify(this.adapter.getInstance<FastifyRouter>(), { method, path, versions: this.versions });
  }

  private observeMiddleware(): void {
    observe(this.adapter, 'createMiddlewareFactory', async (call, args) => {
      this.beginRouting();
      const bind = (await call(args)) as AnyFunction;
      return (path: string, callback: unknown): unknown => {
        this.middlewarePaths.push(path);
        return this.byNest(() => bind(path, callback));
      };
    });
  }

  private byNest<T>(register: () => T): T {
    const before = this.isNests;
    this.isNests = true;
    try {
      return register();
    } finally {
      this.isNests = before;
    }
  }
}
