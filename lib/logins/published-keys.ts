/** The public keys of an issuer: where it publishes them, and how they are read. */
import type { JWK, JWTVerifyGetKey } from 'jose';
import { OutageLog } from '../database/outage-log.js';
import { ServiceUnavailable } from '../http/failure.js';
import { describe, isProduction } from '../options/invalid-option.js';
import { isObject } from '../options/option-table.js';
import { isLoopback, readBody } from './remote-servers.js';

type Jose = typeof import('jose');

const TIMEOUT_MS = 2_000;
const MOST_BYTES = 262_144;
const RETRY_S = 5;
/** jose reads no keys again before. */
const COOLDOWN_S = 30;

/** Keys that are read without encryption can be replaced by others. */
export function isTrustedUrl(text: unknown): text is string {
  if (typeof text !== 'string' || !URL.canParse(text)) return false;
  const url = new URL(text);
  const isOpen = isLoopback(url) || !isProduction();
  return url.hash === '' && (url.protocol === 'https:' || (url.protocol === 'http:' && isOpen));
}

/** Finds the key of a token, or those that it may be. It throws ServiceUnavailable while the keys cannot be read. */
export function publishedKeys(jose: Jose, issuer: string, jwksUri: string | undefined): JWTVerifyGetKey {
  const { JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JOSENotSupported } = jose.errors;
  const ofToken = [JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JOSENotSupported];
  const outages = new OutageLog(`The key server of ${issuer}`);
  let keySet: Promise<ReturnType<Jose['createRemoteJWKSet']>> | undefined;
  let failure: { readonly cause: unknown; readonly until: number } | undefined;
  const readKeys = async (url: string, init: RequestInit): Promise<Response> => {
    // Each request would wait for a server that is away.
    if (failure && Date.now() < failure.until) throw failure.cause;
    const response = await fetchLimited(url, init);
    return Response.json(usableKeys((await response.json()) as KeySet));
  };
  const findKeySet = async () => {
    if (failure && Date.now() < failure.until) throw failure.cause;
    const url = new URL(jwksUri ?? (await discover(issuer)));
    return jose.createRemoteJWKSet(url, { timeoutDuration: TIMEOUT_MS, [jose.customFetch]: readKeys });
  };
  const unavailable = (cause: unknown, seconds = RETRY_S): ServiceUnavailable =>
    new ServiceUnavailable('Tokens cannot be verified at the moment, try again', seconds, { cause });
  return async (header, token) => {
    let isRecent = false;
    try {
      keySet ??= findKeySet();
      const find = await keySet.catch((error: unknown) => {
        keySet = undefined;
        throw error;
      });
      isRecent = find.coolingDown;
      const key = await find(header, token);
      outages.succeed();
      return key;
    } catch (cause) {
      // It may be a key that was published since the last read.
      if (cause instanceof JWKSNoMatchingKey && isRecent) throw unavailable(cause, COOLDOWN_S);
      if (ofToken.some((type) => cause instanceof type)) throw cause;
      if (failure?.cause !== cause) failure = { cause, until: Date.now() + RETRY_S * 1000 };
      outages.refuse((cause as Error).cause ?? cause);
      throw unavailable(cause);
    }
  };
}

interface KeySet {
  readonly keys?: unknown;
}

/** Of at least 2,048 bits (RFC 7518 §3.3), in the bytes of base64url. */
const LEAST_MODULUS = 342;

/**
 * The public keys that can verify a signature: one bad member takes no other one down. `EdDSA` and `Ed25519` are one
 * algorithm of an Ed25519 key (RFC 9864), so that the name in the set says nothing.
 */
function usableKeys(set: KeySet): KeySet {
  if (!Array.isArray(set.keys)) return set;
  const isPublic = (key: unknown): key is JWK =>
    isObject(key) && key['d'] === undefined && (key['kty'] !== 'RSA' || String(key['n']).length >= LEAST_MODULUS);
  const keys = set.keys.filter(isPublic);
  return { keys: keys.map(({ alg, ...key }) => ({ ...key, ...(key.crv !== 'Ed25519' && alg && { alg }) })) };
}

/** @returns the address of the key set @throws Error */
async function discover(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const read = async (url: string): Promise<string> => {
    const response = await fetchLimited(url, { signal });
    const { issuer: named, jwks_uri: found } = (await response.json()) as Readonly<Record<string, unknown>>;
    // RFC 8414 §3.3: another issuer could give its own keys out as those of this one.
    if (named !== issuer)
      throw new Error(
        `${url} must name the issuer ${issuer}, got ${describe(named)}. Correct \`issuer\`, or set \`jwksUri\`.`,
      );
    if (isTrustedUrl(found)) return found;
    throw new Error(`\`jwks_uri\` of ${url} must be an https URL, got ${describe(found)}. Set \`jwksUri\`.`);
  };
  // OpenID Connect Discovery puts its path behind that of the issuer, RFC 8414 in front of it.
  return read(`${origin}${path}/.well-known/openid-configuration`).catch((error: unknown) =>
    read(`${origin}/.well-known/oauth-authorization-server${path}`).catch(() => {
      throw error;
    }),
  );
}

/** @throws Error for a status other than 200, also for a redirect, and for an answer of more than 256 kB */
async function fetchLimited(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url} has answered with the status ${response.status}.`);
  }
  const tooLarge = `${url} has answered with more than ${MOST_BYTES} bytes.`;
  return new Response(await readBody(response, MOST_BYTES, tooLarge));
}
