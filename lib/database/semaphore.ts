export interface Waiting {
  /** How much work may wait; without it, there is no limit. */
  readonly maxWaiting?: number;
  readonly timeoutMs?: number | undefined;
  /** The error for work that cannot wait, or has waited too long. */
  readonly refusal: () => Error;
}

/** Lets work with a limited total weight run at a time, and one of each name. First in, first out. */
export class Semaphore {
  private readonly waiting = new Set<{ readonly weight: number; readonly name: unknown; readonly start: () => void }>();
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
    for (const next of this.waiting) {
      if (next.weight > this.free) break;
      if (this.running.has(next.name)) continue;
      this.waiting.delete(next);
      this.take(next.weight, next.name);
      next.start();
    }
  }

  private wait(weight: number, name: unknown): Promise<void> {
    const { maxWaiting = Infinity, timeoutMs, refusal } = this.limits;
    return new Promise((resolve, reject) => {
      if (this.waiting.size >= maxWaiting) return reject(refusal());
      const giveUp = (): void => {
        this.waiting.delete(next);
        reject(refusal());
      };
      const timer = timeoutMs ? setTimeout(giveUp, timeoutMs).unref() : undefined;
      const next = { weight, name, start: () => (clearTimeout(timer), resolve()) };
      this.waiting.add(next);
      this.startWaiting();
    });
  }
}
