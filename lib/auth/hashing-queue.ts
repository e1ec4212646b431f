import { ServiceUnavailable } from '../http/failure.js';

/** Runs a limited number of tasks concurrently, first in, first out. */
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
      this.release();
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

  /** Hands the slot to the oldest waiting task: freeing it first would let a new task overtake. */
  private release(): void {
    const [next] = this.waiting;
    if (next) next();
    else this.running -= 1;
  }
}
