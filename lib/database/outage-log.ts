/** Logs that requests fail because of a server that is away: a line when it begins, one a minute, and one when it ends. */
import { Logger } from '@nestjs/common';

const MINUTE_MS = 60_000;
const logger = new Logger('declarest');

export class OutageLog {
  /** How many requests were refused since the outage began; 0 without one. */
  refused = 0;
  private begunAt = 0;
  private reportedAt = 0;
  private endedAt = -Infinity;
  /** A success ends the outage from now on. */
  private calmAt = 0;

  constructor(private readonly what = 'The database') {}

  refuse(error: unknown): void {
    const now = performance.now();
    const { message, code } = (error ?? {}) as { readonly message?: unknown; readonly code?: unknown };
    // An AggregateError of several addresses has a code and no message.
    const cause = String(message || code);
    if (this.refused === 0) {
      this.begunAt = this.reportedAt = this.calmAt = now;
      logger.error(`${this.what} is unavailable, requests are answered with 503: ${cause}`);
    }
    this.refused += 1;
    // It began again: where only some requests are refused, such as those that wait for a lock, the log would repeat itself.
    if (this.begunAt - this.endedAt < MINUTE_MS) this.calmAt = now + MINUTE_MS;
    if (now - this.reportedAt < MINUTE_MS) return;
    this.reportedAt = now;
    logger.error(`${this.what} is still unavailable, ${this.describe(now)}: ${cause}`);
  }

  succeed(): void {
    const now = performance.now();
    if (this.refused === 0 || now < this.calmAt) return;
    logger.warn(`${this.what} is available again, ${this.describe(now)}.`);
    this.refused = 0;
    this.endedAt = now;
  }

  private describe(now: number): string {
    const requests = this.refused === 1 ? '1 request was' : `${this.refused} requests were`;
    return `${requests} answered with 503 in ${Math.round((now - this.begunAt) / 1000)} s`;
  }
}
