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

type OptionCheck = readonly [option: string, isValid: (value: unknown) => boolean, expected: string, advice: string];

/** The largest `exp` that a JavaScript date can hold, rounded. */
const MAX_HOURS = 2_000_000_000;
const LOGIN_METHODS: readonly unknown[] = Object.values(LoginMethod);
const DEFAULT_ACCESS: readonly unknown[] = [undefined, ...Object.keys(ACCESS_BY_NAME)];

const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isLoginMethod = (value: unknown): boolean => LOGIN_METHODS.includes(value);
const isDefaultAccess = (value: unknown): boolean => DEFAULT_ACCESS.includes(value);
const isHours = (value: unknown): boolean => typeof value === 'number' && value > 0 && value <= MAX_HOURS;
const isRounds = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 4 && Number(value) <= 31;
const isName = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const isNameList = (value: unknown): boolean => Array.isArray(value) && value.every(isName);
const isOptionalNameList = (value: unknown): boolean => value === undefined || isNameList(value);
const isUserClass = (value: unknown): boolean => isClass(value) && value.prototype instanceof AuthUser;
const isRepositoryClass = (value: unknown): boolean =>
  value === undefined || (isClass(value) && value.prototype instanceof UserRepository);
const inheritsId = (value: unknown): boolean =>
  !Reflect.hasOwnMetadata('design:type', (value as Type<AuthUser>).prototype, 'id');
const segmentsOf = (path: unknown): string[] => (typeof path === 'string' ? path.split('/').filter(Boolean) : []);
const isPlainSegment = (segment: string): boolean => /^[\w.~-]+$/.test(segment) && !/^\.+$/.test(segment);
const isBasePath = (path: unknown): boolean => segmentsOf(path).length > 0 && segmentsOf(path).every(isPlainSegment);

const STATIC_CHECKS: readonly OptionCheck[] = [
  ['userClass', isUserClass, 'a class that extends AuthUser', 'set `@Entity() class User extends AuthUser {}`'],
  ['repositoryClass', isRepositoryClass, 'a class that extends UserRepository', 'extend it, or remove the option'],
  ['authBasePath', isBasePath, 'a path such as "/api/auth"', 'use letters, digits and any of ".-_~" between "/"'],
  ['registration', isBoolean, 'true or false', 'set one of the two'],
];

/** These checks concern the TypeORM entity, so they do not apply with a `repositoryClass`. */
const ENTITY_CHECKS: readonly OptionCheck[] = [
  ['userClass', (value) => isEntity(value as object), 'a TypeORM entity', 'add @Entity(), or set a repositoryClass'],
  // TypeORM keeps the column of the parent class.
  ['userClass', inheritsId, 'a class that inherits the `id` of AuthUser', 'remove its own `id` property'],
];

const SETTING_CHECKS: readonly OptionCheck[] = [
  ['loginMethod', isLoginMethod, 'LoginMethod.EMAIL or LoginMethod.USERNAME', 'set one of the two'],
  ['jwtExpirationHours', isHours, `a positive number of hours, at most ${MAX_HOURS}`, 'set for example 24'],
  ['bcryptRounds', isRounds, 'an integer from 4 to 31', 'set for example 12'],
  ['defaultAccess', isDefaultAccess, Object.keys(ACCESS_BY_NAME).join(' or '), 'set one of them'],
  ['registrationFields', isNameList, 'an array of names', 'set an array such as ["phone"]'],
  ['enforcedRoles', isOptionalNameList, 'an array of names', 'set an array such as ["ADMIN"]'],
  ['strict', isBoolean, 'true or false', 'set one of the two'],
  ['explainRefusals', isBoolean, 'true or false', 'set one of the two'],
];

const namesOf = (checks: readonly OptionCheck[]): string[] => checks.map(([option]) => option);
const SETTING_NAMES = [...namesOf(SETTING_CHECKS), 'jwtSecret', 'roleHierarchy'];
export const OPTION_NAMES = [...namesOf(STATIC_CHECKS), ...SETTING_NAMES];
const FACTORY_NAMES = ['imports', 'inject', 'useFactory', 'useClass', 'useExisting', 'provideInjectionTokensFrom'];
export const ASYNC_OPTION_NAMES = [...namesOf(STATIC_CHECKS), ...FACTORY_NAMES];

/** Columns that the package checks or sets itself, so `registrationFields` cannot name them. */
const PACKAGE_FIELDS = ['id', 'email', 'username', 'password', 'role', 'firstName', 'lastName', 'active'];

const pathOf = (option: string): string => `AuthModule option \`${option}\``;

function assertValid(checks: readonly OptionCheck[], options: object): void {
  for (const [option, isValid, expected, advice] of checks) {
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
