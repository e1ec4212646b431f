import type { Principal } from '../http/principal.js';
import type { HttpRequest } from '../http/request-facts.js';

export interface Authentication {
  /** `undefined` without a valid token. */
  readonly principal?: Principal;
  /** Distinguishes an invalid token from no token. */
  readonly bearerWasSent: boolean;
}

export abstract class Authenticator {
  abstract authenticate(request: HttpRequest): Authentication;
}

const AUTHENTICATION = Symbol('declarest.authentication');

interface AuthenticatedRequest extends HttpRequest {
  [AUTHENTICATION]?: Authentication;
  user?: unknown;
}

/** Authenticates a request, and sets `request.user`. */
export function authenticate(authenticator: Authenticator, request: AuthenticatedRequest): Authentication {
  let authentication: Authentication = { bearerWasSent: true };
  try {
    authentication = authenticator.authenticate(request);
  } catch {
    // A token that cannot be read authenticates nobody.
  }
  // The token of a connection may have expired since its last message.
  if (authentication.principal ?? request[AUTHENTICATION]?.principal) request.user = authentication.principal;
  request[AUTHENTICATION] = authentication;
  return authentication;
}

/** What the first middleware found; read now where that has not run. */
export const authenticationOf = (authenticator: Authenticator, request: AuthenticatedRequest): Authentication =>
  request[AUTHENTICATION] ?? authenticate(authenticator, request);

export const principalOf = (request: AuthenticatedRequest | undefined): Principal | undefined =>
  request?.[AUTHENTICATION]?.principal;
