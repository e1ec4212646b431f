import { outageOf } from '../entities/database-errors.js';

export interface Waiting {
  /** How much work may wait; without it, there is no limit. */
  readonly maxWaiting?: number;
  readonly timeoutMs?: number | undefined;
  /** The error for work that cannot wait, or has waited too long. */
  readonly refusal: () => Error;
}

/** Lets work with a limited total weight run at a time, and one of each name. First in, first out. */
export class Semaphore {
  private readonly waiting = new Set<{ weight: number; name: unknown; end: (error?: unknown) => void }>();
  private readonly running = new Set<unknown>();

  /** @param free the weight that may run at a time */
  constructor(
    private free: number,
    private readonly limits: Waiting,
  ) {}

  /** @param weight at most what may run at a time */
  async run<R>(work: () => Promise<R>, weight = 1, name: unknown = {}): Promise<R> {
    if (this.waiting.size > 0 || weight > this.free || this.running.has(name)) await this.wait(weight, name);
    else this.take(weight, name);
    try {
      return await work();
    } catch (error) {
      // What this work waited for in vain, such as a locked row, would keep the others of its name waiting too.
      const outage = outageOf(error);
      if (outage) for (const each of this.waiting) if (each.name === name) each.end(outage);
      throw error;
    } finally {
      this.free += weight;
      this.running.delete(name);
      this.startWaiting();
    }
  }

  private take(weight: number, name: unknown): void {
    this.free -= weight;
    this.running.add(name);
  }

  /** Work that waits takes its weight here: otherwise, new work could overtake it before it goes on. */
  private startWaiting(): void {
    for (const { weight, name, end } of this.waiting) {
      if (weight > this.free) break;
      if (this.running.has(name)) continue;
      this.take(weight, name);
      end();
    }
  }

  private wait(weight: number, name: unknown): Promise<void> {
    const { maxWaiting = Infinity, timeoutMs, refusal } = this.limits;
    return new Promise((resolve, reject) => {
      if (this.waiting.size >= maxWaiting) return reject(refusal());
      const end = (error?: unknown): void => {
        clearTimeout(timer);
        this.waiting.delete(next);
        return error ? reject(error) : resolve();
      };
      const timer = timeoutMs ? setTimeout(() => end(refusal()), timeoutMs).unref() : undefined;
      const next = { weight, name, end };
      this.waiting.add(next);
      this.startWaiting();
    });
  }
}
