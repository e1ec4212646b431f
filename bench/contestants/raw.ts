/** The limit: node:http, prepared statements, and JSON, routes, rules and checks by hand. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { postgresStore } from './raw/postgres.js';
import { sqliteStore } from './raw/sqlite.js';
import type { Fields, Product } from './raw/store.js';
import { verifiedClaims } from './raw/token.js';
import { rules } from './rules.js';
import { ORIGIN, POSTGRES, PRODUCTS, PROTECTED, ready } from './settings.js';

const store = POSTGRES ? postgresStore() : sqliteStore();
const roles = new Map(rules.map(({ pattern, role }) => [pattern.slice(0, -3), role]));

const BY_ID = `${PRODUCTS}/`;
const PROTECTED_BY_ID = `${PROTECTED}/`;
const SEARCH = `${PRODUCTS}/search?`;
const LOCATION = `${PRODUCTS}/`;

createServer(answer).listen(0, '127.0.0.1', function (this: { address(): unknown }) {
  ready((this.address() as AddressInfo).port);
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '' } = request;
  if (method === 'OPTIONS') return preflight(response);
  if (url.startsWith(PROTECTED_BY_ID)) return guarded(request, response, url);
  if (method === 'GET') {
    if (url.startsWith(SEARCH)) return search(response, new URLSearchParams(url.slice(SEARCH.length)));
    if (url.startsWith(BY_ID)) return found(response, url.slice(BY_ID.length));
    if (url === PRODUCTS || url.startsWith(`${PRODUCTS}?`))
      return list(response, new URLSearchParams(url.slice(PRODUCTS.length)));
  } else if (method === 'POST' && url === PRODUCTS) return create(request, response);
  else if (method === 'PUT' && url.startsWith(BY_ID)) return update(request, response, url.slice(BY_ID.length));
  else if (method === 'DELETE' && url.startsWith(BY_ID)) return remove(response, url.slice(BY_ID.length));
  fail(response, 404, 'Not Found');
}

/** The rules are looked up by the levels of the path. */
function guarded(request: IncomingMessage, response: ServerResponse, url: string): void {
  const claims = verifiedClaims(request.headers.authorization);
  if (!claims) return send(response, 401, '{"error":"Authentication required"}', { 'www-authenticate': 'Bearer' });
  for (let end = url.indexOf('/', 1); end !== -1; end = url.indexOf('/', end + 1)) {
    const role = roles.get(url.slice(0, end));
    if (role && !claims.roles.includes(role)) return send(response, 403, '{"error":"Admin access required"}');
  }
  found(response, url.slice(PROTECTED_BY_ID.length));
}

function found(response: ServerResponse, text: string): void {
  const id = readId(text);
  if (id === undefined) return fail(response, 400, 'Product id is not valid');
  store.byId(id, (product) =>
    product ? sendProduct(response, 200, 'Product found', product) : missing(response, text),
  );
}

function list(response: ServerResponse, query: URLSearchParams): void {
  const [page, size] = pageOf(query);
  store.page(size, (page - 1) * size, (products, total) =>
    sendPage(response, 'Product list', products, page, size, total),
  );
}

function search(response: ServerResponse, query: URLSearchParams): void {
  const [page, size] = pageOf(query);
  store.search(query.get('name') ?? '', size, (page - 1) * size, (products, total) =>
    sendPage(response, 'Product search', products, page, size, total),
  );
}

function create(request: IncomingMessage, response: ServerResponse): void {
  readFields(request, response, (fields) =>
    store.create(fields, (product) => {
      if (!product) return fail(response, 500, 'Internal server error');
      sendProduct(response, 201, 'Product created', product, { location: LOCATION + product.id });
    }),
  );
}

function update(request: IncomingMessage, response: ServerResponse, text: string): void {
  const id = readId(text);
  if (id === undefined) return fail(response, 400, 'Product id is not valid');
  readFields(request, response, (fields) =>
    store.update(id, fields, (product) =>
      product ? sendProduct(response, 200, 'Product updated', product) : missing(response, text),
    ),
  );
}

function remove(response: ServerResponse, text: string): void {
  const id = readId(text);
  if (id === undefined) return fail(response, 400, 'Product id is not valid');
  store.remove(id, (removed) =>
    removed ? send(response, 200, envelope('Product deleted', 'null')) : missing(response, text),
  );
}

function readId(text: string): number | undefined {
  const id = Number(text);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

function pageOf(query: URLSearchParams): [page: number, size: number] {
  return [Number(query.get('page') ?? 1), Math.min(Number(query.get('size') ?? 20), 100)];
}

function readFields(request: IncomingMessage, response: ServerResponse, done: (fields: Fields) => void): void {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => (text += part));
  request.on('end', () => {
    const fields = fieldsOf(text);
    if (fields) done(fields);
    else fail(response, 400, 'Product is not valid');
  });
}

function fieldsOf(text: string): Fields | undefined {
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const { name, description, price, stock, active } = body;
  const valid =
    typeof name === 'string' &&
    name.length <= 120 &&
    typeof description === 'string' &&
    typeof price === 'number' &&
    Number.isInteger(stock) &&
    typeof active === 'boolean';
  return valid ? [name, description, price, stock as number, active] : undefined;
}

function preflight(response: ServerResponse): void {
  response.writeHead(204, {
    'access-control-allow-origin': ORIGIN,
    'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS, PATCH',
    'access-control-allow-headers': 'Content-Type, Authorization, X-Requested-With',
    'access-control-max-age': '600',
    vary: 'Origin',
  });
  response.end();
}

function productJson({ id, name, description, price, stock, active, createdAt }: Product): string {
  const created = typeof createdAt === 'string' ? `${createdAt.replace(' ', 'T')}.000Z` : createdAt.toISOString();
  return `{"id":${id},"name":${JSON.stringify(name)},"description":${JSON.stringify(description)},"price":${price},"stock":${stock},"active":${active ? 'true' : 'false'},"createdAt":"${created}"}`;
}

function sendProduct(response: ServerResponse, status: number, message: string, product: Product, headers = {}): void {
  send(response, status, envelope(message, productJson(product)), headers);
}

function sendPage(
  response: ServerResponse,
  message: string,
  products: Product[],
  page: number,
  size: number,
  total: number,
): void {
  const pagination = `{"page":${page},"size":${size},"total":${total},"totalPages":${Math.ceil(total / size)}}`;
  const data = `[${products.map(productJson).join(',')}]`;
  send(response, 200, envelope(message, data, `,"metadata":{"pagination":${pagination}}`));
}

function envelope(message: string, data: string, metadata = ''): string {
  return `{"success":true,"message":"${message}","data":${data},"timestamp":"${localTimestamp()}"${metadata}}`;
}

function localTimestamp(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}

function missing(response: ServerResponse, id: string): void {
  fail(response, 404, `Product with id ${id} not found`);
}

function fail(response: ServerResponse, status: number, message: string): void {
  send(response, status, JSON.stringify({ success: false, message, timestamp: localTimestamp() }));
}

function send(response: ServerResponse, status: number, json: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(json),
    'access-control-allow-origin': ORIGIN,
    vary: 'Origin',
    ...headers,
  });
  response.end(json);
}
