/** Compares two access tables, and finds where access became wider. */
import type { AccessRow } from '../access/access-rows.js';
import { covers, foldWidely, readLevels, type Pattern } from '../access/pattern.js';
import { ANY_OTHER_METHOD } from '../access/route-access.js';
import { groupBy } from '../routes/route.js';

export interface AccessChange {
  readonly kind: 'wider' | 'narrower' | 'new' | 'removed' | 'rules';
  readonly route: Pick<AccessRow, 'method' | 'path'>;
  /** The row itself, or the row of the route or method that serves the path in this table. */
  readonly before: AccessRow | undefined;
  readonly after: AccessRow | undefined;
}

export type RowAccess = Pick<AccessRow, 'access' | 'requirements'>;

/** Whether every user who has the inner access also has the outer access, for any set of roles. */
export function isWithin(inner: RowAccess, outer: RowAccess): boolean {
  if (inner.access === 'nobody' || outer.access === 'public') return true;
  if (inner.access === 'public' || outer.access === 'nobody') return false;
  return outer.requirements.every((allowed) =>
    inner.requirements.some((required) => required.every((name) => allowed.includes(name))),
  );
}

/**
 * @param defaultAccess the access of routes that match no rule: a new route with that access is not wider
 * @param generated routes such as `GET /api/orders`, which are wider if they reach other records or fields than before
 */
export function compareAccess(
  before: readonly AccessRow[],
  after: readonly AccessRow[],
  defaultAccess: RowAccess,
  generated: ReadonlySet<string> = new Set(),
): AccessChange[] {
  const [earlier, later] = [groupBy(before, keyOf), groupBy(after, keyOf)];
  const places = new Map([...after, ...before].map((row) => [`${keyOf(row)} ${row.path}`, row]));
  const changes = [...places.values()].flatMap((row) => {
    const [old = [], present = []] = [earlier, later].map((table) =>
      (table.get(keyOf(row)) ?? []).filter(({ path }) => path === row.path),
    );
    if (old.length === 0)
      return present.map((each) =>
        compareNew(each, rowsServing(earlier, each), generated.has(keyOf(each)) ? undefined : defaultAccess),
      );
    if (present.length === 0) return old.map((each) => compareRemoved(each, rowsServing(later, each)));
    return pairRows(old, present).flatMap(([was, is]) => compareRows(was, is) ?? []);
  });
  return [...new Map(changes.map((change) => [JSON.stringify(change), change])).values()];
}

/** Several rules may match the same part. When their number changes, each is compared with the narrowest one before. */
function pairRows(before: readonly AccessRow[], after: readonly AccessRow[]): [AccessRow, AccessRow][] {
  if (before.length === after.length) return after.map((is, index) => [before[index] ?? is, is]);
  return after.map((is) => [before.find((was) => !isWithin(is, was)) ?? before[0] ?? is, is]);
}

function compareRows(before: AccessRow, after: AccessRow): AccessChange | undefined {
  const change = (kind: AccessChange['kind']): AccessChange => ({ kind, route: after, before, after });
  if (!isWithin(after, before)) return change('wider');
  if (!isWithin(before, after)) return change('narrower');
  return JSON.stringify(before.rules) === JSON.stringify(after.rules) ? undefined : change('rules');
}

function compareNew(row: AccessRow, served: readonly AccessRow[], defaultAccess: RowAccess | undefined): AccessChange {
  const opened = served.find((was) => !isWithin(row, was));
  if (opened) return { kind: 'wider', route: row, before: opened, after: row };
  const isWider = defaultAccess !== undefined && (row.access === 'public' || !isWithin(row, defaultAccess));
  return { kind: isWider ? 'wider' : 'new', route: row, before: undefined, after: row };
}

function compareRemoved(row: AccessRow, served: readonly AccessRow[]): AccessChange {
  const opened = served.find((is) => !isWithin(is, row));
  return { kind: opened ? 'wider' : 'removed', route: row, before: row, after: opened };
}

const keyOf = ({ method, template }: Pick<AccessRow, 'method' | 'template'>): string => `${method} ${template}`;

/** The rows that decide on the path of a row: those of the narrowest parts around it, or else of the whole route. */
function rowsServing(table: Map<string, AccessRow[]>, { method, template, path }: AccessRow): readonly AccessRow[] {
  const rows = table.get(keyOf({ method, template })) ?? table.get(keyOf({ method: ANY_OTHER_METHOD, template })) ?? [];
  const contains = (outer: string, inner: string): boolean => covers(patternOf(outer), patternOf(inner), foldWidely);
  const around = rows.filter((each) => contains(each.path, path));
  const narrowest = around.filter(
    (each) => !around.some((other) => other.path !== each.path && contains(each.path, other.path)),
  );
  return narrowest.length > 0 ? narrowest : rows.filter((each) => each.path === template);
}

const patternOf = (text: string): Pattern => ({ text, methods: [], ...readLevels(text) });
