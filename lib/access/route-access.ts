/**
 * The access of each route, compiled at startup. A request looks its route up by template and method. The concrete path
 * matters only where a pattern matches a part of the route's paths. Neither depends on the number of rules.
 */
import type { ExecutionContext } from '@nestjs/common';
import { controllerMethodOf, controllersServing } from '../routes/controller-methods.js';
import type { ControllerClass, ControllerMethod } from '../routes/controller-methods.js';
import { declaredRoute } from '../routes/declared-route.js';
import { groupBy, levelsOf, type Route } from '../routes/route.js';
import { decoratedEffects, effectOf } from './access-decorators.js';
import { assertNotOpened, broadestFirst, fold, restricts, type Access, type Rule } from './decide.js';
import { compileMatching, compileOverlaps, type OverlappingRule } from './matching-rules.js';
import { cleanLevels, interpretationsOf, type ConcretePath } from './path-interpretations.js';
import { exactly, foldWidely, pathOfPattern, type Pattern } from './pattern.js';

export type PathAccess = (concrete: ConcretePath) => Access;

export type RouteHandler = Pick<ExecutionContext, 'getClass' | 'getHandler'>;

export interface RouteAccess {
  /** `undefined` for a route that did not exist at startup. @param handler one of several of this template and method */
  of(template: string, method: string, handler?: RouteHandler): PathAccess | undefined;
  /** One for each method of each route, and for each part of its paths that a pattern matches, in order of registration. */
  readonly entries: readonly RouteEntry[];
  readonly used: ReadonlySet<Rule>;
}

export interface RouteEntry {
  readonly method: string;
  /** The route's template, or the pattern that matches a part of its paths. */
  readonly path: string;
  readonly access: Access;
  readonly template: string;
  readonly part?: Rule;
}

export interface RulePolicy {
  readonly rules: readonly Rule[];
  readonly fallback: Access;
}

/** One handler of a template and method, for one of the controllers that have it. */
interface Target {
  readonly controller: ControllerClass | undefined;
  readonly handler: object | undefined;
}

type CompiledTarget = Target & ReturnType<typeof compileAccess>;

export function compileRouteAccess(
  routes: readonly Route[],
  { rules, fallback }: RulePolicy,
  isCaseSensitive: boolean,
  methods: readonly ControllerMethod[] = [],
): RouteAccess {
  const used = new Set<Rule>();
  const entries: RouteEntry[] = [];
  const compiled = new Map<string, Map<string, CompiledTarget[]>>();
  const overlapsOf = compileOverlaps(rules, isCaseSensitive);
  const controllers = groupBy(methods, ({ method }) => method);
  for (const [path, served] of groupBy(routes, (route) => route.path)) {
    const overlapping = overlapsOf(served[0]?.shapes ?? []);
    const byMethod = new Map<string, CompiledTarget[]>();
    compiled.set(path, byMethod);
    for (const method of methodsOf(served, overlapping)) {
      const targets = targetsOf(served, method, controllers).map((target) => {
        const governing = overlapping.filter(({ rule }) => governs(rule, method));
        for (const { rule } of governing) used.add(rule);
        const inner = innerRules(target, method, path, governing);
        const reloadsUser = declaredRoute(target.handler)?.reloadsUser?.() === true;
        return { ...target, ...compileAccess(method, path, governing, inner, { fallback, reloadsUser }) };
      });
      const found = targets.flatMap((target) => target.entries);
      // Two handlers of one template, such as two versions, may have the same access.
      entries.push(...(targets.length < 2 ? found : new Map(found.map((entry) => [keyOf(entry), entry])).values()));
      byMethod.set(method, targets);
    }
  }
  return {
    of(template, method, handler) {
      const byMethod = compiled.get(template);
      const targets = byMethod?.get(governedMethod(method)) ?? byMethod?.get(ANY_OTHER_METHOD);
      if (!targets || targets.length < 2) return targets?.[0]?.access;
      if (!handler) return undefined;
      const controller = handler.getClass();
      // Tracing libraries may wrap a handler, with its metadata, when Nest creates the route.
      const called = controllerMethodOf(handler.getHandler()) ?? handler.getHandler();
      return targets.find((target) => target.controller === controller && target.handler === called)?.access;
    },
    entries,
    used,
  };
}

export const ANY_OTHER_METHOD = 'any other method';

/** HEAD is governed as GET. */
export const governedMethod = (method: string): string => (method === 'HEAD' ? 'GET' : method);

export const governs = ({ pattern }: Rule, method: string): boolean =>
  pattern.methods.length === 0 || pattern.methods.includes(governedMethod(method));

/** A route of every method serves those that rules name, and any other. */
function methodsOf(served: readonly Route[], overlapping: readonly OverlappingRule[]): Set<string> {
  const named = overlapping.flatMap(({ rule }) => rule.pattern.methods);
  return new Set(
    served.flatMap(({ method }) => (method === 'ALL' ? [...named, ANY_OTHER_METHOD] : governedMethod(method))),
  );
}

function targetsOf(served: readonly Route[], method: string, byMethod: Map<object, ControllerMethod[]>): Target[] {
  const serving = served.filter((route) => route.method === 'ALL' || governedMethod(route.method) === method);
  const handlers = new Set(serving.map(({ handler }) => handler));
  return [...handlers].flatMap((handler): Target[] => {
    const controllers = controllersServing(served[0]?.path ?? '', (handler && byMethod.get(handler)) ?? []);
    return (controllers.length > 0 ? controllers : [undefined]).map((controller) => ({ controller, handler }));
  });
}

/** Rules that apply after every URL rule: the package's own, then the decorators. */
function innerRules(
  { controller, handler }: Target,
  method: string,
  path: string,
  governing: readonly OverlappingRule[],
): Rule[] {
  if (!handler) return [];
  const pattern: Pattern = { text: path, methods: [method], levels: levelsOf(path), tail: '' };
  const access = declaredRoute(handler)?.access;
  // The package's rule holds until the application has a rule for the very same path.
  const isReplaced = governing.some(({ rule, isWhole }) => isWhole && rule.pattern.tail === '');
  const own: Rule[] = access && !isReplaced ? [{ pattern, effect: effectOf(access), declaredBy: 'declarest' }] : [];
  const broader = [...governing.map(({ rule }) => rule), ...own];
  return [...own, ...decoratorRules(controller, handler, { ...pattern, text: '' }, broader, `${method} ${path}`)];
}

/** The rules of a handler's decorators. @throws InvalidOptionError for a `@Public()` that opens what is restricted */
export function decoratorRules(
  controller: ControllerClass | undefined,
  handler: object,
  pattern: Pattern,
  broader: readonly Rule[],
  route: string,
): Rule[] {
  const rules = decoratedEffects(controller, handler).map((decorated): Rule => ({ ...decorated, pattern }));
  for (const [index, rule] of rules.entries()) assertNotOpened(rule, [...broader, ...rules.slice(0, index)], route);
  return rules;
}

/** @param inner rules that apply after every URL rule */
function compileAccess(
  method: string,
  path: string,
  overlapping: readonly OverlappingRule[],
  inner: readonly Rule[],
  { fallback, reloadsUser }: { readonly fallback: Access; readonly reloadsUser: boolean },
): { readonly access: PathAccess; readonly entries: readonly RouteEntry[] } {
  // Where the default denies, every rule permits something: it has to match as a permission does.
  const isOpened =
    fallback.kind !== 'denied' || inner.length > 0 || overlapping.some(({ isWhole, isExact }) => isWhole && isExact);
  const always = overlapping.filter(({ isWhole }) => isWhole).map(({ rule }) => rule);
  const partial = overlapping.filter(({ isWhole }) => !isWhole).map(({ rule }) => rule);
  /** @param isPermitted whether one of the partial rules names the requested path itself */
  const accessWith = (rules: readonly Rule[], isPermitted: boolean): Access => {
    if (!isOpened && !isPermitted) return fallback;
    const folded = fold(fallback, [...[...always, ...rules].toSorted(broadestFirst), ...inner]);
    return reloadsUser ? { ...folded, reloadsUser } : folded;
  };
  const access = accessWith([], false);
  const whole = { method, path, access, template: path };
  if (partial.length === 0) return { access: () => access, entries: [whole] };

  const namedBy = compileMatching(partial, exactly);
  const restrictionsOf = compileMatching(partial.filter(restricts), foldWidely);
  const parts = partial.map((part): RouteEntry => {
    // No rule names a level `*`: what matches it matches any level, and what matches two of them any number.
    const any = [...part.pattern.levels, ...part.pattern.tail];
    const matching = new Set([...namedBy(any), ...restrictionsOf(any.map(foldWidely))]);
    return { ...whole, path: pathOfPattern(part.pattern), access: accessWith([...matching], true), part };
  });
  const interpretations = interpretationsOf(path);
  const accessTo = (concrete: ConcretePath): Access => {
    const interpreted = interpretations(concrete);
    const [served = []] = interpreted;
    // A permission holds for the clean path that is served: the application may have rewritten the path that was sent.
    const clean = cleanLevels(concrete.path);
    const named = clean?.map(foldWidely).join('/') === served.join('/') ? namedBy(clean) : [];
    const matching = new Set([...named, ...interpreted.flatMap(restrictionsOf)]);
    return matching.size === 0 ? access : accessWith([...matching], named.length > 0);
  };
  return { access: accessTo, entries: [whole, ...parts] };
}

const keyOf = ({ part, ...entry }: RouteEntry): string => JSON.stringify([entry, part?.declaredBy, part?.pattern.text]);
