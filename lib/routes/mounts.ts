/**
 * What main.ts mounts with `app.use` or gives to the platform's own router: static files, sub-applications, functions at
 * a path. They serve requests that no route of Nest's serves, and no guard runs before them.
 */
import { match, type MatchFunction, type ParamData } from 'path-to-regexp';
import { pathOf, type HttpRequest } from '../http/request-facts.js';
import { answers } from './fastify-template.js';
import { shapesOf } from './route-shape.js';
import type { Route, ServedRoute } from './route.js';
import type { RouteTable } from './route-table.js';
import { hasFile, type StaticFiles } from './static-files.js';

/** Where a request meets a mount. */
export interface MountedPath {
  readonly template: string;
  /** The whole path. */
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether the mount would serve the request: not where there is a route for it, or no file. */
  readonly isReached: () => boolean;
  /** Leaves the mount out, and goes on to what comes behind it. */
  readonly pass: () => unknown;
}

export type Handler = ((...args: unknown[]) => unknown) & { readonly handle?: unknown };
export type MountRequest = HttpRequest & { readonly baseUrl?: string };

/** As the platform was told it. */
export interface Told {
  /** A string, a list, or anything that may match any path. */
  readonly path: unknown;
  readonly handler: Handler;
  /** Of a route that is for exactly its path; of a mount there is no list. */
  readonly methods?: () => readonly string[];
  /** Of `app.useStaticAssets`. */
  readonly files?: StaticFiles | undefined;
}

/** Calls `enter`, or answers, or goes past it with `pass`. */
type Gate = (request: MountRequest, response: unknown, enter: () => unknown, pass: () => unknown) => unknown;

interface Mount extends Route {
  readonly methods: () => readonly string[];
  /** A function that takes `next`, and so may be a middleware that serves nothing itself. */
  readonly passesOn: boolean;
  /** Whether it could serve this path. */
  readonly couldServe: (path: string) => boolean;
  readonly match: MatchFunction<ParamData>;
  /** Whether it is above any of so many routes. */
  seen?: { readonly routes: number; readonly isAbove: boolean };
}

export class Mounts {
  private readonly all: Mount[] = [];

  constructor(private readonly table: RouteTable) {}

  /** @returns what is to be asked before it; `undefined` for a middleware of the whole application */
  add(told: Told): Gate | undefined {
    const mounts = mountsOf(told);
    if (mounts.length === 0) return undefined;
    this.all.push(...mounts);
    return (request, response, enter, pass) => {
      const path = pathAt(request);
      const mount = mounts.find((each) => paramsAt(each, path)) ?? mounts[0];
      if (!this.table.outsideGate || !mount || this.isMiddleware(mount)) return enter();
      const { path: template, couldServe } = mount;
      const params = paramsAt(mount, path) ?? {};
      const isReached = (): boolean => !this.table.hasRouteFor(request.method, path) && couldServe(path);
      return this.table.outsideGate(request, response, enter, { template, path, params, isReached, pass });
    };
  }

  /** Those that serve something themselves, once for each method and path. */
  get serving(): Route[] {
    const routes = this.all
      .filter((mount) => !this.isMiddleware(mount))
      .flatMap((mount) => mount.methods().map((method): Mount => ({ ...mount, method })));
    return [...new Map(routes.map((route) => [`${route.method} ${route.path}`, route])).values()];
  }

  /** What would serve a path that no route serves. */
  servedBy(method: string, path: string): ServedRoute | undefined {
    for (const route of this.all) {
      if (this.isMiddleware(route) || !route.methods().some((each) => answers({ method: each }, method))) continue;
      const params = paramsAt(route, path);
      if (params && route.couldServe(path)) return { route, params };
    }
    return undefined;
  }

  /** A function that takes `next`, mounted above routes of Nest's, is there for them. */
  private isMiddleware(mount: Mount): boolean {
    const { routes } = this.table;
    if (!mount.passesOn) return false;
    // Looked at anew when there are more of them.
    if (mount.seen?.routes !== routes.length) {
      const above = `${mount.path.replace('{/*rest}', '')}/`.toLowerCase();
      const isAbove = routes.some((each) => !each.outside && `${each.path}/`.toLowerCase().startsWith(above));
      mount.seen = { routes: routes.length, isAbove };
    }
    return mount.seen.isAbove;
  }
}

/** The whole path, as Express reads it: it takes a URL of any scheme, and a middleware may have rewritten it. */
function pathAt(request: MountRequest): string {
  if (request.baseUrl === undefined) return pathOf(request);
  const { baseUrl, url = '' } = request;
  return baseUrl + url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
}

/** As decoded for a handler; `undefined` where the path has a form that the template does not match. */
function paramsAt(mount: Mount, path: string): ParamData | undefined {
  try {
    const found = mount.match(path);
    return found ? found.params : undefined;
  } catch {
    return undefined;
  }
}

const ANYTHING = '/{*rest}';

function mountsOf({ path: paths, handler, methods, files }: Told): readonly Mount[] {
  const passesOn = !methods && !servesByItself(handler) && handler.length > 2;
  return [paths].flat(Infinity).flatMap((each): Mount[] => {
    const path = typeof each === 'string' ? each.replace(/\/+$/, '') : undefined;
    // A function without a path is a middleware of the whole application.
    if (path === '' && !methods && !servesByItself(handler)) return [];
    const below = methods ? path || '/' : path ? `${path}{/*rest}` : ANYTHING;
    // What a regular expression matches may be anything, and so nothing that it is above is known.
    const template = path === undefined ? ANYTHING : below;
    return [
      {
        method: 'ALL',
        methods: methods ?? (() => ['ALL']),
        path: template,
        handler,
        outside: true,
        shapes: shapesOf(template),
        match: match(template),
        passesOn: passesOn && path !== undefined,
        couldServe: (asked) => files === undefined || hasFile(files, asked.slice((path ?? '').length)),
      },
    ];
  });
}

/** Express's own static files, a router or an application, as they are given to `app.use` or put into its stack. */
const servesByItself = ({ name, handle }: Handler): boolean =>
  name === 'serveStatic' || name === 'mounted_app' || typeof handle === 'function';
