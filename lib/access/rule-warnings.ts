/** Finds what is suspicious in the rules, as sentences: warnings, or with `strict` reasons to refuse to start. */
import { memoized } from '../http/bounded-map.js';
import { condense } from '../options/condense.js';
import { declaredRoute, hasCacheKey, type DeclaredRoute } from '../routes/declared-route.js';
import { groupBy, shapesOf } from '../routes/route.js';
import { BASE_ROLE, CREDENTIAL_ROLES } from '../http/caller.js';
import { describeRule, restricts, type Access } from './decide.js';
import type { CompiledAccess } from './compiled-access.js';
import { foldWidely, relationTo, type Pattern } from './pattern.js';
import type { RoleInclusion } from './role-hierarchy.js';
import type { RouteAccess, RouteEntry } from './route-access.js';

/**
 * @param hasNoRules whether the application declares no rule at all, so that the default is meant for every route
 * @param roleNames every role that a rule or an option names
 */
export function findRuleWarnings(
  compiled: CompiledAccess,
  hasNoRules: boolean,
  roleNames = compiled.roleNames,
): string[] {
  const { inside, outsideRoutes: outside, roles, entries } = compiled;
  const warnings: string[] = [];
  const [names, outsideNames] = hasNoRules ? [] : [inside, outside].map(namesWithoutRule);
  if (names) warnings.push(`No rule matches ${names}: the default access applies.`);
  if (outsideNames) warnings.push(`No rule matches ${outsideNames}, outside Nest's routes: access is public.`);
  const unused = compiled.policy.rules.filter((rule) => !inside.used.has(rule) && !outside.used.has(rule));
  // A file of a mount may be public without a route of its own.
  const divided = [...inside.entries, ...outside.entries.filter(({ template }) => !template.includes('*'))];
  const routes = entries.filter(({ part }) => !part);
  // A public rule that also matches a whole route was made for that route.
  const partial = [...new Set(divided.flatMap((entry) => entry.part ?? []))].filter(
    (part) => !restricts(part) && !routes.some(({ path }) => coversRoute(part.pattern, path)),
  );
  const impossible = entries.filter(({ access }) => !isSatisfiable(access, roles));
  return [
    ...warnings,
    ...condense(
      unused.map(describeRule),
      'matches no route. Correct the pattern (with global prefix and version) or remove it.',
    ),
    ...condense(
      partial.map(describeRule),
      'opens only a part of a route. Declare a route for that part, or open the whole route.',
    ),
    ...condense(
      impossible.map((entry) => {
        const rules = entry.access.rules.map(describeRule).join(', ');
        return `${nameOf(entry)} requires roles that no user has together: ${rules}.`;
      }),
    ),
    ...condense(findUnrestrictedCopies(compiled)),
    ...condense(findPublicRoutesForUsers(compiled)),
    ...condense(findSimilarRoles(roleNames)),
  ];
}

const namesWithoutRule = ({ entries }: RouteAccess): string =>
  [...new Set(entries.filter(({ access }) => access.rules.length === 0).map(nameOf))].join(', ');

const nameOf = ({ method, path }: Pick<RouteEntry, 'method' | 'path'>): string => `${method} ${path}`;
const routeOf = ({ method, template }: RouteEntry): string => `${method} ${template}`;

const coversRoute = (pattern: Pattern, path: string): boolean =>
  relationTo(pattern, shapesOf(path), foldWidely) === 'covers';

/** A rule for one route leaves others open that do the same: `PUT /api/products/:id` and PATCH, `POST` and `/batch`. */
function findUnrestrictedCopies({ table, inside: { entries } }: CompiledAccess): string[] {
  const declared = new Map(table.controllerRoutes.map((route) => [nameOf(route), declaredRoute(route.handler)]));
  const names = new Set(entries.map(nameOf));
  const keyOf = ({ method, template }: RouteEntry): string => `${method} ${withoutNames(template)}`;
  const [byRoute, byPath] = [groupBy(entries, keyOf), groupBy(entries, (each) => `${keyOf(each)} ${each.path}`)];
  const sameOf = ({ template, path }: RouteEntry, copy: RouteEntry): string =>
    template === copy.template ? `${copy.method} ${path}` : nameOf(copy);
  const found = [...groupBy(entries, routeOf).values()].flatMap((copies) => {
    // Methods of one route are compared for the same part of it, where both have that part.
    const others = memoized((originals: RouteEntry[]) =>
      originals.filter((each) => each.template !== copies[0]?.template || !names.has(sameOf(each, copies[0]))),
    );
    return copies.flatMap((copy) => {
      const keys = originalsOf(copy, copy.part ? undefined : declared.get(nameOf(copy)));
      const same = keys.flatMap((key) => byPath.get(`${key} ${copy.path}`) ?? []);
      return [...same, ...keys.flatMap((key) => others(byRoute.get(key) ?? []))].flatMap((original) =>
        rulesOfOnly(original, copy).map((rule) => ({ rule, original, copy })),
      );
    });
  });
  return [...groupBy(found, ({ rule }) => rule)].map(([rule, pairs]) => {
    const restricted = [...new Set(pairs.map(({ original }) => nameOf(original)))];
    const open = [...new Set(pairs.map(({ original, copy }) => sameOf(original, copy)))];
    // A pattern has a star only at its end.
    const patterns = new Set(open.map((name) => `"${name.replace(/:\w+\/.+/, '**').replace(/:\w+/, '*')}"`));
    const problem = `${rule} restricts ${restricted.join(', ')} but not ${open.join(', ')}`;
    return `${problem}. Restrict ${[...patterns].join(', ')} too, or declare a rule of its own for it.`;
  });
}

const withoutNames = (path: string): string => `/${path}`.replace(/^\/+/, '/').replaceAll(/:\w+/g, ':');

/** @param declared of a generated route */
function originalsOf({ method, template }: RouteEntry, declared: DeclaredRoute | undefined): string[] {
  const { controllerPath, path = '', copyOf = [] } = declared ?? {};
  const full = withoutNames(template);
  const below = path === '/' ? '' : withoutNames(path);
  const base = full.endsWith(below) ? full.slice(0, full.length - below.length) : undefined;
  if (copyOf.length > 0 && base !== undefined)
    return copyOf.map((route) => {
      const [verb, original = ''] = route.split(' ');
      return `${verb} ${base}${original === '/' ? '' : withoutNames(original)}`;
    });
  // The records of a nested resource belong to the record in front of it.
  const owner = method !== 'GET' && controllerPath?.includes(':') && full.slice(0, full.indexOf('/:/') + 2);
  const ofOwner = owner ? ['PUT', 'PATCH', 'DELETE'].map((verb) => `${verb} ${owner}`) : [];
  return method === 'PATCH' ? [`PUT ${full}`, ...ofOwner] : ofOwner;
}

/** The rules that restrict a route but not the other one, unless that one has a rule of its own. */
function rulesOfOnly({ access }: RouteEntry, { access: other }: RouteEntry): string[] {
  if (access.kind === 'public' || other.kind === 'denied') return [];
  const [own, others] = [access, other].map(({ rules }) => new Set(rules.map(describeRule)));
  if ([...(others ?? [])].some((rule) => !own?.has(rule))) return [];
  const effects = new Set(other.rules.map(({ effect }) => JSON.stringify(effect)));
  return access.rules.filter((rule) => restricts(rule) && !effects.has(JSON.stringify(rule.effect))).map(describeRule);
}

/** A POST with an `Idempotency-Key` is refused without a user. */
function findPublicRoutesForUsers({ table, inside }: CompiledAccess): string[] {
  const open = new Set(inside.entries.filter(({ access }) => access.kind === 'public').map(routeOf));
  return table.controllerRoutes.flatMap(({ method, path, handler }) => {
    const option = declaredRoute(handler)?.needsUser;
    if (option === undefined || method !== 'POST' || !open.has(`POST ${path}`)) return [];
    return [`${method} ${path} is public, but ${option} requires a user. Restrict the route, or remove the option.`];
  });
}

/** @param interceptors the global ones, of which one may cache answers by URL, so that users get those of others */
export function findCachedRoutes({ table, inside }: CompiledAccess, interceptors: readonly object[]): string[] {
  const dependenciesOf = ({ constructor }: object): readonly { readonly param: unknown }[] =>
    (Reflect.getMetadata('self:paramtypes', constructor) ?? []) as readonly { readonly param: unknown }[];
  const usesCache = interceptors.some((each) => dependenciesOf(each).some(({ param }) => param === 'CACHE_MANAGER'));
  const restricted = new Set(inside.entries.filter(({ access }) => access.kind !== 'public').map(routeOf));
  const cached = table.controllerRoutes.filter(({ handler }) => handler && !hasCacheKey(handler)).map(nameOf);
  const names = cached.filter((name) => name.startsWith('GET ') && restricted.has(name));
  if (!usesCache || names.length === 0) return [];
  const others = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return [
    `A global interceptor injects CACHE_MANAGER: if it caches by URL, users get the answers of others at ${names.slice(0, 5).join(', ')}${others}. Add @CacheKey() with a function that returns a key for each user, or undefined.`,
  ];
}

/** A user has one role, with all roles that it includes. A key has `KEY` besides. */
function isSatisfiable({ requirements }: Access, roles: RoleInclusion): boolean {
  const sets = requirements.flatMap((each) => ('anyOf' in each && !each.anyOf.includes(BASE_ROLE) ? [each.anyOf] : []));
  const candidates = sets.flat().flatMap((role) => [role, ...roles.includersOf(role)]);
  const held = candidates.flatMap((role) => [roles.expand([role]), roles.expand([role, CREDENTIAL_ROLES.key])]);
  return sets.length < 2 || held.some((all) => sets.every((anyOf) => anyOf.some((each) => all.includes(each))));
}

/** Roles compare exactly: `Admin` and `ADMIN` are two roles, and one of them is probably a mistake. */
function findSimilarRoles(names: ReadonlySet<string>): string[] {
  return [...groupBy([...names], (name) => name.toLowerCase()).values()]
    .filter((roles) => roles.length > 1)
    .map((roles) => `The roles ${roles.join(' and ')} differ only in case. Roles compare exactly: use one spelling.`);
}
