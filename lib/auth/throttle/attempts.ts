/**
 * Delays guessing. Failures are counted for an account from an address, for the account, and for the address. Strangers do
 * not lock a user out: an address that is new to an account has three tries, whatever happened to the account.
 */
import { Logger, UnauthorizedException } from '@nestjs/common';
import { firstValueFrom, from, timeout } from 'rxjs';
import { TooManyAttempts } from '../../http/failure.js';
import { AuthEvents } from '../auth-events.js';
import { networkOf, siteOf } from '../client-facts.js';
import { hashOf } from '../secret-tokens.js';
import { DuplicateUserError } from '../user.repository.js';
import { enter, expectFree, release, type Counter } from './counter.js';
import type { ThrottleSettings, ThrottleStorage } from './throttle-options.js';

/** What is counted: an account from an address (`pair`) or from a /48 of IPv6 (`site`), an account, an address. */
type Kind = 'pair' | 'site' | 'account' | 'address';
/** How many failures are free. */
type Limits = (settings: ThrottleSettings) => { readonly [K in Kind]?: number };

const LIMITS = {
  password: ({ tries, accountTries, addressTries }) => ({
    pair: tries,
    site: tries,
    account: accountTries,
    address: addressTries,
  }),
  register: ({ addressTries }) => ({ address: addressTries }),
  // Its tag says that the token was issued here: others behind the address do not stop it.
  refresh: ({ tries }) => ({ pair: tries }),
  forgedRefresh: ({ addressTries }) => ({ address: addressTries }),
  link: ({ addressTries }) => ({ address: addressTries }),
  welcome: ({ addressTries }) => ({ address: addressTries }),
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
const MAX_COUNTERS = 100_000;
const STORAGE_TIMEOUT_MS = 1_000;
const LOG_INTERVAL_MS = 60_000;

export class Attempts {
  /** Those used last come last. */
  private readonly counters = new Map<string, Counter>();
  private readonly logger = new Logger('AuthModule');
  private silentUntil = 0;

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
    const { held, counted, known } = await this.admit(attempt);
    try {
      const result = await work();
      if (known) known.hasSucceeded = true;
      return result;
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
  private async admit(attempt: Attempt): Promise<Admitted> {
    const held: Counter[] = [];
    const hold = async (counter: Counter | undefined): Promise<void> => {
      if (!counter) return;
      await enter(counter);
      held.push(counter);
    };
    try {
      const keys = keysOf(attempt, this.settings as ThrottleSettings);
      // Neither others behind an address nor strangers stop a user who has logged in from there.
      const isKnown = keys.pair !== undefined && this.counters.get(keys.pair.key)?.hasSucceeded === true;
      const address = this.counterOf(keys.address);
      if (address && !isKnown) expectFree(address);
      // Counters of names come after: an address that is stopped cannot fill the memory with them.
      const [pair, site, account] = [keys.pair, keys.site, keys.account].map((each) => this.counterOf(each));
      await hold(pair);
      // The account does not stop an address that is new to it, unless its network has used up the tries of one address.
      const isNew = pair && pair.failures + pair.running <= NEW_ADDRESS_TRIES && (!site || site.failures < site.free);
      if (!isKnown && !isNew) await hold(account);
      if (!isKnown) await hold(address);
      const counted = [pair, site, account, address].filter((each) => each !== undefined);
      return { held, counted, known: address && pair };
    } catch (error) {
      held.forEach(release);
      if (error instanceof TooManyAttempts)
        this.events.emit('attempts.refused', { action: attempt.action, address: attempt.address });
      throw error;
    }
  }

  private counterOf(named: Key | undefined): Counter | undefined {
    if (!named) return undefined;
    const { key, free } = named;
    const known = this.counters.get(key);
    const start = { failures: 0, until: 0, blockedUntil: 0, running: 0, hasSucceeded: false };
    const counter = known ?? { key, free, ...start, waiting: [] };
    if (counter.until <= Date.now()) counter.failures = 0;
    this.counters.delete(key);
    this.counters.set(key, counter);
    if (this.counters.size > MAX_COUNTERS) this.removeOldest();
    return counter;
  }

  /** Removes a tenth, so that a full memory costs little for each attempt. Those that say nothing go first. */
  private removeOldest(): void {
    for (const saysNothing of [true, false])
      for (const [key, { running, failures, hasSucceeded }] of this.counters) {
        if (this.counters.size <= MAX_COUNTERS * 0.9) return;
        if (running === 0 && (!saysNothing || (failures === 0 && !hasSucceeded))) this.counters.delete(key);
      }
  }

  private async count(counter: Counter): Promise<void> {
    // A storage that is slow or fails must not make guesses free.
    this.raise(counter, counter.failures + 1);
    const hits = await this.addHit(counter.key);
    this.raise(counter, Math.max(counter.failures, hits));
  }

  /** @returns how often all processes have counted; 0 where the storage fails */
  private async addHit(key: string): Promise<number> {
    try {
      const added = this.storage.increment(key, WINDOW_MS, Number.MAX_SAFE_INTEGER, 0, 'declarest');
      // Other attempts wait for the result of this one.
      const { totalHits } = await firstValueFrom(from(added).pipe(timeout(STORAGE_TIMEOUT_MS)));
      if (!Number.isSafeInteger(totalHits)) throw new TypeError('totalHits must be an integer');
      return totalHits;
    } catch (error) {
      this.logFailure(error);
      return 0;
    }
  }

  private raise(counter: Counter, failures: number): void {
    const { maxDelaySeconds } = this.settings as ThrottleSettings;
    const now = Date.now();
    if (counter.until <= now) counter.until = now + WINDOW_MS;
    counter.failures = failures;
    const excess = failures - counter.free;
    if (excess >= 0) counter.blockedUntil = now + Math.min(maxDelaySeconds, 2 ** Math.min(excess, 30)) * 1000;
  }

  private logFailure(error: unknown): void {
    const now = Date.now();
    if (now < this.silentUntil) return;
    this.silentUntil = now + LOG_INTERVAL_MS;
    const name = error instanceof Error ? error.name : 'not an Error';
    this.logger.error(`The storage of the option \`throttle\` failed: ${name}. This process counts by itself.`);
  }
}

interface Key {
  readonly key: string;
  readonly free: number;
}

interface Admitted {
  readonly held: readonly Counter[];
  readonly counted: readonly Counter[];
  /** That of a user at an address, which a success makes known. */
  readonly known: Counter | undefined;
}

function keysOf(
  { action, account, address = 'unknown' }: Attempt,
  settings: ThrottleSettings,
): { readonly [K in Kind]?: Key } {
  const limits: ReturnType<Limits> = LIMITS[action](settings);
  const network = networkOf(address);
  // One spelling of a name: two of them may be the same to a database. Normalization takes quadratic time.
  const name = account?.trim().slice(0, MAX_NAME).normalize('NFKC').trim().toLowerCase();
  const site = siteOf(address);
  const parts = { pair: [name, network], site: [name, site], account: [name], address: [network] };
  // Without a larger network, a pair says all.
  const kinds = Object.entries(limits).filter(([kind]) => kind !== 'site' || site !== undefined);
  const keys = kinds.map(([kind, free]) => {
    const key = hashOf(JSON.stringify([action, kind, ...parts[kind as Kind]]));
    return [kind, { key, free }];
  });
  return Object.fromEntries(keys) as { readonly [K in Kind]?: Key };
}

/** A wrong password or token, or a registration that says that a login is taken. */
const isFailure = (error: unknown): boolean =>
  error instanceof UnauthorizedException || error instanceof DuplicateUserError;
