/** The options of the plugin `sessions`. */
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
  /**
   * Whether the refresh token is in a cookie that scripts cannot read, and not in the JSON of answers. Browsers keep the
   * cookie with HTTPS, and on `localhost`. `refresh` and `logout` then answer pages of the same origin, and requests with
   * the header `X-Requested-With`; others are 403.
   * @default false
   */
  cookie?: boolean;
  /** Whether a logout removes the cookies, the storage and the cache of the origin (`Clear-Site-Data`). @default false */
  clearSiteData?: boolean;
}
