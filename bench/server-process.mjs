/** Starts a contestant as a process, and reads its processor time and memory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDatabase } from './data.mjs';
import { dropDatabases } from './database-servers.mjs';
import { onServerCore } from './load.mjs';

/** The search index of a million rows is created at the start. */
const START_LIMIT_MS = 300_000;

const running = new Set();
process.on('exit', () => {
  running.forEach((child) => child.kill('SIGKILL'));
  dropDatabases();
});
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    console.error(`The benchmark was ended by ${signal}.`);
    process.exit(1);
  });

/** Resolves when the contestant listens. */
export async function startServer(contestant, env = {}) {
  const name = [contestant.name, ...Object.values(env)].join('-');
  const database = contestant.hasOwnData ? '' : await makeDatabase(contestant, name);
  const start = performance.now();
  const script = join(import.meta.dirname, 'dist', String(contestant.build ?? 0), contestant.file);
  const [command, ...args] = onServerCore([process.execPath, script]);
  const child = spawn(command, args, {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      BENCH_ADAPTER: contestant.adapter,
      BENCH_DATABASE: database,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  running.add(child);
  let errors = '';
  child.stderr.on('data', (text) => (errors += text));
  const { port } = await new Promise((resolve, reject) => {
    const fail = (reason) => reject(new Error(`${contestant.name} ${reason}\n${errors}`));
    const timer = setTimeout(() => fail(`does not listen after ${START_LIMIT_MS} ms`), START_LIMIT_MS);
    child.once('message', resolve).once('message', () => clearTimeout(timer));
    child.once('exit', (code) => fail(`exited with code ${code}`));
    child.once('error', (error) => fail(error.message));
  });
  return {
    contestant,
    origin: `http://127.0.0.1:${port}`,
    start,
    /** Processor time of all threads so far, in microseconds. */
    cpu: () => processorTime(child.pid),
    /** Resident memory, in bytes. */
    rss: () => residentSize(child.pid),
    /** The lines of the log with warnings and errors. */
    log: () => errors,
    /** Requests that the access log and the interceptor have seen so far. */
    async counts() {
      child.send('counts');
      const [counts] = await once(child, 'message');
      return counts;
    },
    async stop() {
      running.delete(child);
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** Of the scheduler, in nanoseconds: /proc/PID/stat has hundredths of a second, too coarse for few requests. */
function processorTime(pid) {
  const tasks = `/proc/${pid}/task`;
  const times = readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ', 1)[0]);
  return times.reduce((sum, time) => sum + Number(time) / 1_000, 0);
}

function residentSize(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
