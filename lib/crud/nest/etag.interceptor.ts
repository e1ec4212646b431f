import { HttpStatus, type NestInterceptor } from '@nestjs/common';
import { map } from 'rxjs';
import type { HeaderWriter, HttpRequest } from '../../http/request-facts.js';
import { etagOf, matchesWeakly } from '../rows/record-version.js';

interface Response extends HeaderWriter {
  readonly statusCode: number;
  status(code: number): unknown;
}

/** Sets the `ETag` of an answer that is one whole record, and answers `If-None-Match` with 304. */
export const etagInterceptor: NestInterceptor = {
  intercept: (context, next) =>
    next.handle().pipe(
      map((answer: { readonly data?: unknown } | null | undefined) => {
        const etag = etagOf(answer?.data);
        if (etag === undefined) return answer;
        const http = context.switchToHttp();
        const response = http.getResponse<Response>();
        const { method, headers } = http.getRequest<HttpRequest>();
        response.header('ETag', etag);
        const known = headers['if-none-match'];
        const isRead = (method === 'GET' || method === 'HEAD') && response.statusCode === (HttpStatus.OK as number);
        if (known === undefined || !isRead || !matchesWeakly(known, etag)) return answer;
        response.status(HttpStatus.NOT_MODIFIED);
        return undefined;
      }),
    ),
};
