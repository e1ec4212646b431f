import { BASE_ROLE } from '../access/access.js';
import type { AuthUser } from './auth-user.js';
import type { Passwords } from './passwords.js';
import { checkUser, type Check } from './user-checks.js';
import type { UserRepository } from './user.repository.js';

/**
 * Checks the fields, hashes the password and stores the user, for requests and for the application's own code.
 *
 * @throws InvalidUserError naming every invalid field
 * @throws DuplicateUserError
 * @throws ServerBusy
 */
export async function storeUser(
  users: UserRepository,
  passwords: Passwords,
  input: Readonly<Record<string, unknown>>,
  checks: Readonly<Record<string, Check>>,
  required: readonly string[],
): Promise<AuthUser> {
  const { password, ...fields } = checkUser(input, checks, required);
  return users.create({ role: BASE_ROLE, active: true, ...fields, password: await passwords.hash(password as string) });
}
