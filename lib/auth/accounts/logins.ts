/** Checks credentials, and issues what a client needs to be logged in. */
import { ForbiddenException, Inject, Injectable, Optional, UnauthorizedException } from '@nestjs/common';
import type { JsonObject } from '../../http/json-body.js';
import type { Principal } from '../../http/principal.js';
import { AuthenticationRequired } from '../../http/refusal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import { AuthEvents } from '../users/auth-events.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth.options.js';
import type { AuthUser } from '../users/auth-user.js';
import { checkOwnClaims } from '../tokens/claims.js';
import { clientFactsOf } from '../throttle/client-info.js';
import { AccountTokens } from '../links/mailed-tokens.js';
import { Passwords } from '../passwords/passwords.js';
import type { SentToken } from '../sessions/refresh-tokens.js';
import { Sessions, type StartedSession } from '../sessions/sessions.js';
import { Attempts } from '../throttle/attempts.js';
import { Tokens } from '../tokens/access-tokens.js';
import { fitsBcrypt, readTexts, USER_CHECKS } from '../users/user-checks.js';
import { UserRepository, withoutHash } from '../users/user.repository.js';

/** A login that is longer belongs to nobody. */
const MAX_LOGGED = 254;

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

  /**
   * Neither the response nor its time reveals which part of the credentials was wrong.
   * @throws 400, 401, 403, 429; Error where the option `claims` fails
   */
  async login(body: JsonObject, request: HttpRequest): Promise<{ user: AuthUser; tokens: IssuedTokens }> {
    const { name, password } = this.readCredentials(body);
    const { address } = clientFactsOf(request);
    let lookUp: Promise<AuthUser | null> | undefined;
    const find = (): Promise<AuthUser | null> => (lookUp ??= this.find(name));
    const findUser = async (): Promise<string | undefined> => (await find())?.id.toString();
    const attempt = { action: 'password', account: name, address, findUser } as const;
    const found = await this.attempts.run(attempt, async () => this.compare(name, await find(), password, address));
    const hash = await this.passwords.renew(found, password);
    const userId = String(found.id);
    const session = await this.sessions?.start(found, clientFactsOf(request));
    try {
      // A reset, a new role or a deactivation may have come between, and ended the sessions that it found.
      const present = await this.passwords.recheck(userId, password, hash);
      if (!present) throw this.failed(name, address);
      const user = withoutHash(present);
      const own = await this.ownClaims(user);
      this.events.emit('login.succeeded', { userId, address });
      return { user, tokens: this.tokensOf(user, own, session) };
    } catch (error) {
      if (session) await this.sessions?.endOwn(userId, session.id);
      throw error;
    }
  }

  private readCredentials(body: JsonObject): { readonly name: string; readonly password: string } {
    const { loginField } = this.options;
    const read = readTexts({ [loginField]: body[loginField], password: body['password'] }, [loginField, 'password']);
    return { name: read[loginField], password: read.password };
  }

  /** @returns the user including its password hash */
  private async find(name: string): Promise<AuthUser | null> {
    const { loginField } = this.options;
    // A name that no user can have needs no query.
    const checked = USER_CHECKS[loginField](name);
    return 'value' in checked ? this.users.findByLogin(loginField, checked.value as string) : null;
  }

  private async compare(name: string, user: AuthUser | null, password: string, address: string | undefined) {
    // Who cannot log in takes as long as an unknown user. bcrypt compares only the beginning of an over-long password.
    const hash = user?.active && fitsBcrypt(password) ? user.password : undefined;
    const matches = await this.passwords.verify(password, hash);
    if (!user || !matches) throw this.failed(name, address);
    if (this.options.requireVerified && !(await this.tokens?.isVerified(user)))
      throw new ForbiddenException('The e-mail address is not verified');
    return user;
  }

  private failed(name: string, address: string | undefined): UnauthorizedException {
    this.events.emit('login.failed', { login: name.slice(0, MAX_LOGGED), address });
    return new UnauthorizedException('Invalid credentials');
  }

  /**
   * The password that a user must repeat before a change that a stolen token alone must not allow.
   * @returns the user including its hash @throws 401 for a wrong password and an inactive user, 429
   */
  async repeatPassword({ id }: Principal, password: string, request: HttpRequest): Promise<AuthUser> {
    const user = await this.users.findById(String(id));
    if (!user?.active) throw new AuthenticationRequired(true);
    const { address } = clientFactsOf(request);
    const account = user[this.options.loginField] ?? String(id);
    return this.attempts.run({ action: 'password', account, address, findUser: async () => String(id) }, async () => {
      const found = await this.passwords.verifyUser(String(id), password);
      if (!found) throw new UnauthorizedException('Invalid credentials');
      return found;
    });
  }

  /** For a user who has just registered. @throws Error where `claims` fails; the user is removed then */
  async welcome(user: AuthUser, request: HttpRequest): Promise<IssuedTokens> {
    const userId = String(user.id);
    const own = await this.ownClaims(user).catch(async (error: unknown) => {
      // A repository may not implement it. The error of the claims says what is wrong.
      await this.users.undoCreate(userId).catch(() => undefined);
      throw error;
    });
    this.events.emit('user.registered', { userId });
    return this.tokensOf(user, own, await this.sessions?.start(user, clientFactsOf(request)));
  }

  /**
   * Spends a refresh token. Where `claims` fails, the token is not spent.
   * @returns `undefined` for a token that is not valid @throws Error where the option `claims` fails
   */
  async refresh(sent: SentToken, request: HttpRequest): Promise<IssuedTokens | undefined> {
    const open = await this.sessions?.open(sent);
    if (!open) return undefined;
    const own = await this.ownClaims(open.user);
    const session = await this.sessions?.rotate(open, clientFactsOf(request));
    return session && this.tokensOf(session.user, own, session);
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
