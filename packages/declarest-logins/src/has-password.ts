import type { AuthUser, UserRepository } from 'declarest';
import { NO_PASSWORD } from 'declarest/plugin';

/** Whether a user can log in by a password. It is never removed again. */
export async function hasPassword(users: UserRepository, userId: string): Promise<boolean> {
  const user = await users.findWithHash(userId);
  return user !== null && user.password !== NO_PASSWORD;
}

/** @param user as read before, including the hash @returns whether the password was set, by a reset for example, since then */
export const hasNewPassword = async (users: UserRepository, { id, password }: AuthUser): Promise<boolean> =>
  (await users.findWithHash(String(id)))?.password !== password;
