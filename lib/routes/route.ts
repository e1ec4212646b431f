/** The routes of an application as its router has them, the paths that they serve, and values stored by such paths. */

export interface Route {
  readonly method: string;
  /** The template: `/api/products/:id`. A mount has `/docs{/*rest}`. */
  readonly path: string;
  /** The controller's method that serves it; `undefined` for a route or mount outside Nest's routes. */
  readonly handler: object | undefined;
  /** Whether a header or a media type selects it: several versions share its template. */
  readonly isVersioned: boolean;
  readonly shapes: readonly RouteShape[];
}

export interface ServedRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The template of a mount, which serves its path and everything below. */
export const mountOf = (path: string): string => `${path}${BELOW_MOUNT}`;
export const isRoute = (served: Pick<ServedRoute, 'route'> | undefined): boolean =>
  served !== undefined && !served.route.path.endsWith(BELOW_MOUNT);
const BELOW_MOUNT = '{/*rest}';

/** A mount of everything: its path is not known. */
export const ANY_PATH = '/{*rest}';

export function makeRoute(method: string, path: string, handler?: object, isVersioned = false): Route {
  return { method, path, handler, isVersioned, shapes: shapesOf(path) };
}

/** Whether a route serves a method. HEAD is served by GET. */
export const servesMethod = ({ method }: Pick<Route, 'method'>, requested: string): boolean =>
  method === 'ALL' || method === requested || (requested === 'HEAD' && method === 'GET');

/** `/api/products/` → `['api', 'products']` */
export const levelsOf = (path: string): string[] => path.split('/').filter((level) => level !== '');

/** `products/` and `:id` → `/products/:id` */
export const joinPaths = (...paths: readonly string[]): string => `/${paths.flatMap(levelsOf).join('/')}`;

/** The groups have the order of their first values. */
export function groupBy<K, V>(values: readonly V[], keyOf: (value: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(value);
  }
  return groups;
}

export type Level = string | undefined;

/**
 * Which paths a route serves, level by level, read from the template of either router: path-to-regexp on Express
 * (`/files/*path`, `/a{/:b}`), find-my-way on Fastify (`/files/*`, `/a/:b?`). A shape may be wider than its route, and is
 * never narrower, so that no rule is missed.
 */
export interface RouteShape {
  readonly levels: readonly Level[];
  /** Whether any number of further levels may follow, or none. */
  readonly open: boolean;
}

const ANYTHING: readonly RouteShape[] = [{ levels: [], open: true }];
const MOST_VARIANTS = 32;

export function shapesOf(template: string): readonly RouteShape[] {
  const variants = withoutOptionals(template);
  return variants.length > MOST_VARIANTS ? ANYTHING : variants.map(shapeOf);
}

/** `/a{/:b}` → `/a` and `/a/:b`. */
export function withoutOptionals(template: string): string[] {
  const group = /\{([^{}]*)\}/.exec(template);
  if (group) {
    const [whole, inner = ''] = group;
    const rest = (text: string): string[] => withoutOptionals(template.replace(whole, () => text));
    return [...rest(''), ...rest(inner)];
  }
  if (template.endsWith('?')) return [template.slice(0, template.lastIndexOf('/')), template.slice(0, -1)];
  return [template];
}

function shapeOf(template: string): RouteShape {
  const levels: Level[] = [];
  for (const segment of levelsOf(template)) {
    if (/[*(]/.test(segment)) return { levels, open: true };
    levels.push(/[:{}\\]/.test(segment) ? undefined : segment);
  }
  return { levels, open: false };
}

type CompareShapes = (a: RouteShape, b: RouteShape) => boolean;

const eachLevel =
  (fits: (a: Level, b: Level) => boolean): CompareShapes =>
  ({ levels }, b) =>
    levels.length === b.levels.length && levels.every((level, index) => fits(level, b.levels[index]));

const hasSameLevels = eachLevel((a, b) => a === b);
const covers = eachLevel((a, b) => a === undefined || a === b);
export const overlaps = eachLevel((a, b) => a === undefined || b === undefined || a === b);
export const nests: CompareShapes = (a, b) => covers(a, b) || covers(b, a);
export const isSameShape: CompareShapes = (a, b) => a.open === b.open && hasSameLevels(a, b);

/** Whether two routes may serve one path. Letters of either case are the same. */
export const meets = (a: Route, b: Route): boolean =>
  a.shapes.some((one) => b.shapes.some((other) => startsLike(one, other) && startsLike(other, one)));

const startsLike = ({ levels, open }: RouteShape, { levels: others }: RouteShape): boolean =>
  (open || others.length <= levels.length) &&
  levels.every((level, index) => !level || !others[index] || level.toLowerCase() === others[index].toLowerCase());

interface Node<T> {
  readonly values: T[];
  readonly children: Map<Level, Node<T>>;
}

const newNode = <T>(): Node<T> => ({ values: [], children: new Map() });

/** Values stored under the levels of a path. A level is a literal, or `undefined` for any text. */
export class LevelTrie<T> {
  private readonly root = newNode<T>();

  add(levels: readonly Level[], value: T): void {
    let node = this.root;
    for (const level of levels) {
      let child = node.children.get(level);
      if (!child) node.children.set(level, (child = newNode()));
      node = child;
    }
    node.values.push(value);
  }

  /** Every value whose levels are the beginning of these levels. @param isOpen whether further levels may follow these */
  along(levels: readonly Level[], isOpen = false): T[] {
    const found: T[] = [];
    const visit = (node: Node<T>, depth: number): void => {
      found.push(...node.values);
      const level = levels[depth];
      if (depth >= levels.length) {
        if (isOpen) for (const child of node.children.values()) visit(child, depth + 1);
      } else if (level === undefined) {
        for (const child of node.children.values()) visit(child, depth + 1);
      } else {
        for (const child of [node.children.get(level), node.children.get(undefined)])
          if (child) visit(child, depth + 1);
      }
    };
    visit(this.root, 0);
    return found;
  }
}
