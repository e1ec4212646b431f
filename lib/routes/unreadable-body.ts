/**
 * A platform finds a body that it cannot read (400, 413, 415) before any guard runs. On the routes named here the error is
 * kept and the request goes on, so that CORS headers are set and a refusal (401, 403) comes first. Then
 * `UnreadableBodyGuard` throws the error.
 */
import type { IncomingMessage } from 'node:http';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import { failureAnswer, platformStatusOf, UnreadableBody, type Failure } from '../http/failure.js';
import { stopsProbe } from '../http/probe.js';
import { pathOf, type HttpRequest } from '../http/request-facts.js';
import { declaredRoute } from './declared-route.js';
import { CONTROLLER_METHOD } from './controller-methods.js';
import type { HttpAdapter } from './route-table.js';
import { routeTableOf } from './route-tables.js';

/** The error, on the platform's request. */
const BODY_ERROR = Symbol('declarest.bodyError');
/** Whether Fastify is reading the body just now. */
const IS_READING = Symbol('declarest.isReadingBody');

interface MarkedRequest extends HttpRequest {
  [BODY_ERROR]?: unknown;
  [IS_READING]?: boolean;
}

export type DeferredRoutes = 'own routes' | 'every route';

/** Which routes are deferred on an adapter; installed once. */
const deferred = new WeakMap<HttpAdapter, { routes: DeferredRoutes }>();

/** To be called in `configure()` of a module: behind the body parser, before Nest's middleware and routes. */
export function deferUnreadableBodies(adapter: HttpAdapter, routes: DeferredRoutes): void {
  const installed = deferred.get(adapter);
  if (installed) {
    if (routes === 'every route') installed.routes = routes;
    return;
  }
  const state = { routes };
  deferred.set(adapter, state);
  const defers = (handler: object | undefined): boolean =>
    handler !== undefined && (state.routes === 'every route' || declaredRoute(handler) !== undefined);
  if (adapter.getType() === 'fastify') deferOnFastify(adapter.getInstance(), defers);
  else deferOnExpress(adapter, defers);
}

/**
 * For an application on Express without a module of the package, where no place between the body parser and the routes is
 * known: answers an unreadable body of an own route, behind the routes. To be called in `onModuleInit`.
 */
export function answerUnreadableBodies({ httpAdapter }: HttpAdapterHost, bodyOf: (failure: Failure) => object): void {
  if (!httpAdapter || httpAdapter.getType() !== 'express' || deferred.has(httpAdapter)) return;
  deferred.set(httpAdapter, { routes: 'own routes' });
  const table = routeTableOf(httpAdapter);
  const middleware = (
    error: unknown,
    request: HttpRequest,
    response: unknown,
    next: (error: unknown) => void,
  ): void => {
    const found = table.find(request.method, pathOf(request));
    if (!declaredRoute(found?.route.handler)) return next(error);
    const { status, body } = failureAnswer(new UnreadableBody(error), bodyOf);
    httpAdapter.reply(response, body, status);
  };
  httpAdapter.use(middleware as never);
}

type Defers = (handler: object | undefined) => boolean;

function deferOnExpress(adapter: HttpAdapter, defers: Defers): void {
  const table = routeTableOf(adapter);
  // Express takes a function of four parameters for an error handler.
  const middleware = (
    error: unknown,
    request: MarkedRequest,
    _response: unknown,
    next: (error?: unknown) => void,
  ): void => {
    const found = table.find(request.method, pathOf(request));
    // A path without a route is 404, whatever the body is.
    if (found && !defers(found.route.handler)) return next(error);
    request[BODY_ERROR] = error;
    next();
  };
  adapter.use(middleware as never);
}

type Done = (error?: unknown) => void;
interface FastifyRoute {
  readonly method: string | readonly string[];
  readonly config?: { readonly [CONTROLLER_METHOD]?: object };
  readonly handler: (this: unknown, request: MarkedRequest, reply: unknown) => unknown;
  errorHandler?: (this: unknown, error: unknown, request: MarkedRequest, reply: unknown) => unknown;
  preParsing?: unknown;
  preValidation?: unknown;
}
interface FastifyInstance {
  addHook(name: 'onRoute', hook: (route: FastifyRoute) => void): void;
  addHook(
    name: 'onRequest',
    hook: (request: { is404: boolean; raw: IncomingMessage }, reply: unknown, done: Done) => void,
  ): void;
}

/** Fastify reads the body between `preParsing` and `preValidation`. It then calls the error handler of the route. */
function deferOnFastify(instance: FastifyInstance, defers: Defers): void {
  const begin = (request: MarkedRequest, _reply: unknown, _payload: unknown, done: Done): void => {
    request[IS_READING] = true;
    done();
  };
  const end = (request: MarkedRequest, _reply: unknown, done: Done): void => {
    request[IS_READING] = false;
    done();
  };
  instance.addHook('onRoute', (route) => {
    const { handler, method } = route;
    if (route.errorHandler || [method].flat().join() === 'GET' || !defers(route.config?.[CONTROLLER_METHOD])) return;
    route.preParsing = [route.preParsing ?? [], begin].flat();
    route.preValidation = [end, route.preValidation ?? []].flat();
    route.errorHandler = (error, request, reply) => {
      if (!request[IS_READING] || platformStatusOf(error) === undefined) throw error;
      request[IS_READING] = false;
      request[BODY_ERROR] = error;
      return handler.call(instance, request, reply);
    };
  });
  // A path without a route is 404, whatever the body is: without these headers Fastify reads none.
  instance.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) for (const name of BODY_HEADERS) delete request.raw.headers[name];
    done();
  });
}

const BODY_HEADERS = ['content-type', 'content-length', 'transfer-encoding'];

/** Throws the error of an unreadable body, when the guards before it have let the request in. */
@Injectable()
export class UnreadableBodyGuard implements CanActivate {
  /** @throws UnreadableBody */
  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<MarkedRequest>();
    if (request[BODY_ERROR] !== undefined) throw new UnreadableBody(request[BODY_ERROR]);
    return !stopsProbe(request);
  }
}
