import type { UserRepository } from '../users/user.repository.js';
import { NO_PASSWORD } from './password-hasher.js';

/** Whether a user can log in by a password. It is never removed again. */
export async function hasPassword(users: UserRepository, userId: string): Promise<boolean> {
  const user = await users.findWithHash(userId);
  return user !== null && user.password !== NO_PASSWORD;
}
