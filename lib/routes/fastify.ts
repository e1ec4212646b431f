/** The members of Fastify that the package uses. The types of the package `fastify` would make it a dependency. */
import type { HttpRequest } from '../http/request-facts.js';
import type { CONTROLLER_METHOD } from './controller-methods.js';
import type { RouterOptions } from './route-table.js';

type Next = (error?: unknown) => void;

interface RouteConfig {
  readonly [CONTROLLER_METHOD]?: object;
}

export interface FastifyRequest extends HttpRequest {
  readonly is404: boolean;
  headers: HttpRequest['headers'];
  readonly routeOptions: {
    readonly method?: string | readonly string[] | undefined;
    readonly url?: string | undefined;
    readonly config?: RouteConfig;
  };
}

export interface FastifyRoute {
  readonly method: string | readonly string[];
  readonly url: string;
  readonly config?: RouteConfig;
  readonly constraints?: { readonly version?: unknown };
  readonly handler: (this: unknown, request: FastifyRequest, reply: unknown) => unknown;
  errorHandler?: (this: unknown, error: unknown, request: FastifyRequest, reply: unknown) => unknown;
}

interface InitialConfig extends Partial<RouterOptions> {
  readonly routerOptions?: Partial<RouterOptions>;
  readonly onProtoPoisoning?: string;
  readonly onConstructorPoisoning?: string;
}

export interface FastifyInstance {
  readonly supportedMethods: readonly string[];
  readonly initialConfig: InitialConfig;
  after(): PromiseLike<unknown>;
  addHook(name: 'onRoute', hook: (route: FastifyRoute) => void): void;
  addHook(name: 'onReady', hook: (done: Next) => void): void;
  addHook(name: 'onRequest', hook: (request: FastifyRequest, reply: unknown, done: Next) => void): void;
  findRoute(options: { method: string; url: string; constraints?: object }): {
    readonly params?: Readonly<Record<string, unknown>>;
  } | null;
  hasRequestDecorator(name: string): boolean;
  hasContentTypeParser(type: string): boolean;
  addContentTypeParser(type: string, options: { readonly parseAs: 'string' }, parser: unknown): void;
  getDefaultJsonParser(onProtoPoisoning: string, onConstructorPoisoning: string): unknown;
}
