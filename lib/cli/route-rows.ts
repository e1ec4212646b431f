/** Groups the rows of an access table by route: the row of the route, then the rows of its parts. */
import type { AccessRow } from '../access/access-rows.js';
import { covers, foldWidely, relationTo, type Pattern } from '../access/pattern.js';
import { ANY_OTHER_METHOD } from '../access/route-access.js';
import { levelsOf } from '../routes/route.js';
import { shapesOf } from '../routes/route-shape.js';

/** One method of one route. */
export interface RouteRows extends Pick<AccessRow, 'method' | 'path'> {
  /** By path, that of the route first. */
  readonly rows: Map<string, AccessRow[]>;
  /** The paths of its parts. */
  readonly parts: Set<string>;
}

export class AccessTable {
  private readonly byRoute = new Map<string, RouteRows>();

  constructor(rows: readonly AccessRow[]) {
    const parts: AccessRow[] = [];
    let current: RouteRows | undefined;
    for (const row of rows) {
      if (current && isPart(row, current)) {
        parts.push(row);
        current.parts.add(row.path);
      } else {
        const { method, path } = row;
        current = this.find(row) ?? { method, path, rows: new Map<string, AccessRow[]>(), parts: new Set<string>() };
        this.byRoute.set(keyOf(row), current);
      }
      addRow(current, row);
    }
    // The table lists a part only once where several routes have it with the same access.
    for (const route of this.routes)
      for (const part of parts) if (!route.parts.has(part.path) && isPart(part, route)) addRow(route, part);
  }

  get routes(): RouteRows[] {
    return [...this.byRoute.values()];
  }

  find(route: Pick<RouteRows, 'method' | 'path'>): RouteRows | undefined {
    return this.byRoute.get(keyOf(route));
  }

  /** The rows that decide on a path of a route: those of its method, or of any other method. */
  rowsServing(route: RouteRows, path: string): readonly AccessRow[] {
    const found = this.find(route) ?? this.find({ method: ANY_OTHER_METHOD, path: route.path });
    return found ? narrowestAround(path, found) : [];
  }
}

function addRow({ rows }: RouteRows, row: AccessRow): void {
  rows.set(row.path, [...(rows.get(row.path) ?? []), row]);
}

const keyOf = ({ method, path }: Pick<RouteRows, 'method' | 'path'>): string => `${method} ${path}`;

/** The row of a part has the path of a pattern, without parameters, which matches a part of the route's paths. */
const isPart = ({ method, path }: AccessRow, route: RouteRows): boolean =>
  method === route.method &&
  !/[:{(]/.test(path) &&
  relationTo(patternOf(path), shapesOf(route.path), foldWidely) === 'partial';

/** The rows of the narrowest parts that contain a path, or of the route where no part contains it. */
function narrowestAround(path: string, { path: whole, rows }: RouteRows): readonly AccessRow[] {
  const contains = (outer: string, inner: string): boolean => covers(patternOf(outer), patternOf(inner), foldWidely);
  const around = [...rows.keys()].filter((each) => contains(each, path));
  const narrowest = around.filter((each) => !around.some((other) => other !== each && contains(each, other)));
  return (narrowest.length > 0 ? narrowest : [whole]).flatMap((each) => rows.get(each) ?? []);
}

function patternOf(path: string): Pattern {
  const levels = levelsOf(path);
  const last = levels.at(-1);
  const tail = last === '*' || last === '**' ? last : '';
  return { text: path, methods: [], levels: tail === '' ? levels : levels.slice(0, -1), tail };
}
