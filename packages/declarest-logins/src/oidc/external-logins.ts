/** Finds the account of an identity at a provider: the linked one, the one with the same verified address, or a new one. */
import { setTimeout as delay } from 'node:timers/promises';
import { ConflictException, Inject, Injectable, Optional } from '@nestjs/common';
import {
  type AuthUser,
  DuplicateUserError,
  type HttpRequest,
  UserAccounts,
  type UserFields,
  UserRepository,
} from 'declarest';
import {
  type AccountChange,
  AuthServices,
  checkBody,
  checks,
  hasPassword,
  type LoginAnswer,
  Logins,
  UserFieldRules,
  VerifiedEmails,
} from 'declarest/plugin';
import { ExternalIdentities } from './external-identities.js';
import { namesOf } from './external-profile.js';
import { expectFields, type ExternalProfile, OIDC_SETTINGS, type OidcSettings } from './oidc-options.js';
import { endsWaysIn } from '../ways-in.js';

/** Another process stores the identity of a new user right after the user. */
const MAX_TRIES = 10;
const RETRY_MS = 100;

/** The same answer for all reasons: it tells nobody which addresses have an account. */
const noAccount = (): ConflictException =>
  new ConflictException('No account is linked to this login. Log in another way, and link it there');

@Injectable()
export class ExternalLogins {
  private readonly register: NonNullable<OidcSettings['register']>;
  private readonly required: readonly string[];

  /** @throws InvalidOptionError where new users need fields that no provider knows */
  constructor(
    private readonly identities: ExternalIdentities,
    private readonly users: UserRepository,
    private readonly accounts: UserAccounts,
    private readonly logins: Logins,
    @Inject(OIDC_SETTINGS) private readonly settings: OidcSettings,
    { options }: AuthServices,
    { required }: UserFieldRules,
    @Optional() private readonly verified?: VerifiedEmails,
  ) {
    this.register = settings.register ?? options.registration;
    this.required = required.filter((name) => name !== 'password');
    expectFields(settings, this.register !== false, this.required);
  }

  /** @throws ConflictException (409) where no account may be used or created, 401 for an inactive user, what hooks throw */
  async logIn(profile: ExternalProfile, request: HttpRequest): Promise<LoginAnswer> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (tries > 0) await delay(RETRY_MS);
      const answer = await this.attempt(profile, request);
      if (answer) return answer;
    }
    throw noAccount();
  }

  async onAccountChange(change: AccountChange): Promise<void> {
    if (endsWaysIn(change)) await this.identities.removeAll(change.userId);
  }

  /** @returns `undefined` where another login of the same user was faster, and may still have an identity to store */
  private async attempt(profile: ExternalProfile, request: HttpRequest): Promise<LoginAnswer | undefined> {
    const { email } = profile;
    let id = await this.linkedUser(profile);
    if (id === undefined) {
      const found = email === undefined ? null : await this.users.findByLogin('email', email);
      if (!found) return this.registerUser(profile, request);
      id = await this.linkByAddress(found, profile);
    }
    if (id === undefined) return undefined;
    await this.update(id, profile);
    return this.logins.complete({ id }, request);
  }

  /** Before the login, so that its tokens have the new role. @throws what `update` throws, 409 for the last ADMIN */
  private async update(id: string, profile: ExternalProfile): Promise<void> {
    const user = this.settings.update && (await this.users.findById(id));
    if (!user?.active) return;
    const fields = this.readFields((await this.settings.update?.(profile, user)) ?? {});
    const changed = Object.entries(fields).filter(([name, value]) => user[name as keyof AuthUser] !== value);
    if (changed.length > 0) await this.accounts.changeKeepingAdmin(id, Object.fromEntries(changed));
  }

  private async linkedUser(profile: ExternalProfile): Promise<string | undefined> {
    const identity = await this.identities.find(profile);
    if (!identity) return undefined;
    const { userId, isLinked } = identity;
    if (!isLinked) throw noAccount();
    if (await this.users.findById(userId)) return userId;
    // A statement of the application has deleted the user.
    await this.identities.removeAll(userId);
    return undefined;
  }

  /** Both sides have verified the address, or somebody else may have registered it. @returns `undefined` to try again */
  private async linkByAddress(user: AuthUser, profile: ExternalProfile): Promise<string | undefined> {
    const userId = String(user.id);
    const isVerified = user.active && (await this.verified?.has(user));
    // A provider may give an address to another user (OpenID Connect Core §5.7).
    const mayLink = isVerified && !(await this.identities.exists({ userId, issuer: profile.issuer }));
    if (mayLink && (await this.identities.add(userId, profile))) return userId;
    // Another login may have created the user, and stores the identity now.
    if (!(await hasPassword(this.users, userId)) && !(await this.identities.exists({ userId }))) return undefined;
    const linked = await this.linkedUser(profile);
    if (linked === undefined && !mayLink) throw noAccount();
    return linked;
  }

  private async registerUser(profile: ExternalProfile, request: HttpRequest): Promise<LoginAnswer | undefined> {
    const { email } = profile;
    if (this.register === false || (email === undefined && this.required.includes('email'))) throw noAccount();
    const further = typeof this.register === 'function' ? await this.register(profile) : {};
    const required = this.required.filter((name) => name !== 'email');
    const read = this.readFields({ ...namesOf(profile), ...further }, required);
    const fields = { ...read, ...(email !== undefined && { email }) };
    const add = async (userId: string): Promise<boolean> => (await this.identities.add(userId, profile)) !== undefined;
    const remove = (userId: string): Promise<void> => this.identities.removeAll(userId);
    return this.logins.register(fields, request, { isVerified: true, add, remove }).catch((error: unknown) => {
      // The address was taken meanwhile.
      if (error instanceof DuplicateUserError && error.field === 'email') return undefined;
      throw error;
    });
  }

  /** @throws InvalidUserError naming each field of the functions `register` and `update` that is wrong */
  private readFields(input: Readonly<Record<string, unknown>>, required: readonly string[] = []): UserFields {
    const { email: _email, password: _password, ...own } = this.accounts.checks;
    const added = Object.keys(input).filter((name) => !Object.hasOwn(this.accounts.checks, name) && name !== 'id');
    const ofColumns = Object.fromEntries(added.map((name) => [name, checks.any]));
    return checkBody(input, { ...own, ...ofColumns }, required);
  }
}
