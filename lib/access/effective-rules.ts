/** What the rules of one method of one route come to: its access, and what depends on the concrete path. */
import type { Access } from './access.js';
import type { OverlappingRule } from './overlapping-rules.js';
import { broadestFirst, fold } from './rules.js';
import type { Rule } from './rule.js';

export interface EffectiveRules {
  /** The access where only rules for the whole route match. */
  readonly access: Access;
  /** Rules that match a part of the route's paths. */
  readonly partial: readonly Rule[];
  /**
   * The access with some of the partial rules.
   *
   * @param isPermitted whether one of them names the requested path itself
   */
  readonly accessWith: (rules: readonly Rule[], isPermitted: boolean) => Access;
}

/**
 * @param inner rules that apply after every URL rule, in their order: the package's own, and decorators
 * @param fallback the access of routes that match no rule
 */
export function effectiveRules(
  overlapping: readonly OverlappingRule[],
  inner: readonly Rule[],
  fallback: Access,
): EffectiveRules {
  // Where the default denies, every rule permits something: it has to match as a permission does.
  const isOpened =
    fallback.kind !== 'denied' || inner.length > 0 || overlapping.some(({ isWhole, isExact }) => isWhole && isExact);
  const whole = overlapping.filter(({ isWhole }) => isWhole).map(({ rule }) => rule);
  const accessWith = (rules: readonly Rule[], isPermitted: boolean): Access =>
    isOpened || isPermitted ? fold(fallback, [...[...whole, ...rules].toSorted(broadestFirst), ...inner]) : fallback;
  return {
    access: accessWith([], false),
    partial: overlapping.filter(({ isWhole }) => !isWhole).map(({ rule }) => rule),
    accessWith,
  };
}
