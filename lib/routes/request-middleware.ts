/** What runs before the routes: the context of the request for the code that it runs, and paths that Express cannot read. */
import type { HttpServer } from '@nestjs/common';
import { decodePath, pathOf, type HttpRequest } from '../http/http-request.js';
import { contexts } from '../http/request-context.js';
import type { Application } from './application.js';
import { isOwnRequest } from './declared-route.js';
import type { FastifyInstance } from './fastify-routes.js';

type Next = () => void;

const enter = (request: HttpRequest, next: Next): void => contexts.run({ request }, next);

/** Must be called before the routes are registered. */
export function installRequestContext({ adapter }: Application): void {
  if (adapter?.getType() !== 'fastify') {
    const middleware = (request: HttpRequest, _response: unknown, next: Next): void => enter(request, next);
    (adapter as HttpServer | undefined)?.use(middleware as never);
    return;
  }
  const instance = adapter.getInstance<FastifyInstance>();
  instance.addHook('onRequest', (request, _reply, done) => enter(request, done));
  // Fastify reads the body in the context of the connection.
  instance.addHook('preValidation', (request, _reply, done) =>
    contexts.getStore()?.request === request ? done() : enter(request, done),
  );
}

/**
 * Express answers `/api/products/%ff` itself, before any guard or filter. On the package's own routes the broken escape is
 * read as text, which is not a valid id. Must be called before Nest registers middleware and routes.
 */
export function readBrokenEscapes({ adapter, routeTable }: Application): void {
  if (adapter?.getType() !== 'express') return;
  adapter.use(((request: { url: string } & HttpRequest, _response: unknown, next: () => void): void => {
    if (request.url.includes('%') && decodePath(pathOf(request)) === undefined && isOwnRequest(request, routeTable))
      request.url = request.url.replace(/^[^?#]*/, (sent) => sent.replaceAll('%', '%25'));
    next();
  }) as never);
}
