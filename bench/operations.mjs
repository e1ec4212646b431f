/** Operations on products: the requests, sent in turn, and the check of a response before anything is measured. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { rowsOf } from './data.mjs';
import { SECRET } from './dist/0/settings.js';

const PATH = '/api/products';
const DISTINCT = 1_000;
export const JSON_BODY = { 'Content-Type': 'application/json' };
const FIELDS = ['active', 'createdAt', 'description', 'id', 'name', 'price', 'stock'];
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

export const bearer = { Authorization: `Bearer ${makeToken()}` };

/** A token as declarest issues it, valid for a day. */
function makeToken(more = {}) {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Math.floor(Date.now() / 1000);
  const claims = { sub: '1', email: 'ann@shop.example', roles: ['USER'], iat, exp: iat + 86_400, ...more };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}

export const times = (count, request) => Array.from({ length: count }, (_, index) => request(index));
/** Requests for records of the whole table. */
const getRecords = (path, contestant, headers) =>
  times(DISTINCT, (index) => ({
    method: 'GET',
    path: `${path}/${1 + ((index * 7_919) % rowsOf(contestant).products)}`,
    ...(headers && { headers }),
  }));
const getProtected = (contestant, headers) => getRecords('/api/protected/products', contestant, headers);

const product = (index) =>
  JSON.stringify({
    name: `Desk lamp no. ${index}`,
    description: 'Turns and tilts, and is bright enough to read by',
    price: 10 + (index % 977) / 4,
    stock: index % 100,
    active: true,
  });

function checkProduct(data, expected) {
  assert.deepEqual(Object.keys(data).toSorted(), FIELDS);
  assert.match(data.createdAt, DATE);
  assert.deepEqual({ ...data, ...expected }, data);
}

/** Packages with another envelope than that of declarest send the total in other words. */
export function checkTotal({ total, pagination }, expected) {
  assert.equal(total, expected.total);
  if (pagination) assert.deepEqual(pagination, expected);
}

/** `check(data, list, contestant)` receives the record or records, and the total of a list. */
export const PRODUCT_OPERATIONS = {
  findById: {
    title: 'findById',
    status: 200,
    requests: (contestant) => getRecords(PATH, contestant),
    check: (data) => checkProduct(data, { id: 1, name: 'Oak table no. 1', active: true }),
  },
  protected: {
    title: 'protected findById, 100 rules',
    status: 200,
    requests: (contestant) => getProtected(contestant, bearer),
    check: (data) => checkProduct(data, { id: 1, name: 'Oak table no. 1', active: true }),
  },
  page: {
    title: 'page of 20 + total',
    status: 200,
    requests: ({ dialect }) => [{ method: 'GET', path: `${PATH}?${dialect.page(26, 20)}` }],
    check(data, list, contestant) {
      const { products: total } = rowsOf(contestant);
      checkTotal(list, { page: 26, size: 20, total, totalPages: total / 20 });
      assert.equal(data.length, 20);
      data.forEach((each, index) => checkProduct(each, { id: 501 + index }));
    },
  },
  // Measured last, because the tables grow with the speed of each contestant.
  create: {
    title: 'create',
    status: 201,
    requests: () =>
      times(DISTINCT, (index) => ({ method: 'POST', path: PATH, headers: JSON_BODY, body: product(index) })),
    check: (data) => checkProduct(data, JSON.parse(product(0))),
  },
};

/** Sends one request of the operation and checks status and shape of the response. */
export async function checkResponse({ contestant, origin }, { title, status, requests, check }) {
  const [{ method, path, headers, body: sent }] = requests(contestant);
  const response = await fetch(origin + path, { method, headers, body: sent ?? null });
  const text = await response.text();
  try {
    assert.equal(response.status, status);
    assert(response.headers.has('x-content-type-options'), 'security headers are missing');
    const body = JSON.parse(text);
    const { hasEnvelope, read } = contestant.dialect;
    if (hasEnvelope)
      assert.deepEqual([body.success, typeof body.message, typeof body.timestamp], [true, 'string', 'string']);
    const { data, ...list } = read(body);
    check(data, list, contestant);
  } catch (error) {
    throw new Error(`${contestant.name}: ${title}: unexpected response ${response.status} ${text}`, { cause: error });
  }
}

/** A token of a session has its id. */
export const OF_SESSION = {
  ...PRODUCT_OPERATIONS.protected,
  requests: (contestant) =>
    getProtected(contestant, { Authorization: `Bearer ${makeToken({ sid: '0123456789abcdef'.repeat(2) })}` }),
};
