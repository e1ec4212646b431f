/**
 * Delays guessing. Failures are counted for an account from an address, for the account from all addresses that are new to
 * it, and for the address. Each attempt is counted before it runs, and given back unless it fails.
 */
import { Logger, UnauthorizedException } from '@nestjs/common';
import { firstValueFrom, from, timeout } from 'rxjs';
import { TooManyAttempts } from '../../http/failure.js';
import { AuthEvents } from '../users/auth-events.js';
import { networkOf, siteOf } from './client-info.js';
import { hashOf } from '../tokens/secret-tokens.js';
import { DuplicateUserError } from '../users/user.repository.js';
import { enter, expectFree, release, type Counter } from './counter.js';
import type { ThrottleSettings, ThrottleStorage } from './throttle-options.js';

/** What is counted: an account from an address (`pair`) or from a /48 of IPv6 (`site`), an account, an address. */
type Kind = 'pair' | 'site' | 'account' | 'address';
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
  /** The id of the user with this login. A success makes the address one that this user has logged in from. */
  readonly findUser?: () => Promise<string | undefined>;
}

/** No account has a longer name. */
const MAX_NAME = 300;
const WINDOW_MS = 60 * 60 * 1000;
/** So long an address stays one that a user has logged in from. */
const KNOWN_MS = 30 * 24 * WINDOW_MS;
const MAX_COUNTERS = 100_000;
const STORAGE_TIMEOUT_MS = 5_000;
/** So long a storage that failed is not asked. */
const STORAGE_PAUSE_MS = 10_000;

export class Attempts {
  private readonly counters = new Map<string, Counter>();
  private readonly logger = new Logger('AuthModule');
  private pausedUntil = 0;

  /** @param storage `undefined` for the memory of this process */
  constructor(
    private readonly settings: ThrottleSettings | undefined,
    private readonly storage: ThrottleStorage | undefined,
    private readonly events: AuthEvents,
  ) {}

  /**
   * Runs an attempt, and counts it where it fails.
   * @throws TooManyAttempts (429) without running it, ServiceUnavailable (503) where too many wait
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

  /** Counts an action that has no failure. @throws TooManyAttempts (429) */
  async take(attempt: Attempt): Promise<void> {
    if (!this.settings) return;
    const { held } = await this.admit(attempt);
    await Promise.all(held.map((each) => this.settle(each, true)));
  }

  private async admit(attempt: Attempt): Promise<Admitted> {
    const held: Held[] = [];
    try {
      const keys = keysOf(attempt, this.settings as ThrottleSettings);
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
    Object.assign(this.counterOf({ key, free: 0 }) as Counter, { hasSucceeded: true });
    await this.add(key, 1, KNOWN_MS);
  }

  private counterOf(named: Key | undefined): Counter | undefined {
    if (!named) return undefined;
    const { key, free, isFinal = false } = named;
    const known = this.counters.get(key);
    const start = { failures: 0, until: 0, blockedUntil: 0, running: 0, hasSucceeded: false };
    const counter = known ?? { key, free, isFinal, ...start, waiting: [] };
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
    // A storage is asked again, because it knows when its count ends.
    counter.blockedUntil = counter.isFinal && !this.storage ? counter.until : now + delay;
  }
}

interface Key {
  readonly key: string;
  readonly free: number;
  /** Whether nothing more runs when what is free is used up, also not with delays. */
  readonly isFinal?: boolean;
}

interface Held {
  readonly counter: Counter;
  count: number | undefined;
}

interface Admitted {
  readonly held: readonly Held[];
  readonly known: string | undefined;
}

/** Names that look alike are those of several users: what one has done makes no address known to the other. */
const knownKey = ({ account, address = 'unknown' }: Attempt, userId: string | undefined): string =>
  hashOf(JSON.stringify(['known', userId ?? { account }, networkOf(address)]));

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
    return [kind, { key, free, isFinal: action === 'password' && kind === 'account' }];
  });
  return Object.fromEntries(keys) as { readonly [K in Kind]?: Key };
}

/** A wrong password or token, or a registration that says that a login is taken. */
const isFailure = (error: unknown): boolean =>
  error instanceof UnauthorizedException || error instanceof DuplicateUserError;
