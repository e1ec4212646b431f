/** Checks the options of `AuthModule` once, at startup, and fills in the defaults. */
import type { Type } from '@nestjs/common';
import { describe, expectKnownNames, InvalidOptionError, isClass } from '../options/invalid-option.js';
import { isEntity } from '../entities/declared-entities.js';
import { ACCESS_BY_NAME } from '../access/access.js';
import { expectRoleHierarchy } from '../access/role-hierarchy.js';
import {
  LoginMethod,
  type AuthSettings,
  type AuthStaticOptions,
  type ResolvedAuthOptions,
  type ResolvedStaticOptions,
} from './auth.options.js';
import { AuthUser } from './auth-user.js';
import { resolveSecret } from './jwt-secret.js';
import { UserRepository } from './user.repository.js';

interface OptionCheck {
  readonly option: string;
  readonly isValid: (value: unknown) => boolean;
  readonly expected: string;
  readonly advice: string;
}

const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isSubclass = (value: unknown, base: abstract new () => object): boolean =>
  isClass(value) && value.prototype instanceof base;
const isNameList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((name) => typeof name === 'string' && name.trim() !== '');
const isIntegerBetween = (value: unknown, min: number, max: number): boolean =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

const segmentsOf = (path: unknown): string[] => (typeof path === 'string' ? path.split('/').filter(Boolean) : []);
const isPlainSegment = (segment: string): boolean => /^[\w.~-]+$/.test(segment) && !/^\.+$/.test(segment);

const BOOLEAN = { isValid: isBoolean, expected: 'true or false', advice: 'set one of the two' };
const NAMES = { isValid: isNameList, expected: 'an array of names', advice: 'set an array such as ["ADMIN"]' };
/** The largest `exp` that a JavaScript date can hold, rounded. */
const MAX_HOURS = 2_000_000_000;

const STATIC_CHECKS: readonly OptionCheck[] = [
  {
    option: 'userClass',
    isValid: (value) => isSubclass(value, AuthUser),
    expected: 'a class that extends AuthUser',
    advice: 'declare `@Entity() class User extends AuthUser {}` and set it',
  },
  {
    option: 'repositoryClass',
    isValid: (value) => value === undefined || isSubclass(value, UserRepository),
    expected: 'a class that extends UserRepository',
    advice: 'extend it, or remove the option to store users with TypeORM',
  },
  {
    option: 'authBasePath',
    isValid: (value) => segmentsOf(value).length > 0 && segmentsOf(value).every(isPlainSegment),
    expected: 'a path of plain segments such as "/api/auth"',
    advice: 'use letters, digits, "-", "_", "." and "~" between slashes',
  },
  { option: 'registration', ...BOOLEAN },
];

/** They concern the TypeORM entity, so they do not apply with a `repositoryClass`. */
const ENTITY_CHECKS: readonly OptionCheck[] = [
  {
    option: 'userClass',
    isValid: (value) => isEntity(value as Type<AuthUser>),
    expected: 'a TypeORM entity',
    advice: 'decorate the class with @Entity(), or set a repositoryClass',
  },
  {
    option: 'userClass',
    isValid: (value) => !Reflect.hasOwnMetadata('design:type', (value as Type<AuthUser>).prototype, 'id'),
    expected: 'a class that inherits the `id` of AuthUser',
    advice: 'remove its own `id`: TypeORM keeps the column of the parent class',
  },
];

const SETTING_CHECKS: readonly OptionCheck[] = [
  {
    option: 'loginMethod',
    isValid: (value) => Object.values<unknown>(LoginMethod).includes(value),
    expected: 'LoginMethod.EMAIL or LoginMethod.USERNAME',
    advice: 'set one of the two',
  },
  {
    option: 'jwtExpirationHours',
    isValid: (value) => typeof value === 'number' && value > 0 && value <= MAX_HOURS,
    expected: `a positive number of hours, at most ${MAX_HOURS}`,
    advice: 'set for example 24',
  },
  {
    option: 'bcryptRounds',
    isValid: (value) => isIntegerBetween(value, 4, 31),
    expected: 'an integer from 4 to 31',
    advice: 'set for example 12',
  },
  {
    option: 'defaultAccess',
    isValid: (value) => value === undefined || (typeof value === 'string' && Object.hasOwn(ACCESS_BY_NAME, value)),
    expected: Object.keys(ACCESS_BY_NAME).join(' or '),
    advice: 'set one of them',
  },
  { option: 'registrationFields', ...NAMES, advice: 'set an array such as ["phone"]' },
  { option: 'enforcedRoles', ...NAMES, isValid: (value) => value === undefined || isNameList(value) },
  { option: 'strict', ...BOOLEAN },
  { option: 'explainRefusals', ...BOOLEAN },
];

const namesOf = (checks: readonly OptionCheck[]): string[] => checks.map(({ option }) => option);
const SETTING_NAMES = [...namesOf(SETTING_CHECKS), 'jwtSecret', 'roleHierarchy'];
export const OPTION_NAMES = [...namesOf(STATIC_CHECKS), ...SETTING_NAMES];
export const ASYNC_OPTION_NAMES = [
  ...namesOf(STATIC_CHECKS),
  'imports',
  'inject',
  'useFactory',
  'useClass',
  'useExisting',
  'provideInjectionTokensFrom',
];

/** Columns that the package checks or sets itself, so `registrationFields` cannot name them. */
const PACKAGE_FIELDS = ['id', 'email', 'username', 'password', 'role', 'firstName', 'lastName', 'active'];

const pathOf = (option: string): string => `AuthModule option \`${option}\``;

function assertValid(checks: readonly OptionCheck[], options: object): void {
  for (const { option, isValid, expected, advice } of checks) {
    const value = (options as Record<string, unknown>)[option];
    if (!isValid(value)) throw new InvalidOptionError(pathOf(option), expected, describe(value), advice);
  }
}

/** @throws InvalidOptionError */
export function resolveStaticOptions(options: AuthStaticOptions): ResolvedStaticOptions {
  const { userClass, repositoryClass, authBasePath = '/api/auth', registration = true } = options;
  const resolved = { userClass, repositoryClass, authBasePath, registration };
  assertValid(STATIC_CHECKS, resolved);
  if (repositoryClass === undefined) assertValid(ENTITY_CHECKS, resolved);
  return Object.freeze({ ...resolved, authBasePath: `/${segmentsOf(authBasePath).join('/')}` });
}

/**
 * @param settings the options of `forRoot`, or the result of the factory of `forRootAsync`
 * @param randomSecret signs tokens when no `jwtSecret` is configured
 * @throws InvalidOptionError
 */
export function resolveAuthOptions(
  settings: AuthSettings,
  statics: ResolvedStaticOptions,
  randomSecret: string,
): ResolvedAuthOptions {
  expectKnownNames('AuthModule options', settings, SETTING_NAMES);
  const {
    loginMethod = LoginMethod.EMAIL,
    jwtSecret,
    jwtExpirationHours = 24,
    bcryptRounds = 12,
    registrationFields = [],
    defaultAccess,
    enforcedRoles,
    roleHierarchy = {},
    strict = false,
    explainRefusals = false,
  } = settings;
  const checked = { jwtExpirationHours, bcryptRounds, registrationFields, defaultAccess, enforcedRoles, strict };
  assertValid(SETTING_CHECKS, { ...checked, loginMethod, explainRefusals });
  expectRoleHierarchy(roleHierarchy);
  assertAddedFields(registrationFields);
  if (explainRefusals && process.env['NODE_ENV'] === 'production')
    throw new InvalidOptionError(
      pathOf('explainRefusals'),
      'false in production',
      'true',
      'remove it there: it discloses the access rules',
    );
  return Object.freeze({
    ...statics,
    ...checked,
    loginField: loginMethod === LoginMethod.EMAIL ? 'email' : 'username',
    jwtSecret: resolveSecret(jwtSecret, randomSecret),
    roleHierarchy,
    explainRefusals,
    parseId: idParser(statics.userClass),
  });
}

function assertAddedFields(fields: readonly string[]): void {
  const refused = fields.filter((field) => PACKAGE_FIELDS.includes(field));
  if (refused.length > 0)
    throw new InvalidOptionError(
      pathOf('registrationFields'),
      "names of the application's own columns",
      refused.map(describe).join(', '),
      'remove them: a registration accepts the fields of AuthUser without this option, except id, role and active',
    );
}

/** Ids of type `string` stay text; others become numbers while they are safe integers. */
function idParser(userClass: Type<AuthUser>): (text: string) => string | number {
  if (Reflect.getMetadata('design:type', userClass.prototype, 'id') === String) return (text) => text;
  return (text) => (Number.isSafeInteger(Number(text)) && String(Number(text)) === text ? Number(text) : text);
}
