/** The processors, and what runs where. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';

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
  `Node ${process.versions.node}, ${hasWrk ? 'wrk' : 'autocannon'}, ` +
  (canPin ? `server on core ${SERVER_CORE}, load on core ${LOAD_CORE}` : 'nothing pinned');

/** wrk exits with 1 after its version. */
function isThere(command, args) {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch (error) {
    return error.code !== 'ENOENT';
  }
}
