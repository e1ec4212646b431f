/** Runs a limited number of password hashes at a time, because libuv has few threads. */
import { availableParallelism } from 'node:os';
import { ServiceUnavailable } from '../../http/failure.js';

export class HashingQueue {
  private running = 0;
  /** The tasks that wait, oldest first; calling one starts it. */
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly limits: { readonly concurrency: number; readonly maxQueued: number; readonly timeoutMs: number },
  ) {}

  /** @throws ServiceUnavailable when the queue is full, or the wait timed out */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.running < this.limits.concurrency) this.running += 1;
    else await this.waitForSlot();
    try {
      return await task();
    } finally {
      // Freeing the slot first would let a new task overtake the oldest one that waits.
      const [startNext] = this.waiting;
      if (startNext) startNext();
      else this.running -= 1;
    }
  }

  private waitForSlot(): Promise<void> {
    const { maxQueued, timeoutMs } = this.limits;
    return new Promise((resolve, reject) => {
      // After the timeout, every task that waits now has started or was refused.
      const refuse = (): void =>
        reject(new ServiceUnavailable('The server is busy, try again', Math.ceil(timeoutMs / 1000)));
      if (this.waiting.size >= maxQueued) return refuse();
      const timer = setTimeout(() => {
        this.waiting.delete(start);
        refuse();
      }, timeoutMs).unref();
      const start = (): void => {
        this.waiting.delete(start);
        clearTimeout(timer);
        resolve();
      };
      this.waiting.add(start);
    });
  }
}

/** One core and one thread stay free for other work. @param threads UV_THREADPOOL_SIZE, read as libuv reads it */
export const hashConcurrency = (cores: number, threads = '4'): number =>
  Math.max(1, Math.min(cores, Number.parseInt(threads, 10) || 1) - 1);

/** One per process, because all applications of a process share libuv's threads. */
export const hashingQueue = new HashingQueue({
  concurrency: hashConcurrency(availableParallelism(), process.env['UV_THREADPOOL_SIZE']),
  maxQueued: 1_000,
  timeoutMs: 30_000,
});
