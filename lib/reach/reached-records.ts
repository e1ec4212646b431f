/** What callers reach of the records of an entity, by any operation or relation. */
import { BASE_ROLE } from '../http/principal.js';
import { AND, isAmong, type CallerName, type Callers, type RowsByCaller } from './callers.js';
import type { FieldReach, Reach } from './reach.js';
import { anyOf, type Rows } from './rows.js';

/** Several roles that a table does not name have there what one of them has, and a role what any user has. */
export const callersIn = ({ callers }: Reach, caller: CallerName): CallerName[] =>
  callers.includes(caller) ? [caller] : caller.split(AND).map((role) => (callers.includes(role) ? role : BASE_ROLE));

export const rowsFor = (rows: RowsByCaller | undefined, callers: readonly CallerName[]): Rows =>
  anyOf(...callers.map((caller) => rows?.[caller] ?? 'none'));

export const areAmong = (all: Callers | undefined, callers: readonly CallerName[]): boolean =>
  callers.some((caller) => isAmong(all ?? 'none', caller));

/** What the caller must be allowed to do with a field, by the effect of the operation. */
export const ACTIONS: Readonly<Record<string, keyof FieldReach>> = { read: 'read', create: 'create', update: 'update' };

/** Without `code`, of which nobody can tell what it reaches. @param field that the operations show or write */
export function reachedByOperations(
  { resources }: Reach,
  entity: string,
  effect: string,
  callers: readonly CallerName[],
  field?: string,
): Rows {
  const action = ACTIONS[effect] ?? 'read';
  // An operation that reads records also counts them.
  const counts = (of = ''): boolean => of !== 'code' && (of === effect || (effect === 'count' && of === 'read'));
  const reached = resources
    .filter((each) => each.entity === entity && (!field || areAmong(each.fields[field]?.[action], callers)))
    .flatMap(({ rows, effects }) => Object.entries(rows).filter(([name]) => counts(effects[name])));
  return anyOf(...reached.map(([, rows]) => rowsFor(rows, callers)));
}

/** By operations, and through relations of other records. */
export function reachedRows(
  reach: Reach,
  entity: string,
  effect: string,
  callers: readonly CallerName[],
  field?: string,
): Rows {
  const related = reach.resources
    .flatMap((each) => Object.values(each.related))
    .filter((each) => each.entity === entity && (effect === 'read' || effect === 'count'))
    .filter(({ fields }) => !field || areAmong(fields[field]?.read, callers));
  const operations = reachedByOperations(reach, entity, effect, callers, field);
  return anyOf(operations, ...related.map(({ rows }) => rowsFor(rows, callers)));
}
