/** What Express does before it calls a handler: the layers of its stack, in their order. */
import { ServerResponse, type IncomingHttpHeaders } from 'node:http';
import { compileEtag, type EtagSettings } from '../http/express-etag.js';
import type { HttpRequest } from '../http/request-facts.js';
import { ownLayers, type HeaderHolder } from '../routes/direct-middleware.js';
import { observe } from '../routes/observed-method.js';
import type { RouteTable } from '../routes/route-table.js';
import { headOf, mayMeet, meeting } from './before-route.js';
import type { Asked, Platform, Surroundings } from './front.js';
import { KnownHooks } from './known-hooks.js';
import type { JsonReader } from './plain-body.js';
import { traced } from './heard.js';

type Handle = ((...args: unknown[]) => unknown) & { readonly name: string };
interface Layer {
  readonly handle: Handle;
  readonly route?: {
    readonly path: unknown;
    readonly methods: Readonly<Record<string, boolean>>;
    readonly stack: readonly { readonly handle: Handle }[];
  };
  /** Since version 2.3 of the router; before, only a route tells its path. */
  readonly rawPath?: unknown;
}
interface Application extends EtagSettings {
  readonly handle: Handle;
  readonly router: { readonly stack: readonly Layer[]; readonly params: object; readonly handle: unknown };
  readonly response: object;
}
interface Adapter {
  getInstance(): unknown;
  readonly reply: unknown;
}

/** What the parser that Nest sets by itself takes (`100kb`). */
const LIMIT = 102_400;
/** As strict as that parser: nothing but an object or a list. */
const STRICT = /^[ \t\n\r]*[[{]/;
const JSON_SETTINGS = ['json escape', 'json replacer', 'json spaces'];
/** What writes an answer: somebody may put his own in the place of one, for all responses. */
const OF_NODE = ['setHeader', 'writeHead', 'write', 'end'] as const;
const WRITERS = ['json', 'send', 'status', 'set', ...OF_NODE] as const;
const ofResponse = (response: object, name: string): unknown => (response as Record<string, unknown>)[name];
const isTraced = traced('express.router.request');

export class BeforeExpress implements Platform {
  readonly listener: unknown;
  private json: JsonReader | undefined;
  private readonly application: Application;
  private readonly hooks: KnownHooks;
  private readonly etagOf: ReturnType<typeof compileEtag>;
  private readonly reply: unknown;
  /** Nest's own, which do nothing for a request without a body. */
  private readonly parsers = new WeakSet<object>();
  private readonly handle: Handle;
  /** As they were when a request was first looked at. */
  private writers: readonly unknown[] = [];
  private routersHandle: unknown;
  /** What the paths of the layers begin with. */
  private heads: readonly string[] = [];

  constructor(
    private readonly adapter: Adapter,
    private readonly table: RouteTable,
  ) {
    this.listener = adapter.getInstance();
    this.application = this.listener as Application;
    this.hooks = new KnownHooks(adapter);
    this.etagOf = compileEtag(this.application);
    this.reply = adapter.reply;
    this.handle = this.application.handle;
    for (const method of ['registerParserMiddleware', 'useBodyParser'])
      if (this.hooks.isNests(method)) this.watchParsers(method);
  }

  private watchParsers(method: string): void {
    observe(this.adapter, method, (call, args) => {
      const { length } = this.application.router.stack;
      const answer = call(args);
      const added = this.application.router.stack.slice(length).map(({ handle }) => handle);
      for (const handle of added) this.parsers.add(handle);
      // It leaves out its own where the application has one.
      if (method === 'registerParserMiddleware' && added.some(({ name }) => name === 'jsonParser'))
        this.json = { limit: LIMIT, closes: false, parse };
      return answer;
    });
  }

  size(): number {
    return this.application.router.stack.length;
  }

  isOpen(): boolean {
    const { settings, response, router, handle } = this.application;
    return (
      this.hooks.isOpen &&
      this.adapter.reply === this.reply &&
      handle === this.handle &&
      router.handle === this.routersHandle &&
      !isTraced() &&
      isEmpty(router.params) &&
      !JSON_SETTINGS.some((name) => Boolean(settings[name])) &&
      this.etagOf.isKnown() &&
      this.writers.every((writer, place) => ofResponse(response, WRITERS[place] as string) === writer)
    );
  }

  /** It compares its ETag. */
  mayAnswer(headers: IncomingHttpHeaders): boolean {
    return headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined;
  }

  sign(answer: HeaderHolder): void {
    if (this.application.settings['x-powered-by']) answer.setHeader('X-Powered-By', 'Express');
  }

  complete(answer: HeaderHolder, text: string, length: number): void {
    const etag = this.etagOf(text, length);
    if (etag) answer.setHeader('etag', etag);
  }

  surroundings({ verb, request }: Asked, template: string): Surroundings | undefined {
    const { router, response } = this.application;
    const { stack } = router;
    if (
      this.handle.name !== 'handle' ||
      OF_NODE.some((name) => ofResponse(response, name) !== ServerResponse.prototype[name])
    )
      return undefined;
    if (this.writers.length === 0) {
      this.writers = WRITERS.map((name) => ofResponse(response, name));
      this.routersHandle = router.handle;
    }
    if (this.heads.length !== stack.length) this.heads = stack.map((layer) => headOf(pathOf(layer)));
    const place = stack.findIndex(({ route }) => route !== undefined && route === (request as RoutedRequest).route);
    const middleware = this.table.direct.before(template);
    if (place === -1 || !middleware) return undefined;
    const taken = new Set<string>();
    const seen = new Set<string>();
    const head = headOf(template);
    for (const [index, layer] of stack.slice(0, place).entries()) {
      if (!mayMeet(this.heads[index] ?? '', head) || this.isKnown(layer, seen)) continue;
      const { route } = layer;
      if (route && route.stack.length > 0 && !answers(route, verb)) continue;
      const met = meeting({ path: pathOf(layer), isRoute: route !== undefined }, template);
      if (met === undefined) return undefined;
      if (met !== 'never') taken.add(met.word);
    }
    return { middleware, taken, json: this.json };
  }

  /** Whether it would let a plain request pass, or is the package's own. Those of two adapters on one Express look alike. */
  private isKnown({ handle, route }: Layer, seen: Set<string>): boolean {
    if (route) return route.stack.length > 0 && route.stack.every((each) => ownLayers.has(each.handle));
    if (ownLayers.has(handle) || this.parsers.has(handle)) return true;
    const text = String(handle);
    return this.hooks.has(handle) && !seen.has(text) && seen.add(text) !== undefined;
  }
}

const answers = ({ methods }: NonNullable<Layer['route']>, verb: string): boolean =>
  ['_all', 'options', verb.toLowerCase()].some((name) => methods[name]);

const isEmpty = (params: object): boolean => {
  for (const _ in params) return false;
  return true;
};

interface RoutedRequest extends HttpRequest {
  readonly route?: object & { readonly path?: unknown };
}

const pathOf = ({ rawPath, route }: Layer): unknown => rawPath ?? route?.path ?? '/';

function parse(body: Buffer): unknown {
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  if (!STRICT.test(text)) throw new SyntaxError('neither an object nor a list');
  return JSON.parse(text);
}
