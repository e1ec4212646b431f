/**
 * The routes of Express, read from the stack of its router. The only file that reads undocumented members of Express
 * (`router.stack` and its layers); it changes none of them. test/routes/route-table.spec.ts fails when they change.
 */
import { METHODS } from 'node:http';
import { RequestMethod } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { controllerMethodOf } from './controller-methods.js';
import { LevelTrie } from './level-trie.js';
import {
  ANY_PATH,
  levelsOf,
  makeRoute,
  servesMethod,
  type Route,
  type RouteReader,
  type ServedRoute,
} from './route.js';

type Handler = ((...args: unknown[]) => unknown) & { readonly version?: unknown };
type Match = { readonly params?: Readonly<Record<string, unknown>> };

interface Layer {
  readonly handle: Handler;
  readonly route?: {
    readonly path: unknown;
    readonly methods: Readonly<Record<string, boolean>>;
    readonly stack: readonly { readonly handle: Handler }[];
  };
  /** Whether the layer is a function for every path. */
  readonly slash?: boolean;
  /** Missing before version 2.3 of the router. */
  readonly rawPath?: unknown;
  readonly matchers: readonly ((path: string) => Match | false)[];
}

interface Express {
  readonly router: { readonly stack: readonly Layer[]; readonly caseSensitive?: boolean };
}

/** A route of a layer, and the place of the layer in the stack: Express asks its layers in order. */
interface PlacedRoute {
  readonly route: Route;
  readonly layer: Layer;
  readonly place: number;
}

export class ExpressRoutes implements RouteReader {
  private read: { readonly length: number; readonly placed: readonly PlacedRoute[] } | undefined;
  private byLevels = new LevelTrie<PlacedRoute>();
  /** Length of the stack when Nest began to bind middleware and routes. */
  private beforeNest = 0;

  constructor(
    private readonly express: Express,
    private readonly config: ApplicationConfig | undefined,
  ) {}

  beginRouting(): void {
    this.beforeNest = this.stack.length;
  }

  /** Routes may be added at any time: the stack is read again when its length changes. */
  get routes(): readonly Route[] {
    return this.placed.map(({ route }) => route);
  }

  hasRoute(path: string): boolean {
    return (
      this.controllerRoutesAt(path).length > 0 ||
      this.platformRoutesAt(path).some(({ layer }) => layer.route !== undefined)
    );
  }

  find(method: string, path: string): ServedRoute | undefined {
    const [first] = [...this.controllerRoutesAt(path), ...this.platformRoutesAt(path)]
      .filter(({ route }) => servesMethod(route, method))
      .toSorted((a, b) => a.place - b.place);
    return first && { route: first.route, params: paramsOf(first.layer, path) };
  }

  /** A route or mount outside Nest's routes that Express asks before any controller's route. */
  findPlatformRoute(method: string, path: string): ServedRoute | undefined {
    const platform = this.platformRoutesAt(path).find(({ route }) => servesMethod(route, method));
    if (!platform) return undefined;
    const isBehindController = this.controllerRoutesAt(path).some(
      ({ route, place }) => place < platform.place && servesMethod(route, method),
    );
    return isBehindController ? undefined : { route: platform.route, params: paramsOf(platform.layer, path) };
  }

  private get stack(): readonly Layer[] {
    return this.express.router.stack;
  }

  private get placed(): readonly PlacedRoute[] {
    if (this.read?.length === this.stack.length) return this.read.placed;
    const controllerRoutes = this.stack.flatMap((layer, place) =>
      controllerRoutesOf(layer).map((route) => ({ route, layer, place })),
    );
    this.byLevels = new LevelTrie();
    for (const placed of controllerRoutes)
      for (const { levels } of placed.route.shapes) this.byLevels.add(levels.map(lowerCase), placed);
    const platformRoutes = this.stack.flatMap((layer, place) =>
      this.isPlatform(layer, place, controllerRoutes)
        ? platformRoutesOf(layer)
            .filter((route) => !isAbove(route, controllerRoutes))
            .map((route) => ({ route, layer, place }))
        : [],
    );
    const placed = [...controllerRoutes, ...platformRoutes];
    this.read = { length: this.stack.length, placed };
    return placed;
  }

  /** Whether main.ts or a module added a layer, rather than Nest for its own middleware or its answer 404. */
  private isPlatform(layer: Layer, place: number, controllerRoutes: readonly PlacedRoute[]): boolean {
    if (controllerRoutesOf(layer).length > 0) return false;
    const lastOfNest = controllerRoutes.at(-1)?.place ?? -1;
    if (place >= this.beforeNest && place < lastOfNest) return false;
    return !(layer.route && this.isExcludedFromPrefix(layer.route.path));
  }

  /** For a path that is excluded from the global prefix, Nest registers its answer 404 as a route of that path. */
  private isExcludedFromPrefix(path: unknown): boolean {
    const { exclude = [] } = this.config?.getGlobalPrefixOptions() ?? {};
    return exclude.some((excluded) => typeof path === 'string' && excluded.pathRegex.test(path));
  }

  private controllerRoutesAt(path: string): PlacedRoute[] {
    void this.placed;
    return this.byLevels.along(levelsOf(path).map(lowerCase)).filter(({ layer }) => matches(layer, path));
  }

  private platformRoutesAt(path: string): PlacedRoute[] {
    return this.placed.filter(({ route, layer }) => route.handler === undefined && matches(layer, path));
  }
}

/** A mount serves its path and everything below. */
const BELOW_MOUNT = '{/*rest}';

/** The router may ignore case: the trie finds too many candidates, never too few. */
const lowerCase = (level: string | undefined): string | undefined => level?.toLowerCase();

function controllerRoutesOf({ route }: Layer): Route[] {
  if (!route || typeof route.path !== 'string') return [];
  const { path } = route;
  const routes = route.stack.flatMap(({ handle }) => {
    const method = controllerMethodOf(handle);
    if (!method) return [];
    const verb = RequestMethod[Reflect.getMetadata('method', handle) as RequestMethod];
    return [
      makeRoute(
        verb,
        path,
        method,
        [handle.version].flat().filter((each) => each !== undefined),
      ),
    ];
  });
  // A route of every method has one handler for each.
  return [...new Map(routes.map((each) => [`${each.method} ${each.path}`, each])).values()];
}

/** None for a function of the whole application, such as helmet: nothing tells whether it serves requests itself. */
function platformRoutesOf({ handle, route, slash, rawPath }: Layer): Route[] {
  // Express takes a function of four parameters for an error handler.
  if (handle.length > 3 || (!route && (slash || rawPath === '/'))) return [];
  const paths = [rawPath ?? route?.path].flat(Infinity);
  const templates = paths.map((path) => (typeof path === 'string' ? templateOf(path, route !== undefined) : ANY_PATH));
  const verbs = route ? METHODS.filter((verb) => route.methods[verb.toLowerCase()] || route.methods['_all']) : METHODS;
  const methods = verbs.length === METHODS.length ? ['ALL'] : verbs;
  return [...new Set(templates)].flatMap((template) => methods.map((method) => makeRoute(method, template)));
}

const templateOf = (path: string, isRoute: boolean): string =>
  isRoute ? path : `${path.replace(/\/+$/, '')}${BELOW_MOUNT}`;

/** A function above a controller's route is a middleware for that route. */
function isAbove(mount: Route, controllerRoutes: readonly PlacedRoute[]): boolean {
  if (!mount.path.endsWith(BELOW_MOUNT)) return false;
  const levels = levelsOf(mount.path.slice(0, -BELOW_MOUNT.length)).map(lowerCase);
  return controllerRoutes.some(({ route }) =>
    route.shapes.some((shape) => levels.every((level, index) => level === shape.levels[index]?.toLowerCase())),
  );
}

function matches({ matchers }: Layer, path: string): boolean {
  try {
    return matchers.some((match) => match(path) !== false);
  } catch {
    // A broken escape in a parameter: the layer is the one that the path is for.
    return true;
  }
}

function paramsOf({ matchers }: Layer, path: string): ServedRoute['params'] {
  for (const match of matchers) {
    const found = match(path);
    if (found) return found.params ?? {};
  }
  return {};
}
