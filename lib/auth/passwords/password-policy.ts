/** The option `passwordPolicy`: which passwords are accepted. */
import { flag, integer, isFunction, optional, refuseAuthOption } from '../../options/option-table.js';
import { InvalidUserError, USER_CHECKS, type Check } from '../users/user-checks.js';

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

const MIN = 8;
const MAX = 72;
const COMMON_PASSWORDS = 10_000;
const PACKAGE = '@zxcvbn-ts/language-common';

export const PASSWORD_POLICY = {
  minLength: integer(MIN, MIN, MAX),
  common: flag(true),
  check: optional('a function', isFunction, 'give a function of the password and the user'),
};

export class PasswordPolicy {
  private constructor(
    private readonly options: PasswordPolicyOptions,
    private readonly common: ReadonlySet<string>,
  ) {}

  /** @throws InvalidOptionError where the package with the list is missing */
  static async load(options: PasswordPolicyOptions = { common: false }): Promise<PasswordPolicy> {
    return new PasswordPolicy(options, options.common === false ? new Set() : await loadCommonPasswords());
  }

  readonly read: Check = (value) => {
    const read = USER_CHECKS.password(value);
    if ('expected' in read) return read;
    const { minLength = MIN } = this.options;
    const password = read.value as string;
    if ([...password].length < minLength) return { expected: `at least ${minLength} characters` };
    return this.common.has(password.toLowerCase()) ? { expected: 'a password that few people use' } : read;
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
