import { HttpStatus, RequestMethod, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { tap } from 'rxjs';
import { pathOf, type HeaderWriter, type HttpRequest } from '../../http/request-facts.js';

/** Sets `Location` (RFC 9110 §15.3.2) when `POST {endpoint}` answers 201 with a record that has an `id`. */
export const locationInterceptor: NestInterceptor = {
  intercept: (context, next) => next.handle().pipe(tap((answer: unknown) => setLocation(context, answer))),
};

export function setLocation(context: ExecutionContext, answer: unknown): void {
  const id = (answer as { readonly data?: { readonly id?: unknown } | null } | null | undefined)?.data?.id;
  const http = context.switchToHttp();
  const response = http.getResponse<HeaderWriter & { readonly statusCode: number }>();
  if (response.statusCode !== HttpStatus.CREATED || (typeof id !== 'string' && typeof id !== 'number')) return;
  const path = pathOf(http.getRequest<HttpRequest>()).replace(/\/$/, '');
  response.header('Location', `${path}/${encodeURIComponent(id)}`);
}

/** Whether a handler serves `POST {endpoint}` itself, whatever its name. */
export const createsRecords = (handler: object): boolean =>
  Reflect.getMetadata('method', handler) === RequestMethod.POST &&
  /^\/?$/.test(String(Reflect.getMetadata('path', handler)));
