/**
 * Brings plain requests from node's server to the handlers of the package, past Express or Fastify, which take a sixth to a
 * third of the way and more. Which requests those are the platform shows: when it has brought one to a handler, it is looked
 * at what else stands before that handler, and where that is nothing of the application's, further ones need not go there.
 * All others do: of an unusual spelling, with a body that is not simply JSON, while anybody else listens to the server.
 */
import { EventEmitter } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { templateOf, type HttpRequest } from '../http/request-facts.js';
import type { DirectMiddleware, HeaderHolder } from '../routes/direct-middleware.js';
import { heard } from './heard.js';
import { hasNoBody, hasPlainBody, readBody, type JsonReader } from './plain-body.js';
import { PlainRequest, PlainResponse } from './plain-exchange.js';

/** What stands before a handler on its platform. */
export interface Surroundings {
  /** The package's own, in its order. */
  readonly middleware: readonly DirectMiddleware[];
  /** Words in the place of the parameter for which there are other routes, in small letters. */
  readonly taken: ReadonlySet<string>;
  /** `undefined` where JSON is read in a way that is not known here. */
  readonly json: JsonReader | undefined;
}

/** What the platform has just brought to a handler. */
export interface Asked {
  /** `GET`, `POST`, … */
  readonly verb: string;
  /** The platform's. */
  readonly request: HttpRequest;
  readonly response: unknown;
}

export interface Platform {
  /** What node's server calls. */
  readonly listener: unknown;
  /** Of what stands before handlers: when it changes, what was known of that no longer holds. */
  size(): number;
  /** Whether the platform itself would let every request pass just now. */
  isOpen(): boolean;
  /** Whether it may answer with something else than the handler says, such as 304. */
  mayAnswer(headers: http.IncomingHttpHeaders): boolean;
  /** @returns `undefined` where anything but the package's own stands before the handler, or behind it */
  surroundings(asked: Asked, template: string): Surroundings | undefined;
  /** Adds the headers that it gives to every answer. */
  sign(answer: HeaderHolder): void;
  /** Adds those that depend on what is answered, of this length in bytes. */
  complete(answer: HeaderHolder, text: string, length: number): void;
}

/** A handler of the package's own, which a platform would bring requests to. */
export interface PlainHandler {
  /** Whether code of the application is shown the requests of this route. */
  shows(method: string, template: string): boolean;
  /** Whether nobody has put anything in the place of what it runs. */
  isOwn(): boolean;
  run(request: PlainRequest, response: PlainResponse): void;
}

interface Entry extends Surroundings {
  readonly handler: PlainHandler;
  readonly route: { readonly path: string };
  /** The name of its last level, where that is one. */
  readonly parameter: string | undefined;
}
/** What is known of a path. */
interface Known {
  readonly byVerb: Readonly<Record<string, Entry>>;
  /** Which tells of middleware that answers preflights. */
  readonly bound: Entry | undefined;
}

/** Words, and maybe one parameter behind them. */
const TEMPLATE = /^(?<words>(?:\/[\w.~-]+)+?)(?:\/:(?<parameter>\w+))?$/;
/** In which no router and no rule reads anything but what stands there, and of a length that Fastify takes. */
const PLAIN_WORD = /^[\w-]{1,100}$/;
const PLAIN_QUERY = /^\?[\w.~%+&=,:-]*$/;
const BODILESS = ['GET', 'DELETE'];

const { emit } = EventEmitter.prototype;
/** What node tells of requests: who hears it may ask their responses for headers, and their requests for a route. */
const isHeard = heard('http.server.request.start', 'http.server.response.created', 'http.server.response.finish');

export class Front {
  /** By paths, and by what stands before a last level that is a parameter. */
  private readonly exact = new Map<string, Known>();
  private readonly below = new Map<string, Known>();
  private known = new WeakSet<PlainHandler>();
  private size = -1;
  private isInstalled = false;

  constructor(private readonly platform: Platform) {}

  /** Takes the place of the platform. */
  install(server: EventEmitter): void {
    const isHttp1 = server instanceof http.Server || server instanceof https.Server;
    const [only] = server.listeners('request') as http.RequestListener[];
    if (!isHttp1 || !only || only !== this.platform.listener) return;
    const isAlone = (): boolean =>
      // Node calls listeners one after the other; tools that watch a server put an `emit` of their own before its.
      server.listenerCount('request') === 1 && server.emit === emit && !isHeard() && this.isOpen();
    const listener = (request: http.IncomingMessage, response: http.ServerResponse): void => {
      if (!isAlone() || !this.serves(request, response)) only.call(server as http.Server, request, response);
    };
    server.removeListener('request', only);
    // As node's `once` says it: whoever takes the platform's listener away, or asks for it to put his own around, has that one.
    server.on('request', Object.assign(listener, { listener: only }));
    this.isInstalled = true;
  }

  /** To be told when the platform has brought a request to a handler, and the handler has answered with a text. */
  learn(handler: PlainHandler, asked: Asked): void {
    if (!this.isInstalled) return;
    if (this.platform.size() !== this.size) this.forget();
    if (this.known.has(handler)) return;
    this.known.add(handler);
    const template = templateOf(asked.request) ?? '';
    const { words, parameter } = TEMPLATE.exec(template)?.groups ?? {};
    if (words === undefined || handler.shows(asked.verb, template)) return;
    const surroundings = this.platform.surroundings(asked, template);
    if (!surroundings) return;
    const map = parameter === undefined ? this.exact : this.below;
    const entry = { ...surroundings, handler, route: { path: template }, parameter };
    const { byVerb, bound } = map.get(words) ?? {};
    map.set(words, {
      byVerb: { ...byVerb, [asked.verb]: entry },
      bound: bound ?? (entry.middleware.length > 0 ? entry : undefined),
    });
  }

  private forget(): void {
    this.size = this.platform.size();
    this.exact.clear();
    this.below.clear();
    this.known = new WeakSet();
  }

  private isOpen(): boolean {
    return this.platform.size() === this.size && this.platform.isOpen();
  }

  /** @returns whether the request is answered here */
  private serves(request: http.IncomingMessage, response: http.ServerResponse): boolean {
    const { method = '', url = '' } = request;
    const end = url.indexOf('?');
    if (end !== -1 && !PLAIN_QUERY.test(url.slice(end))) return false;
    const path = end === -1 ? url : url.slice(0, end);
    const slash = path.lastIndexOf('/');
    const word = path.slice(slash + 1);
    const exact = this.exact.get(path);
    const below = PLAIN_WORD.test(word) ? this.below.get(path.slice(0, slash)) : undefined;
    const entry =
      method === 'OPTIONS' ? (exact?.bound ?? below?.bound) : (exact?.byVerb[method] ?? below?.byVerb[method]);
    if (!entry || !isFor(entry, word)) return false;
    return method === 'OPTIONS'
      ? this.answersPreflight(entry, request, response)
      : this.answers(entry, word, request, response);
  }

  /** Whatever its body: it is answered before that is read. */
  private answersPreflight(
    { middleware }: Entry,
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): boolean {
    this.platform.sign(response);
    return middleware.some((each) => !each.passes(request as HttpRequest, response, response));
  }

  private answers(
    { handler, middleware, route, parameter, json }: Entry,
    word: string,
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): boolean {
    const { platform } = this;
    const { headers, method = '' } = request;
    if (!handler.isOwn() || platform.mayAnswer(headers)) return false;
    const isBodiless = BODILESS.includes(method);
    if (isBodiless ? !hasNoBody(headers) : !json || !hasPlainBody(headers, json.limit)) return false;

    const plain = new PlainRequest(request, route, parameter === undefined ? NONE : { [parameter]: word });
    const answer = new PlainResponse(response, platform);
    platform.sign(answer);
    for (const each of middleware) each.passes(plain, response, answer);
    if (isBodiless || !json) {
      handler.run(plain, answer);
      return true;
    }
    readBody(request, (body) => {
      try {
        plain.body = json.parse(body);
      } catch (error) {
        plain.unreadable = error;
        if (json.closes) answer.setHeader('connection', 'close');
      }
      handler.run(plain, answer);
    });
    return true;
  }
}

const NONE: Readonly<Record<string, string>> = Object.freeze({});

const isFor = ({ parameter, taken }: Entry, word: string): boolean =>
  parameter === undefined || taken.size === 0 || !taken.has(word.toLowerCase());
