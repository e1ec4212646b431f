import { RequestMethod, UseGuards, type CanActivate } from '@nestjs/common';
import { UnreadableBody } from '../http/failure.js';
import { hasBody } from '../http/json-body.js';
import { pathOf, type HttpRequest } from '../http/http-request.js';
import { markControllerMethod } from './controller-methods.js';
import type { RouteTable } from './route-table.js';
import { markOwn } from '../http/own-code.js';

const DECLARED_ROUTE = Symbol('declarest.route');
/** The error of a body that the platform could not read, on the platform's request. */
const BODY_ERROR = Symbol('declarest.bodyError');
/** The metadata key of `@UseGuards()`. */
const GUARDS = '__guards__';
/** The metadata keys of `@CacheKey()` and `@CacheTTL()` of @nestjs/cache-manager. */
const CACHE_KEY = 'cache_module:cache_key';
const CACHE_TTL = 'cache_module:cache_ttl';

/** What a route requires by a declaration of its own. */
export interface RouteAccess {
  readonly access: 'public' | 'authenticated' | { readonly anyOf: readonly string[] };
  readonly declaredBy: string;
}

export interface DeclaredRoute {
  /** The option that declares the route, for messages: ``CRUD option `endpoint` of Product``. */
  readonly declaredBy: string;
  readonly controllerPath?: string;
  /** The name of an account endpoint. */
  readonly endpoint?: string;
  /** The path below that of the controller, where it is known. */
  readonly path?: string;
  /** The routes of the same controller whose rules should cover this one too, such as `DELETE :id`. */
  readonly copyOf?: readonly string[];
  /** The option that has an effect only for authenticated users. */
  readonly needsUser?: string;
  /** The access of this route where no rule of the application has the very same path. */
  readonly access?: RouteAccess['access'];
  /** The access that the application declares for the operation, as a decorator of the method would. */
  readonly operationAccess?: RouteAccess | undefined;
  /** Whether it grants power: the user of a token is read again, who may have been dismissed since the token was signed. */
  readonly reloadsUser?: () => boolean;
}

/** Must be called before Nest registers the routes, and behind the decorator of the verb. */
export function declareRoute(method: object, route: DeclaredRoute): void {
  markControllerMethod(method);
  Reflect.defineMetadata(DECLARED_ROUTE, route, method);
  if (Reflect.getMetadata('method', method) !== RequestMethod.GET) addBodyGuard(method);
  if (hasCacheKey(method)) return;
  Reflect.defineMetadata(CACHE_KEY, () => undefined, method);
  Reflect.defineMetadata(CACHE_TTL, refuseCaching, method);
}

/** Whether `CacheInterceptor` takes another key than the URL, which is the same for all users. */
export const hasCacheKey = (method: object): boolean => Reflect.hasMetadata(CACHE_KEY, method);

/** An interceptor before @nestjs/cache-manager 3.1, or with a `trackBy` of its own, stores nothing without a TTL. */
function refuseCaching(): never {
  throw new Error('The answers of this route depend on the user and are not cached');
}

export const declaredRoute = (method: object | undefined): DeclaredRoute | undefined =>
  method && (Reflect.getMetadata(DECLARED_ROUTE, method) as DeclaredRoute | undefined);

export const isOwnRequest = (request: HttpRequest, routes: RouteTable): boolean =>
  declaredRoute(routes.find(request.method, pathOf(request))?.route.handler) !== undefined;

export interface DeferredRequest extends HttpRequest {
  body?: unknown;
  [BODY_ERROR]?: unknown;
}

/** Keeps the error for the guard below. Other guards may read fields of the body. */
export function keepBodyError(request: DeferredRequest, error: unknown): void {
  request[BODY_ERROR] = error;
  request.body = {};
}

/** Throws the error of an unreadable body, after all guards that may refuse the request. */
const unreadableBodyGuard: CanActivate = markOwn({
  canActivate(context) {
    const request = context.switchToHttp().getRequest<DeferredRequest | undefined>();
    const error = request?.[BODY_ERROR];
    // Fastify reports a content type without a body. The package's own handlers say themselves whether they need one.
    const isAbsent = request !== undefined && !hasBody(request) && declaredRoute(context.getHandler()) !== undefined;
    if (error !== undefined && !isAbsent) throw new UnreadableBody(error);
    return true;
  },
});

export const hasBodyGuard = (method: object): boolean =>
  ((Reflect.getMetadata(GUARDS, method) ?? []) as readonly CanActivate[]).includes(unreadableBodyGuard);

/** Must be called before Nest registers the routes. */
export function addBodyGuard(method: object): void {
  if (!hasBodyGuard(method)) UseGuards(unreadableBodyGuard)({}, '', { value: method });
}
