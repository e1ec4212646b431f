/** What may be stored of a user. Pure: fields in, fields as stored or every wrong one out. Never repeats a password. */
import { USER_LIMITS } from './auth-user.js';

/** Thrown when fields of a user are wrong; the message names each of them. */
export class InvalidUserError extends Error {
  override readonly name = 'InvalidUserError';

  constructor(readonly problems: readonly string[]) {
    super(problems.join('; '));
  }
}

/** The stored form, or what is wrong: `expected at most 100 characters`. */
export type Check = (value: unknown) => { readonly value: unknown } | { readonly problem: string };

/** bcrypt reads the first 72 bytes and no more. */
export const PASSWORD_MOST_BYTES = 72;
const PASSWORD_LEAST_CHARACTERS = 8;

/** The form of an `<input type=email>` (HTML standard, "valid e-mail address"), which a mail server can be asked to serve. */
const EMAIL =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const CONTROL = /\p{Cc}/u;

export const normaliseEmail = (text: string): string => text.trim().toLowerCase();

const lengthOf = (text: string): number => [...text].length;

const text =
  (most: number, least: number, form: (text: string) => boolean, expected: string): Check =>
  (value) =>
    typeof value === 'string' &&
    lengthOf(value) >= least &&
    lengthOf(value) <= most &&
    value.isWellFormed() &&
    !CONTROL.test(value) &&
    form(value)
      ? { value }
      : { problem: `expected ${expected}` };

const checkName = text(USER_LIMITS.name, 0, () => true, `text of at most ${USER_LIMITS.name} characters`);
const checkEmail = text(
  USER_LIMITS.email,
  3,
  (email) => EMAIL.test(email),
  `an e-mail address of at most ${USER_LIMITS.email} characters`,
);

export const USER_CHECKS: Readonly<Record<string, Check>> = Object.freeze({
  email: (value: unknown) => checkEmail(typeof value === 'string' ? normaliseEmail(value) : value),
  username: text(
    USER_LIMITS.username,
    1,
    (name) => name.trim() === name,
    `1 to ${USER_LIMITS.username} characters without space around them`,
  ),
  password: (value: unknown) => {
    if (typeof value !== 'string') return { problem: 'expected text' };
    if (lengthOf(value) < PASSWORD_LEAST_CHARACTERS)
      return { problem: `expected at least ${PASSWORD_LEAST_CHARACTERS} characters` };
    return Buffer.byteLength(value) > PASSWORD_MOST_BYTES
      ? { problem: `expected at most ${PASSWORD_MOST_BYTES} bytes in UTF-8` }
      : { value };
  },
  firstName: checkName,
  lastName: checkName,
  role: text(USER_LIMITS.role, 1, (role) => role.trim() === role, 'the name of a role such as "ADMIN"'),
  active: (value: unknown) => (typeof value === 'boolean' ? { value } : { problem: 'expected true or false' }),
});

/** What a client may send to register, beside the application's `registrationFields`. */
export const REGISTRATION_FIELDS = ['email', 'username', 'password', 'firstName', 'lastName'] as const;

/**
 * @param checks by field; a field that has none is refused
 * @param required fields that must be there; the others may be absent or `null`
 * @throws InvalidUserError naming every wrong field
 */
export function checkUser(
  input: Readonly<Record<string, unknown>>,
  checks: Readonly<Record<string, Check>>,
  required: readonly string[],
): Record<string, unknown> {
  const problems: string[] = [];
  const fields: Record<string, unknown> = {};
  for (const name of required) if (input[name] == null) problems.push(`${name}: required`);
  for (const [name, value] of Object.entries(input)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) problems.push(`${name}: not accepted here, expected only ${Object.keys(checks).join(', ')}`);
    else if (value != null) {
      const result = check(value);
      if ('problem' in result) problems.push(`${name}: ${result.problem}`);
      else fields[name] = result.value;
    }
  }
  if (problems.length > 0) throw new InvalidUserError(problems);
  return fields;
}
