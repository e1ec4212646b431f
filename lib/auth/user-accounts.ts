import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { AccessRules } from '../access/access-rules.js';
import { describe } from '../options/invalid-option.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { Accounts } from './accounts.js';
import { AccountTokens } from './passwords/account-tokens.js';
import { Passwords } from './passwords/passwords.js';
import { Sessions } from './sessions/sessions.js';
import { checkUser, InvalidUserError, USER_CHECKS } from './user-checks.js';
import { DuplicateUserError, UserRepository, userByLogin, type UserList, type UserQuery } from './user.repository.js';

/** A user to create: the login field, a password, and any other field. */
export interface NewUser {
  email?: string | null;
  username?: string | null;
  /** 8 characters to 72 bytes of UTF-8; stored as a bcrypt hash. */
  password: string;
  /** @default 'USER' */
  role?: string;
  firstName?: string | null;
  lastName?: string | null;
  /** @default true */
  active?: boolean;
  /** A column that the application's user class adds. */
  [column: string]: unknown;
}

/**
 * Creates and changes users from the application's own code, with the same validation and hashing as the endpoints.
 * It may also set `role` and `active`, which a client never can. At most 1,000 password hashes wait for their turn, each
 * for at most 30 s, so create many users one after another.
 * @example await this.accounts.ensure({ email: 'admin@shop.example', password, role: 'ADMIN' });
 */
@Injectable()
export class UserAccounts {
  private readonly logger = new Logger('AuthModule');

  constructor(
    private readonly users: UserRepository,
    private readonly accounts: Accounts,
    private readonly passwords: Passwords,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly rules: AccessRules,
    @Optional() private readonly sessions?: Sessions,
    @Optional() private readonly tokens?: AccountTokens,
  ) {}

  /**
   * The e-mail address of the user counts as verified. Logs a warning for a role that no rule or option names.
   * @throws InvalidUserError naming every invalid field
   * @throws DuplicateUserError when a unique value is taken
   * @throws ServiceUnavailableException when too many passwords wait to be hashed, or the database is busy
   */
  async create(user: NewUser): Promise<AuthUser> {
    const created = await this.accounts.create(user);
    this.warnOfUnnamed(user.role, 'create');
    if (created.email !== null) await this.tokens?.markVerified(String(created.id), created.email);
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
    return known(id, await this.accounts.setPassword(String(id), password));
  }

  /**
   * The new role applies to tokens signed afterwards; with `revocation: 'immediate'`, older tokens are refused. Logs a
   * warning for a role that no rule or option names.
   * @throws InvalidUserError for a role that is empty or differs only in case from a known one, and for an unknown id
   */
  async setRole(id: string | number, role: string): Promise<AuthUser> {
    const fields = checkUser({ role }, this.accounts.checks, ['role']);
    this.warnOfUnnamed(role, 'setRole');
    return known(id, await this.accounts.change(String(id), fields));
  }

  /**
   * Inactive users cannot log in, and their sessions end. Their access tokens stay valid until they expire, except at `me`
   * and with `revocation: 'immediate'`.
   * @throws InvalidUserError for a value that is not a boolean and for an unknown id
   */
  async setActive(id: string | number, active: boolean): Promise<AuthUser> {
    return known(id, await this.accounts.change(String(id), checkUser({ active }, USER_CHECKS, ['active'])));
  }

  /** Logs a user out everywhere. @returns how many sessions have ended; 0 without the option `sessions` */
  async endSessions(id: string | number): Promise<number> {
    return (await this.sessions?.endAll(String(id))) ?? 0;
  }

  /**
   * Lists users in the order of their ids.
   * @example const { users, total } = await accounts.list({ role: 'ADMIN', active: true });
   */
  list(query: UserQuery = {}): Promise<UserList> {
    return this.users.list(query);
  }

  private warnOfUnnamed(role: string | undefined, method: string): void {
    if (role !== undefined && !this.rules.isNamed(role))
      this.logger.warn(`No rule or option names the role ${describe(role)} that ${method} got. Correct the role.`);
  }

  private findByLogin(user: NewUser): Promise<AuthUser | null> {
    const { loginField } = this.options;
    return userByLogin(this.users, loginField, user[loginField]);
  }
}

/** @throws InvalidUserError */
function known(id: string | number, user: AuthUser | null): AuthUser {
  if (!user) throw new InvalidUserError([`id: no user has the id ${id}`]);
  return user;
}
