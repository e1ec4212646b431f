/** The options of plugins: what each must be, what it is where it is not given, and how to correct it. */
import { expectKnownNames } from '../options/invalid-option.js';
import { flag, integer, namesOf, optional, readOptions as readTable, refuserOf, row } from '../options/option-table.js';
import type { OptionsOf, OptionTable } from '../options/option-table.js';

/**
 * Rows of a table of options.
 * @example const OPTIONS = { issuer: option.optional<string>('a name', isName, 'set for example "Shop"'), strict: option.flag() };
 */
export const option = {
  /** @param fallback what it is where it is not given */
  value: row,
  optional,
  flag,
  integer,
  /** An array of names. */
  names: namesOf,
} as const;

/**
 * @param owner the function that takes them, such as `oidc`
 * @param within the option that they are members of, such as `providers.google`
 * @throws InvalidOptionError, also for an unknown name
 */
export function readOptions<T extends OptionTable>(
  owner: string,
  table: T,
  given: unknown,
  within?: string,
): OptionsOf<T> {
  const path = within === undefined ? `The options of ${owner}` : `${owner} option \`${within}\``;
  expectKnownNames(path, given, Object.keys(table));
  return readTable(table, given as object, (name, ...reason) =>
    refuseOption(owner, within === undefined ? name : `${within}.${name}`, ...reason),
  );
}

/** @param got what was given, such as by `describeValue`; never a secret @throws InvalidOptionError */
export const refuseOption = (owner: string, name: string, expected: string, got: string, advice: string): never =>
  refuserOf(owner)(name, expected, got, advice);
