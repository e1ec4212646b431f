/** `Idempotency-Key`: a repeated request gets the stored answer instead of writing again. */
import { createHash } from 'node:crypto';
import { BadRequestException, ConflictException, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { UnprocessableEntityException, type CallHandler, type ExecutionContext } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { from, lastValueFrom } from 'rxjs';
import { valueAt } from '../../entities/entity-instances.js';
import type { Field } from '../../entities/entity-schema.js';
import { jsonBodyOf } from '../../http/json-body.js';
import { userOf } from '../../http/caller.js';
import { headerValues, pathOf, queryOf, type HttpRequest } from '../../http/http-request.js';
import { optionsOf } from '../declare/declared-options.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { findStoredAnswer, finishStoredAnswer, idempotencySteps, KeyTaken } from '../idempotency/idempotency-keys.js';
import type { IdempotencyKey, KeyedRequest } from '../idempotency/idempotency-keys.js';
import { metadataOf, type IdempotencyOf } from '../store/call.js';
import { contextInterceptor, finishResponse, handleWithin, type Response } from './answer-headers.interceptor.js';
import { permissionsOf } from '../rows/field-permissions.js';
import { crudApplicationOf } from './crud-application.js';
import { isCreation, serves } from './routes.js';
import { markOwn } from '../../http/own-code.js';

@markOwn
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  /** In this process. A request in another process waits in the database for the transaction of the first one. */
  private readonly running = new Set<string>();

  constructor(@Inject(ModuleRef) private readonly moduleRef: ModuleRef) {}

  intercept(context: ExecutionContext, next: CallHandler): ReturnType<NestInterceptor['intercept']> {
    const handler = context.getHandler();
    const creates = isCreation(handler);
    const { knownOperations } = optionsOf(context.getClass()) as ResolvedCrudOptions;
    const isRepeatable = knownOperations.some((each) => each.isRepeatable && serves(handler, each));
    const key = isRepeatable ? keyOf(context.switchToHttp().getRequest<HttpRequest>()) : undefined;
    if (key !== undefined) return from(this.answerOnce(key, context, next, creates));
    return contextInterceptor(creates).intercept(context, next);
  }

  private async answerOnce(key: string, context: ExecutionContext, next: CallHandler, creates: boolean) {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<HttpRequest>(), http.getResponse<Response>()];
    const plan = crudApplicationOf(this.moduleRef).planOfController(context.getClass());
    const { options, database, schema, fieldPermissions } = plan;
    const created = creates && schema.key;
    const id = hashOf([userIdOf(request), pathOf(request), key]);
    const fingerprint = hashOf([queryOf(request), jsonBodyOf(request)]);
    const keyed: KeyedRequest = { id, fingerprint, response, answers: new Map() };
    if (this.running.has(id)) throw stillRunning(response);
    this.running.add(id);
    try {
      const known = await findStoredAnswer(database, id);
      if (known) {
        const { etag, answer } = replay(known, fingerprint, response);
        const { canRead } = permissionsOf(fieldPermissions, request);
        const hidden = schema.fields.filter((field) => field.readable && !canRead(field));
        hideFields(answer, hidden);
        const facts = etag === null || hidden.some(({ column }) => column.isVersion) ? undefined : { etag };
        return finishResponse(context, created, facts, answer);
      }
      const steps = idempotencySteps(keyed);
      // An override may write several times, and to other resources.
      const idempotency: IdempotencyOf = (written) => (written === options && !keyed.stored ? steps : undefined);
      const handled = handleWithin(
        { request, handler: context.getHandler(), answers: keyed.answers, idempotency },
        next,
      );
      const answer: unknown = await lastValueFrom(handled, { defaultValue: undefined });
      if (keyed.stored) await finishStoredAnswer(database, keyed, answer);
      return finishResponse(context, created, metadataOf(keyed, answer), answer);
    } catch (error) {
      throw error instanceof KeyTaken ? stillRunning(response) : error;
    } finally {
      this.running.delete(id);
    }
  }
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

/** Leaves out of a stored answer what the caller may no longer read. */
function hideFields(answer: unknown, hidden: readonly Field[]): void {
  const data = (answer as { readonly data?: unknown } | undefined)?.data;
  for (const record of [data].flat() as unknown[])
    for (const { path } of hidden) {
      const holder = valueAt(path.slice(0, -1), record) as Record<string, unknown> | null | undefined;
      if (typeof holder === 'object' && holder !== null) delete holder[path.at(-1) ?? ''];
    }
}

/** @throws 422 for another request */
function replay({ request, status, body, etag }: IdempotencyKey, fingerprint: string, response: Response) {
  if (request !== fingerprint)
    throw new UnprocessableEntityException(
      'Idempotency-Key was sent with another body before: repeat that one, or send a new key',
    );
  const answer: unknown = body === null ? undefined : JSON.parse(body);
  if (status !== null) response.status(status);
  response.header('Idempotency-Replayed', 'true');
  return { answer, etag };
}
