/** Checks credentials, and issues what a client needs to be logged in. */
import { Inject, Injectable, UnauthorizedException } from '@nestjs/common';
import type { JsonObject } from '../../http/json-body.js';
import { BASE_ROLE, type LoginClaims, type Principal } from '../../http/caller.js';
import { AuthenticationRequired } from '../../http/refusal.js';
import type { HttpRequest } from '../../http/http-request.js';
import type { ResolvedAuthOptions } from '../options/resolve-options.js';
import { NO_PASSWORD } from '../passwords/password-hasher.js';
import { Passwords } from '../passwords/passwords.js';
import { AuthPlugins } from '../plugins/auth-plugins.js';
import type { LoginContext } from '../plugins/plugin.js';
import { Attempts } from '../throttle/attempts.js';
import { clientInfoOf } from '../../http/client-info.js';
import { AccessTokens } from '../tokens/access-tokens.js';
import { AuthEvents } from '../../access/auth-events.js';
import { profileOf, type AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { readTexts } from '../users/user-checks.js';
import { UserRepository, userByLogin, withoutHash, type UserFields } from '../users/user.repository.js';

/** No login name is longer. */
const MAX_LOGGED = 254;

/** A user whom an endpoint of a plugin has identified. */
export interface IdentifiedUser {
  readonly id: string | number;
  /** How the user was identified. The tokens of the login say it, also after a refresh. */
  readonly login?: LoginClaims;
  /** Spends what has identified the user, when all is issued. Where it returns `false`, the login fails. */
  readonly spend?: () => Promise<boolean>;
}

/** What a user without a password logs in with. */
export interface WayIn {
  /** Whether the address is verified, as by a provider. */
  readonly isVerified?: boolean;
  /** @returns `false` where another user has it */
  readonly add: (userId: string) => Promise<boolean>;
  readonly remove: (userId: string) => Promise<unknown>;
}

/** Reads the user again. @returns `undefined` where the credentials do not count any more */
type Recheck = () => Promise<AuthUser | undefined>;

/** The body of the answer of a login. */
export interface LoginAnswer {
  readonly success: true;
  readonly message: string;
  /** `user`, `token` and what plugins add; after a challenge, its data. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Logs users in. An endpoint of a plugin that has identified a user returns what `complete` returns.
 * @example run: async ({ get }, { body, request }) => get(Logins).complete(await get(Pins).spend(body.pin), request)
 */
@Injectable()
export class Logins {
  constructor(
    private readonly users: UserRepository,
    private readonly passwords: Passwords,
    private readonly accessTokens: AccessTokens,
    private readonly attempts: Attempts,
    private readonly events: AuthEvents,
    private readonly plugins: AuthPlugins,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  /**
   * Logs in a user whom the caller has identified, by something that is as good as the password. The hooks of all plugins
   * run, and the user is read again. The caller limits the attempts, such as by `limit` of its endpoint.
   * @returns the body of the answer; a challenge in place of the token where a plugin asks for a further step
   * @throws 401 for a user who is unknown or inactive, and what hooks throw
   */
  async complete({ id, login, spend }: IdentifiedUser, request: HttpRequest): Promise<LoginAnswer> {
    const context = { ...contextOf(request), login };
    const userId = String(id);
    const found = await this.users.findById(userId);
    if (!found?.active) throw this.failed(found?.[this.options.loginField] ?? userId, context);
    const challenge = await this.plugins.beforeLogin(found, context);
    if (challenge) return { ...challenge, success: true };
    return this.logIn(found, context, async () => {
      const user = await this.users.findById(userId);
      return user?.active && (await spend?.()) !== false ? user : undefined;
    });
  }

  /**
   * @internal Neither the response nor its time reveals which part of the credentials was wrong.
   * @throws 400, 401, 429, and what hooks throw; Error where the option `claims` fails
   */
  async login(body: JsonObject, request: HttpRequest): Promise<LoginAnswer> {
    const { loginField } = this.options;
    const sent = { [loginField]: body[loginField], password: body['password'] };
    const { [loginField]: name, password } = readTexts(sent, [loginField, 'password']);
    const context = contextOf(request);
    const { address } = context;
    let lookUp: Promise<AuthUser | null> | undefined;
    const find = (): Promise<AuthUser | null> => (lookUp ??= userByLogin(this.users, loginField, name));
    const findUser = async (): Promise<string | undefined> => (await find())?.id.toString();
    const attempt = { action: 'password', account: name, address, findUser } as const;
    const { found, hash, challenge } = await this.attempts.run(attempt, async () => {
      const user = await find();
      // Who cannot log in takes as long as an unknown user.
      const matches = await this.passwords.verify(password, user?.active ? user.password : undefined);
      if (!user || !matches) throw this.failed(name, context);
      const renewed = await this.passwords.renew(user, password);
      return { found: user, hash: renewed, challenge: await this.plugins.beforeLogin(withoutHash(user), context) };
    });
    const recheck: Recheck = () => this.passwords.recheck(String(found.id), password, hash);
    if (!challenge) return this.logIn(withoutHash(found), context, recheck);
    if (!(await recheck())) throw this.failed(name, context);
    return { ...challenge, success: true };
  }

  private logIn(found: AuthUser, context: LoginContext, recheck: Recheck): Promise<LoginAnswer> {
    return this.plugins.issue(found, context, async ({ send, session }) => {
      // A reset, a new role or a deactivation may have come between, and ended the sessions that it found.
      const present = await recheck();
      if (!present) throw this.failed(found[this.options.loginField] ?? String(found.id), context);
      const user = withoutHash(present);
      const token = this.accessTokens.signFor(user, await this.accessTokens.ownClaimsOf(user), session, context.login);
      const members = send();
      this.events.emit('login.succeeded', { userId: String(user.id), address: context.address });
      const { id, email, username, role } = profileOf(user, this.options);
      return {
        success: true,
        message: 'Login successful',
        data: { user: { id, email, username, role }, token, ...members },
      };
    });
  }

  /**
   * Registers a user without a password, who logs in by what the plugin stores.
   * @param fields checked, such as by `UserFieldRules`
   * @returns `undefined` where another request has taken the way in: the user is removed again
   * @throws DuplicateUserError, and what hooks throw
   */
  async register(fields: UserFields, request: HttpRequest, wayIn: WayIn): Promise<LoginAnswer | undefined> {
    const { registrationRole: role = BASE_ROLE } = this.options;
    const user = await this.users.create({ role, active: true, ...fields, password: NO_PASSWORD });
    const userId = String(user.id);
    const isAdded = await wayIn.add(userId).catch(async (error: unknown) => {
      // The first error says what is wrong.
      await this.users.undoCreate(userId).catch(() => undefined);
      await wayIn.remove(userId);
      throw error;
    });
    if (!isAdded) {
      await this.users.undoCreate(userId);
      return undefined;
    }
    if (wayIn.isVerified) await this.plugins.accountChanged({ name: 'user.created', userId, user });
    return this.issueForNewUser(user, request).catch(async (error: unknown) => {
      // A plugin that refuses the registration has removed the user.
      const isGone = !(await this.users.findById(userId));
      if (isGone && wayIn.isVerified) await this.plugins.accountChanged({ name: 'user.deleted', userId });
      else if (isGone) await wayIn.remove(userId);
      throw error;
    });
  }

  /** For a token that ends with its session: what outlives it must not be created after that. @throws 401 where it has ended */
  expectSession(request: HttpRequest): Promise<void> {
    return this.plugins.expectSession(request);
  }

  /** @internal For a user who has just registered. Where `beforeLogin` or `claims` fails, the user is removed. */
  async issueForNewUser(user: AuthUser, request: HttpRequest): Promise<LoginAnswer> {
    const userId = String(user.id);
    const context = { ...contextOf(request), isNew: true };
    const undo = async (error: unknown): Promise<never> => {
      // A repository may not implement it. The first error says what is wrong.
      await this.users.undoCreate(userId).catch(() => undefined);
      throw error;
    };
    const challenge = await this.plugins.beforeLogin(user, context).catch(undo);
    const own = challenge ? undefined : await this.accessTokens.ownClaimsOf(user).catch(undo);
    this.events.emit('user.registered', { userId });
    const profile = profileOf(user, this.options);
    if (challenge) return { success: true, message: challenge.message, data: { user: profile, ...challenge.data } };
    return this.plugins.issue(user, context, ({ send, session }) => {
      const token = this.accessTokens.signFor(user, own, session);
      return { success: true, message: 'Registration successful', data: { user: profile, token, ...send() } };
    });
  }

  /**
   * @internal The password that a user must repeat before a change that a stolen token alone must not allow.
   * @returns the user including its hash @throws 401 for a wrong password and an inactive user, 429
   */
  async repeatPassword({ id }: Principal, password: string, request: HttpRequest): Promise<AuthUser> {
    const user = await this.users.findById(String(id));
    if (!user?.active) throw new AuthenticationRequired(true);
    const { address } = clientInfoOf(request);
    const account = user[this.options.loginField] ?? String(id);
    return this.attempts.run({ action: 'password', account, address, findUser: async () => String(id) }, async () => {
      const found = await this.passwords.verifyUser(String(id), password);
      if (!found) throw new UnauthorizedException('Invalid credentials');
      return found;
    });
  }

  private failed(name: string, { address }: LoginContext): UnauthorizedException {
    this.events.emit('login.failed', { login: name.slice(0, MAX_LOGGED), address });
    return new UnauthorizedException('Invalid credentials');
  }
}

const contextOf = (request: HttpRequest): LoginContext => ({ request, ...clientInfoOf(request), isNew: false });
