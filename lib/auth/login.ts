import { UnauthorizedException } from '@nestjs/common';
import type { JsonObject } from '../http/json-body.js';
import type { ResolvedAuthOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { isPassword } from './passwords.js';
import { fitsBcrypt, InvalidUserError, USER_CHECKS } from './user-checks.js';
import type { UserRepository } from './user.repository.js';

/**
 * Verifies credentials. Neither the response nor its time reveals which part was wrong.
 *
 * @throws InvalidUserError when a field is missing or not well-formed text; otherwise UnauthorizedException
 */
export async function login(
  body: JsonObject,
  { loginField, bcryptRounds }: ResolvedAuthOptions,
  users: UserRepository,
): Promise<AuthUser> {
  const { [loginField]: name, password } = body;
  if (!isText(name) || !isText(password))
    throw new InvalidUserError(
      Object.entries({ [loginField]: name, password })
        .filter(([, value]) => !isText(value))
        .map(([field, value]) => `${field}: ${value == null ? 'required' : 'expected well-formed text'}`),
    );
  // A name that no user can have needs no query.
  const checked = USER_CHECKS[loginField](name);
  const user = 'value' in checked ? await users.findByLogin(loginField, checked.value as string) : null;
  const matches = await isPassword(password, user?.password, bcryptRounds);
  // bcrypt compares only the beginning of an over-long password.
  if (!user?.active || !matches || !fitsBcrypt(password)) throw new UnauthorizedException('Invalid credentials');
  return user;
}

/** Lone surrogates are refused, because different passwords with them would have the same hash. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();
