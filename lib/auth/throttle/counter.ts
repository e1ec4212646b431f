/** A count of one process, and the attempts that wait for each other, because each may use up what is free. */
import { ServiceUnavailable, TooManyAttempts } from '../../http/failure.js';
import type { Key } from './attempt.js';

const MAX_WAITING = 1_000;

/** What this process knows of a count, and the attempts that it is running. */
export interface Counter extends Key {
  hasSucceeded: boolean;
  failures: number;
  until: number;
  blockedUntil: number;
  running: number;
  /** Attempts that wait for the result of others, because that may use up what is free. */
  readonly waiting: (() => void)[];
}

/** @throws TooManyAttempts (429) */
export function expectFree(counter: Counter): void {
  const delay = counter.blockedUntil - Date.now();
  if (delay <= 0) return;
  wakeNext(counter);
  throw new TooManyAttempts(Math.ceil(delay / 1000));
}

/** Waits until an attempt may run. @throws TooManyAttempts (429), ServiceUnavailable (503) where too many wait */
export async function enter(counter: Counter): Promise<void> {
  for (;;) {
    expectFree(counter);
    const { failures, free, running, waiting } = counter;
    if (running < Math.max(1, free - failures)) break;
    if (waiting.length >= MAX_WAITING) throw new ServiceUnavailable('The server is busy, try again', 1);
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  counter.running += 1;
}

export function release(counter: Counter): void {
  counter.running -= 1;
  wakeNext(counter);
}

const wakeNext = ({ waiting }: Counter): void => waiting.shift()?.();
