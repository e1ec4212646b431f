/**
 * Which template Fastify chose for a path. Its router tells only the parameters it found (`findRoute`), so the template is
 * the one that they make this path of; where they make it of several, the one that find-my-way tries first.
 */
import { withoutOptionals } from './route-shape.js';
import type { Route } from './route.js';

/** Fastify's instance. */
export interface FindsRoutes {
  findRoute(options: { method: string; url: string; constraints?: object }): FoundRoute | null;
}
interface FoundRoute {
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Nest's adapter answers 404 where a parameter is empty; the router itself would serve it. */
const reachesHandler = (found: FoundRoute | null): found is FoundRoute =>
  found !== null && Object.entries(found.params ?? {}).every(([name, value]) => name === '*' || value !== '');

/** The parameters of the route that the router finds, in any of the versions; it tells no template. */
export function paramsOnFastify(
  router: FindsRoutes,
  { method, path, versions }: { readonly method: string; readonly path: string; readonly versions: readonly unknown[] },
): Readonly<Record<string, unknown>> | undefined {
  const constraints = versions.length === 0 ? [{}] : [{}, { constraints: { version: versions } }];
  const found = constraints.map((constraint) => router.findRoute({ method, url: path, ...constraint }));
  const reached = found.find(reachesHandler);
  return reached && (reached.params ?? {});
}

interface Found {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export function routeOnFastify(routes: readonly Route[], found: Found): Route | undefined {
  const candidates = routes
    .filter((route) => answers(route, found.method))
    .flatMap((route) => withoutOptionals(route.path).map((template) => ({ route, template })))
    .filter(({ template }) => makes(template, found))
    .map(({ route, template }) => ({ route, order: orderOf(template) + (route.method === found.method ? '' : '+') }));
  return candidates.toSorted((a, b) => (a.order < b.order ? -1 : 1))[0]?.route;
}

/** Whether a route is there for a method; HEAD is answered by GET. */
export const answers = ({ method }: Pick<Route, 'method'>, asked: string): boolean =>
  method === 'ALL' || method === asked || (asked === 'HEAD' && method === 'GET');

/** Whether nobody but the package answers at this very template: HEAD as GET, and whatever version is asked for. */
export function isDirectAt(routes: readonly Route[], method: string, template: string): boolean {
  const there = routes.filter((route) => route.path === template && answers(route, method));
  return there.length > 0 && there.every(({ own }) => own && own.reason === undefined);
}

const PARAMETER = /:(?<name>\w+)(?:\([^)]*\))?|(?<wildcard>\*)$/g;

/** Whether the parameters, put into the template, are this path. */
function makes(template: string, { path, params }: Found): boolean {
  const names = [...template.matchAll(PARAMETER)].map(({ groups }) => groups?.['name'] ?? '*');
  if (names.toSorted().join('/') !== Object.keys(params).toSorted().join('/')) return false;
  const filled = template.replace(PARAMETER, (_, name: string | undefined) => String(params[name ?? '*']));
  // Fastify may read a `;` as the beginning of the query.
  return [path, path.replace(/;.*$/s, '')].some((read) => asRead(decodeURIComponent(read)) === asRead(filled));
}

/** Widely: the router has decided already that it is one of them. */
const asRead = (path: string): string =>
  path
    .toLowerCase()
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '');

/** Level by level: fixed text first, then text with a parameter in it, then a parameter, then the rest of the path. */
function orderOf(template: string): string {
  const kinds = [/^[^:*]*$/, /^(?!:\w+$|\*$)/, /^:/];
  return template
    .split('/')
    .map((level) => kinds.findIndex((kind) => kind.test(level)))
    .map((kind) => (kind < 0 ? kinds.length : kind))
    .join('');
}
