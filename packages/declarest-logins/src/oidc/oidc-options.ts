/** The options of the plugin `oidc`. */
import type { AuthUser } from 'declarest';
import { describeValue, option, readOptions, refuseOption } from 'declarest/plugin';
import { isLoopback } from '../remote-servers.js';
import { type Accepts, isFunction, isObject } from '../values.js';

declare module 'declarest' {
  interface AuthEventMap {
    'identity.linked': { readonly userId: string; readonly provider: string };
    'identity.unlinked': { readonly userId: string; readonly provider: string };
  }
}

/** A provider that users can log in with. */
export interface OidcProvider {
  /** @default 'oidc'. `github` is OAuth 2 of GitHub, which has no ID tokens. */
  type?: 'oidc' | 'github';
  /**
   * The issuer, as its discovery document spells it. It needs HTTPS, except on a loopback address.
   * @default with `type: 'github'`, that of github.com
   * @example 'https://accounts.google.com'
   */
  issuer?: string;
  /** As the provider has registered the application. */
  clientId: string;
  clientSecret: string | undefined;
  /**
   * The addresses of the front end, or of an app, that the provider may send users back to. A front end names one of them;
   * the first is the default. No other provider has the same ones, so that the answer of one does not count for another.
   * @example ['https://shop.example/login/google']
   */
  redirectUris: readonly string[];
  /**
   * The claim that says that the provider has verified the address: it must be `true`.
   * @default 'email_verified'
   * @example 'xms_edov'
   */
  verifiedClaim?: string;
}

/** A user as a provider has identified them. The issuer and the subject tell users apart, never the address. */
export interface ExternalProfile {
  /** The name of the provider in the option `providers`. */
  readonly provider: string;
  readonly issuer: string;
  /** The id of the user at the provider. */
  readonly subject: string;
  /** Lower-cased. `undefined` unless the provider says that it is verified. */
  readonly email: string | undefined;
  /** As the provider sends them: of the ID token and of the user info, or the user of GitHub's API. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The fields of a user that a provider cannot know. The address is that of the profile, if it is verified. */
export type ExternalUserFields = Readonly<Record<string, unknown>> & {
  readonly email?: never;
  readonly password?: never;
};

export interface OidcOptions {
  /** The providers by name. The names stand in paths: letters, digits, `-` and `_`. */
  providers: Readonly<Record<string, OidcProvider>>;
  /**
   * Whether a login without an account creates one. A function returns further fields of the new user, such as its
   * `username` or `role`; what it throws refuses the registration.
   * @default the option `registration`
   * @example register: ({ claims }) => ({ username: String(claims.preferred_username) })
   */
  register?: boolean | ((profile: ExternalProfile) => ExternalUserFields | Promise<ExternalUserFields>);
  /**
   * Returns the fields of a user that change with a later login, such as the `role` by a group at the provider; what it throws
   * refuses the login. The login of the last active `ADMIN` who would lose the role is 409.
   * @default none: logins change no user
   * @example update: ({ claims }) => ({ role: claims['department'] === 'sales' ? 'STAFF' : 'USER' })
   */
  update?: (profile: ExternalProfile, user: AuthUser) => ExternalUserFields | Promise<ExternalUserFields>;
}

const GITHUB = 'https://github.com/login/oauth';
const MAX_LENGTH = 255;
const NAME = /^[\w-]{1,64}$/;
/** A scheme of an app, such as `com.example.shop` (RFC 8252 §7.1). */
const APP_SCHEME = /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+:$/;

const isText: Accepts = (value) => typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH;

/** An address in its normal form, without a query, a fragment or credentials. */
function isAddress(value: unknown, allows: (url: URL) => boolean): boolean {
  if (!isText(value) || /[?#]/.test(String(value)) || !URL.canParse(String(value))) return false;
  const url = new URL(String(value));
  return url.username === '' && url.password === '' && [url.href, url.origin].includes(String(value)) && allows(url);
}

const isType: Accepts = (value) => value === 'oidc' || value === 'github';
const isSecure = (url: URL): boolean => url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
const isIssuer: Accepts = (value) => isAddress(value, isSecure);
const isRedirectUri: Accepts = (value) =>
  isAddress(value, (url) => url.href === value && (isSecure(url) || APP_SCHEME.test(url.protocol)));

const OPTIONS = {
  providers: option.value<Readonly<Record<string, unknown>>>(
    {},
    'an object of providers by name',
    (value) => isObject(value) && Object.keys(value).length > 0 && Object.keys(value).every((name) => NAME.test(name)),
    'set for example { google: { issuer: "https://accounts.google.com", … } }; names have letters, digits, "-" and "_"',
  ),
  register: option.optional<OidcOptions['register']>(
    'true, false, or a function',
    (value) => typeof value === 'boolean' || isFunction(value),
    'give for example a function of the profile that returns { username }',
  ),
  update: option.optional<OidcOptions['update']>('a function', isFunction, 'return for example { role: "STAFF" }'),
};

const PROVIDER = {
  type: option.value<'oidc' | 'github'>('oidc', '"oidc" or "github"', isType, 'set one of them'),
  issuer: option.value(
    '',
    'an address with https, or with http on a loopback address, without a query',
    (value) => value === '' || isIssuer(value),
    'set the `issuer` of the discovery document, such as "https://accounts.google.com"',
  ),
  clientId: option.value('', 'the id of the client at the provider', isText, 'copy it from the provider'),
  /** Checked apart, so that no message has it. */
  clientSecret: option.value('', 'a string', () => true, ''),
  redirectUris: option.value<readonly string[]>(
    [],
    'a list of addresses',
    (value) => Array.isArray(value) && value.length > 0,
    'set for example ["https://shop.example/login/google"]',
  ),
  verifiedClaim: option.value('email_verified', 'the name of a claim', isText, 'set for example "xms_edov"'),
};

export interface ProviderSettings extends Required<OidcProvider> {
  readonly name: string;
}

export interface OidcSettings {
  readonly providers: ReadonlyMap<string, ProviderSettings>;
  readonly register: OidcOptions['register'];
  readonly update: OidcOptions['update'];
}

export const OIDC_SETTINGS = Symbol('declarest.oidcSettings');

/** @throws InvalidOptionError */
export function readSettings(options: unknown): OidcSettings {
  const { providers, register, update } = readOptions('oidc', OPTIONS, options);
  const read = Object.entries(providers).map(([name, given]) => [name, readProvider(name, given)] as const);
  const uris = read.flatMap(([, { redirectUris }]) => redirectUris);
  const repeated = uris.find((uri, index) => uris.indexOf(uri) !== index);
  if (repeated !== undefined) {
    const advice = 'give each provider a page of its own, such as "https://shop.example/login/github"';
    const expected = 'providers with different redirectUris';
    refuseOption('oidc', 'providers', expected, `${describeValue(repeated)} twice`, advice);
  }
  return Object.freeze({ providers: new Map(read), register, update });
}

function readProvider(name: string, given: unknown): ProviderSettings {
  const path = `providers.${name}`;
  const read = readOptions('oidc', PROVIDER, given, path);
  const issuer = read.issuer === '' && read.type === 'github' ? GITHUB : read.issuer;
  if (issuer === '') refuseOption('oidc', `${path}.issuer`, PROVIDER.issuer.expected, 'none', PROVIDER.issuer.advice);
  const wrong = read.redirectUris.find((uri) => !isRedirectUri(uri));
  if (wrong !== undefined) {
    const expected = 'addresses in their normal form with https, http on a loopback address, or the scheme of an app';
    const normal: unknown = URL.canParse(wrong) ? new URL(wrong).href : wrong;
    const advice = isRedirectUri(normal) ? `write ${describeValue(normal)}` : 'leave out queries and fragments';
    refuseOption('oidc', `${path}.redirectUris`, expected, describeValue(wrong), advice);
  }
  const secret: unknown = read.clientSecret;
  if (typeof secret !== 'string' || secret === '') {
    const got = secret === '' ? 'none' : `a value of type ${typeof secret}`;
    const advice = 'read it from the environment, such as process.env["GOOGLE_SECRET"]';
    refuseOption('oidc', `${path}.clientSecret`, 'the secret of the client at the provider', got, advice);
  }
  return Object.freeze({ ...read, name, issuer });
}

/** @throws InvalidOptionError where new users need fields that no provider knows */
export function expectFields(settings: OidcSettings, isAllowed: boolean, required: readonly string[]): void {
  const missing = required.filter((name) => name !== 'email' && name !== 'password');
  if (missing.length === 0 || typeof settings.register === 'function' || !isAllowed) return;
  const expected = `a function that returns ${missing.join(', ')}, which new users must have`;
  const got = settings.register === undefined ? 'none' : describeValue(settings.register);
  refuseOption('oidc', 'register', expected, got, 'set it, or set `register` to false');
}
