/** Authenticates each request before any guard, and decides on requests that Nest's guards do not see. */
import { pathOf, routedPathOf, type HttpRequest } from '../http/request-facts.js';
import type { Application } from '../routes/application.js';
import type { FastifyInstance } from '../routes/fastify.js';
import { isPlatformRequest } from '../routes/fastify-routes.js';
import type { HttpAdapter } from '../routes/route-table.js';
import type { AccessDecision, Refused } from './security-rules.guard.js';
import type { Access } from './access.js';
import type { CompiledAccess } from './compiled-access.js';

type Middleware = (request: HttpRequest, response: unknown, next: (error?: unknown) => void) => void;

export function installAccessMiddleware({ adapter }: Application, decision: AccessDecision): void {
  if (!adapter) return;
  const enforceOutside = enforce(ofRequestOutside, decision, adapter);
  if (adapter.getType() === 'fastify') {
    const enforceOnRoute = enforce(ofPlatformRoute, decision, adapter);
    adapter.getInstance<FastifyInstance>().addHook('onRequest', (request, reply, done) => {
      const proceed = (): void => {
        if (isPlatformRequest(request)) enforceOnRoute(request, reply, done);
        else done();
      };
      const lookedUp = decision.identify(request);
      if (lookedUp) lookedUp.then(proceed).catch(done);
      else proceed();
    });
    // Middleware that main.ts mounts runs before or after the hook, but after this one.
    adapter.use(enforceOutside as never);
  } else {
    const identifyAndEnforce: Middleware = (request, response, next) => {
      const lookedUp = decision.identify(request);
      if (lookedUp) lookedUp.then(() => enforceOutside(request, response, next)).catch(next);
      else enforceOutside(request, response, next);
    };
    adapter.use(identifyAndEnforce as never);
  }
}

const ofRequestOutside = (compiled: CompiledAccess, request: HttpRequest): Access | undefined =>
  compiled.ofRequestOutside(request.method, routedPathOf(request));
const ofPlatformRoute: typeof ofRequestOutside = (compiled, request) =>
  compiled.ofPathOutside(request.method, pathOf(request));

/** No exception filter runs here: a refusal is sent at once. */
const enforce =
  (find: typeof ofRequestOutside, decision: AccessDecision, adapter: HttpAdapter): Middleware =>
  (request, response, next) => {
    const access = decision.accessTo(find, request, undefined);
    if (!access || access.kind === 'public') return next();
    const answer = (refused: Refused | undefined): void => {
      if (!refused) return next();
      for (const [name, value] of Object.entries(refused.headers)) adapter.setHeader(response, name, value);
      adapter.reply(response, refused.exception.getResponse(), refused.exception.getStatus());
    };
    const refused = decision.refusalOf(request, access);
    if (refused instanceof Promise) refused.then(answer).catch(next);
    else answer(refused);
  };
