/** Reads beside logins: a hundred GETs a second, whether or not the earlier ones were answered, alone and beside eight logins. */
import { Agent, request as send } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { USER } from './data.mjs';
import { LOAD_CORE, SERVER_CORE } from './machine.mjs';
import { startServer } from './server-process.mjs';
import { median, spread } from './statistics.mjs';

const LOGINS = 8;
const READS_PER_SECOND = 100;

/** One row for each contestant. */
export async function measureLogin(contestants, database, { rounds, seconds }) {
  const servers = [];
  for (const contestant of contestants) {
    const env = { BENCH_DATABASE: database(`login-${contestant.name}`) };
    // bcrypt's threads want more than the one core.
    servers.push(await startServer(contestant, env, `${SERVER_CORE},${LOAD_CORE}`));
  }
  const agent = new Agent({ keepAlive: true });
  const samples = new Map(servers.map((server) => [server, []]));
  for (const server of servers) await read(server, agent, seconds);
  for (let round = 0; round < rounds; round += 1)
    for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
      const alone = latencies(await read(server, agent, seconds));
      const logins = [];
      const load = { isOver: false };
      const users = Array.from({ length: LOGINS }, () => logIn(server, agent, logins, load));
      const beside = latencies(await read(server, agent, seconds * 3));
      load.isOver = true;
      const loginsPerSecond = logins.length / (seconds * 3);
      await Promise.all(users);
      samples.get(server).push({ alone, beside, loginsPerSecond, login: median(logins) });
    }
  agent.destroy();
  await Promise.all(servers.map(({ stop }) => stop()));
  return [...samples].map(([{ contestant }, own]) => {
    const of = (figure) => spread(own.map(figure));
    return {
      contestant: contestant.name,
      aloneP50: of(({ alone }) => alone.p50).median,
      aloneP99: of(({ alone }) => alone.p99).median,
      p50: of(({ beside }) => beside.p50).median,
      p99: of(({ beside }) => beside.p99),
      max: of(({ beside }) => beside.max).median,
      loginsPerSecond: of((sample) => sample.loginsPerSecond).median,
      login: of((sample) => sample.login).median,
    };
  });
}

async function logIn(server, agent, times, load) {
  while (!load.isOver)
    times.push(await timed(server, agent, { method: 'POST', path: '/api/auth/login', body: JSON.stringify(USER) }));
}

/** Milliseconds of every read. */
async function read(server, agent, seconds) {
  const start = performance.now();
  const answers = [];
  for (let index = 0; index < seconds * READS_PER_SECOND; index += 1) {
    await setTimeout(start + (index * 1_000) / READS_PER_SECOND - performance.now());
    answers.push(timed(server, agent, { method: 'GET', path: `/api/products/${1 + index}` }));
  }
  return Promise.all(answers);
}

function timed({ port }, agent, { method, path, body }) {
  const start = performance.now();
  const headers = body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const outgoing = send({ host: '127.0.0.1', port, agent, method, path, headers }, (response) => {
      response.resume();
      response.once('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - start);
        else reject(new Error(`${method} ${path} answered ${response.statusCode}`));
      });
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

function latencies(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) };
}
