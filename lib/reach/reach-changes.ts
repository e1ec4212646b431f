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
        ...relatedChanges(before, after, was, is, old, present),
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

function changeOf(what: string, ability: string, had: boolean, may: boolean): Change[] {
  if (had === may) return [];
  const [was, is] = may ? [`not ${ability}`, ability] : [ability, `not ${ability}`];
  return [{ kind: may ? 'wider' : 'narrower', text: `${what} was ${was}, is ${is}` }];
}

function fieldChanges(was: ResourceReach, is: ResourceReach, old: CallerName[], present: CallerName[]): Change[] {
  const isReached = Object.values(is.rows).some((rows) => rowsFor(rows, present) !== 'none');
  const changes = Object.entries(is.fields).flatMap(([name, reach]): Change[] => {
    const earlier = was.fields[name];
    const field = `${is.entity}.${name}`;
    // Like a new route, a new field is wider where nobody needs a token for it.
    if (!earlier)
      return isReached && areAmong(reach.read, present)
        ? [{ kind: present.includes(NOBODY) ? 'wider' : 'new', text: `${field} is new and readable` }]
        : [];
    return (Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]).flatMap((action) =>
      changeOf(field, ACTIONS[action], areAmong(earlier[action], old), areAmong(reach[action], present)),
    );
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
  after: Reach,
  was: ResourceReach,
  is: ResourceReach,
  old: CallerName[],
  present: CallerName[],
): Change[] {
  return Object.entries(is.related).flatMap(([path, { entity, rows, fields, link }]): Change[] => {
    const earlier = was.related[path];
    const now = rowsFor(rows, present);
    const operation = `${entity} through ${is.entity}.${path}`;
    // What a caller reached by operations of its own is no more through a relation.
    const ofKnown = (changes: Change[], known: Rows): Change[] =>
      changes.map((each) => (each.kind === 'wider' && isWithin(now, known) ? { ...each, kind: 'new' } : each));
    const ofRows = ofKnown(
      changeOfRows(operation, rowsFor(earlier?.rows, old), now),
      reachedOtherwise(before, entity, old),
    );
    const ofLinks = changeOf(
      `the relation ${is.entity}.${path}`,
      'writable',
      areAmong(earlier?.link ?? 'none', old),
      areAmong(link, present),
    );
    // All fields of records that were not reached, or are no more.
    if (ofRows.some((each) => each.operation !== undefined && each.kind !== 'new')) return [...ofRows, ...ofLinks];
    const names = new Set([...Object.keys(fields), ...Object.keys(earlier?.fields ?? {})]);
    const ofFields = [...names].flatMap((name) => {
      const may = (action: 'read' | 'filter') =>
        [
          areAmong(earlier?.fields[name]?.[action] ?? 'none', old),
          areAmong(fields[name]?.[action] ?? 'none', present),
        ] as const;
      const text = `${operation}: ${name}`;
      const readable = changeOf(text, 'readable', ...may('read'));
      const changes = readable.length > 0 ? readable : changeOf(text, 'filterable', ...may('filter'));
      // A new column is a change of its resource.
      const isColumn = before.resources.some((each) => each.entity === entity && each.fields[name]);
      return ofKnown(
        changes,
        isColumn ? reachedOtherwise(before, entity, old, name) : reachedOtherwise(after, entity, present, name),
      );
    });
    return [...ofRows, ...ofLinks, ...ofFields];
  });
}

/** @param field that the operations show */
function reachedOtherwise({ resources }: Reach, entity: string, callers: readonly CallerName[], field?: string): Rows {
  const own = resources.filter(
    (each) => each.entity === entity && (field === undefined || areAmong(each.fields[field]?.read ?? 'none', callers)),
  );
  return anyOf(...own.flatMap(({ rows, reads }) => reads.map((operation) => rowsFor(rows[operation], callers))));
}
