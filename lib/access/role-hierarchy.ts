import { areNames, describe, InvalidOptionError } from '../options/invalid-option.js';

/** Roles, each with the roles that it includes: `{ ADMIN: ['EDITOR'] }`. */
export type RoleHierarchy = Readonly<Record<string, readonly string[]>>;

export interface RoleInclusion {
  readonly isDeclared: boolean;
  expand(roles: readonly string[]): readonly string[];
  /** The roles that include a role, without the role itself. */
  includersOf(role: string): readonly string[];
}

const OPTION = 'AuthModule option `roleHierarchy`';

/** @throws InvalidOptionError for a cycle */
export function compileRoleHierarchy(hierarchy: RoleHierarchy): RoleInclusion {
  const included = new Map(Object.keys(hierarchy).map((role) => [role, closureOf(role, hierarchy, [])]));
  const isDeclared = included.size > 0;
  return {
    isDeclared,
    expand: (roles) => (isDeclared ? [...new Set(roles.flatMap((role) => included.get(role) ?? [role]))] : roles),
    includersOf: (role) =>
      [...included].filter(([above, below]) => above !== role && below.includes(role)).map(([above]) => above),
  };
}

function closureOf(role: string, hierarchy: RoleHierarchy, above: readonly string[]): string[] {
  const path = [...above, role];
  if (above.includes(role))
    throw new InvalidOptionError(OPTION, 'a hierarchy without a cycle', path.join(' > '), 'Remove one of these roles');
  const below = Object.hasOwn(hierarchy, role) ? (hierarchy[role] ?? []) : [];
  return [role, ...below.flatMap((each) => closureOf(each, hierarchy, path))];
}

export function expectRoleHierarchy(hierarchy: unknown): asserts hierarchy is RoleHierarchy {
  const isObject = typeof hierarchy === 'object' && hierarchy !== null && !Array.isArray(hierarchy);
  if (isObject && Object.entries(hierarchy).every(([role, below]) => areNames([role]) && areNames(below))) return;
  const expected = 'an object of roles with arrays of the roles that they include';
  throw new InvalidOptionError(OPTION, expected, describe(hierarchy), 'Write for example { ADMIN: ["EDITOR"] }');
}
