/** Finds the route table of an application by its HTTP adapter. */
import type { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { ExpressRoutes } from './express-routes.js';
import { FastifyRoutes } from './fastify-routes.js';
import { RouteTable, type HttpAdapter } from './route-table.js';

const tables = new WeakMap<HttpAdapter, RouteTable>();

/**
 * One table for each adapter. The first call must come before Fastify gets its routes.
 *
 * @param adapter none in a standalone microservice or application context
 */
export function routeTableOf(adapter: HttpAdapter | null | undefined, config?: ApplicationConfig): RouteTable {
  if (!adapter) return new RouteTable();
  let table = tables.get(adapter);
  if (!table) {
    const isFastify = adapter.getType() === 'fastify';
    table = isFastify ? new FastifyRoutes(adapter.getInstance()) : new ExpressRoutes(adapter.getInstance(), config);
    tables.set(adapter, table);
  }
  return table;
}

/**
 * Calls back with the adapter: at once, or under @nestjs/testing when the application is created. It never calls back in
 * an application without HTTP.
 */
export function whenAdapterIsReady(host: HttpAdapterHost, use: (adapter: HttpAdapter) => void): void {
  if (host.httpAdapter) use(host.httpAdapter);
  else host.init$.subscribe(() => host.httpAdapter && use(host.httpAdapter));
}
