/** What Fastify does before it calls a handler, and behind it: the hooks of the route's context, and its options. */
import {
  hidden,
  hasNothingBehind,
  isMiddie,
  ownHooks,
  reader,
  routeContextReader,
  type RouteContext,
} from '../routes/fastify-contexts.js';
import { answers } from '../routes/fastify-template.js';
import { observe } from '../routes/observed-method.js';
import type { RouteTable } from '../routes/route-table.js';
import { headOf, meeting } from './before-route.js';
import type { Asked, Platform, Surroundings } from './front.js';
import { KnownHooks } from './known-hooks.js';
import type { JsonReader } from './plain-body.js';
import { traced } from './heard.js';

interface RoutedRequest {
  /** In bytes. */
  readonly routeOptions: { readonly bodyLimit: number };
}
interface Parser {
  fn(request: unknown, body: Buffer, done: (error: unknown, body?: unknown) => void): unknown;
}
interface Parsers {
  readonly customParsers?: ReadonlyMap<string, Parser>;
  readonly parserRegExpList?: readonly unknown[];
}
interface Instance {
  readonly routing: unknown;
  printRoutes(): string;
}
interface Adapter {
  getInstance(): unknown;
  readonly reply: unknown;
}
interface Hooks {
  readonly onRequest?: readonly object[];
  readonly onResponse?: readonly object[];
}
interface Options extends Readonly<Record<string, unknown>> {
  readonly logger?: { readonly info?: { readonly name: string } };
  readonly routerOptions?: { readonly constraints?: object; readonly maxParamLength?: number };
}
interface Context extends RouteContext {
  readonly onResponse?: readonly object[] | null;
  readonly handlerTimeout?: number;
  readonly childLoggerFactory?: { readonly name: string };
}

/** Options with which Fastify does more for a request than to bring it to its handler. */
const BUSY_OPTIONS = ['loggerInstance', 'logController', 'rewriteUrl', 'serverFactory', 'http2'];
/** What a request is checked by before its handler. */
const SCHEMAS = ['headers-schema', 'params-schema', 'querystring-schema', 'body-schema'];
/** A longer word of a path it takes for none. */
const SHORTEST_LIMIT = 100;
const isTraced = traced('fastify.request.handler');

export class BeforeFastify implements Platform {
  readonly listener: unknown;
  private readonly hooks: KnownHooks;
  private readonly reply: unknown;
  private readonly contextOf = routeContextReader();
  private readonly hasMiddleware = reader<boolean>('fastify-middie-has-middlewares');
  private readonly instance: Instance;
  /** Whether the application had given it routes before there was anybody to hear of them. */
  private readonly hadRoutes: boolean;
  private parser: Parser | undefined;
  private state: { readonly closing: boolean } | undefined;

  constructor(
    private readonly adapter: Adapter,
    private readonly table: RouteTable,
  ) {
    this.instance = adapter.getInstance() as Instance;
    this.listener = this.instance.routing;
    this.hadRoutes = this.instance.printRoutes() !== '(empty tree)';
    this.hooks = new KnownHooks(adapter);
    this.reply = adapter.reply;
    if (!this.hooks.isNests('useBodyParser')) return;
    observe(adapter, 'useBodyParser', (call, args) => {
      const [type, rawBody, , given] = args;
      const answer = call(args);
      if (type === 'application/json' && !rawBody && given === undefined) this.parser = this.jsonParser;
      return answer;
    });
  }

  /** Where there is one for JSON. */
  private get jsonParser(): Parser | undefined {
    const { customParsers, parserRegExpList } = hidden<Parsers>(this.instance, 'fastify.contentTypeParser') ?? {};
    const ofJson = [...(customParsers ?? [])].filter(([type]) => type.startsWith('application/json'));
    return ofJson.length === 1 && parserRegExpList?.length === 0 ? customParsers?.get('application/json') : undefined;
  }

  /** It takes no routes once it has started. */
  size(): number {
    return 0;
  }

  isOpen(): boolean {
    return (
      this.hooks.isOpen &&
      this.adapter.reply === this.reply &&
      this.state?.closing === false &&
      !isTraced() &&
      // Of middie, to which the application may give something at any time.
      this.hasMiddleware(this.instance) === false
    );
  }

  mayAnswer(): boolean {
    return false;
  }

  // It gives an answer no headers of its own.
  sign(): void {}
  complete(): void {}

  surroundings({ verb, request, response }: Asked, template: string): Surroundings | undefined {
    const { routeOptions } = request as unknown as RoutedRequest;
    const context = this.contextOf(request) as Context | undefined;
    const middleware = this.table.direct.before(template);
    const taken = this.taken(verb, template);
    if (this.hadRoutes || !context || !middleware || !taken || !this.isIdle(context, response)) return undefined;
    this.state ??= hidden(this.instance, 'fastify.state');
    return { middleware, taken, json: this.jsonReader(routeOptions.bodyLimit) };
  }

  private isIdle(context: Context, response: unknown): boolean {
    const options = hidden<Options>(this.instance, 'fastify.options');
    // The context has them bound; that those before a handler are the root's own, `isAlone` has seen.
    const { onRequest = [], onResponse = [] } = hidden<Hooks>(this.instance, 'fastify.hooks') ?? {};
    const isKnown = (hook: object): boolean => ownHooks.has(hook) || isMiddie(hook as never) || this.hooks.has(hook);
    return (
      this.table.isAlone(response) &&
      options !== undefined &&
      !BUSY_OPTIONS.some((name) => Boolean(options[name])) &&
      isSilent(options) &&
      isPlainRouter(options) &&
      context.childLoggerFactory?.name === 'defaultChildLoggerFactory' &&
      hasNothingBehind(context) &&
      (context.onResponse?.length ?? 0) === onResponse.length &&
      [...onRequest, ...onResponse].every(isKnown) &&
      context.handlerTimeout === 0 &&
      !SCHEMAS.some((name) => Boolean(reader(name)(context)))
    );
  }

  /** A word stands before a parameter; where anything else stands at its level, Fastify is asked. */
  private taken(verb: string, template: string): ReadonlySet<string> | undefined {
    const words = new Set<string>();
    const head = headOf(template);
    for (const { method, path, ...route } of this.table.routes) {
      if (!path.toLowerCase().startsWith(head) || !(answers({ method }, verb) || answers({ method }, 'OPTIONS')))
        continue;
      if (path === template && method === verb && !route.outside) continue;
      const met = meeting({ path, isRoute: true }, template);
      if (met === undefined) return undefined;
      if (met !== 'never') words.add(met.word);
    }
    return words;
  }

  private jsonReader(limit: number): JsonReader | undefined {
    const { parser } = this;
    if (!parser || parser !== this.jsonParser) return undefined;
    return { limit, closes: true, parse: (body) => parsed(parser, body) };
  }
}

/** It logs every request, where it has a logger; one of a higher level may be given another at any time. */
const isSilent = ({ logger }: Options): boolean => logger?.info?.name === 'noop' && !('level' in logger);

/** Nest gives it a constraint for versions, which is asked where a route has one. */
const isPlainRouter = ({
  routerOptions: { constraints = {}, maxParamLength = SHORTEST_LIMIT } = {},
}: Options): boolean =>
  Object.keys(constraints).every((name) => name === 'version') && maxParamLength >= SHORTEST_LIMIT;

/** Nest's calls back at once. */
function parsed(parser: Parser, body: Buffer): unknown {
  let failed: unknown;
  let read: unknown;
  parser.fn(undefined, body, (error, value) => {
    failed = error;
    read = value;
  });
  if (failed) throw failed;
  return read;
}
