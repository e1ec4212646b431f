/** When what lets a user in, besides the password, must end. */
import { type AuthUser, UserRepository } from 'declarest';
import type { AccountChange } from 'declarest/plugin';

/** Whether the ways in that a user has set up must end: all of them, alike. */
export function endsWaysIn(change: AccountChange): boolean {
  const { name } = change;
  return name === 'user.deleted' || (name === 'password.changed' && change.isTakenBack);
}

/** @param user as read before, including the hash @returns whether the password was set, by a reset for example, since then */
export const hasNewPassword = async (users: UserRepository, { id, password }: AuthUser): Promise<boolean> =>
  (await users.findWithHash(String(id)))?.password !== password;
