/** `Location` of a new record (RFC 9110 §15.3.2): the path that was asked, and the id. */
import {
  createParamDecorator,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { tap, type Observable } from 'rxjs';
import { pathOf, type HeaderWriter, type HttpRequest } from '../http/request-facts.js';

type Key = string | number;

export type Locate = (id: Key) => void;

export const locator =
  (request: HttpRequest, response: unknown): Locate =>
  (id) => {
    const path = pathOf(request).replace(/\/$/, '');
    (response as HeaderWriter).header('Location', `${path}/${encodeURIComponent(id)}`);
  };

function locatorIn(context: ExecutionContext): Locate {
  const http = context.switchToHttp();
  return locator(http.getRequest<HttpRequest>(), http.getResponse());
}

/** The parameter of the generated handler that says where the new record is. */
export const CreatedAt = createParamDecorator((_: unknown, context): Locate => locatorIn(context));

const created = new WeakMap<object, Key>();

/** Remembers that an answer tells of a new record, for an override that passes it on. */
export function markCreated<T extends { readonly data: object }>(answer: T, id: Key): T {
  created.set(answer, id);
  // Of an answer that is copied, the record stays.
  created.set(answer.data, id);
  return answer;
}

const idOf = (answer: unknown): Key | undefined => {
  if (typeof answer !== 'object' || answer === null) return undefined;
  return created.get(answer) ?? created.get((answer as { readonly data?: object }).data ?? answer);
};

const interceptor: NestInterceptor = {
  intercept: (context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> =>
    next.handle().pipe(
      tap((answer) => {
        const id = idOf(answer);
        if (id !== undefined) locatorIn(context)(id);
      }),
    ),
};

const located = new WeakSet<object>();

/** For a handler of a subclass, whose parameters are its own. To be called before routes are registered. */
export function locateAnswersOf(handler: object): void {
  if (located.has(handler)) return;
  located.add(handler);
  UseInterceptors(interceptor)({}, '', { value: handler });
}
