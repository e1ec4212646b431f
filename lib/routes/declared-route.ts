/** What the package declares about its own routes, as metadata of the controller's method. */

import { markControllerMethod } from './controller-methods.js';

const DECLARED_ROUTE = Symbol('declarest.route');

export interface DeclaredRoute {
  /** The option that declares the route, for messages: ``CRUD option `endpoint` of Product``. */
  readonly declaredBy: string;
  /** The path of its controller, below prefixes. */
  readonly controllerPath?: string;
  /** The access of this route where no rule of the application has the very same path. */
  readonly access?: 'public' | 'authenticated';
}

/** To be called before Nest registers the routes. */
export function declareRoute(method: object, route: DeclaredRoute): void {
  markControllerMethod(method);
  Reflect.defineMetadata(DECLARED_ROUTE, route, method);
}

export function declaredRoute(method: object | undefined): DeclaredRoute | undefined {
  return method && (Reflect.getMetadata(DECLARED_ROUTE, method) as DeclaredRoute | undefined);
}
