/** The declared options of `AuthModule`: defaulted, checked, frozen, once. */
import type { Type } from '@nestjs/common';
import {
  describe,
  expectBoolean,
  expectKnownNames,
  expectNames,
  InvalidOptionError,
  isClass,
} from '../options/invalid-option.js';
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

const STATIC_NAMES = ['userClass', 'repositoryClass', 'authBasePath', 'registration'];
const SETTING_NAMES = [
  'loginMethod',
  'jwtSecret',
  'jwtExpirationHours',
  'tokenCacheSize',
  'bcryptRounds',
  'registrationFields',
  'defaultAccess',
  'enforcedRoles',
  'roleHierarchy',
  'strict',
  'explainRefusals',
];
export const OPTION_NAMES = [...STATIC_NAMES, ...SETTING_NAMES];
export const ASYNC_NAMES = [
  ...STATIC_NAMES,
  'imports',
  'inject',
  'useFactory',
  'useClass',
  'useExisting',
  'provideInjectionTokensFrom',
];

/** What the package decides on itself; a client can never be given a say in it. */
const OWN_FIELDS = ['id', 'email', 'username', 'password', 'role', 'firstName', 'lastName', 'active'];
/** As many as a date of JavaScript can hold, in round figures. */
const MOST_HOURS = 2_000_000_000;
const MOST_TOKENS = 1_000_000;
const at = (name: string): string => `AuthModule option \`${name}\``;

export function resolveStaticOptions(options: AuthStaticOptions): ResolvedStaticOptions {
  const { userClass, repositoryClass, authBasePath = '/api/auth', registration = true } = options;
  if (!isClass(userClass) || !(userClass.prototype instanceof AuthUser))
    throw new InvalidOptionError(
      at('userClass'),
      'a class that extends AuthUser',
      describe(userClass),
      'declare `@Entity() class User extends AuthUser {}` and give it',
    );
  if (repositoryClass === undefined && !isEntity(userClass))
    throw new InvalidOptionError(
      at('userClass'),
      'a TypeORM entity',
      describe(userClass),
      'decorate the class with @Entity(), or give a repositoryClass',
    );
  if (repositoryClass === undefined && Reflect.hasOwnMetadata('design:type', userClass.prototype, 'id'))
    throw new InvalidOptionError(
      at('userClass'),
      'a class that leaves the `id` of AuthUser as it is',
      `${describe(userClass)} with an \`id\` of its own`,
      'remove that property: TypeORM keeps the column of the class above',
    );
  if (
    repositoryClass !== undefined &&
    (!isClass(repositoryClass) || !(repositoryClass.prototype instanceof UserRepository))
  )
    throw new InvalidOptionError(
      at('repositoryClass'),
      'a class that extends UserRepository',
      describe(repositoryClass),
      'extend it, or leave the option out to keep users with TypeORM',
    );
  expectBoolean(at('registration'), registration);
  return Object.freeze({ userClass, repositoryClass, authBasePath: normaliseBasePath(authBasePath), registration });
}

function normaliseBasePath(path: unknown): string {
  const levels = typeof path === 'string' ? path.split('/').filter((level) => level !== '') : [];
  if (levels.length === 0 || !levels.every((level) => /^[\w.~-]+$/.test(level) && !/^\.+$/.test(level)))
    throw new InvalidOptionError(
      at('authBasePath'),
      'a path of plain levels such as "/api/auth"',
      describe(path),
      'use letters, digits, "-", "_" and "~" between slashes',
    );
  return `/${levels.join('/')}`;
}

/** @param settings what `forRoot` was given, or what the factory of `forRootAsync` returned */
export function resolveAuthOptions(settings: AuthSettings, statics: ResolvedStaticOptions): ResolvedAuthOptions {
  expectKnownNames('AuthModule options', settings, SETTING_NAMES);
  const {
    loginMethod = LoginMethod.EMAIL,
    jwtExpirationHours = 24,
    tokenCacheSize = 0,
    bcryptRounds = 12,
    registrationFields = [],
    defaultAccess,
    enforcedRoles,
    roleHierarchy = {},
    strict = false,
    explainRefusals = false,
  } = settings;
  if (loginMethod !== LoginMethod.EMAIL && loginMethod !== LoginMethod.USERNAME)
    throw new InvalidOptionError(
      at('loginMethod'),
      'LoginMethod.EMAIL or LoginMethod.USERNAME',
      describe(loginMethod),
      'give one of the two',
    );
  if (typeof jwtExpirationHours !== 'number' || !(jwtExpirationHours > 0 && jwtExpirationHours <= MOST_HOURS))
    throw new InvalidOptionError(
      at('jwtExpirationHours'),
      `a positive number of hours, at most ${MOST_HOURS}`,
      describe(jwtExpirationHours),
      'give for example 24',
    );
  if (!Number.isInteger(tokenCacheSize) || tokenCacheSize < 0 || tokenCacheSize > MOST_TOKENS)
    throw new InvalidOptionError(
      at('tokenCacheSize'),
      `an integer from 0 to ${MOST_TOKENS}`,
      describe(tokenCacheSize),
      'give for example 1000, or leave it out to keep none',
    );
  if (!Number.isInteger(bcryptRounds) || bcryptRounds < 4 || bcryptRounds > 31)
    throw new InvalidOptionError(
      at('bcryptRounds'),
      'an integer from 4 to 31',
      describe(bcryptRounds),
      'give for example 12',
    );
  if (defaultAccess !== undefined && !Object.hasOwn(ACCESS_BY_NAME, defaultAccess))
    throw new InvalidOptionError(
      at('defaultAccess'),
      Object.keys(ACCESS_BY_NAME).join(', '),
      describe(defaultAccess),
      'give one of them',
    );
  expectNames(at('registrationFields'), registrationFields);
  const own = registrationFields.filter((field) => OWN_FIELDS.includes(field));
  if (own.length > 0)
    throw new InvalidOptionError(
      at('registrationFields'),
      "names of the application's own columns",
      own.map(describe).join(', '),
      'remove it: the package decides itself who may set it',
    );
  if (enforcedRoles !== undefined) expectNames(at('enforcedRoles'), enforcedRoles);
  expectRoleHierarchy(roleHierarchy);
  expectBoolean(at('strict'), strict);
  expectBoolean(at('explainRefusals'), explainRefusals);
  if (explainRefusals && process.env['NODE_ENV'] === 'production')
    throw new InvalidOptionError(
      at('explainRefusals'),
      'false in production',
      'true',
      'leave it out there: it tells strangers which rule stands in their way',
    );
  return Object.freeze({
    ...statics,
    loginField: loginMethod === LoginMethod.EMAIL ? 'email' : 'username',
    jwtSecret: resolveSecret(settings.jwtSecret),
    jwtExpirationHours,
    tokenCacheSize,
    bcryptRounds,
    registrationFields: Object.freeze([...registrationFields]),
    defaultAccess,
    enforcedRoles: enforcedRoles && Object.freeze([...enforcedRoles]),
    roleHierarchy,
    strict,
    explainRefusals,
    idOf: idReader(statics.userClass),
  });
}

/** A primary key of the type `string` stays one; otherwise a number while it is a safe integer. */
function idReader(userClass: Type<AuthUser>): (text: string) => string | number {
  if (Reflect.getMetadata('design:type', userClass.prototype, 'id') === String) return (text) => text;
  return (text) => (Number.isSafeInteger(Number(text)) && String(Number(text)) === text ? Number(text) : text);
}
