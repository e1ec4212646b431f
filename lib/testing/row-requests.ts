/** Concrete requests for the rows of the access report: parameters and wildcards filled with placeholders. */
import type { RouteTable } from '../routes/route-table.js';
import { withoutOptionals } from '../routes/route-shape.js';
import { keysMatching } from '../access/pattern.js';
import type { RouteEntry } from '../access/route-access.js';
import { asSent } from './http-exchange.js';

export interface RowRequest {
  readonly entry: RouteEntry;
  readonly method: string;
  readonly path: string;
}

const PLACEHOLDERS = ['1', 'placeholder', '00000000-0000-4000-8000-000000000000'];
const DEPTHS = [1, 2, 3, 0];
/** For a route of every method. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'SEARCH'];

/** One for each row, which its route serves where there is such a request. */
export function rowRequests(entries: readonly RouteEntry[], table: RouteTable): RowRequest[] {
  const routes = routesOf(entries);
  return routes.flatMap(([route, ...parts]) => {
    const named = routes.flatMap(([{ path, method }]) => (path === route.path ? [method] : []));
    const methods = methodsFor(route.method, named);
    return [route, ...parts].map((entry) => {
      const requests = pathsFor(entry, route.path, parts).flatMap((path) =>
        methods.map((method) => ({ method, path: asSent(path) })),
      );
      const served = requests.find(({ method, path }) => table.servedBy(method, path)?.route.path === route.path);
      return { entry, method: route.method, path: entry.path, ...(served ?? requests[0]) };
    });
  });
}

type RouteWithParts = [route: RouteEntry, ...parts: RouteEntry[]];

/** In the report, the parts that patterns tell apart follow their route. */
function routesOf(entries: readonly RouteEntry[]): RouteWithParts[] {
  const routes: RouteWithParts[] = [];
  for (const entry of entries) {
    if (entry.part) routes.at(-1)?.push(entry);
    else routes.push([entry]);
  }
  return routes;
}

function methodsFor(method: string, named: readonly string[]): string[] {
  if (method === 'GET') return ['GET', 'HEAD'];
  return method.includes(' ') ? METHODS.filter((each) => !named.includes(each)) : [method];
}

/** First those that the fewest parts of the route speak of: of a part only itself and what holds it, of the whole none. */
function pathsFor({ path: own, part }: RouteEntry, template: string, parts: readonly RouteEntry[]): string[] {
  const keys = new Set(parts.map(({ path }) => path));
  const speaking = (path: string): string[] => keysMatching(levelsOf(path)).filter((key) => keys.has(key));
  const { levels } = part?.pattern ?? { levels: [] };
  const paths = withoutOptionals(template)
    .toReversed()
    .flatMap((variant) => PLACEHOLDERS.flatMap((word) => DEPTHS.map((depth) => fill(variant, levels, word, depth))));
  return [...new Set(paths)]
    .filter((path) => !part || speaking(path).includes(own))
    .toSorted((a, b) => speaking(a).length - speaking(b).length);
}

/** A level with a parameter takes the pattern's literal there, a wildcard the rest of them and `depth` more. */
function fill(template: string, literals: readonly string[], word: string, depth: number): string {
  const filled = levelsOf(template).flatMap((level, index) => {
    if (level.startsWith('*')) return [...literals.slice(index), ...Array<string>(depth).fill(word)];
    return level.includes(':') ? [literals[index] ?? level.replace(/:\w+(?:\([^)]*\))?/g, word)] : [level];
  });
  return `/${filled.join('/')}`;
}

const levelsOf = (path: string): string[] => path.split('/').filter((level) => level !== '');
