import { createParamDecorator } from '@nestjs/common';
import type { HttpRequest } from '../http/request-facts.js';
import { requestOf } from './other-contexts.js';

/** The user of a request, as its token says. */
export interface Principal {
  /** In the type of the user's primary key. */
  readonly id: string | number;
  /** Empty where the user has none. */
  readonly email: string;
  readonly roles: readonly string[];
}

export interface Authentication {
  /** `undefined` without a valid token. */
  readonly principal?: Principal;
  /** Distinguishes an invalid token from no token. */
  readonly bearerWasSent: boolean;
}

/** Reads the token of a request. */
export abstract class Authenticator {
  abstract authenticate(request: HttpRequest): Authentication;
}

const AUTHENTICATION = Symbol('declarest.authentication');

interface AuthenticatedRequest extends HttpRequest {
  [AUTHENTICATION]?: Authentication;
  user?: unknown;
}

/** Authenticates a request once, before any guard, and sets `request.user`. */
export function authenticate(authenticator: Authenticator, request: AuthenticatedRequest): Authentication {
  const authentication = authenticator.authenticate(request);
  request[AUTHENTICATION] = authentication;
  if (authentication.principal) request.user = authentication.principal;
  return authentication;
}

/** What the first middleware found; read now where that has not run. */
export const authenticationOf = (authenticator: Authenticator, request: AuthenticatedRequest): Authentication =>
  request[AUTHENTICATION] ?? authenticate(authenticator, request);

/**
 * The parameter of a handler that receives the user of the request: `{ id, email, roles }` of the token. It is `undefined`
 * where no valid token was sent, which only public routes accept.
 *
 * @example
 * ```ts
 * @Get('orders')
 * orders(@CurrentUser() user: Principal) {
 *   return this.ordersOf(user.id);
 * }
 * ```
 */
export const CurrentUser = createParamDecorator((_: unknown, context): Principal | undefined => {
  const request = context.getType() === 'http' ? context.switchToHttp().getRequest<HttpRequest>() : requestOf(context);
  return (request as AuthenticatedRequest | undefined)?.[AUTHENTICATION]?.principal;
});
