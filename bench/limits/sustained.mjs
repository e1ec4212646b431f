/** Every kind of request at a constant rate for a long time: nothing fails, and memory does not grow. */
import { randomInt, randomUUID } from 'node:crypto';
import { logIn, openSessions } from './client.mjs';
import { fitLine, mebibytes, watchMemory } from './memory.mjs';
import { percentile, sendAtRate } from './open-loop.mjs';

const RATE = 100;
const USERS = 20;
const SESSIONS_OF_EACH = 2;
/** So many orders are kept, the older ones deleted. */
const ORDERS = 200;
const MOST_GROWTH = 1.05;

/** How many of 400 requests. A login computes for 0.3 s. */
const MIX = {
  read: 166,
  list: 72,
  me: 16,
  create: 40,
  repeat: 12,
  patch: 32,
  remove: 40,
  refresh: 14,
  login: 1,
  logout: 1,
  guess: 2,
  export: 4,
};
/** 149 has no divisor in common with 400, so that the requests of a kind are spread. */
const KINDS = Object.entries(MIX).flatMap(([kind, share]) => Array(share).fill(kind));
const kindOf = (number) => KINDS[(number * 149) % KINDS.length];

export async function measureSustained({ server, send, products }, minutes) {
  const sessions = await openSessions(send, USERS, SESSIONS_OF_EACH);
  const answers = { 401: 0, 429: 0 };
  const requests = requestsOf(send, sessions, products, answers);
  const end = watchMemory(server, 1_000);
  const { times, failed } = await sendAtRate(RATE, minutes * 60, requests, kindOf);
  const samples = end();
  const [before, after] = fitLine(samples.slice(Math.floor(samples.length / 4)));
  const reads = [...times.read, ...times.list, ...times.me];
  return [
    { title: `failures in ${minutes} minutes`, value: [failed], required: 0, holds: failed === 0 },
    {
      title: 'MiB after a quarter/at the end',
      value: [mebibytes(before), mebibytes(after)],
      required: '≤+5%',
      holds: after <= MOST_GROWTH * before,
    },
    { title: 'p50/p99 of reads (ms)', value: [0.5, 0.99].map((share) => percentile(reads, share).toFixed(1)) },
    {
      title: 'wrong passwords 401/429',
      value: [answers[401], answers[429]],
      required: 'both',
      holds: answers[401] > 0 && answers[429] > 0,
    },
  ];
}

function requestsOf(send, sessions, products, answers) {
  const orders = [];
  let latest;
  const someSession = () => sessions[randomInt(sessions.length)];
  const read = () => send('GET', `/api/products/${randomInt(products) + 1}`, someSession());
  const create = async (session, headers, status = 201) => {
    const json = { product: 'Oak table', amount: 1 };
    return send('POST', '/api/orders', { ...session, json, headers, status });
  };
  return {
    read,
    list: () =>
      send('GET', `/api/products?filter[stock]=${randomInt(100)}&size=20&page=${randomInt(20) + 1}`, someSession()),
    me: () => send('GET', '/api/auth/me', someSession()),
    async create() {
      const session = someSession();
      const headers = { 'Idempotency-Key': randomUUID() };
      const { text } = await create(session, headers);
      latest = { id: JSON.parse(text).data.id, session, headers };
      orders.push(latest);
    },
    /** Once: two repeats at the same time are 409. */
    async repeat() {
      const order = latest;
      if (!order) return read();
      latest = undefined;
      const { headers, text } = await create(order.session, order.headers);
      if (headers['idempotency-replayed'] !== 'true' || JSON.parse(text).data.id !== order.id)
        throw new Error('A repeated POST was not answered with the stored answer');
    },
    patch: () => {
      const order = orders.at(-1);
      if (!order) return read();
      return send('PATCH', `/api/orders/${order.id}`, { ...order.session, json: { amount: randomInt(100) } });
    },
    remove: () => {
      if (orders.length < ORDERS) return read();
      const { id, session } = orders.shift();
      return send('DELETE', `/api/orders/${id}`, session);
    },
    /** A session that is refreshed or ended serves no other request. */
    async refresh() {
      const session = sessions.shift();
      const { refreshToken } = session;
      const { text } = await send('POST', '/api/auth/refresh', { json: { refreshToken } });
      const { data } = JSON.parse(text);
      sessions.push(Object.assign(session, { token: data.token, refreshToken: data.refreshToken }));
    },
    login: async () => void sessions.push(await logIn(send, someSession())),
    logout: () => send('POST', '/api/auth/logout', { ...sessions.shift(), status: 204 }),
    /** Half of them are for one account from one address, which meets the limit, half for others. */
    async guess() {
      const number = randomInt(2) && randomInt(1_000_000);
      const json = { email: `guessed-${number}@shop.example`, password: 'wrong horse battery' };
      const headers = { 'X-Forwarded-For': `10.1.${(number >> 8) & 255}.${number & 255}` };
      const answer = await send('POST', '/api/auth/login', { json, headers, status: [401, 429] });
      if (answer.status === 429 && !answer.headers['retry-after']) throw new Error('429 without Retry-After');
      answers[answer.status] += 1;
    },
    export: async () => {
      const path = '/api/products/export?format=ndjson&filter[stock]=7';
      const { text } = await send('GET', path, someSession());
      if (text.split('\n').length - 1 !== products / 100) throw new Error('An export is not complete');
    },
  };
}
