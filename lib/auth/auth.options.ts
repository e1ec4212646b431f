import type { Type } from '@nestjs/common';
import type { DefaultAccess } from '../access/access.js';
import type { RoleHierarchy } from '../access/role-hierarchy.js';
import type { AuthUser } from './auth-user.js';
import type { LoginField, UserRepository } from './user.repository.js';

/** The field by which users log in. The plain strings `'EMAIL'` and `'USERNAME'` are accepted too. */
export enum LoginMethod {
  EMAIL = 'EMAIL',
  USERNAME = 'USERNAME',
}

/** Options that `forRootAsync` takes next to the factory, because they determine routes and providers. */
export interface AuthStaticOptions {
  /** The user class of the application, which extends `AuthUser`. */
  userClass: Type<AuthUser>;
  /** Stores the users. @default a TypeORM implementation over `userClass` */
  repositoryClass?: Type<UserRepository>;
  /** Base path of the endpoints. `auth` and `/auth/` both mean `/auth`. @default '/api/auth' */
  authBasePath?: string;
  /** Whether clients may register; `false` removes the endpoint. @default true */
  registration?: boolean;
}

/** Options that the factory of `forRootAsync` may return. */
export interface AuthSettings {
  /** @default LoginMethod.EMAIL */
  loginMethod?: LoginMethod | `${LoginMethod}`;
  /**
   * Key that signs tokens with HS256, at least 32 bytes (256 bits, RFC 7518 §3.2). A shorter one is a warning, and an
   * error with `NODE_ENV=production`.
   * @default a random key for each `forRoot` call, with a warning; an error with `NODE_ENV=production`
   */
  jwtSecret?: string | undefined;
  /** Lifetime of a token, in hours; any positive number. @default 24 */
  jwtExpirationHours?: number;
  /** Cost of a password hash, as a power of two: 4 to 31. @default 12 */
  bcryptRounds?: number;
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

export interface AuthOptions extends AuthStaticOptions, AuthSettings {}

export interface ResolvedStaticOptions extends Readonly<Required<Omit<AuthStaticOptions, 'repositoryClass'>>> {
  readonly repositoryClass: Type<UserRepository> | undefined;
  /** Replaces a missing `jwtSecret`. Each `forRoot` call has one: a second `compile()` of a test keeps its tokens valid. */
  readonly randomSecret: string;
}

export interface ResolvedAuthOptions
  extends
    ResolvedStaticOptions,
    Readonly<Required<Omit<AuthSettings, 'loginMethod' | 'jwtSecret' | 'defaultAccess' | 'enforcedRoles'>>>,
    Readonly<Pick<AuthSettings, 'defaultAccess' | 'enforcedRoles'>> {
  readonly loginField: LoginField;
  readonly jwtSecret: string;
  readonly parseId: (text: string) => string | number;
}

export const AUTH_OPTIONS = Symbol('declarest.authOptions');
