/** Creates and changes users. Hashes, events and the hooks of plugins belong to each change. */
import { ConflictException, Inject, Injectable } from '@nestjs/common';
import { ADMIN_ROLE, BASE_ROLE, CallerRoles } from '../../http/caller.js';
import { Application } from '../../routes/application.js';
import type { ResolvedAuthOptions } from '../options/resolve-options.js';
import { PasswordPolicy } from '../passwords/password-policy.js';
import { Passwords } from '../passwords/passwords.js';
import { AuthPlugins } from '../plugins/auth-plugins.js';
import type { AuthUser, NewUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { acceptAny, checkUser, InvalidUserError, USER_CHECKS, type Check } from '../users/user-checks.js';
import { DuplicateUserError } from '../users/duplicate-user.js';
import { UserRepository, userByLogin, withoutHash } from '../users/user.repository.js';
import type { UserFields, UserList, UserQuery } from '../users/user.repository.js';

/**
 * Creates and changes users from the application's own code, with the same validation and hashing as the endpoints.
 * It may also set `role` and `active`, which a client never can. At most 1,000 password hashes wait for their turn, each
 * for at most 30 s, so create many users one after another.
 * @example await this.accounts.ensure({ email: 'admin@shop.example', password, role: 'ADMIN' });
 */
@Injectable()
export class UserAccounts {
  /** @internal Checks of the package's own user columns, by name. */
  readonly checks: Readonly<Record<keyof typeof USER_CHECKS, Check>>;

  constructor(
    private readonly users: UserRepository,
    private readonly passwords: Passwords,
    private readonly policy: PasswordPolicy,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly plugins: AuthPlugins,
    application: Application,
  ) {
    const role: Check = (value) => USER_CHECKS.role(value, application.stateOf(CallerRoles));
    this.checks = { ...USER_CHECKS, role, password: policy.read };
  }

  /**
   * The e-mail address of the user counts as verified. Logs a warning for a role that no rule or option names.
   * @throws InvalidUserError naming every invalid field
   * @throws DuplicateUserError when a unique value is taken
   * @throws ServiceUnavailableException when too many passwords wait to be hashed, or the database is busy
   */
  async create(user: NewUser): Promise<AuthUser> {
    const created = await this.store(user);
    await this.plugins.accountChanged({ name: 'user.created', userId: String(created.id), user: created });
    return created;
  }

  /**
   * Creates a user unless the login field is taken. A user that exists stays unchanged, password included.
   * Safe when several instances of the application start at the same time.
   * @returns the user that exists, or the one created
   * @throws InvalidUserError naming every invalid field of a new user
   * @throws DuplicateUserError when another unique value is taken
   * @throws ServiceUnavailableException when too many passwords wait to be hashed, or the database is busy
   */
  async ensure(user: NewUser): Promise<AuthUser> {
    const existing = await this.findByLogin(user);
    if (existing) return existing;
    try {
      return await this.create(user);
    } catch (error) {
      const winner = error instanceof DuplicateUserError ? await this.findByLogin(user) : null;
      if (winner) return winner;
      throw error;
    }
  }

  /**
   * Whether a password is that of a user. It takes as long for an unknown user. Nothing is counted: an endpoint that calls
   * it should limit how often.
   * @throws ServiceUnavailableException when too many passwords wait to be hashed, or the database is busy
   */
  async verifyPassword(id: string | number, password: string): Promise<boolean> {
    return (await this.passwords.verifyUser(String(id), password)) !== undefined;
  }

  /**
   * Ends all sessions of the user, and tells them by mail where the application has a mailer.
   * @throws InvalidUserError for an unacceptable password and for an unknown id
   * @throws ServiceUnavailableException when too many passwords wait to be hashed, or the database is busy
   */
  async setPassword(id: string | number, password: string): Promise<AuthUser> {
    const found = expectUser(id, await this.users.findById(String(id)));
    const hash = await this.hashNew(found, password);
    const user = expectUser(id, await this.users.update(String(id), { password: hash }));
    await this.afterPasswordChange(user, 'application');
    return user;
  }

  /**
   * The new role applies to tokens signed afterwards; with `revocation: 'immediate'`, older tokens are refused. Logs a
   * warning for a role that no rule or option names.
   * @throws InvalidUserError for a role that is empty or differs only in case from a known one, and for an unknown id
   */
  async setRole(id: string | number, role: string): Promise<AuthUser> {
    return expectUser(id, await this.change(String(id), checkUser({ role }, this.checks, ['role'])));
  }

  /**
   * Inactive users cannot log in, and their sessions end. Their access tokens stay valid until they expire, except at `me`
   * and with `revocation: 'immediate'`.
   * @throws InvalidUserError for a value that is not a boolean and for an unknown id
   */
  async setActive(id: string | number, active: boolean): Promise<AuthUser> {
    return expectUser(id, await this.change(String(id), checkUser({ active }, USER_CHECKS, ['active'])));
  }

  /** Logs a user out everywhere. @returns how many sessions have ended; 0 without the option `sessions` */
  endSessions(id: string | number): Promise<number> {
    return this.endOtherSessions(String(id), undefined);
  }

  /** @internal @param keptSession the one that goes on */
  endOtherSessions(userId: string, keptSession: string | undefined): Promise<number> {
    return this.plugins.accountChanged({ name: 'user.loggedOut', userId, keptSession });
  }

  /**
   * Lists users in the order of their ids.
   * @example const { users, total } = await accounts.list({ role: 'ADMIN', active: true });
   */
  list(query: UserQuery = {}): Promise<UserList> {
    return this.users.list(query);
  }

  /** @internal @throws InvalidUserError naming every invalid field, DuplicateUserError, ServiceUnavailable */
  async store(user: Readonly<Record<string, unknown>>, role = BASE_ROLE): Promise<AuthUser> {
    const added = Object.keys(user).filter((name) => !Object.hasOwn(USER_CHECKS, name) && name !== 'id');
    const checks = { ...this.checks, ...Object.fromEntries(added.map((name) => [name, acceptAny])) };
    const fields = checkUser(user, checks, [this.options.loginField, 'password']);
    const password = await this.hashNew(fields, String(fields['password']));
    return this.users.create({ role, active: true, ...fields, password });
  }

  /** @internal @throws InvalidUserError for a password that is not accepted */
  async hashNew(user: object, password: string): Promise<string> {
    await this.policy.check(password, { ...user });
    return this.passwords.hash(password);
  }

  /** @internal @param before including its hash @returns `false` where its address or password has changed since */
  async resetPassword({ id, email, password }: AuthUser, hash: string, isTakenBack: boolean): Promise<boolean> {
    const user = await this.users.updateIf(String(id), { email, password }, { password: hash });
    if (user) await this.afterPasswordChange(user, 'link', isTakenBack);
    return user !== null;
  }

  /**
   * @internal Changes the password that a user has repeated. The session that is kept goes on.
   * @param user including its hash @returns `false` where the password has changed since @throws InvalidUserError
   */
  async replacePassword(user: AuthUser, password: string, kept: string | undefined): Promise<boolean> {
    const hash = await this.hashNew(user, password);
    if (!(await this.users.replaceHash(String(user.id), user.password, hash))) return false;
    await this.afterPasswordChange(user, 'user', false, kept);
    return true;
  }

  private afterPasswordChange(
    user: AuthUser,
    by: 'user' | 'link' | 'application',
    isTakenBack = false,
    keptSession?: string,
  ): Promise<unknown> {
    const changed = { userId: String(user.id), user, by, isTakenBack, keptSession };
    return this.plugins.accountChanged({ name: 'password.changed', ...changed });
  }

  /** @internal Changes to a verified address, and tells the old one. As `resetPassword` otherwise. @throws DuplicateUserError */
  async setEmail({ id, email: from, password }: AuthUser, email: string): Promise<boolean> {
    const userId = String(id);
    const user = await this.users.updateIf(userId, { email: from, password }, { email });
    if (!user) return false;
    await this.plugins.accountChanged({ name: 'email.changed', userId, user, from });
    return true;
  }

  /** @internal @param fields checked before @returns `null` for an unknown user */
  async change(id: string, fields: UserFields): Promise<AuthUser | null> {
    return this.afterChange(id, fields, await this.users.update(id, fields));
  }

  /** @internal @throws ConflictException (409) where it would take the last active ADMIN */
  async changeKeepingAdmin(id: string, fields: UserFields): Promise<AuthUser | null> {
    const { role = ADMIN_ROLE, active = true } = fields;
    if (role === ADMIN_ROLE && active) return this.change(id, fields);
    const user = await this.users.updateUnlessLast(id, fields, ADMIN_ROLE);
    if (user === 'last') throw lastAdmin();
    return this.afterChange(id, fields, user);
  }

  /** @internal @returns whether there was one @throws ConflictException (409) for the last active ADMIN, and where records refer to it */
  async remove(id: string): Promise<boolean> {
    // To find the last one needs `list`, which a repository has for a plugin such as `administration`.
    const removed = this.options.setup.methods.some(([, method]) => method === 'list')
      ? await this.users.removeUnlessLast(id, ADMIN_ROLE)
      : await this.users.remove(id);
    if (removed === 'last') throw lastAdmin();
    if (!removed) return false;
    await this.plugins.accountChanged({ name: 'user.deleted', userId: id });
    return true;
  }

  private async afterChange(id: string, fields: UserFields, user: AuthUser | null): Promise<AuthUser | null> {
    if (!user) return null;
    await this.plugins.accountChanged({ name: 'user.changed', userId: id, user, fields });
    return user;
  }

  private async findByLogin({ [this.options.loginField]: login }: NewUser): Promise<AuthUser | null> {
    const user = await userByLogin(this.users, this.options.loginField, login);
    return user && withoutHash(user);
  }
}

/** @throws InvalidUserError */
function expectUser(id: string | number, user: AuthUser | null): AuthUser {
  if (!user) throw new InvalidUserError([`id: no user has the id ${id}`]);
  return user;
}

const lastAdmin = (): ConflictException =>
  new ConflictException(`This is the last active user with the role ${ADMIN_ROLE}: give another user the role first`);
