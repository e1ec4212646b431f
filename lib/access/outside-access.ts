/**
 * The access of requests outside Nest's routes, where no guard runs: routes and mounts that main.ts or a plugin adds, and
 * every path below a restricting pattern that matches none of Nest's routes (contract 3.6). The default access does not
 * apply there: what no rule matches is public.
 */
import { ANY_PATH, makeRoute } from '../routes/route.js';
import type { RouterOptions } from '../routes/route-table.js';
import { DENIED, PUBLIC, type Access } from './access.js';
import { compileMatching } from './matching-rules.js';
import { cleanLevels, interpretationsOf, type ConcretePath } from './path-interpretations.js';
import { foldWidely } from './pattern.js';
import { compileRouteAccess, governs } from './route-access.js';
import { restricts, type Rule } from './rule.js';

export type OutsideAccess = ReturnType<typeof compileOutsideAccess>;

/** @param usedInside rules that match some of Nest's routes */
export function compileOutsideAccess(rules: readonly Rule[], usedInside: ReadonlySet<Rule>, options: RouterOptions) {
  const anyRoute = compileRouteAccess([makeRoute('ALL', ANY_PATH)], { rules, fallback: PUBLIC }, options);
  const interpretations = interpretationsOf(ANY_PATH);
  const unrouted = rules.filter((rule) => restricts(rule) && !usedInside.has(rule));
  const restrictionsOf = compileMatching(unrouted, foldWidely);
  const concrete = (path: string): ConcretePath => ({ path, params: { rest: path.slice(1) } });

  /** The access to a path that a known route or mount serves. */
  const ofPath = (method: string, path: string): Access => anyRoute.of(ANY_PATH, method)?.(concrete(path)) ?? DENIED;

  /** The access below a restricting pattern that matches none of Nest's routes; `undefined` elsewhere. */
  function ofUnroutedPath(method: string, path: string): Access | undefined {
    if (unrouted.length === 0) return undefined;
    const clean = cleanLevels(path);
    const all = clean ? [clean.map(foldWidely)] : interpretations(concrete(path));
    const isRestricted = all.flatMap(restrictionsOf).some((rule) => governs(rule, method));
    return isRestricted ? ofPath(method, path) : undefined;
  }

  return { ofPath, ofUnroutedPath };
}
