import { Inject, Injectable } from '@nestjs/common';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { Passwords } from './passwords.js';
import { checkUser, InvalidUserError, USER_CHECKS, type Check } from './user-checks.js';
import { storeUser } from './store-user.js';
import { UserRepository, type UserFields } from './user.repository.js';

/** A user to create: the login field and a password, and what else is known. */
export interface NewUser {
  email?: string | null;
  username?: string | null;
  /** 8 characters to 72 bytes; stored as a bcrypt hash. */
  password: string;
  /** @default 'USER' */
  role?: string;
  firstName?: string | null;
  lastName?: string | null;
  /** @default true */
  active?: boolean;
  /** Columns of the application's own. */
  [column: string]: unknown;
}

/**
 * The users, for the application's own code: how a first administrator comes to be. The same checks and the same
 * hashing as over HTTP, but for `role` and `active`, which a client can never set. Hashing takes its turn with the logins:
 * at most 1,000 wait, for 30 s at most, so create many users one after another.
 */
@Injectable()
export class UserAccounts {
  constructor(
    private readonly users: UserRepository,
    private readonly passwords: Passwords,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  /**
   * @returns the stored user
   * @throws InvalidUserError naming every wrong field
   * @throws DuplicateUserError
   * @throws ServiceUnavailableException (503) where too many passwords wait to be hashed, or the database is busy
   */
  create(user: NewUser): Promise<AuthUser> {
    const own = Object.keys(user).filter((name) => !Object.hasOwn(USER_CHECKS, name) && name !== 'id');
    const asItIs: Check = (value) => ({ value });
    const checks = { ...USER_CHECKS, ...Object.fromEntries(own.map((name) => [name, asItIs])) };
    return storeUser(this.users, this.passwords, user, checks, [this.options.loginField, 'password']);
  }

  /**
   * @throws InvalidUserError where the password is not acceptable, or there is no such user
   * @throws ServiceUnavailableException (503) where too many passwords wait to be hashed, or the database is busy
   */
  async setPassword(id: string | number, password: string): Promise<AuthUser> {
    return this.change(id, { password: await this.passwords.hash(this.checked('password', password) as string) });
  }

  /** @param role takes effect with the next token */
  async setRole(id: string | number, role: string): Promise<AuthUser> {
    return this.change(id, { role: this.checked('role', role) as string });
  }

  /** An inactive user cannot log in; tokens that are out are valid until they expire. */
  async setActive(id: string | number, active: boolean): Promise<AuthUser> {
    return this.change(id, { active: this.checked('active', active) as boolean });
  }

  private checked(name: keyof typeof USER_CHECKS & string, value: unknown): unknown {
    return checkUser({ [name]: value }, USER_CHECKS, [name])[name];
  }

  private async change(id: string | number, fields: UserFields): Promise<AuthUser> {
    const user = await this.users.update(String(id), fields);
    if (!user) throw new InvalidUserError([`id: no user has the id ${id}`]);
    return user;
  }
}
