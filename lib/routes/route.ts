/** A route of the application, as its router was given it. */
import { shapesOf, type RouteShape } from './route-shape.js';

export interface Route {
  /** `GET`, `POST`, … or `ALL`. */
  readonly method: string;
  /** As the router was given it: `/api/products/:id`. */
  readonly path: string;
  /** Nest copies the metadata of the controller's method onto it. */
  readonly handler: object;
  /** Added by main.ts or a plugin and not by a controller: no guard runs before it. */
  readonly outside?: boolean;
  /** Of a handler of the package's own: why Nest runs it, `undefined` where nobody but the package does. */
  readonly own?: { readonly reason: string | undefined } | undefined;
  /** What its path can be asked for. */
  readonly shapes: readonly RouteShape[];
}

/** One that the router was given. */
export class RegisteredRoute implements Route {
  private known?: readonly RouteShape[];

  constructor(
    readonly method: string,
    readonly path: string,
    readonly handler: object,
    readonly outside: boolean,
    readonly own?: Route['own'],
  ) {}

  /** Made for one route of each template, which is all that anybody asks for. */
  get shapes(): readonly RouteShape[] {
    return (this.known ??= shapesOf(this.path));
  }
}

/** A route, and what a concrete path gives it. */
export interface ServedRoute {
  readonly route: Route;
  /** Decoded. */
  readonly params: Readonly<Record<string, unknown>>;
}
