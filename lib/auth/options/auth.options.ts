import type { Type } from '@nestjs/common';
import type { AccessSettings } from '../../access/access-options.js';
import type { PasswordHasher } from '../passwords/password-hasher.js';
import type { PasswordPolicyOptions } from '../passwords/password-policy.js';
import type { AuthPlugin } from '../plugins/plugin.js';
import type { ThrottleOptions } from '../throttle/throttle-options.js';
import type { OwnClaims } from '../tokens/claims.js';
import type { AuthUser } from '../users/auth-user.js';
import type { UserRepository } from '../users/user.repository.js';
import type { MailerProvider } from './mailer.js';
import type { SessionOptions } from './session-options.js';

/** The field by which users log in. The plain strings `'EMAIL'` and `'USERNAME'` are accepted too. */
export enum LoginMethod {
  EMAIL = 'EMAIL',
  USERNAME = 'USERNAME',
}

export interface JwtKey {
  /** Names the key in tokens and in the key set. No other key has it. */
  readonly kid: string;
  /** `EdDSA` with Ed25519, `ES256` with P-256, `RS256` with RSA of at least 2048 bits. */
  readonly alg: 'EdDSA' | 'ES256' | 'RS256';
  /** In PEM, without a passphrase. */
  readonly privateKey: string;
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
  /**
   * A new password by a link that is mailed, and changes of the e-mail address. Needs `mailer` and `accountLinks` in
   * production, and the tables of `AccountToken` and `VerifiedEmail`.
   * @default false
   */
  passwordReset?: boolean;
  /**
   * Whether users must confirm their e-mail address by a link that is mailed before they may log in. Needs what
   * `passwordReset` needs. Users created by `UserAccounts` are verified.
   * @default false
   */
  requireVerified?: boolean;
  /**
   * Sends mails to users: a class, value or factory, as in a Nest provider.
   * @default none: in development, links are logged; production refuses to start with `passwordReset` or `requireVerified`
   * @example mailer: { useClass: ShopMailer }
   */
  mailer?: MailerProvider;
  /**
   * Endpoints for users with the role ADMIN: list and change users, end their sessions, and mail them a link for a new
   * password. The last active ADMIN can be neither demoted nor deactivated.
   * @default false
   */
  administration?: boolean;
  /**
   * Further features of accounts: your own, or those of the options above in their long form, such as `sessions({…})`. Hooks
   * run in the order of the list, after those of the options.
   * @default []
   * @example plugins: [sessions({ accessTokenMinutes: 5 }), magicLinks]
   */
  plugins?: readonly AuthPlugin[];
  /**
   * Private keys that sign tokens in place of `jwtSecret`: other services verify tokens by the public keys, which GET
   * `/.well-known/jwks.json` answers to everybody. The first one signs, and each one verifies. With a `jwtSecret`, tokens that
   * it has signed are valid too.
   * @default none: `jwtSecret` signs with HS256
   * @example jwtKeys: [{ kid: '2026-01', alg: 'EdDSA', privateKey: process.env['JWT_KEY'] ?? '' }]
   */
  jwtKeys?: readonly JwtKey[];
  /** Limits guessing of passwords and tokens. `false` counts nothing. @default generous limits in memory */
  throttle?: false | ThrottleOptions;
}

/** Options that the factory of `forRootAsync` may return. */
export interface AuthSettings<U extends AuthUser = AuthUser, C extends object = object> extends AccessSettings {
  /** The field by which users log in; the other one is optional. @default LoginMethod.EMAIL */
  loginMethod?: LoginMethod | `${LoginMethod}`;
  /**
   * Key that signs tokens with HS256, at least 32 bytes (256 bits, RFC 7518 §3.2). A shorter one is a warning, and an
   * error with `NODE_ENV=production`.
   *
   * With several keys, the first one signs and each one verifies. To replace a key, put the new one in front, and remove
   * the old one when nothing that it has signed is in use: after `jwtExpirationHours`, or after `refreshTokenDays` with
   * `sessions`.
   * @default none with `jwtKeys`; else a random key for each `forRoot` call, with a warning; an error with `NODE_ENV=production`
   */
  jwtSecret?: string | readonly string[] | undefined;
  /** Lifetime of a token, in hours; any positive number. Without effect with `sessions`. @default 24 */
  jwtExpirationHours?: number;
  /** The claim `iss` of tokens (RFC 7519 §4.1.1). A token with another one, or without it, is not valid. @default none */
  issuer?: string;
  /** The claim `aud` of tokens (RFC 7519 §4.1.3). A token that does not name it is not valid. @default none */
  audience?: string;
  /**
   * The page of the front end that mailed links lead to: `/verify` and `/reset` are added to it. It is never taken from the
   * request.
   * @default 'http://localhost:5173' in development; production needs it with `passwordReset` or `requireVerified`
   * @example accountLinks: 'https://shop.example/account'
   */
  accountLinks?: string | undefined;
  /** Which passwords are accepted, besides the limits of 8 characters and `passwordHasher.maxBytes`. @default any */
  passwordPolicy?: PasswordPolicyOptions;
  /**
   * Adds claims to each token, to `request.user`, and to the user of scopes. `me` does not show them. What it returns must
   * be JSON, and small: it is sent with each request. Where it fails, or returns a reserved name (`sub`, `email`, `roles`,
   * `sid`, `id`, or a registered one such as `exp`), the error is logged and the login is answered with 500.
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
  /** The role of users who register, also by a passkey or at a provider; not `ADMIN`. @default 'USER' */
  registrationRole?: string;
}

export interface AuthOptions<U extends AuthUser = AuthUser, C extends object = object>
  extends AuthStaticOptions<U>, AuthSettings<U, C> {}
