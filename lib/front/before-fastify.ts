/** What Fastify does before it calls a handler, and behind it: the hooks of the route's context, and its options. */
import { channel } from 'node:diagnostics_channel';
import {
  hidden,
  hasNothingBehind,
  isMiddie,
  ownHooks,
  reader,
  routeContextReader,
  type RouteContext,
} from '../routing/fastify-contexts.js';
import { answers } from '../routing/fastify-template.js';
import { observe } from '../routing/observed-method.js';
import type { RouteTable } from '../routing/route-table.js';
import { headOf, meeting } from './before-route.js';
import type { Asked, Platform, Surroundings } from './front.js';
import { KnownHooks } from './known-hooks.js';
import type { JsonReader } from './plain-body.js';

interface RoutedRequest {
  /** In bytes. */
  readonly routeOptions: { readonly bodyLimit: number };
}
interface Parser {
  fn(request: unknown, body: Buffer, done: (error: unknown, body?: unknown) => void): unknown;
}
interface Instance {
  readonly routing: unknown;
}
interface Adapter {
  getInstance(): unknown;
  readonly reply: unknown;
}
interface Hooks {
  readonly onRequest?: readonly object[];
  readonly onResponse?: readonly object[];
}
interface Logger {
  readonly info?: { readonly name: string };
}
interface Context extends RouteContext {
  readonly onResponse?: readonly object[] | null;
  readonly handlerTimeout?: number;
}

/** Options with which Fastify does more for a request than to bring it to its handler. */
const BUSY_OPTIONS = ['loggerInstance', 'logController', 'rewriteUrl', 'serverFactory', 'http2'];
/** What a request is checked by before its handler. */
const SCHEMAS = ['headers-schema', 'params-schema', 'querystring-schema', 'body-schema'];
/** Of tools that trace requests. */
const HANDLER_CHANNELS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((name) =>
  channel(`tracing:fastify.request.handler:${name}`),
);

export class BeforeFastify implements Platform {
  readonly listener: unknown;
  private readonly hooks: KnownHooks;
  private readonly reply: unknown;
  private readonly contextOf = routeContextReader();
  private parser: Parser | undefined;
  private state: { readonly closing: boolean } | undefined;

  constructor(
    private readonly adapter: Adapter,
    private readonly table: RouteTable,
  ) {
    this.listener = this.instance.routing;
    this.hooks = new KnownHooks(adapter);
    this.reply = adapter.reply;
    let parsers = 0;
    observe(adapter, 'useBodyParser', (call, args) => {
      const [type, rawBody, , given] = args;
      const answer = call(args);
      if (type !== 'application/x-www-form-urlencoded') parsers += 1;
      const isNests = type === 'application/json' && !rawBody && given === undefined && parsers === 1;
      this.parser = isNests ? this.jsonParser : undefined;
      return answer;
    });
  }

  private get instance(): Instance {
    return this.adapter.getInstance() as Instance;
  }

  private get jsonParser(): Parser | undefined {
    const parsers = hidden<{ customParsers?: Map<string, Parser> }>(this.instance, 'fastify.contentTypeParser');
    return parsers?.customParsers?.get('application/json');
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
      !HANDLER_CHANNELS.some(({ hasSubscribers }) => hasSubscribers)
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
    if (!context || !middleware || !taken || !this.isIdle(context, response)) return undefined;
    this.state ??= hidden(this.instance, 'fastify.state');
    return { middleware, taken, json: this.jsonReader(routeOptions.bodyLimit) };
  }

  private isIdle(context: Context, response: unknown): boolean {
    const options = hidden<Record<string, unknown>>(this.instance, 'fastify.options');
    // The context has them bound; that those before a handler are the root's own, `isAlone` has seen.
    const { onRequest = [], onResponse = [] } = hidden<Hooks>(this.instance, 'fastify.hooks') ?? {};
    const isKnown = (hook: object): boolean => ownHooks.has(hook) || isMiddie(hook as never) || this.hooks.has(hook);
    return (
      this.table.isAlone(response) &&
      options !== undefined &&
      !BUSY_OPTIONS.some((name) => Boolean(options[name])) &&
      // It logs every request, where it has a logger.
      (options['logger'] as Logger | undefined)?.info?.name === 'noop' &&
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
    return { limit, parse: (body) => parsed(parser, body) };
  }
}

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
