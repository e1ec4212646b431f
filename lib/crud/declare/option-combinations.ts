/** Refuses combinations of options where one of them has no effect. */
import type { Refuse } from '../../options/option-table.js';
import { isKeyless, type OperationName, type OperationDeclaration } from './operations.js';

type Options = Readonly<Record<string, unknown>>;

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
export function refuseWithoutKey(options: Options, named: readonly OperationDeclaration[], refuse: Refuse): void {
  const names = ['includableRelations', 'linkableRelations', 'enablePagination'].filter(
    (name) => isOn(options[name]) && options[name] !== true,
  );
  const [needing] = [...named.filter((each) => !isKeyless(each)).map(({ name }) => name), ...names];
  const advice = 'decorate a unique column with @PrimaryColumn(), or leave it out';
  if (needing) refuse('entity', `a view with a primary key, which ${needing} needs`, 'one without', advice);
}

/**
 * @param given the options without their defaults
 * @param named the operations of the option `operations`, or all of them
 * @param known all operations
 */
export function refuseCombinations(
  options: Options,
  given: Options,
  named: readonly OperationDeclaration[],
  known: readonly OperationDeclaration[],
  refuse: Refuse,
): void {
  for (const [name, needed] of Object.entries(NEEDS))
    if (isOn(given[name]) && !isOn(options[needed]))
      refuse(name, `used together with ${needed}`, `no ${needed}`, `set ${needed} or leave ${name} out`);
  if (isOn(options['enableSearch']) && !isOn(options['searchableFields']))
    refuse('searchableFields', 'at least one field, because enableSearch is on', 'none', 'name the fields to search');
  if (isOn(options['maxListSize']) && isOn(options['enablePagination']))
    refuse('maxListSize', 'used without enablePagination, whose pages have a size', 'both', 'leave one of the two out');
  if (isOn(options['maxOffset']) && ![true, 'both'].includes(options['enablePagination'] as string | boolean))
    refuse('maxOffset', 'used with numbered pages', 'none', "set enablePagination to true or 'both', or leave it out");
  const expectOneOf = (affected: readonly string[], option: string, advice: string): void => {
    if (!isOn(options[option]) || named.some(({ name }) => affected.includes(name))) return;
    const names = affected.join(' or ');
    refuse(option, `used with ${names} in \`operations\``, `\`operations\` without ${names}`, advice);
  };
  expectOneOf(['findAll', 'search'] satisfies OperationName[], 'maxListSize', 'leave maxListSize out');
  for (const option of new Set(known.flatMap(({ enabledBy }) => enabledBy ?? []))) {
    const enabled = known.filter(({ enabledBy }) => enabledBy === option).map(({ name }) => name);
    expectOneOf(enabled, option, `add ${enabled.join(' or ')}, or leave ${option} out`);
  }
}
