/** Parses JSON merge patches, which the JSON parsers of the platforms leave alone, for the package's own routes. */
import type { HttpServer } from '@nestjs/common';
import { MERGE_PATCH } from '../http/json-body.js';
import type { HttpRequest } from '../http/request-facts.js';
import type { Application } from './application.js';
import { isOwnRequest } from './declared-route.js';
import type { FastifyInstance } from './fastify.js';

/** Must be called once, behind the parsers of the application. A body that one of them has read is not changed. */
export function parseMergePatches({ adapter, routeTable }: Application): void {
  if (adapter?.getType() === 'fastify') return parseOnFastify(adapter.getInstance<FastifyInstance>());
  const type = (request: HttpRequest): boolean =>
    request.method === 'PATCH' &&
    (request.headers['content-type'] ?? '').toLowerCase().startsWith(MERGE_PATCH) &&
    isOwnRequest(request, routeTable);
  (adapter as HttpServer | undefined)?.useBodyParser?.('json', false, { type });
}

function parseOnFastify(instance: FastifyInstance): void {
  if (instance.hasContentTypeParser(MERGE_PATCH)) return;
  const { onProtoPoisoning = 'error', onConstructorPoisoning = 'error' } = instance.initialConfig;
  const parser = instance.getDefaultJsonParser(onProtoPoisoning, onConstructorPoisoning);
  instance.addContentTypeParser(MERGE_PATCH, { parseAs: 'string' }, parser);
}
