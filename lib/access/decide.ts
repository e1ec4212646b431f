/** Rules as declared, and the access to a route: rules change it, from the broadest to the narrowest; the result decides. */
import { BASE_ROLE, type Principal } from '../http/caller.js';
import type { HttpRequest } from '../http/http-request.js';
import { AuthenticationRequired } from '../http/refusal.js';
import { InvalidOptionError } from '../options/invalid-option.js';
import { byBreadth, foldWidely, pathOfPattern, type Pattern } from './pattern.js';
import type { RoleInclusion } from './role-hierarchy.js';

/** Decides on a request. Only the boolean `true` gives access; an exception refuses it. */
export type PolicyFunction = (principal: Principal, request: HttpRequest) => boolean | Promise<boolean>;

export interface Policy {
  readonly name: string;
  readonly allows: PolicyFunction;
}

export type Effect =
  | { readonly kind: DefaultAccess }
  | { readonly kind: 'roles'; readonly anyOf: readonly string[] }
  | { readonly kind: 'policy'; readonly policy: Policy };

export interface Rule {
  /** Without a text for a rule of a decorator, or of an operation of a resource. */
  readonly pattern: Pattern;
  readonly effect: Effect;
  readonly written?: Effect;
  /** Where it is declared: `ShopSecurity.requireRole`, `@Roles on OrdersController.list`, `access.read of Product`. */
  readonly declaredBy: string;
}

export const restricts = (rule: Rule): boolean => rule.effect.kind !== 'public';

export type Requirement = { readonly anyOf: readonly string[] } | { readonly policy: Policy };

export type DefaultAccess = 'authenticated' | 'public' | 'denied';

export interface Access {
  readonly kind: DefaultAccess;
  readonly requirements: readonly Requirement[];
  /** The rules that took part, broadest first; empty where the default decides. */
  readonly rules: readonly Rule[];
  /** Whether the user and the role are those of the database, not those of the token. */
  readonly reloadsUser?: boolean;
}

const plain = (kind: DefaultAccess): Access => Object.freeze({ kind, requirements: [], rules: [] });
export const PUBLIC = plain('public');
export const AUTHENTICATED = plain('authenticated');
export const DENIED = plain('denied');
export const ACCESS_BY_NAME = { public: PUBLIC, authenticated: AUTHENTICATED, denied: DENIED } as const;

export type Refusal =
  /** `exception`: what a policy has thrown, to ask for another token. */
  | { readonly reason: 'unauthenticated'; readonly exception?: AuthenticationRequired }
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

/** Calls the policies in turn. The first that does not return `true` for each principal refuses. @param onError gets what one throws */
export async function checkPolicies(
  requirements: readonly Requirement[],
  principals: readonly (Principal | undefined)[],
  request: HttpRequest,
  onError: (name: string, error: unknown) => void,
): Promise<Refusal | undefined> {
  for (const requirement of requirements) {
    if (!('policy' in requirement)) continue;
    const { name, allows } = requirement.policy;
    try {
      let isAllowed = true;
      for (const each of principals) isAllowed &&= each !== undefined && (await allows(each, request)) === true;
      if (isAllowed) continue;
    } catch (error) {
      if (error instanceof AuthenticationRequired) return { reason: 'unauthenticated', exception: error };
      onError(name, error);
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

/** A rule for roles outside `enforcedRoles` requires only a valid token. Without a list, every role is enforced. */
export function asEnforced(rule: Rule, enforcedRoles: readonly string[] | undefined): Rule {
  const { effect } = rule;
  const isEnforced =
    effect.kind !== 'roles' || !enforcedRoles || effect.anyOf.some((role) => enforcedRoles.includes(role));
  return isEnforced ? rule : { ...rule, effect: { kind: 'authenticated' }, written: effect };
}

/** Enforced or not. `@Public()` may not open such a route. */
const restrictsBeyondLogin = ({ effect, written = effect }: Rule): boolean =>
  written.kind !== 'public' && written.kind !== 'authenticated';

/** Combines matching rules, broadest first: a public rule resets to open, restrictions add up. */
export function fold(start: Access, rules: readonly Rule[]): Access {
  if (rules.length === 0) return start;
  const opened = rules.findLastIndex(({ effect }) => effect.kind === 'public');
  const closing = rules.slice(opened + 1).map(({ effect }) => effect);
  if (closing.length === 0) return { kind: 'public', requirements: [], rules };
  // The default `denied` is no rule: rules that require a token replace it, and only `denyAll` stays.
  if (closing.some(({ kind }) => kind === 'denied')) return { kind: 'denied', requirements: [], rules };
  return { kind: 'authenticated', requirements: requirementsOf(closing), rules };
}

function requirementsOf(effects: readonly Effect[]): Requirement[] {
  const requirements = new Map<unknown, Requirement>();
  for (const effect of effects)
    if (effect.kind === 'roles') requirements.set(effect.anyOf.join('\n'), { anyOf: effect.anyOf });
    else if (effect.kind === 'policy') requirements.set(effect.policy, { policy: effect.policy });
  return [...requirements.values()];
}

/** The rule that refuses, or the last rule where none does, or `default`. */
export function describeDecision(access: Access, refusal: Refusal | undefined): string {
  const rule = decidingRule(access, refusal);
  return rule ? describeRule(rule) : 'default';
}

export function decidingRule({ rules }: Access, refusal: Refusal | undefined): Rule | undefined {
  if (refusal?.reason !== 'forbidden') return rules.at(-1);
  const missing = refusal.missing?.join('\n');
  return rules.findLast(({ effect }) => {
    if (effect.kind === 'policy') return refusal.byPolicy && missing === effect.policy.name;
    if (effect.kind === 'roles') return !refusal.byPolicy && missing === effect.anyOf.join('\n');
    return effect.kind === 'denied' && missing === undefined;
  });
}

/** Rules of one breadth are sorted by role, so that the order of declaration never matters. */
export const broadestFirst = (a: Rule, b: Rule): number =>
  byBreadth(a.pattern, b.pattern) || roleOf(a).localeCompare(roleOf(b), 'en');

const roleOf = ({ effect }: Rule): string => (effect.kind === 'roles' ? effect.anyOf.join() : '');

/** Refuses the same pattern, for the same method, both public and restricted. */
export function refuseContradictions(rules: readonly Rule[]): void {
  const seen = new Map<string, Rule>();
  for (const rule of rules) {
    const { methods } = rule.pattern;
    for (const method of methods.length > 0 ? methods : ['']) {
      const key = `${method} ${foldWidely(pathOfPattern(rule.pattern))}`;
      const earlier = seen.get(key);
      if (earlier && restricts(earlier) !== restricts(rule))
        throw new InvalidOptionError(
          `The pattern of ${rule.declaredBy}("${rule.pattern.text}")`,
          'either public or restricted',
          `both, because of ${earlier.declaredBy}("${earlier.pattern.text}")`,
          'Remove one of the two rules',
        );
      seen.set(key, rule);
    }
  }
}

/** Refuses a `@Public()` that would open what broader rules restrict, URL rules and the class's decorators alike. */
export function assertNotOpened({ effect, declaredBy }: Rule, broader: readonly Rule[], route: string): void {
  const closed = effect.kind === 'public' ? broader.find(restrictsBeyondLogin) : undefined;
  if (closed)
    throw new InvalidOptionError(
      `The route of ${declaredBy}`,
      'without a broader rule that requires a role or a policy, or denies everyone',
      `${route}, restricted by ${describeRule(closed)}`,
      'Remove one of the two',
    );
}

/** `ShopSecurity.requireRole("ADMIN", "/api/admin/**")` */
export function describeRule({ declaredBy, pattern, effect: enforced, written: effect = enforced }: Rule): string {
  if (pattern.text === '') return declaredBy;
  const first = effect.kind === 'roles' ? effect.anyOf : effect.kind === 'policy' ? [effect.policy.name] : [];
  return `${declaredBy}(${[...first, pattern.text].map((text) => JSON.stringify(text)).join(', ')})`;
}
