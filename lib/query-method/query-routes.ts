/** Adds the route `QUERY {endpoint}` (RFC 10008) beside that of a list. */
import { Header, RequestMethod, UseGuards, type CanActivate, type HttpServer } from '@nestjs/common';
import { pathOf, type HeaderWriter, type HttpRequest } from '../http/http-request.js';
import { InvalidOptionError } from '../options/invalid-option.js';
import type { Application } from '../routes/application.js';
import { CONTROLLER_METHOD, type ControllerClass } from '../routes/controller-methods.js';
import { declaredRoute, declareRoute } from '../routes/declared-route.js';
import type { FastifyInstance } from '../routes/fastify-routes.js';
import { ACCEPTED, MAX_BODY, takeBodyAsQuery } from './query-body.js';
import { markOwn } from '../http/own-code.js';

type Method = (...parameters: unknown[]) => unknown;

/** The keys of Nest's parameters of a method, and of `@ApiExcludeEndpoint()`: OpenAPI 3.1 has no operation for QUERY. */
const ROUTE_ARGUMENTS = '__routeArguments__';
const EXCLUDED = 'swagger/apiExcludeEndpoint';
/** `RouteParamtypes.QUERY` of Nest, with which the keys of `@Query()` begin. */
const OF_URL = /^4:/;

export const isQueryMethod = (method: object | undefined): boolean => declaredRoute(method)?.queryOf !== undefined;

/** The method of the GET route that a QUERY route calls, or the method itself. */
export const calledMethod = (method: object): object => declaredRoute(method)?.queryOf ?? method;

/**
 * The route calls the method of the GET route, with its guards, interceptors, parameters and access. Must be called when
 * that one is complete, before Nest registers routes.
 * @throws InvalidOptionError for a method that reads the query of the URL by `@Query()`
 */
export function addQueryRoute(controller: ControllerClass, name: string, method: object): void {
  const { prototype } = controller;
  const refuse = (member: string, expected: string, got: string, advice: string): never => {
    throw new InvalidOptionError(`${controller.name}.${member}`, expected, got, advice);
  };
  const parameters = (Reflect.getMetadata(ROUTE_ARGUMENTS, controller, name) ?? {}) as object;
  if (Object.keys(parameters).some((key) => OF_URL.test(key)))
    refuse(
      name,
      'without @Query(), because `enableQueryMethod` is on',
      'a parameter with @Query()',
      'Remove the decorator: the first parameter has the query of both GET and QUERY',
    );
  const queryName = `${name}ByQuery`;
  const earlier = Reflect.get(prototype, queryName) as object | undefined;
  if (earlier && !isQueryMethod(earlier))
    refuse(queryName, 'left to `enableQueryMethod`', 'a member with this name', 'Rename it');
  const value = function (this: Readonly<Record<string, Method>>, ...given: unknown[]): unknown {
    return this[name]?.(...given);
  };
  Header('Accept-Query', ACCEPTED)({}, '', { value: method });
  for (const key of Reflect.getMetadataKeys(method) as unknown[])
    Reflect.defineMetadata(key, Reflect.getMetadata(key, method), value);
  for (const key of Reflect.getMetadataKeys(prototype, name) as unknown[])
    Reflect.defineMetadata(key, Reflect.getMetadata(key, prototype, name), prototype, queryName);
  Reflect.defineMetadata(ROUTE_ARGUMENTS, parameters, controller, queryName);
  Reflect.defineMetadata('method', RequestMethod.QUERY, value);
  Reflect.defineMetadata(EXCLUDED, { disable: true }, value);
  UseGuards(queryGuard)({}, '', { value });
  declareRoute(value, { declaredBy: '', ...declaredRoute(method), queryOf: method });
  Object.defineProperty(prototype, queryName, { value, writable: true, configurable: true });
}

/** Runs behind the guards of the application, and in front of the one that refuses an unreadable body. */
const queryGuard: CanActivate = markOwn({
  canActivate(context) {
    const http = context.switchToHttp();
    // Failures of guards have no headers of `@Header()`.
    http.getResponse<HeaderWriter>().header('Accept-Query', ACCEPTED);
    takeBodyAsQuery(http.getRequest<HttpRequest>());
    return true;
  },
});

/**
 * Limits the bodies of QUERY routes. Express keeps them as text: its parsers read nested names in a way of their own, and an
 * application may do without. Must be called in front of those parsers and of the routes.
 */
export function readQueryBodies({ adapter, routeTable }: Application): void {
  if (adapter?.getType() === 'fastify') {
    adapter.getInstance<FastifyInstance>().addHook('onRoute', (route) => {
      if (isQueryMethod(route.config?.[CONTROLLER_METHOD])) Object.assign(route, { bodyLimit: MAX_BODY });
    });
    return;
  }
  const type = (request: HttpRequest): boolean =>
    request.method === 'QUERY' && isQueryMethod(routeTable.find('QUERY', pathOf(request))?.route.handler);
  (adapter as HttpServer | undefined)?.useBodyParser?.('text', false, { type, limit: MAX_BODY });
}
