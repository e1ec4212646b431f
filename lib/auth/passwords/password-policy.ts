/** The option `passwordPolicy`: which passwords are accepted. */
import type { JsonSchema } from '../../entities/json-schema.js';
import { flag, integer, isFunction, optional, refuseAuthOption, type OptionsOf } from '../../options/option-table.js';
import { InvalidUserError, USER_CHECKS, USER_SCHEMAS, type Check } from '../users/user-checks.js';
import { BCRYPT_BYTES } from './password-hasher.js';

type PolicyUser = Readonly<Record<string, unknown>>;

export interface PasswordPolicyOptions {
  /** The least number of characters, 8 to 72. @default 8 */
  minLength?: number;
  /** Whether the 10,000 most common passwords are refused. Needs the package `@zxcvbn-ts/language-common`. @default true */
  common?: boolean;
  /**
   * A check of the application. `user` holds the fields that are stored, without the password.
   * @returns what the password must be instead, as in "expected …"; `undefined` where it is accepted
   * @example check: (password, user) => (password.includes(String(user.username)) ? 'a password without the username' : undefined)
   */
  check?: (password: string, user: PolicyUser) => string | undefined | Promise<string | undefined>;
}

const COMMON_PASSWORDS = 10_000;
const PACKAGE = '@zxcvbn-ts/language-common';

export const PASSWORD_POLICY = {
  minLength: integer(8, 8, BCRYPT_BYTES),
  common: flag(true),
  check: optional<PasswordPolicyOptions['check']>(
    'a function',
    isFunction,
    'give a function of the password and the user',
  ),
};

type PolicySettings = OptionsOf<typeof PASSWORD_POLICY>;

export class PasswordPolicy {
  private constructor(
    private readonly options: PolicySettings,
    private readonly maxBytes: number,
    private readonly common: ReadonlySet<string>,
  ) {}

  /** @param maxBytes of a password in UTF-8 @throws InvalidOptionError where the package with the list is missing */
  static async load(options: PolicySettings, maxBytes = BCRYPT_BYTES): Promise<PasswordPolicy> {
    return new PasswordPolicy(options, maxBytes, options.common ? await loadCommonPasswords() : new Set());
  }

  /** For the document of the API. JSON Schema cannot limit bytes. */
  get schema(): JsonSchema {
    const description = `At most ${this.maxBytes} bytes in UTF-8.`;
    return { ...USER_SCHEMAS['password'], minLength: this.options.minLength, maxLength: this.maxBytes, description };
  }

  readonly read: Check = (value) => {
    const read = USER_CHECKS.password(value);
    if (typeof value !== 'string' || 'expected' in read) return read;
    const { minLength } = this.options;
    if ([...value].length < minLength) return { expected: `at least ${minLength} characters` };
    if (Buffer.byteLength(value) > this.maxBytes) return { expected: `at most ${this.maxBytes} bytes in UTF-8` };
    return this.common.has(value.toLowerCase()) ? { expected: 'a password that few people use' } : read;
  };

  /** @throws InvalidUserError (400) */
  async check(password: string, user: PolicyUser): Promise<void> {
    const read = this.read(password);
    const { password: _, ...known } = user;
    const expected = 'expected' in read ? read.expected : await this.options.check?.(password, known);
    if (expected !== undefined) throw new InvalidUserError([`password: expected ${expected}`]);
  }
}

async function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common').catch(() => {
    const advice = `run npm install ${PACKAGE}, or set \`common\` to false`;
    return refuseAuthOption('passwordPolicy', `used with the package ${PACKAGE}, which has the list`, 'none', advice);
  });
  const [passwords] = Object.values(dictionary).filter((list) => list.length > COMMON_PASSWORDS);
  return new Set((passwords ?? []).slice(0, COMMON_PASSWORDS).map(String));
}
