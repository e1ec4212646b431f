/**
 * A platform finds a body that it cannot read (400, 413, 415) before any guard runs. On the routes named here the error is
 * kept and the request goes on, so that CORS headers are set and a refusal (401, 403) comes first. Then
 * `UnreadableBodyGuard` throws the error.
 */
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import { failureAnswer, platformStatusOf, UnreadableBody, type Failure } from '../http/failure.js';
import { stopsProbe } from '../http/probe.js';
import { pathOf, type HttpRequest } from '../http/request-facts.js';
import { declaredRoute } from './declared-route.js';
import { parseMergePatches } from './merge-patch-parser.js';
import { CONTROLLER_METHOD } from './controller-methods.js';
import type { HttpAdapter } from './route-table.js';
import { routeTableOf } from './route-tables.js';

/** The error, on the platform's request. */
const BODY_ERROR = Symbol('declarest.bodyError');

interface MarkedRequest extends HttpRequest {
  [BODY_ERROR]?: unknown;
}

export type DeferredRoutes = 'own routes' | 'every route';

/** Which routes are deferred on an adapter; installed once. */
const deferred = new WeakMap<HttpAdapter, DeferredRoutes>();

/** To be called in `configure()` of a module: behind the body parser, before Nest's middleware and routes. */
export function deferUnreadableBodies(adapter: HttpAdapter, routes: DeferredRoutes): void {
  const isInstalled = deferred.has(adapter);
  if (!isInstalled || routes === 'every route') deferred.set(adapter, routes);
  if (isInstalled) return;
  const defers = (handler: object | undefined): boolean =>
    handler !== undefined && (deferred.get(adapter) === 'every route' || declaredRoute(handler) !== undefined);
  if (adapter.getType() === 'fastify') deferOnFastify(adapter.getInstance(), defers);
  else deferOnExpress(adapter, defers);
}

/**
 * For an application on Express without a module of the package, where no place between the body parser and the routes is
 * known: answers an unreadable body of an own route, behind the routes. To be called in `onModuleInit`.
 */
export function answerUnreadableBodies({ httpAdapter }: HttpAdapterHost, bodyOf: (failure: Failure) => object): void {
  if (!httpAdapter || httpAdapter.getType() !== 'express' || deferred.has(httpAdapter)) return;
  deferred.set(httpAdapter, 'own routes');
  const table = routeTableOf(httpAdapter);
  parseMergePatches(httpAdapter);
  const answer: ErrorMiddleware = (error, request, response, next) => {
    const handler = isOfBody(error) && table.find(request.method, pathOf(request))?.route.handler;
    if (!handler || !declaredRoute(handler)) return next(error);
    const { status, body } = failureAnswer(new UnreadableBody(error), bodyOf);
    httpAdapter.reply(response, body, status);
  };
  httpAdapter.use(answer as never);
}

/** The documented `type` of errors of Express's body parser, and the codes of Fastify's and of node's decompression. */
const BODY_ERROR_TYPE = /^(entity|encoding|charset|request|stream|parameters|querystring)\./;
const BODY_ERROR_CODE = /^(FST_ERR_CTP|Z|ERR__ERROR|ZSTD)_/;

/** Whether a platform could not read a body, rather than a middleware or hook of the application that failed. */
function isOfBody(error: unknown): boolean {
  const { type, code } = (error ?? {}) as { readonly type?: unknown; readonly code?: unknown };
  const isNamed = BODY_ERROR_TYPE.test(String(type)) || BODY_ERROR_CODE.test(String(code));
  // Fastify's JSON parser throws a SyntaxError.
  return platformStatusOf(error) !== undefined && (isNamed || error instanceof SyntaxError);
}

type Next = (error?: unknown) => void;
/** Express takes a function of four parameters for an error handler. */
type ErrorMiddleware = (error: unknown, request: MarkedRequest, response: unknown, next: Next) => void;
type Defers = (handler: object | undefined) => boolean;

function deferOnExpress(adapter: HttpAdapter, defers: Defers): void {
  parseMergePatches(adapter);
  const table = routeTableOf(adapter);
  const defer: ErrorMiddleware = (error, request, _response, next) => {
    if (!isOfBody(error)) return next(error);
    const served = table.find(request.method, pathOf(request));
    // A path without a route is 404, whatever the body is.
    if (served && !defers(served.route.handler)) return next(error);
    request[BODY_ERROR] = error;
    next();
  };
  adapter.use(defer as never);
}

interface FastifyRoute {
  readonly config?: { readonly [CONTROLLER_METHOD]?: object };
  readonly handler: (this: unknown, request: MarkedRequest, reply: unknown) => unknown;
  errorHandler?: (this: unknown, error: unknown, request: MarkedRequest, reply: unknown) => unknown;
}
interface FastifyInstance {
  addHook(name: 'onRoute', hook: (route: FastifyRoute) => void): void;
  addHook(
    name: 'onRequest',
    hook: (request: { readonly is404: boolean; headers: object }, reply: unknown, done: Next) => void,
  ): void;
}

/** Fastify calls the error handler of the route. */
function deferOnFastify(instance: FastifyInstance, defers: Defers): void {
  instance.addHook('onRoute', (route) => {
    const { handler } = route;
    if (route.errorHandler || !defers(route.config?.[CONTROLLER_METHOD])) return;
    route.errorHandler = (error, request, reply) => {
      if (!isOfBody(error)) throw error;
      request[BODY_ERROR] = error;
      return handler.call(instance, request, reply);
    };
  });
  // A path without a route is 404, whatever the body is. Fastify's setter adds to the headers that were sent.
  instance.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) request.headers = WITHOUT_BODY;
    done();
  });
}

/** Without these headers Fastify reads no body. */
const WITHOUT_BODY = { 'content-type': undefined, 'content-length': undefined, 'transfer-encoding': undefined };

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
