import type { MailedTokens } from '../auth/links/mailed-tokens.js';
import type { AccountChange } from '../auth/plugins/plugin.js';

/**
 * Whether the owner of an address, which nobody had verified, has set the password by a mail: whoever had registered with the
 * address may be a stranger, whose other ways in must end.
 */
export async function isTakenBack(change: AccountChange, mailed: MailedTokens | undefined): Promise<boolean> {
  const { name } = change;
  if (name !== 'password.changed' || change.by !== 'link' || !mailed) return false;
  return !(await mailed.isVerified(change.user));
}
