/** Who gets in. Rules change an access, from the broadest to the narrowest; what is left decides. */
import type { Policy } from './policy.js';
import type { Rule } from './rules.js';

/** What a valid token is asked for beside being valid. */
export type Requirement = { readonly anyOf: readonly string[] } | { readonly policy: Policy };

export interface Access {
  readonly kind: 'public' | 'authenticated' | 'denied';
  /** All of them must be met. */
  readonly requirements: readonly Requirement[];
  /** The rules that made it, broadest first; none where it is the default. */
  readonly by: readonly Rule[];
}

export type DefaultAccess = 'authenticated' | 'public' | 'denied';

/** Any valid token has it. */
export const BASE_ROLE = 'USER';

const plain = (kind: Access['kind']): Access => Object.freeze({ kind, requirements: [], by: [] });
export const PUBLIC = plain('public');
export const AUTHENTICATED = plain('authenticated');
export const DENIED = plain('denied');

export const ACCESS_BY_NAME: Readonly<Record<DefaultAccess, Access>> = {
  public: PUBLIC,
  authenticated: AUTHENTICATED,
  denied: DENIED,
};

/** Why a request is refused; `undefined` where it is not. */
export type Refusal =
  | { readonly reason: 'unauthenticated' }
  /** `missing` any of the roles, or the name of a policy, which a role may have too; nothing where nobody gets in. */
  | { readonly reason: 'forbidden'; readonly missing?: readonly string[]; readonly byPolicy?: true };

/** Decides on the roles of a valid token, or on `undefined` where there is none. Policies are asked afterwards. */
export function decide(access: Access, roles: readonly string[] | undefined): Refusal | undefined {
  if (access.kind === 'public') return undefined;
  if (roles === undefined) return { reason: 'unauthenticated' };
  if (access.kind !== 'authenticated') return { reason: 'forbidden' };
  for (const requirement of access.requirements) {
    if (!('anyOf' in requirement)) continue;
    const { anyOf } = requirement;
    if (!anyOf.some((role) => role === BASE_ROLE || roles.includes(role)))
      return { reason: 'forbidden', missing: anyOf };
  }
  return undefined;
}

/**
 * `public`, `any token`, `ADMIN or EDITOR, and policy owner`, `nobody`: for people, and exact enough for a snapshot. A
 * name that could be read as one of these words, or as several, stands in quotes.
 *
 * @param includersOf the roles that include a role, which get in as well
 */
export function describeAccess(
  { kind, requirements }: Access,
  includersOf: (role: string) => readonly string[],
): string {
  if (kind !== 'authenticated') return kind === 'public' ? 'public' : 'nobody';
  const words = requirements.flatMap((each) => {
    if (!('anyOf' in each)) return [`policy ${quoted(each.policy.name)}`];
    const roles = new Set([...each.anyOf, ...each.anyOf.flatMap(includersOf)]);
    return roles.has(BASE_ROLE) ? [] : [[...roles].map(quoted).join(' or ')];
  });
  return words.length === 0 ? 'any token' : words.join(', and ');
}

const quoted = (name: string): string =>
  /^[\w.:@/-]+$/.test(name) && name !== 'public' && name !== 'nobody' ? name : JSON.stringify(name);
