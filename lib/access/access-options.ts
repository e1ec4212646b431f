/** The options of access rules, which AuthModule and AccessModule share. */
import { isOneOf, optional, row, flag, isObject, type Accepts, type OptionsOf } from '../options/option-table.js';
import { areNames, isProduction } from '../options/invalid-option.js';
import { ACCESS_BY_NAME, type DefaultAccess } from './decide.js';
import type { RoleHierarchy } from './role-hierarchy.js';

export interface AccessSettings {
  /**
   * Access for routes that match no rule: `authenticated`, `public` or `denied`.
   * @default 'authenticated' with a SecurityConfig, otherwise 'public' with a warning
   */
  defaultAccess?: DefaultAccess;
  /** The roles that rules enforce. A rule for another role requires only a valid token. @default every role */
  enforcedRoles?: readonly string[];
  /**
   * Roles that include other roles: with `{ ADMIN: ['EDITOR'] }` an ADMIN passes rules for EDITOR. Cycles are an error.
   * @default {}
   */
  roleHierarchy?: RoleHierarchy;
  /**
   * Turns warnings about access rules into errors at startup, such as a route without a rule, a rule without a route,
   * and an override that other operations bypass. In production also a driver without limits.
   * @default false
   */
  strict?: boolean;
  /**
   * Names the deciding rule in the `X-Access-Rule` header of 401 and 403 responses. For development only: an error with
   * `NODE_ENV=production`.
   * @default false
   */
  explainRefusals?: boolean;
}

const NAMES = Object.keys(ACCESS_BY_NAME);
const HIERARCHY = 'an object of roles with arrays of the roles that they include';
const EXPLAIN_ADVICE = 'remove it: it discloses the access rules';

const isFalseInProduction: Accepts = (value) => value === false || (value === true && !isProduction());
const isHierarchy: Accepts = (value) =>
  isObject(value) && Object.entries(value).every(([role, below]) => areNames([role]) && areNames(below));

export const ACCESS_SETTINGS = {
  defaultAccess: optional<DefaultAccess>(NAMES.join(' or '), isOneOf(...NAMES), 'set one of them'),
  enforcedRoles: optional<readonly string[]>('an array of non-empty names', areNames, 'set an array such as ["ADMIN"]'),
  roleHierarchy: row<RoleHierarchy>({}, HIERARCHY, isHierarchy, 'Write for example { ADMIN: ["EDITOR"] }'),
  strict: flag(false),
  explainRefusals: row(false, 'true or false, and false in production', isFalseInProduction, EXPLAIN_ADVICE),
};

export type AccessOptions = OptionsOf<typeof ACCESS_SETTINGS>;

export const ACCESS_OPTIONS = Symbol('declarest.accessOptions');
