/** The limit: node:http, and everything by hand. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CORS_HEADERS, PREFLIGHT_HEADERS } from './raw/cors.js';
import { refusalOf } from './raw/refusal.js';
import { create, fail, find, list, remove, search, update, type Answer, type Body } from './raw/service.js';
import { PRODUCTS, PROTECTED, ready } from './settings.js';

const BY_ID = `${PRODUCTS}/`;
const PROTECTED_BY_ID = `${PROTECTED}/`;
const SEARCH = `${PRODUCTS}/search?`;

createServer(serve).listen(0, '127.0.0.1', function (this: { address(): unknown }) {
  ready((this.address() as AddressInfo).port);
});

function serve(request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '' } = request;
  if (method === 'OPTIONS') return void response.writeHead(204, PREFLIGHT_HEADERS).end();
  const answer: Answer = (status, text, headers) => send(response, status, text, headers);
  if (url.startsWith(PROTECTED_BY_ID)) return guarded(request, url, answer);
  if (method === 'GET') {
    if (url.startsWith(SEARCH)) return search(new URLSearchParams(url.slice(SEARCH.length)), answer);
    if (url.startsWith(BY_ID)) return find(url.slice(BY_ID.length), answer);
    if (url === PRODUCTS || url.startsWith(`${PRODUCTS}?`))
      return list(new URLSearchParams(url.slice(PRODUCTS.length)), answer);
  } else if (method === 'POST' && url === PRODUCTS) return readBody(request, (body) => create(body, answer));
  else if (method === 'PUT' && url.startsWith(BY_ID))
    return readBody(request, (body) => update(url.slice(BY_ID.length), body, answer));
  else if (method === 'DELETE' && url.startsWith(BY_ID)) return remove(url.slice(BY_ID.length), answer);
  fail(answer, 404, 'Not Found');
}

function guarded({ headers }: IncomingMessage, url: string, answer: Answer): void {
  const refusal = refusalOf(url, headers.authorization);
  if (refusal) answer(refusal.status, refusal.text, refusal.headers);
  else find(url.slice(PROTECTED_BY_ID.length), answer);
}

function readBody(request: IncomingMessage, done: (body: Body | undefined) => void): void {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => (text += part));
  request.on('end', () => done(parsed(text)));
}

function parsed(text: string): Body | undefined {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, status: number, json: string, headers?: Record<string, string>): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(json),
    ...CORS_HEADERS,
    ...headers,
  });
  response.end(json);
}
