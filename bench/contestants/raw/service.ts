/** The service without HTTP: prepared statements, checks and JSON by hand, for this one table. */
import { POSTGRES, PRODUCTS } from '../settings.js';
import { postgresStore } from './postgres.js';
import { sqliteStore } from './sqlite.js';
import type { Fields, Product } from './store.js';

/** Called once. */
export type Answer = (status: number, text: string, headers?: Record<string, string>) => void;
export type Body = Record<string, unknown>;
interface Query {
  get(name: string): string | null;
}

const store = POSTGRES ? postgresStore() : sqliteStore();

export function find(text: string, answer: Answer): void {
  const id = readId(text);
  if (id === undefined) return fail(answer, 400, 'Product id is not valid');
  store.byId(id, (product) => (product ? answer(200, productAnswer('Product found', product)) : missing(answer, text)));
}

export function list(query: Query, answer: Answer): void {
  const [page, size] = pageOf(query);
  store.page(size, (page - 1) * size, (products, total) =>
    answer(200, pageAnswer('Product list', products, page, size, total)),
  );
}

export function search(query: Query, answer: Answer): void {
  const [page, size] = pageOf(query);
  store.search(query.get('name') ?? '', size, (page - 1) * size, (products, total) =>
    answer(200, pageAnswer('Product search', products, page, size, total)),
  );
}

/** @param body `undefined` where it is no JSON */
export function create(body: Body | undefined, answer: Answer): void {
  const fields = body && fieldsOf(body);
  if (!fields) return fail(answer, 400, 'Product is not valid');
  store.create(fields, (product) => {
    if (!product) return fail(answer, 500, 'Internal server error');
    answer(201, productAnswer('Product created', product), { location: `${PRODUCTS}/${product.id}` });
  });
}

export function update(text: string, body: Body | undefined, answer: Answer): void {
  const id = readId(text);
  if (id === undefined) return fail(answer, 400, 'Product id is not valid');
  const fields = body && fieldsOf(body);
  if (!fields) return fail(answer, 400, 'Product is not valid');
  store.update(id, fields, (product) =>
    product ? answer(200, productAnswer('Product updated', product)) : missing(answer, text),
  );
}

export function remove(text: string, answer: Answer): void {
  const id = readId(text);
  if (id === undefined) return fail(answer, 400, 'Product id is not valid');
  store.remove(id, (removed) => (removed ? answer(200, envelope('Product deleted', 'null')) : missing(answer, text)));
}

export function fail(answer: Answer, status: number, message: string): void {
  answer(status, JSON.stringify({ success: false, message, timestamp: localTimestamp() }));
}

function missing(answer: Answer, id: string): void {
  fail(answer, 404, `Product with id ${id} not found`);
}

function readId(text: string): number | undefined {
  const id = Number(text);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

function pageOf(query: Query): [page: number, size: number] {
  return [Number(query.get('page') ?? 1), Math.min(Number(query.get('size') ?? 20), 100)];
}

function fieldsOf({ name, description, price, stock, active }: Body): Fields | undefined {
  const valid =
    typeof name === 'string' &&
    name.length <= 120 &&
    typeof description === 'string' &&
    typeof price === 'number' &&
    Number.isInteger(stock) &&
    typeof active === 'boolean';
  return valid ? [name, description, price, stock as number, active] : undefined;
}

function productJson({ id, name, description, price, stock, active, createdAt }: Product): string {
  const created = typeof createdAt === 'string' ? `${createdAt.replace(' ', 'T')}.000Z` : createdAt.toISOString();
  return `{"id":${id},"name":${JSON.stringify(name)},"description":${JSON.stringify(description)},"price":${price},"stock":${stock},"active":${active ? 'true' : 'false'},"createdAt":"${created}"}`;
}

function productAnswer(message: string, product: Product): string {
  return envelope(message, productJson(product));
}

function pageAnswer(message: string, products: Product[], page: number, size: number, total: number): string {
  const pagination = `{"page":${page},"size":${size},"total":${total},"totalPages":${Math.ceil(total / size)}}`;
  return envelope(message, `[${products.map(productJson).join(',')}]`, `,"metadata":{"pagination":${pagination}}`);
}

function envelope(message: string, data: string, metadata = ''): string {
  return `{"success":true,"message":"${message}","data":${data},"timestamp":"${localTimestamp()}"${metadata}}`;
}

function localTimestamp(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}
