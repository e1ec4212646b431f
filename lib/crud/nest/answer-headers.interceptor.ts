/**
 * The interceptor of generated routes: lets overrides and hooks find their request, and adds to the response what an
 * operation answers beside its body. Routes that need neither have none.
 */
import { HttpStatus, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { entityKey, type EntityKey } from '../../entities/entity-key.js';
import { text } from '../../entities/value-types.js';
import { pathOf, type HeaderWriter, type HttpRequest } from '../../http/http-request.js';
import { matchesWeakly } from '../rows/record-version.js';
import { callOf, metadataOf, runWithin, type ResponseMetadata, type RequestState } from '../store/call.js';
import { markOwn } from '../../http/own-code.js';

export interface Response extends HeaderWriter {
  readonly statusCode: number;
  status(code: number): unknown;
}

/** Nest calls the handler in the context in which `handle` is called, as other interceptors expect of each other. */
export const handleWithin = (state: RequestState, next: CallHandler): Observable<unknown> =>
  runWithin(callOf(state), () => next.handle());

/** @param isCreation whether the answer may have `Location` */
export const contextInterceptor = (isCreation: boolean): NestInterceptor =>
  markOwn({
    intercept(context, next) {
      const request = context.switchToHttp().getRequest<HttpRequest>();
      const state: RequestState = { request, handler: context.getHandler(), answers: new Map() };
      const finish = (answer: unknown): unknown =>
        finishResponse(context, isCreation && (state.key ?? ID), metadataOf(state, answer), answer);
      return handleWithin(state, next).pipe(map(finish));
    },
  } satisfies NestInterceptor);

/** Where an override does not call its operation. */
const ID: EntityKey = entityKey([{ name: 'id', type: text() }]);

/** Sets status, `Location`, `ETag` and `X-Total-Count`, and answers `If-None-Match` with 304. @returns the body */
export function finishResponse(
  context: ExecutionContext,
  created: EntityKey | false,
  facts: ResponseMetadata | undefined,
  answer: unknown,
): unknown {
  if (created) setLocation(context, answer, created);
  if (!facts) return answer;
  const { status, etag, total } = facts;
  const [{ method, headers }, response] = context.getArgs<[HttpRequest, Response]>();
  if (status !== undefined) response.status(status);
  if (total !== undefined) response.header('X-Total-Count', String(total));
  if (etag === undefined) return answer;
  response.header('ETag', etag);
  const known = headers['if-none-match'];
  const isRead = (method === 'GET' || method === 'HEAD') && response.statusCode === (HttpStatus.OK as number);
  if (known === undefined || !isRead || !matchesWeakly(known, etag)) return answer;
  response.status(HttpStatus.NOT_MODIFIED);
  return undefined;
}

/** Sets `Location` (RFC 9110 §15.3.2) where the answer is 201 with a record that has its key. */
function setLocation(context: ExecutionContext, answer: unknown, key: EntityKey): void {
  const record = (answer as { readonly data?: Readonly<Record<string, unknown>> | null } | null | undefined)?.data;
  const http = context.switchToHttp();
  const response = http.getResponse<Response>();
  if (response.statusCode !== (HttpStatus.CREATED as number) || !record) return;
  if (key.fields.some(({ name }) => record[name] == null)) return;
  const path = pathOf(http.getRequest<HttpRequest>()).replace(/\/$/, '');
  response.header('Location', `${path}/${key.segment(key.of(record))}`);
}
