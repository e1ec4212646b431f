/** Tokens of another issuer, such as Keycloak or Auth0: JSON Web Tokens, verified by the keys that it publishes. */
import { Logger } from '@nestjs/common';
import { decodeJwt, errors, jwtVerify, type JWTVerifyGetKey, type JWTVerifyOptions } from 'jose';

import { credentialOf, type UserSource } from 'declarest/plugin';
import { readJwksOptions, type JwksOptions } from './jwks-options.js';
import { publishedKeys, TENANT } from './published-keys.js';
import { isFor, readerOf } from './token-claims.js';

const logger = new Logger('declarest');

/** A token that is signed with a published key as a secret is refused. */
const OF_PUBLIC_KEYS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/**
 * Accepts tokens of one issuer, by the public keys that it publishes. The keys are kept for 10 minutes, and are read
 * again, at most every 30 s, for a token of an unknown key. While the keys cannot be read, a request that needs a user is
 * answered with 503. A token of another issuer is none: another `jwks()` may accept it.
 * @throws InvalidOptionError
 * @example
 * AccessModule.forRoot({
 *   authenticate: jwks({
 *     issuer: 'https://login.example/realms/shop',
 *     audience: 'shop-api',
 *     principal: { roles: 'realm_access.roles' },
 *   }),
 * })
 */
export function jwks(options: JwksOptions): UserSource {
  const { issuer, audience, jwksUri, keys, secret, credential, clockTolerance, principal } = readJwksOptions(options);
  const audiences = audience === false ? undefined : [audience].flat();
  const algorithms = secret === undefined ? OF_PUBLIC_KEYS : ['HS256'];
  const userOf = typeof principal === 'function' ? principal : readerOf(principal);
  const warned = new Set<string>();
  const warnOnce = (message: string, ...cause: readonly unknown[]): undefined => {
    if (!warned.has(message)) logger.warn(message, ...cause);
    warned.add(message);
  };
  return {
    ...(credential && { credential }),
    decidesBy: {
      issuer,
      audience: audiences ?? 'any',
      jwksUri,
      keys: typeof keys === 'function' ? keys : keys && 'given',
      signature: secret === undefined ? 'public keys' : 'secret',
      credential: credential && `${credential.in} ${credential.name}`,
      clockTolerance,
      principal,
    },
    async start() {
      if (audiences === undefined)
        logger.warn(`\`audience: false\` of jwks accepts all tokens of ${issuer}, also those for other applications.`);
      const findKey = secret === undefined ? publishedKeys(issuer, jwksUri, keys) : () => Buffer.from(secret);
      return async (request) => {
        const token = credentialOf(request, credential) ?? '';
        const expected = issuerOf(token, issuer);
        if (expected === undefined) return undefined;
        const rules = { issuer: expected, algorithms, clockTolerance, requiredClaims: ['exp'] };
        const verified = await verify(token, findKey, rules);
        if (!verified || !isFor(audiences, verified.payload, verified.protectedHeader.typ)) return undefined;
        // Only the holder of the key may use it: it is no bearer token (RFC 7800, RFC 8705, RFC 9449).
        if (verified.payload['cnf'] !== undefined)
          return warnOnce(`Tokens of ${issuer} that are bound to a key (\`cnf\`) are refused. Issue bearer tokens.`);
        const user = (async () => userOf(verified.payload))();
        return user.catch((error: unknown) =>
          warnOnce(
            'The function `principal` of jwks failed: its tokens are refused.',
            error instanceof Error ? error.stack : error,
          ),
        );
      };
    },
  };
}

const GUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The issuer, where a token names it: no key of this issuer is read for other tokens. */
function issuerOf(token: string, issuer: string): string | undefined {
  try {
    const { iss, tid } = decodeJwt(token);
    const expected = typeof tid === 'string' && GUID.test(tid) ? issuer.replace(TENANT, tid) : issuer;
    return iss === expected && !expected.includes(TENANT) ? expected : undefined;
  } catch {
    return undefined;
  }
}

/** @returns `undefined` where no key has signed the token. Of several keys with one name, each is tried. */
async function verify(token: string, findKey: JWTVerifyGetKey, rules: JWTVerifyOptions) {
  const { JOSEError, JWKSMultipleMatchingKeys } = errors;
  const refuse = (error: unknown): undefined => {
    if (!(error instanceof JOSEError)) throw error;
  };
  try {
    return await jwtVerify(token, findKey, rules);
  } catch (error) {
    if (!(error instanceof JWKSMultipleMatchingKeys)) return refuse(error);
    for await (const key of error) {
      const verified = await jwtVerify(token, key, rules).catch(refuse);
      if (verified) return verified;
    }
    return undefined;
  }
}
