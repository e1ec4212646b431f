import type { ServerResponse } from 'node:http';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { NestMiddleware, OnApplicationBootstrap, Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { condense } from '../options/condense.js';
import { describe, InvalidOptionError } from '../options/invalid-option.js';
import { CookieEndpoints } from '../http/cookies.js';
import { pathOf, type HttpRequest } from '../http/http-request.js';
import { applicationOf, type Application } from '../routes/application.js';
import type { FastifyInstance } from '../routes/fastify-routes.js';
import { deferOnEveryRoute } from '../routes/unreadable-body.js';
import { takeReturnedPaths, uncoveredPaths } from './routes-of.js';

const IS_CHECKED = Symbol('declarest.corsChecked');
const logger = new Logger('cors');

/**
 * Middleware that lets pages of another origin use a group of routes. It answers a preflight with 204, before guards and
 * handlers, wherever the application has a route. Every other response of the group, errors included, has the CORS headers.
 * @param allowedOrigin one origin such as `https://shop.example`; without an argument every origin, `*`
 * @throws InvalidOptionError for anything that is not an origin, and for `undefined`
 * @example consumer.apply(cors('https://shop.example')).forRoutes(...routesOf(ProductsController), '/api/auth/*path');
 */
export function cors(...allowedOrigin: [allowedOrigin?: string]): Type<NestMiddleware> {
  const isWildcard = allowedOrigin.length === 0;
  const origin = isWildcard ? '*' : checkOrigin(allowedOrigin[0]);
  const headers = corsHeaders(origin);

  @Injectable()
  class CorsMiddleware implements NestMiddleware, OnApplicationBootstrap {
    private readonly application: Application;

    constructor(@Inject(ModuleRef) moduleRef: ModuleRef) {
      this.application = applicationOf(moduleRef);
      // Nest creates middleware behind the body parser, before it binds middleware and registers routes.
      deferOnEveryRoute(this.application);
      this.application.beginRouting();
    }

    use(request: HttpRequest, response: ServerResponse, next: () => void): void {
      const isPreflight = request.method === 'OPTIONS';
      // A group bound to a wildcard has paths without a route: those are 404.
      if (isPreflight && !this.application.routeTable.hasRoute(pathOf(request))) return next();
      this.application.once(createWarnings).checkResponse(response);
      for (const [name, value] of headers) response.setHeader(name, value);
      const { basePath } = this.application.stateOf(CookieEndpoints);
      if (basePath !== undefined && !isWildcard && pathOf(request).includes(basePath))
        response.setHeader('access-control-allow-credentials', 'true');
      if (!isPreflight) return next();
      response.statusCode = 204;
      response.end();
    }

    onApplicationBootstrap(): void {
      this.application.once(createWarnings);
      if (isWildcard) this.application.once(warnOfCookies);
    }
  }
  return CorsMiddleware;
}

/** Checks the CORS declarations of an application that has started, whichever of its groups is the first. */
class CorsWarnings {
  private hasEnabledCors = false;

  constructor({ adapter, routeTable, config }: Application) {
    const sentences = uncoveredPaths(new Set(takeReturnedPaths()), routeTable, config).map(
      (path) =>
        `routesOf: no route of the application has the path ${path}. Under a RouterModule prefix, pass the whole path to forRoutes.`,
    );
    for (const sentence of condense(sentences)) logger.warn(sentence);
    if ((adapter as { readonly isCorsEnabled?: boolean } | undefined)?.isCorsEnabled) this.warnOfEnabledCors();
    if (adapter?.getType() !== 'fastify') return;
    // The plugin of app.enableCors() is loaded last of all.
    const instance = adapter.getInstance<FastifyInstance>();
    instance.addHook('onReady', (done) => {
      if (instance.hasRequestDecorator('corsPreflightEnabled')) this.warnOfEnabledCors();
      done();
    });
  }

  /**
   * Only the adapter of `declarest/express` knows whether `app.enableCors()` was called. With Nest's own adapter, the first
   * response that already has the headers shows it.
   */
  checkResponse(response: ServerResponse & { [IS_CHECKED]?: true }): void {
    if (!this.hasEnabledCors && !response[IS_CHECKED] && response.hasHeader('access-control-allow-origin'))
      this.warnOfEnabledCors();
    response[IS_CHECKED] = true;
  }

  private warnOfEnabledCors(): void {
    this.hasEnabledCors = true;
    logger.warn(
      'app.enableCors() and cors() are both used, and app.enableCors() answers every OPTIONS request. Remove one of the two.',
    );
  }
}

function warnOfCookies(application: Application): void {
  const { basePath } = application.stateOf(CookieEndpoints);
  if (basePath !== undefined)
    logger.warn(
      `cors() allows every origin, and browsers send cookies to ${basePath}* from none of them. Pass the origin of the pages that log in, such as cors("https://shop.example").`,
    );
}

const createWarnings = (application: Application): CorsWarnings => new CorsWarnings(application);

/**
 * The CORS headers (Fetch standard, "CORS protocol"), in lower case, as HTTP/2 requires. With one fixed origin or `*`, the
 * response is the same for every origin, so it needs no `Vary`.
 */
export function corsHeaders(allowedOrigin: string) {
  const headers = Object.entries({
    'access-control-allow-origin': allowedOrigin,
    'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS, PATCH',
    'access-control-allow-headers':
      'Content-Type, Authorization, X-Requested-With, If-Match, If-None-Match, Idempotency-Key',
    'access-control-max-age': '600',
    // The headers that the package itself sends.
    'access-control-expose-headers':
      'Content-Disposition, ETag, Idempotency-Replayed, Location, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count',
  });
  return Object.freeze(headers);
}

/** Accepts only a serialized origin, as a browser sends it (RFC 6454 §6.2): a browser matches no other spelling. */
export function checkOrigin(origin: unknown): string {
  const expected = 'an origin such as "https://shop.example", or left out for every origin';
  const got = typeof origin === 'string' && origin.includes('@') ? 'a URL with a user name' : describe(origin);
  const refuse = (advice: string): never => {
    throw new InvalidOptionError('The argument of cors()', expected, got, advice);
  };
  if (typeof origin !== 'string')
    return refuse('Pass one string: a missing environment variable does not mean every origin');
  if (origin === 'null') return refuse('Pass the real origin: every sandboxed page has the origin "null"');
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (!url || url.host === '' || origin.includes('*'))
    return refuse('Pass scheme, host and, unless it is the default, port');
  const serialized = `${url.protocol}//${url.host}`;
  return serialized === origin ? origin : refuse(`Pass exactly ${JSON.stringify(serialized)}, as browsers send it`);
}
