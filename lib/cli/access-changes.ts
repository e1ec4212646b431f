/** What changed between two access tables, and what of it got wider. */
import type { AccessRow } from '../access/access-rows.js';
import { isWithin } from './access-order.js';
import { narrowestAround, rowsByRoute, type RouteRows } from './route-rows.js';

export interface AccessChange {
  readonly kind: 'wider' | 'narrower' | 'new' | 'removed' | 'rule';
  readonly route: Pick<AccessRow, 'method' | 'path'>;
  /** Of the whole route, or of any other method, where that one serves it. */
  readonly before: AccessRow | undefined;
  readonly after: AccessRow | undefined;
}

/** @param fallback who reaches a route of which no rule speaks: a new route that is no wider is not told as wider */
export function compareAccess(
  before: readonly AccessRow[],
  after: readonly AccessRow[],
  fallback: string,
): AccessChange[] {
  const [earlier, later] = [rowsByRoute(before), rowsByRoute(after)];
  const kept = [...later.values()].flatMap((route) =>
    [...route.rows].flatMap(([path, rows]) => {
      const old = earlier.get(route.key)?.rows.get(path);
      if (old) return pairs(old, rows).map(([was, is]) => changeOf(was, is));
      return rows.map((row) => added(row, servedBy(route, path, earlier), fallback));
    }),
  );
  const gone = [...earlier.values()].flatMap((route) =>
    [...route.rows].flatMap(([path, rows]) =>
      later.get(route.key)?.rows.has(path) ? [] : rows.map((row) => removed(row, servedBy(route, path, later))),
    ),
  );
  return [...kept, ...gone].filter((change) => change !== undefined);
}

/** By the same method of the same route, or by that for any other: there, where a row is missing, it is served. */
function servedBy(
  { key, keyOfAnyMethod }: RouteRows,
  path: string,
  routes: ReadonlyMap<string, RouteRows>,
): readonly AccessRow[] {
  const route = routes.get(key) ?? routes.get(keyOfAnyMethod);
  return route ? narrowestAround(path, route) : [];
}

/** Two rules may tell the same part apart. Where there are no longer as many, none may be wider than any was. */
function pairs(before: readonly AccessRow[], after: readonly AccessRow[]): [AccessRow, AccessRow][] {
  if (before.length === after.length) return after.map((is, index) => [before[index] ?? is, is]);
  return after.map((is) => [before.find((was) => !isWithin(is.access, was.access)) ?? before[0] ?? is, is]);
}

function changeOf(before: AccessRow, after: AccessRow): AccessChange | undefined {
  if (before.access === after.access)
    return before.rule === after.rule ? undefined : { kind: 'rule', route: after, before, after };
  const kind = isWithin(after.access, before.access) ? 'narrower' : 'wider';
  return { kind, route: after, before, after };
}

function added(row: AccessRow, served: readonly AccessRow[], fallback: string): AccessChange {
  const opened = served.find((was) => !isWithin(row.access, was.access));
  if (opened) return { kind: 'wider', route: row, before: opened, after: row };
  const isLoose = row.access === 'public' || !isWithin(row.access, fallback);
  return { kind: isLoose ? 'wider' : 'new', route: row, before: undefined, after: row };
}

function removed(row: AccessRow, served: readonly AccessRow[]): AccessChange {
  const opened = served.find((is) => !isWithin(is.access, row.access));
  return opened
    ? { kind: 'wider', route: row, before: row, after: opened }
    : { kind: 'removed', route: row, before: row, after: undefined };
}
