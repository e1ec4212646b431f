/**
 * Delays guessing. Failures are counted for an account from an address, for the account, and for the address. A stranger
 * does not lock a user out: an address that is new to an account has three tries, whatever happened to the account.
 */
import { UnauthorizedException } from '@nestjs/common';
import { ServiceUnavailable, TooManyAttempts } from '../../http/failure.js';
import { AuthEvents } from '../auth-events.js';
import { networkOf } from '../client-facts.js';
import { hashOf } from '../secret-tokens.js';
import { DuplicateUserError } from '../user.repository.js';
import type { ThrottleSettings, ThrottleStorage } from './throttle-options.js';

/** What is counted; each row says how many failures are free. */
type Limits = (settings: ThrottleSettings) => {
  readonly pair?: number;
  readonly account?: number;
  readonly address: number;
};

const LIMITS = {
  password: ({ tries, accountTries, addressTries }) => ({ pair: tries, account: accountTries, address: addressTries }),
  register: ({ addressTries }) => ({ address: addressTries }),
  // Many users of one address may have sessions that have ended.
  refresh: ({ tries, addressTries }) => ({ pair: tries, address: 10 * addressTries }),
  link: ({ addressTries }) => ({ address: addressTries }),
  mail: ({ mails, addressTries }) => ({ account: mails, address: Math.ceil(addressTries / 10) }),
} as const satisfies Readonly<Record<string, Limits>>;

export type Action = keyof typeof LIMITS;

export interface Attempt {
  readonly action: Action;
  /** The login as sent, or another name of what is guessed. */
  readonly account?: string;
  /** `undefined` where the platform does not know it, as on a socket of Unix. */
  readonly address: string | undefined;
}

const NEW_ADDRESS_TRIES = 3;
/** No account has a longer name. */
const MAX_NAME = 300;
const WINDOW_MS = 60 * 60 * 1000;
const MAX_WAITING = 1_000;
const MAX_COUNTERS = 100_000;

/** What this process knows of a count, and the attempts that it is running. */
interface Counter {
  readonly key: string;
  readonly free: number;
  failures: number;
  /** When the failures end. */
  until: number;
  blockedUntil: number;
  running: number;
  /** Attempts that wait for the result of others, because that may use up what is free. */
  readonly waiting: (() => void)[];
}

export class Attempts {
  /** Those used last come last. */
  private readonly counters = new Map<string, Counter>();

  constructor(
    private readonly settings: ThrottleSettings | undefined,
    private readonly storage: ThrottleStorage,
    private readonly events: AuthEvents,
  ) {}

  /**
   * Runs an attempt, and counts it where it fails.
   *
   * @throws TooManyAttempts (429) without running it, ServiceUnavailable (503) where too many wait
   */
  async run<R>(attempt: Attempt, work: () => Promise<R>): Promise<R> {
    if (!this.settings) return work();
    const { held, counted } = await this.admit(attempt);
    try {
      return await work();
    } catch (error) {
      if (isFailure(error)) await Promise.all(counted.map((counter) => this.count(counter)));
      throw error;
    } finally {
      held.forEach(release);
    }
  }

  /** Counts an action that has no failure. @throws TooManyAttempts (429) */
  async take(attempt: Attempt): Promise<void> {
    if (!this.settings) return;
    const { held, counted } = await this.admit(attempt);
    try {
      await Promise.all(counted.map((counter) => this.count(counter)));
    } finally {
      held.forEach(release);
    }
  }

  /** Before a password is compared: parallel attempts are counted, too. */
  private async admit(attempt: Attempt): Promise<{ readonly held: Counter[]; readonly counted: Counter[] }> {
    const { pair, account, address } = this.countersOf(attempt);
    // The account does not stop an address that is new to it.
    const isNew = pair !== undefined && pair.failures + pair.running < NEW_ADDRESS_TRIES;
    const stopping = [pair, isNew ? undefined : account, address].filter((each) => each !== undefined);
    const held: Counter[] = [];
    try {
      for (const counter of stopping) {
        await enter(counter);
        held.push(counter);
      }
      return { held, counted: [pair, account, address].filter((each) => each !== undefined) };
    } catch (error) {
      held.forEach(release);
      if (error instanceof TooManyAttempts)
        this.events.emit('attempts.refused', { action: attempt.action, address: attempt.address });
      throw error;
    }
  }

  private countersOf({ action, account, address = 'unknown' }: Attempt) {
    const limits: ReturnType<Limits> = LIMITS[action](this.settings as ThrottleSettings);
    const network = networkOf(address);
    // One spelling of a name: two of them may be the same to a database. Normalization takes quadratic time.
    const name = account?.slice(0, MAX_NAME).normalize('NFKC').trim().toLowerCase();
    const counter = (kind: string, free: number | undefined, ...of: (string | undefined)[]): Counter | undefined =>
      free === undefined ? undefined : this.counterOf(hashOf(JSON.stringify([action, kind, ...of])), free);
    return {
      pair: counter('pair', limits.pair, name, network),
      account: counter('account', limits.account, name),
      address: counter('address', limits.address, network),
    };
  }

  private counterOf(key: string, free: number): Counter {
    const now = Date.now();
    const known = this.counters.get(key);
    const counter = known ?? { key, free, failures: 0, until: 0, blockedUntil: 0, running: 0, waiting: [] };
    if (counter.until <= now) counter.failures = 0;
    this.counters.delete(key);
    this.counters.set(key, counter);
    if (this.counters.size > MAX_COUNTERS) this.removeOldest();
    return counter;
  }

  private removeOldest(): void {
    for (const [key, { running }] of this.counters) {
      if (this.counters.size <= MAX_COUNTERS) return;
      if (running === 0) this.counters.delete(key);
    }
  }

  private async count(counter: Counter): Promise<void> {
    const { maxDelaySeconds } = this.settings as ThrottleSettings;
    const { totalHits } = await this.storage.increment(counter.key, WINDOW_MS, Number.MAX_SAFE_INTEGER, 0, 'declarest');
    const now = Date.now();
    if (counter.until <= now) counter.until = now + WINDOW_MS;
    counter.failures = totalHits;
    const excess = totalHits - counter.free;
    if (excess >= 0) counter.blockedUntil = now + Math.min(maxDelaySeconds, 2 ** Math.min(excess, 30)) * 1000;
  }
}

/** A wrong password or token, or a registration that says that a login is taken. */
const isFailure = (error: unknown): boolean =>
  error instanceof UnauthorizedException || error instanceof DuplicateUserError;

async function enter(counter: Counter): Promise<void> {
  for (;;) {
    const { blockedUntil, failures, free, running, waiting } = counter;
    const delay = blockedUntil - Date.now();
    if (delay > 0) {
      wakeNext(counter);
      throw new TooManyAttempts(Math.ceil(delay / 1000));
    }
    if (running < Math.max(1, free - failures)) break;
    if (waiting.length >= MAX_WAITING) throw new ServiceUnavailable('The server is busy, try again', 1);
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  counter.running += 1;
}

function release(counter: Counter): void {
  counter.running -= 1;
  wakeNext(counter);
}

const wakeNext = ({ waiting }: Counter): void => waiting.shift()?.();
