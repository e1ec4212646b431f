/** `Idempotency-Key`: a repeated request gets the stored answer instead of writing again. */
import { createHash } from 'node:crypto';
import {
  BadRequestException,
  ConflictException,
  Inject,
  Injectable,
  Optional,
  UnprocessableEntityException,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { DataSource } from 'typeorm';
import { jsonBodyOf } from '../../http/json-body.js';
import { userOf } from '../../http/principal.js';
import { headerValues, pathOf, queryOf, type HeaderWriter, type HttpRequest } from '../../http/request-facts.js';
import { isRepeatable } from './generated-routes.js';
import { setLocation } from './location.interceptor.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { rememberETag } from '../rows/record-version.js';
import type { IdempotencyKey } from '../idempotency/idempotency-key.js';
import { findStoredAnswer, finishStoredAnswer, KeyTaken, runKeyed, type KeyedRequest } from '../idempotency/idempotency-store.js';

interface Response extends HeaderWriter {
  readonly statusCode: number;
  status(code: number): unknown;
}

/** The interceptor of a resource with `idempotency`. */
export function idempotencyInterceptor(options: ResolvedCrudOptions): Type<NestInterceptor> {
  @Injectable()
  class IdempotencyInterceptor implements NestInterceptor {
    /** In this process. A request in another process waits in the database for the transaction of the first one. */
    private readonly running = new Set<string>();

    constructor(
      // The startup checks say in a sentence where there is none.
      @Optional() @Inject(getDataSourceToken(options.dataSource)) private readonly dataSource: DataSource,
    ) {}

    intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
      if (!isRepeatable(context.getHandler())) return next.handle();
      const request = context.switchToHttp().getRequest<HttpRequest>();
      const key = keyOf(request);
      return key === undefined ? next.handle() : from(this.answerOnce(key, request, context, next));
    }

    private async answerOnce(key: string, request: HttpRequest, context: ExecutionContext, next: CallHandler) {
      const response = context.switchToHttp().getResponse<Response>();
      const id = hashOf([userIdOf(request), pathOf(request), key]);
      const fingerprint = hashOf([queryOf(request), jsonBodyOf(request)]);
      const keyed: KeyedRequest = { options, id, fingerprint, statusOf: () => response.statusCode };
      if (this.running.has(id)) throw stillRunning(response);
      this.running.add(id);
      try {
        const known = await findStoredAnswer(this.dataSource, id);
        if (known) return replay(known, keyed, context);
        const answer: unknown = await runKeyed(keyed, () => lastValueFrom(next.handle(), { defaultValue: undefined }));
        await finishStoredAnswer(this.dataSource, keyed, answer);
        return answer;
      } catch (error) {
        throw error instanceof KeyTaken ? stillRunning(response) : error;
      } finally {
        this.running.delete(id);
      }
    }
  }
  return IdempotencyInterceptor;
}

/** @throws 400 */
function keyOf(request: HttpRequest): string | undefined {
  const [key, ...others] = headerValues(request, 'idempotency-key');
  if (key === undefined) return undefined;
  if (others.length > 0) throw new BadRequestException('Idempotency-Key must be sent once');
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new BadRequestException('Idempotency-Key must be 1 to 255 visible ASCII characters');
}

/** @throws 400 for an anonymous caller: the answer would be given to anybody who sends the key */
function userIdOf(request: HttpRequest): string {
  const id: unknown = userOf(request)?.id;
  if (typeof id === 'string' || typeof id === 'number') return String(id);
  throw new BadRequestException('Idempotency-Key requires an authenticated user');
}

/** Does not depend on the order of keys. */
function hashOf(value: unknown): string {
  const sorted = (_key: string, each: unknown): unknown =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each;
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest('hex');
}

function stillRunning(response: Response): Error {
  response.header('Retry-After', '1');
  return new ConflictException('A request with this Idempotency-Key is still running: repeat it after a second');
}

/** @throws 422 for another request */
function replay(row: IdempotencyKey, { fingerprint }: KeyedRequest, context: ExecutionContext): unknown {
  if (row.request !== fingerprint)
    throw new UnprocessableEntityException(
      'Idempotency-Key was sent with another body before: repeat that one, or send a new key',
    );
  const response = context.switchToHttp().getResponse<Response>();
  const answer: unknown = row.body === null ? undefined : JSON.parse(row.body);
  if (row.status !== null) response.status(row.status);
  response.header('Idempotency-Replayed', 'true');
  setLocation(context, answer);
  if (row.etag !== null) rememberETag((answer as { readonly data: object }).data, row.etag);
  return answer;
}
