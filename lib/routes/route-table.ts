/** The routes of an application: those of its controllers, and all others. Rules, CORS and startup checks share it. */
import type { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { controllerMethods, markControllerMethod } from './controller-methods.js';
import type { Route, ServedRoute } from './route.js';

export type HttpAdapter = HttpAdapterHost['httpAdapter'];

export interface RouterOptions {
  readonly caseSensitive: boolean;
}

/** Each platform has a subclass that reads its router. This class is for an application without HTTP, which has no routes. */
export class RouteTable {
  get routerOptions(): RouterOptions {
    return { caseSensitive: false };
  }

  get routes(): readonly Route[] {
    return [];
  }

  get platformRoutes(): readonly Route[] {
    return this.routes.filter(({ handler }) => handler === undefined);
  }

  /** Paths where a function runs above controllers' routes: middleware, or one that answers requests. Not on Fastify. */
  get mountsAboveRoutes(): readonly string[] {
    return [];
  }

  get controllerRoutes(): readonly Route[] {
    return this.routes.filter(({ handler }) => handler !== undefined);
  }

  /** Must be called in `configure()` of a module, before Nest binds middleware and registers routes. */
  beginRouting(modules: ModulesContainer): void {
    for (const { method } of controllerMethods(modules)) markControllerMethod(method);
  }

  /** Waits for the plugins that main.ts registered, which may add routes. */
  async complete(): Promise<void> {}

  /** Whether a route of any method serves a path. Mounts do not count: they answer OPTIONS themselves. */
  hasRoute(_path: string): boolean {
    return false;
  }

  find(_method: string, _path: string): ServedRoute | undefined {
    return undefined;
  }

  /** Whether a route or mount outside Nest's routes serves a request. Not on Fastify, whose hooks know the route. */
  hasPlatformRoute(_method: string, _path: string): boolean {
    return false;
  }
}
