import { createParamDecorator, Logger, type ExecutionContext } from '@nestjs/common';
import { ServiceUnavailable } from '../http/failure.js';
import { setCaller, setPrincipals, type LoginClaims, type Principal } from '../http/principal.js';
import type { AccessRefused } from '../http/refusal.js';
import { headerValues, type HttpRequest } from '../http/http-request.js';

export interface Authentication {
  readonly principal?: Principal;
  /** The user with all of its roles, where the token has fewer of them. */
  readonly whole?: readonly [Principal];
  /** Distinguishes an invalid token from no token. */
  readonly bearerWasSent: boolean;
  readonly session?: string;
  /** The bearer token, where it is none that the package has signed. */
  readonly token?: string | undefined;
  /** Whether the token is a key: its user has the role `KEY`, and opens no account endpoint. */
  readonly isKey?: boolean;
  /** When the package has signed the token, in seconds since 1970. */
  readonly issuedAt?: number | undefined;
  /** What the token says about the login. */
  readonly login?: LoginClaims;
  /** What a request that needs a user is answered with: the token may be valid (503), or is not good enough (403). */
  readonly failure?: ServiceUnavailable | AccessRefused;
}

/** RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^Bearer(?:$| +(?<token>[A-Za-z0-9._~+/-]+=*) *$| )/i;

export function bearerOf(request: HttpRequest): { readonly wasSent: boolean; readonly token: string | undefined } {
  const values = headerValues(request, 'authorization');
  const bearer = values.map((value) => BEARER.exec(value)).find((match) => match !== null);
  // Two Authorization headers are refused: a proxy in front may have checked the other one.
  return { wasSent: bearer !== undefined, token: values.length === 1 ? bearer?.groups?.['token'] : undefined };
}

export abstract class Authenticator {
  /** The decisions of a source of users. */
  readonly decidesBy?: Readonly<Record<string, unknown>>;

  abstract authenticate(request: HttpRequest): Authentication;

  /** Looks up what the token does not say. Never rejects. @returns `undefined` where nothing has to be looked up */
  abstract confirm(authentication: Authentication, request: HttpRequest): Promise<Authentication> | undefined;

  /** Reads the user again: with the present role, or without a principal. Never rejects. */
  abstract readCaller(authentication: Authentication): Promise<Authentication>;
}

/** Where it fails, it is not known whether a credential is valid: the request is 503 where it needs one. */
export function lookUp(
  what: string,
  work: () => Promise<Authentication>,
  answer = 'The database is temporarily unavailable, try again',
): Promise<Authentication> {
  return work().catch((cause: unknown): Authentication => {
    if (cause instanceof ServiceUnavailable) return { bearerWasSent: true, failure: cause };
    new Logger('SecurityRules').error(`${what} could not be read.`, cause instanceof Error ? cause.stack : cause);
    return { bearerWasSent: true, failure: new ServiceUnavailable(answer, 5, { cause }) };
  });
}

const AUTHENTICATION = Symbol('declarest.authentication');
const SHOWN = Symbol('declarest.shownUser');

interface AuthenticatedRequest extends HttpRequest {
  [AUTHENTICATION]?: Authentication;
  /** What `request.user` was set to. */
  [SHOWN]?: Principal | undefined;
  user?: unknown;
}

/** @returns a promise only where something has to be looked up: until then, a new request has no user */
export function authenticate(authenticator: Authenticator, request: AuthenticatedRequest): Promise<void> | undefined {
  let authentication: Authentication = { bearerWasSent: true };
  try {
    authentication = authenticator.authenticate(request);
  } catch {
    // A token that cannot be read authenticates nobody.
  }
  const confirmed = authenticator.confirm(authentication, request);
  // Other messages of the connection keep what was found for the last one.
  if (confirmed) return confirmed.then((each) => keep(request, each));
  keep(request, authentication);
  return undefined;
}

/** Replaces what the token says by what the database says now. */
export async function readCaller(authenticator: Authenticator, request: AuthenticatedRequest): Promise<void> {
  const known = request[AUTHENTICATION];
  if (!known?.principal) return;
  const read = await authenticator.readCaller(known);
  // A plugin may accept the token for the role that it names only.
  const roles = read.principal?.roles.join() ?? known.principal.roles.join();
  const isChanged = read.bearerWasSent && !read.isKey && roles !== known.principal.roles.join();
  const present = (isChanged && (await authenticator.confirm(read, request))) || read;
  const user = request.user as Partial<Principal> | undefined;
  // A guard of the application may have added to the user. A user of its own stays.
  const isAdded = user !== undefined && user.roles === request[SHOWN]?.roles;
  setAuthentication(request, present);
  if (present.principal && present !== known) setCaller(request, present.principal);
  if (isAdded) request.user = present.principal && (request[SHOWN] = { ...user, ...copyOf(present.principal) });
}

/** What application code writes to `request.user` changes no decision. */
const copyOf = (principal: Principal): Principal => ({ ...principal, roles: [...principal.roles] });

function setAuthentication(request: AuthenticatedRequest, authentication: Authentication): void {
  request[AUTHENTICATION] = authentication;
  setPrincipals(request, [authentication.principal, ...(authentication.whole ?? [])]);
}

export function keep(request: AuthenticatedRequest, authentication: Authentication): void {
  const { principal } = authentication;
  // The token of a connection may have expired since its last message.
  if (principal ?? request[AUTHENTICATION]?.principal) request.user = request[SHOWN] = principal && copyOf(principal);
  setAuthentication(request, authentication);
}

/** The result of the first middleware; `undefined` if it has not run. */
export const authenticationOf = (request: AuthenticatedRequest): Authentication | undefined => request[AUTHENTICATION];

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
 * @example orders(@CurrentUser() user: Principal) { return this.ordersOf(user.id); }
 */
export const CurrentUser = createParamDecorator(
  (_: unknown, context): Principal | undefined => requestOf(context)?.[AUTHENTICATION]?.principal,
);
