/** Sorts the parameters of a query string into known and unknown ones. */
import type { ListQuery } from '../declare/envelope.js';
import { isFilter, type FilterReader } from './filter-parameter.js';
import type { QueryErrors } from './query-errors.js';

const RELATION_FIELDS = /^fields\[(.*)\]$/;

/** The relation of `fields[author]`; `undefined` for another parameter. */
export const relationOf = (parameter: string): string | undefined => RELATION_FIELDS.exec(parameter)?.[1];

export function readFlag(
  name: string,
  fallback: boolean,
  parameters: ReadonlyMap<string, string>,
  errors: QueryErrors,
): boolean {
  const text = parameters.get(name) ?? String(fallback);
  if (text !== 'true' && text !== 'false') errors.add(name, 'must be true or false');
  return text === 'true';
}

export function readParameters(
  query: ListQuery,
  known: readonly string[],
  filter: FilterReader | undefined,
  errors: QueryErrors,
): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of Object.entries(query ?? {})) {
    const isKnownFilter = known.includes('filter') && isFilter(name);
    const isKnown =
      isKnownFilter || known.includes(name) || (known.includes('include') && relationOf(name) !== undefined);
    if (!isKnown) errors.addUnknown(name, 'parameter', known);
    else if (typeof value !== 'string') errors.add(name, 'must be sent once, got several');
    else if (isKnownFilter) filter?.add(name, value);
    else parameters.set(name, value);
  }
  return parameters;
}

/** Which records an operation sees: those that are not deleted, all of them, or the deleted ones. */
export type Deleted = 'without' | 'with' | 'only';

export const isDeletedChoice = (text: unknown): text is Deleted => text === 'with' || text === 'only';

export function checkDeleted(text: string | undefined, errors: QueryErrors): void {
  if (text !== undefined && !isDeletedChoice(text)) errors.add('deleted', 'must be with or only');
}
