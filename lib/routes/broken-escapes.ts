/**
 * Express answers `/api/products/%ff` itself, before any guard or filter, and without CORS headers. On the package's own
 * routes the broken escape is read as literal text instead. The text is then no valid id, and the answer has the
 * package's shape.
 */
import { pathOf, type HttpRequest } from '../http/request-facts.js';
import { declaredRoute } from './declared-route.js';
import { decodePath } from './route.js';
import type { HttpAdapter } from './route-table.js';
import { routeTableOf } from './route-tables.js';

const installed = new WeakSet<HttpAdapter>();

/** To be called before Nest registers middleware and routes. */
export function readBrokenEscapes(adapter: HttpAdapter): void {
  if (installed.has(adapter) || adapter.getType() !== 'express') return;
  installed.add(adapter);
  const table = routeTableOf(adapter);
  adapter.use(((request: { url: string } & HttpRequest, _response: unknown, next: () => void): void => {
    const path = pathOf(request);
    if (decodePath(path) === undefined && declaredRoute(table.find(request.method, path)?.route.handler))
      request.url = request.url.replace(/^[^?#]*/, (sent) => sent.replaceAll('%', '%25'));
    next();
  }) as never);
}
