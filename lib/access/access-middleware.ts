/** Authenticates each request before any guard, and decides on requests that Nest's guards do not see. */
import { NotFoundException } from '@nestjs/common';
import { pathOf, targetOf, type HttpRequest } from '../http/http-request.js';
import type { Application } from '../routes/application.js';
import { isPlatformRequest, type FastifyInstance } from '../routes/fastify-routes.js';
import type { AccessDecision, Refused } from './security-rules.guard.js';
import type { Access } from './decide.js';
import type { CompiledAccess } from './compiled-access.js';

type Next = (error?: unknown) => void;
type Middleware = (request: HttpRequest, response: unknown, next: Next) => void;

export function installAccessMiddleware(application: Application, decision: AccessDecision): void {
  const { adapter } = application;
  if (!adapter) return;
  const identify = (request: HttpRequest, proceed: () => void, fail: Next): void => {
    const lookedUp = decision.identify(request);
    if (lookedUp) lookedUp.then(proceed).catch(fail);
    else proceed();
  };
  const enforceOutside = enforce(application, decision, (compiled, request) =>
    // Express's router compares `path`: it reads `/docs\x#` as `/docs/x`.
    compiled.ofRequestOutside(request.method, request.path ?? pathOf(request)),
  );
  if (adapter.getType() !== 'fastify') {
    const identifyAndEnforce: Middleware = (request, response, next) =>
      identify(request, () => enforceOutside(request, response, next), next);
    adapter.use(identifyAndEnforce as never);
    application.routeTable.markFirstMiddleware();
    return;
  }
  const enforceOnRoute = enforce(application, decision, (compiled, request) =>
    compiled.ofPathOutside(request.method, pathOf(request)),
  );
  adapter.getInstance<FastifyInstance>().addHook('onRequest', (request, reply, done) => {
    identify(request, () => (isPlatformRequest(request) ? enforceOnRoute(request, reply, done) : done()), done);
  });
  // Fastify does not tell where middleware is mounted: a refusal is the answer to an unknown path.
  const hideUnknown = enforce(
    application,
    decision,
    (compiled, request) => compiled.ofUnknown(request.method, pathOf(request)),
    (request, fail) => fail(new NotFoundException(`Cannot ${request.method} ${targetOf(request)}`)),
  );
  const enforceOutsideRoutes: Middleware = (request, response, next) =>
    enforceOutside(request, response, () => hideUnknown(request, response, next));
  // Middleware that main.ts mounts runs before or after the hook, but after this one.
  adapter.use(enforceOutsideRoutes as never);
}

/** No exception filter runs here: a refusal is sent at once. */
function enforce(
  application: Application,
  decision: AccessDecision,
  find: (compiled: CompiledAccess, request: HttpRequest) => Access | undefined,
  refuseAs?: (request: HttpRequest, fail: Next) => void,
): Middleware {
  return (request, response, next) => {
    const access = decision.accessTo((compiled) => find(compiled, request));
    if (!access) return next();
    const answer = (refused: Refused | undefined): void => {
      if (!refused && decision.probes?.stops(request))
        return application.answer(request, response, { status: 403, body: '', headers: {} });
      if (!refused) return next();
      if (refuseAs) return refuseAs(request, next);
      const { exception, headers } = refused;
      application.answer(request, response, { status: exception.getStatus(), body: exception.getResponse(), headers });
    };
    const refused = access.kind === 'public' ? undefined : decision.refusalOf(request, access);
    if (refused instanceof Promise) refused.then(answer).catch(next);
    else answer(refused);
  };
}
