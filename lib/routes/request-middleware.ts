/** Makes each request the context of the code that it runs, so that operations called anywhere have its caller. */
import type { HttpServer } from '@nestjs/common';
import type { HttpRequest } from '../http/http-request.js';
import { contexts } from '../http/request-context.js';
import type { Application } from './application.js';
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
