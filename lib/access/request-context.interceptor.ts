/** Gives handlers the context of their request where the middleware does not: in gateways, and behind parsers that lose it. */
import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';
import { contexts } from '../http/request-context.js';
import { requestOf } from './principal.js';
import { markOwn } from '../http/own-code.js';

@markOwn
@Injectable()
export class RequestContextInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = requestOf(context);
    const store = contexts.getStore();
    if (!request || store?.request === request) return next.handle();
    // A connection keeps its request, whose user may be another one for the next message.
    const own = context.getType() === 'ws' ? { ...request } : request;
    return new Observable((subscriber) =>
      contexts.run({ ...store, request: own }, () => next.handle().subscribe(subscriber)),
    );
  }
}
