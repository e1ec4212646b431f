/**
 * The routes of Express, read from the stack of its router. The only file that reads undocumented members of Express
 * (`router.stack` and its layers); it changes none of them. test/routes/route-table.spec.ts fails when they change.
 */
import { METHODS } from 'node:http';
import { RequestMethod, VersioningType } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { controllerMethodOf } from './controller-methods.js';
import { LevelTrie } from './level-trie.js';
import {
  ANY_PATH,
  BELOW_MOUNT,
  isAbove,
  levelsOf,
  makeRoute,
  servesMethod,
  type Route,
  type ServedRoute,
} from './route.js';
import { RouteTable, type RouterReading } from './route-table.js';

/** `stack`: of a router that is mounted. */
type Handler = ((...args: unknown[]) => unknown) & { readonly stack?: readonly Layer[] };
type Match = { readonly path: string; readonly params?: Readonly<Record<string, unknown>> };
type Matcher = (path: string) => Match | false;

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
  readonly matchers: readonly Matcher[];
}

interface Express {
  readonly router: { readonly stack: readonly Layer[]; readonly caseSensitive?: boolean; readonly strict?: boolean };
}

/** A route of a layer, and the place of the layer in the stack: Express asks its layers in order. */
interface PlacedRoute {
  readonly route: Route;
  readonly match: Matcher;
  /** Whether it is a route rather than a function or router for a path and everything below. */
  readonly isRoute: boolean;
  readonly place: number;
}

export class ExpressRoutes extends RouteTable {
  private read: { readonly length: number; readonly placed: readonly PlacedRoute[] } | undefined;
  private byLevels = new LevelTrie<PlacedRoute>();
  /** Length of the stack when Nest began to bind middleware and routes. */
  private beforeNest = 0;

  constructor(
    private readonly express: Express,
    private readonly config: ApplicationConfig | undefined,
  ) {
    super();
  }

  override get reading(): RouterReading {
    const { caseSensitive = false, strict = false } = this.express.router;
    return { caseSensitive, ignoreTrailingSlash: !strict };
  }

  override beginRouting(modules: ModulesContainer): void {
    super.beginRouting(modules);
    this.beforeNest = this.stack.length;
  }

  /** Routes may be added at any time: the stack is read again when its length changes. */
  override get routes(): readonly Route[] {
    return this.placed.map(({ route }) => route);
  }

  override hasRoute(path: string): boolean {
    return this.controllerRoutesAt(path).length > 0 || this.platformRoutesAt(path).some(({ isRoute }) => isRoute);
  }

  override find(method: string, path: string): ServedRoute | undefined {
    const [first] = [...this.controllerRoutesAt(path), ...this.platformRoutesAt(path)]
      .filter(({ route }) => servesMethod(route, method))
      .toSorted((a, b) => a.place - b.place);
    return first && { route: first.route, params: paramsOf(first, path) };
  }

  /** A route or mount outside Nest's routes that Express asks before any controller's route. */
  override findPlatformRoute(method: string, path: string): ServedRoute | undefined {
    const platform = this.platformRoutesAt(path).find(({ route }) => servesMethod(route, method));
    if (!platform) return undefined;
    const isBehindController = this.controllerRoutesAt(path).some(
      ({ route, place }) => place < platform.place && servesMethod(route, method) && !this.passesVersionsOn,
    );
    return isBehindController ? undefined : { route: platform.route, params: paramsOf(platform, path) };
  }

  /** Whether a controller's route may pass a request of another version on to the next layer. */
  private get passesVersionsOn(): boolean {
    const { type = VersioningType.URI } = this.config?.getVersioning() ?? {};
    return type !== VersioningType.URI;
  }

  private get stack(): readonly Layer[] {
    return this.express.router.stack;
  }

  private get placed(): readonly PlacedRoute[] {
    if (this.read?.length === this.stack.length) return this.read.placed;
    const controllerRoutes = this.stack.flatMap((layer, place) =>
      controllerRoutesOf(layer).map((route) => ({ route, match: matcherOf(layer), isRoute: true, place })),
    );
    this.byLevels = new LevelTrie();
    for (const placed of controllerRoutes)
      for (const { levels } of placed.route.shapes) this.byLevels.add(levels.map(lowerCase), placed);
    const isMiddleware = (route: Route): boolean =>
      isAbove(
        route,
        controllerRoutes.map((each) => each.route),
      );
    const platformRoutes = this.stack.flatMap((layer, place) => {
      if (!this.isPlatform(layer, place, controllerRoutes)) return [];
      const found = platformRoutesOf(layer, isMiddleware);
      // Behind that place, Nest itself mounts routers for its answer 404.
      const inner = found.length === 0 && place < this.beforeNest ? innerRoutesOf(layer, isMiddleware) : [];
      return [...found, ...inner].map((each) => ({ ...each, place }));
    });
    const placed = [...controllerRoutes, ...platformRoutes];
    this.read = { length: this.stack.length, placed };
    return placed;
  }

  /** Whether main.ts or a module added a layer, rather than Nest for its own middleware or its answer 404. */
  private isPlatform(layer: Layer, place: number, controllerRoutes: readonly PlacedRoute[]): boolean {
    if (controllerRoutesOf(layer).length > 0) return false;
    const lastOfNest = controllerRoutes.at(-1)?.place ?? -1;
    if (place < this.beforeNest) return true;
    return place > lastOfNest && !(layer.route && this.isExcludedFromPrefix(layer.route.path));
  }

  /** For a path that is excluded from the global prefix, Nest registers its answer 404 as a route of that path. */
  private isExcludedFromPrefix(path: unknown): boolean {
    const { exclude = [] } = this.config?.getGlobalPrefixOptions() ?? {};
    return exclude.some((excluded) => typeof path === 'string' && excluded.pathRegex.test(path));
  }

  private controllerRoutesAt(path: string): PlacedRoute[] {
    void this.placed;
    return this.byLevels.along(levelsOf(path).map(lowerCase)).filter((each) => matches(each, path));
  }

  private platformRoutesAt(path: string): PlacedRoute[] {
    return this.placed.filter((each) => each.route.handler === undefined && matches(each, path));
  }
}

/** The router may ignore case: the trie finds too many candidates, never too few. */
const lowerCase = (level: string | undefined): string | undefined => level?.toLowerCase();

function controllerRoutesOf({ route }: Layer): Route[] {
  if (!route || typeof route.path !== 'string') return [];
  const { path } = route;
  const routes = route.stack.flatMap(({ handle }) => {
    const method = controllerMethodOf(handle);
    if (!method) return [];
    const verb = RequestMethod[Reflect.getMetadata('method', handle) as RequestMethod];
    return [makeRoute(verb, path, method)];
  });
  // A route of every method has one handler for each.
  return [...new Map(routes.map((each) => [`${each.method} ${each.path}`, each])).values()];
}

type PlatformRoute = Omit<PlacedRoute, 'place'>;

/**
 * None for a function of the whole application, such as helmet: nothing tells whether it serves requests itself. Nor for a
 * function above a controller's route, which is a middleware for that route.
 */
function platformRoutesOf(
  layer: Layer,
  isMiddleware: (mount: Route) => boolean,
  { prefix, match: outer }: Outer = ROOT,
): PlatformRoute[] {
  const { handle, route, slash, rawPath } = layer;
  // Express takes a function of four parameters for an error handler.
  if (handle.length > 3 || (!route && (slash || rawPath === '/'))) return [];
  const templates = pathsOf(layer).map((path) =>
    path === undefined || prefix === undefined ? ANY_PATH : `${prefix}${route ? path : `${path}${BELOW_MOUNT}`}`,
  );
  const verbs = route ? METHODS.filter((verb) => route.methods[verb.toLowerCase()] || route.methods['_all']) : METHODS;
  const methods = verbs.length === METHODS.length ? ['ALL'] : verbs;
  return [...new Set(templates)]
    .flatMap((template) => methods.map((method) => makeRoute(method, template)))
    .filter((each) => route || !isMiddleware(each))
    .map((each) => ({ route: each, match: within(outer, matcherOf(layer)), isRoute: route !== undefined }));
}

/** Where a router is mounted: the templates of its routes begin with the prefix, `undefined` where it is not known. */
interface Outer {
  readonly prefix: string | undefined;
  readonly match: Matcher;
}
const ROOT: Outer = { prefix: '', match: () => ({ path: '' }) };

/** The routes of a router that is mounted at the root or above a controller's route. */
function innerRoutesOf(layer: Layer, isMiddleware: (mount: Route) => boolean, outer: Outer = ROOT): PlatformRoute[] {
  const [path, ...others] = pathsOf(layer);
  const isKnown = outer.prefix !== undefined && path !== undefined && others.length === 0;
  const mounted: Outer = {
    prefix: isKnown ? `${outer.prefix}${path}` : undefined,
    match: within(outer.match, matcherOf(layer)),
  };
  return (layer.handle.stack ?? []).flatMap((inner) => {
    const found = platformRoutesOf(inner, isMiddleware, mounted);
    return found.length > 0 ? found : innerRoutesOf(inner, isMiddleware, mounted);
  });
}

/** Without a slash at the end; `undefined` for a regular expression. */
const pathsOf = ({ route, rawPath, slash }: Layer): (string | undefined)[] =>
  [slash ? '' : (rawPath ?? route?.path)]
    .flat(Infinity)
    .map((path) => (typeof path === 'string' ? (route ? path : path.replace(/\/+$/, '')) : undefined));

const matcherOf =
  ({ matchers, slash }: Layer): Matcher =>
  (path) =>
    slash ? { path: '' } : matchers.reduce<Match | false>((found, match) => found || match(path), false);

/** A router matches the rest of a path, behind the path of its mount. */
const within =
  (outer: Matcher, inner: Matcher): Matcher =>
  (path) => {
    const found = outer(path);
    return found && inner(path.slice(found.path.length) || '/');
  };

function matches({ match }: PlatformRoute, path: string): boolean {
  try {
    return match(path) !== false;
  } catch {
    // A broken escape in a parameter: the layer is the one that the path is for.
    return true;
  }
}

function paramsOf({ match }: PlatformRoute, path: string): ServedRoute['params'] {
  try {
    return (match(path) as Partial<Match>).params ?? {};
  } catch {
    return {};
  }
}
