/** Compares what callers reached before with what they reach now. */
import { BASE_ROLE } from '../http/caller.js';
import { AND, isAmong, NOBODY, type CallerName, type Callers, type RowsByCaller } from './callers.js';
import type { FieldReach, Reach, ResourceReach } from './reach.js';
import { anyOf, describeRows, isWithin, type Rows } from './rows.js';

/** Changes of one kind and cause are reported once, at the shortest place. */
export interface Change<K extends string> {
  readonly kind: K;
  readonly place: string;
  readonly cause: string;
  readonly sentence: string;
}

/** What one caller reaches otherwise than before. */
interface Difference {
  readonly kind: 'wider' | 'narrower' | 'new' | 'removed';
  /** `GET /api/orders`, or `Product through Order.product`; empty where the text says it. */
  readonly place: string;
  /** `: was own (customerId), is all`, or `Product.cost was not readable, is readable` */
  readonly text: string;
  /** The operation that gave no rows before or gives none now, which a change of its route may say: `GET /api/orders`. */
  readonly operation?: string;
  /** Whether there was no such operation. */
  readonly isNew?: boolean;
}

export type ReachChange = Change<Difference['kind']> & Pick<Difference, 'operation' | 'isNew'>;

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

/** A resource, its state before, and a caller in both tables. */
interface Compared {
  readonly before: Reach;
  readonly after: Reach;
  readonly was: ResourceReach | undefined;
  readonly is: ResourceReach;
  readonly old: readonly CallerName[];
  readonly present: readonly CallerName[];
}

export function compareReach(before: Reach, after: Reach): ReachChange[] {
  const callers = [...new Set([...after.callers, ...before.callers])];
  const found = new Map<string, { readonly change: Difference; readonly callers: Set<CallerName> }>();
  for (const is of after.resources) {
    const was = resourceBefore(before, after, is);
    for (const caller of callers) {
      const [old, present] = [callersIn(before, caller), callersIn(after, caller)];
      const compared: Compared = { before, after, was, is, old, present };
      for (const change of [rowChanges, fieldChanges, deletedChanges, relatedChanges].flatMap((find) =>
        find(compared),
      )) {
        const key = JSON.stringify(change);
        const known = found.get(key) ?? { change, callers: new Set() };
        found.set(key, known);
        known.callers.add(caller);
      }
    }
  }
  return [...found.values()].map(({ change: { text, ...change }, callers: of }) => {
    const names = of.size === callers.length ? 'everybody' : [...of].join(', ');
    return { ...change, cause: `${names}${text}`, sentence: `${names}: ${change.place}${text}` };
  });
}

function changeOfRows(place: string, was: Rows, is: Rows): Difference[] {
  if (isWithin(is, was) && isWithin(was, is)) return [];
  const kind = isWithin(is, was) ? 'narrower' : 'wider';
  const isOfRoute = was === 'none' || is === 'none';
  const text = `: was ${describeRows(was)}, is ${describeRows(is)}`;
  return [{ kind, place, ...(isOfRoute && { operation: place }), text }];
}

/** Removed operations, and new ones that reach nothing new, are changes of their routes. */
function rowChanges({ before, was, is, old, present }: Compared): Difference[] {
  return Object.keys(is.rows).flatMap((operation): Difference[] => {
    const now = rowsFor(is.rows[operation], present);
    if (was?.rows[operation]) return changeOfRows(operation, rowsFor(was.rows[operation], old), now);
    const effect = is.effects[operation] ?? 'code';
    const isReached = (field?: string): boolean => isWithin(now, reachedRows(before, is.entity, effect, old, field));
    const action = ACTIONS[effect];
    const fields = Object.keys(is.fields).filter((name) => action && areAmong(is.fields[name]?.[action], present));
    const unreached = fields.filter((name) => !isReached(name));
    if (isReached() && unreached.length === 0) return [];
    const names = unreached.length > 0 ? `, with the fields ${unreached.join(', ')}` : '';
    const text = ` is new: reaches ${describeRows(now)} of ${is.entity}${names}`;
    return [{ kind: 'wider', place: operation, text, operation, isNew: true }];
  });
}

const ABILITIES: Readonly<Record<keyof FieldReach, string>> = {
  read: 'readable',
  create: 'writable in new records',
  update: 'writable',
};

function changeOf(what: string, ability: string, had: boolean, may: boolean): Difference[] {
  if (had === may) return [];
  const [was, is] = may ? [`not ${ability}`, ability] : [ability, `not ${ability}`];
  return [{ kind: may ? 'wider' : 'narrower', place: '', text: `${what} was ${was}, is ${is}` }];
}

function fieldChanges({ was, is, old, present }: Compared): Difference[] {
  if (!was) return [];
  const isReached = Object.values(is.rows).some((rows) => rowsFor(rows, present) !== 'none');
  const changes = Object.entries(is.fields).flatMap(([name, reach]): Difference[] => {
    const earlier = was.fields[name];
    const field = `${is.entity}.${name}`;
    // Like a new route, a new field is wider where nobody needs a token for it.
    if (!earlier)
      return isReached && areAmong(reach.read, present)
        ? [{ kind: present.includes(NOBODY) ? 'wider' : 'new', place: '', text: `${field} is new and readable` }]
        : [];
    return (Object.keys(ABILITIES) as (keyof FieldReach)[]).flatMap((action) =>
      changeOf(field, ABILITIES[action], areAmong(earlier[action], old), areAmong(reach[action], present)),
    );
  });
  const removed = Object.keys(was.fields).filter((name) => !is.fields[name] && areAmong(was.fields[name]?.read, old));
  return [
    ...changes,
    ...removed.map((name): Difference => ({ kind: 'removed', place: '', text: `${is.entity}.${name} is removed` })),
  ];
}

function deletedChanges({ before, was, is, old, present }: Compared): Difference[] {
  const earlier = was ? [was] : before.resources.filter(({ entity }) => entity === is.entity);
  const [had, may] = [earlier.some((each) => areAmong(each.deleted, old)), areAmong(is.deleted, present)];
  if (had === may || (!was && had)) return [];
  const [earlierRows, rows] = may ? ['none', 'all'] : ['all', 'none'];
  const text = `deleted records of ${is.entity} were ${earlierRows}, are ${rows}`;
  return [{ kind: may ? 'wider' : 'narrower', place: '', text }];
}

function relatedChanges({ before, after, was, is, old, present }: Compared): Difference[] {
  return Object.entries(is.related).flatMap(([path, { entity, rows, fields, link }]): Difference[] => {
    const earlier = was?.related[path];
    const now = rowsFor(rows, present);
    const place = `${entity} through ${is.entity}.${path}`;
    // What a caller reached otherwise is no more through a relation.
    const ofKnown = (changes: Difference[], known: Rows): Difference[] =>
      changes.map((each) => (each.kind === 'wider' && isWithin(now, known) ? { ...each, kind: 'new' } : each));
    const ofRows = ofKnown(
      changeOfRows(place, rowsFor(earlier?.rows, old), now),
      reachedRows(before, entity, 'read', old),
    );
    const ofLinks = changeOf(
      `the relation ${is.entity}.${path}`,
      'writable',
      areAmong(earlier?.link, old),
      areAmong(link, present),
    );
    // All fields of records that were not reached, or are no more.
    if (ofRows.some((each) => each.operation !== undefined && each.kind !== 'new')) return [...ofRows, ...ofLinks];
    const names = new Set([...Object.keys(fields), ...Object.keys(earlier?.fields ?? {})]);
    const ofFields = [...names].flatMap((name) => {
      const may = (action: 'read' | 'filter') =>
        [areAmong(earlier?.fields[name]?.[action], old), areAmong(fields[name]?.[action], present)] as const;
      const text = `: ${name}`;
      const readable = changeOf(text, 'readable', ...may('read'));
      const changes = readable.length > 0 ? readable : changeOf(text, 'filterable', ...may('filter'));
      // A new column is a change of its resource.
      const isColumn = before.resources.some((each) => each.entity === entity && each.fields[name]);
      return ofKnown(
        changes.map((each) => ({ ...each, place })),
        isColumn
          ? reachedRows(before, entity, 'read', old, name)
          : reachedByOperations(after, entity, 'read', present, name),
      );
    });
    return [...ofRows, ...ofLinks, ...ofFields];
  });
}

/** Several roles that a table does not name have there what one of them has, and a role what any user has. */
const callersIn = ({ callers }: Reach, caller: CallerName): CallerName[] =>
  callers.includes(caller) ? [caller] : caller.split(AND).map((role) => (callers.includes(role) ? role : BASE_ROLE));

const rowsFor = (rows: RowsByCaller | undefined, callers: readonly CallerName[]): Rows =>
  anyOf(...callers.map((caller) => rows?.[caller] ?? 'none'));

const areAmong = (all: Callers | undefined, callers: readonly CallerName[]): boolean =>
  callers.some((caller) => isAmong(all ?? 'none', caller));

/** What the caller must be allowed to do with a field, by the effect of the operation. */
const ACTIONS: Readonly<Record<string, keyof FieldReach>> = { read: 'read', create: 'create', update: 'update' };

/** Without `code`, of which nobody can tell what it reaches. @param field that the operations show or write */
function reachedByOperations(
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

/** The rows that operations reach, and relations of other records. */
function reachedRows(
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
