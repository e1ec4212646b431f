export interface Waiting {
  /** How much work may wait; without it, there is no limit. */
  readonly maxWaiting?: number;
  readonly timeoutMs?: number | undefined;
  /** The error for work that cannot wait, or has waited too long. */
  readonly refusal: () => Error;
}

/** Lets work with a limited total weight run at a time. First in, first out. */
export class Semaphore {
  private readonly waiting = new Set<{ readonly weight: number; readonly start: () => void }>();

  /** @param free the weight that may run at a time */
  constructor(
    private free: number,
    private readonly limits: Waiting,
  ) {}

  /** @param weight at most what may run at a time */
  async run<R>(work: () => Promise<R>, weight = 1): Promise<R> {
    if (this.waiting.size > 0 || weight > this.free) await this.wait(weight);
    else this.free -= weight;
    try {
      return await work();
    } finally {
      this.free += weight;
      // Work that waits takes its weight here: otherwise, new work could overtake it before it goes on.
      for (const next of this.waiting) {
        if (next.weight > this.free) break;
        this.waiting.delete(next);
        this.free -= next.weight;
        next.start();
      }
    }
  }

  private wait(weight: number): Promise<void> {
    const { maxWaiting = Infinity, timeoutMs, refusal } = this.limits;
    return new Promise((resolve, reject) => {
      if (this.waiting.size >= maxWaiting) return reject(refusal());
      const giveUp = (): void => {
        this.waiting.delete(next);
        reject(refusal());
      };
      const timer = timeoutMs ? setTimeout(giveUp, timeoutMs).unref() : undefined;
      const next = { weight, start: () => (clearTimeout(timer), resolve()) };
      this.waiting.add(next);
    });
  }
}
