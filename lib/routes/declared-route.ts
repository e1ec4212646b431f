/** What the package declares about its own routes, as metadata of the controller's method. */

const DECLARED_ROUTE = Symbol('declarest.route');

export interface DeclaredRoute {
  /** The option that declares the route, for messages: ``CRUD option `endpoint` of Product``. */
  readonly declaredBy: string;
  /** The access of this route where no rule of the application has the very same path. */
  readonly access?: 'public' | 'authenticated';
}

export function declareRoute(method: object, route: DeclaredRoute): void {
  Reflect.defineMetadata(DECLARED_ROUTE, route, method);
}

export function declaredRoute(method: object | undefined): DeclaredRoute | undefined {
  return method && (Reflect.getMetadata(DECLARED_ROUTE, method) as DeclaredRoute | undefined);
}
