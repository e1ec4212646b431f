/** The operations: the requests, sent in turn, and the check of a response before anything is measured. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { ROWS, SEARCHED_WORD } from './data.mjs';
import { SECRET } from './dist/settings.js';

const DISTINCT = 1_000;
export const JSON_BODY = { 'Content-Type': 'application/json' };
const FIELDS = ['active', 'createdAt', 'description', 'id', 'name', 'price', 'stock'];
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

export const bearer = { Authorization: `Bearer ${makeToken()}` };

/** A token as declarest issues it, valid for a day. */
function makeToken() {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Math.floor(Date.now() / 1000);
  const claims = { sub: '1', email: 'ann@shop.example', roles: ['USER'], iat, exp: iat + 86_400 };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}

export const times = (count, request) => Array.from({ length: count }, (_, index) => request(index));
/** Identifiers from the whole table. */
const id = (index) => 1 + ((index * 7_919) % ROWS);
const protectedById = (index, headers) => ({ method: 'GET', path: `/api/protected/products/${id(index)}`, headers });

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

/** A page of 20 records with these identifiers; peers have the total elsewhere. */
const checkPage = (page, total, idOf) => (data, body) => {
  assert.equal(data.length, 20);
  data.forEach((each, index) => checkProduct(each, { id: idOf(index) }));
  if (body.metadata) assert.deepEqual(body.metadata.pagination, { page, size: 20, total, totalPages: total / 20 });
  else assert.equal(body.total, total);
};

/** `check(data, body)` receives the record or records and the whole body. */
export const OPERATIONS = {
  findById: {
    title: 'findById',
    status: 200,
    requests: ({ path }) => times(DISTINCT, (index) => ({ method: 'GET', path: `${path}/${id(index)}` })),
    check: (data) => checkProduct(data, { id: 1, name: 'oak table no. 1', active: true }),
  },
  protected: {
    title: 'protected findById, 100 rules',
    status: 200,
    requests: () => times(DISTINCT, (index) => protectedById(index, bearer)),
    check: (data) => checkProduct(data, { id: 1, name: 'oak table no. 1', active: true }),
  },
  page: {
    title: 'page of 20 + total',
    status: 200,
    requests: ({ page }) => [{ method: 'GET', path: page(26, 20) }],
    check: checkPage(26, ROWS, (index) => 501 + index),
  },
  deepPage: {
    title: 'page of 20 + total, offset 90,000',
    status: 200,
    requests: ({ page }) => [{ method: 'GET', path: page(4_501, 20) }],
    check: checkPage(4_501, ROWS, (index) => 90_001 + index),
  },
  search: {
    title: 'search: contains, with total',
    status: 200,
    requests: ({ search }) => [{ method: 'GET', path: search(SEARCHED_WORD) }],
    check: checkPage(1, ROWS / 200, (index) => 200 * (index + 1)),
  },
  anonymous: {
    title: '401 without a token',
    status: 401,
    requests: () => times(DISTINCT, (index) => protectedById(index, {})),
    check: () => {},
  },
  update: {
    title: 'update',
    status: 200,
    /** A record gets other values whenever its turn comes, so that TypeORM always has something to write. */
    requests: ({ path, updateMethod }) =>
      times(10 * DISTINCT, (index) => ({
        method: updateMethod,
        path: `${path}/${id(index % DISTINCT)}`,
        headers: JSON_BODY,
        body: product(index),
      })),
    check: (data) => checkProduct(data, { id: 1, ...JSON.parse(product(0)) }),
  },
  // Measured last, because the tables grow with the speed of each contestant.
  create: {
    title: 'create',
    status: 201,
    requests: ({ path }) =>
      times(DISTINCT, (index) => ({ method: 'POST', path, headers: JSON_BODY, body: product(index) })),
    check: (data) => checkProduct(data, JSON.parse(product(0))),
  },
};

/** Sends one request of the operation and checks status and shape of the response. */
export async function checkResponse({ contestant, origin }, { title, status, requests, check }) {
  const [{ method, path, headers, body: sent }] = requests(contestant.routes);
  const response = await fetch(origin + path, { method, headers, body: sent ?? null });
  const text = await response.text();
  try {
    assert.equal(response.status, status);
    const body = JSON.parse(text);
    if (status < 400 && !contestant.isPeer) {
      assert.deepEqual([body.success, typeof body.message, typeof body.timestamp], [true, 'string', 'string']);
      assert.notEqual(body.data, undefined);
    }
    check(Array.isArray(body.data) || !contestant.isPeer ? body.data : body, body);
    return response;
  } catch (error) {
    throw new Error(`${contestant.name}: ${title}: unexpected response ${response.status} ${text}`, { cause: error });
  }
}
