/** Compares what callers reached before with what they reach now. */
import { BASE_ROLE } from '../http/principal.js';
import { AND, isAmong, NOBODY, type CallerName, type Callers, type RowsByCaller } from './callers.js';
import type { Reach, ResourceReach } from './reach.js';
import { anyOf, describeRows, isWithin, type Rows } from './rows.js';

export interface ReachChange {
  readonly kind: 'wider' | 'narrower' | 'new' | 'removed';
  /** `USER: GET /api/orders: was own (customerId), is all` */
  readonly sentence: string;
  /** The operation that gave no rows before or gives none now, which a change of its route may say: `GET /api/orders`. */
  readonly operation?: string;
}

type Change = Omit<ReachChange, 'sentence'> & { readonly text: string };

/** Versions of an endpoint differ in their routes, or else in their order. The entity may have another name now. */
function resourceBefore(before: Reach, after: Reach, is: ResourceReach): ResourceReach | undefined {
  const [was, now] = [before, after].map(({ resources }) => {
    const same = resources.filter(({ endpoint }) => endpoint === is.endpoint);
    const sharing = same.filter(({ rows }) => Object.keys(rows).some((operation) => is.rows[operation]));
    const versions = sharing.length > 0 ? sharing : same;
    const ofEntity = versions.filter(({ entity }) => entity === is.entity);
    return ofEntity.length > 0 ? ofEntity : versions;
  }) as [ResourceReach[], ResourceReach[]];
  return was[now.indexOf(is)] ?? was[0];
}

/** Resources that are new are changes of their routes. */
export function compareReach(before: Reach, after: Reach): ReachChange[] {
  const callers = [...new Set([...after.callers, ...before.callers])];
  const found = new Map<string, { readonly change: Change; readonly callers: CallerName[] }>();
  for (const is of after.resources) {
    const was = resourceBefore(before, after, is);
    if (!was) continue;
    for (const caller of callers) {
      const [old, present] = [callersIn(before, caller), callersIn(after, caller)];
      const changes = [
        ...rowChanges(was, is, old, present),
        ...fieldChanges(was, is, old, present),
        ...relatedChanges(before, was, is, old, present),
      ];
      for (const change of changes) {
        const key = `${change.kind} ${change.text}`;
        const known = found.get(key) ?? { change, callers: [] };
        found.set(key, known);
        known.callers.push(caller);
      }
    }
  }
  return [...found.values()].map(({ change: { text, ...change }, callers: of }) => ({
    ...change,
    sentence: `${of.length === callers.length ? 'everybody' : of.join(', ')}: ${text}`,
  }));
}

/** Several roles that a table does not name have there what one of them has, and a role what any user has. */
const callersIn = ({ callers }: Reach, caller: CallerName): CallerName[] =>
  callers.includes(caller) ? [caller] : caller.split(AND).map((role) => (callers.includes(role) ? role : BASE_ROLE));

const rowsFor = (rows: RowsByCaller | undefined, callers: readonly CallerName[]): Rows =>
  anyOf(...callers.map((caller) => rows?.[caller] ?? 'none'));

const areAmong = (all: Callers, callers: readonly CallerName[]): boolean =>
  callers.some((caller) => isAmong(all, caller));

function changeOfRows(operation: string, was: Rows, is: Rows): Change[] {
  if (isWithin(is, was) && isWithin(was, is)) return [];
  const kind = isWithin(is, was) ? 'narrower' : 'wider';
  const isOfRoute = was === 'none' || is === 'none';
  return [
    { kind, ...(isOfRoute && { operation }), text: `${operation}: was ${describeRows(was)}, is ${describeRows(is)}` },
  ];
}

/** New and removed operations are changes of their routes. */
const rowChanges = (was: ResourceReach, is: ResourceReach, old: CallerName[], present: CallerName[]): Change[] =>
  Object.keys(is.rows).flatMap((operation) =>
    was.rows[operation]
      ? changeOfRows(operation, rowsFor(was.rows[operation], old), rowsFor(is.rows[operation], present))
      : [],
  );

const ACTIONS = { read: 'readable', create: 'writable in new records', update: 'writable' } as const;

function fieldChanges(was: ResourceReach, is: ResourceReach, old: CallerName[], present: CallerName[]): Change[] {
  const changes = Object.entries(is.fields).flatMap(([name, reach]): Change[] => {
    const earlier = was.fields[name];
    const field = `${is.entity}.${name}`;
    // Like a new route, a new field is wider where nobody needs a token for it.
    if (!earlier)
      return areAmong(reach.read, present)
        ? [{ kind: present.includes(NOBODY) ? 'wider' : 'new', text: `${field} is new and readable` }]
        : [];
    return (Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]).flatMap((action): Change[] => {
      const [had, may] = [areAmong(earlier[action], old), areAmong(reach[action], present)];
      if (had === may) return [];
      const not = `not ${ACTIONS[action]}`;
      const text = may ? `${field} was ${not}, is ${ACTIONS[action]}` : `${field} was ${ACTIONS[action]}, is ${not}`;
      return [{ kind: may ? 'wider' : 'narrower', text }];
    });
  });
  const removed = Object.keys(was.fields).filter(
    (name) => !is.fields[name] && areAmong(was.fields[name]?.read ?? 'none', old),
  );
  const [had, may] = [areAmong(was.deleted, old), areAmong(is.deleted, present)];
  const deleted = `deleted records of ${is.entity}`;
  return [
    ...changes,
    ...removed.map((name): Change => ({ kind: 'removed', text: `${is.entity}.${name} is removed` })),
    ...(had === may
      ? []
      : [
          {
            kind: may ? 'wider' : 'narrower',
            text: `${deleted} were ${may ? 'none' : 'all'}, are ${may ? 'all' : 'none'}`,
          } as const,
        ]),
  ];
}

function relatedChanges(
  before: Reach,
  was: ResourceReach,
  is: ResourceReach,
  old: CallerName[],
  present: CallerName[],
): Change[] {
  return Object.entries(is.related).flatMap(([path, { entity, rows, fields = [] }]): Change[] => {
    const earlier = was.related[path];
    const now = rowsFor(rows, present);
    const operation = `${entity} through ${is.entity}.${path}`;
    const change = changeOfRows(operation, rowsFor(earlier?.rows, old), now);
    // What a caller reached by operations of its own is no more through a relation.
    const isKnown = isWithin(now, reachedOtherwise(before, entity, old));
    const added = earlier?.fields && now !== 'none' ? fields.filter((name) => !earlier.fields?.includes(name)) : [];
    return [
      ...change.map((each): Change => (each.kind === 'wider' && isKnown ? { ...each, kind: 'new' } : each)),
      ...added.map((name): Change => ({ kind: 'wider', text: `${operation}: ${name} is new and readable` })),
    ];
  });
}

function reachedOtherwise({ resources }: Reach, entity: string, callers: CallerName[]): Rows {
  const own = resources.filter((each) => each.entity === entity);
  const lists = own.flatMap(({ rows }) => Object.entries(rows).filter(([operation]) => operation.startsWith('GET ')));
  return anyOf(...lists.map(([, rows]) => rowsFor(rows, callers)));
}
