import type { AuthUser } from './auth-user.js';

/** The field by which users log in. */
export type LoginField = 'email' | 'username';

/** What is stored of a user: the columns of `AuthUser` without its id, and the application's own. */
export type UserFields = Partial<Omit<AuthUser, 'id'>> & Readonly<Record<string, unknown>>;

/** Thrown by a repository when a value that must be unique is taken. */
export class DuplicateUserError extends Error {
  override readonly name = 'DuplicateUserError';

  /**
   * @param field the one that is taken: `email`, `username`, or a unique column of the application's
   * @param value as it was to be stored
   */
  constructor(
    readonly field: string,
    readonly value: string,
  ) {
    super(`User with ${field} ${value} already exists`);
  }
}

/**
 * Where users are kept. Without a `repositoryClass` of the application's a TypeORM implementation over `userClass` is used.
 * Uniqueness must rest on a constraint of the store, not on a look-up before the write.
 */
export abstract class UserRepository {
  /** @param id as the token holds it; anything that is no id of this store is `null` */
  abstract findById(id: string): Promise<AuthUser | null>;

  /** Compares exactly, and includes the password hash. */
  abstract findByLogin(field: LoginField, value: string): Promise<AuthUser | null>;

  /**
   * @returns the stored user with its id and defaults
   * @throws DuplicateUserError naming the field whose value is taken
   */
  abstract create(fields: UserFields): Promise<AuthUser>;

  /**
   * Changes only the given fields.
   *
   * @returns the stored user, or `null` where there is none
   * @throws DuplicateUserError naming the field whose value is taken
   */
  abstract update(id: string, fields: UserFields): Promise<AuthUser | null>;
}
