/** The option `throttle`. */
import { describe, expectKnownNames, InvalidOptionError } from '../../options/invalid-option.js';

/**
 * Counts failures: the interface `ThrottlerStorage` of @nestjs/throttler 6, whose storages fit. It is called with a limit
 * that no count reaches, because the delays are computed here.
 */
export interface ThrottleStorage {
  /**
   * @param key a hash of the action, the account and the address
   * @param ttl milliseconds until a count ends
   * @returns how often the key was counted
   */
  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<{ readonly totalHits: number }>;
}

export interface ThrottleOptions {
  /** Wrong passwords for one account from one address before delays begin. @default 20 */
  tries?: number;
  /** Wrong passwords for one account from all addresses. @default 100 */
  accountTries?: number;
  /** Failures from one address (a /64 of IPv6), for all accounts. @default 300 */
  addressTries?: number;
  /** Mails to one account that anybody may ask for. @default 3 */
  mails?: number;
  /** The longest delay, in seconds. Delays begin at 1 s and double. @default 900 */
  maxDelaySeconds?: number;
  /**
   * Where failures are counted: `memory` of each process, the `database` (the table of `ThrottleCount`), or a storage of
   * @nestjs/throttler, for example one for Redis. Counts end after an hour.
   * @default 'memory'
   */
  storage?: 'memory' | 'database' | ThrottleStorage;
}

export interface ThrottleSettings extends Required<Omit<ThrottleOptions, 'storage'>> {
  readonly storage: 'memory' | 'database' | ThrottleStorage;
}

const OPTION = 'AuthModule option `throttle`';
const DEFAULTS = { tries: 20, accountTries: 100, addressTries: 300, mails: 3, maxDelaySeconds: 900 };
const NAMES = [...Object.keys(DEFAULTS), 'storage'];

/** @returns `undefined` where attempts are not counted @throws InvalidOptionError */
export function resolveThrottle(option: unknown): ThrottleSettings | undefined {
  if (option === false) return undefined;
  const options = option === undefined ? {} : option;
  expectKnownNames(OPTION, options, NAMES);
  const settings = { ...DEFAULTS, storage: 'memory', ...(options as ThrottleOptions) } as ThrottleSettings;
  for (const name of Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[])
    if (!Number.isSafeInteger(settings[name]) || settings[name] < 1)
      throw new InvalidOptionError(
        `AuthModule option \`throttle.${name}\``,
        'an integer of at least 1',
        describe(settings[name]),
        `set for example ${DEFAULTS[name]}`,
      );
  const { storage } = settings;
  if (storage !== 'memory' && storage !== 'database' && typeof storage?.increment !== 'function')
    throw new InvalidOptionError(
      'AuthModule option `throttle.storage`',
      '"memory", "database", or a storage with a method `increment`',
      describe(storage),
      'give for example a storage of @nestjs/throttler',
    );
  return Object.freeze(settings);
}
