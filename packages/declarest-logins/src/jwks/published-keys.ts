/** The public keys of an issuer: where it publishes them, and how they are read. */
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type JWK, type JWTVerifyGetKey } from 'jose';
import { defer, firstValueFrom, timeout } from 'rxjs';
import { describeValue, OutageLog, ServiceUnavailable } from 'declarest/plugin';
import { isLoopback, readBody } from '../remote-servers.js';
import { isObject } from '../values.js';

const TIMEOUT_MS = 2_000;
const MOST_BYTES = 262_144;
const RETRY_S = 5;
/** jose reads no keys again before. */
const COOLDOWN_S = 30;
/** Stands in issuers of Entra for the tenant that has signed, and in its metadata. */
export const TENANT = '{tenantid}';

type KeySet = Readonly<Record<'keys', readonly object[]>>;
/** A JWK set (RFC 7517), or a function that reads one. */
export type KeySource = KeySet | (() => unknown);

/** Keys that are read without encryption can be replaced by others. */
export function isTrustedUrl(text: unknown): text is string {
  if (typeof text !== 'string' || !URL.canParse(text)) return false;
  const url = new URL(text);
  const isOpen = isLoopback(url) || process.env['NODE_ENV'] !== 'production';
  return url.hash === '' && (url.protocol === 'https:' || (url.protocol === 'http:' && isOpen));
}

/** Finds the key of a token, or those that it may be. It throws ServiceUnavailable while the keys cannot be read. */
export function publishedKeys(issuer: string, jwksUri?: string, source?: KeySource): JWTVerifyGetKey {
  const { JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JOSENotSupported } = errors;
  const ofToken = [JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JOSENotSupported];
  const outages = new OutageLog(`The key server of ${issuer}`);
  const read =
    typeof source === 'function'
      ? () => firstValueFrom(defer(async () => source()).pipe(timeout(TIMEOUT_MS)))
      : async (url: string, init: RequestInit) => (await fetchLimited(url, init)).json();
  let keySet: Promise<JWTVerifyGetKey & { readonly coolingDown?: boolean }> | undefined;
  let failure: { readonly cause: unknown; readonly until: number } | undefined;
  const readKeys = async (url: string, init: RequestInit): Promise<Response> => {
    // Each request would wait for a server that is away.
    if (failure && Date.now() < failure.until) throw failure.cause;
    const set: unknown = await read(url, init);
    return Response.json(isKeySet(set) ? { keys: usableKeys(set, issuer) } : {});
  };
  const findKeySet = async () => {
    if (typeof source === 'object') return createLocalJWKSet({ keys: usableKeys(source, issuer) });
    if (failure && Date.now() < failure.until) throw failure.cause;
    // A function needs no address.
    const url = new URL(source ? issuer : (jwksUri ?? (await discover(issuer))));
    return createRemoteJWKSet(url, { timeoutDuration: TIMEOUT_MS, [customFetch]: readKeys });
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
      isRecent = find.coolingDown === true;
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

/** Of at least 2,048 bits (RFC 7518 §3.3), in the bytes of base64url. */
const LEAST_MODULUS = 342;

const isKeySet = (set: unknown): set is KeySet => isObject(set) && Array.isArray(set['keys']);

/**
 * The public keys that can verify a signature: one bad member takes no other one down. `EdDSA` and `Ed25519` are one
 * algorithm of an Ed25519 key (RFC 9864), so that the name in the set says nothing. Of the keys for all tenants of Entra,
 * those that name one tenant are left out: they sign for no other.
 */
export function usableKeys(set: unknown, issuer = ''): JWK[] {
  const isUsable = (key: unknown): key is JWK =>
    isObject(key) &&
    ['RSA', 'EC', 'OKP'].includes(String(key['kty'])) &&
    key['d'] === undefined &&
    (key['kty'] !== 'RSA' || String(key['n']).length >= LEAST_MODULUS) &&
    (!issuer.includes(TENANT) || String(key['issuer'] ?? TENANT).includes(TENANT));
  const keys = isKeySet(set) ? set.keys.filter(isUsable) : [];
  return keys.map(({ alg, ...key }) => ({ ...key, ...(key.crv !== 'Ed25519' && alg && { alg }) }));
}

/** @returns the address of the key set @throws Error */
async function discover(issuer: string): Promise<string> {
  // Entra publishes the metadata of all tenants for this one.
  const { origin, pathname } = new URL(issuer.replace(TENANT, 'common'));
  const path = pathname.replace(/\/$/, '');
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const read = async (url: string): Promise<string> => {
    const response = await fetchLimited(url, { signal });
    const { issuer: named, jwks_uri: found } = (await response.json()) as Readonly<Record<string, unknown>>;
    // RFC 8414 §3.3: another issuer could give its own keys out as those of this one.
    if (named !== issuer)
      throw new Error(
        `${url} must name the issuer ${issuer}, got ${describeValue(named)}. Correct \`issuer\`, or set \`jwksUri\`.`,
      );
    if (isTrustedUrl(found)) return found;
    throw new Error(`\`jwks_uri\` of ${url} must be an https URL, got ${describeValue(found)}. Set \`jwksUri\`.`);
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
