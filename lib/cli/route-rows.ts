/** Groups the rows of an access table by route: the row of the route, then the rows of its parts. */
import type { AccessRow } from '../access/access-rows.js';
import { covers, foldWidely, type Pattern } from '../access/pattern.js';
import { ANY_OTHER_METHOD } from '../access/route-access.js';
import { levelsOf } from '../routes/route.js';

type RouteKey = Pick<AccessRow, 'method' | 'template'>;

/** One method of one route. */
export interface RouteRows extends RouteKey {
  /** By path, that of the route first. */
  readonly rows: Map<string, AccessRow[]>;
}

export class AccessTable {
  private readonly byRoute = new Map<string, RouteRows>();

  constructor(rows: readonly AccessRow[]) {
    for (const row of rows) {
      const { method, template, path } = row;
      const route = this.find(row) ?? { method, template, rows: new Map<string, AccessRow[]>() };
      route.rows.set(path, [...(route.rows.get(path) ?? []), row]);
      this.byRoute.set(keyOf(row), route);
    }
  }

  get routes(): RouteRows[] {
    return [...this.byRoute.values()];
  }

  find(route: RouteKey): RouteRows | undefined {
    return this.byRoute.get(keyOf(route));
  }

  /** The rows that decide on a path of a route: those of its method, or of any other method. */
  rowsServing(route: RouteRows, path: string): readonly AccessRow[] {
    const found = this.find(route) ?? this.find({ method: ANY_OTHER_METHOD, template: route.template });
    return found ? narrowestAround(path, found) : [];
  }
}

const keyOf = ({ method, template }: RouteKey): string => `${method} ${template}`;

/** The rows of the narrowest parts that contain a path, or of the route where no part contains it. */
function narrowestAround(path: string, { template, rows }: RouteRows): readonly AccessRow[] {
  const contains = (outer: string, inner: string): boolean => covers(patternOf(outer), patternOf(inner), foldWidely);
  const around = [...rows.keys()].filter((each) => contains(each, path));
  const narrowest = around.filter((each) => !around.some((other) => other !== each && contains(each, other)));
  return (narrowest.length > 0 ? narrowest : [template]).flatMap((each) => rows.get(each) ?? []);
}

function patternOf(path: string): Pattern {
  const levels = levelsOf(path);
  const last = levels.at(-1);
  const tail = last === '*' || last === '**' ? last : '';
  return { text: path, methods: [], levels: tail === '' ? levels : levels.slice(0, -1), tail };
}
