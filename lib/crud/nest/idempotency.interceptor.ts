/** `Idempotency-Key`: a repeated request gets the stored answer instead of writing again. */
import { createHash } from 'node:crypto';
import {
  BadRequestException,
  ConflictException,
  Inject,
  Injectable,
  RequestMethod,
  UnprocessableEntityException,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { from, lastValueFrom } from 'rxjs';
import { jsonBodyOf } from '../../http/json-body.js';
import { userOf } from '../../http/principal.js';
import { headerValues, pathOf, queryOf, type HttpRequest } from '../../http/request-facts.js';
import { OPERATIONS, type Operation } from '../declare/operations.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import type { IdempotencyKey } from '../idempotency/idempotency-key.js';
import {
  findStoredAnswer,
  finishStoredAnswer,
  idempotencySteps,
  KeyTaken,
  type KeyedRequest,
  type StoredAnswer,
} from '../idempotency/stored-responses.js';
import type { AnswerFacts, RequestState } from '../store/call.js';
import {
  contextInterceptor,
  applyFacts,
  handleWithin,
  locationInterceptor,
  setLocation,
  type Response,
} from './crud.interceptor.js';
import { crudApplicationOf } from './crud-application.js';
import { isCreation, pathsOf } from './routes.js';

/** The interceptor of a resource with `idempotency`. */
export function idempotencyInterceptor(options: ResolvedCrudOptions): Type<NestInterceptor> {
  @Injectable()
  class IdempotencyInterceptor implements NestInterceptor {
    /** In this process. A request in another process waits in the database for the transaction of the first one. */
    private readonly running = new Set<string>();

    constructor(@Inject(ModuleRef) private readonly moduleRef: ModuleRef) {}

    intercept(context: ExecutionContext, next: CallHandler): ReturnType<NestInterceptor['intercept']> {
      const handler = context.getHandler();
      const request = context.switchToHttp().getRequest<HttpRequest>();
      const key = isRepeatable(handler) ? keyOf(request) : undefined;
      if (key !== undefined) return from(this.answerOnce(key, request, context, next));
      return (isCreation(handler) ? locationInterceptor : contextInterceptor).intercept(context, next);
    }

    private async answerOnce(key: string, request: HttpRequest, context: ExecutionContext, next: CallHandler) {
      const response = context.switchToHttp().getResponse<Response>();
      const database = crudApplicationOf(this.moduleRef).databaseOf(options);
      const answers = new Map<unknown, AnswerFacts>();
      const keyed: KeyedRequest = {
        id: hashOf([userIdOf(request), pathOf(request), key]),
        fingerprint: hashOf([queryOf(request), jsonBodyOf(request)]),
        status: () => response.statusCode,
        factsOf: (answer) => answers.get((answer as { readonly data?: unknown } | undefined)?.data),
      };
      const { id } = keyed;
      if (this.running.has(id)) throw stillRunning(response);
      this.running.add(id);
      try {
        const known = await findStoredAnswer(database, id);
        if (known) return replay(known, keyed, context);
        let stored: StoredAnswer | undefined;
        const steps = idempotencySteps(keyed, (answer) => (stored = answer));
        // An override may write several times, and to other resources.
        const idempotency: RequestState['idempotency'] = (written) =>
          written === options && !stored ? steps : undefined;
        const handled = handleWithin({ request, answers, idempotency }, next);
        const answer: unknown = await lastValueFrom(handled, { defaultValue: undefined });
        if (stored) await finishStoredAnswer(database, keyed, stored, answer);
        if (isCreation(context.getHandler())) setLocation(context, answer);
        return applyFacts(context, keyed.factsOf(answer) ?? {}, answer);
      } catch (error) {
        throw error instanceof KeyTaken ? stillRunning(response) : error;
      } finally {
        this.running.delete(id);
      }
    }
  }
  return IdempotencyInterceptor;
}

const routeKey = (verb: RequestMethod, path: string): string => `${verb} ${path.replaceAll(/^\/|\/$/g, '')}`;
const repeatable = Object.values<Operation>(OPERATIONS).filter(({ isRepeatable: isMarked }) => isMarked);
const repeatableKeys = new Set(repeatable.map(({ verb, path }) => routeKey(verb, path)));

/** Whether a handler, also one of a subclass, serves a route that may be repeated. */
function isRepeatable(handler: object): boolean {
  const verb = Reflect.getMetadata('method', handler) as RequestMethod;
  return pathsOf(handler).some((path) => repeatableKeys.has(routeKey(verb, path)));
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
  if (isCreation(context.getHandler())) setLocation(context, answer);
  return applyFacts(context, row.etag === null ? {} : { etag: row.etag }, answer);
}
