/** Finds users by what they log in with, without the password hash that a repository returns. */
import type { AuthUser } from './auth-user.js';
import { USER_CHECKS } from './user-checks.js';
import type { LoginField, UserRepository } from './user.repository.js';

/** @param sent as a client sends it @returns `null` for text that no user can have, too */
export async function userByLogin(users: UserRepository, field: LoginField, sent: unknown): Promise<AuthUser | null> {
  const read = USER_CHECKS[field](sent);
  const user = 'value' in read ? await users.findByLogin(field, read.value as string) : null;
  return user && withoutHash(user);
}

/** A copy: the repository may keep the user that it returned. */
export function withoutHash(user: AuthUser): AuthUser {
  const shown = Object.entries(user).filter(([name]) => name !== 'password');
  return Object.assign(Object.create(Object.getPrototypeOf(user) as object) as AuthUser, Object.fromEntries(shown));
}
