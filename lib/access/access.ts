/** The access to a route. Rules change it, from the broadest to the narrowest; the result decides. */
import type { HttpRequest } from '../http/request-facts.js';
import { BASE_ROLE, type Principal } from '../http/principal.js';
import type { RoleInclusion } from './role-hierarchy.js';
import type { Policy, Rule } from './rule.js';

export type Requirement = { readonly anyOf: readonly string[] } | { readonly policy: Policy };

export type DefaultAccess = 'authenticated' | 'public' | 'denied';

export interface Access {
  readonly kind: DefaultAccess;
  /** All of them must be met. */
  readonly requirements: readonly Requirement[];
  /** The rules that took part, broadest first; empty where the default decides. */
  readonly rules: readonly Rule[];
}

const plain = (kind: Access['kind']): Access => Object.freeze({ kind, requirements: [], rules: [] });
export const PUBLIC = plain('public');
export const AUTHENTICATED = plain('authenticated');
export const DENIED = plain('denied');

export const ACCESS_BY_NAME = { public: PUBLIC, authenticated: AUTHENTICATED, denied: DENIED } as const;

export type Refusal =
  | { readonly reason: 'unauthenticated' }
  /** `missing`: any of the roles, or the name of a policy. Without it, nobody has access. */
  | { readonly reason: 'forbidden'; readonly missing?: readonly string[]; readonly byPolicy?: true };

/** Decides without policies. @param roles those of a valid token; `undefined` without one */
export function decide(access: Access, roles: readonly string[] | undefined): Refusal | undefined {
  if (access.kind === 'public') return undefined;
  if (roles === undefined) return { reason: 'unauthenticated' };
  if (access.kind !== 'authenticated') return { reason: 'forbidden' };
  const hasRole = (role: string): boolean => role === BASE_ROLE || roles.includes(role);
  for (const each of access.requirements)
    if ('anyOf' in each && !each.anyOf.some(hasRole)) return { reason: 'forbidden', missing: each.anyOf };
  return undefined;
}

export const hasPolicy = ({ requirements }: Access): boolean => requirements.some((each) => 'policy' in each);

/** Calls the policies in turn. The first that does not return `true` refuses. */
export async function checkPolicies(
  requirements: readonly Requirement[],
  principal: Principal,
  request: HttpRequest,
): Promise<Refusal | undefined> {
  for (const requirement of requirements) {
    if (!('policy' in requirement)) continue;
    const { name, allows } = requirement.policy;
    try {
      if ((await allows(principal, request)) === true) continue;
    } catch {
      // A policy that fails gives no access.
    }
    return { reason: 'forbidden', missing: [name], byPolicy: true };
  }
  return undefined;
}

/** What a token must have: one name of each list, such as a role, a role that includes it, or `policy owner`. */
export function describeRequirements({ requirements }: Access, includersOf: RoleInclusion['includersOf']): string[][] {
  return requirements.flatMap((each) => {
    if (!('anyOf' in each)) return [[`policy ${quoted(each.policy.name)}`]];
    const roles = new Set([...each.anyOf, ...each.anyOf.flatMap(includersOf)]);
    return roles.has(BASE_ROLE) ? [] : [[...roles].map(quoted)];
  });
}

/** `public`, `any token`, `ADMIN or EDITOR, and policy owner`, `nobody`. */
export function describeAccess(access: Access, includersOf: RoleInclusion['includersOf']): string {
  if (access.kind !== 'authenticated') return access.kind === 'public' ? 'public' : 'nobody';
  const names = describeRequirements(access, includersOf).map((anyOf) => anyOf.join(' or '));
  return names.join(', and ') || 'any token';
}

/** A name that could be read as one of the words of `describeAccess`, or as several names, is quoted. */
const quoted = (name: string): string =>
  /^[\w.:@/-]+$/.test(name) && name !== 'public' && name !== 'nobody' ? name : JSON.stringify(name);
