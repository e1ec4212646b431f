import { randomBytes } from 'node:crypto';
import { Logger, type Type } from '@nestjs/common';
import { areNames, describe, expectKnownNames, InvalidOptionError, isClass } from '../options/invalid-option.js';
import { plainPath } from '../options/plain-path.js';
import { isEntity } from '../entities/declared-entities.js';
import { ACCESS_BY_NAME } from '../access/access.js';
import { expectRoleHierarchy } from '../access/role-hierarchy.js';
import type { AuthSettings, AuthStaticOptions, ResolvedAuthOptions, ResolvedStaticOptions } from './auth.options.js';
import { AuthUser } from './auth-user.js';
import { expectPasswordPolicy } from './passwords/password-policy.js';
import { resolveThrottle } from './throttle/throttle-options.js';
import { resolveSessions } from './sessions/session-options.js';
import { UserRepository } from './user.repository.js';

const logger = new Logger('AuthModule');

type IsValid = (value: unknown) => boolean;
type OptionCheck = readonly [option: string, isValid: IsValid, expected: string, advice: string, fallback?: unknown];

/** The largest `exp` that a JavaScript date can hold, rounded. */
const MAX_HOURS = 2_000_000_000;
const MIN_SECRET_BYTES = 32;
const ACCESS_NAMES = Object.keys(ACCESS_BY_NAME);
const EXPLAIN_ADVICE = 'remove it: it discloses the access rules';
const SECRET_ADVICE = 'set a random string of at least 32 bytes, for example from `openssl rand -base64 48`';

const PROVIDER_KINDS = ['useClass', 'useExisting', 'useValue', 'useFactory'];
const HASHER_METHODS = ['hash', 'verify', 'needsRehash'];
const HASHER_ADVICE = 'give the three functions, or remove it: bcrypt is the default';

const hasMethod = (value: unknown, name: string): boolean =>
  typeof (value as Record<string, unknown> | null)?.[name] === 'function';
const isProduction = (): boolean => process.env['NODE_ENV'] === 'production';
const isFalseInProduction: IsValid = (value) => value === false || (value === true && !isProduction());
const isBoolean: IsValid = (value) => typeof value === 'boolean';
const isLoginMethod: IsValid = (value) => value === 'EMAIL' || value === 'USERNAME';
const isDefaultAccess: IsValid = (value) => value === undefined || ACCESS_NAMES.includes(value as string);
const isHours: IsValid = (value) => typeof value === 'number' && value > 0 && value <= MAX_HOURS;
const isRounds: IsValid = (value) => Number.isInteger(value) && Number(value) >= 4 && Number(value) <= 31;
const isTextOrNone: IsValid = (value) => value === undefined || (typeof value === 'string' && value.trim() !== '');
const isFunctionOrNone: IsValid = (value) => value === undefined || typeof value === 'function';
const isHasherOrNone: IsValid = (value) =>
  value === undefined || HASHER_METHODS.every((name) => hasMethod(value, name));
const isProviderOrNone: IsValid = (value) =>
  value === undefined || PROVIDER_KINDS.some((kind) => kind in ((value ?? {}) as object));
const areNamesOrNone: IsValid = (value) => value === undefined || areNames(value);
const isUserClass: IsValid = (value) => isClass(value) && value.prototype instanceof AuthUser;
const isRepository: IsValid = (value) =>
  value === undefined || (isClass(value) && value.prototype instanceof UserRepository);
const inheritsId: IsValid = (value) =>
  !Reflect.hasOwnMetadata('design:type', (value as Type<AuthUser>).prototype, 'id');
const isBasePath: IsValid = (path) => plainPath(path) !== undefined;

const BOOLEAN = [isBoolean, 'true or false', 'set one of the two'] as const;

const STATIC_CHECKS: readonly OptionCheck[] = [
  ['userClass', isUserClass, 'a class that extends AuthUser', 'set `@Entity() class User extends AuthUser {}`'],
  ['repositoryClass', isRepository, 'a class that extends UserRepository', 'extend it, or remove the option'],
  ['authBasePath', isBasePath, 'a path such as "/api/auth"', 'use only letters, digits and "/.-_~"', '/api/auth'],
  ['registration', ...BOOLEAN, true],
  ['passwordReset', ...BOOLEAN, false],
  ['requireVerified', ...BOOLEAN, false],
  ['administration', ...BOOLEAN, false],
  [
    'mailer',
    isProviderOrNone,
    'a provider such as useClass(Mailer)',
    'give useClass, useExisting, useValue or useFactory',
  ],
];

/** Options with an object of their own, each resolved where it belongs. */
const NESTED = { sessions: resolveSessions, throttle: resolveThrottle } satisfies Readonly<
  Record<string, (option: unknown) => unknown>
>;

/** Without a `repositoryClass`. */
const ENTITY_CHECKS: readonly OptionCheck[] = [
  ['userClass', (value) => isEntity(value as object), 'a TypeORM entity', 'add @Entity(), or set a repositoryClass'],
  // TypeORM keeps the column of the parent class.
  ['userClass', inheritsId, 'a class that inherits the `id` of AuthUser', 'remove its own `id` property'],
];

const SETTING_CHECKS: readonly OptionCheck[] = [
  ['loginMethod', isLoginMethod, 'LoginMethod.EMAIL or LoginMethod.USERNAME', 'set one of them', 'EMAIL'],
  ['jwtExpirationHours', isHours, `a positive number of hours, at most ${MAX_HOURS}`, 'set for example 24', 24],
  ['bcryptRounds', isRounds, 'an integer from 4 to 31', 'set for example 12', 12],
  ['passwordHasher', isHasherOrNone, 'an object with hash, verify and needsRehash', HASHER_ADVICE],
  ['defaultAccess', isDefaultAccess, ACCESS_NAMES.join(' or '), 'set one of them'],
  ['registrationFields', areNames, 'an array of non-empty names', 'set an array such as ["phone"]', []],
  ['enforcedRoles', areNamesOrNone, 'an array of non-empty names', 'set an array such as ["ADMIN"]'],
  ['strict', ...BOOLEAN, false],
  ['issuer', isTextOrNone, 'a string', 'set for example "https://shop.example"'],
  ['audience', isTextOrNone, 'a string', 'set for example "https://api.shop.example"'],
  ['claims', isFunctionOrNone, 'a function', 'set for example (user) => ({ tenantId: user.tenantId })'],
  ['explainRefusals', isFalseInProduction, 'true or false, and false in production', EXPLAIN_ADVICE, false],
];

const namesOf = (checks: readonly OptionCheck[]): string[] => checks.map(([option]) => option);
export const SETTING_NAMES = [
  ...namesOf(SETTING_CHECKS),
  'jwtSecret',
  'roleHierarchy',
  'accountLinks',
  'passwordPolicy',
];
const STATIC_NAMES = [...namesOf(STATIC_CHECKS), ...Object.keys(NESTED)];
export const OPTION_NAMES = [...STATIC_NAMES, ...SETTING_NAMES];
const FACTORY_NAMES = ['imports', 'inject', 'useFactory', 'useClass', 'useExisting', 'provideInjectionTokensFrom'];
export const ASYNC_NAMES = [...STATIC_NAMES, ...FACTORY_NAMES];

const pathOf = (option: string): string => `AuthModule option \`${option}\``;

function resolve(checks: readonly OptionCheck[], options: object): Record<string, unknown> {
  const resolved: Record<string, unknown> = {};
  for (const [option, isValid, expected, advice, fallback] of checks) {
    const { [option]: value = fallback } = options as Record<string, unknown>;
    if (!isValid(value)) throw new InvalidOptionError(pathOf(option), expected, describe(value), advice);
    resolved[option] = value;
  }
  return resolved;
}

export function resolveStaticOptions(options: AuthStaticOptions): ResolvedStaticOptions {
  const resolved = resolve(STATIC_CHECKS, options) as unknown as ResolvedStaticOptions;
  if (resolved.repositoryClass === undefined) resolve(ENTITY_CHECKS, options);
  const authBasePath = plainPath(resolved.authBasePath) as string;
  const nested = { sessions: NESTED.sessions(options.sessions), throttle: NESTED.throttle(options.throttle) };
  expectMailer(resolved);
  expectMethods(options);
  return Object.freeze({ ...resolved, ...nested, authBasePath, randomSecret: randomBytes(48).toString('base64') });
}

export function resolveAuthOptions(settings: AuthSettings, statics: ResolvedStaticOptions): ResolvedAuthOptions {
  expectKnownNames('AuthModule options', settings, SETTING_NAMES);
  const { loginMethod, ...checked } = resolve(SETTING_CHECKS, settings) as Required<AuthSettings>;
  const { jwtSecret, roleHierarchy = {}, accountLinks, passwordPolicy, jwtExpirationHours } = settings;
  if (jwtExpirationHours !== undefined && statics.sessions)
    logger.warn('jwtExpirationHours has no effect with `sessions`: set `sessions.accessTokenMinutes` instead.');
  expectRoleHierarchy(roleHierarchy);
  expectPasswordPolicy(passwordPolicy);
  return Object.freeze({
    ...statics,
    ...checked,
    roleHierarchy,
    ...(passwordPolicy && { passwordPolicy }),
    accountLinks: resolveLinks(accountLinks, statics),
    loginField: loginMethod === 'EMAIL' ? 'email' : 'username',
    jwtSecrets: resolveSecrets(jwtSecret, statics.randomSecret),
    parseId: idParser(statics.userClass),
  });
}

const needsMailer = ({ passwordReset, requireVerified }: ResolvedStaticOptions): string | undefined =>
  passwordReset ? 'passwordReset' : requireVerified ? 'requireVerified' : undefined;

function expectMailer(options: ResolvedStaticOptions): void {
  const option = needsMailer(options);
  if (option === undefined || options.mailer || !isProduction()) return;
  const advice = 'set `mailer`, for example to useClass(Mailer)';
  throw new InvalidOptionError(pathOf(option), 'used with a mailer in production', 'none', advice);
}

/** Methods of a `repositoryClass` that an option needs. */
const NEEDED_METHODS = [
  ['administration', 'list'],
  ['administration', 'remove'],
  ['sessions', 'remove'],
] as const;

function expectMethods(options: AuthStaticOptions): void {
  const { repositoryClass } = options;
  for (const [option, method] of NEEDED_METHODS)
    if (options[option] && repositoryClass?.prototype[method] === UserRepository.prototype[method]) {
      const expected = `used with a repositoryClass that has the method \`${method}\``;
      const advice = `add the method to ${repositoryClass.name}`;
      throw new InvalidOptionError(pathOf(option), expected, 'one without it', advice);
    }
}

function resolveLinks(links: unknown, statics: ResolvedStaticOptions): string {
  const option = needsMailer(statics);
  const advice = 'set the address of the front end, such as "https://shop.example/account"';
  if (links === undefined && isProduction() && option !== undefined)
    throw new InvalidOptionError(pathOf(option), 'used with `accountLinks` in production', 'none', advice);
  const { protocol, search, hash, href } = parseUrl(links ?? DEVELOPMENT_LINKS);
  if (!/^https?:$/.test(protocol) || search !== '' || hash !== '')
    throw new InvalidOptionError(
      pathOf('accountLinks'),
      'an absolute http or https URL without ? and #',
      describe(links),
      advice,
    );
  return href.replace(/\/+$/, '');
}

const DEVELOPMENT_LINKS = 'http://localhost:5173';
const NO_URL = { protocol: '', search: '', hash: '', href: '' };

const parseUrl = (text: unknown): Pick<URL, keyof typeof NO_URL> =>
  typeof text === 'string' && URL.canParse(text) ? new URL(text) : NO_URL;

function resolveSecrets(option: unknown, randomSecret: string): readonly [string, ...string[]] {
  if (!Array.isArray(option)) return [resolveSecret(option, randomSecret, 'jwtSecret')];
  const secrets = option.map((each: unknown, index) =>
    resolveSecret(each ?? null, randomSecret, `jwtSecret[${index}]`),
  );
  const [current, ...previous] = secrets;
  if (current !== undefined) return [current, ...previous];
  throw new InvalidOptionError(
    pathOf('jwtSecret'),
    'a string, or an array of strings',
    'an empty array',
    SECRET_ADVICE,
  );
}

/** Messages about a secret never contain it. */
function resolveSecret(secret: unknown, randomSecret: string, option: string): string {
  const fail = (expected: string, got: string): never => {
    throw new InvalidOptionError(pathOf(option), expected, got, SECRET_ADVICE);
  };
  if (secret === undefined) {
    if (isProduction()) fail('a secret in production', 'none');
    logger.warn('No jwtSecret configured; using a random one. Tokens become invalid on restart.');
    return randomSecret;
  }
  if (typeof secret !== 'string') return fail('a string', `a value of type ${typeof secret}`);
  if (secret.trim() === '') fail('a string', 'an empty string');
  const bytes = Buffer.byteLength(secret);
  if (bytes < MIN_SECRET_BYTES) {
    if (isProduction()) fail(`at least ${MIN_SECRET_BYTES} bytes in production`, `${bytes} bytes`);
    logger.warn(`${option} has ${bytes} bytes. Use at least ${MIN_SECRET_BYTES}, which production requires.`);
  }
  return secret;
}

/** Ids of type `string` stay text; others become numbers while they are safe integers. */
function idParser(userClass: Type<AuthUser>): (text: string) => string | number {
  if (Reflect.getMetadata('design:type', userClass.prototype, 'id') === String) return (text) => text;
  return (text) => (Number.isSafeInteger(Number(text)) && String(Number(text)) === text ? Number(text) : text);
}
