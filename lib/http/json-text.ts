/**
 * Answers that know their own JSON. They are objects to whoever looks at them, such as an interceptor; to the platform,
 * which would walk through them, they are a text.
 */
import type { ServerResponse } from 'node:http';
import { HttpAdapterHost } from '@nestjs/core';
import { declaredRoute } from '../routing/declared-route.js';
import { RouteTable } from '../routing/route-table.js';
import { compileEtag, type EtagSettings } from './express-etag.js';

/** Under which such an answer keeps what knows it. */
export const JSON_TEXT = Symbol('declarest.jsonText');

export interface JsonText {
  /** @returns `undefined` where the object has to be walked through after all */
  textOf(answer: object): string | undefined;
}

/** The JSON of an answer that knows it. */
export const textOf = (body: unknown): string | undefined =>
  (body as { readonly [JSON_TEXT]?: JsonText } | null | undefined)?.[JSON_TEXT]?.textOf(body as object);

/** To be called from the constructor of a provider, before any route exists. */
export function sendJsonTexts(host: HttpAdapterHost): void {
  RouteTable.watch(host, (table) => {
    const { httpAdapter } = host;
    if (telling.has(httpAdapter)) return;
    telling.add(httpAdapter);
    if (httpAdapter.getType() === 'fastify') tellFastify(table, httpAdapter.getInstance<FastifyInstance>());
    else tellExpress(httpAdapter.getInstance<ExpressApplication>());
  });
}

const telling = new WeakSet<object>();

interface ExpressResponse extends ServerResponse {
  get(name: string): unknown;
  set(name: string, value: string): unknown;
  json(this: ExpressResponse, body: unknown): unknown;
  send(this: ExpressResponse, body: string): unknown;
}
interface ExpressApplication extends EtagSettings {
  readonly response: ExpressResponse;
}

/** Those that change how Express writes JSON. */
const JSON_SETTINGS = ['json escape', 'json replacer', 'json spaces'];

/** On the prototype of its responses: a middleware that puts a `json` of its own before it still sees the object. */
function tellExpress(application: ExpressApplication): void {
  const { response, settings } = application;
  const { json } = response;
  const etagOf = compileEtag(application);
  const methods = WRITING.map((name) => [name, response[name as keyof ExpressResponse]] as const);
  const isUntouched = (asked: ExpressResponse): boolean =>
    methods.every(([name, method]) => asked[name as keyof ExpressResponse] === method);

  response.json = function (body): unknown {
    const text = JSON_SETTINGS.some((name) => settings[name]) ? undefined : textOf(body);
    if (text === undefined) return json.call(this, body);
    if (isUntouched(this) && isPlain(this)) return endWith(this, text, etagOf);
    if (!this.get('Content-Type')) this.set('Content-Type', 'application/json');
    return this.send(text);
  };
}

/** What Express's `send` calls, and what a middleware may have put its own before. */
const WRITING = ['send', 'get', 'set', 'header', 'type', 'status', 'setHeader', 'writeHead', 'write', 'end'];

/** Whether there is nothing for `send` to decide, which parses and writes the type, and asks for every header. */
const isPlain = (response: ExpressResponse): boolean =>
  (response.statusCode === 200 || response.statusCode === 201) &&
  !DECIDING_HEADERS.some((name) => response.hasHeader(name)) &&
  !CONDITIONS.some((name) => response.req.headers[name] !== undefined);

const DECIDING_HEADERS = ['content-type', 'transfer-encoding', 'etag'];
const CONDITIONS = ['if-none-match', 'if-modified-since'];

/** What `send` does. It writes the head and a buffer; a text goes out with the head, as one. */
function endWith(response: ExpressResponse, text: string, etagOf: ReturnType<typeof compileEtag>): ExpressResponse {
  const length = Buffer.byteLength(text);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', length);
  const etag = etagOf(text, length);
  if (etag) response.setHeader('ETag', etag);
  return response.req.method === 'HEAD' ? response.end() : response.end(text, 'utf8');
}

interface FastifyRoute {
  readonly url: string;
  schema?: { readonly response?: unknown };
  serializerCompiler?: unknown;
}
interface FastifyInstance {
  addHook(name: 'onRoute', hook: (options: FastifyRoute) => void): void;
}

/** As Fastify's documentation gives a route a serializer of its own: hooks, and serializers that are set elsewhere, stay before it. */
function tellFastify(table: RouteTable, instance: FastifyInstance): void {
  instance.addHook('onRoute', (options) => {
    const route = table.registering(options.url);
    const isOurs = route !== undefined && declaredRoute(route.handler) !== undefined;
    if (!isOurs || options.schema?.response || options.serializerCompiler) return;
    options.schema = { ...options.schema, response: { '2xx': {} } };
    options.serializerCompiler = () => (body: unknown) => textOf(body) ?? JSON.stringify(body);
  });
}
