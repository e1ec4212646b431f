/** Parses JSON merge patches, which the JSON parsers of the platforms leave alone, for the package's own routes. */
import type { HttpServer } from '@nestjs/common';
import { MERGE_PATCH } from '../http/json-body.js';
import { pathOf, type HttpRequest } from '../http/request-facts.js';
import { declaredRoute } from './declared-route.js';
import type { HttpAdapter } from './route-table.js';
import { routeTableOf } from './route-tables.js';

interface FastifyInstance {
  hasContentTypeParser(type: string): boolean;
  addContentTypeParser(type: string, options: { readonly parseAs: 'string' }, parser: unknown): void;
  getDefaultJsonParser(onProtoPoisoning: string, onConstructorPoisoning: string): unknown;
  readonly initialConfig: { readonly onProtoPoisoning?: string; readonly onConstructorPoisoning?: string };
}

/** To be called once, behind the parsers of the application. A body that one of them has read stays as it is. */
export function parseMergePatches(adapter: HttpAdapter): void {
  if (adapter.getType() === 'fastify') return parseOnFastify(adapter.getInstance<FastifyInstance>());
  const table = routeTableOf(adapter);
  const type = (request: HttpRequest): boolean =>
    request.method === 'PATCH' &&
    (request.headers['content-type'] ?? '').toLowerCase().startsWith(MERGE_PATCH) &&
    declaredRoute(table.find(request.method, pathOf(request))?.route.handler) !== undefined;
  (adapter as HttpServer).useBodyParser?.('json', false, { type });
}

function parseOnFastify(instance: FastifyInstance): void {
  if (instance.hasContentTypeParser(MERGE_PATCH)) return;
  const { onProtoPoisoning = 'error', onConstructorPoisoning = 'error' } = instance.initialConfig;
  const parser = instance.getDefaultJsonParser(onProtoPoisoning, onConstructorPoisoning);
  instance.addContentTypeParser(MERGE_PATCH, { parseAs: 'string' }, parser);
}
