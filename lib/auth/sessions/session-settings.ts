/** The options of sessions, checked. */
import { flag, integer, isOneOf, isUndefinedOr, positive, readNestedOptions, row } from '../../options/option-table.js';
import type { OptionRow } from '../../options/option-table.js';

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
  cookie: flag(),
  clearSiteData: flag(),
};

export type SessionSettings = ReturnType<typeof resolveSessions>;
export const SESSION_SETTINGS = Symbol('declarest.sessionSettings');

/** @throws InvalidOptionError */
export function resolveSessions(options: unknown) {
  const read = readNestedOptions('sessions', OPTIONS, options);
  const { accessTokenMinutes, refreshTokenDays, maxSessions, absoluteDays, revocation, cookie, clearSiteData } = read;
  return Object.freeze({
    // A token counts whole seconds (RFC 7519 §2, NumericDate, as most libraries write it).
    accessTokenSeconds: Math.max(1, Math.round(accessTokenMinutes * 60)),
    refreshTokenMs: millisecondsOf(refreshTokenDays),
    maxSessions,
    absoluteMs: absoluteDays === undefined ? undefined : millisecondsOf(absoluteDays),
    isImmediate: revocation === 'immediate',
    isInCookie: cookie,
    clearSiteData,
  });
}

const millisecondsOf = (days: number): number => Math.max(1, Math.round(days * MINUTES_OF_DAY * 60_000));
