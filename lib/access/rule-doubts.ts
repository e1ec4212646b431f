/** What makes rules doubtful, each as a sentence: a warning, or under `strict` a refusal to boot. */
import { BASE_ROLE, type Access } from './access.js';
import { shapesOf } from '../routes/route-shape.js';
import { relationTo, foldWidely } from './pattern.js';
import type { RoleInclusion } from './role-hierarchy.js';
import type { RouteAccess, RouteEntry } from './route-access.js';
import { describeRule, restricts, type Rule } from './rules.js';

export interface CompiledRules {
  /** As enforced. */
  readonly rules: readonly Rule[];
  /** Nest's routes. */
  readonly inside: RouteAccess;
  /** What main.ts adds to the adapter; no default holds for it. */
  readonly outside: RouteAccess;
}

/** @param onlyDefault whether no rule is declared at all, and so the default was meant for everything */
export function doubtsAbout(
  { rules, inside, outside }: CompiledRules,
  roles: RoleInclusion,
  onlyDefault: boolean,
): string[] {
  const entries = [...inside.entries, ...outside.entries];
  const ungoverned = ({ entries: all }: RouteAccess): RouteEntry[] =>
    onlyDefault ? [] : all.filter(({ access }) => access.by.length === 0);
  const idle = rules.filter((rule) => !inside.used.has(rule) && !outside.used.has(rule));
  // Of what is mounted, a file may be public without a route of its own.
  const partlyPublic = [...inside.entries, ...outside.entries.filter(({ of = '' }) => !of.includes('*'))].flatMap(
    ({ part }) => (part && !restricts(part) && !coversAlone(part.pattern, entries) ? [part] : []),
  );
  const impossible = entries.filter(({ access }) => !isSatisfiable(access, roles));
  const list = (sentence: (names: string) => string, found: readonly RouteEntry[]): string[] =>
    found.length === 0 ? [] : [sentence(found.map(nameOf).join(', '))];
  return [
    ...list((names) => `No rule speaks of ${names}: the default decides there.`, ungoverned(inside)),
    ...list(
      (names) => `No rule speaks of ${names}, which is beside Nest's routes: anybody gets in there.`,
      ungoverned(outside),
    ),
    ...idle.map(
      (rule) =>
        `${describeRule(rule)} matches no route: correct the pattern (global prefix and version included) or remove it.`,
    ),
    ...[...new Set(partlyPublic)].map(
      (rule) => `${describeRule(rule)} opens a part of a route only: declare a route for it, or open the whole.`,
    ),
    ...impossible.map(
      (entry) =>
        `${nameOf(entry)} asks for roles that no user has together: ${entry.access.by.map(describeRule).join(', ')}.`,
    ),
  ];
}

const nameOf = ({ method, path }: RouteEntry): string => `${method} ${path}`;

/** A public rule that also covers a route of its own was made for that one. */
function coversAlone(pattern: Parameters<typeof relationTo>[0], entries: readonly RouteEntry[]): boolean {
  return entries.some((entry) => !entry.part && relationTo(pattern, shapesOf(entry.path), foldWidely) === 'covers');
}

/** A user has one role, with all that it includes. */
function isSatisfiable({ requirements }: Access, roles: RoleInclusion): boolean {
  const sets = requirements.flatMap((each) => ('anyOf' in each && !each.anyOf.includes(BASE_ROLE) ? [each.anyOf] : []));
  const candidates = sets.flat().flatMap((role) => [role, ...roles.includersOf(role)]);
  return (
    sets.length < 2 ||
    candidates.some((role) => sets.every((anyOf) => anyOf.some((each) => roles.expand([role]).includes(each))))
  );
}
