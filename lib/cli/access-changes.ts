/** Compares two access tables, and finds where access became wider. */
import type { AccessRow } from '../access/access-rows.js';
import { AccessTable } from './route-rows.js';

export interface AccessChange {
  readonly kind: 'wider' | 'narrower' | 'new' | 'removed' | 'rules';
  readonly route: Pick<AccessRow, 'method' | 'path'>;
  /** The row itself, or the row of the route or method that serves the path in this table. */
  readonly before: AccessRow | undefined;
  readonly after: AccessRow | undefined;
}

/** The access of a row, as far as two accesses are compared. */
export type RowAccess = Pick<AccessRow, 'access' | 'requirements'>;

/** Whether every user who has the inner access also has the outer access, for any set of roles. */
export function isWithin(inner: RowAccess, outer: RowAccess): boolean {
  if (inner.access === 'nobody' || outer.access === 'public') return true;
  if (inner.access === 'public' || outer.access === 'nobody') return false;
  return outer.requirements.every((allowed) =>
    inner.requirements.some((required) => required.every((name) => allowed.includes(name))),
  );
}

/** @param defaultAccess the access of routes that match no rule: a new route with that access is not wider */
export function compareAccess(
  before: readonly AccessRow[],
  after: readonly AccessRow[],
  defaultAccess: RowAccess,
): AccessChange[] {
  const [earlier, later] = [new AccessTable(before), new AccessTable(after)];
  const present = later.routes.flatMap((route) =>
    [...route.rows].flatMap(([path, rows]) => {
      const old = earlier.find(route)?.rows.get(path);
      if (old) return pairRows(old, rows).map(([was, is]) => compareRows(was, is));
      return rows.map((row) => compareNew(row, earlier.rowsServing(route, path), defaultAccess));
    }),
  );
  const absent = earlier.routes.flatMap((route) =>
    [...route.rows].flatMap(([path, rows]) =>
      later.find(route)?.rows.has(path) ? [] : rows.map((row) => compareRemoved(row, later.rowsServing(route, path))),
    ),
  );
  const changes = [...present, ...absent].filter((change) => change !== undefined);
  return [...new Map(changes.map((change) => [JSON.stringify(change), change])).values()];
}

/** Several rules may match the same part. When their number changes, each is compared with the narrowest one before. */
function pairRows(before: readonly AccessRow[], after: readonly AccessRow[]): [AccessRow, AccessRow][] {
  if (before.length === after.length) return after.map((is, index) => [before[index] ?? is, is]);
  return after.map((is) => [before.find((was) => !isWithin(is, was)) ?? before[0] ?? is, is]);
}

function compareRows(before: AccessRow, after: AccessRow): AccessChange | undefined {
  const change = (kind: AccessChange['kind']): AccessChange => ({ kind, route: after, before, after });
  if (before.access !== after.access) return change(isWithin(after, before) ? 'narrower' : 'wider');
  return JSON.stringify(before.rules) === JSON.stringify(after.rules) ? undefined : change('rules');
}

function compareNew(row: AccessRow, served: readonly AccessRow[], defaultAccess: RowAccess): AccessChange {
  const opened = served.find((was) => !isWithin(row, was));
  if (opened) return { kind: 'wider', route: row, before: opened, after: row };
  const isWider = row.access === 'public' || !isWithin(row, defaultAccess);
  return { kind: isWider ? 'wider' : 'new', route: row, before: undefined, after: row };
}

function compareRemoved(row: AccessRow, served: readonly AccessRow[]): AccessChange {
  const opened = served.find((is) => !isWithin(is, row));
  return { kind: opened ? 'wider' : 'removed', route: row, before: row, after: opened };
}
