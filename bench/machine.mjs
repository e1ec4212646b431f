/** The processors, and what runs where. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { BENCH } from './paths.mjs';

const [server = '0', load = '1'] = (process.env.BENCH_CORES ?? '0,1').split(',');
export const SERVER_CORE = server;
export const LOAD_CORE = load;

const canPin = availableParallelism() > 1 && isThere('taskset', ['--version']);
export const hasWrk = isThere('wrk', ['--version']);

/** A command that runs on these processors only, where the machine can do that. */
export function pinned(cores, command) {
  return canPin ? ['taskset', '-c', cores, ...command] : command;
}

export const machine = () =>
  `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ` +
  `Node ${process.versions.node}, ${hasWrk ? 'wrk' : 'autocannon'}${sleepless ? ' that never sleeps' : ''}, ` +
  (canPin ? `server on core ${SERVER_CORE}, load on core ${LOAD_CORE}` : 'nothing pinned');

/**
 * With this in its environment wrk never sleeps while it waits for answers. A server pays for waking it, as a part of its
 * write, and the slower a server is the more often: on a virtual machine a GET by id of declarest on Fastify came to 59
 * microseconds instead of 34, and only what is as fast as wrk itself never paid.
 */
export const sleepless = hasWrk ? busyPolling() : undefined;

function busyPolling() {
  const folder = mkdtempSync(join(tmpdir(), 'declarest-bench-poll-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const library = join(folder, 'busy-poll.so');
  try {
    const options = ['-x', 'c', '-O2', '-shared', '-fPIC', '-o', library, join(BENCH, 'busy-poll.c'), '-ldl'];
    execFileSync('g++', options, { stdio: 'ignore' });
    return { LD_PRELOAD: library };
  } catch {
    return undefined;
  }
}

/** wrk exits with 1 after its version. */
function isThere(command, args) {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch (error) {
    return error.code !== 'ENOENT';
  }
}
