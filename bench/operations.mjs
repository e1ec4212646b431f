/** What is asked: for each operation the requests that are sent in turn, and the status of their answers. */
import { RESERVE_FROM, ROWS, SEARCHED_WORD } from './data.mjs';
import { token } from './token.mjs';

const JSON_BODY = { 'Content-Type': 'application/json' };
const DISTINCT = 1_000;
/** More than anybody deletes in a second. */
const DELETED_PER_SECOND = 60_000;

const valid = { Authorization: `Bearer ${token(24)}` };
const expired = { Authorization: `Bearer ${token(-1)}` };
const preflight = {
  Origin: 'https://shop.example',
  'Access-Control-Request-Method': 'PUT',
  'Access-Control-Request-Headers': 'content-type',
};

const times = (count, request) => Array.from({ length: count }, (_, index) => request(index));
/** Records from all over the table. */
const id = (index) => 1 + ((index * 7_919) % ROWS);

export const product = (index) =>
  JSON.stringify({
    name: `Desk lamp no. ${index}`,
    description: 'Turns and tilts, and is bright enough to read by',
    price: 10 + (index % 977) / 4,
    stock: index % 100,
    active: true,
  });

export const OPERATIONS = {
  findById: {
    title: 'findById',
    status: 200,
    requests: ({ byId }) => times(DISTINCT, (index) => ({ method: 'GET', path: byId(id(index)) })),
  },
  protected: {
    title: 'findById with a token and 100 rules',
    status: 200,
    requests: () => times(DISTINCT, (index) => protectedById(id(index), valid)),
  },
  anonymous: {
    title: '401: no token',
    status: 401,
    requests: () => times(DISTINCT, (index) => protectedById(id(index), {})),
  },
  expired: {
    title: '401: expired token',
    status: 401,
    requests: () => times(DISTINCT, (index) => protectedById(id(index), expired)),
  },
  preflight: {
    title: 'preflight',
    status: 204,
    requests: ({ byId }) => [{ method: 'OPTIONS', path: byId(1), headers: preflight }],
  },
  page: {
    title: 'page of 20 with total, offset 500',
    status: 200,
    requests: ({ page }) => [{ method: 'GET', path: page(26, 20) }],
  },
  deep: {
    title: 'page of 20 with total, offset 90,000',
    status: 200,
    requests: ({ page }) => [{ method: 'GET', path: page(4_501, 20) }],
  },
  search: {
    title: 'search: contains, with total',
    status: 200,
    requests: ({ search }) => [{ method: 'GET', path: search(SEARCHED_WORD) }],
  },
  update: {
    title: 'update',
    status: 200,
    /** Whenever a record's turn comes it gets other values, so that nobody finds that there is nothing to write. */
    requests: ({ byId, updateMethod }) =>
      times(10 * DISTINCT, (index) => ({
        method: updateMethod,
        path: byId(id(index % DISTINCT)),
        headers: JSON_BODY,
        body: product(index),
      })),
  },
  delete: {
    title: 'delete',
    status: 200,
    /** Rows to be deleted are put there before each load. */
    reserve: (seconds) => Math.ceil(DELETED_PER_SECOND * seconds),
    requests: ({ byId }, seconds) =>
      times(OPERATIONS.delete.reserve(seconds), (index) => ({ method: 'DELETE', path: byId(RESERVE_FROM + index) })),
  },
  // The last: it makes the tables grow, each at the speed of its contestant.
  create: {
    title: 'create',
    status: 201,
    /** What the database makes up. */
    generated: ['id', 'createdAt'],
    requests: ({ byId }) => {
      const path = byId('').slice(0, -1);
      return times(DISTINCT, (index) => ({ method: 'POST', path, headers: JSON_BODY, body: product(index) }));
    },
  },
};

/** On a server the database limits pages and searches, not the framework. */
export const POSTGRES_OPERATIONS = ['findById', 'update', 'create'];

export function protectedById(key, headers = valid) {
  return { method: 'GET', path: `/api/protected/products/${key}`, headers };
}
