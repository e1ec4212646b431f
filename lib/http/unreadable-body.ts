/**
 * A body that cannot be read (400, 413, 415) is found by the platform before any guard runs. For the routes of the
 * application the finding is kept and the request goes on, so that the CORS headers are set and a refusal (401, 403)
 * comes first; then `UnreadableBodyGuard` throws what was kept.
 */
import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import { declaredRoute } from '../routes/declared-route.js';
import { DirectGuard } from '../routes/direct-guard.js';
import { ownLayers } from '../routes/direct-middleware.js';
import { ownHooks } from '../routes/fastify-contexts.js';
import type { Route } from '../routes/route.js';
import { RouteTable } from '../routes/route-table.js';
import { platformStatusOf, UnreadableBody } from './failure.js';
import { pathOf, type HttpRequest } from './request-facts.js';

type Next = (error?: unknown) => void;
type FastifyHandler = (request: HttpRequest, reply: unknown) => unknown;
interface FastifyRoute {
  url: string;
  handler: FastifyHandler & object;
  errorHandler?: (this: unknown, error: unknown, request: HttpRequest, reply: unknown) => unknown;
}
type OnRequest = (request: { is404: boolean; raw: IncomingMessage }, reply: unknown, done: () => void) => void;
interface FastifyInstance {
  addHook(name: 'onRequest', hook: OnRequest): void;
  addHook(name: 'onRoute', hook: (options: FastifyRoute) => void): void;
}

/** What could not be read, by the platform's requests. */
const errors = new WeakMap<object, unknown>();

/** Which routes' bodies are deferred: the package's own, or all once `deferEvery` was called. */
class DeferredBodies {
  private static readonly byAdapter = new WeakMap<object, DeferredBodies>();
  private every = false;

  static of(adapter: HttpAdapterHost['httpAdapter']): DeferredBodies {
    let found = DeferredBodies.byAdapter.get(adapter);
    if (!found) DeferredBodies.byAdapter.set(adapter, (found = new DeferredBodies(adapter)));
    return found;
  }

  private constructor(adapter: HttpAdapterHost['httpAdapter']) {
    const table = RouteTable.of(adapter);
    table.onRouting(() => {
      if (adapter.getType() === 'fastify') this.watchFastify(table, adapter.getInstance<FastifyInstance>());
      else this.watchExpress(table, (layer) => adapter.use(layer as never));
    });
  }

  deferEvery(): void {
    this.every = true;
  }

  private defers(route: Pick<Route, 'handler'>): boolean {
    return this.every || declaredRoute(route.handler) !== undefined;
  }

  private watchExpress(table: RouteTable, use: (layer: unknown) => void): void {
    // Express takes a function of four parameters for an error handler.
    const layer = (error: unknown, request: HttpRequest, _response: unknown, next: Next): void => {
      const route = table.find(request.method, pathOf(request));
      if (route && !this.defers(route)) return next(error);
      errors.set(request, error);
      next();
    };
    ownLayers.add(layer);
    use(layer);
  }

  /** Fastify calls a route's error handler instead of its handler; this one hands the request on to the handler. */
  private watchFastify(table: RouteTable, instance: FastifyInstance): void {
    instance.addHook('onRoute', (options) => {
      const route = table.registering(options.url);
      if (!route) return;
      const { handler } = options;
      options.errorHandler ??= (error, request, reply): unknown => {
        const bodyWasNotRead = platformStatusOf(error) !== undefined && request.body == null && !errors.has(request);
        if (!bodyWasNotRead || !this.defers(route)) throw error;
        errors.set(request, error);
        return handler.call(instance, request, reply);
      };
    });
    // Where there is no route there is nobody to read the body: without a type, Fastify does not try.
    const hook: OnRequest = (request, _reply, done) => {
      if (request.is404) for (const name of BODY_HEADERS) delete request.raw.headers[name];
      done();
    };
    ownHooks.add(hook);
    instance.addHook('onRequest', hook);
  }
}

const BODY_HEADERS = ['content-type', 'content-length', 'transfer-encoding'];

/** To be called from the constructor of a provider, before any route exists. */
export function deferUnreadableBodies(host: HttpAdapterHost, which: 'own routes' | 'every route'): void {
  RouteTable.watch(host, () => {
    const bodies = DeferredBodies.of(host.httpAdapter);
    if (which === 'every route') bodies.deferEvery();
  });
}

/** Throws what the platform could not read, now that those who may refuse have spoken. */
@Injectable()
export class UnreadableBodyGuard extends DirectGuard {
  protected readonly elsewhere = true;

  /** @throws UnreadableBody: the filters say it in words of their own */
  refusal(request: HttpRequest): undefined {
    const error = request.unreadable ?? errors.get(request);
    if (error !== undefined) throw new UnreadableBody(error);
  }
}
