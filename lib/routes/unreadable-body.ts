/**
 * A platform reports a body that it cannot read (400, 413, 415) before any guard runs. Here the error is kept and the request
 * continues, so that CORS headers are set and a refusal (401, 403) comes first. A guard then throws the error.
 */
import type { HttpServer } from '@nestjs/common';
import { failureAnswer, platformStatusOf, UnreadableBody, type Failure } from '../http/failure.js';
import { MERGE_PATCH } from '../http/json-body.js';
import { pathOf, type HttpRequest } from '../http/http-request.js';
import type { Application } from './application.js';
import { CONTROLLER_METHOD, controllerMethods } from './controller-methods.js';
import { addBodyGuard, declaredRoute, hasBodyGuard, isOwnRequest, keepBodyError } from './declared-route.js';
import type { DeferredRequest } from './declared-route.js';
import { failureToolsOf } from './failure-filter.js';
import type { FastifyInstance } from './fastify-routes.js';

/** Also for the application's own routes. Must be called in `configure()` of a module, like `deferUnreadableBodies`. */
export function deferOnEveryRoute(application: Application): void {
  for (const { method } of controllerMethods(application.modules)) if (!declaredRoute(method)) addBodyGuard(method);
  application.once(deferUnreadableBodies);
}

/** Must run behind the body parser and before Nest's middleware and routes, on Express in `configure()` of a module. */
export function deferUnreadableBodies(application: Application): void {
  const { adapter, routeTable } = application;
  if (adapter?.getType() === 'fastify') return deferOnFastify(adapter.getInstance());
  application.once(parseMergePatches);
  const defer: ErrorMiddleware = (error, request, _response, next) => {
    if (!isOfBody(error)) return next(error);
    const served = routeTable.find(request.method, pathOf(request));
    // A path without a route is 404, whatever the body is.
    if (served && !isDeferred(served.route.handler)) return next(error);
    keepBodyError(request, error);
    next();
  };
  adapter?.use(defer as never);
}

/**
 * For an application on Express without a module of the package, where no place between the body parser and the routes is
 * known: answers an unreadable body of an own route, behind the routes. Must be called in `onModuleInit`.
 */
export function answerUnreadableBodies(application: Application, bodyOf: (failure: Failure) => object): void {
  const { adapter, routeTable } = application;
  // Here, because main.ts may have registered a parser of its own before.
  application.once(parseMergePatches);
  if (adapter?.getType() !== 'express') return;
  const answer: ErrorMiddleware = (error, request, response, next) => {
    if (!isOfBody(error) || !isOwnRequest(request, routeTable)) return next(error);
    const tools = failureToolsOf(application);
    application.answer(request, response, failureAnswer(new UnreadableBody(error), request, bodyOf, tools));
  };
  adapter.use(answer as never);
}

/** The documented `type` of errors of Express's body parser, and the codes of Fastify's and of node's decompression. */
const BODY_ERROR_TYPE = /^(entity|encoding|charset|request|stream|parameters|querystring)\./;
const BODY_ERROR_CODE = /^(FST_ERR_CTP|FST_ERR_ROUTE_MISSING|Z|ERR__ERROR|ZSTD)_/;

/** Whether a platform could not read a body, rather than a middleware or hook of the application that failed. */
function isOfBody(error: unknown): boolean {
  const { type, code } = (error ?? {}) as { readonly type?: unknown; readonly code?: unknown };
  const isNamed = BODY_ERROR_TYPE.test(String(type)) || BODY_ERROR_CODE.test(String(code));
  // Fastify's JSON parser throws a SyntaxError.
  return platformStatusOf(error) !== undefined && (isNamed || error instanceof SyntaxError);
}

/** A GET route of the package has no guard: it ignores the body. */
const isDeferred = (handler: object | undefined): boolean =>
  handler !== undefined && (declaredRoute(handler) !== undefined || hasBodyGuard(handler));

type Next = (error?: unknown) => void;
/** Express takes a function of four parameters for an error handler. */
type ErrorMiddleware = (error: unknown, request: DeferredRequest, response: unknown, next: Next) => void;

function deferOnFastify(instance: FastifyInstance): void {
  instance.addHook('onRoute', (route) => {
    const { handler } = route;
    if (route.errorHandler || !isDeferred(route.config?.[CONTROLLER_METHOD])) return;
    route.errorHandler = (error, request, reply) => {
      if (!isOfBody(error)) throw error;
      keepBodyError(request, error);
      return handler.call(instance, request, reply);
    };
  });
  // A path without a route is 404, whatever the body is. Fastify's setter adds to the headers. It refuses QUERY without.
  instance.addHook('onRequest', (request, _reply, done) => {
    if (request.is404 && request.method !== 'QUERY') request.headers = WITHOUT_BODY;
    done();
  });
}

/** Without these headers Fastify reads no body. */
const WITHOUT_BODY = { 'content-type': undefined, 'content-length': undefined, 'transfer-encoding': undefined };

/** Parses JSON merge patches for the package's own routes. Must be called once, behind the parsers of the application. */
function parseMergePatches({ adapter, routeTable }: Application): void {
  if (adapter?.getType() === 'fastify') return parseOnFastify(adapter.getInstance<FastifyInstance>());
  const type = (request: HttpRequest): boolean =>
    request.method === 'PATCH' &&
    (request.headers['content-type'] ?? '').toLowerCase().startsWith(MERGE_PATCH) &&
    isOwnRequest(request, routeTable);
  (adapter as HttpServer | undefined)?.useBodyParser?.('json', false, { type });
}

function parseOnFastify(instance: FastifyInstance): void {
  if (instance.hasContentTypeParser(MERGE_PATCH)) return;
  const { onProtoPoisoning = 'error', onConstructorPoisoning = 'error' } = instance.initialConfig;
  const parser = instance.getDefaultJsonParser(onProtoPoisoning, onConstructorPoisoning);
  instance.addContentTypeParser(MERGE_PATCH, { parseAs: 'string' }, parser);
}
