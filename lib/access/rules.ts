/**
 * Rules as they are declared, and the fold that makes a decision of those that match: public resets to open,
 * authentication and roles add up. The order of declaration never matters.
 */
import { InvalidOptionError } from '../options/invalid-option.js';
import type { Access, Refusal, Requirement } from './access.js';
import { byBreadth, foldWidely, pathOfPattern, type Pattern } from './pattern.js';
import type { Policy } from './policy.js';

export type Effect =
  | { readonly kind: 'public' }
  | { readonly kind: 'authenticated' }
  | { readonly kind: 'roles'; readonly anyOf: readonly string[] }
  | { readonly kind: 'policy'; readonly policy: Policy }
  | { readonly kind: 'denied' };

export interface Rule {
  readonly pattern: Pattern;
  readonly effect: Effect;
  /** What was written, where `enforcedRoles` makes less of it. */
  readonly written?: Effect;
  /** What declared it: `ShopSecurity.requireRole`, `@Roles on OrdersController.list`. */
  readonly declaredBy: string;
}

export const restricts = (rule: Rule): boolean => rule.effect.kind !== 'public';

/** Whether a rule is for a role that is enforced; without a list, every one is. */
export const isEnforced = ({ effect }: Rule, enforcedRoles: readonly string[] | undefined): boolean =>
  effect.kind !== 'roles' || !enforcedRoles || effect.anyOf.some((role) => enforcedRoles.includes(role));

/** A rule for other roles asks for a valid token only. */
export const asEnforced = (rule: Rule, enforcedRoles: readonly string[] | undefined): Rule =>
  isEnforced(rule, enforcedRoles) ? rule : { ...rule, effect: { kind: 'authenticated' }, written: rule.effect };

/** Whether a rule asks for more than a valid token, enforced or not: what `@Public()` may not open. */
export const asksForMore = ({ effect, written = effect }: Rule): boolean =>
  written.kind !== 'public' && written.kind !== 'authenticated';

/** Folds rules that all match, broadest first, over the access of what no rule speaks of. */
export function fold(start: Access, rules: readonly Rule[]): Access {
  if (rules.length === 0) return start;
  const opened = rules.findLastIndex(({ effect }) => effect.kind === 'public');
  const closing = rules.slice(opened + 1).map(({ effect }) => effect);
  const isOpen = closing.length === 0;
  // A default that nobody passes is no rule: rules that ask for a token take its place, and `denyAll` alone stays.
  const kind = isOpen ? 'public' : closing.some((effect) => effect.kind === 'denied') ? 'denied' : 'authenticated';
  return { kind, requirements: kind === 'authenticated' ? requirementsOf(closing) : [], by: rules };
}

function requirementsOf(effects: readonly Effect[]): Requirement[] {
  const requirements = effects.flatMap((effect): Requirement[] => {
    if (effect.kind === 'roles') return [{ anyOf: effect.anyOf }];
    return effect.kind === 'policy' ? [{ policy: effect.policy }] : [];
  });
  const keyOfRequirement = (each: Requirement): unknown => ('anyOf' in each ? each.anyOf.join('\n') : each.policy);
  return [...new Map(requirements.map((each) => [keyOfRequirement(each), each])).values()];
}

/** The rule that refuses, or the last to speak where none does; `undefined` where it is the default. */
export function decidingRule({ by }: Access, refusal: Refusal | undefined): Rule | undefined {
  if (refusal?.reason !== 'forbidden') return by.at(-1);
  const { missing, byPolicy = false } = refusal;
  return by.findLast(({ effect }) => {
    if (effect.kind === 'roles') return !byPolicy && missing?.join('\n') === effect.anyOf.join('\n');
    if (effect.kind === 'policy') return byPolicy && missing?.join('\n') === effect.policy.name;
    return effect.kind === 'denied' && missing === undefined;
  });
}

/** Among rules of one breadth by role, so that the order of declaration shows in no answer. */
export const broadestFirst = (a: Rule, b: Rule): number =>
  byBreadth(a.pattern, b.pattern) || roleOf(a).localeCompare(roleOf(b), 'en');

const roleOf = ({ effect }: Rule): string => (effect.kind === 'roles' ? effect.anyOf.join() : '');

/** Refuses the same pattern, for the same method, both public and restricted. */
export function refuseContradictions(rules: readonly Rule[]): void {
  const seen = new Map<string, Rule>();
  for (const rule of rules) {
    const { levels, tail, methods } = rule.pattern;
    for (const method of methods.length > 0 ? methods : ['']) {
      const key = `${method} ${foldWidely(pathOfPattern({ levels, tail }))}`;
      const earlier = seen.get(key);
      if (earlier && restricts(earlier) !== restricts(rule))
        throw new InvalidOptionError(
          `${rule.declaredBy}("${rule.pattern.text}")`,
          'a pattern that is either public or restricted',
          `one that ${earlier.declaredBy}("${earlier.pattern.text}") declares the other way`,
          'keep one of the two',
        );
      seen.set(key, rule);
    }
  }
}

/** Refuses a `@Public()` that would open what broader rules restrict, URL rules and the class's decorators alike. */
export function refuseToOpen({ effect, declaredBy }: Rule, broader: readonly Rule[], route: string): void {
  const closed = effect.kind === 'public' ? broader.find(asksForMore) : undefined;
  if (closed)
    throw new InvalidOptionError(
      declaredBy,
      'a route that no rule for a role, a policy or nobody restricts',
      `${route}, which ${describeRule(closed)} restricts`,
      'take one of the two away',
    );
}

/** `ShopSecurity.requireRole("ADMIN", "/api/admin/**")`, as it was declared. */
export function describeRule({ declaredBy, pattern, effect: enforced, written: effect = enforced }: Rule): string {
  if (declaredBy.startsWith('@')) return declaredBy;
  const first =
    effect.kind === 'roles'
      ? effect.anyOf.map((role) => JSON.stringify(role))
      : effect.kind === 'policy'
        ? [JSON.stringify(effect.policy.name)]
        : [];
  return `${declaredBy}(${[...first, JSON.stringify(pattern.text)].join(', ')})`;
}
