/** What URL rules make of a method of a route: who gets in, and what depends on the concrete path. */
import type { Access } from './access.js';
import type { Related } from './related-rules.js';
import { broadestFirst, fold, type Rule } from './rules.js';

export interface DeclaredPolicy {
  readonly rules: readonly Rule[];
  /** What no rule speaks of. */
  readonly fallback: Access;
}

/** What a method of a route is decided on. */
export interface Governance {
  /** Where only rules speak that speak of all that the route serves. */
  readonly access: Access;
  readonly always: () => Access;
  /** Rules that speak of a part of what the route serves. */
  readonly partial: readonly Rule[];
  /** With such rules among them. */
  readonly with: (rules: readonly Rule[], opened?: boolean) => Access;
}

/** Made once for all methods of routes of which the same rules speak, as a controller's are mostly. */
export function compileGovernance({
  rules,
  fallback,
}: DeclaredPolicy): (governed: readonly Related[], inner: readonly Rule[]) => Governance {
  const places = new Map(rules.map((rule, place) => [rule, place]));
  const known = new Map<string, Governance>();
  return (governed, inner) => {
    if (inner.length > 0) return governanceOf(governed, inner, fallback);
    const key = governed.map(({ rule, whole, exact }) => `${places.get(rule)} ${whole} ${exact}`).join();
    let governance = known.get(key);
    if (!governance) known.set(key, (governance = governanceOf(governed, inner, fallback)));
    return governance;
  };
}

/** @param inner rules that stand behind every URL rule, in their order */
function governanceOf(governed: readonly Related[], inner: readonly Rule[], fallback: Access): Governance {
  // Where the default lets nobody in, any rule opens: it has to match as a permission does.
  const isOpened =
    fallback.kind !== 'denied' || inner.length > 0 || governed.some(({ whole, exact }) => whole && exact);
  const whole = governed.filter((each) => each.whole).map(({ rule }) => rule);
  const foldWith = (further: readonly Rule[], opened = false): Access =>
    isOpened || opened ? fold(fallback, [...[...whole, ...further].toSorted(broadestFirst), ...inner]) : fallback;
  const access = foldWith([]);
  const partial = governed.filter((each) => !each.whole).map(({ rule }) => rule);
  return { access, always: () => access, partial, with: foldWith };
}
