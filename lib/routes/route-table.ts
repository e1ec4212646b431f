/** The routes of an application, as the router of its platform has them. */
import type { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { controllerMethods, markControllerMethod } from './controller-methods.js';
import type { Route, ServedRoute } from './route.js';

export type HttpAdapter = HttpAdapterHost['httpAdapter'];

export abstract class RouteTable {
  abstract readonly isCaseSensitive: boolean;
  abstract readonly routes: readonly Route[];

  get controllerRoutes(): readonly Route[] {
    return this.routes.filter(({ handler }) => handler !== undefined);
  }

  get platformRoutes(): readonly Route[] {
    return this.routes.filter(({ handler }) => handler === undefined);
  }

  /** Paths where a function runs above controllers' routes: middleware, or one that answers requests. Not on Fastify. */
  get mountsAboveRoutes(): readonly string[] {
    return [];
  }

  /** The most characters of a path parameter, decoded. */
  get maxParameterLength(): number {
    return Infinity;
  }

  /** Must be called when the package's first middleware has been added. */
  markFirstMiddleware(): void {}

  /** Routes and mounts that answer before the package's first middleware runs. Not on Fastify, whose hooks run for each. */
  get routesInFront(): readonly Route[] {
    return [];
  }

  /** Must be called in `configure()` of a module, before Nest binds middleware and registers routes. */
  beginRouting(modules: ModulesContainer): void {
    for (const { method } of controllerMethods(modules)) markControllerMethod(method);
  }

  /** Waits for the plugins that main.ts registered, which may add routes. */
  async complete(): Promise<void> {}

  /** Whether a route of any method serves a path. Mounts do not count: they answer OPTIONS themselves. */
  abstract hasRoute(path: string): boolean;

  abstract find(method: string, path: string): ServedRoute | undefined;

  /** Whether a route or mount outside Nest's routes serves a request. Not on Fastify, whose hooks know the route. */
  hasPlatformRoute(_method: string, _path: string): boolean {
    return false;
  }

  /** Whether no route serves a request, which middleware may answer. Not on Express, whose mounts are platform routes. */
  isUnknown(_method: string, _path: string): boolean {
    return false;
  }
}
