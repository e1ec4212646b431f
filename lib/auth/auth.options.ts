import type { Type } from '@nestjs/common';
import type { DefaultAccess } from '../access/access.js';
import type { RoleHierarchy } from '../access/role-hierarchy.js';
import type { AuthUser } from './auth-user.js';
import type { LoginField, UserRepository } from './user.repository.js';

/** What users log in with. The plain strings are accepted too. */
export enum LoginMethod {
  EMAIL = 'EMAIL',
  USERNAME = 'USERNAME',
}

/** What must be known before any factory runs, because routes are fixed by then. */
export interface AuthStaticOptions {
  /** The user of the application, a class that extends `AuthUser`. */
  userClass: Type<AuthUser>;
  /**
   * Where users are kept.
   * @default a TypeORM implementation over `userClass`
   */
  repositoryClass?: Type<UserRepository>;
  /**
   * Where the endpoints stand; normalised: `auth` and `/auth/` are `/auth`.
   * @default '/api/auth'
   */
  authBasePath?: string;
  /**
   * Whether anybody may register; `false` removes the endpoint.
   * @default true
   */
  registration?: boolean;
}

export interface AuthSettings {
  /** @default LoginMethod.EMAIL */
  loginMethod?: LoginMethod | `${LoginMethod}`;
  /**
   * The key that signs tokens, at least 32 bytes (256 bits, RFC 7518 §3.2): shorter is a warning, and refused with
   * NODE_ENV=production.
   * @default a random one for each start, with a warning; refused with NODE_ENV=production
   */
  jwtSecret?: string | undefined;
  /**
   * How long a token is valid, in hours; any positive number.
   * @default 24
   */
  jwtExpirationHours?: number;
  /**
   * How many verified tokens are kept, so that the next request with the same one spares its signature: 0 to 1,000,000.
   * The time of a token is checked on every request all the same, and refusals are not kept. Each token takes about
   * 0.5 kB (measured: `npm run bench:tokens`) and at most 5 kB; those of more than 1,024 letters are not kept.
   * @default 0
   */
  tokenCacheSize?: number;
  /**
   * The cost of a password hash, as a power of two: 4 to 31.
   * @default 12
   */
  bcryptRounds?: number;
  /**
   * Columns of the application's own user that a client may give when it registers.
   * @default []
   */
  registrationFields?: readonly string[];
  /**
   * Who reaches a route that no rule speaks of: `authenticated`, `public` or `denied`.
   * @default 'authenticated' where a SecurityConfig is declared, otherwise 'public' with a warning
   */
  defaultAccess?: DefaultAccess;
  /**
   * Rules for other roles then ask for a valid token only.
   * @default every role is enforced
   */
  enforcedRoles?: readonly string[];
  /**
   * Roles that include others: with `{ ADMIN: ['EDITOR'] }` whoever has ADMIN passes a rule for EDITOR. Cycles are refused.
   * @default {}
   */
  roleHierarchy?: RoleHierarchy;
  /**
   * Refuses to boot where rules leave a doubt, which otherwise is a warning: a route that no rule governs, a rule that
   * governs no route, a public rule that opens a part of a route, roles that no user has together.
   * @default false
   */
  strict?: boolean;
  /**
   * A refused answer names the deciding rule in `X-Access-Rule`. For development: refused with NODE_ENV=production.
   * @default false
   */
  explainRefusals?: boolean;
}

export interface AuthOptions extends AuthStaticOptions, AuthSettings {}

export interface ResolvedStaticOptions {
  readonly userClass: Type<AuthUser>;
  readonly repositoryClass: Type<UserRepository> | undefined;
  readonly authBasePath: string;
  readonly registration: boolean;
}

export interface ResolvedAuthOptions extends ResolvedStaticOptions {
  readonly loginField: LoginField;
  readonly jwtSecret: string;
  readonly jwtExpirationHours: number;
  readonly tokenCacheSize: number;
  readonly bcryptRounds: number;
  readonly registrationFields: readonly string[];
  readonly defaultAccess: DefaultAccess | undefined;
  readonly enforcedRoles: readonly string[] | undefined;
  readonly roleHierarchy: RoleHierarchy;
  readonly strict: boolean;
  readonly explainRefusals: boolean;
  /** An id, as text, in the type of the user's primary key. */
  readonly idOf: (text: string) => string | number;
}

export const AUTH_OPTIONS = Symbol('declarest.authOptions');
export const AUTH_STATIC_OPTIONS = Symbol('declarest.authStaticOptions');
