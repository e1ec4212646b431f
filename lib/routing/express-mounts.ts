/**
 * What main.ts mounts on Express with `app.use`: static files, sub-applications, functions at a path. They serve requests
 * that no route of Nest's serves, and no guard runs before them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { match, type MatchFunction, type ParamData } from 'path-to-regexp';
import type { HttpRequest } from '../http/request-facts.js';
import { observe } from './observed-method.js';
import { shapesOf } from './route-shape.js';
import type { Route, RouteTable, ServedRoute } from './route-table.js';

/** Where a request meets a mount. */
export interface MountedPath {
  readonly template: string;
  /** The whole path. */
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether the mount would serve the request: not where there is a route for it, or no file. */
  readonly isReached: () => boolean;
}

interface Mount extends Route {
  /** A function that takes `next`, and so may be a middleware that serves nothing itself. */
  readonly passesOn: boolean;
  /** Whether it could serve this path. */
  readonly couldServe: (path: string) => boolean;
  readonly match: MatchFunction<ParamData>;
  /** Whether it is above any of so many routes. */
  seen?: { readonly routes: number; readonly isAbove: boolean };
}

export class ExpressMounts {
  private readonly all: Mount[] = [];

  /** @param nests whether Nest is registering something just now, and something that it registers */
  constructor(
    adapter: { getInstance(): object },
    private readonly table: RouteTable,
    nests: { readonly isRegistering: () => boolean; readonly registering: <T>(register: () => T) => T },
  ) {
    for (const name of ['setNotFoundHandler', 'setErrorHandler'])
      observe(adapter, name, (call, args) => nests.registering(() => call(args)));
    let files: StaticFiles | undefined;
    observe(adapter, 'useStaticAssets', (call, args) => {
      files = staticFilesOf(args);
      try {
        return call(args);
      } finally {
        files = undefined;
      }
    });
    observe(adapter.getInstance(), 'use', (call, args) => {
      const mounts = nests.isRegistering() ? [] : mountsOf(args, files);
      if (mounts.length === 0) return call(args);
      this.all.push(...mounts);
      const [first, ...rest] = args;
      // A layer of its own: Express knows a sub-application by itself.
      return call(typeof first === 'function' ? [this.gate(mounts), ...args] : [first, this.gate(mounts), ...rest]);
    });
  }

  /** Those that serve something themselves. */
  get serving(): Mount[] {
    return this.all.filter((mount) => !this.isMiddleware(mount));
  }

  /** What would serve a path that no route serves. */
  servedBy(path: string): ServedRoute | undefined {
    const route = this.serving.find((mount) => paramsAt(mount, path) && mount.couldServe(path));
    return route && { route, params: paramsAt(route, path) ?? {} };
  }

  private gate(mounts: readonly Mount[]) {
    return (request: HttpRequest & { readonly baseUrl?: string }, response: unknown, next: () => unknown): unknown => {
      // As Express reads it, which takes a URL of any scheme.
      const path =
        (request.baseUrl ?? '') +
        (request.url ?? '').replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
      const mount = mounts.find((each) => paramsAt(each, path)) ?? mounts[0];
      if (!this.table.outsideGate || !mount || this.isMiddleware(mount)) return next();
      const isReached = (): boolean => this.table.find(request.method, path) === undefined && mount.couldServe(path);
      return this.table.outsideGate(request, response, next, {
        template: mount.path,
        path,
        params: paramsAt(mount, path) ?? {},
        isReached,
      });
    };
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

/** As decoded for a handler; `undefined` where the path has a form that the template does not match. */
function paramsAt(mount: Mount, path: string): ParamData | undefined {
  try {
    const found = mount.match(path);
    return found ? found.params : undefined;
  } catch {
    return undefined;
  }
}

interface StaticFiles {
  readonly folder: string;
  readonly extensions: readonly string[];
}

/**
 * @param args of `app.use`
 * @param files where they come of `app.useStaticAssets`
 * @returns one for each path; none for a middleware of the whole application
 */
function mountsOf(args: readonly unknown[], files: StaticFiles | undefined): readonly Mount[] {
  const [first, ...rest] = args;
  const handlers = (typeof first === 'function' ? args : rest).flat(Infinity).filter(isHandler);
  const paths = typeof first === 'function' ? ['/'] : [first].flat();
  return paths.flatMap((each) => {
    // What a regular expression matches is anything.
    const path = typeof each === 'string' ? each.replace(/\/+$/, '') : '';
    const serving = path === '' ? handlers.filter(servesByItself) : handlers;
    const [handler] = serving;
    if (handler === undefined) return [];
    const template = `${path}{/*rest}`;
    return {
      method: 'ALL',
      path: path === '' ? '/{*rest}' : template,
      handler,
      outside: true,
      shapes: shapesOf(template),
      match: match(path === '' ? '/{*rest}' : template),
      passesOn: !serving.some((one) => servesByItself(one) || one.length < 3),
      couldServe: (asked) => files === undefined || hasFile(files, asked.slice(path.length)),
    };
  });
}

type Handler = ((...args: unknown[]) => unknown) & { readonly handle?: unknown };

/** Express takes a function of four parameters for an error handler. */
const isHandler = (value: unknown): value is Handler => typeof value === 'function' && value.length < 4;

/** Express's own static files, a router or an application. */
const servesByItself = ({ name, handle }: Handler): boolean => name === 'serveStatic' || typeof handle === 'function';

/** As serve-static looks: decoded once, with one of the extensions where there are some. */
function hasFile({ folder, extensions }: StaticFiles, path: string): boolean {
  try {
    const file = join(folder, decodeURIComponent(path));
    return [file, ...extensions.map((extension) => `${file}.${extension}`)].some((each) => existsSync(each));
  } catch {
    // What cannot be read may be anything.
    return true;
  }
}

/** @param args of `useStaticAssets(folder, { extensions })` */
function staticFilesOf([folder, options]: readonly unknown[]): StaticFiles | undefined {
  const { extensions } = (options ?? {}) as { extensions?: unknown };
  if (typeof folder !== 'string') return undefined;
  return { folder, extensions: Array.isArray(extensions) ? extensions.map(String) : [] };
}
