/** Reads undocumented members of Express's router; test/routes/route-table.spec.ts fails when they change. */
import { METHODS } from 'node:http';
import { RequestMethod, VersioningType } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { controllerMethodOf } from './controller-methods.js';
import { ANY_PATH, isRoute, makeRoute, meets, mountOf, servesMethod, type Route, type ServedRoute } from './route.js';
import { RouteTable } from './route-table.js';

type Handler = ((...args: unknown[]) => unknown) & { readonly stack?: readonly Layer[] };
type Match = { readonly path: string; readonly params?: Readonly<Record<string, unknown>> };
type Matcher = (path: string) => Match | false;

interface Layer {
  /** It has a `stack` if it is a router. */
  readonly handle: Handler;
  readonly route?: {
    readonly path: unknown;
    readonly methods: Readonly<Record<string, boolean>>;
    readonly stack: readonly { readonly handle: Handler }[];
  };
  readonly slash?: boolean;
  /** Missing before version 2.3 of the router. */
  readonly rawPath?: unknown;
  readonly matchers: readonly Matcher[];
}

interface Express {
  readonly router: { readonly stack: readonly Layer[]; readonly caseSensitive?: boolean };
}

interface PlacedRoute {
  readonly route: Route;
  readonly match: Matcher;
  readonly place: number;
}

export class ExpressRoutes extends RouteTable {
  private read: ReturnType<ExpressRoutes['readStack']> | undefined;
  private beforeNest = 0;
  /** The layer of the package's first middleware, which other packages may move behind others. */
  private first: Layer | undefined;

  constructor(
    private readonly express: Express,
    private readonly config: ApplicationConfig | undefined,
  ) {
    super();
  }

  override get isCaseSensitive(): boolean {
    return this.express.router.caseSensitive === true;
  }

  override beginRouting(modules: ModulesContainer): void {
    super.beginRouting(modules);
    this.beforeNest = this.express.router.stack.length;
  }

  override get routes(): readonly Route[] {
    const { controllers, platform } = this.current;
    return [...controllers, ...platform].map(({ route }) => route);
  }

  override get mountsAboveRoutes(): readonly string[] {
    const known = this.current.platform.map(({ place }) => place);
    return this.express.router.stack
      .filter((layer, place) => place < this.beforeNest && !known.includes(place) && !isErrorHandler(layer))
      .flatMap((layer) => pathsOf(layer).flatMap((path) => path || []));
  }

  override markFirstMiddleware(): void {
    this.first = this.express.router.stack.at(-1);
  }

  override get routesInFront(): readonly Route[] {
    const { stack } = this.express.router;
    const end = this.first ? stack.indexOf(this.first) : 0;
    const inFront = stack.slice(0, end < 0 ? stack.length : end);
    return inFront.flatMap((layer) => platformRoutesOf(layer, [], true)).map(({ route }) => route);
  }

  override find(method: string, path: string): ServedRoute | undefined {
    const first = this.current.all.find((each) => serves(each, method, path));
    return first && { route: first.route, params: (matchOf(first, path) || {}).params ?? {} };
  }

  override hasRoute(path: string): boolean {
    const matching = this.current.all.filter((each) => matchOf(each, path));
    return METHODS.some((method) => isRoute(matching.find(({ route }) => servesMethod(route, method))));
  }

  override hasPlatformRoute(method: string, path: string): boolean {
    const { platform: mounted, bound } = this.current;
    if (bound.some((each) => serves(each, method, path))) return true;
    const platform = mounted.find((each) => serves(each, method, path));
    // A controller's route may pass a request of another version on to the next layer.
    if (!platform || this.sharePaths) return platform !== undefined;
    return !this.current.controllers.some((each) => each.place < platform.place && serves(each, method, path));
  }

  /** A header or a media type may select one of several versions of a path. */
  private get sharePaths(): boolean {
    return (this.config?.getVersioning()?.type ?? VersioningType.URI) !== VersioningType.URI;
  }

  /** Routes may be added at any time: the stack is read again when its length changes. */
  private get current() {
    if (this.read?.length !== this.express.router.stack.length) this.read = this.readStack();
    return this.read;
  }

  private readStack() {
    const { stack } = this.express.router;
    const controllers = stack.flatMap((layer, place) =>
      controllerRoutesOf(layer, this.sharePaths).map((route) => ({ route, match: matcherOf(layer), place })),
    );
    const nestRoutes = controllers.map(({ route }) => route);
    const lastOfNest = controllers.at(-1)?.place ?? -1;
    const others = stack.flatMap((layer, place) => {
      if (controllerRoutesOf(layer).length > 0) return [];
      const isBeforeNest = place < this.beforeNest;
      return platformRoutesOf(layer, nestRoutes, isBeforeNest).map((each) => ({ ...each, place }));
    });
    // Behind its routes, Nest mounts routers for its answer 404.
    const isBehind = (place: number): boolean =>
      place > lastOfNest && !this.isExcludedFromPrefix(stack[place] as Layer);
    const platform = others.filter(({ place }) => place < this.beforeNest || isBehind(place));
    // Between are the middlewares that modules bind. Those at a path of a route pass requests on to it.
    const between = others.filter(({ place }) => place >= this.beforeNest && place < lastOfNest);
    const bound = between.filter(({ route }) => !nestRoutes.some((each) => meets(each, route)));
    const all = [...controllers, ...platform].toSorted((a, b) => a.place - b.place);
    return { length: stack.length, controllers, platform, bound, all };
  }

  /** For a path that is excluded from the global prefix, Nest registers its answer 404 as a route of that path. */
  private isExcludedFromPrefix({ route }: Layer): boolean {
    const { exclude = [] } = this.config?.getGlobalPrefixOptions() ?? {};
    return exclude.some(({ pathRegex }) => typeof route?.path === 'string' && pathRegex.test(route.path));
  }
}

/** @param isVersioned whether the route may have a version, which its layer does not contain */
function controllerRoutesOf({ route }: Layer, isVersioned = false): Route[] {
  if (!route || typeof route.path !== 'string') return [];
  const { path } = route;
  const routes = route.stack.flatMap(({ handle }) => {
    const method = controllerMethodOf(handle);
    if (!method) return [];
    const verb = RequestMethod[Reflect.getMetadata('method', handle) as RequestMethod];
    return [makeRoute(verb, path, method, isVersioned)];
  });
  // A route of every method has one handler for each.
  return [...new Map(routes.map((each) => [`${each.method} ${each.path}`, each])).values()];
}

type PlatformRoute = Omit<PlacedRoute, 'place'>;

/** Functions of the whole application, or above a route, are middleware. Of a router, its own routes count. */
function platformRoutesOf(
  layer: Layer,
  nestRoutes: readonly Route[],
  readsRouters: boolean,
  { prefix, match: outer }: Outer = ROOT,
): PlatformRoute[] {
  const { route, slash, rawPath, handle } = layer;
  const paths = pathsOf(layer);
  const match = within(outer, matcherOf(layer));
  if (!isErrorHandler(layer) && (route || !(slash || rawPath === '/'))) {
    const templates = paths.map((path) =>
      path === undefined || prefix === undefined ? ANY_PATH : `${prefix}${route ? path : mountOf(path)}`,
    );
    const verbs = METHODS.filter((verb) => !route || route.methods[verb.toLowerCase()] || route.methods['_all']);
    const methods = verbs.length === METHODS.length ? ['ALL'] : verbs;
    const found = [...new Set(templates)]
      .flatMap((template) => methods.map((method) => makeRoute(method, template)))
      .filter((each) => route || !isAbove(each, nestRoutes));
    if (found.length > 0) return found.map((each) => ({ route: each, match }));
  }
  if (!readsRouters || !handle.stack) return [];
  const [path] = paths;
  const isKnown = prefix !== undefined && path !== undefined && paths.length === 1;
  const mounted = { prefix: isKnown ? `${prefix}${path}` : undefined, match };
  return handle.stack.flatMap((inner) => platformRoutesOf(inner, nestRoutes, true, mounted));
}

const isErrorHandler = ({ handle }: Layer): boolean => handle.length > 3;

function isAbove(mount: Route, routes: readonly Route[]): boolean {
  if (mount.path === ANY_PATH) return false;
  const levels = mount.shapes[0]?.levels ?? [];
  const isSame = (a?: string, b?: string): boolean => a?.toLowerCase() === b?.toLowerCase();
  return routes.some(({ shapes }) =>
    shapes.some((shape) => levels.every((level, index) => isSame(level, shape.levels[index]))),
  );
}

/** The place of a mounted router. The templates of its routes begin with the prefix; it is `undefined` if it is not known. */
interface Outer {
  readonly prefix: string | undefined;
  readonly match: Matcher;
}
const ROOT: Outer = { prefix: '', match: () => ({ path: '' }) };

/** Without a slash at the end; `undefined` for a regular expression. */
const pathsOf = ({ route, rawPath, slash }: Layer): (string | undefined)[] =>
  [slash ? '' : (rawPath ?? route?.path)]
    .flat(Infinity)
    .map((path) => (typeof path === 'string' ? (route ? path : path.replace(/\/+$/, '')) : undefined));

const matcherOf =
  ({ matchers, slash }: Layer): Matcher =>
  (path) =>
    slash ? { path: '' } : matchers.reduce<Match | false>((found, match) => found || match(path), false);

const within =
  (outer: Matcher, inner: Matcher): Matcher =>
  (path) => {
    const found = outer(path);
    return found && inner(path.slice(found.path.length) || '/');
  };

function matchOf({ match }: PlatformRoute, path: string): Match | false {
  try {
    return match(path);
  } catch {
    // A broken escape in a parameter: the layer is the one that the path is for.
    return { path };
  }
}

const serves = (each: PlacedRoute, method: string, path: string): boolean =>
  servesMethod(each.route, method) && matchOf(each, path) !== false;
