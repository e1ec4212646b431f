import type { ServerResponse } from 'node:http';
import {
  Inject,
  Injectable,
  Logger,
  type NestMiddleware,
  type OnApplicationBootstrap,
  type Type,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { pathOf, type HttpRequest } from '../http/request-facts.js';
import { DirectMiddleware, type HeaderHolder } from '../routes/direct-middleware.js';
import { RouteTable } from '../routes/route-table.js';
import { corsHeaders } from './cors-headers.js';
import { checkOrigin } from './origin.js';
import { unservedGroups } from './routes-of.js';

/**
 * Middleware that lets pages of another origin use a group of routes:
 * `consumer.apply(cors('https://shop.example')).forRoutes(...routesOf(ProductsController), '/api/auth/*path')`.
 *
 * A preflight is answered 204 before guards and handlers wherever the application has a route; every other answer of
 * the group, errors included, carries the headers.
 *
 * @param allowedOrigin one origin; without an argument every origin, `*`
 * @throws InvalidOptionError for anything but an origin, also for `undefined`
 */
export function cors(...allowedOrigin: [allowedOrigin?: string]): Type<NestMiddleware> {
  const headers = corsHeaders(allowedOrigin.length === 0 ? '*' : checkOrigin(allowedOrigin[0]));
  const preflight = Object.fromEntries(headers);

  @Injectable()
  class CorsMiddleware extends DirectMiddleware implements OnApplicationBootstrap {
    constructor(@Inject(HttpAdapterHost) host: HttpAdapterHost) {
      super(RouteTable.of(host.httpAdapter));
    }

    passes(request: HttpRequest, response: ServerResponse, answer: HeaderHolder): boolean {
      if (request.method !== 'OPTIONS') {
        for (const [name, value] of headers) answer.setHeader(name, value);
        return true;
      }
      // A group bound to a wildcard holds paths that have no route: those fall through to the 404.
      if (!this.routes.serves(pathOf(request))) return true;
      response.writeHead(204, preflight).end();
      return false;
    }

    onApplicationBootstrap(): void {
      warnOnce(this.routes);
    }
  }
  return CorsMiddleware;
}

const warned = new WeakSet<RouteTable>();

function warnOnce(routes: RouteTable): void {
  if (warned.has(routes)) return;
  warned.add(routes);
  const logger = new Logger('cors');
  routes.onPlatformCors(() =>
    logger.warn('app.enableCors() is on beside cors(): it answers every OPTIONS itself. Remove one of the two.'),
  );
  for (const path of unservedGroups(routes))
    logger.warn(
      `routesOf: no route of the application stands at ${path}. Under a RouterModule prefix, write the path out in forRoutes.`,
    );
}
