/** What Express does before it calls a handler: the layers of its stack, in their order. */
import type { IncomingHttpHeaders } from 'node:http';
import { compileEtag, type EtagSettings } from '../http/express-etag.js';
import type { HttpRequest } from '../http/request-facts.js';
import { ownLayers, type HeaderHolder } from '../routing/direct-middleware.js';
import { observe } from '../routing/observed-method.js';
import type { RouteTable } from '../routing/route-table.js';
import { headOf, mayMeet, meeting } from './before-route.js';
import type { Asked, Platform, Surroundings } from './front.js';
import { KnownHooks } from './known-hooks.js';
import type { JsonReader } from './plain-body.js';

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
  readonly router: { readonly stack: readonly Layer[] };
}
interface Adapter {
  getInstance(): unknown;
  readonly reply: unknown;
}

/** Which do nothing for a request without a body. */
const PARSERS = ['jsonParser', 'urlencodedParser', 'rawParser', 'textParser'];
/** What the parser that Nest sets by itself takes (`100kb`). */
const LIMIT = 102_400;
/** As strict as that parser: nothing but an object or a list. */
const STRICT = /^[ \t\n\r]*[[{]/;
const JSON_SETTINGS = ['json escape', 'json replacer', 'json spaces'];

export class BeforeExpress implements Platform {
  readonly listener: unknown;
  private json: JsonReader | undefined;
  private readonly application: Application;
  private readonly hooks: KnownHooks;
  private readonly etagOf: ReturnType<typeof compileEtag>;
  private readonly reply: unknown;
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
    observe(adapter, 'registerParserMiddleware', (call, args) => {
      const { stack } = this.application.router;
      const isFirst = !stack.some(({ handle }) => PARSERS.includes(handle.name));
      if (isFirst) this.json = { limit: LIMIT, parse };
      return call(args);
    });
  }

  size(): number {
    return this.application.router.stack.length;
  }

  isOpen(): boolean {
    const { settings } = this.application;
    return (
      this.hooks.isOpen && this.adapter.reply === this.reply && !JSON_SETTINGS.some((name) => Boolean(settings[name]))
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
    const { stack } = this.application.router;
    if (this.heads.length !== stack.length) this.heads = stack.map((layer) => headOf(pathOf(layer)));
    const place = stack.findIndex(({ route }) => route !== undefined && route === (request as RoutedRequest).route);
    const middleware = this.table.direct.before(template);
    if (place === -1 || !middleware) return undefined;
    const taken = new Set<string>();
    const head = headOf(template);
    for (const [index, layer] of stack.slice(0, place).entries()) {
      if (!mayMeet(this.heads[index] ?? '', head) || this.isKnown(layer)) continue;
      const { route } = layer;
      if (route && !['_all', 'options', verb.toLowerCase()].some((name) => route.methods[name])) continue;
      const met = meeting({ path: pathOf(layer), isRoute: route !== undefined }, template);
      if (met === undefined) return undefined;
      if (met !== 'never') taken.add(met.word);
    }
    return { middleware, taken, json: this.json };
  }

  /** Whether it would let a plain request pass, or is the package's own. */
  private isKnown({ handle, route }: Layer): boolean {
    if (route) return route.stack.every((each) => ownLayers.has(each.handle));
    // One of four parameters is asked where a request has failed.
    return handle.length > 3 || ownLayers.has(handle) || PARSERS.includes(handle.name) || this.hooks.has(handle);
  }
}

interface RoutedRequest extends HttpRequest {
  readonly route?: object & { readonly path?: unknown };
}

const pathOf = ({ rawPath, route }: Layer): unknown => rawPath ?? route?.path ?? '/';

function parse(body: Buffer): unknown {
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  if (!STRICT.test(text)) throw new SyntaxError('neither an object nor a list');
  return JSON.parse(text);
}
