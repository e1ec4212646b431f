/** The changes of accounts, with everything that belongs to each: hashes, sessions that end, tokens that end, mails, events. */
import { ConflictException, Inject, Injectable, Optional } from '@nestjs/common';
import { ADMIN_ROLE, BASE_ROLE, CallerRoles } from '../http/principal.js';
import { Application } from '../routes/application.js';
import { AuthEvents } from './auth-events.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { AccountMails } from './passwords/account-mails.js';
import { AccountTokens } from './passwords/account-tokens.js';
import { PasswordPolicy } from './passwords/password-policy.js';
import { Passwords } from './passwords/passwords.js';
import { Sessions } from './sessions/sessions.js';
import { acceptAny, checkUser, USER_CHECKS, type Check } from './user-checks.js';
import { UserRepository, withoutHash, type UserFields } from './user.repository.js';

@Injectable()
export class Accounts {
  readonly checks: Readonly<Record<keyof typeof USER_CHECKS, Check>>;

  constructor(
    private readonly users: UserRepository,
    private readonly passwords: Passwords,
    private readonly policy: PasswordPolicy,
    private readonly mails: AccountMails,
    private readonly events: AuthEvents,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    application: Application,
    @Optional() private readonly sessions?: Sessions,
    @Optional() private readonly tokens?: AccountTokens,
  ) {
    const role: Check = (value) => USER_CHECKS.role(value, application.stateOf(CallerRoles));
    this.checks = { ...USER_CHECKS, role, password: policy.read };
  }

  /** @throws InvalidUserError naming every invalid field, DuplicateUserError, ServiceUnavailable */
  async create(user: Readonly<Record<string, unknown>>): Promise<AuthUser> {
    const added = Object.keys(user).filter((name) => !Object.hasOwn(USER_CHECKS, name) && name !== 'id');
    const checks = { ...this.checks, ...Object.fromEntries(added.map((name) => [name, acceptAny])) };
    const fields = checkUser(user, checks, [this.options.loginField, 'password']);
    await this.policy.check(String(fields['password']), fields);
    const password = await this.passwords.hash(String(fields['password']));
    return this.users.create({ role: BASE_ROLE, active: true, ...fields, password });
  }

  /**
   * Ends the sessions of the user, and every token that was mailed.
   * @returns `null` for an unknown user @throws InvalidUserError for a password that is not accepted
   */
  async setPassword(id: string, password: string): Promise<AuthUser | null> {
    const found = await this.users.findById(id);
    const user = found && (await this.users.update(id, { password: await this.hashNew(found, password) }));
    if (user) await this.passwordHasChanged(user);
    return user;
  }

  /** @throws InvalidUserError for a password that is not accepted */
  async hashNew(user: AuthUser, password: string): Promise<string> {
    await this.policy.check(password, { ...withoutHash(user) });
    return this.passwords.hash(password);
  }

  /** @param before including its hash @returns `false` where its address or password has changed since */
  async resetPassword({ id, email, password }: AuthUser, hash: string): Promise<boolean> {
    const user = await this.users.updateIf(String(id), { email, password }, { password: hash });
    if (user) await this.passwordHasChanged(user);
    return user !== null;
  }

  /**
   * Changes the password that a user has repeated. The session that is kept goes on.
   * @param user including its hash @returns `false` where the password has changed since @throws InvalidUserError
   */
  async replacePassword(user: AuthUser, password: string, kept: string | undefined): Promise<boolean> {
    const hash = await this.hashNew(user, password);
    if (!(await this.users.replaceHash(String(user.id), user.password, hash))) return false;
    await this.passwordHasChanged(user, kept);
    return true;
  }

  private async passwordHasChanged(user: AuthUser, kept?: string): Promise<void> {
    const userId = String(user.id);
    await this.tokens?.removeAll(userId);
    await this.sessions?.endAll(userId, kept);
    this.events.emit('password.changed', { userId });
    this.mails.tellOfChange('password', user.email, user);
  }

  /** Changes to a verified address, and tells the old one. As `resetPassword` otherwise. @throws DuplicateUserError */
  async setEmail({ id, email: from, password }: AuthUser, email: string): Promise<boolean> {
    const userId = String(id);
    const user = await this.users.updateIf(userId, { email: from, password }, { email });
    if (!user) return false;
    await this.tokens?.removeAll(userId);
    await this.tokens?.markVerified(userId, email);
    this.events.emit('email.changed', { userId });
    this.mails.tellOfChange('email', from, user);
    return true;
  }

  /** @param fields checked before @returns `null` for an unknown user */
  async change(id: string, fields: UserFields): Promise<AuthUser | null> {
    return this.changed(id, fields, await this.users.update(id, fields));
  }

  /** @throws ConflictException (409) where it would take the last active ADMIN */
  async changeKeepingAdmin(id: string, fields: UserFields): Promise<AuthUser | null> {
    const { role = ADMIN_ROLE, active = true } = fields;
    if (role === ADMIN_ROLE && active) return this.change(id, fields);
    const user = await this.users.updateUnlessLast(id, fields, ADMIN_ROLE);
    if (user === 'last') throw lastAdmin();
    return this.changed(id, fields, user);
  }

  /** @returns whether there was one @throws ConflictException (409) for the last active ADMIN, and where records refer to it */
  async remove(id: string): Promise<boolean> {
    const removed = this.options.administration
      ? await this.users.removeUnlessLast(id, ADMIN_ROLE)
      : await this.users.remove(id);
    if (removed === 'last') throw lastAdmin();
    if (!removed) return false;
    await this.sessions?.endAll(id);
    await this.tokens?.forget(id);
    this.events.emit('user.deleted', { userId: id });
    return true;
  }

  private async changed(id: string, fields: UserFields, user: AuthUser | null): Promise<AuthUser | null> {
    if (!user) return null;
    if (fields.active === false) {
      await this.tokens?.removeAll(id);
      await this.sessions?.endAll(id);
    }
    this.events.emit('user.changed', { userId: id, fields: Object.keys(fields) });
    return user;
  }
}

const lastAdmin = (): ConflictException =>
  new ConflictException(`This is the last active user with the role ${ADMIN_ROLE}: give another user the role first`);
