import { Injectable } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { setRoleHierarchy } from '../http/principal.js';
import { probeOf, stopsProbe } from '../http/probe.js';
import { pathOf, routedPathOf, type HttpRequest } from '../http/request-facts.js';
import { isPlatformRequest, type RoutedRequest } from '../routes/fastify-routes.js';
import type { HttpAdapter } from '../routes/route-table.js';
import { routeTableOf, whenAdapterIsReady } from '../routes/route-tables.js';
import { AccessDecision } from './access-decision.js';
import { AccessRules } from './access-rules.js';
import { PUBLIC, type Access } from './access.js';
import type { CompiledAccess } from './compiled-access.js';
import { authenticate, authenticationOf, Authenticator } from './principal.js';

type Next = (error?: unknown) => void;
type FastifyRequest = HttpRequest & RoutedRequest;
interface FastifyInstance {
  addHook(name: 'onRequest', hook: (request: FastifyRequest, reply: unknown, done: Next) => void): void;
}

/**
 * The first middleware of the application (on Fastify also an `onRequest` hook). It authenticates each request, so that
 * `request.user` is set before any guard, and decides on requests that Nest's guards do not see.
 */
@Injectable()
export class AccessMiddleware {
  private static readonly installed = new WeakSet<HttpAdapter>();

  constructor(
    host: HttpAdapterHost,
    private readonly config: ApplicationConfig,
    private readonly rules: AccessRules,
    private readonly decision: AccessDecision,
    private readonly authenticator: Authenticator,
  ) {
    whenAdapterIsReady(host, (adapter) => this.install(adapter));
  }

  /** Called again in `configure()`: a testing module that is compiled twice gets its second adapter after the constructor. */
  install(adapter: HttpAdapter): void {
    if (AccessMiddleware.installed.has(adapter)) return;
    AccessMiddleware.installed.add(adapter);
    // Fastify reports only routes that are added from here on.
    routeTableOf(adapter, this.config);
    const isFastify = adapter.getType() === 'fastify';
    if (isFastify) this.addFastifyHook(adapter);
    // On Fastify, middleware that main.ts mounts runs before or after the hook, but after this one.
    const decideOutside = (request: HttpRequest, response: unknown, next: Next): void => {
      if (!isFastify) this.identify(request);
      const enter: Next = (error) =>
        error === undefined && probeOf(request) ? this.stopProbe(adapter, request, response, next) : next(error);
      this.enforce(adapter, request, response, enter, (compiled) =>
        compiled.ofRequestOutside(request.method, routedPathOf(request)),
      );
    };
    adapter.use(decideOutside as never);
  }

  private addFastifyHook(adapter: HttpAdapter): void {
    adapter.getInstance<FastifyInstance>().addHook('onRequest', (request, reply, done) => {
      this.identify(request);
      if (!isPlatformRequest(request)) return done();
      const enter: Next = (error) =>
        error === undefined && stopsProbe(request) ? adapter.reply(reply, '', 403) : done(error);
      this.enforce(adapter, request, reply, enter, ({ outside }) => outside.ofPath(request.method, pathOf(request)));
    });
  }

  private identify(request: HttpRequest): void {
    authenticate(this.authenticator, request);
    setRoleHierarchy(request, (roles) => this.rules.compiled?.roles.expand(roles) ?? roles);
  }

  /** A probe stops before a handler outside Nest's routes, and where no route is known. */
  private stopProbe(adapter: HttpAdapter, request: HttpRequest, response: unknown, next: Next): void {
    const table = routeTableOf(adapter);
    const path = pathOf(request);
    if (table.findPlatformRoute(request.method, path)) {
      stopsProbe(request);
      adapter.reply(response, '', 403);
    } else if (table.find(request.method, path)) next();
    else adapter.reply(response, '', 404);
  }

  /** No exception filter runs here: a refusal is sent at once. */
  private enforce(
    adapter: HttpAdapter,
    request: HttpRequest,
    response: unknown,
    next: Next,
    accessOf: (compiled: CompiledAccess) => Access | undefined,
  ): void {
    const { compiled } = this.rules;
    const access = compiled && this.decision.accessBy(() => accessOf(compiled) ?? PUBLIC);
    if (!access || access.kind === 'public') return next();
    const decide = async (): Promise<void> => {
      const authentication = authenticationOf(this.authenticator, request);
      const refused = await this.decision.refusalOf(request, authentication, access);
      if (!refused) return next();
      for (const [name, value] of Object.entries(refused.headers)) adapter.setHeader(response, name, value);
      adapter.reply(response, refused.exception.getResponse(), refused.exception.getStatus());
    };
    decide().catch(next);
  }
}
