/** The routes of an application: those of its controllers, and those beside them. Rules, CORS and startup checks share it. */
import type { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { markControllerMethods } from './controller-methods.js';
import { ExpressRoutes } from './express-routes.js';
import { FastifyRoutes } from './fastify-routes.js';
import type { Route, RouteReader, ServedRoute } from './route.js';
import { readingOf, type RouterReading } from './router-reading.js';

export type HttpAdapter = HttpAdapterHost['httpAdapter'];

const NO_ROUTES: RouteReader = {
  routes: [],
  beginRouting: () => {},
  hasRoute: () => false,
  find: () => undefined,
  findPlatformRoute: () => undefined,
};

export class RouteTable {
  private static readonly tables = new WeakMap<HttpAdapter, RouteTable>();

  private readonly reader: RouteReader;

  /** One table for each adapter. The first call must come before Fastify gets its routes. */
  static of(adapter: HttpAdapter | null | undefined, config?: ApplicationConfig): RouteTable {
    // A standalone microservice or application context has neither an adapter nor routes.
    if (!adapter) return new RouteTable(undefined, config);
    let table = RouteTable.tables.get(adapter);
    if (!table) RouteTable.tables.set(adapter, (table = new RouteTable(adapter, config)));
    return table;
  }

  private constructor(
    private readonly adapter: HttpAdapter | undefined,
    config: ApplicationConfig | undefined,
  ) {
    if (!adapter) this.reader = NO_ROUTES;
    else if (adapter.getType() === 'fastify') this.reader = new FastifyRoutes(adapter.getInstance());
    else this.reader = new ExpressRoutes(adapter.getInstance(), config);
  }

  /** To be called in `configure()` of a module, before Nest registers routes. */
  beginRouting(modules: ModulesContainer): void {
    markControllerMethods(modules);
    this.reader.beginRouting();
  }

  get routes(): readonly Route[] {
    return this.reader.routes;
  }

  /** Routes and mounts outside Nest's routes, where no guard runs. */
  get platformRoutes(): readonly Route[] {
    return this.routes.filter(({ handler }) => handler === undefined);
  }

  get controllerRoutes(): readonly Route[] {
    return this.routes.filter(({ handler }) => handler !== undefined);
  }

  hasRoute(path: string): boolean {
    return this.reader.hasRoute(path);
  }

  find(method: string, path: string): ServedRoute | undefined {
    return this.reader.find(method, path);
  }

  findPlatformRoute(method: string, path: string): ServedRoute | undefined {
    return this.reader.findPlatformRoute(method, path);
  }

  get reading(): RouterReading {
    return this.adapter ? readingOf(this.adapter) : { caseSensitive: false, ignoreTrailingSlash: true };
  }

  /** Waits for the plugins that main.ts registered with Fastify, which may add routes. */
  async complete(): Promise<void> {
    if (this.adapter?.getType() === 'fastify')
      await this.adapter.getInstance<{ after(): PromiseLike<unknown> }>().after();
  }
}

/**
 * Calls back with the adapter: at once, or under @nestjs/testing when the application is created. It never calls back in
 * an application without HTTP.
 */
export function whenAdapterIsReady(host: HttpAdapterHost, use: (adapter: HttpAdapter) => void): void {
  const useAdapter = (): void => {
    if (host.httpAdapter) use(host.httpAdapter);
  };
  if (host.httpAdapter) useAdapter();
  else host.init$.subscribe(useAdapter);
}
