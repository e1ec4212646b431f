/** Refuses combinations of options where one of them has no effect. */
import type { Refuse } from '../../options/option-table.js';
import {
  ENABLING_OPTIONS,
  enablingOption,
  isKeyless,
  missingOption,
  OPERATION_NAMES,
  type EnablingOptions,
  type OperationName,
} from './operations.js';

export interface CombinedOptions extends EnablingOptions {
  readonly enablePagination: unknown;
  readonly includableRelations: readonly unknown[];
  readonly linkableRelations: readonly unknown[];
  readonly maxListSize: unknown;
  readonly searchableFields: readonly string[];
}

/** Each option has an effect only together with the other one. */
const NEEDS = {
  searchableFields: 'enableSearch',
  searchIndex: 'enableSearch',
  maxBatchSize: 'enableBatch',
  maxIncluded: 'includableRelations',
} as const;

const isOn = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;

/** What records of a view without a key do not have. */
export function refuseWithoutKey(options: CombinedOptions, refuse: Refuse): void {
  const names = (['includableRelations', 'linkableRelations', 'enablePagination'] as const).filter(
    (name) => isOn(options[name]) && options[name] !== true,
  );
  const [needing] = [...(options.operations ?? []).filter((name) => !isKeyless(name)), ...names];
  const advice = 'decorate a unique column with @PrimaryColumn(), or leave it out';
  if (needing) refuse('entity', `a view with a primary key, which ${needing} needs`, 'one without', advice);
}

/** @param given the options without their defaults */
export function refuseCombinations(options: CombinedOptions, given: object, refuse: Refuse): void {
  for (const [name, needed] of Object.entries(NEEDS))
    if (isOn((given as Readonly<Record<string, unknown>>)[name]) && !isOn(options[needed]))
      refuse(name, `used together with ${needed}`, `no ${needed}`, `set ${needed} or leave ${name} out`);
  if (options.enableSearch && !isOn(options.searchableFields))
    refuse('searchableFields', 'at least one field, because enableSearch is on', 'none', 'name the fields to search');
  if (isOn(options.maxListSize) && isOn(options.enablePagination)) {
    const expected = 'used without enablePagination, because pages have a size of their own';
    refuse('maxListSize', expected, 'both', 'leave one of the two out');
  }
  for (const name of options.operations ?? []) {
    const missing = missingOption(name, options);
    const advice = `set ${missing} or leave the operation out`;
    if (missing) refuse('operations', 'operations that the other options enable', `"${name}"`, advice);
  }
  const { operations = OPERATION_NAMES } = options;
  const expectOneOf = (affected: readonly OperationName[], option: keyof CombinedOptions, advice: string): void => {
    if (!isOn(options[option]) || affected.some((name) => operations.includes(name))) return;
    const names = affected.join(' or ');
    refuse(option, `used with ${names} in \`operations\``, `\`operations\` without ${names}`, advice);
  };
  expectOneOf(['findAll', 'search'], 'maxListSize', 'leave maxListSize out');
  for (const option of ENABLING_OPTIONS) {
    const enabled = OPERATION_NAMES.filter((name) => enablingOption(name) === option);
    expectOneOf(enabled, option, `add ${enabled.join(' or ')}, or leave ${option} out`);
  }
}
