/** The option `throttle`. */
import { integer, isFunction, isOneOf, readNestedOptions, row, type OptionsOf } from '../../options/option-table.js';

/** Counts attempts for several processes. Each call is one step: two at once must not return the same count. */
export interface ThrottleStorage {
  /**
   * @param key a hash of the action, the account and the address
   * @param amount 1, -1, or 0 to read
   * @param ttl milliseconds until a count ends, from the first amount
   * @returns the count with the amount; 0 for a key without one
   */
  add(key: string, amount: number, ttl: number): Promise<number>;
}

export interface ThrottleOptions {
  /** Wrong passwords for one account from one address before delays begin. @default 20 */
  tries?: number;
  /** Wrong passwords for one account in an hour, from all addresses together that are new to it. @default 100 */
  accountTries?: number;
  /** Failures from one address (a /64 of IPv6), for all accounts. @default 300 */
  addressTries?: number;
  /** Mails to one account that anybody may ask for. @default 3 */
  mails?: number;
  /** The longest delay, in seconds. Delays begin at 1 s and double. @default 900 */
  maxDelaySeconds?: number;
  /**
   * Where failures are counted: `memory` of each process, the `database` (the table of `ThrottleCount`), or a storage of
   * your own, for example in Redis. Counts end after an hour.
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
    '"memory", "database", or a storage with a method `add`',
    (value) => isOneOf('memory', 'database')(value) || isFunction((value as ThrottleStorage | null)?.add),
    'give for example one that counts in Redis',
  ),
};

export type ThrottleSettings = OptionsOf<typeof OPTIONS>;

/** @returns `undefined` where attempts are not counted @throws InvalidOptionError */
export const resolveThrottle = (option: unknown = {}): ThrottleSettings | undefined =>
  option === false ? undefined : Object.freeze(readNestedOptions('throttle', OPTIONS, option));
