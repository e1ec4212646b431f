/** The option `throttle`. */
import { integer, isFunction, isOneOf, readNestedOptions, row, type OptionsOf } from '../../options/option-table.js';

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

const OPTIONS = {
  tries: integer(20),
  accountTries: integer(100),
  addressTries: integer(300),
  mails: integer(3),
  maxDelaySeconds: integer(900),
  storage: row<'memory' | 'database' | ThrottleStorage>(
    'memory',
    '"memory", "database", or a storage with a method `increment`',
    (value) => isOneOf('memory', 'database')(value) || isFunction((value as ThrottleStorage | null)?.increment),
    'give for example a storage of @nestjs/throttler',
  ),
};

export type ThrottleSettings = OptionsOf<typeof OPTIONS>;

/** @returns `undefined` where attempts are not counted @throws InvalidOptionError */
export const resolveThrottle = (option: unknown = {}): ThrottleSettings | undefined =>
  option === false ? undefined : Object.freeze(readNestedOptions('throttle', OPTIONS, option));
