/** The option `sessions`. */
import { describe, expectKnownNames, InvalidOptionError } from '../../options/invalid-option.js';

export interface SessionOptions {
  /** Lifetime of an access token, in minutes; fractions are allowed. @default 15 */
  accessTokenMinutes?: number;
  /** How long a session lives after its last refresh, in days; fractions are allowed. @default 30 */
  refreshTokenDays?: number;
  /**
   * When an access token of an ended session is refused. `expiry`: when it expires. `immediate`: within 1 s on every
   * instance, also after the user was deactivated, deleted, or got another role; each request with a token then reads the
   * session, at most once a second. Tokens without a session are refused.
   * @default 'expiry'
   */
  revocation?: 'expiry' | 'immediate';
}

/** The option as it is used. */
export interface SessionSettings {
  readonly accessTokenSeconds: number;
  readonly refreshTokenMs: number;
  readonly isImmediate: boolean;
}

const OPTION = 'AuthModule option `sessions`';
const NAMES = ['accessTokenMinutes', 'refreshTokenDays', 'revocation'];
/** A hundred years: later times are beyond what a JavaScript date can hold. */
const MAX_DAYS = 36_500;
const MINUTES_OF_DAY = 1_440;

/** @throws InvalidOptionError */
export function resolveSessions(option: unknown): SessionSettings | undefined {
  if (option === undefined || option === false) return undefined;
  const options = option === true ? {} : option;
  expectKnownNames(OPTION, options, NAMES);
  const { accessTokenMinutes = 15, refreshTokenDays = 30, revocation = 'expiry' } = options as SessionOptions;
  expectPositive('accessTokenMinutes', accessTokenMinutes, MAX_DAYS * MINUTES_OF_DAY, 'minutes', 15);
  expectPositive('refreshTokenDays', refreshTokenDays, MAX_DAYS, 'days', 30);
  if (revocation !== 'expiry' && revocation !== 'immediate')
    throw new InvalidOptionError(
      'AuthModule option `sessions.revocation`',
      '"expiry" or "immediate"',
      describe(revocation),
      'set one of them',
    );
  return Object.freeze({
    // A token counts whole seconds (RFC 7519 §2, NumericDate, as most libraries write it).
    accessTokenSeconds: Math.max(1, Math.round(accessTokenMinutes * 60)),
    refreshTokenMs: Math.max(1, Math.round(refreshTokenDays * MINUTES_OF_DAY * 60_000)),
    isImmediate: revocation === 'immediate',
  });
}

function expectPositive(name: string, value: unknown, most: number, unit: string, example: number): void {
  if (typeof value === 'number' && value > 0 && value <= most) return;
  const expected = `a positive number of ${unit}, at most ${most}`;
  throw new InvalidOptionError(
    `AuthModule option \`sessions.${name}\``,
    expected,
    describe(value),
    `set for example ${example}`,
  );
}
