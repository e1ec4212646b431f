import type { Type } from '@nestjs/common';
import type { DefaultAccess } from '../access/access.js';
import type { RoleHierarchy } from '../access/role-hierarchy.js';
import type { AuthUser } from './auth-user.js';
import type { OwnClaims } from './claims.js';
import type { PasswordHasher } from './passwords/password-hasher.js';
import type { SessionOptions, SessionSettings } from './sessions/session-options.js';
import type { LoginField, UserRepository } from './user.repository.js';

/** The field by which users log in. The plain strings `'EMAIL'` and `'USERNAME'` are accepted too. */
export enum LoginMethod {
  EMAIL = 'EMAIL',
  USERNAME = 'USERNAME',
}

/** Options that `forRootAsync` takes next to the factory, because they determine routes and providers. */
export interface AuthStaticOptions<U extends AuthUser = AuthUser> {
  /** The user class of the application, which extends `AuthUser`. */
  userClass: Type<U>;
  /** Stores the users. @default a TypeORM implementation over `userClass` */
  repositoryClass?: Type<UserRepository>;
  /** Base path of the endpoints. `auth` and `/auth/` both mean `/auth`. @default '/api/auth' */
  authBasePath?: string;
  /** Whether clients may register; `false` removes the endpoint. @default true */
  registration?: boolean;
  /**
   * Short access tokens with refresh tokens, logout, a list of sessions, a change of the password, and changes of the own
   * profile. Needs the table of `AuthSession`.
   * @default false
   */
  sessions?: boolean | SessionOptions;
}

/** Options that the factory of `forRootAsync` may return. */
export interface AuthSettings<U extends AuthUser = AuthUser, C extends object = object> {
  /** @default LoginMethod.EMAIL */
  loginMethod?: LoginMethod | `${LoginMethod}`;
  /**
   * Key that signs tokens with HS256, at least 32 bytes (256 bits, RFC 7518 §3.2). A shorter one is a warning, and an
   * error with `NODE_ENV=production`.
   *
   * With several keys, the first one signs and each one verifies. To replace a key, put the new one in front, and remove
   * the old one when nothing that it has signed is in use: after `jwtExpirationHours`, or after `refreshTokenDays` with
   * `sessions`.
   * @default a random key for each `forRoot` call, with a warning; an error with `NODE_ENV=production`
   */
  jwtSecret?: string | readonly string[] | undefined;
  /** Lifetime of a token, in hours; any positive number. Without effect with `sessions`. @default 24 */
  jwtExpirationHours?: number;
  /** The claim `iss` of tokens (RFC 7519 §4.1.1). A token with another one, or without it, is not valid. @default none */
  issuer?: string;
  /** The claim `aud` of tokens (RFC 7519 §4.1.3). A token that does not name it is not valid. @default none */
  audience?: string;
  /**
   * Adds claims to each token, to `request.user`, and to the user of scopes. `me` does not show them. What it returns must
   * be JSON, and small: it is sent with each request. Where it fails, or returns a reserved name (`sub`, `email`, `roles`,
   * `sid`, `id`, or a registered one such as `exp`), the error is logged and the login is answered with 500.
   *
   * @example claims: (user) => ({ tenantId: user.tenantId })
   */
  claims?: (user: U) => OwnClaims<C> | Promise<OwnClaims<C>>;
  /**
   * Cost of a password hash, as a power of two: 4 to 31. A login renews a hash that was made at a lower cost.
   * @default 12
   */
  bcryptRounds?: number;
  /** Hashes passwords in place of bcrypt. @default bcrypt with `bcryptRounds` */
  passwordHasher?: PasswordHasher;
  /** Columns added by the application's user class that a client may send to register. @default [] */
  registrationFields?: readonly string[];
  /**
   * Access for routes that match no rule: `authenticated`, `public` or `denied`.
   * @default 'authenticated' with a SecurityConfig, otherwise 'public' with a warning
   */
  defaultAccess?: DefaultAccess;
  /** The roles that rules enforce. A rule for another role requires only a valid token. @default every role */
  enforcedRoles?: readonly string[];
  /**
   * Roles that include other roles: with `{ ADMIN: ['EDITOR'] }` an ADMIN passes rules for EDITOR. Cycles are an error.
   * @default {}
   */
  roleHierarchy?: RoleHierarchy;
  /**
   * Turns warnings about access rules into errors at startup: a route without a rule, a rule without a route, a public
   * rule that opens part of a route, roles that no user can have together.
   * @default false
   */
  strict?: boolean;
  /**
   * Names the deciding rule in the `X-Access-Rule` header of 401 and 403 responses. For development only: an error with
   * `NODE_ENV=production`.
   * @default false
   */
  explainRefusals?: boolean;
}

export interface AuthOptions<U extends AuthUser = AuthUser, C extends object = object>
  extends AuthStaticOptions<U>, AuthSettings<U, C> {}

export interface ResolvedStaticOptions extends Readonly<
  Required<Omit<AuthStaticOptions, 'repositoryClass' | 'sessions'>>
> {
  readonly sessions: SessionSettings | undefined;
  readonly repositoryClass: Type<UserRepository> | undefined;
  /** Replaces a missing `jwtSecret`. Each `forRoot` call has one: a second `compile()` of a test keeps its tokens valid. */
  readonly randomSecret: string;
}

export interface ResolvedAuthOptions
  extends
    ResolvedStaticOptions,
    Readonly<Required<Omit<AuthSettings, 'loginMethod' | 'jwtSecret' | UndefinedSetting>>>,
    Readonly<Pick<AuthSettings, UndefinedSetting>> {
  readonly loginField: LoginField;
  /** The first one signs. */
  readonly jwtSecrets: readonly [string, ...string[]];
  readonly parseId: (text: string) => string | number;
}

/** Options without a default. */
type UndefinedSetting = 'defaultAccess' | 'enforcedRoles' | 'issuer' | 'audience' | 'claims' | 'passwordHasher';

export const AUTH_OPTIONS = Symbol('declarest.authOptions');
