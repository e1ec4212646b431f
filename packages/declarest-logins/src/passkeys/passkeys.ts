/** What users do with passkeys: register, log in, confirm a change, add, and follow changes of the account. */
import { BadRequestException, ConflictException, Inject, Injectable, UnauthorizedException } from '@nestjs/common';
import {
  AuthEvents,
  type AuthUser,
  type HttpRequest,
  InvalidUserError,
  type JsonObject,
  UserAccounts,
  UserRepository,
} from 'declarest';
import {
  type AccountChange,
  AuthenticationRequired,
  checkBody,
  type LoginAnswer,
  Logins,
  newToken,
  UserFieldRules,
} from 'declarest/plugin';
import { LoginSteps, type FactorStep } from '../login-steps/login-steps.js';
import { type Ceremony, type ChallengeOwner, PasskeyChallenges } from './passkey-challenges.js';
import { PASSKEY_SETTINGS, type PasskeysOptions } from './passkey-settings.js';
import { MAX_PASSKEYS, PasskeyStore } from './passkey-store.js';
import type { Passkey } from './passkey-tables.js';
import type { Assertion, Attestation } from './sent-credential.js';
import { WebAuthn } from './web-authn.js';
import { factorLogin } from '../login-steps/given-factor.js';
import { endsWaysIn, hasNewPassword } from '../ways-in.js';

/** A key has signed (RFC 8176 §2). */
export const FACTOR_METHOD = 'pop';
export const DEFAULT_NAME = 'Passkey';
export const NOT_VERIFIED = 'This passkey is not valid, or its challenge was used or has expired';

@Injectable()
export class Passkeys {
  constructor(
    private readonly webAuthn: WebAuthn,
    private readonly challenges: PasskeyChallenges,
    private readonly store: PasskeyStore,
    private readonly users: UserRepository,
    private readonly rules: UserFieldRules,
    private readonly logins: Logins,
    private readonly accounts: UserAccounts,
    private readonly events: AuthEvents,
    @Inject(PASSKEY_SETTINGS) private readonly settings: PasskeysOptions,
    steps: LoginSteps,
  ) {
    if (settings.secondFactor)
      steps.factors.push({ enrolment: ['startPasskey', 'addPasskey'], stepOf: (userId) => this.stepOf(userId) });
  }

  /** @returns what a browser needs for a passkey of a user who does not exist yet */
  async startRegistration(login: string) {
    const handle = newToken();
    const challenge = await this.challenges.create('register', undefined, handle);
    return this.webAuthn.creationOptions(challenge, { handle, name: login, displayName: login }, []);
  }

  /** @param fields of the user, without a password @throws 400, 409 */
  async register(fields: JsonObject, sent: Attestation, request: HttpRequest): Promise<LoginAnswer> {
    if ('password' in fields) throw new InvalidUserError(['password: not accepted here']);
    const { credential, handle } = await this.verifyNew(sent, 'register');
    const { password: _password, ...checks } = this.rules.checks;
    const required = this.rules.required.filter((name) => name !== 'password');
    const read = checkBody(fields, checks, required);
    const add = async (userId: string): Promise<boolean> => {
      await this.store.insert(credential, { userId, handle, name: DEFAULT_NAME });
      return true;
    };
    const remove = (userId: string): Promise<void> => this.store.removeAll(userId);
    return (await this.logins.register(read, request, { add, remove })) as LoginAnswer;
  }

  async startLogin() {
    return this.webAuthn.requestOptions(await this.challenges.create('login'));
  }

  /** Any passkey logs in, and says whose it is. @throws UnauthorizedException (401), and what hooks of plugins throw */
  async logIn(sent: Assertion, request: HttpRequest, address: string | undefined): Promise<LoginAnswer> {
    const passkey = (await this.use(sent, 'login')) ?? this.refuse(sent, address);
    const login = this.settings.secondFactor && { login: factorLogin(FACTOR_METHOD) };
    return this.logins.complete({ id: passkey.userId, ...login }, request);
  }

  /** The caller spends the challenge. @throws UnauthorizedException (401) unless it is a passkey of the user */
  async expectStep(sent: Assertion, userId: string, address: string | undefined): Promise<void> {
    if (!(await this.verify(sent, { userId }))) this.refuse(sent, address);
  }

  async startConfirmation(owner: ChallengeOwner) {
    const challenge = await this.challenges.create('confirm', owner);
    return this.webAuthn.requestOptions(challenge, await this.store.listOf(owner.userId));
  }

  /** @throws UnauthorizedException (401) unless it is an own passkey */
  async confirm(sent: Assertion, owner: ChallengeOwner): Promise<void> {
    if (!(await this.use(sent, 'confirm', owner))) throw new UnauthorizedException('Invalid credentials');
  }

  /** @throws ConflictException (409) for a user with as many passkeys as one may have */
  async startAddition(owner: ChallengeOwner, nameOf: (user: AuthUser) => string) {
    const user = await this.expectActive(owner);
    const own = await this.expectRoom(owner);
    const handle = own[0]?.handle ?? newToken();
    const challenge = await this.challenges.create('add', owner, handle);
    const fullName = [user.firstName, user.lastName].filter(Boolean).join(' ');
    const shown = { handle, name: nameOf(user), displayName: fullName || nameOf(user) };
    return this.webAuthn.creationOptions(challenge, shown, own);
  }

  /** @throws 400, 409 */
  async add(sent: Attestation, name: string, owner: ChallengeOwner): Promise<Passkey> {
    const { userId } = owner;
    const user = await this.expectActive(owner);
    const { credential, handle } = await this.verifyNew(sent, 'add', owner);
    await this.expectRoom(owner);
    const passkey = await this.store.insert(credential, { userId, handle, name });
    // A reset of the password may have come between, and removed the passkeys that it found.
    if (await hasNewPassword(this.users, user)) {
      await this.store.remove(userId, passkey.id);
      throw new BadRequestException(NOT_VERIFIED);
    }
    this.events.emit('passkey.added', { userId, passkeyId: passkey.id });
    // The other sessions have not given the new factor.
    if (this.settings.secondFactor) await this.accounts.endOtherSessions(userId, owner.session || undefined);
    return passkey;
  }

  /** @returns whether the user has such a passkey @throws ConflictException (409) unless it may be the last way to log in */
  async remove(userId: string, id: string, mayBeLast = false): Promise<boolean> {
    const result = await this.store.remove(userId, id, mayBeLast);
    if (result === 'last')
      throw new ConflictException('This is the last way to log in: add another passkey or set a password first');
    if (result === 'removed') this.events.emit('passkey.removed', { userId, passkeyId: id });
    return result === 'removed';
  }

  async onAccountChange(change: AccountChange): Promise<void> {
    const { name, userId } = change;
    if (name === 'user.created' || (name === 'user.changed' && change.fields.active !== false)) return;
    // Whoever has begun to add a passkey must not finish it now.
    await this.challenges.removeAll(userId);
    if (endsWaysIn(change)) await this.store.removeAll(userId);
  }

  /** A login by other means needs one of the passkeys. */
  private async stepOf(userId: string): Promise<FactorStep | undefined> {
    const own = await this.store.listOf(userId);
    if (own.length === 0) return undefined;
    const start = async (challenge: string) => ({ passkey: await this.webAuthn.requestOptions(challenge, own) });
    return { words: 'use a passkey', start };
  }

  /** The work does not tell unknown passkeys from wrong signatures. */
  private async use(sent: Assertion, ceremony: Ceremony, owner?: ChallengeOwner): Promise<Passkey | undefined> {
    return (await this.challenges.spend(sent.challenge, ceremony, owner)) && this.verify(sent, owner);
  }

  private async verify(sent: Assertion, owner?: Pick<Passkey, 'userId'>): Promise<Passkey | undefined> {
    const passkey = await this.store.find(sent.id, owner);
    const use = await this.webAuthn.verifyUse(sent, passkey);
    if (!passkey || !use) return undefined;
    // Authenticators leave it out where the request lists passkeys.
    const { userHandle = owner && passkey.handle } = sent.response;
    if (userHandle !== passkey.handle) return undefined;
    return (await this.store.countUse(passkey.id, use)) ? passkey : undefined;
  }

  private refuse({ id }: Assertion, address: string | undefined): never {
    this.events.emit('login.failed', { login: id.slice(0, 254), address });
    throw new UnauthorizedException('Invalid credentials');
  }

  private async verifyNew(sent: Attestation, ceremony: Ceremony, owner?: ChallengeOwner) {
    const challenge = await this.challenges.spend(sent.challenge, ceremony, owner);
    const credential = challenge && (await this.webAuthn.verifyNew(sent));
    if (!credential) throw new BadRequestException(NOT_VERIFIED);
    return { credential, handle: challenge.handle };
  }

  /** @returns the user including its hash */
  private async expectActive({ userId }: ChallengeOwner): Promise<AuthUser> {
    const user = await this.users.findWithHash(userId);
    if (!user?.active) throw new AuthenticationRequired(true);
    return user;
  }

  private async expectRoom({ userId }: ChallengeOwner): Promise<readonly Passkey[]> {
    const own = await this.store.listOf(userId);
    if (own.length < MAX_PASSKEYS) return own;
    throw new ConflictException(`You have ${MAX_PASSKEYS} passkeys, which is the most. Remove one first`);
  }
}
