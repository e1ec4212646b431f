/** Relies on how Nest and @fastify/cors register routes; test/routes/route-table.spec.ts fails when that changes. */
import { METHODS } from 'node:http';
import { CONTROLLER_METHOD } from './controller-methods.js';
import { refuseCollisions } from './route-collision.js';
import { decodePath, type HttpRequest } from '../http/http-request.js';
import { makeRoute, servesMethod, withoutOptionals, type Route, type ServedRoute } from './route.js';
import { RouteTable } from './route-table.js';

/** The members of Fastify that the package uses. The types of the package `fastify` would make it a dependency. */
export interface FastifyInstance {
  readonly supportedMethods: readonly string[];
  readonly initialConfig: InitialConfig;
  after(): PromiseLike<unknown>;
  addHook(name: 'onRoute', hook: (route: FastifyRoute) => void): void;
  addHook(name: 'onReady', hook: (done: Next) => void): void;
  addHook(
    name: 'onRequest' | 'preValidation',
    hook: (request: FastifyRequest, reply: unknown, done: Next) => void,
  ): void;
  findRoute(options: { method: string; url: string; constraints?: object }): {
    readonly params?: Readonly<Record<string, unknown>>;
  } | null;
  hasRequestDecorator(name: string): boolean;
  hasContentTypeParser(type: string): boolean;
  addContentTypeParser(type: string, options: { readonly parseAs: 'string' }, parser: unknown): void;
  getDefaultJsonParser(onProtoPoisoning: string, onConstructorPoisoning: string): unknown;
}

type Next = (error?: unknown) => void;

interface RouteConfig {
  readonly [CONTROLLER_METHOD]?: object;
}

export interface FastifyRequest extends HttpRequest {
  readonly is404: boolean;
  headers: HttpRequest['headers'];
  readonly routeOptions: {
    readonly method?: string | readonly string[] | undefined;
    readonly url?: string | undefined;
    readonly config?: RouteConfig;
  };
}

export interface FastifyRoute {
  readonly method: string | readonly string[];
  readonly url: string;
  readonly config?: RouteConfig;
  readonly constraints?: { readonly version?: unknown };
  readonly handler: (this: unknown, request: FastifyRequest, reply: unknown) => unknown;
  errorHandler?: (this: unknown, error: unknown, request: FastifyRequest, reply: unknown) => unknown;
}

interface InitialConfig {
  readonly caseSensitive?: boolean;
  readonly maxParamLength?: number;
  readonly routerOptions?: { readonly caseSensitive?: boolean; readonly maxParamLength?: number };
  readonly onProtoPoisoning?: string;
  readonly onConstructorPoisoning?: string;
}

const DEFAULT_PARAM_LENGTH = 100;

export class FastifyRoutes extends RouteTable {
  private readonly found: Route[] = [];
  private readonly byPath = new Map<string, Route[]>();
  private readonly versions: unknown[] = [];

  constructor(private readonly instance: FastifyInstance) {
    super();
    instance.addHook('onRoute', (options) => this.add(options));
  }

  override get routes(): readonly Route[] {
    return this.found;
  }

  override get isCaseSensitive(): boolean {
    const { routerOptions, caseSensitive } = this.instance.initialConfig;
    return caseSensitive !== false && routerOptions?.caseSensitive !== false;
  }

  /** Fastify fills one of the two places with its default where only the other one is set. */
  override get maxParameterLength(): number {
    const { routerOptions, maxParamLength } = this.instance.initialConfig;
    const given = [routerOptions?.maxParamLength, maxParamLength].find((each) => each && each !== DEFAULT_PARAM_LENGTH);
    return given ?? DEFAULT_PARAM_LENGTH;
  }

  override async complete(): Promise<void> {
    await this.instance.after();
  }

  /** Fastify's router returns only the parameters of a path. Finds the template by filling in parameters. */
  override find(method: string, path: string): ServedRoute | undefined {
    const params = this.paramsOf(method, path);
    if (!params) return undefined;
    const servesAll = ({ route }: { readonly route: Route }): number => Number(route.method === 'ALL');
    const [first] = this.found
      .filter((route) => servesMethod(route, method))
      .flatMap((route) => withoutOptionals(route.path).map((template) => ({ route, template })))
      .filter(({ template }) => makes(template, params, path))
      .toSorted((a, b) => order(a.template).localeCompare(order(b.template)) || servesAll(a) - servesAll(b));
    return first && { route: first.route, params };
  }

  override hasRoute(path: string): boolean {
    // @fastify/cors has a route for OPTIONS of every path.
    return METHODS.some((each) => (each === 'OPTIONS' ? this.find(each, path) : this.paramsOf(each, path)));
  }

  /** A preflight of a route is none: middleware answers it. */
  override isUnknown(method: string, path: string): boolean {
    return !this.paramsOf(method, path) && !(method === 'OPTIONS' && this.hasRoute(path));
  }

  private add(options: FastifyRoute): void {
    if (isPreflightRoute(options)) return;
    const { method, url, config, constraints } = options;
    const verbs = [method].flat().map((verb) => verb.toUpperCase());
    const isAll = this.instance.supportedMethods.every((verb) => verbs.includes(verb));
    const versions = [constraints?.version].flat().filter((version) => version !== undefined);
    this.versions.push(...versions);
    const path = url === '' ? '/' : url;
    const known = this.byPath.get(path) ?? [];
    this.byPath.set(path, known);
    for (const verb of isAll ? ['ALL'] : verbs) {
      // Fastify adds a HEAD route to each GET route: HEAD is governed as GET.
      if (verb === 'HEAD' && known.some((each) => servesMethod(each, 'HEAD'))) continue;
      const route = makeRoute(verb, path, config?.[CONTROLLER_METHOD], versions.length > 0);
      // Fastify would refuse the second route in its own words.
      refuseCollisions([...known, route], true);
      known.push(route);
      this.found.push(route);
    }
  }

  private paramsOf(method: string, url: string): ServedRoute['params'] | undefined {
    const constraints = this.versions.length === 0 ? [{}] : [{}, { constraints: { version: this.versions } }];
    for (const constraint of constraints) {
      const found = this.instance.findRoute({ method, url, ...constraint });
      // Nest's adapter answers 404 where a parameter is empty.
      if (found && Object.entries(found.params ?? {}).every(([name, value]) => name === '*' || value !== ''))
        return found.params ?? {};
    }
    return undefined;
  }
}

/** A request to a route outside Nest's routes: one of a plugin, or one that main.ts added. */
export const isPlatformRequest = ({ is404, routeOptions }: FastifyRequest): boolean =>
  !is404 &&
  routeOptions.config?.[CONTROLLER_METHOD] === undefined &&
  !isPreflightRoute({ method: routeOptions.method ?? [], url: routeOptions.url ?? '' });

/** @fastify/cors answers preflights by a route for OPTIONS of every path. */
const isPreflightRoute = ({ method, url }: Pick<FastifyRoute, 'method' | 'url'>): boolean =>
  url === '*' && [method].flat().join() === 'OPTIONS';

const PARAMETER = /:(?<name>\w+)(?:\([^)]*\))?|(?<wildcard>\*)$/g;

function makes(template: string, params: ServedRoute['params'], path: string): boolean {
  const names = [...template.matchAll(PARAMETER)].map(({ groups }) => groups?.['name'] ?? '*');
  if (names.toSorted().join('/') !== Object.keys(params).toSorted().join('/')) return false;
  const filled = template.replace(PARAMETER, (_, name: string | undefined) => String(params[name ?? '*']));
  // Fastify may read a `;` as the beginning of the query.
  return [path, path.replace(/;.*$/s, '')].some((each) => normalize(decodePath(each) ?? each) === normalize(filled));
}

/** Wider than the router, which has decided already that one of the templates matches. */
const normalize = (path: string): string =>
  path
    .toLowerCase()
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '');

/** find-my-way tries, level by level, a literal, then a literal with a parameter, a parameter, and a wildcard. */
function order(template: string): string {
  const rank = (level: string): number => {
    if (!/[:*]/.test(level)) return 0;
    if (level.startsWith('*')) return 3;
    return /^:\w+$/.test(level) ? 2 : 1;
  };
  return template.split('/').map(rank).join('');
}
