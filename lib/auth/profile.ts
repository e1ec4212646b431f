/** What an answer shows of a user. */
import type { AuthUser } from './auth-user.js';

export const profileOf = (
  { id, email, username, firstName, lastName, role, active }: AuthUser,
  { parseId }: { readonly parseId: (text: string) => string | number },
) => ({
  id: parseId(String(id)),
  email: email ?? null,
  username: username ?? null,
  firstName: firstName ?? null,
  lastName: lastName ?? null,
  role,
  active,
});
