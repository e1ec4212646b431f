/** Lets Fastify pass the bodies of uploads on, which it refuses for a media type without a parser. */
import type { Readable } from 'node:stream';
import { UnsupportedMediaTypeException, type HttpServer } from '@nestjs/common';

/** The key of `RouteConfig` of @nestjs/platform-fastify: Nest gives its value to Fastify as the route's `config`. */
const ROUTE_CONFIG = '__fastify_route_config__';
const TAKES_FILE = Symbol('declarest-files.takesFile');

type Parsed = (error: Error | null, body?: unknown) => void;

interface Request {
  readonly is404: boolean;
  readonly routeOptions: { readonly config?: { readonly [TAKES_FILE]?: true } };
}

interface Parsers {
  hasContentTypeParser(type: string): boolean;
  addContentTypeParser(type: string, parse: (request: Request, body: Readable, done: Parsed) => void): void;
}

/** Must be called before Nest registers the routes. */
export function takeFile(method: object): void {
  const config = Reflect.getMetadata(ROUTE_CONFIG, method) as object | undefined;
  Reflect.defineMetadata(ROUTE_CONFIG, { ...config, [TAKES_FILE]: true }, method);
}

/** Other routes still refuse these media types. Must be called before Fastify is ready. */
export function acceptFiles(adapter: HttpServer | undefined, types: readonly string[]): void {
  if (adapter?.getType() !== 'fastify') return;
  const instance = adapter.getInstance() as Parsers;
  for (const type of types.filter((each) => !instance.hasContentTypeParser(each)))
    instance.addContentTypeParser(type, ({ is404, routeOptions }, body, done) => {
      if (is404 || routeOptions.config?.[TAKES_FILE]) return done(null, body);
      const error = { statusCode: 415, code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' };
      done(Object.assign(new UnsupportedMediaTypeException(), error));
    });
}
