/** Runs a limited number of password hashes at a time, because libuv has few threads. */
import { availableParallelism } from 'node:os';
import { Semaphore } from '../../database/semaphore.js';
import { ServiceUnavailable } from '../../http/failure.js';

const TIMEOUT_SECONDS = 30;

/** One core and one thread stay free for other work. @param threads UV_THREADPOOL_SIZE, read as libuv reads it */
export const hashConcurrency = (cores: number, threads = '4'): number =>
  Math.max(1, Math.min(cores, Number.parseInt(threads, 10) || 1) - 1);

/** One per process, because all applications of a process share libuv's threads. */
export const hashingQueue = new Semaphore(hashConcurrency(availableParallelism(), process.env['UV_THREADPOOL_SIZE']), {
  maxWaiting: 1_000,
  timeoutMs: TIMEOUT_SECONDS * 1000,
  // After the timeout, every task that waits now has started or was refused.
  refusal: () => new ServiceUnavailable('The server is busy, try again', TIMEOUT_SECONDS),
});
