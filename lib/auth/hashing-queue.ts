import { ServiceUnavailable } from '../http/failure.js';

export interface QueueLimits {
  /** Maximum number of tasks that run at the same time. */
  readonly concurrency: number;
  /** Maximum number of tasks that wait. */
  readonly maxQueued: number;
  /** How long a task may wait, in milliseconds. */
  readonly timeoutMs: number;
}

/** 503: the queue is full, or the wait timed out. */
export class ServerBusy extends ServiceUnavailable {
  /** @param retryAfter in seconds, for the `Retry-After` header (RFC 9110 §10.2.3) */
  constructor(retryAfter: number) {
    super('The server is busy, try again', retryAfter);
  }
}

/** Runs a limited number of tasks concurrently, first in, first out. */
export class HashingQueue {
  private running = 0;
  /** The tasks that wait, oldest first; calling one starts it. */
  private readonly waiting = new Set<() => void>();

  constructor(private readonly limits: QueueLimits) {}

  /** @throws ServerBusy */
  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.acquire();
    try {
      return await task();
    } finally {
      this.release();
    }
  }

  private async acquire(): Promise<void> {
    const { concurrency, maxQueued, timeoutMs } = this.limits;
    if (this.running < concurrency) {
      this.running += 1;
      return;
    }
    // After the timeout, every task that waits now has started or was refused.
    const busy = new ServerBusy(Math.ceil(timeoutMs / 1000));
    if (this.waiting.size >= maxQueued) throw busy;
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(start);
        reject(busy);
      }, timeoutMs).unref();
      this.waiting.add(start);
    });
  }

  /** Hands the slot to the oldest waiting task: freeing it first would let a new task overtake. */
  private release(): void {
    const [next] = this.waiting;
    if (!next) {
      this.running -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
