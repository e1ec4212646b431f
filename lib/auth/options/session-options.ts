/** The options of the plugin `sessions`. */
import { integer, isOneOf, isUndefinedOr, positive, readNestedOptions, row } from '../../options/option-table.js';
import type { OptionRow } from '../../options/option-table.js';

export interface SessionOptions {
  /** Lifetime of an access token, in minutes; fractions are allowed. @default 15 */
  accessTokenMinutes?: number;
  /** How long a session lives after its last refresh, in days; fractions are allowed. @default 30 */
  refreshTokenDays?: number;
  /** How many sessions a user has at most; a login ends the oldest ones. @default any number */
  maxSessions?: number;
  /** How long a session lives after its login, however often it is refreshed, in days; fractions are allowed. @default no limit */
  absoluteDays?: number;
  /**
   * When an access token of an ended session is refused. `expiry`: when it expires. `immediate`: at its next use on
   * every instance, also after the user was deactivated, deleted, or got another role; each request with a token then
   * reads the session. Tokens without a session are refused.
   * @default 'expiry'
   */
  revocation?: 'expiry' | 'immediate';
}

/** A hundred years: later times are beyond what a JavaScript date can hold. */
const MAX_DAYS = 36_500;
const MINUTES_OF_DAY = 1_440;
const days = positive(30, 'days', MAX_DAYS);
const unlimited = (limit: OptionRow<number>): OptionRow<number | undefined> => ({
  ...limit,
  fallback: undefined,
  accepts: isUndefinedOr(limit.accepts),
});
const OPTIONS = {
  accessTokenMinutes: positive(15, 'minutes', MAX_DAYS * MINUTES_OF_DAY),
  refreshTokenDays: days,
  maxSessions: unlimited(integer(5)),
  absoluteDays: unlimited(days),
  revocation: row('expiry', '"expiry" or "immediate"', isOneOf('expiry', 'immediate'), 'set one of them'),
};

export type SessionSettings = ReturnType<typeof resolveSessions>;
export const SESSION_SETTINGS = Symbol('declarest.sessionSettings');

/** @throws InvalidOptionError */
export function resolveSessions(options: unknown) {
  const read = readNestedOptions('sessions', OPTIONS, options);
  const { accessTokenMinutes, refreshTokenDays, maxSessions, absoluteDays, revocation } = read;
  return Object.freeze({
    // A token counts whole seconds (RFC 7519 §2, NumericDate, as most libraries write it).
    accessTokenSeconds: Math.max(1, Math.round(accessTokenMinutes * 60)),
    refreshTokenMs: millisecondsOf(refreshTokenDays),
    maxSessions,
    absoluteMs: absoluteDays === undefined ? undefined : millisecondsOf(absoluteDays),
    isImmediate: revocation === 'immediate',
  });
}

const millisecondsOf = (days: number): number => Math.max(1, Math.round(days * MINUTES_OF_DAY * 60_000));
