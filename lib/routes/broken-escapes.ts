/**
 * Express answers `/api/products/%ff` itself, before any guard or filter, and without CORS headers. On the package's own
 * routes the broken escape is read as literal text instead. The text is then no valid id, and the answer has the
 * package's shape.
 */
import { pathOf, type HttpRequest } from '../http/request-facts.js';
import { declaredRoute } from './declared-route.js';
import type { HttpAdapter } from './route-table.js';
import { routeTableOf } from './route-tables.js';

const installed = new WeakSet<HttpAdapter>();

/** To be called before Nest registers middleware and routes. */
export function readBrokenEscapes(adapter: HttpAdapter): void {
  if (installed.has(adapter) || adapter.getType() !== 'express') return;
  installed.add(adapter);
  const table = routeTableOf(adapter);
  adapter.use(((request: { url: string } & HttpRequest, _response: unknown, next: () => void): void => {
    if (request.url.includes('%') && isBroken(pathOf(request))) {
      const found = table.find(request.method, pathOf(request));
      if (found && declaredRoute(found.route.handler)) request.url = escapePercentSigns(request.url);
    }
    next();
  }) as never);
}

function isBroken(path: string): boolean {
  try {
    decodeURIComponent(path);
    return false;
  } catch {
    return true;
  }
}

function escapePercentSigns(url: string): string {
  const end = url.search(/[?#]/);
  const [path, rest] = end < 0 ? [url, ''] : [url.slice(0, end), url.slice(end)];
  return path.replaceAll('%', '%25') + rest;
}
