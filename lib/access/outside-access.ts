/**
 * The access of requests outside Nest's routes, where no guard runs: routes and mounts that main.ts or a plugin adds, and
 * every path below a restricting pattern that matches none of Nest's routes (contract 3.6). The default access does not
 * apply there: what no rule matches is public.
 */
import { ANY_PATH, makeRoute, type Route } from '../routes/route.js';
import type { RouterReading } from '../routes/router-reading.js';
import { PUBLIC, type Access } from './access.js';
import { compileMatching } from './matching-rules.js';
import { cleanLevels, readingsOf } from './path-readings.js';
import { foldWidely } from './pattern.js';
import { compileRouteAccess, type PathAccess, type RouteAccess } from './route-access.js';
import { restricts, type Rule } from './rules.js';

export interface OutsideAccess {
  /** The routes and mounts that are known. */
  readonly routes: RouteAccess;
  /** The access below a restricting pattern that matches none of Nest's routes; `undefined` elsewhere. */
  ofUnroutedPath(method: string, path: string): Access | undefined;
}

/** @param usedInside rules that match some of Nest's routes */
export function compileOutsideAccess(
  platformRoutes: readonly Route[],
  rules: readonly Rule[],
  usedInside: ReadonlySet<Rule>,
  reading: RouterReading,
): OutsideAccess {
  const compile = (routes: readonly Route[]): RouteAccess =>
    compileRouteAccess(routes, { rules, fallback: PUBLIC }, reading);
  const unrouted = rules.filter((rule) => restricts(rule) && !usedInside.has(rule));
  const restrictionsOf = compileMatching(unrouted, foldWidely);
  const anyPath = compile([makeRoute('ALL', ANY_PATH)]);
  const readings = readingsOf(ANY_PATH);
  return {
    routes: compile(platformRoutes),
    ofUnroutedPath(method, path) {
      if (unrouted.length === 0) return undefined;
      const params = { rest: path.slice(1) };
      const clean = cleanLevels(path);
      const all = clean ? [clean.map(foldWidely)] : readings({ path, params });
      const isRestricted = all
        .flatMap(restrictionsOf)
        .some(({ pattern }) => pattern.methods.length === 0 || pattern.methods.includes(governed(method)));
      const access: PathAccess | undefined = isRestricted ? anyPath.of(ANY_PATH, method) : undefined;
      return access?.({ path, params });
    },
  };
}

const governed = (method: string): string => (method === 'HEAD' ? 'GET' : method);
