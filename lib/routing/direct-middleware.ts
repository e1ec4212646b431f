import type { ServerResponse } from 'node:http';
import type { NestMiddleware } from '@nestjs/common';
import type { HttpRequest } from '../http/request-facts.js';
import type { RouteTable } from './route-table.js';

/**
 * Middleware that may be run without what Nest wraps around it (see `FastifyMiddleware`): it answers or goes on at
 * once, and running it twice for one request is as running it once.
 */
export abstract class DirectMiddleware implements NestMiddleware {
  static {
    // Nest binds the method just before it registers it; a class that overrides it has one that tells nothing.
    const { use } = DirectMiddleware.prototype;
    Object.defineProperty(use, 'bind', {
      value: (self: DirectMiddleware): unknown => {
        self.routes.direct?.noteBound(self);
        return Function.prototype.bind.call(use, self);
      },
    });
  }

  protected constructor(protected readonly routes: RouteTable) {}

  /** @returns whether the request goes on; otherwise it has been answered */
  abstract passes(request: HttpRequest, response: ServerResponse): boolean;

  use(request: HttpRequest, response: ServerResponse, next: () => void): void {
    if (Probe.reached(request, { by: this, response, next })) return;
    if (this.passes(request, response)) next();
  }
}

interface Call {
  readonly by: DirectMiddleware;
  readonly response: unknown;
  readonly next: unknown;
}

/** Stands for a request at boot, to see which middleware a handler of Nest's leads to. */
export class Probe {
  #reached: Call | undefined;

  static reached(request: object, call: Call): boolean {
    if (!(#reached in request)) return false;
    request.#reached = call;
    return true;
  }

  /** Whether this handler hands everything on to this very middleware. */
  static leads(handler: (...args: unknown[]) => unknown, middleware: DirectMiddleware): boolean {
    const probe = new Probe();
    const response = {};
    const next = (): void => {};
    handler(probe, response, next);
    const call = probe.#reached;
    return call?.by === middleware && call.response === response && call.next === next;
  }
}
