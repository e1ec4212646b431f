/**
 * Express answers `/api/products/%ff` in its own words, before any guard, filter or CORS header. On the package's own
 * routes a broken escape is read as the text it is instead, which is then no valid id: one shape for every refusal.
 */
import type { HttpAdapterHost } from '@nestjs/core';
import { declaredRoute } from '../routes/declared-route.js';
import { ownLayers } from '../routes/direct-middleware.js';
import { RouteTable } from '../routes/route-table.js';
import { pathOf, type HttpRequest } from './request-facts.js';

type Next = () => void;

/** To be called from the constructor of a provider, before any route exists. */
export function readBrokenEscapes(host: HttpAdapterHost): void {
  RouteTable.watch(host, (table) => {
    const adapter = host.httpAdapter;
    if (installed.has(table) || adapter.getType() !== 'express') return;
    installed.add(table);
    const layer = (request: { url: string } & HttpRequest, _response: unknown, next: Next): void => {
      if (request.url.includes('%') && isBroken(pathOf(request)) && isOwn(table, request))
        request.url = literal(request.url);
      next();
    };
    ownLayers.add(layer);
    table.onRouting(() => adapter.use(layer));
  });
}

const installed = new WeakSet<RouteTable>();

const isOwn = (table: RouteTable, request: HttpRequest): boolean => {
  const route = table.find(request.method, pathOf(request));
  return route !== undefined && declaredRoute(route.handler) !== undefined;
};

function isBroken(path: string): boolean {
  try {
    decodeURIComponent(path);
    return false;
  } catch {
    return true;
  }
}

/** Every `%` of the path stands for itself. */
function literal(url: string): string {
  const end = url.search(/[?#]/);
  const [path, rest] = end < 0 ? [url, ''] : [url.slice(0, end), url.slice(end)];
  return path.replaceAll('%', '%25') + rest;
}
