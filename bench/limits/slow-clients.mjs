/**
 * Clients that read an export slowly, in a process of their own: collecting their garbage would delay the reads that
 * `slow-exports.mjs` times. Posts how many are reading, and at the end how many exports were complete.
 */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const BEGUN_PER_SECOND = 10;
const BYTES_PER_SECOND = 32 * 1024;
const NEWLINE = 10;

const [origin, token, exports, lines] = process.argv.slice(2);
let reading = 0;
let areSlow = true;

process.on('message', () => {
  process.send(reading);
  areSlow = false;
});

const counts = [];
for (let number = 0; number < Number(exports); number += 1) {
  counts.push(countLines());
  await delay(1_000 / BEGUN_PER_SECOND);
}
process.send((await Promise.all(counts)).filter((count) => count === Number(lines)).length);
process.disconnect();

/** @returns the lines of a whole export; `undefined` where its end is missing */
async function countLines() {
  let count = 0;
  try {
    const path = `${origin}/api/products/export?format=ndjson`;
    const sent = request(path, { agent: new Agent(), headers: { Authorization: `Bearer ${token}` } }).end();
    const [response] = await once(sent, 'response');
    reading += 1;
    for await (const chunk of response) {
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) count += 1;
      if (areSlow) await delay((chunk.length / BYTES_PER_SECOND) * 1_000);
    }
    return count;
  } catch (error) {
    console.log(`  failed: ${error.message}`);
    return undefined;
  } finally {
    reading -= 1;
  }
}
