/** The parameters that reach deleted records: `deleted` of lists and `purge` of DELETE. */
import type { QueryErrors } from './query-errors.js';

/** Which records an operation sees: those that are not deleted, all of them, or the deleted ones. */
export type Deleted = 'without' | 'with' | 'only';

export const isDeletedChoice = (text: unknown): text is Deleted => text === 'with' || text === 'only';

export function checkDeleted(text: string | undefined, errors: QueryErrors): void {
  if (text !== undefined && !isDeletedChoice(text)) errors.add('deleted', 'must be with or only');
}
