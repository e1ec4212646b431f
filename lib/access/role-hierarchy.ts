import { CREDENTIAL_ROLES } from '../http/caller.js';
import { InvalidOptionError } from '../options/invalid-option.js';

/** Roles, each with the roles that it includes: `{ ADMIN: ['EDITOR'] }`. */
export type RoleHierarchy = Readonly<Record<string, readonly string[]>>;

export interface RoleInclusion {
  readonly isDeclared: boolean;
  expand(roles: readonly string[]): readonly string[];
  /** The roles that include a role, without the role itself. */
  includersOf(role: string): readonly string[];
}

/** @param hasKeys whether requests without `KEY` have `LOGIN` @throws InvalidOptionError for a cycle */
export function compileRoleHierarchy(hierarchy: RoleHierarchy, hasKeys = false): RoleInclusion {
  const included = new Map(Object.keys(hierarchy).map((role) => [role, closureOf(role, hierarchy, [])]));
  const isDeclared = included.size > 0 || hasKeys;
  return {
    isDeclared,
    expand(roles) {
      if (!isDeclared) return roles;
      const all = new Set(roles.flatMap((role) => included.get(role) ?? [role]));
      if (hasKeys) all[all.has(CREDENTIAL_ROLES.key) ? 'delete' : 'add'](CREDENTIAL_ROLES.login);
      return [...all];
    },
    includersOf: (role) =>
      [...included].filter(([above, below]) => above !== role && below.includes(role)).map(([above]) => above),
  };
}

function closureOf(role: string, hierarchy: RoleHierarchy, above: readonly string[]): string[] {
  const path = [...above, role];
  if (above.includes(role)) {
    const expected = 'a hierarchy without a cycle';
    throw new InvalidOptionError('The option `roleHierarchy`', expected, path.join(' > '), 'Remove one of these roles');
  }
  const below = Object.hasOwn(hierarchy, role) ? (hierarchy[role] ?? []) : [];
  return [role, ...below.flatMap((each) => closureOf(each, hierarchy, path))];
}
