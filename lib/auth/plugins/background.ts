/** Work that goes on after the answer: what it takes, and whether it fails, must not show in the answer. */
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';

const MAX_RUNNING = 1_000;
const SHUTDOWN_MS = 10_000;

@Injectable()
export class Background implements BeforeApplicationShutdown {
  private readonly logger = new Logger('AuthModule');
  private readonly running = new Set<Promise<void>>();

  /** @param what is logged where it fails; the error itself may hold a token or an address */
  run(what: string, work: () => Promise<void>): void {
    if (this.running.size >= MAX_RUNNING)
      return this.logger.warn(`${what} was left out: ${MAX_RUNNING} others are running.`);
    const task = this.runLater(what, work).finally(() => this.running.delete(task));
    this.running.add(task);
  }

  /** An application that stops finishes what was answered, unless a mail server does not answer in time. */
  async beforeApplicationShutdown(): Promise<void> {
    const limit = new AbortController();
    await Promise.race([
      this.finish().finally(() => limit.abort()),
      delay(SHUTDOWN_MS, undefined, { signal: limit.signal }).catch(() => undefined),
    ]);
  }

  /** Work may start other work. */
  private async finish(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private async runLater(what: string, work: () => Promise<void>): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    try {
      await work();
    } catch (error) {
      this.logger.error(`${what} failed: ${error instanceof Error ? error.name : 'not an Error'}.`);
    }
  }
}
