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

/** By effect: what the caller must be allowed to do with a field. An operation that reads records also counts them. */
export const ACTIONS: Readonly<Record<string, keyof FieldReach>> = { read: 'read', create: 'create', update: 'update' };

/** @param field that the operations show or write @returns none for `code`, of which nobody can tell what it reaches */
export function reachedByOperations(
  { resources }: Reach,
  entity: string,
  effect: string,
  callers: readonly CallerName[],
  field?: string,
): Rows {
  const action = ACTIONS[effect] ?? 'read';
  const own = resources.filter(
    (each) => each.entity === entity && (field === undefined || areAmong(each.fields[field]?.[action], callers)),
  );
  const counts = (of = ''): boolean => of !== 'code' && (of === effect || (effect === 'count' && of === 'read'));
  return anyOf(
    ...own.flatMap(({ rows, effects }) =>
      Object.keys(rows).flatMap((each) => (counts(effects[each]) ? [rowsFor(rows[each], callers)] : [])),
    ),
  );
}

/** By operations, and through relations of other records. */
export function reachedRows(
  reach: Reach,
  ...asked: Parameters<typeof reachedByOperations> extends [unknown, ...infer R] ? R : never
): Rows {
  const [entity, effect, callers, field] = asked;
  const related = reach.resources
    .flatMap((each) => Object.values(each.related))
    .filter((each) => each.entity === entity && (effect === 'read' || effect === 'count'))
    .filter(({ fields }) => field === undefined || areAmong(fields[field]?.read, callers));
  return anyOf(reachedByOperations(reach, ...asked), ...related.map(({ rows }) => rowsFor(rows, callers)));
}
