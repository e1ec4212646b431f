/**
 * The decision of each route, compiled at boot. A request looks its route up by template and method; only where a
 * pattern tells apart what one route serves is the concrete path looked at. Neither grows with the number of rules.
 */
import { declaredRoute } from '../routing/declared-route.js';
import type { Route, RouterReading } from '../routing/route-table.js';
import type { Access } from './access.js';
import { cleanLevels, readingsOf, type ConcretePath } from './path-readings.js';
import { exactly, foldAscii, foldWidely, keyOf, keysMatching, relationTo, type Fold } from './pattern.js';
import { broadestFirst, fold, restricts, type Rule } from './rules.js';

/** Who gets in at this path, which the route serves. */
export type PathAccess = (concrete: ConcretePath) => Access;

export interface RouteAccess {
  /** @param template as the router was given it; `undefined` for a route that was not there at boot */
  of(template: string, method: string): PathAccess | undefined;
  /** Rules that speak of no route. */
  readonly idle: readonly Rule[];
  /** Routes outside Nest, which no guard protects, of which a restriction speaks. */
  readonly outside: readonly Route[];
}

export interface Policy {
  readonly rules: readonly Rule[];
  /** What no rule speaks of. */
  readonly fallback: Access;
}

export function compileRouteAccess(routes: readonly Route[], policy: Policy, reading: RouterReading): RouteAccess {
  const used = new Set<Rule>();
  const byTemplate = new Map<string, Map<string, PathAccess>>();
  for (const [template, served] of groupByPath(routes.filter(({ outside }) => !outside))) {
    const related = relatedTo(served, policy.rules, reading);
    const byMethod = new Map<string, PathAccess>();
    for (const method of methodsOf(served, related)) {
      const governed = related.filter(({ rule }) => governs(rule, method));
      for (const { rule } of governed) used.add(rule);
      byMethod.set(
        method,
        compilePathAccess(template, [...governed, ...ownRules(served, method, governed)], policy.fallback),
      );
    }
    byTemplate.set(template, byMethod);
  }
  return {
    of: (template, method) => {
      const byMethod = byTemplate.get(template);
      return byMethod?.get(governing(method)) ?? byMethod?.get(OTHER);
    },
    idle: policy.rules.filter((rule) => !used.has(rule)),
    outside: routes.filter((route) => route.outside && isRestricted(route, policy.rules, reading)),
  };
}

const OTHER = 'any other method';

/** HEAD is governed as GET. */
const governing = (method: string): string => (method === 'HEAD' ? 'GET' : method);

const governs = ({ pattern }: Rule, method: string): boolean =>
  pattern.methods.length === 0 || pattern.methods.includes(method);

function groupByPath(routes: readonly Route[]): Map<string, Route[]> {
  const groups = new Map<string, Route[]>();
  for (const route of routes) groups.set(route.path, [...(groups.get(route.path) ?? []), route]);
  return groups;
}

/** A route of every method serves those that rules name, and any other. */
function methodsOf(served: readonly Route[], related: readonly Related[]): Set<string> {
  const named = related.flatMap(({ rule }) => rule.pattern.methods);
  return new Set(served.flatMap(({ method }) => (method === 'ALL' ? [...named, OTHER] : governing(method))));
}

interface Related {
  readonly rule: Rule;
  /** Whether the rule speaks of everything the route serves. */
  readonly whole: boolean;
  /** Whether it does so in the router's own letters, as a permission must. */
  readonly exact: boolean;
}

/** A restriction is compared without regard to case; a permission as the router compares. */
function relatedTo(served: readonly Route[], rules: readonly Rule[], reading: RouterReading): Related[] {
  const shapes = served.flatMap((route) => route.shapes);
  const permissionFold = reading.caseSensitive ? exactly : foldAscii;
  return rules.flatMap((rule) => {
    const permitted = relationTo(rule.pattern, shapes, permissionFold);
    const relation = restricts(rule) ? relationTo(rule.pattern, shapes, foldWidely) : permitted;
    return relation === 'disjoint' ? [] : [{ rule, whole: relation === 'covers', exact: permitted === 'covers' }];
  });
}

/** What the package says of its own routes, as exact patterns, until the application speaks of the very same path. */
function ownRules(served: readonly Route[], method: string, governed: readonly Related[]): Related[] {
  if (governed.some(({ rule, whole }) => whole && rule.pattern.tail === '')) return [];
  return served.flatMap((route) => {
    const access = declaredRoute(route.handler)?.access;
    if (access === undefined || governing(route.method) !== method) return [];
    const levels = route.path.split('/').filter((level) => level !== '');
    const pattern = { text: route.path, methods: [method], levels, tail: '' } as const;
    return [{ rule: { pattern, effect: { kind: access }, declaredBy: 'declarest' }, whole: true, exact: true }];
  });
}

const isRestricted = (route: Route, rules: readonly Rule[], reading: RouterReading): boolean =>
  relatedTo([route], rules.filter(restricts), reading).some(
    ({ rule }) => route.method === 'ALL' || governs(rule, governing(route.method)),
  );

function compilePathAccess(template: string, related: readonly Related[], fallback: Access): PathAccess {
  // Where the default lets nobody in, any rule opens: it has to match as a permission does.
  const isOpened = fallback.kind !== 'denied' || related.some(({ whole, exact }) => whole && exact);
  const foldAll = (rules: readonly Rule[], opened: boolean): Access =>
    opened ? fold(fallback, rules.toSorted(broadestFirst)) : fallback;
  const whole = related.filter((each) => each.whole).map(({ rule }) => rule);
  const access = foldAll(whole, isOpened);
  const partial = related.filter((each) => !each.whole).map(({ rule }) => rule);
  if (partial.length === 0) return () => access;

  const named = index(partial, exactly);
  const restrictions = index(partial.filter(restricts), foldWidely);
  const readings = readingsOf(template);
  return (concrete) => {
    const [served, ...others] = readings(concrete);
    // A permission is for the clean path that is served: an application may have rewritten the one that was sent.
    const clean = cleanLevels(concrete.path);
    const permitted = clean?.map(foldWidely).join('/') === served.join('/') ? lookUp(named, clean) : [];
    const restricting = [served, ...others].flatMap((levels) => lookUp(restrictions, levels));
    const matching = new Set([...permitted, ...restricting]);
    return matching.size === 0 ? access : foldAll([...whole, ...matching], isOpened || permitted.length > 0);
  };
}

function index(rules: readonly Rule[], spelling: Fold): Map<string, Rule[]> {
  const byKey = new Map<string, Rule[]>();
  for (const rule of rules) {
    const key = spelling(keyOf(rule.pattern.levels, rule.pattern.tail));
    byKey.set(key, [...(byKey.get(key) ?? []), rule]);
  }
  return byKey;
}

function lookUp(rules: ReadonlyMap<string, Rule[]>, levels: readonly string[]): Rule[] {
  return rules.size === 0 ? [] : keysMatching(levels).flatMap((key) => rules.get(key) ?? []);
}
