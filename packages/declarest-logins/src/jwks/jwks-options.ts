/** The options of jwks(): which tokens are accepted, where they are sent, and which user they stand for. */
import { InvalidOptionError } from 'declarest';
import {
  type CredentialPlace,
  describeValue,
  option,
  type OptionsOf,
  readOptions,
  refuseOption,
} from 'declarest/plugin';
import { isTrustedUrl, TENANT, usableKeys, type KeySource } from './published-keys.js';
import type { ClaimPaths, UserOf } from './token-claims.js';
import { type Accepts, areNames, isFunction, isObject } from '../values.js';

export interface JwksOptions {
  /**
   * The claim `iss` of the tokens, exactly as the issuer writes it: Auth0 has a slash at the end. Its key set is found by
   * OpenID Connect Discovery or RFC 8414. `{tenantid}` stands for the claim `tid` of Entra.
   * @example issuer: 'https://login.example/realms/shop'
   */
  issuer: string;
  /**
   * What the tokens must be for: one of these names in `aud`. A token without `aud` needs it in `client_id` (Cognito) or
   * `azp` (Clerk). `false` accepts every token of the issuer, with a warning: only for keys that sign for this API alone.
   * @example audience: 'https://api.shop.example'
   */
  audience: string | readonly string[] | false;
  /** The address of the key set, for an issuer without discovery. @default found by discovery */
  jwksUri?: string;
  /** The key set itself (RFC 7517), or a function that reads it within 2 s. What it returns is kept for 10 minutes. */
  keys?: KeySource;
  /** The secret of an issuer that signs by HS256, of at least 32 bytes (RFC 7518 §3.2). No public key counts then. */
  secret?: string;
  /**
   * The header or cookie that has the token. A cookie counts for a change, and for a request with `Origin`, only where a page
   * of this server sends it, or with the header `X-Requested-With`.
   * @default the header `Authorization`, as a bearer token
   * @example credential: { in: 'cookie', name: '__session' }
   */
  credential?: CredentialPlace;
  /** By how many seconds clocks may differ for `exp` and `nbf`, at most 300. @default 30 */
  clockTolerance?: number;
  /**
   * The user of a token: where its members are in the claims, or a function of the claims, which returns nothing for a token
   * that is no user. Further names become members of the user, such as `tenantId`.
   * @default { id: 'sub', email: 'email', roles: 'roles' }
   * @example principal: { roles: 'realm_access.roles' }
   */
  principal?: ClaimPaths | UserOf;
}

const ISSUER_ADVICE = 'set for example "https://login.example/realms/shop"';
const AUDIENCE_ADVICE = 'set the name of this API, such as "https://api.shop.example"';
const KEYS_ADVICE = 'set for example { keys: [publicKey] }';
const PRINCIPAL_ADVICE = 'set for example { roles: "realm_access.roles" }';
const URL_EXPECTED = 'an https URL; http only in development, and on this computer';
const PLACE_EXPECTED = '{ in: "header" or "cookie", name } other than Authorization';
const PRINCIPAL_EXPECTED = 'an object of names, arrays of names and functions, or a function';

/** RFC 9110 §5.6.2, which also holds for the names of cookies (RFC 6265 §4.1.1). */
const isTokenName: Accepts = (value) =>
  typeof value === 'string' && /^(?!authorization$)[\w!#$%&'*+.^`|~-]+$/i.test(value);
const isPlace: Accepts = (value) =>
  isObject(value) &&
  Object.keys(value).every((member) => member === 'in' || member === 'name') &&
  (value['in'] === 'header' || value['in'] === 'cookie') &&
  isTokenName(value['name']);
const isAudience: Accepts = (value) => value === false || areNames(value);
const isKeySource: Accepts = (value) => isFunction(value) || usableKeys(value).length > 0;
const isSecret: Accepts = (value) => typeof value === 'string' && Buffer.byteLength(value) >= 32;
const isPrincipal: Accepts = (value) =>
  isFunction(value) || (isObject(value) && Object.values(value).every((each) => isFunction(each) || areNames(each)));

const OPTIONS = {
  issuer: option.value('', URL_EXPECTED, isTrustedUrl, ISSUER_ADVICE),
  audience: option.value<JwksOptions['audience']>(
    '',
    'a name, an array of names, or false',
    isAudience,
    AUDIENCE_ADVICE,
  ),
  jwksUri: option.optional<string>(URL_EXPECTED, isTrustedUrl, 'set the address of the key set'),
  keys: option.optional<KeySource>(
    'a JWK set with a public key, or a function that reads one',
    isKeySource,
    KEYS_ADVICE,
  ),
  /** Checked apart, so that no message has it. */
  secret: option.optional<string>('', () => true, ''),
  credential: option.optional<CredentialPlace>(PLACE_EXPECTED, isPlace, 'leave it out for bearer tokens'),
  clockTolerance: option.integer(30, 0, 300),
  principal: option.value<ClaimPaths | UserOf>({}, PRINCIPAL_EXPECTED, isPrincipal, PRINCIPAL_ADVICE),
};

/** @throws InvalidOptionError */
export function readJwksOptions(options: JwksOptions): OptionsOf<typeof OPTIONS> {
  const settings = readOptions('jwks', OPTIONS, options);
  if (settings.secret !== undefined && !isSecret(settings.secret))
    refuseOption('jwks', 'secret', 'a text of at least 32 bytes', 'another value', 'set the secret of the issuer');
  const given = (['jwksUri', 'keys', 'secret'] as const).filter((name) => settings[name] !== undefined);
  if (given.length > 1)
    throw new InvalidOptionError('Keys of jwks', 'in one of its options', given.join(' and '), 'remove the others');
  if (settings.issuer.includes(TENANT) && !isFunction(settings.principal)) {
    const expected = `a function that decides by the claim \`tid\`, because \`issuer\` has ${TENANT}`;
    const advice = 'return nothing for a tenant that is none of yours: its administrators name roles';
    throw new InvalidOptionError('jwks option `principal`', expected, describeValue(options.principal), advice);
  }
  return settings;
}
