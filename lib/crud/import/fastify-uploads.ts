import type { Readable } from 'node:stream';
import { UnsupportedMediaTypeException } from '@nestjs/common';
import type { Application } from '../../routes/application.js';
import { CONTROLLER_METHOD } from '../../routes/controller-methods.js';
import { declaredRoute } from '../../routes/declared-route.js';
import type { FastifyRequest } from '../../routes/fastify-routes.js';
import { importFile } from './import.js';
import { FILE_TYPES } from './upload.js';

type Parsed = (error: Error | null, body?: unknown) => void;

interface FastifyParsers {
  hasContentTypeParser(type: string): boolean;
  addContentTypeParser(type: string, parse: (request: FastifyRequest, body: Readable, done: Parsed) => void): void;
}

/** Fastify refuses a media type without a parser. Other routes than imports still do so. Must be called once. */
export function acceptUploads({ adapter }: Application): void {
  if (adapter?.getType() !== 'fastify') return;
  const instance = adapter.getInstance<FastifyParsers>();
  for (const type of FILE_TYPES.filter((each) => !instance.hasContentTypeParser(each)))
    instance.addContentTypeParser(type, (request, body, done) => {
      const handler = request.routeOptions.config?.[CONTROLLER_METHOD];
      const isAccepted = request.is404 || declaredRoute(handler)?.path === importFile.route.path;
      if (isAccepted) return done(null, body);
      const error = { statusCode: 415, code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' };
      done(Object.assign(new UnsupportedMediaTypeException(), error));
    });
}
