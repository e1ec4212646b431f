/**
 * The rows of a table put together by route: that of the whole, and behind it those of the parts that patterns tell
 * apart. A snapshot does not say which is which; the order and the paths do.
 */
import { shapesOf } from '../routes/route-shape.js';
import type { AccessRow } from '../access/access-rows.js';
import { foldWidely, keyOf, keysMatching, relationTo, type Pattern } from '../access/pattern.js';

/** One method of one route. */
export interface RouteRows {
  readonly key: string;
  /** Of the row that a route of every method has for those that no rule names. */
  readonly keyOfAnyMethod: string;
  readonly method: string;
  readonly path: string;
  /** By path: the whole route's first. */
  readonly rows: Map<string, AccessRow[]>;
}

const ANY_OTHER_METHOD: AccessRow['method'] = 'any other method';

export function rowsByRoute(rows: readonly AccessRow[]): Map<string, RouteRows> {
  const routes = new Map<string, RouteRows>();
  let current: RouteRows | undefined;
  for (const row of rows) {
    if (!current || !isPartOf(current, row)) {
      const { method, path } = row;
      const key = `${method} ${path}`;
      current = routes.get(key) ?? {
        key,
        keyOfAnyMethod: `${ANY_OTHER_METHOD} ${path}`,
        method,
        path,
        rows: new Map<string, AccessRow[]>(),
      };
      routes.set(key, current);
    }
    current.rows.set(row.path, [...(current.rows.get(row.path) ?? []), row]);
  }
  return routes;
}

/** A part has the path of a pattern, without parameters, that holds for something of what the route serves. */
const isPartOf = (route: RouteRows, { method, path }: AccessRow): boolean =>
  method === route.method &&
  !/[:{(]/.test(path) &&
  relationTo(patternOf(path), shapesOf(route.path), foldWidely) === 'partial';

/** The rows of the parts around a path that have no such part within them; without any, that of the whole route. */
export function narrowestAround(path: string, { path: whole, rows }: RouteRows): readonly AccessRow[] {
  const around = [...rows.keys()].filter((each) => surrounds(each, path));
  const narrowest = around.filter((each) => !around.some((other) => other !== each && surrounds(each, other)));
  return (narrowest.length > 0 ? narrowest : [whole]).flatMap((each) => rows.get(each) ?? []);
}

/** Whether a pattern holds for all that another holds for. */
function surrounds(outer: string, inner: string): boolean {
  const { levels, tail } = patternOf(foldWidely(inner));
  const above = levels.map((_, index) => keyOf(levels.slice(0, index), '**'));
  const keys = tail === '' ? keysMatching(levels) : [...above, keyOf(levels, '**'), keyOf(levels, tail)];
  return keys.includes(foldWidely(outer));
}

function patternOf(path: string): Pattern {
  const levels = path.split('/').filter((level) => level !== '');
  const last = levels.at(-1);
  const tail = last === '*' || last === '**' ? last : '';
  if (tail !== '') levels.pop();
  return { text: path, methods: [], levels, tail };
}
