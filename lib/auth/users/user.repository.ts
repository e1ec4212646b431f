import type { BaseEntity } from 'typeorm';
import type { AuthUser } from './auth-user.js';
import { USER_CHECKS } from './user-checks.js';

/** The field by which users log in. */
export type LoginField = 'email' | 'username';

/** Stored fields of a user: the columns of `AuthUser` except `id`, and the columns that the application adds. */
export type UserFields = Partial<Omit<AuthUser, 'id' | keyof BaseEntity>> & Readonly<Record<string, unknown>>;

/** What a user must still have, so that it is changed. */
export type ExpectedFields = Pick<AuthUser, 'password'> & Partial<Pick<AuthUser, 'email'>>;

export interface UserQuery {
  readonly role?: string;
  readonly active?: boolean;
  /** Text in the e-mail address, the username or a name, in any case. */
  readonly text?: string;
  /** From 1. @default 1 */
  readonly page?: number;
  /** @default 20 */
  readonly size?: number;
}

export interface UserList {
  readonly users: readonly AuthUser[];
  /** How many there are on all pages. */
  readonly total: number;
}

const notImplemented = (repository: object, method: string): Error =>
  new Error(`${repository.constructor.name} does not implement ${method}. Add the method to the repositoryClass.`);

/**
 * Stores users. Extend it, and set it as `repositoryClass`, to keep users elsewhere than in the TypeORM table of `userClass`.
 * Uniqueness must rest on a constraint of the store, because a look-up before the write is a race condition.
 */
export abstract class UserRepository {
  /**
   * Columns of the TypeORM repositories that are properties of the instance. They are no fields of any resource.
   * @default `password`, or where there is none, columns that are called like `passwordHash`
   * @example static override readonly hiddenColumns = ['passwordHash', 'resetToken'];
   */
  static readonly hiddenColumns?: readonly string[];

  /** @param id the `sub` claim of a token @returns the user, or `null` for an unknown id and for text that is no id */
  abstract findById(id: string): Promise<AuthUser | null>;

  /** Finds a user by exact comparison. @returns the user including its password hash, or `null` */
  abstract findByLogin(field: LoginField, value: string): Promise<AuthUser | null>;

  /** @returns the user with its id and defaults @throws DuplicateUserError when a unique value is taken */
  abstract create(fields: UserFields): Promise<AuthUser>;

  /** @returns the user including its password hash, or `null` */
  async findWithHash(id: string): Promise<AuthUser | null> {
    const { email = null, username = null } = (await this.findById(id)) ?? {};
    const [field, login] = email === null ? (['username', username] as const) : (['email', email] as const);
    const user = login === null ? null : await this.findByLogin(field, login);
    return user && String(user.id) === id ? user : null;
  }

  /**
   * As `update`, unless one of the expected values has changed. A repository that several requests use at once should make
   * it one statement: as it is here, a change between its two statements is lost.
   * @param expected the password hash, and possibly the address @returns `null` where nothing was updated
   */
  async updateIf(id: string, expected: ExpectedFields, fields: UserFields): Promise<AuthUser | null> {
    const user = await this.findWithHash(id);
    const { email = user?.email, password } = expected;
    return user?.password === password && user.email === email ? this.update(id, fields) : null;
  }

  /** Replaces a password hash, unless the password has changed since the hash was read. @returns whether it was replaced */
  async replaceHash(id: string, from: string, to: string): Promise<boolean> {
    return (await this.updateIf(id, { password: from }, { password: to })) !== null;
  }

  /**
   * Lists users in the order of their ids. The options that list users need it.
   * @throws Error where the repository does not implement it
   */
  list(_query: UserQuery): Promise<UserList> {
    return Promise.reject(notImplemented(this, 'list'));
  }

  /**
   * Deletes a user. `DELETE {base}/me` needs it.
   * @returns whether there was one @throws ConflictException where other records refer to the user
   */
  remove(_id: string): Promise<boolean> {
    return Promise.reject(notImplemented(this, 'remove'));
  }

  /** Removes a user that `create` has stored, where the registration fails then. */
  async undoCreate(id: string): Promise<void> {
    await this.remove(id);
  }

  /**
   * As `update`, unless the user is the only active one with the role. A repository that several processes use should make
   * it one transaction: as it is here, two requests at once may take the last two.
   */
  async updateUnlessLast(id: string, fields: UserFields, role: string): Promise<AuthUser | null | 'last'> {
    return (await this.isLast(id, role)) ? 'last' : this.update(id, fields);
  }

  /** As `remove`, unless the user is the only active one with the role. */
  async removeUnlessLast(id: string, role: string): Promise<boolean | 'last'> {
    return (await this.isLast(id, role)) ? 'last' : this.remove(id);
  }

  private async isLast(id: string, role: string): Promise<boolean> {
    const { users, total } = await this.list({ role, active: true, page: 1, size: 1 });
    return total === 1 && String(users[0]?.id) === id;
  }

  /** Changes only these fields. @returns `null` for an unknown id @throws DuplicateUserError for a taken value */
  abstract update(id: string, fields: UserFields): Promise<AuthUser | null>;
}

/**
 * Finds a user by what it logs in with.
 * @param sent as a client sends it: text that no user can have needs no query @returns the user including its hash
 */
export async function userByLogin(users: UserRepository, field: LoginField, sent: unknown): Promise<AuthUser | null> {
  const read = USER_CHECKS[field](sent);
  return 'value' in read ? users.findByLogin(field, read.value as string) : null;
}

/** A copy: the repository may keep the user that it returned. */
export function withoutHash(user: AuthUser): AuthUser {
  const shown = Object.entries(user).filter(([name]) => name !== 'password');
  return Object.assign(Object.create(Object.getPrototypeOf(user) as object) as AuthUser, Object.fromEntries(shown));
}
