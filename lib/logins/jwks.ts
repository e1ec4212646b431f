/** Bearer tokens of another issuer, such as Keycloak or Auth0: JSON Web Tokens, verified by the keys that it publishes. */
import { Logger } from '@nestjs/common';
import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import { bearerOf } from '../access/principal.js';
import { causeOf } from '../http/failure.js';
import { areNames, expectKnownNames, InvalidOptionError } from '../options/invalid-option.js';
import { isFunction, isObject, optional, readOptions, refuserOf, row, type Accepts } from '../options/option-table.js';
import { isTrustedUrl, publishedKeys } from './published-keys.js';
import type { ExternalUser, UserSource } from './user-source.js';

type Jose = typeof import('jose');

const logger = new Logger('declarest');

/** The claims of a verified token. */
export type TokenPayload = Readonly<Record<string, unknown>>;

export interface JwksOptions {
  /**
   * The claim `iss` of the tokens, exactly as the issuer writes it: Auth0 has a slash at the end. Its key set is found by
   * OpenID Connect Discovery or RFC 8414.
   * @example issuer: 'https://login.example/realms/shop'
   */
  issuer: string;
  /**
   * What the tokens must be for: one of these names in `aud`. Tokens of Cognito have no `aud`, but `client_id`.
   * @example audience: 'https://api.shop.example'
   */
  audience: string | readonly string[];
  /** The address of the key set, for an issuer without discovery. @default found by discovery */
  jwksUri?: string;
  /**
   * The user of a token: where its members are in the claims, or a function of the claims, which returns nothing for a token
   * that is no user. Further names become members of the user, such as `tenantId`.
   * @default { id: 'sub', email: 'email', roles: 'roles' }
   * @example principal: { roles: 'realm_access.roles' }
   */
  principal?: ClaimPaths | UserOf;
}

/** The claim of each member of a user: its name, or a path to it such as `realm_access.roles`. */
export interface ClaimPaths {
  readonly id?: string;
  readonly email?: string;
  readonly roles?: string;
  readonly [member: string]: string | undefined;
}

type Found = ExternalUser | null | undefined;
type UserOf = (claims: TokenPayload) => Found | Promise<Found>;

const ISSUER_ADVICE = 'set for example "https://login.example/realms/shop"';
const AUDIENCE_ADVICE = 'set the name of this API, such as "https://api.shop.example"';
const PRINCIPAL_ADVICE = 'set for example { roles: "realm_access.roles" }';
const URL_EXPECTED = 'an https URL; http only in development, and on this computer';

const isAudience: Accepts = (value) => areNames([value].flat()) && [value].flat().length > 0;
const isPrincipal: Accepts = (value) => isFunction(value) || (isObject(value) && areNames(Object.values(value)));

const OPTIONS = {
  issuer: row('', URL_EXPECTED, isTrustedUrl, ISSUER_ADVICE),
  audience: row<string | readonly string[]>('', 'a name, or an array of names', isAudience, AUDIENCE_ADVICE),
  jwksUri: optional<string>(URL_EXPECTED, isTrustedUrl, 'set the address of the key set'),
  principal: row<ClaimPaths | UserOf>({}, 'an object of names, or a function', isPrincipal, PRINCIPAL_ADVICE),
};

/** Signatures of public keys only: a token that is signed with a published key as a secret is refused. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
const CLOCK_TOLERANCE_S = 30;

/** `typ` of access tokens (RFC 9068), of tokens that do not say what they are for, and none. */
const TOKEN_TYPES = /^(application\/)?(at\+)?jwt$/i;
/** What the claim `typ` of Keycloak calls tokens that are not for APIs. Cognito has `token_use` for that. */
const OTHER_TOKENS: readonly unknown[] = ['ID', 'Refresh', 'Offline', 'Logout'];

/**
 * Accepts bearer tokens of one issuer, by the public keys that it publishes. The keys are kept for 10 minutes, and are read
 * again, at most every 30 s, for a token of an unknown key. Clocks may differ by 30 s. While the keys cannot be read, a
 * request that needs a user is answered with 503. Needs the package `jose`.
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
  expectKnownNames('The options of jwks', options, Object.keys(OPTIONS));
  const { issuer, audience, jwksUri, principal } = readOptions(OPTIONS, options, refuserOf('jwks'));
  const verification = { issuer, algorithms: ALGORITHMS, clockTolerance: CLOCK_TOLERANCE_S, requiredClaims: ['exp'] };
  const userOf = typeof principal === 'function' ? principal : readerOf(principal);
  let hasFailed = false;
  const findUser: UserOf = async (claims) => {
    try {
      return await userOf(claims);
    } catch (error) {
      if (!hasFailed) logger.warn('The function `principal` of jwks failed: its tokens are refused.', causeOf(error));
      hasFailed = true;
      return undefined;
    }
  };
  return {
    decidesBy: { issuer, audience: [audience].flat(), jwksUri, principal },
    async start() {
      const jose = await import('jose').catch(() => {
        throw new InvalidOptionError('jwks', 'used with the package jose', 'none', 'run npm install jose');
      });
      const keys = publishedKeys(jose, issuer, jwksUri);
      return async (request) => {
        const { token } = bearerOf(request);
        if (token === undefined) return undefined;
        const verified = await verify(jose, token, keys, verification);
        if (!verified) return undefined;
        const { payload, protectedHeader } = verified;
        return isFor([audience].flat(), payload, protectedHeader.typ) ? findUser(payload) : undefined;
      };
    },
  };
}

/** @returns `undefined` where no key has signed the token. Of several keys with one name, each is tried. */
async function verify(jose: Jose, token: string, keys: JWTVerifyGetKey, verification: JWTVerifyOptions) {
  const { JOSEError, JWKSMultipleMatchingKeys } = jose.errors;
  const refuse = (error: unknown): undefined => {
    if (!(error instanceof JOSEError)) throw error;
  };
  try {
    return await jose.jwtVerify(token, keys, verification);
  } catch (error) {
    if (!(error instanceof JWKSMultipleMatchingKeys)) return refuse(error);
    for await (const key of error) {
      const verified = await jose.jwtVerify(token, key, verification).catch(refuse);
      if (verified) return verified;
    }
    return undefined;
  }
}

/** Claims of ID tokens, which their readers check, and that an access token has not (OpenID Connect Core 1.0 §2, §3.3). */
const OF_ID_TOKENS = ['nonce', 'at_hash', 'c_hash', 's_hash'];

/** Whether it is an access token for this API, and not a token of the same issuer for something else (RFC 8725 §3.11). */
function isFor(audiences: readonly string[], claims: TokenPayload, type = 'JWT'): boolean {
  const { aud = claims['client_id'], typ, token_use: use = 'access', events } = claims;
  const named: readonly unknown[] = [aud].flat();
  const isIdToken = OF_ID_TOKENS.some((name) => claims[name] !== undefined);
  // A token that is bound to a key is no bearer token: only its holder may use it (RFC 9449, RFC 8705).
  const isBound = claims['cnf'] !== undefined;
  const isAccessToken = !OTHER_TOKENS.includes(typ) && use === 'access' && events === undefined && !isIdToken;
  return TOKEN_TYPES.test(type) && isAccessToken && !isBound && audiences.some((audience) => named.includes(audience));
}

function readerOf(principal: ClaimPaths): UserOf {
  const paths = Object.entries({ id: 'sub', email: 'email', roles: 'roles', ...principal });
  return (claims) => {
    const members = paths.map(([member, path]) => [member, readClaim(claims, String(path))]);
    const { email, roles, ...user } = Object.fromEntries(members) as ExternalUser;
    return {
      ...user,
      // An address that is not confirmed may be that of somebody else. Cognito writes the claim as text, better-auth in
      // another form.
      email: [claims['email_verified'], claims['emailVerified']].every(isConfirmed) ? email : '',
      // Supabase has one role as a text, and RFC 9068 has scopes with spaces between them.
      roles: typeof roles === 'string' ? (roles as string).split(' ').filter(Boolean) : roles,
    };
  };
}

const isConfirmed = (claim: unknown): boolean => [undefined, true, 'true'].includes(claim as undefined);

/** A name with dots, such as `https://shop.example/roles`, is a claim first, and a path where there is no such claim. */
function readClaim(claims: TokenPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      claims,
    );
}
