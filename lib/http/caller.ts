/** Who sends a request: what its credentials say, and what the database says of the user. One record for each request. */
import type { ServiceUnavailable } from './failure.js';
import type { HttpRequest } from './http-request.js';
import type { AccessRefused } from './refusal.js';

interface TokenUser {
  readonly id: string | number;
  readonly email: string;
  readonly roles: readonly string[];
}

/**
 * The user of a request, as its token says.
 * @typeParam Claims what the option `claims` of `AuthModule` adds
 */
export type Principal<Claims extends object = object> = TokenUser & Readonly<Claims>;

/** How and when a user logged in: `amr` (RFC 8176), and `auth_time` in seconds (OpenID Connect Core 1.0 §2). */
export interface LoginClaims {
  readonly amr: readonly string[];
  readonly auth_time: number;
}

/** What the credentials of a request say. */
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

type Expand = (roles: readonly string[]) => readonly string[];

/** A copied request, such as that of one message of a connection, keeps the record that it was copied with. */
interface Caller {
  readonly authentication?: Authentication;
  /** As the database says at the beginning of the request. */
  readonly stored?: Principal;
  /** What `request.user` was set to. */
  readonly shown?: Principal | undefined;
  /** Adds the roles that other roles include. */
  readonly expand?: Expand;
}

const CALLER = Symbol('declarest.caller');

/** `user` is what handlers see: a copy of the principal, or what guards of the application set in its place. */
interface RequestOfUser extends HttpRequest {
  user?: unknown;
  [CALLER]?: Caller;
}

export const BASE_ROLE = 'USER';
/** The role that an administration needs. */
export const ADMIN_ROLE = 'ADMIN';
/** Where a plugin has keys: the role of requests by a key, and that of all others. No user has one of them. */
export const CREDENTIAL_ROLES = { key: 'KEY', login: 'LOGIN' } as const;

/** The roles of one application. Access rules and options set them at startup. */
export class CallerRoles {
  /** The role hierarchy, for callers that no guard has identified. */
  expand: Expand | undefined;
  /** The roles that options name, apart from rules: their spelling is compared with that of rules. */
  readonly ofOptions = new Set<string>();
  /** Every role that a rule or an option names. */
  names: ReadonlySet<string> = new Set();
  hasKeys = false;
}

function setCaller(request: RequestOfUser, known: Caller): void {
  request[CALLER] = { ...request[CALLER], ...known };
}

export const setRoleHierarchy = (request: RequestOfUser, expand: Expand): void => setCaller(request, { expand });

/** Also sets `request.user`, unless nobody is known: the token of a connection may have expired since its last message. */
export function setAuthentication(request: RequestOfUser, authentication: Authentication): void {
  const { principal } = authentication;
  if (!principal && !authenticationOf(request)?.principal) return setCaller(request, { authentication });
  const shown = principal && copyOf(principal);
  request.user = shown;
  setCaller(request, { authentication, shown });
}

/** Replaces what the token says by what the database says now. What a guard of the application has added to the user stays. */
export function setStoredUser(request: RequestOfUser, authentication: Authentication): void {
  const { authentication: known, shown } = request[CALLER] ?? {};
  const { principal } = authentication;
  const stored = principal && authentication !== known ? { stored: principal } : undefined;
  const user = request.user as Partial<Principal> | undefined;
  if (user === undefined || user.roles !== shown?.roles) return setCaller(request, { authentication, ...stored });
  const renewed = principal && { ...user, ...copyOf(principal) };
  request.user = renewed;
  setCaller(request, { authentication, ...stored, shown: renewed ?? shown });
}

/** What application code writes to `request.user` changes no decision. */
const copyOf = (principal: Principal): Principal => ({ ...principal, roles: [...principal.roles] });

/** The result of the first middleware; `undefined` if it has not run. */
export const authenticationOf = (request: RequestOfUser): Authentication | undefined => request[CALLER]?.authentication;

/** As stored; `undefined` where nothing was read: for routes that grant no power, and for callers that are not users. */
export const storedUserOf = (request: RequestOfUser | undefined): Principal | undefined => request?.[CALLER]?.stored;

/**
 * The user of the token, `undefined` without a valid one; then with all of its roles, where the token has fewer. Code that
 * decides by roles must allow each of them: a key with fewer roles than its user is never allowed more.
 */
export function principalsOf(request: RequestOfUser | undefined): readonly (Principal | undefined)[] {
  const whole = request?.[CALLER]?.authentication?.whole;
  return whole ? [userOf(request), ...whole] : [userOf(request)];
}

/** The principal; `request.user` in an application without authentication of the package. */
export function userOf(request: RequestOfUser | undefined): Principal | undefined {
  const authentication = request?.[CALLER]?.authentication;
  return authentication ? authentication.principal : ((request?.user ?? undefined) as Principal | undefined);
}

/** Whether the user of a request has one of the roles, itself or by another role that includes it. */
export function hasAnyRole(request: RequestOfUser | undefined, roles: readonly string[]): boolean {
  const user = userOf(request);
  if (!user) return false;
  const named = Array.isArray(user.roles) ? (user.roles as readonly string[]) : [];
  const all = request?.[CALLER]?.expand?.(named) ?? named;
  return roles.some((role) => role === BASE_ROLE || all.includes(role));
}
