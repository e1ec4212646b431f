import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Principal } from '../http/principal.js';
import type { HttpRequest } from '../http/request-facts.js';

export interface Authentication {
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

/** One for each connection: it keeps the authentication of the last message for `@CurrentUser()`. */
const REQUEST = Symbol('declarest.handshakeRequest');

interface Socket {
  readonly handshake?: {
    readonly headers: HttpRequest['headers'];
    readonly auth?: { readonly token?: unknown };
    [REQUEST]?: HttpRequest;
  };
  readonly request?: { readonly rawHeaders?: readonly string[] };
}

type GraphqlContext = { readonly req?: Partial<HttpRequest>; readonly request?: Partial<HttpRequest> } | undefined;

/** The request that carries the token: that of HTTP or of a GraphQL context, or a socket.io handshake, or none. */
export function requestOf(context: ExecutionContext): AuthenticatedRequest | undefined {
  const type = context.getType<string>();
  if (type === 'http') return context.switchToHttp().getRequest<HttpRequest>();
  if (type === 'ws') return handshakeRequest(context.switchToWs().getClient<Socket>());
  if (type !== 'graphql') return undefined;
  // The reference resolver of a federated graph has no arguments in front of the context.
  const { req, request } = context.getArgByIndex<GraphqlContext>(context.getArgs().length === 3 ? 1 : 2) ?? {};
  return [req, request].find((each): each is HttpRequest => typeof each?.headers === 'object');
}

/** socket.io sends the token as `auth.token`, with or without `Bearer`, or in the `Authorization` header. */
function handshakeRequest({ handshake, request: opening }: Socket): HttpRequest | undefined {
  if (!handshake) return undefined;
  const token = handshake.auth?.token;
  // Read for each message: the application may replace the token of a connection.
  const sent =
    typeof token === 'string'
      ? { headers: { authorization: /^Bearer /i.test(token) ? token : `Bearer ${token}` }, rawHeaders: [] }
      : { headers: handshake.headers, rawHeaders: opening?.rawHeaders ?? [] };
  return (handshake[REQUEST] = Object.assign(handshake[REQUEST] ?? { method: 'GET' }, sent));
}

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
export const CurrentUser = createParamDecorator(
  (_: unknown, context): Principal | undefined => requestOf(context)?.[AUTHENTICATION]?.principal,
);
