/** Refuses combinations of options where one of them has no effect. */
import {
  ENABLING_OPTIONS,
  enablingOption,
  missingOption,
  OPERATION_NAMES,
  type EnablingOptions,
} from './operations.js';

export interface CombinedOptions extends EnablingOptions {
  readonly enablePagination: unknown;
  readonly includableRelations: readonly unknown[];
  readonly searchableFields: readonly string[];
}

type Refuse = (option: string, expected: string, got: string, advice: string) => never;

/** Each option has an effect only together with the other one. */
const NEEDS = {
  searchableFields: 'enableSearch',
  searchIndex: 'enableSearch',
  maxBatchSize: 'enableBatch',
  maxIncluded: 'includableRelations',
} as const;

const LISTS = ['findAll', 'search'] as const;

const isOn = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;

/** @param given the options without their defaults */
export function refuseCombinations(
  options: CombinedOptions,
  given: Readonly<Record<string, unknown>>,
  refuse: Refuse,
): void {
  for (const [name, needed] of Object.entries(NEEDS))
    if (isOn(given[name]) && !isOn(options[needed]))
      refuse(name, `used together with ${needed}`, `no ${needed}`, `set ${needed} or leave ${name} out`);
  if (options.enableSearch && !isOn(options.searchableFields))
    refuse('searchableFields', 'at least one field, because enableSearch is on', 'none', 'name the fields to search');
  if (isOn(given['maxListSize']) && isOn(options.enablePagination)) {
    const expected = 'used without enablePagination, because pages have a size of their own';
    refuse('maxListSize', expected, 'both', 'leave one of the two out');
  }
  if (isOn(given['maxListSize']) && !LISTS.some((name) => options.operations?.includes(name) ?? true)) {
    const names = LISTS.join(' or ');
    refuse(
      'maxListSize',
      `used with ${names} in \`operations\``,
      `\`operations\` without ${names}`,
      'leave maxListSize out',
    );
  }
  for (const name of options.operations ?? []) {
    const missing = missingOption(name, options);
    const advice = `set ${missing} or leave the operation out`;
    if (missing) refuse('operations', 'operations that the other options enable', `"${name}"`, advice);
  }
  refuseUnlisted(options, refuse);
}

/** An option that enables operations has no effect where `operations` lists none of them. */
function refuseUnlisted(options: CombinedOptions, refuse: Refuse): void {
  const { operations } = options;
  for (const option of operations ? ENABLING_OPTIONS : []) {
    const enabled = OPERATION_NAMES.filter((name) => enablingOption(name) === option);
    if (!isOn(options[option]) || enabled.some((name) => operations?.includes(name))) continue;
    const names = enabled.join(' or ');
    refuse(
      option,
      `used with ${names} in \`operations\``,
      `\`operations\` without ${names}`,
      `add ${names}, or leave ${option} out`,
    );
  }
}
