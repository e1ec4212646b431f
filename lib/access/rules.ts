/** How matching rules combine: a public rule resets to open, restrictions add up. Their order does not matter. */
import { InvalidOptionError } from '../options/invalid-option.js';
import type { Access, Refusal, Requirement } from './access.js';
import { byBreadth, foldWidely, pathOfPattern } from './pattern.js';
import { restricts, type Effect, type Rule } from './rule.js';

/** A rule for roles outside `enforcedRoles` requires only a valid token. Without a list, every role is enforced. */
export function asEnforced(rule: Rule, enforcedRoles: readonly string[] | undefined): Rule {
  const { effect } = rule;
  const isEnforced =
    effect.kind !== 'roles' || !enforcedRoles || effect.anyOf.some((role) => enforcedRoles.includes(role));
  return isEnforced ? rule : { ...rule, effect: { kind: 'authenticated' }, written: effect };
}

/** Whether a rule requires more than a valid token, enforced or not. `@Public()` may not open such a route. */
const restrictsBeyondLogin = ({ effect, written = effect }: Rule): boolean =>
  written.kind !== 'public' && written.kind !== 'authenticated';

/** Combines matching rules, broadest first, with the access of routes that match no rule. */
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
  for (const effect of effects) {
    if (effect.kind === 'roles') requirements.set(effect.anyOf.join('\n'), { anyOf: effect.anyOf });
    if (effect.kind === 'policy') requirements.set(effect.policy, { policy: effect.policy });
  }
  return [...requirements.values()];
}

/** The rule that refuses, or the last rule where none does; `undefined` where the default decides. */
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
  if (declaredBy.startsWith('@')) return declaredBy;
  const first = effect.kind === 'roles' ? effect.anyOf : effect.kind === 'policy' ? [effect.policy.name] : [];
  return `${declaredBy}(${[...first, pattern.text].map((text) => JSON.stringify(text)).join(', ')})`;
}
