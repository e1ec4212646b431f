import { createParamDecorator } from '@nestjs/common';
import type { HttpRequest } from '../http/request-facts.js';

/** Who sent a request, as its token says. */
export interface Principal {
  /** In the type of the user's primary key. */
  readonly id: string | number;
  /** Empty where the user has none. */
  readonly email: string;
  readonly roles: readonly string[];
}

/** Reads a request's token. `bearerWasSent` tells a bad token from none. */
export abstract class Authenticator {
  abstract authenticate(request: HttpRequest): { readonly principal?: Principal; readonly bearerWasSent: boolean };
}

const principals = new WeakMap<HttpRequest, () => Principal | undefined>();

/** Set by the guard, before the handler; read only when asked, so that a public route verifies no token for nothing. */
export const rememberPrincipal = (request: HttpRequest, read: () => Principal | undefined): void =>
  void principals.set(request, read);

/**
 * The parameter of a handler that tells who sent the request: `{ id, email, roles }` of the token, or `undefined`
 * where no valid one was sent, which only a public route allows.
 */
export const CurrentUser = createParamDecorator((_: unknown, context): Principal | undefined =>
  context.getType() === 'http' ? principals.get(context.switchToHttp().getRequest<HttpRequest>())?.() : undefined,
);
