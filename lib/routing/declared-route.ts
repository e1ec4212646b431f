/**
 * What the package says about its own routes. It is metadata on the controller's method, which Nest copies onto the
 * handler that the route table sees, so that no feature needs to know another one's controllers.
 */
const DECLARED_ROUTE = Symbol('declarest.route');

export interface DeclaredRoute {
  /** The option that put it there, for messages: ``CRUD option `endpoint` of Product``. */
  readonly declaredBy: string;
  /** Who gets in when no rule of the application speaks of this very path. */
  readonly access?: 'public' | 'authenticated';
}

export function declareRoute(handler: object, route: DeclaredRoute): void {
  Reflect.defineMetadata(DECLARED_ROUTE, route, handler);
}

export function declaredRoute(handler: object): DeclaredRoute | undefined {
  return Reflect.getOwnMetadata(DECLARED_ROUTE, handler) as DeclaredRoute | undefined;
}
