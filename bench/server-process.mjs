/** One contestant, started, measured from outside, and ended. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pinned, SERVER_CORE } from './machine.mjs';
import { BENCH } from './paths.mjs';

const TICKS_PER_SECOND = 100;
const START_LIMIT_MS = 60_000;

const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** Resolves as soon as it listens. */
export async function startServer(contestant, env, cores = SERVER_CORE) {
  const started = performance.now();
  const [command, ...args] = pinned(cores, [process.execPath, join(BENCH, 'dist', contestant.file)]);
  const child = spawn(command, args, {
    env: { ...process.env, NODE_ENV: 'production', ...contestant.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  running.add(child);
  let complaint = '';
  child.stderr.on('data', (text) => (complaint += text));
  const port = await new Promise((resolve, reject) => {
    const fail = (reason) => reject(new Error(`${contestant.name} ${reason}\n${complaint}`));
    const timer = setTimeout(() => fail(`does not listen after ${START_LIMIT_MS} ms`), START_LIMIT_MS);
    child.once('message', (message) => resolve(message.port));
    child.once('exit', (code) => fail(`ended with code ${code}`));
    child.once('error', (error) => fail(error.message));
    child.once('message', () => clearTimeout(timer));
  });
  child.removeAllListeners('exit');
  return {
    contestant,
    port,
    origin: `http://127.0.0.1:${port}`,
    started,
    /** Microseconds of processor time so far, of all its threads. */
    cpu: () => processorTime(child.pid),
    /** Bytes in memory. */
    rss: () => residentSize(child.pid),
    stop: () =>
      new Promise((resolve) => {
        running.delete(child);
        child.once('exit', resolve);
        child.kill('SIGKILL');
      }),
  };
}

function processorTime(pid) {
  const [, fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  return ((user + system) / TICKS_PER_SECOND) * 1e6;
}

function residentSize(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
