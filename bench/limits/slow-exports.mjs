/** 200 exports at once, of clients that read slowly: other requests go on, and every export is complete. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { openSessions } from './client.mjs';
import { kibibytes, mostMemory, watchMemory } from './memory.mjs';
import { probe } from './open-loop.mjs';

const EXPORTS = 200;
const BEGUN_PER_SECOND = 10;
const BYTES_PER_SECOND = 32 * 1024;
const SECONDS = 60;
const MOST_TIMES = 2;
const NEWLINE = 10;

export async function measureSlowExports({ server, send, products }) {
  const sessions = await openSessions(send, 1, 1);
  await probe(send, sessions, 10, products);
  const before = await probe(send, sessions, SECONDS / 2, products);
  const idle = server.rss();
  const end = watchMemory(server, 100);
  const clients = { areSlow: true, reading: 0 };
  const exports = beginExports(server.origin, sessions[0].token, clients);
  const during = await probe(send, sessions, SECONDS, products);
  const open = clients.reading;
  clients.areSlow = false;
  const complete = (await Promise.all(await exports)).filter((lines) => lines === products).length;
  const memory = mostMemory(end()) - idle;
  return [
    {
      title: 'open/complete/failures',
      value: [open, complete, during.failed],
      required: `${EXPORTS}/${EXPORTS}/0`,
      holds: open === EXPORTS && complete === EXPORTS && during.failed === 0,
    },
    {
      title: 'p99 of reads before/during (ms)',
      value: [before.p99, during.p99],
      required: '≤2×',
      holds: during.p99 <= MOST_TIMES * before.p99,
    },
    { title: 'KiB of each', value: [kibibytes(memory / EXPORTS)] },
  ];
}

async function beginExports(origin, token, clients) {
  const exports = [];
  for (let number = 0; number < EXPORTS; number += 1) {
    exports.push(countLines(origin, token, clients));
    await delay(1_000 / BEGUN_PER_SECOND);
  }
  return exports;
}

/** @returns the lines of a whole export; `undefined` where its end is missing */
async function countLines(origin, token, clients) {
  let lines = 0;
  try {
    const path = `${origin}/api/products/export?format=ndjson`;
    const sent = request(path, { agent: new Agent(), headers: { Authorization: `Bearer ${token}` } }).end();
    const [response] = await once(sent, 'response');
    clients.reading += 1;
    for await (const chunk of response) {
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
      if (clients.areSlow) await delay((chunk.length / BYTES_PER_SECOND) * 1_000);
    }
    return lines;
  } catch (error) {
    console.log(`  failed: ${error.message}`);
    return undefined;
  } finally {
    clients.reading -= 1;
  }
}
