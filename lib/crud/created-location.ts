import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { tap, type Observable } from 'rxjs';
import { pathOf, type HttpRequest } from '../http/request-facts.js';

const created = new WeakMap<object, string | number>();

/** Remembers that an answer tells of a new record, also when an override passes it on. */
export function markCreated<T extends object>(answer: T, record: object): T {
  created.set(answer, (record as { id: string | number }).id);
  return answer;
}

/** `Location` of a new record (RFC 9110 §15.3.2): the path that was asked, and the id. */
@Injectable()
export class CreatedLocation implements NestInterceptor {
  constructor(private readonly host: HttpAdapterHost) {}

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<HttpRequest>();
    if (request.method !== 'POST') return next.handle();
    return next.handle().pipe(
      tap((answer) => {
        const id = typeof answer === 'object' && answer !== null ? created.get(answer) : undefined;
        if (id === undefined) return;
        const path = pathOf(request).replace(/\/$/, '');
        this.host.httpAdapter.setHeader(http.getResponse(), 'Location', `${path}/${encodeURIComponent(id)}`);
      }),
    );
  }
}
