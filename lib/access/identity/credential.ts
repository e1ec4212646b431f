/** The credential of a request, at the place that a source of users names. */
import { cookieOf, isFromOwnPage } from '../../http/cookies.js';
import { bearerOf, headerValues, type HttpRequest } from '../../http/http-request.js';
import type { CredentialPlace } from './user-source.js';

/**
 * A cookie counts for a change, and for a request with `Origin`, only where a page of this server sends it, or with the header
 * `X-Requested-With`.
 * @param place without it, the bearer token @returns `undefined` without one, and where it was sent twice
 */
export function credentialOf(request: HttpRequest, place?: CredentialPlace): string | undefined {
  if (!place) return bearerOf(request).token;
  if (place.in === 'cookie') return mayBeForged(request) ? undefined : cookieOf(request, place.name);
  const values = headerValues(request, place.name.toLowerCase());
  return values.length === 1 ? values[0] : undefined;
}

/** Whether a page of another origin may have sent a change, or have opened a connection, with the cookie of the user. */
const mayBeForged = (request: HttpRequest): boolean =>
  (request.headers.origin !== undefined || !['GET', 'HEAD'].includes(request.method)) && !isFromOwnPage(request);
