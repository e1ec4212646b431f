/** Finds what is suspicious in the rules. Each is one sentence: a warning, or with `strict` a reason to refuse to start. */
import { shapesOf } from '../routes/route-shape.js';
import { BASE_ROLE } from '../http/principal.js';
import type { Access } from './access.js';
import type { CompiledAccess } from './compiled-access.js';
import { foldWidely, relationTo, type Pattern } from './pattern.js';
import type { RoleInclusion } from './role-hierarchy.js';
import type { RouteAccess, RouteEntry } from './route-access.js';
import { describeRule } from './rules.js';
import { restricts } from './rule.js';

/** @param hasNoRules whether the application declares no rule at all, so that the default is meant for every route */
export function findRuleWarnings(compiled: CompiledAccess, hasNoRules: boolean): string[] {
  const { inside, outsideRoutes: outside, roles, entries } = compiled;
  const warnings: string[] = [];
  const [names, outsideNames] = hasNoRules ? [] : [inside, outside].map(namesWithoutRule);
  if (names) warnings.push(`No rule matches ${names}: the default access applies.`);
  if (outsideNames) warnings.push(`No rule matches ${outsideNames}, outside Nest's routes: access is public.`);
  for (const rule of compiled.policy.rules)
    if (!inside.used.has(rule) && !outside.used.has(rule))
      warnings.push(
        `${describeRule(rule)} matches no route. Correct the pattern (with global prefix and version) or remove it.`,
      );
  // A file of a mount may be public without a route of its own.
  const divided = [...inside.entries, ...outside.entries.filter(({ template }) => !template.includes('*'))];
  for (const part of new Set(divided.flatMap((entry) => entry.part ?? [])))
    if (!restricts(part) && !coversRoute(part.pattern, entries))
      warnings.push(
        `${describeRule(part)} opens only a part of a route. Declare a route for that part, or open the whole route.`,
      );
  for (const entry of entries)
    if (!isSatisfiable(entry.access, roles))
      warnings.push(
        `${nameOf(entry)} requires roles that no user has together: ${entry.access.rules.map(describeRule).join(', ')}.`,
      );
  return [
    ...warnings,
    ...findUnrestrictedPatches(inside.entries),
    ...findUnrestrictedBatches(inside.entries),
    ...findSimilarRoles(compiled.roleNames),
  ];
}

const namesWithoutRule = ({ entries }: RouteAccess): string =>
  [...new Set(entries.filter(({ access }) => access.rules.length === 0).map(nameOf))].join(', ');

const nameOf = ({ method, path }: RouteEntry): string => `${method} ${path}`;

/** A public rule that also matches a whole route was made for that route. */
function coversRoute(pattern: Pattern, entries: readonly RouteEntry[]): boolean {
  return entries.some((entry) => !entry.part && relationTo(pattern, shapesOf(entry.path), foldWidely) === 'covers');
}

/** A rule for PUT alone leaves PATCH open, which changes the same record. */
function findUnrestrictedPatches(entries: readonly RouteEntry[]): string[] {
  const patches = new Map(entries.filter(({ method }) => method === 'PATCH').map((entry) => [placeOf(entry), entry]));
  const paths = new Map<string, string[]>();
  for (const put of entries.filter(({ method }) => method === 'PUT')) {
    const patch = patches.get(placeOf(put)) ?? patches.get(placeOf({ ...put, path: put.template }));
    for (const rule of patch ? rulesOfOnly(put, patch) : []) paths.set(rule, [...(paths.get(rule) ?? []), put.path]);
  }
  return [...paths].map(
    ([rule, of]) =>
      `${rule} restricts PUT but not PATCH of ${of.join(', ')}. Restrict PATCH too, or declare a rule of its own for it.`,
  );
}

/** A rule for `POST /api/products` leaves `POST /api/products/batch` open, which writes the same records. */
function findUnrestrictedBatches(entries: readonly RouteEntry[]): string[] {
  const collectionOf = ({ method, path }: RouteEntry): string =>
    `${method} ${method === 'POST' ? path : path.replace(/\/:\w+$/, '')}`;
  const singles = new Map(entries.map((entry) => [collectionOf(entry), entry]));
  return entries.flatMap((batch) => {
    const single = batch.path.endsWith(BATCH) ? singles.get(nameOf(batch).slice(0, -BATCH.length)) : undefined;
    return (single ? rulesOfOnly(single, batch) : []).map(
      (rule) =>
        `${rule} restricts ${nameOf(single as RouteEntry)} but not ${nameOf(batch)}. Restrict the batch too, or declare a rule of its own for it.`,
    );
  });
}

const BATCH = '/batch';

/** The rules that restrict a route but not the other one, unless that one has a rule of its own. */
function rulesOfOnly({ access }: RouteEntry, { access: other }: RouteEntry): string[] {
  if (access.kind === 'public' || other.kind === 'denied') return [];
  const [own, others] = [access, other].map(({ rules }) => new Set(rules.map(describeRule)));
  if ([...(others ?? [])].some((rule) => !own?.has(rule))) return [];
  return access.rules
    .filter(restricts)
    .map(describeRule)
    .filter((rule) => !others?.has(rule));
}

const placeOf = ({ path, template }: RouteEntry): string => `${template} ${path}`;

/** A user has one role, with all roles that it includes. */
function isSatisfiable({ requirements }: Access, roles: RoleInclusion): boolean {
  const sets = requirements.flatMap((each) => ('anyOf' in each && !each.anyOf.includes(BASE_ROLE) ? [each.anyOf] : []));
  const candidates = sets.flat().flatMap((role) => [role, ...roles.includersOf(role)]);
  return (
    sets.length < 2 ||
    candidates.some((role) => sets.every((anyOf) => anyOf.some((each) => roles.expand([role]).includes(each))))
  );
}

/** Roles compare exactly: `Admin` and `ADMIN` are two roles, and one of them is probably a mistake. */
function findSimilarRoles(names: ReadonlySet<string>): string[] {
  return [...new Set([...names].map((name) => name.toLowerCase()))]
    .map((spelling) => [...names].filter((name) => name.toLowerCase() === spelling))
    .filter((roles) => roles.length > 1)
    .map((roles) => `The roles ${roles.join(' and ')} differ only in case. Roles compare exactly: use one spelling.`);
}
