/** The option `throttle.rateLimitHeaders`: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11). */
import { TooManyAttempts } from '../http/failure.js';
import { flag } from '../options/option-table.js';

export interface RateLimitOptions {
  /** Whether 429 has the headers `RateLimit` and `RateLimit-Policy` beside `Retry-After`. @default false */
  rateLimitHeaders?: boolean;
}

export const RATE_LIMIT_OPTIONS = { rateLimitHeaders: flag() };

export type RateLimitSettings = { readonly rateLimitHeaders: boolean } | undefined;

/** Lets scripts of another origin read the headers. */
export function exposeRateLimit(settings: RateLimitSettings, exposed: Set<string>): void {
  if (settings?.rateLimitHeaders) for (const name of ['RateLimit', 'RateLimit-Policy']) exposed.add(name);
}

/**
 * The headers do not say which of the limits is used up: whether others have guessed at an account is nobody's business.
 * Nor are they sent before, for the same reason.
 * @param limits how many failures are free, in a window of so many milliseconds
 * @returns the error
 */
export function withRateLimit(
  error: unknown,
  { action }: { readonly action: string },
  limits: object,
  window: number,
  settings: RateLimitSettings,
): unknown {
  if (!(error instanceof TooManyAttempts) || !settings?.rateLimitHeaders) return error;
  const quota = Math.min(...Object.values(limits).filter((each) => typeof each === 'number'));
  // A string of structured fields (RFC 9651 §3.3.3).
  const policy = `"${action.replaceAll(/[^ !#-[\]-~]/g, '_')}"`;
  error.rateLimit = {
    'RateLimit-Policy': `${policy};q=${quota};w=${window / 1000}`,
    RateLimit: `${policy};r=0;t=${error.retryAfter}`,
  };
  return error;
}
