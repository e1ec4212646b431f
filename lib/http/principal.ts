import type { HttpRequest } from './http-request.js';

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

/** The user of the token, `undefined` without a valid one; then with all of its roles, where the token has fewer. */
type Principals = readonly (Principal | undefined)[];

type Expand = (roles: readonly string[]) => readonly string[];
const EXPAND = Symbol('declarest.expandRoles');
const PRINCIPAL = Symbol('declarest.principal');
const CALLER = Symbol('declarest.caller');

/** `user` is what handlers see: a copy of the principal, or what guards of the application set in its place. */
interface RequestOfUser extends HttpRequest {
  readonly user?: unknown;
  [PRINCIPAL]?: Principals;
  [EXPAND]?: Expand;
  [CALLER]?: Principal;
}

export const BASE_ROLE = 'USER';
/** The role that an administration needs. */
export const ADMIN_ROLE = 'ADMIN';
/** Where a plugin has keys: the role of requests by a key, and that of all others. No user has one of them. */
export const CREDENTIAL_ROLES = { key: 'KEY', login: 'LOGIN' } as const;

/** @param expand adds the roles that other roles include */
export const setRoleHierarchy = (request: RequestOfUser, expand: Expand): void => void (request[EXPAND] = expand);

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

/** @param caller as the database says at the beginning of the request */
export const setCaller = (request: RequestOfUser, caller: Principal): void => void (request[CALLER] = caller);

/** `undefined` where nothing was read: for routes that grant no power, and for callers that are not users. */
export const callerOf = (request: RequestOfUser | undefined): Principal | undefined => request?.[CALLER];

export const setPrincipals = (request: RequestOfUser, principals: Principals): void =>
  void (request[PRINCIPAL] = principals);

/** Code that decides by roles must allow each of them: a key with fewer roles than its user is never allowed more. */
export const principalsOf = (request: RequestOfUser | undefined): Principals =>
  request?.[PRINCIPAL] ?? [userOf(request)];

/** The principal; `request.user` in an application without authentication of the package. */
export const userOf = (request: RequestOfUser | undefined): Principal | undefined =>
  request?.[PRINCIPAL] ? request[PRINCIPAL][0] : ((request?.user ?? undefined) as Principal | undefined);

/** Whether the user of a request has one of the roles, itself or by another role that includes it. */
export function hasAnyRole(request: RequestOfUser | undefined, roles: readonly string[]): boolean {
  const user = userOf(request);
  if (!user) return false;
  const named = Array.isArray(user.roles) ? (user.roles as readonly string[]) : [];
  const all = request?.[EXPAND]?.(named) ?? named;
  return roles.some((role) => role === BASE_ROLE || all.includes(role));
}
