/** 10,000 connections that wait for a next request: what they cost, and when the service closes them. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { openSessions } from './client.mjs';
import { kibibytes } from './memory.mjs';
import { probe } from './open-loop.mjs';

const CONNECTIONS = 10_000;
/** Opened at once: more would overflow the queue of the listening socket where the service is busy. */
const BATCH = 50;
/** Each has 28,000 ports, some of which wait after earlier connections. */
const ADDRESSES = 10;
const PROBE_SECONDS = 20;
/** Node waits a second longer than `keepAliveTimeout`. */
const KEEP_ALIVE_SECONDS = 65;
const LATEST_SECONDS = 70;

/** @throws where this process, and the service that it starts, may not open as many files */
export function requireOpenFiles() {
  const [, limit] = /Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'));
  const least = CONNECTIONS + 500;
  if (Number(limit) < least) throw new Error(`ulimit -n must be at least ${least}, got ${limit}.`);
}

export async function measureIdleConnections({ server, send, products }) {
  const sessions = await openSessions(send, 1, 1);
  await probe(send, sessions, 10, products);
  const before = await probe(send, sessions, PROBE_SECONDS, products);
  const idle = server.rss();
  const connections = [];
  while (connections.length < CONNECTIONS) {
    const address = `127.0.0.${2 + ((connections.length / BATCH) % ADDRESSES)}`;
    const batch = Array.from({ length: BATCH }, () => openConnection(server.origin, address, sessions[0].token));
    await Promise.all(batch.map(({ answered }) => answered));
    connections.push(...batch);
  }
  const memory = server.rss() - idle;
  const during = await probe(send, sessions, PROBE_SECONDS, products);
  const open = connections.filter(({ idleSeconds }) => idleSeconds === undefined).length;
  await Promise.race([Promise.all(connections.map(({ closed }) => closed)), delay(LATEST_SECONDS * 1_000)]);
  const times = connections.map(({ idleSeconds = Infinity }) => idleSeconds);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  return [
    {
      title: 'open/failures',
      value: [open, during.failed],
      required: `${CONNECTIONS}/0`,
      holds: open === CONNECTIONS && during.failed === 0,
    },
    { title: 'KiB of each', value: [kibibytes(memory / CONNECTIONS)] },
    { title: 'p99 of reads before/during (ms)', value: [before.p99, during.p99] },
    {
      title: 'first/last closed after (s)',
      value: [first.toFixed(1), last.toFixed(1)],
      required: `${KEEP_ALIVE_SECONDS}/${LATEST_SECONDS}`,
      holds: first >= KEEP_ALIVE_SECONDS && last <= LATEST_SECONDS,
    },
  ];
}

function openConnection(origin, localAddress, token) {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  const connection = { idleSeconds: undefined };
  let answeredAt = Infinity;
  connection.closed = new Promise((resolve) => {
    socket.once('close', () => {
      connection.idleSeconds = (performance.now() - answeredAt) / 1_000;
      resolve();
    });
  });
  connection.answered = new Promise((resolve) => {
    socket.once('data', (data) => {
      if (data.toString('latin1').startsWith('HTTP/1.1 200')) answeredAt = performance.now();
      else socket.destroy();
      resolve();
    });
    socket.once('close', resolve);
  });
  socket.on('error', ({ message }) => console.log(`  failed: ${message}`));
  socket.write(`GET /api/products/1 HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return connection;
}
