import { BadRequestException } from '@nestjs/common';
import type { BaseEntity } from 'typeorm';
import type { AuthUser } from './auth-user.js';

/** The field by which users log in. */
export type LoginField = 'email' | 'username';

/** Stored fields of a user: the columns of `AuthUser` except `id`, and the columns that the application adds. */
export type UserFields = Partial<Omit<AuthUser, 'id' | keyof BaseEntity>> & Readonly<Record<string, unknown>>;

/** Thrown by a repository when a unique value is taken. Nest answers 400 when a controller lets it through. */
export class DuplicateUserError extends BadRequestException {
  override readonly name = 'DuplicateUserError';

  /**
   * @param field the field whose value is taken: `email`, `username`, or a unique column of the application
   * @param value the value as it would be stored
   */
  constructor(
    readonly field: string,
    readonly value: string,
  ) {
    super(`User with ${field} ${value} already exists`);
  }
}

/**
 * Stores users. Extend it, and set it as `repositoryClass`, to keep users elsewhere than in the TypeORM table of `userClass`.
 * Uniqueness must rest on a constraint of the store, because a look-up before the write is a race condition.
 */
export abstract class UserRepository {
  /** @param id the `sub` claim of a token @returns the user, or `null` for an unknown id and for text that is no id */
  abstract findById(id: string): Promise<AuthUser | null>;

  /** Finds a user by exact comparison. @returns the user including its password hash, or `null` */
  abstract findByLogin(field: LoginField, value: string): Promise<AuthUser | null>;

  /** @returns the user with its id and defaults @throws DuplicateUserError when a unique value is taken */
  abstract create(fields: UserFields): Promise<AuthUser>;

  /**
   * Replaces a password hash that was made at a lower cost, unless the password has changed since it was read. A repository
   * that does not implement it keeps the old hash.
   */
  async replaceHash(_id: string, _from: string, _to: string): Promise<void> {}

  /** Changes only these fields. @returns `null` for an unknown id @throws DuplicateUserError for a taken value */
  abstract update(id: string, fields: UserFields): Promise<AuthUser | null>;
}
