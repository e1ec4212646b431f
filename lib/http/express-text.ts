/** How Express writes an answer that knows its JSON. */
import type { ServerResponse } from 'node:http';
import { compileEtag, type EtagSettings } from './express-etag.js';
import { textOf, type WriteText } from './json-answer.js';

interface ExpressResponse extends ServerResponse {
  get(name: string): unknown;
  set(name: string, value: string): unknown;
  readonly header: unknown;
  readonly type: unknown;
  readonly status: unknown;
  json(this: ExpressResponse, body: unknown): unknown;
  send(this: ExpressResponse, body: string): unknown;
}
interface ExpressApplication extends EtagSettings {
  readonly response: ExpressResponse;
}

/** Those that change how Express writes JSON. */
const JSON_SETTINGS = ['json escape', 'json replacer', 'json spaces'];

/** On the prototype of its responses: a middleware that puts a `json` of its own before it still sees the object. */
export function watchExpress(application: ExpressApplication): WriteText {
  const { response, settings } = application;
  const { json } = response;
  // A tool has put its own there before the boot.
  if (json.name !== 'json' || response.send.name !== 'send') return () => false;
  const etagOf = compileEtag(application);
  // What Express's `send` calls, and what a middleware may have put its own before.
  const { send, get, set, header, type, status, setHeader, writeHead, write, end } = response;
  const isUntouched = (asked: ExpressResponse): boolean =>
    asked.send === send &&
    asked.get === get &&
    asked.set === set &&
    asked.header === header &&
    asked.type === type &&
    asked.status === status &&
    asked.setHeader === setHeader &&
    asked.writeHead === writeHead &&
    asked.write === write &&
    asked.end === end;
  const writesPlainJson = (): boolean => !JSON_SETTINGS.some((name) => settings[name]);

  const jsonOfTexts = function (this: ExpressResponse, body: unknown): unknown {
    const text = writesPlainJson() ? textOf(body) : undefined;
    if (text === undefined) return json.call(this, body);
    if (isUntouched(this) && isPlain(this, this.statusCode)) return endWith(this, text, etagOf);
    if (!this.get('Content-Type')) this.set('Content-Type', 'application/json');
    return this.send(text);
  };
  response.json = jsonOfTexts;

  return (asked: ExpressResponse, draft, code) => {
    if (asked.json !== jsonOfTexts || !writesPlainJson() || !isUntouched(asked) || !isPlain(asked, code)) return false;
    const text = draft.text();
    if (text === undefined) return false;
    asked.statusCode = code;
    endWith(asked, text, etagOf);
    return true;
  };
}

/** Whether there is nothing for `send` to decide, which parses and writes the type, and asks for every header. */
const isPlain = (response: ExpressResponse, status: number): boolean =>
  PLAIN_STATUSES.includes(status) &&
  !DECIDING_HEADERS.some((name) => response.hasHeader(name)) &&
  !CONDITIONS.some((name) => response.req.headers[name] !== undefined);

const PLAIN_STATUSES = [200, 201, 401, 403];
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
