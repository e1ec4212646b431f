import { randomBytes } from 'node:crypto';
import { Logger, type Type } from '@nestjs/common';
import { ACCESS_SETTINGS } from '../../access/access-options.js';
import { ADMIN_ROLE } from '../../http/caller.js';
import { isEntity } from '../../entities/declared-entities.js';
import { areNames, expectKnownNames, isClass, isProduction } from '../../options/invalid-option.js';
import { flag, integer, isFunction, isObject, isOneOf, optional } from '../../options/option-table.js';
import { plainPath, positive, readNestedOptions, readOptions, refuseAuthOption } from '../../options/option-table.js';
import { row, type Accepts, type OptionsOf } from '../../options/option-table.js';
import { BCRYPT_BYTES, type PasswordHasher } from '../passwords/password-hasher.js';
import { PASSWORD_POLICY } from '../passwords/password-policy.js';
import type { CollectedSetup } from '../plugins/collected-setup.js';
import type { AuthPlugin } from '../plugins/plugin.js';
import { resolveThrottle, type ThrottleSettings } from '../throttle/throttle-options.js';
import { AuthUser } from '../users/auth-user.js';
import { USER_CHECKS } from '../users/user-checks.js';
import { UserRepository, type LoginField } from '../users/user.repository.js';
import type { AuthSettings, AuthStaticOptions } from './auth.options.js';
import { resolveSecrets } from './jwt-secret.js';
import type { MailerProvider } from './mailer.js';
import { expectNoCredentialRoles, expectPlugins } from './plugin-checks.js';
import type { SessionOptions } from './session-options.js';

const logger = new Logger('AuthModule');

/** The largest `exp` that a JavaScript date can hold, rounded. */
const MAX_HOURS = 2_000_000_000;
const CLAIMS_ADVICE = 'set for example (user) => ({ tenantId: user.tenantId })';
const EXTEND_ADVICE = 'extend it, or remove the option';
const LINKS_ADVICE = 'set the address of the front end, such as "https://shop.example/account"';
const LOGIN_METHODS = 'LoginMethod.EMAIL or LoginMethod.USERNAME';
const MAILER_ADVICE = 'give useClass, useExisting, useValue or useFactory';
const USER_ADVICE = 'set `@Entity() class User extends AuthUser {}`';

const PROVIDER_KINDS = ['useClass', 'useExisting', 'useValue', 'useFactory'];
const HASHER_METHODS = ['hash', 'verify', 'needsRehash'];
const HASHER_ADVICE = 'give the three functions, or remove it: bcrypt is the default';
const HASHER = { maxBytes: integer(BCRYPT_BYTES, BCRYPT_BYTES, 1_024) };

const isText: Accepts = (value) => typeof value === 'string' && value.trim() !== '';
const isHasher: Accepts = (value) => HASHER_METHODS.every((name) => isFunction((value as never)?.[name]));
const isProvider: Accepts = (value) => PROVIDER_KINDS.some((kind) => kind in ((value ?? {}) as object));
const isUserClass: Accepts = (value) => isClass(value) && value.prototype instanceof AuthUser;
const isRepository: Accepts = (value) => isClass(value) && value.prototype instanceof UserRepository;
const inheritsId: Accepts = (value) =>
  !Reflect.hasOwnMetadata('design:type', (value as Type<AuthUser>).prototype, 'id');
const isRegistrationRole: Accepts = (role) => role !== ADMIN_ROLE && 'value' in USER_CHECKS.role(role);
const arePlugins: Accepts = (value) =>
  Array.isArray(value) && value.every((each) => isObject(each) && isText(each['name']));
const isBasePath: Accepts = (path) => plainPath(path) !== undefined;
const isAddress: Accepts = (text) => {
  if (typeof text !== 'string' || !URL.canParse(text)) return false;
  const { protocol, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && search === '' && hash === '';
};

const STATIC_OPTIONS = {
  userClass: row<Type<AuthUser>>(undefined as never, 'a class that extends AuthUser', isUserClass, USER_ADVICE),
  repositoryClass: optional<Type<UserRepository>>('a class that extends UserRepository', isRepository, EXTEND_ADVICE),
  authBasePath: row('/api/auth', 'a path such as "/api/auth"', isBasePath, 'use only letters, digits and "/.-_~"'),
  registration: flag(true),
  passwordReset: flag(false),
  requireVerified: flag(false),
  administration: flag(false),
  plugins: row<readonly AuthPlugin[]>([], 'an array of plugins', arePlugins, 'set for example [sessions()]'),
  mailer: optional<MailerProvider>('a provider such as { useClass: ShopMailer }', isProvider, MAILER_ADVICE),
};

const ENTITY_CHECKS = [
  row(undefined, 'a TypeORM entity', (value) => isEntity(value as object), 'add @Entity(), or set a repositoryClass'),
  // TypeORM keeps the column of the parent class.
  row(undefined, 'a class that inherits the `id` of AuthUser', inheritsId, 'remove its own `id` property'),
];

const SETTINGS = {
  loginMethod: row('EMAIL', LOGIN_METHODS, isOneOf('EMAIL', 'USERNAME'), 'set one of them'),
  jwtExpirationHours: positive(24, 'hours', MAX_HOURS),
  bcryptRounds: integer(12, 4, 31),
  passwordHasher: optional<PasswordHasher>('an object with hash, verify and needsRehash', isHasher, HASHER_ADVICE),
  registrationFields: row<readonly string[]>([], 'an array of non-empty names', areNames, 'set for example ["phone"]'),
  registrationRole: optional<string>('a role other than "ADMIN"', isRegistrationRole, 'set for example "CUSTOMER"'),
  issuer: optional<string>('a string', isText, 'set for example "https://shop.example"'),
  audience: optional<string>('a string', isText, 'set for example "https://api.shop.example"'),
  claims: optional<AuthSettings['claims']>('a function', isFunction, CLAIMS_ADVICE),
  accountLinks: row('http://localhost:5173', 'an absolute http or https URL without ? and #', isAddress, LINKS_ADVICE),
  ...ACCESS_SETTINGS,
};

export const SETTING_NAMES = [...Object.keys(SETTINGS), 'jwtSecret', 'passwordPolicy'];
const STATIC_NAMES = [...Object.keys(STATIC_OPTIONS), 'sessions', 'throttle', 'jwtKeys'];
export const OPTION_NAMES = [...STATIC_NAMES, ...SETTING_NAMES];
export const ASYNC_NAMES = [...STATIC_NAMES, 'imports', 'inject', 'useFactory'];

/** The static options without the plugins that they declare. */
export type DeclaringOptions = OptionsOf<typeof STATIC_OPTIONS> & {
  readonly sessions: boolean | SessionOptions;
  readonly throttle: ThrottleSettings | undefined;
  readonly jwtKeys: unknown;
};
export type ResolvedStaticOptions = ReturnType<typeof resolveStaticOptions>;
export type ResolvedAuthOptions = ReturnType<typeof resolveAuthOptions>;

/** @param declare makes the plugins of checked options @throws InvalidOptionError */
export function resolveStaticOptions(
  options: AuthStaticOptions,
  declare: (options: DeclaringOptions) => readonly AuthPlugin[],
) {
  const read = readOptions(STATIC_OPTIONS, options, refuseAuthOption);
  if (!read.repositoryClass)
    for (const userClass of ENTITY_CHECKS) readOptions({ userClass }, options, refuseAuthOption);
  const throttle = resolveThrottle(options.throttle);
  const { sessions = false, jwtKeys } = options;
  const plugins = declare({ ...read, sessions, throttle, jwtKeys });
  const setup = expectPlugins(plugins, read.repositoryClass);
  expectInProduction('a mailer', read.mailer, 'set `mailer`, for example to { useClass: ShopMailer }', setup);
  return Object.freeze({
    ...read,
    plugins,
    setup,
    throttle,
    tokenKeys: setup.tokenKeys,
    /** What a plugin sets in place of `jwtExpirationHours`. */
    accessTokenSeconds: setup.lifetimes[0]?.[1],
    authBasePath: plainPath(read.authBasePath) as string,
    /** Replaces a missing `jwtSecret`. Each `forRoot` call has one: a second `compile()` of a test keeps its tokens valid. */
    randomSecret: randomBytes(48).toString('base64'),
  });
}

export function resolveAuthOptions(settings: AuthSettings, statics: ResolvedStaticOptions) {
  expectKnownNames('AuthModule options', settings, SETTING_NAMES);
  const { loginMethod, ...read } = readOptions(SETTINGS, settings, refuseAuthOption);
  const { jwtSecret, passwordPolicy = { common: false } } = settings;
  const { tokenKeys, randomSecret } = statics;
  const jwtSecrets = jwtSecret === undefined && tokenKeys.length > 0 ? [] : resolveSecrets(jwtSecret, randomSecret);
  for (const [{ name }] of statics.setup.lifetimes)
    if (settings.jwtExpirationHours !== undefined)
      logger.warn(`jwtExpirationHours has no effect with \`${name}\`, which sets the lifetime. Remove it.`);
  readNestedOptions('passwordHasher', HASHER, { maxBytes: read.passwordHasher?.maxBytes });
  if (statics.setup.keys) expectNoCredentialRoles(read.roleHierarchy);
  expectInProduction('`accountLinks`', settings.accountLinks, LINKS_ADVICE, statics.setup);
  return Object.freeze({
    ...statics,
    ...read,
    passwordPolicy: readNestedOptions('passwordPolicy', PASSWORD_POLICY, passwordPolicy),
    accountLinks: new URL(read.accountLinks).href.replace(/\/+$/, ''),
    loginField: (loginMethod === 'EMAIL' ? 'email' : 'username') as LoginField,
    /** The first one signs, unless there are keys. */
    jwtSecrets,
    /** What only the server knows, the current one first: keys for other purposes are derived from each. */
    serverSecrets: [...tokenKeys.map(({ secret }) => secret), ...jwtSecrets],
    parseId: idParser(statics.userClass),
  });
}

/** Refuses plugins that mail links in production, where what they need is not given. */
function expectInProduction(needed: string, given: unknown, advice: string, { mailing: plugin }: CollectedSetup): void {
  if (given !== undefined || !isProduction() || !plugin) return;
  refuseAuthOption(plugin.option ?? plugin.name, `used with ${needed} in production`, 'none', advice);
}

/** Ids of type `string` stay text; others become numbers while they are safe integers. */
function idParser(userClass: Type<AuthUser>): (text: string) => string | number {
  if (Reflect.getMetadata('design:type', userClass.prototype, 'id') === String) return (text) => text;
  return (text) => (Number.isSafeInteger(Number(text)) && String(Number(text)) === text ? Number(text) : text);
}
