/**
 * Delays guessing. Failures are counted for an account from an address, for the account from all addresses that are new to
 * it, and for the address. Each attempt is counted before it runs, and given back unless it fails.
 */
import { Logger, UnauthorizedException } from '@nestjs/common';
import { firstValueFrom, from, timeout } from 'rxjs';
import { TooManyAttempts } from '../../http/failure.js';
import { AuthEvents } from '../../access/auth-events.js';
import { DuplicateUserError } from '../users/duplicate-user.js';
import { keysOf, knownKey, limitByAddress, type Attempt, type AttemptLimits, type Key } from './attempt.js';
import { enter, expectFree, release, type Counter } from './counter.js';
import type { ThrottleSettings, ThrottleStorage } from './throttle-options.js';

const WINDOW_MS = 60 * 60 * 1000;
/** How long an address stays one that a user has logged in from. */
const KNOWN_MS = 30 * 24 * WINDOW_MS;
const MAX_COUNTERS = 100_000;
const STORAGE_TIMEOUT_MS = 5_000;
/** How long a storage that failed is left alone. */
const STORAGE_PAUSE_MS = 10_000;

/**
 * Limits guessing, as the option `throttle` says: failures beyond the limits of an action are answered with 429.
 * @example await attempts.run({ action: 'code', account: email, address }, () => this.expectCode(email, code));
 */
export class Attempts {
  private readonly counters = new Map<string, Counter>();
  private readonly logger = new Logger('AuthModule');
  private pausedUntil = 0;

  /** @param storage `undefined` for the memory of this process @param limits by action */
  constructor(
    private readonly settings: ThrottleSettings | undefined,
    private readonly storage: ThrottleStorage | undefined,
    private readonly events: AuthEvents,
    private readonly limits: ReadonlyMap<string, AttemptLimits>,
  ) {}

  /**
   * Runs an attempt, and counts it where it fails: with an `UnauthorizedException` or a `DuplicateUserError`. Attempts that
   * run at the same time count as those one after the other.
   * @throws 429 without running it, 503 where too many wait, and what `work` throws
   */
  async run<R>(attempt: Attempt, work: () => Promise<R>): Promise<R> {
    if (!this.settings) return work();
    const { held, known } = await this.admit(attempt);
    let hasFailed = false;
    try {
      const result = await work();
      if (known) await this.remember(known);
      return result;
    } catch (error) {
      hasFailed = isFailure(error);
      throw error;
    } finally {
      await Promise.all(held.map((each) => this.settle(each, hasFailed)));
    }
  }

  /** Counts an action that has no failure, such as a mail that anybody may ask for. @throws 429 */
  async take(attempt: Attempt): Promise<void> {
    if (!this.settings) return;
    const { held } = await this.admit(attempt);
    await Promise.all(held.map((each) => this.settle(each, true)));
  }

  private async admit(attempt: Attempt) {
    const held: Held[] = [];
    const limits = (this.limits.get(attempt.action) ?? limitByAddress)(this.settings as ThrottleSettings);
    try {
      const keys = keysOf(attempt, limits);
      // Counters of names come after: an address that is stopped cannot fill the memory with them.
      const address = this.counterOf(keys.address);
      if (address) expectFree(address);
      const known = attempt.findUser && knownKey(attempt, await attempt.findUser());
      const isKnown = known !== undefined && (await this.isKnown(known));
      // Strangers do not stop a user who has logged in from the address.
      const shared = isKnown ? [] : [keys.site, keys.account];
      for (const counter of [...[keys.pair, ...shared].map((each) => this.counterOf(each)), address]) {
        if (!counter) continue;
        await enter(counter);
        held.push({ counter, count: undefined });
      }
      const counts = await Promise.all(held.map(({ counter }) => this.add(counter.key, 1, WINDOW_MS)));
      for (const [index, count] of counts.entries()) (held[index] as Held).count = count;
      for (const { counter, count } of held) if (count !== undefined) this.expectCount(counter, count);
      return { held, known: isKnown ? undefined : known };
    } catch (error) {
      await Promise.all(held.map((each) => this.settle(each, false)));
      if (error instanceof TooManyAttempts)
        this.events.emit('attempts.refused', { action: attempt.action, address: attempt.address });
      throw error;
    }
  }

  /** @param count of all processes, with this attempt @throws TooManyAttempts where others have used up what is free */
  private expectCount(counter: Counter, count: number): void {
    const { free, failures, isFinal } = counter;
    if (count <= free) return;
    // The count includes attempts that others are running.
    if (isFinal || failures < free || failures < count - 1) this.raise(counter, failures < free ? free : count - 1);
    // Another attempt may have failed since this one entered.
    expectFree(counter);
  }

  private async settle({ counter, count }: Held, hasFailed: boolean): Promise<void> {
    if (hasFailed) this.raise(counter, Math.max(count ?? 0, counter.failures + (count === undefined ? 1 : 0)));
    else if (count !== undefined) await this.add(counter.key, -1, WINDOW_MS);
    release(counter);
  }

  private async isKnown(key: string): Promise<boolean> {
    return this.counters.get(key)?.hasSucceeded === true || ((await this.add(key, 0, KNOWN_MS)) ?? 0) > 0;
  }

  private async remember(key: string): Promise<void> {
    Object.assign(this.counterOf({ key, free: 0, isFinal: false }) as Counter, { hasSucceeded: true });
    await this.add(key, 1, KNOWN_MS);
  }

  private counterOf(named: Key | undefined): Counter | undefined {
    if (!named) return undefined;
    const { key } = named;
    const start = { failures: 0, until: 0, blockedUntil: 0, running: 0, hasSucceeded: false };
    const counter = this.counters.get(key) ?? { ...named, ...start, waiting: [] };
    if (counter.until <= Date.now()) counter.failures = 0;
    this.counters.delete(key);
    this.counters.set(key, counter);
    if (this.counters.size > MAX_COUNTERS) this.removeOldest();
    return counter;
  }

  /** Evicts a tenth at once, counters without failures first. */
  private removeOldest(): void {
    for (const saysNothing of [true, false])
      for (const [key, { running, failures, hasSucceeded }] of this.counters) {
        if (this.counters.size <= MAX_COUNTERS * 0.9) return;
        if (running === 0 && (!saysNothing || (failures === 0 && !hasSucceeded))) this.counters.delete(key);
      }
  }

  /** @returns how often all processes have counted; `undefined` where only this process counts */
  private async add(key: string, amount: number, ttl: number): Promise<number | undefined> {
    if (!this.storage || Date.now() < this.pausedUntil) return undefined;
    try {
      const count = await firstValueFrom(from(this.storage.add(key, amount, ttl)).pipe(timeout(STORAGE_TIMEOUT_MS)));
      if (!Number.isSafeInteger(count)) throw new TypeError('the count must be an integer');
      return count;
    } catch (error) {
      const name = error instanceof Error ? error.name : 'not an Error';
      if (Date.now() >= this.pausedUntil)
        this.logger.error(
          `The storage of the option \`throttle\` failed: ${name}. This process counts by itself for 10 s.`,
        );
      this.pausedUntil = Date.now() + STORAGE_PAUSE_MS;
      return undefined;
    }
  }

  private raise(counter: Counter, failures: number): void {
    const { maxDelaySeconds } = this.settings as ThrottleSettings;
    const now = Date.now();
    if (counter.until <= now) counter.until = now + WINDOW_MS;
    counter.failures = failures;
    const excess = failures - counter.free;
    if (excess < 0) return;
    const delay = Math.min(maxDelaySeconds, 2 ** Math.min(excess, 30)) * 1000;
    // The storage is read again, because it knows when its count ends.
    counter.blockedUntil = counter.isFinal && !this.storage ? counter.until : now + delay;
  }
}

interface Held {
  readonly counter: Counter;
  count: number | undefined;
}

/** A wrong password or token, or a registration that says that a login is taken. */
const isFailure = (error: unknown): boolean =>
  error instanceof UnauthorizedException || error instanceof DuplicateUserError;
