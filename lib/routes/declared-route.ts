/** What the package declares about its own routes, as metadata of the controller's method. */

import { RequestMethod } from '@nestjs/common';
import { pathOf, type HttpRequest } from '../http/request-facts.js';
import { markControllerMethod } from './controller-methods.js';
import type { RouteTable } from './route-table.js';
import { addBodyGuard } from './unreadable-body.guard.js';

const DECLARED_ROUTE = Symbol('declarest.route');

export interface DeclaredRoute {
  /** The option that declares the route, for messages: ``CRUD option `endpoint` of Product``. */
  readonly declaredBy: string;
  /** The path of its controller, below prefixes. */
  readonly controllerPath?: string;
  /** The access of this route where no rule of the application has the very same path. */
  readonly access?: 'public' | 'authenticated';
}

/** Must be called before Nest registers the routes, and behind the decorator of the verb. */
export function declareRoute(method: object, route: DeclaredRoute): void {
  markControllerMethod(method);
  Reflect.defineMetadata(DECLARED_ROUTE, route, method);
  if (Reflect.getMetadata('method', method) !== RequestMethod.GET) addBodyGuard(method);
}

export function declaredRoute(method: object | undefined): DeclaredRoute | undefined {
  return method && (Reflect.getMetadata(DECLARED_ROUTE, method) as DeclaredRoute | undefined);
}

/** Whether a route of the package serves a request. */
export const isOwnRequest = (request: HttpRequest, routes: RouteTable): boolean =>
  declaredRoute(routes.find(request.method, pathOf(request))?.route.handler) !== undefined;
