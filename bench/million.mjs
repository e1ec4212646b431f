/**
 * `node bench/million.mjs`: 1,000,000 rows of PostgreSQL. The time of an import against single requests, the memory of an
 * import and an export of all rows, the last cursor page against the first, and a search with and without an index.
 * BENCH_POSTGRES_URL is a server that may create databases.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setInterval, clearInterval } from 'node:timers';
import { installAndUseNode } from './install.mjs';
import { prepare } from './prepare.mjs';

const ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
const SERVER = process.env.BENCH_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const DATABASE = 'declarest_bench_million';
/** How many rows are stored one by one, to compare with their import. */
const FEW = Math.min(10_000, ROWS);
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
  const first = await start({});
  const single = await timed(() => createEach(first));
  await query(url, 'TRUNCATE entries RESTART IDENTITY');
  const all = await timed(() => importRows(first, FEW, 'true'));
  await first.stop();
  await query(url, 'TRUNCATE entries RESTART IDENTITY');
  const plain = await start({});
  const imported = await measureMemory(plain, () => importRows(plain, ROWS, 'false'));
  await query(url, 'VACUUM ANALYZE entries');
  const pages = await measurePages(plain);
  const exported = await measureMemory(plain, () => readExport(plain));
  const scan = await timeSearch(plain, 10);
  await plain.stop();
  const indexed = await start({ BENCH_SEARCH_INDEX: '1' });
  const search = await timeSearch(indexed, 200);
  await indexed.stop();
  print('last cursor page / first', pages.last / pages.first, 1.2, `${ms(pages.last)} / ${ms(pages.first)}`);
  print(`${FEW} rows one by one / imported`, single / all, -10, `${ms(single)} / ${ms(all)}`);
  print(
    'MiB in an import',
    imported.most,
    300,
    `${ROWS} rows in ${ms(imported.time)}, ${imported.idle.toFixed()} MiB before`,
  );
  print('MiB above idle in an export', exported.most - exported.idle, 64, `${ROWS} rows`);
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

function entry(index) {
  const hash = createHash('md5').update(String(index)).digest('hex');
  return { name: `Entry ${index} ${hash}${index % 100_000 === 0 ? ` ${RARE}` : ''}`, amount: index % 1000 };
}

async function createEach(server) {
  for (let index = 1; index <= FEW; index += 1) {
    const body = JSON.stringify(entry(index));
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${server.origin}/api/entries`, { method: 'POST', headers, body });
    assert.equal(response.status, 201);
    await response.arrayBuffer();
  }
}

async function importRows(server, rows, atomic) {
  async function* lines() {
    for (let index = 1; index <= rows; index += 1_000) {
      const part = Array.from({ length: Math.min(1_000, rows - index + 1) }, (_, place) => entry(index + place));
      yield part.map((each) => `${JSON.stringify(each)}\n`).join('');
    }
  }
  const response = await fetch(`${server.origin}/api/entries/import?atomic=${atomic}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: ReadableStream.from(lines()).pipeThrough(new TextEncoderStream()),
    duplex: 'half',
  });
  assert.equal(response.status, 200);
  let results = 0;
  for await (const text of response.body.pipeThrough(new TextDecoderStream()))
    results += text.split('"status":201').length - 1;
  // A result may lie on the border of two chunks.
  assert.ok(results > rows * 0.9, `${results} of ${rows} rows were stored`);
  const { data } = await get(server, '/api/entries/count');
  assert.equal(data.count, rows);
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

/** The resident memory before, and the most while the work runs, in MiB. */
async function measureMemory(server, work) {
  const idle = server.rss();
  let most = idle;
  const timer = setInterval(() => (most = Math.max(most, server.rss())), 20);
  const time = await timed(work);
  clearInterval(timer);
  return { idle: idle / MIB, most: most / MIB, time };
}

async function readExport(server) {
  const response = await fetch(`${server.origin}/api/entries/export?format=ndjson`);
  let lines = 0;
  for await (const chunk of response.body) for (const byte of chunk) if (byte === 10) lines += 1;
  assert.equal(lines, ROWS);
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
