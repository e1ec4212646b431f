/** A route of the application, as its router has it. */
import { shapesOf, type RouteShape } from './route-shape.js';

export interface Route {
  /** `GET`, `POST`, … or `ALL`. */
  readonly method: string;
  /** The template: `/api/products/:id`. A mount has `/docs{/*rest}`. */
  readonly path: string;
  /** The controller's method that serves it; `undefined` for a route or mount outside Nest's routes. */
  readonly handler: object | undefined;
  /** The versions of a route that shares its template with other versions: header and media type versioning. */
  readonly versions: readonly unknown[];
  readonly shapes: readonly RouteShape[];
}

/** A route, and the path parameters that a concrete path gives it, decoded. */
export interface ServedRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The template of a mount, which serves its path and everything below. */
export const mountOf = (path: string): string => `${path}${BELOW_MOUNT}`;
export const isRoute = (served: Pick<ServedRoute, 'route'> | undefined): boolean =>
  served !== undefined && !served.route.path.endsWith(BELOW_MOUNT);
const BELOW_MOUNT = '{/*rest}';

/** A mount of everything: its path is not known. */
export const ANY_PATH = '/{*rest}';

export function makeRoute(method: string, path: string, handler?: object, versions: readonly unknown[] = []): Route {
  return { method, path, handler, versions, shapes: shapesOf(path) };
}

/** Whether a route serves a method. HEAD is served by GET. */
export const servesMethod = ({ method }: Pick<Route, 'method'>, requested: string): boolean =>
  method === 'ALL' || method === requested || (requested === 'HEAD' && method === 'GET');

/** `/api/products/` → `['api', 'products']` */
export const levelsOf = (path: string): string[] => path.split('/').filter((level) => level !== '');

/** `products/` and `:id` → `/products/:id` */
export const joinPaths = (...paths: readonly string[]): string => `/${paths.flatMap(levelsOf).join('/')}`;

/** `undefined` for a broken escape. */
export function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
