/** The processors, and what runs where. */
import { execFileSync, spawn } from 'node:child_process';
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

/**
 * Keeps the load's processor from falling asleep while it waits for answers. On a virtual machine waking it is paid for
 * by the server, as a part of its write, and the slower a server is the more often: a GET by id of declarest on Fastify
 * came to 87 microseconds instead of 61, with medians half above the least of nine rounds.
 */
export function stayAwake() {
  if (!canPin || !isThere('chrt', ['--version'])) return;
  const [command, ...args] = pinned(LOAD_CORE, ['chrt', '--idle', '0', process.execPath, '-e', 'for (;;);']);
  const sleepless = spawn(command, args, { stdio: 'ignore' });
  process.on('exit', () => sleepless.kill('SIGKILL'));
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
