/** Validation of user fields. Messages never repeat a password. */
import { Logger } from '@nestjs/common';
import { dateTime } from '../../entities/calendar-types.js';
import { guardEntity } from '../../entities/entity-guard.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { boolean, type Reading } from '../../entities/value-types.js';
import { limitErrors, SeveralMessages } from '../../http/failure.js';
import type { JsonObject } from '../../http/json-body.js';
import { ADMIN_ROLE, BASE_ROLE, CREDENTIAL_ROLES, type CallerRoles } from '../../http/caller.js';
import { AuthUser, USER_LIMITS } from './auth-user.js';

/** Names every invalid field. Nest answers 400 when a controller lets it through. */
export class InvalidUserError extends SeveralMessages {
  override readonly name = 'InvalidUserError';

  constructor(readonly problems: readonly string[]) {
    super(limitErrors(problems, (rest) => rest));
  }
}

export type Check = (value: unknown) => Reading;

export const acceptAny: Check = (value) => ({ value });

/** The syntax of `<input type=email>` (HTML standard, "valid e-mail address"), lower case only. */
const EMAIL =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Trims and lower-cases ASCII text only: `toLowerCase` would turn the Kelvin sign into the letter `k`. */
const normalizeEmail = (text: string): string => (/^\p{ASCII}*$/u.test(text) ? text.trim().toLowerCase() : text);

const text =
  (min: number, max: number, expected: string, isValid = (_text: string): boolean => true): Check =>
  (value) =>
    typeof value === 'string' &&
    [...value].length >= min &&
    [...value].length <= max &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value) &&
    isValid(value)
      ? { value }
      : { expected };

const isTrimmed = (value: string): boolean => value.trim() === value;
const { email, username, name, role } = USER_LIMITS;
const checkEmail = text(3, email, `an e-mail address of at most ${email} characters`, (value) => EMAIL.test(value));
const checkName = text(0, name, `text of at most ${name} characters`);

/** UTF-8 encodes every lone surrogate as U+FFFD, so different passwords would have the same hash. */
export const checkText: Check = (value) =>
  typeof value === 'string' && value.isWellFormed() ? { value } : { expected: 'well-formed text' };

const SEEN = String.raw`[^\p{C}\p{Z}\p{DI}\u2800]+`;
const ROLE = `^${SEEN}(?: ${SEEN})*$`;

/** Compatibility forms, such as full-width letters, look like others. */
const readRole = text(
  1,
  role,
  'the name of a role such as "ADMIN", of visible characters in their usual width',
  (value) => new RegExp(ROLE, 'u').test(value) && value.normalize('NFKC') === value,
);

const foldCase = (name: string): string => name.toUpperCase().toLowerCase();

/** Roles compare exactly: another case of a known role would be a role of its own. One that nothing names is logged. */
function checkRole(value: unknown, roles?: CallerRoles): Reading {
  const isOfCredential = roles?.hasKeys && (Object.values(CREDENTIAL_ROLES) as unknown[]).includes(value);
  const read: Reading = isOfCredential ? { expected: 'a role that users may have' } : readRole(value);
  const known = new Set([BASE_ROLE, ADMIN_ROLE, ...(roles?.names ?? [])]);
  if ('expected' in read || known.has(read.value as string)) return read;
  const meant = [...known].find((name) => foldCase(name) === foldCase(read.value as string));
  if (meant === undefined && roles && roles.names.size > 0)
    new Logger('AuthModule').warn(`No rule or option names the role ${JSON.stringify(read.value)}. Correct the role.`);
  return meant === undefined ? read : { expected: `the role as rules and options write it, ${JSON.stringify(meant)}` };
}

export const USER_CHECKS = Object.freeze({
  email: (value: unknown) => checkEmail(typeof value === 'string' ? normalizeEmail(value) : value),
  username: text(1, username, `1 to ${username} characters without leading or trailing space`, isTrimmed),
  /** `PasswordPolicy` checks more. */
  password: checkText,
  firstName: checkName,
  lastName: checkName,
  role: checkRole,
  active: boolean.read,
} satisfies Record<string, (value: unknown, roles?: CallerRoles) => Reading>);

/** Checks of what a body has: `any` accepts everything, for what is checked later. */
export const checks = Object.freeze({ ...USER_CHECKS, any: acceptAny, text: checkText, dateTime: dateTime.read });

const PRINTED = String.raw`[^\u0000-\u001f\u007f-\u009f]*`;
const TRIMMED = String.raw`^(?!\s)${PRINTED}(?<!\s)$`;
/** A pattern without the flag `u` cannot name the classes of `ROLE`. It leaves out the usual invisible characters. */
const WORD = String.raw`[^\u0000-\u0020\u007f-\u00a0\u00ad\s\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800]+`;

/** The same checks for the document of the API. `PasswordPolicy` has the limits of a password. */
export const USER_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  email: { type: 'string', format: 'email', maxLength: email, pattern: EMAIL.source.replaceAll('a-z', 'A-Za-z') },
  username: { type: 'string', minLength: 1, maxLength: username, pattern: TRIMMED, examples: ['ann'] },
  password: { type: 'string', examples: ['correct horse battery'] },
  firstName: { type: 'string', maxLength: name, pattern: `^${PRINTED}$`, examples: ['Ann'] },
  lastName: { type: 'string', maxLength: name, pattern: `^${PRINTED}$`, examples: ['Lee'] },
  role: { type: 'string', minLength: 1, maxLength: role, pattern: `^${WORD}(?: ${WORD})*$`, examples: ['USER'] },
};

guardEntity(AuthUser, {
  hidden: ['password'],
  reserved: ['role', 'active', 'email', 'username'],
  reads: USER_CHECKS,
  schemas: USER_SCHEMAS,
  standing: (role) => ({ active: true, role }),
  creation: 'let users register, or create them by UserAccounts',
});

export const REGISTRATION_FIELDS: readonly string[] = ['email', 'username', 'password', 'firstName', 'lastName'];

/**
 * Returns the fields as they are stored; `null` is accepted where not required.
 * @throws InvalidUserError (400) naming each field that is wrong, missing, or unknown
 * @example const { name } = checkBody(body, { name: checks.username }, ['name']);
 */
export function checkUser(
  input: Readonly<Record<string, unknown>>,
  checks: Readonly<Record<string, Check>>,
  required: readonly string[],
): Record<string, unknown> {
  const problems: string[] = [];
  const fields: Record<string, unknown> = {};
  let hint = `, expected only ${Object.keys(checks).join(', ')}`;
  for (const field of required) if (input[field] == null) problems.push(`${field}: required`);
  for (const [field, value] of Object.entries(input)) {
    const check = Object.hasOwn(checks, field) ? checks[field] : undefined;
    if (!check) {
      problems.push(`${field}: not accepted here${hint}`);
      // The accepted names are listed once: with each problem, the answer would be many times the request.
      hint = '';
    } else if (value != null) {
      const result = check(value);
      if ('expected' in result) problems.push(`${field}: expected ${result.expected}`);
      else fields[field] = result.value;
    }
  }
  if (problems.length > 0) throw new InvalidUserError(problems);
  return fields;
}

/** Returns the fields to change, some of which `null` may empty. @throws InvalidUserError naming each */
export function checkChanges(
  input: Readonly<Record<string, unknown>>,
  checks: Readonly<Record<string, Check>>,
  nullable: readonly string[],
): Record<string, unknown> {
  const nulls = Object.keys(input).filter((name) => input[name] === null);
  const emptied = nulls.filter((name) => nullable.includes(name)).map((name) => [name, null]);
  const missing = nulls.filter((name) => !nullable.includes(name));
  return { ...checkUser(input, checks, missing), ...Object.fromEntries(emptied) };
}

export type Texts<R extends string, O extends string> = Readonly<Record<R, string> & Partial<Record<O, string>>>;

/** Reads a body of text only. @throws InvalidUserError (400) naming every field that is missing, no text, or unknown */
export const readTexts = <R extends string, O extends string = never>(
  body: JsonObject,
  required: readonly R[],
  optional: readonly O[] = [],
): Texts<R, O> => {
  const texts = Object.fromEntries([...required, ...optional].map((name) => [name, checkText]));
  return checkUser(body, texts, required) as Texts<R, O>;
};
