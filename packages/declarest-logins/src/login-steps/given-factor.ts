/** What tokens say of a login with a second factor. */
import type { LoginClaims } from 'declarest/plugin';

/** Whether a login has given a second factor. */
export const hasGivenFactor = (login: LoginClaims | undefined): login is LoginClaims =>
  login?.amr.includes('mfa') === true;

/** A login that gives one now. @param method `otp`, or `pop` for a key (RFC 8176 §2) */
export const factorLogin = (method: string): LoginClaims => ({
  amr: [method, 'mfa'],
  auth_time: Math.floor(Date.now() / 1000),
});
