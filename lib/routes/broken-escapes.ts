/**
 * Express answers `/api/products/%ff` itself, before any guard or filter, and without CORS headers. On the package's own
 * routes the broken escape is read as text instead, which is not a valid id.
 */
import { pathOf, type HttpRequest } from '../http/request-facts.js';
import type { Application } from './application.js';
import { isOwnRequest } from './declared-route.js';
import { decodePath } from './route.js';

/** Must be called before Nest registers middleware and routes. */
export function readBrokenEscapes({ adapter, routeTable }: Application): void {
  if (adapter?.getType() !== 'express') return;
  adapter.use(((request: { url: string } & HttpRequest, _response: unknown, next: () => void): void => {
    if (request.url.includes('%') && decodePath(pathOf(request)) === undefined && isOwnRequest(request, routeTable))
      request.url = request.url.replace(/^[^?#]*/, (sent) => sent.replaceAll('%', '%25'));
    next();
  }) as never);
}
