/** 200 exports at once, of clients that read slowly: other requests go on, and every export is complete. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { openSessions } from './client.mjs';
import { kibibytes, mostMemory, watchMemory } from './memory.mjs';
import { probe } from './open-loop.mjs';

const EXPORTS = 200;
const SECONDS = 60;
const MOST_TIMES = 2;

export async function measureSlowExports({ server, send, products }) {
  const sessions = await openSessions(send, 1, 1);
  await probe(send, sessions, 10, products);
  const before = await probe(send, sessions, SECONDS / 2, products);
  const idle = server.rss();
  const end = watchMemory(server, 100);
  const settings = [server.origin, sessions[0].token, EXPORTS, products].map(String);
  const clients = fork(join(import.meta.dirname, 'slow-clients.mjs'), settings);
  // The kernel's buffers take some 5 MB of each export at once, as fast as the service reads them.
  const first = await probe(send, sessions, SECONDS / 2, products);
  const during = await probe(send, sessions, SECONDS, products);
  clients.send('read the rest at once');
  const [open] = await once(clients, 'message');
  const [complete] = await once(clients, 'message');
  const failed = first.failed + during.failed;
  const memory = mostMemory(end()) - idle;
  return [
    {
      title: 'open/complete/failures',
      value: [open, complete, failed],
      required: `${EXPORTS}/${EXPORTS}/0`,
      holds: open === EXPORTS && complete === EXPORTS && failed === 0,
    },
    {
      title: 'p99 of reads before/starting/during (ms)',
      value: [before.p99, first.p99, during.p99],
      required: '≤2×',
      holds: Math.max(first.p99, during.p99) <= MOST_TIMES * before.p99,
    },
    { title: 'KiB of each', value: [kibibytes(memory / EXPORTS)] },
  ];
}
