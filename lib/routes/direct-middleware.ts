/**
 * Middleware that is run without what Nest wraps around it: a promise, and a `WeakSet` with an entry for each request.
 * Nest tells nobody which middleware its handlers lead to, so a handler is believed to lead to the one that was bound
 * just before, and called once at boot to see whether it does. Of any other, Nest's own binding stays.
 */
import type { ServerResponse } from 'node:http';
import type { NestMiddleware } from '@nestjs/common';
import type { HttpRequest } from '../http/request-facts.js';
import { matchesRoute } from './bound-path.js';
import { observe, type AnyFunction } from './observed-method.js';
import type { RouteTable } from './route-table.js';

/** It answers, or gives the answer headers and goes on, at once; to run it twice for one request is as to run it once. */
export abstract class DirectMiddleware implements NestMiddleware {
  static {
    // Nest binds the method just before it registers it; a class that overrides it has one that tells nothing.
    const { use } = DirectMiddleware.prototype;
    Object.defineProperty(use, 'bind', {
      value: (self: DirectMiddleware): unknown => {
        self.routes.direct.noteBound(self);
        return Function.prototype.bind.call(use, self);
      },
    });
  }

  protected constructor(protected readonly routes: RouteTable) {}

  /**
   * @param answer gets the headers of an answer that others write
   * @returns whether the request goes on; otherwise it has been answered
   */
  abstract passes(request: HttpRequest, response: ServerResponse, answer: HeaderHolder): boolean;

  use(request: HttpRequest, response: ServerResponse, next: () => void): void {
    if (Probe.reached(request, { by: this, response, next })) return;
    if (this.passes(request, response, response)) next();
  }
}

export interface HeaderHolder {
  setHeader(name: string, value: string): unknown;
}

export type Bind = (path: string, handler: AnyFunction) => unknown;
/** @returns what binds a handler that leads to this middleware, beside what would bind any other */
export type Place = (middleware: DirectMiddleware, bind: Bind, args: unknown[]) => Bind | Promise<Bind>;

/** Bound one after the other. */
interface Group {
  readonly middleware: DirectMiddleware;
  readonly paths: string[];
}

export class DirectBinding {
  private lastBound: DirectMiddleware | undefined;
  private readonly groups: Group[] = [];

  constructor(adapter: object, place: Place) {
    observe(adapter, 'createMiddlewareFactory', async (call, args) => {
      const middleware = this.lastBound;
      const bind = (await call(args)) as Bind;
      if (!middleware) return bind;
      const placed = await place(middleware, bind, args);
      return (path: string, handler: AnyFunction): unknown => {
        if (!Probe.leads(handler, middleware)) return bind(path, handler);
        const last = this.groups.at(-1);
        if (last?.middleware === middleware) last.paths.push(path);
        else this.groups.push({ middleware, paths: [path] });
        return placed(path, handler);
      };
    });
  }

  /**
   * Those that every plain target of this route passes, whatever its method: a handler that leads to one only for some
   * methods has not led to it at boot.
   *
   * @returns `undefined` where that depends on the request
   */
  before(template: string): DirectMiddleware[] | undefined {
    const matched = this.groups.map(({ paths }) => matchesRoute(paths, template));
    if (matched.includes(undefined)) return undefined;
    return this.groups.filter((_, place) => matched[place]).map(({ middleware }) => middleware);
  }

  /** Nest registers a middleware one `await` after it has bound its method: any later, somebody else had bound it. */
  noteBound(middleware: DirectMiddleware): void {
    this.lastBound = middleware;
    queueMicrotask(() =>
      queueMicrotask(() => {
        this.lastBound = undefined;
      }),
    );
  }
}

/** On Express: in its place among the layers. */
export const placeLayer: Place = (middleware, bind) => (path) => {
  const layer: AnyFunction = (request, response, next) => {
    const written = response as ServerResponse;
    if (middleware.passes(request as HttpRequest, written, written)) (next as () => void)();
  };
  ownLayers.add(layer);
  return bind(path, layer);
};

/** Of Express: what the package does before its handlers, for plain requests nothing but what is known of its middleware. */
export const ownLayers = new WeakSet<object>();

interface Call {
  readonly by: DirectMiddleware;
  readonly response: unknown;
  readonly next: unknown;
}

/** Stands for a request at boot, to see which middleware a handler of Nest's leads to. */
class Probe {
  #reached: Call | undefined;

  static reached(request: object, call: Call): boolean {
    if (!(#reached in request)) return false;
    request.#reached = call;
    return true;
  }

  /** Whether this handler hands everything on to this very middleware. */
  static leads(handler: AnyFunction, middleware: DirectMiddleware): boolean {
    const probe = new Probe();
    const response = {};
    const next = (): void => {};
    handler(probe, response, next);
    const call = probe.#reached;
    return call?.by === middleware && call.response === response && call.next === next;
  }
}
