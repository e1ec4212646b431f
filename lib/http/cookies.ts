/** Cookies that authenticate: their values, and whether a page of another origin may have sent them. */
import type { HttpRequest } from './http-request.js';

/** A browser sends a cookie once. Of two, nobody can say which one it has from this server. */
export function cookieOf({ headers: { cookie = '' } }: HttpRequest, name: string): string | undefined {
  const pairs = cookie.split(';').map((pair) => pair.replace(/^[ \t]+/, ''));
  const [own, ...others] = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return others.length === 0 ? own?.slice(name.length + 1) : undefined;
}

/** The account endpoints that read cookies, in one application. */
export class CookieEndpoints {
  /** `/api/auth/`; `undefined` where there are none. */
  basePath: string | undefined;
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Other origins of the same site get the cookie sent, too. They cannot set these headers: `X-Requested-With` needs a
 * preflight, and the others belong to the browser.
 */
export function isFromOwnPage({ headers }: HttpRequest): boolean {
  const { host = '', origin } = headers;
  if (headers['x-requested-with'] || headers['sec-fetch-site'] === 'same-origin') return true;
  return origin === `https://${host}` || (origin === `http://${host}` && LOOPBACK.test(host));
}
