import type { AccountChange } from 'declarest/plugin';

/** Whether the ways in that a user has set up must end: all of them, alike. */
export function endsWaysIn(change: AccountChange): boolean {
  const { name } = change;
  return name === 'user.deleted' || (name === 'password.changed' && change.isTakenBack);
}
