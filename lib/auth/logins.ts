/** Checks credentials, and issues what a client needs to be logged in. */
import { ForbiddenException, Inject, Injectable, Optional, UnauthorizedException } from '@nestjs/common';
import type { JsonObject } from '../http/json-body.js';
import type { HttpRequest } from '../http/request-facts.js';
import { AuthEvents } from './auth-events.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { checkOwnClaims } from './claims.js';
import { clientFactsOf } from './client-facts.js';
import { AccountTokens } from './passwords/account-tokens.js';
import { Passwords } from './passwords/passwords.js';
import { isText } from './request-fields.js';
import { Sessions, type StartedSession } from './sessions/sessions.js';
import { Attempts } from './throttle/attempts.js';
import { Tokens } from './tokens.js';
import { fitsBcrypt, InvalidUserError, USER_CHECKS } from './user-checks.js';
import { UserRepository } from './user.repository.js';

/** A login that is longer belongs to nobody. */
const MAX_LOGGED = 254;

/** What an answer with a token holds. */
export interface IssuedTokens {
  readonly token: string;
  readonly refreshToken?: string;
  /** Seconds until the token expires. */
  readonly expiresIn?: number;
}

@Injectable()
export class Logins {
  constructor(
    private readonly users: UserRepository,
    private readonly passwords: Passwords,
    private readonly accessTokens: Tokens,
    private readonly attempts: Attempts,
    private readonly events: AuthEvents,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    @Optional() private readonly sessions?: Sessions,
    @Optional() private readonly tokens?: AccountTokens,
  ) {}

  /** Neither the response nor its time reveals which part of the credentials was wrong. @throws 400, 401, 403, 429 */
  async verify(body: JsonObject, request: HttpRequest): Promise<AuthUser> {
    const { loginField } = this.options;
    const { address } = clientFactsOf(request);
    const { [loginField]: name, password } = body;
    if (!isText(name) || !isText(password))
      throw new InvalidUserError(
        Object.entries({ [loginField]: name, password })
          .filter(([, value]) => !isText(value))
          .map(([field, value]) => `${field}: ${value == null ? 'required' : 'expected well-formed text'}`),
      );
    return this.attempts.run({ action: 'password', account: name, address }, () => this.find(name, password, address));
  }

  private async find(name: string, password: string, address: string | undefined): Promise<AuthUser> {
    const { loginField, requireVerified } = this.options;
    // A name that no user can have needs no query.
    const checked = USER_CHECKS[loginField](name);
    const user = 'value' in checked ? await this.users.findByLogin(loginField, checked.value as string) : null;
    const matches = await this.passwords.verify(password, user?.password);
    // bcrypt compares only the beginning of an over-long password.
    if (!user?.active || !matches || !fitsBcrypt(password)) {
      this.events.emit('login.failed', { login: name.slice(0, MAX_LOGGED), address });
      throw new UnauthorizedException('Invalid credentials');
    }
    if (requireVerified && !(await this.tokens?.isVerified(user)))
      throw new ForbiddenException('The e-mail address is not verified');
    this.events.emit('login.succeeded', { userId: String(user.id), address });
    await this.passwords.renew(user, password);
    return withoutHash(user);
  }

  /** Starts a session, where the application has sessions. @throws Error where the option `claims` fails */
  async issue(user: AuthUser, request: HttpRequest): Promise<IssuedTokens> {
    const own = await this.ownClaims(user);
    const session = await this.sessions?.start(user, clientFactsOf(request));
    return this.tokensOf(user, own, session);
  }

  /** The tokens of a session that was refreshed. @throws Error where the option `claims` fails */
  async renew(user: AuthUser, session: StartedSession): Promise<IssuedTokens> {
    return this.tokensOf(user, await this.ownClaims(user), session);
  }

  private async ownClaims(user: AuthUser): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { claims } = this.options;
    return claims && checkOwnClaims(await claims(user));
  }

  private tokensOf(
    { id, email, role }: AuthUser,
    own: Readonly<Record<string, unknown>> | undefined,
    session: StartedSession | undefined,
  ): IssuedTokens {
    const claims = { sub: String(id), email: email ?? '', roles: [role], ...(own && { own }) };
    if (!session) return { token: this.accessTokens.sign(claims) };
    const { id: sid, refreshToken } = session;
    return { token: this.accessTokens.sign({ ...claims, sid }), refreshToken, expiresIn: this.accessTokens.seconds };
  }
}

/** A copy: the repository may keep the user that it returned. */
function withoutHash(user: AuthUser): AuthUser {
  const shown = Object.entries(user).filter(([name]) => name !== 'password');
  return Object.assign(Object.create(Object.getPrototypeOf(user) as object) as AuthUser, Object.fromEntries(shown));
}
