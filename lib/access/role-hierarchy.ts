import { describe, InvalidOptionError } from '../options/invalid-option.js';

/** A role and those it includes: `{ ADMIN: ['EDITOR'] }`. */
export type RoleHierarchy = Readonly<Record<string, readonly string[]>>;

export interface RoleInclusion {
  /** The roles that a token has, with all that they include. */
  expand(roles: readonly string[]): readonly string[];
  /** The roles that include a role, itself left out. */
  includersOf(role: string): readonly string[];
}

const OPTION = 'AuthModule option `roleHierarchy`';

/** @throws InvalidOptionError for a cycle */
export function compileRoleHierarchy(hierarchy: RoleHierarchy): RoleInclusion {
  const included = new Map(Object.keys(hierarchy).map((role) => [role, closureOf(role, hierarchy, [])]));
  return {
    expand: (roles) =>
      included.size === 0 ? roles : [...new Set(roles.flatMap((role) => included.get(role) ?? [role]))],
    includersOf: (role) =>
      [...included].filter(([above, below]) => above !== role && below.includes(role)).map(([above]) => above),
  };
}

function closureOf(role: string, hierarchy: RoleHierarchy, above: readonly string[]): string[] {
  const path = [...above, role];
  if (above.includes(role))
    throw new InvalidOptionError(
      OPTION,
      'a hierarchy without a cycle',
      path.join(' > '),
      'take one of these roles out',
    );
  const below = Object.hasOwn(hierarchy, role) ? (hierarchy[role] ?? []) : [];
  return [role, ...below.flatMap((each) => closureOf(each, hierarchy, path))];
}

export function expectRoleHierarchy(hierarchy: unknown): asserts hierarchy is RoleHierarchy {
  const isRole = (role: unknown): boolean => typeof role === 'string' && role.trim() !== '';
  const isValid =
    typeof hierarchy === 'object' &&
    hierarchy !== null &&
    !Array.isArray(hierarchy) &&
    Object.entries(hierarchy).every(([role, below]) => isRole(role) && Array.isArray(below) && below.every(isRole));
  if (!isValid)
    throw new InvalidOptionError(
      OPTION,
      'roles with arrays of the roles they include',
      describe(hierarchy),
      'give for example { ADMIN: ["EDITOR"] }',
    );
}
