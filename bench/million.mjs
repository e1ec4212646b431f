/**
 * `node bench/million.mjs`: 1,000,000 rows of PostgreSQL. The last cursor page against the first, the memory of an export
 * of all rows, and a search with and without an index. BENCH_POSTGRES_URL is a server that may create databases.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setInterval, clearInterval } from 'node:timers';
import { installAndUseNode } from './install.mjs';
import { prepare } from './prepare.mjs';

const ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
const SERVER = process.env.BENCH_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const DATABASE = 'declarest_bench_million';
/** One row of 100,000 contains it. */
const RARE = 'zyzzyva';
const MIB = 2 ** 20;

installAndUseNode();
prepare([join(import.meta.dirname, '..')]);
const { startServer } = await import('./server-process.mjs');
const { default: pg } = await import('pg');

const url = new URL(SERVER);
url.pathname = DATABASE;
await query(SERVER, `DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`);
await query(SERVER, `CREATE DATABASE ${DATABASE}`);
try {
  const plain = await start({});
  await fill();
  const pages = await measurePages(plain);
  const memory = await measureExport(plain);
  const scan = await timeSearch(plain, 10);
  await plain.stop();
  const indexed = await start({ BENCH_SEARCH_INDEX: '1' });
  const search = await timeSearch(indexed, 200);
  await indexed.stop();
  print('last cursor page / first', pages.last / pages.first, 1.2, `${ms(pages.last)} / ${ms(pages.first)}`);
  print('MiB above idle in an export', memory, 64, `${ROWS} rows`);
  print('scan / indexed search', scan / search, -50, `${ms(scan)} / ${ms(search)}`);
} finally {
  await query(SERVER, `DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`);
}
process.exit(0);

async function query(address, sql) {
  const client = new pg.Client({ connectionString: String(address) });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

function start(environment) {
  const contestant = { name: 'million', file: 'million.js', adapter: 'fastify', hasOwnData: true };
  return startServer(contestant, { BENCH_POSTGRES_URL: url.href, ...environment });
}

async function fill() {
  const name = `'Entry ' || i || ' ' || md5(i::text) || CASE WHEN i % 100000 = 0 THEN ' ${RARE}' ELSE '' END`;
  await query(url, `INSERT INTO entries (name, amount) SELECT ${name}, i % 1000 FROM generate_series(1, ${ROWS}) AS i`);
  await query(url, 'VACUUM ANALYZE entries');
}

async function get(server, path) {
  const response = await fetch(server.origin + path);
  assert.equal(response.status, 200);
  return response.json();
}

/** Walks to the end, then requests the first and the last page in turn. */
async function measurePages(server) {
  const page = (after) => `/api/entries?pagination=cursor&size=100${after ? `&after=${after}` : ''}`;
  let after;
  for (let next = null, rows = 0; ; after = next) {
    const { data, metadata } = await get(server, page(next));
    ({ next } = metadata.pagination);
    rows += data.length;
    if (next === null) {
      assert.equal(rows, ROWS);
      break;
    }
  }
  const times = { first: [], last: [] };
  for (let index = 0; index < 500; index += 1) {
    times.first.push(await timed(() => get(server, page())));
    times.last.push(await timed(() => get(server, page(after))));
  }
  return { first: median(times.first), last: median(times.last) };
}

/** The most resident memory above that before the export. */
async function measureExport(server) {
  const idle = server.rss();
  let most = idle;
  const timer = setInterval(() => (most = Math.max(most, server.rss())), 20);
  const response = await fetch(`${server.origin}/api/entries/export?format=ndjson`);
  let lines = 0;
  for await (const chunk of response.body) for (const byte of chunk) if (byte === 10) lines += 1;
  clearInterval(timer);
  assert.equal(lines, ROWS);
  return (most - idle) / MIB;
}

async function timeSearch(server, times) {
  const samples = [];
  for (let index = 0; index < times; index += 1)
    samples.push(
      await timed(async () => {
        const { data } = await get(server, `/api/entries/search?name=${RARE}`);
        assert.equal(data.length, Math.floor(ROWS / 100_000));
      }),
    );
  return median(samples);
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(samples) {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)];
}

function ms(milliseconds) {
  return `${milliseconds.toPrecision(3)} ms`;
}

/** @param limit the most; negative: the least */
function print(title, value, limit, detail) {
  const holds = limit < 0 ? value >= -limit : value <= limit;
  const required = limit < 0 ? `at least ${-limit}` : `at most ${limit}`;
  console.log(`${title}: ${value.toPrecision(3)} (${detail}); ${required}: ${holds ? 'holds' : 'MISSED'}`);
}
