import { ServiceUnavailableException } from '@nestjs/common';

export interface QueueLimits {
  /** How many run at a time. */
  readonly atOnce: number;
  /** How many may wait. */
  readonly room: number;
  /** How long each may wait, in milliseconds. */
  readonly patience: number;
}

/** There was no place to wait in, or no turn in time. */
export class ServerBusy extends ServiceUnavailableException {
  /** @param retryAfter in seconds, for `Retry-After` (RFC 9110 §10.2.3) */
  constructor(readonly retryAfter: number) {
    super('The server is busy, try again');
  }
}

/** Runs so many at a time and lets the others wait, whoever comes first being first. */
export class HashingQueue {
  private running = 0;
  /** In the order in which they came; each starts one. */
  private readonly waiting = new Set<() => void>();

  constructor(private readonly limits: QueueLimits) {}

  /** @throws ServerBusy */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.limits.atOnce) this.running += 1;
    else await this.turn();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private turn(): Promise<void> {
    const { room, patience } = this.limits;
    // By then all who wait now have had their turn, or were sent away.
    const busy = new ServerBusy(Math.ceil(patience / 1000));
    if (this.waiting.size >= room) throw busy;
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(start);
        reject(busy);
      }, patience).unref();
      this.waiting.add(start);
    });
  }

  /** The place is handed over: were it set free first, who comes now could be before who has waited. */
  private leave(): void {
    const [next] = this.waiting;
    if (!next) {
      this.running -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
