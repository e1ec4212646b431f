/** What the claims of a verified token say: whether it is an access token for this API, and who its user is. */
import type { ExternalUser } from 'declarest';
import { isObject } from '../values.js';

/** The claims of a verified token, whose types belong to the issuer. */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
export type TokenPayload = Readonly<Record<string, any>>;

/** A name, a path such as `realm_access.roles`, an array of names where a name has dots, or a function of the claims. */
export type ClaimPath = string | readonly string[] | ((claims: TokenPayload) => unknown);

/** Where each member of a user is in the claims. */
export interface ClaimPaths {
  readonly id?: ClaimPath;
  readonly email?: ClaimPath;
  readonly roles?: ClaimPath;
  readonly [member: string]: ClaimPath | undefined;
}

type Found = ExternalUser | null | undefined;
export type UserOf = (claims: TokenPayload) => Found | Promise<Found>;

/** `typ` of access tokens (RFC 9068), of tokens that do not say what they are for, and none. */
const TOKEN_TYPES = /^(application\/)?(at\+)?jwt$/i;
/** What the claim `typ` of Keycloak calls tokens that are not for APIs. Cognito has `token_use` for that. */
const OTHER_TOKENS: readonly unknown[] = ['ID', 'Refresh', 'Offline', 'Logout'];
/** Claims of ID tokens, which their readers check, and that an access token has not (OpenID Connect Core 1.0 §2, §3.3). */
const OF_ID_TOKENS = ['nonce', 'at_hash', 'c_hash', 's_hash'];

/**
 * Whether it is an access token for this API, and not a token of the same issuer for something else (RFC 8725 §3.11).
 * @param audiences `undefined` for any
 */
export function isFor(audiences: readonly string[] | undefined, claims: TokenPayload, type = 'JWT'): boolean {
  const { aud = claims['client_id'] ?? claims['azp'], typ, token_use: use = 'access', events } = claims;
  const named: readonly unknown[] = [aud].flat();
  const isIdToken = OF_ID_TOKENS.some((name) => claims[name] !== undefined);
  const isAccessToken = !OTHER_TOKENS.includes(typ) && use === 'access' && events === undefined && !isIdToken;
  const isForAudience = audiences === undefined || audiences.some((audience) => named.includes(audience));
  return TOKEN_TYPES.test(type) && isAccessToken && isForAudience;
}

export function readerOf(principal: ClaimPaths): UserOf {
  const paths = Object.entries({ id: 'sub', email: 'email', roles: 'roles', ...principal });
  const readers = paths.map(([member, path]) => [member, claimReader(path as ClaimPath)] as const);
  return (claims) => {
    const members = readers.map(([member, read]) => [member, read(claims)]);
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
function claimReader(path: ClaimPath): (claims: TokenPayload) => unknown {
  if (typeof path === 'function') return path;
  const paths = typeof path === 'string' ? [[path], path.split('.')] : [path];
  return (claims) => paths.map((names) => names.reduce(memberOf, claims)).find((value) => value !== undefined);
}

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
