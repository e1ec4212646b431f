/** The request that is being handled, for operations that decide by its user, also where an override calls them. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';
import type { HttpRequest } from '../../http/request-facts.js';

const requests = new AsyncLocalStorage<HttpRequest>();

/** `undefined` outside of a request. */
export const currentRequest = (): HttpRequest | undefined => requests.getStore();

/** Calls the handler within the context of its request. */
export const requestContextInterceptor: NestInterceptor = {
  intercept: (context, next) =>
    new Observable((subscriber) =>
      requests.run(context.switchToHttp().getRequest<HttpRequest>(), () => next.handle().subscribe(subscriber)),
    ),
};
