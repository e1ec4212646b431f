import { UseGuards, type CanActivate } from '@nestjs/common';
import { UnreadableBody } from '../http/failure.js';
import type { HttpRequest } from '../http/request-facts.js';

/** The error of a body that the platform could not read, on the platform's request. */
const BODY_ERROR = Symbol('declarest.bodyError');
/** The metadata key of `@UseGuards()`. */
const GUARDS = '__guards__';

export interface DeferredRequest extends HttpRequest {
  body?: unknown;
  [BODY_ERROR]?: unknown;
}

/** Keeps the error for the guard below. Other guards may read fields of the body. */
export function keepBodyError(request: DeferredRequest, error: unknown): void {
  request[BODY_ERROR] = error;
  request.body = {};
}

/** Throws the error of an unreadable body, after all guards that may refuse the request. */
const unreadableBodyGuard: CanActivate = {
  canActivate(context) {
    const error = context.switchToHttp().getRequest<DeferredRequest | undefined>()?.[BODY_ERROR];
    if (error !== undefined) throw new UnreadableBody(error);
    return true;
  },
};

export const hasBodyGuard = (method: object): boolean =>
  ((Reflect.getMetadata(GUARDS, method) ?? []) as readonly CanActivate[]).includes(unreadableBodyGuard);

/** Must be called before Nest registers the routes. */
export function addBodyGuard(method: object): void {
  if (!hasBodyGuard(method)) UseGuards(unreadableBodyGuard)({}, '', { value: method });
}
