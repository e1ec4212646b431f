/**
 * Rules as they are declared, and the fold that makes a decision of those that match: public resets to open,
 * authentication and roles add up. The order of declaration never matters.
 */
import { InvalidOptionError } from '../options/invalid-option.js';
import { AUTHENTICATED, PUBLIC, type Access } from './access.js';
import { byBreadth, foldWidely, keyOf, type Pattern } from './pattern.js';

export type Effect =
  { readonly kind: 'public' } | { readonly kind: 'authenticated' } | { readonly kind: 'role'; readonly role: string };

export interface Rule {
  readonly pattern: Pattern;
  readonly effect: Effect;
  /** The configuration that declared it: `ShopSecurity.requireRole`. */
  readonly declaredBy: string;
}

export const restricts = (rule: Rule): boolean => rule.effect.kind !== 'public';

/** Folds rules that all match, broadest first, over the access of what no rule speaks of. */
export function fold(start: Access, rules: readonly Rule[]): Access {
  return rules.reduce<Access>((access, { effect }) => {
    if (effect.kind === 'public') return PUBLIC;
    const roles = access.kind === 'authenticated' ? access.roles : [];
    if (effect.kind === 'authenticated') return roles.length === 0 ? AUTHENTICATED : { kind: 'authenticated', roles };
    return { kind: 'authenticated', roles: [...new Set([...roles, effect.role])] };
  }, start);
}

/** Among rules of one breadth by role, so that the order of declaration shows in no answer. */
export const broadestFirst = (a: Rule, b: Rule): number =>
  byBreadth(a.pattern, b.pattern) || roleOf(a).localeCompare(roleOf(b), 'en');

const roleOf = ({ effect }: Rule): string => (effect.kind === 'role' ? effect.role : '');

/** Refuses the same pattern, for the same method, both public and restricted. */
export function refuseContradictions(rules: readonly Rule[]): void {
  const seen = new Map<string, Rule>();
  for (const rule of rules) {
    const { levels, tail, methods } = rule.pattern;
    for (const method of methods.length > 0 ? methods : ['']) {
      const key = `${method} ${foldWidely(keyOf(levels, tail))}`;
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
