/**
 * The decision of each route, compiled at boot. A request looks its route up by template and method; only where a
 * pattern tells apart what one route serves is the concrete path looked at. Neither grows with the number of rules.
 */
import { declaredRoute, type DeclaredRoute } from '../routes/declared-route.js';
import type { Route } from '../routes/route.js';
import type { RouterReading } from '../routes/router-reading.js';
import type { Access } from './access.js';
import { decoratedAccess, type DecoratedEffect } from './access-decorators.js';
import { cleanLevels, readingsOf, type ConcretePath } from './path-readings.js';
import { exactly, foldWidely, keyOf, keysMatching, type Fold } from './pattern.js';
import { compileRelated, type Related } from './related-rules.js';
import { compileGovernance, type DeclaredPolicy, type Governance } from './governance.js';
import { refuseToOpen, restricts, type Rule } from './rules.js';

/** Who gets in at this path, which the route serves. */
export type PathAccess = (concrete: ConcretePath) => Access;

export interface RouteAccess {
  /** `undefined` for what was not there at boot. @param handler of those at the template, whose decorators may differ */
  of(template: string, method: string, handler?: object): PathAccess | undefined;
  /** One for each method of each route, and for each path that a pattern tells apart, in order of registration. */
  readonly entries: readonly RouteEntry[];
  /** Rules that speak of some route. */
  readonly used: ReadonlySet<Rule>;
}

/** Who gets in at one method of one route, or at the part of it that a pattern tells apart. */
export interface RouteEntry {
  readonly method: string;
  /** The route's template, or the pattern. */
  readonly path: string;
  readonly access: Access;
  /** The rule that tells this part of the route apart, and the route's template. */
  readonly part?: Rule;
  readonly of?: string;
}

export function compileRouteAccess(
  routes: readonly Route[],
  policy: DeclaredPolicy,
  reading: RouterReading,
): RouteAccess {
  const used = new Set<Rule>();
  const entries: RouteEntry[] = [];
  const byTemplate = new Map<string, Map<string, Variant[]>>();
  const relatedTo = compileRelated(policy.rules, reading);
  const governanceOf = compileGovernance(policy);
  for (const [template, served] of groupByPath(routes)) {
    const related = relatedTo(served[0]?.shapes ?? []);
    const byMethod = new Map<string, Variant[]>();
    for (const method of methodsOf(served, related)) {
      const governed = related.filter(({ rule }) => governs(rule, method));
      for (const { rule } of governed) used.add(rule);
      const variants = distinctlySaid(served, method).map((said) => {
        const governance = governanceOf(governed, innerRules(said, template, method, governed));
        entries.push(...entriesOf({ method, path: template }, governance));
        const { declared, decorated } = said;
        return { declared, decorated, access: compilePathAccess(template, governance) };
      });
      byMethod.set(method, variants);
    }
    byTemplate.set(template, byMethod);
  }
  return {
    of: (template, method, handler) => {
      const byMethod = byTemplate.get(template);
      const variants = byMethod?.get(governing(method)) ?? byMethod?.get(OTHER) ?? [];
      const [first, ...others] = variants;
      const variant =
        others.length === 0 ? first : handler && variants.find((each) => saysTheSame(each, saidOf(handler)));
      return variant?.access;
    },
    entries,
    used,
  };
}

const OTHER = 'any other method';

/** HEAD is governed as GET. */
const governing = (method: string): string => (method === 'HEAD' ? 'GET' : method);

const governs = ({ pattern }: Rule, method: string): boolean =>
  pattern.methods.length === 0 || pattern.methods.includes(method);

function groupByPath(routes: readonly Route[]): Map<string, Route[]> {
  const groups = new Map<string, Route[]>();
  for (const route of routes) {
    const known = groups.get(route.path);
    if (known) known.push(route);
    else groups.set(route.path, [route]);
  }
  return groups;
}

/** A route of every method serves those that rules name, and any other. */
function methodsOf(served: readonly Route[], related: readonly Related[]): Set<string> {
  const named = related.flatMap(({ rule }) => rule.pattern.methods);
  return new Set(served.flatMap(({ method }) => (method === 'ALL' ? [...named, OTHER] : governing(method))));
}

/** What is said of a handler itself. Nest copies the metadata onto what the router calls: both tell the very same objects. */
interface Said {
  readonly declared: DeclaredRoute | undefined;
  readonly decorated: readonly DecoratedEffect[];
}
interface Variant extends Said {
  readonly access: PathAccess;
}

const saidOf = (handler: object): Said => ({ declared: declaredRoute(handler), decorated: decoratedAccess(handler) });
const saysTheSame = (a: Said, b: Said): boolean => a.declared === b.declared && a.decorated === b.decorated;

/** Each thing that is said of handlers of this method, once. */
function distinctlySaid(served: readonly Route[], method: string): Said[] {
  const distinct: Said[] = [];
  for (const route of served) {
    if (route.method !== 'ALL' && governing(route.method) !== method) continue;
    const said = saidOf(route.handler);
    if (!distinct.some((each) => saysTheSame(each, said))) distinct.push(said);
  }
  return distinct;
}

/** What is said of the route itself, behind every URL rule: mostly nothing. */
function innerRules(said: Said, template: string, method: string, governed: readonly Related[]): Rule[] {
  if (said.declared?.access === undefined && said.decorated.length === 0) return [];
  const pattern = patternOf(template, method);
  return [...ownRules(said, pattern, governed), ...decoratedRules(said, pattern, governed)];
}

/** What the package says of its own route, as an exact pattern, until the application speaks of the very same path. */
function ownRules({ declared }: Said, pattern: Rule['pattern'], governed: readonly Related[]): Rule[] {
  const access = declared?.access;
  if (access === undefined || governed.some(({ rule, whole }) => whole && rule.pattern.tail === '')) return [];
  return [{ pattern, effect: { kind: access }, declaredBy: 'declarest' }];
}

/** What decorators say: behind every URL rule, the class's before the method's. */
function decoratedRules({ decorated }: Said, pattern: Rule['pattern'], governed: readonly Related[]): Rule[] {
  const said = decorated.map((each): Rule => ({ ...each, pattern }));
  const broader = governed.map(({ rule }) => rule);
  for (const [index, rule] of said.entries())
    refuseToOpen(rule, [...broader, ...said.slice(0, index)], `${pattern.methods.join()} ${pattern.text}`);
  return said;
}

const patternOf = (path: string, method: string): Rule['pattern'] => ({
  text: path,
  methods: [method],
  levels: path.split('/').filter((level) => level !== ''),
  tail: '',
});

/** The route as a whole, then each part of it that a pattern tells apart. */
function entriesOf(
  route: { readonly method: string; readonly path: string },
  { access, partial, with: foldWith }: Governance,
): RouteEntry[] {
  const parts = partial.map((part): RouteEntry => {
    const within = keysWithin(part);
    const also = partial.filter((other) => {
      const spelling = restricts(other) ? foldWidely : exactly;
      return within.map(spelling).includes(spelling(keyOf(other.pattern.levels, other.pattern.tail)));
    });
    const path = keyOf(part.pattern.levels, part.pattern.tail);
    return { method: route.method, path, access: foldWith(also, true), part, of: route.path };
  });
  return [{ method: route.method, path: route.path, access }, ...parts];
}

/** The keys of the patterns that hold for all that a pattern holds for. */
function keysWithin({ pattern: { levels, tail } }: Rule): string[] {
  if (tail === '') return keysMatching(levels);
  const above = levels.map((_, index) => keyOf(levels.slice(0, index), '**'));
  return [...above, keyOf(levels, '**'), ...(tail === '*' ? [keyOf(levels, '*')] : [])];
}

function compilePathAccess(template: string, { access, always, partial, with: foldWith }: Governance): PathAccess {
  if (partial.length === 0) return always;

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
    return matching.size === 0 ? access : foldWith([...matching], permitted.length > 0);
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
