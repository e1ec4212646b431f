/** Concrete requests for the rows of the access table: placeholders take the place of parameters and wildcards. */
import type { CompiledAccess } from '../access/compiled-access.js';
import { matchesFurtherLevels, type Pattern } from '../access/pattern.js';
import { ANY_OTHER_METHOD, type RouteEntry } from '../access/route-access.js';
import { ANY_PATH, levelsOf } from '../routes/route.js';
import { withoutOptionals } from '../routes/route-shape.js';
import { asSent } from './http-exchange.js';

export interface RowRequest {
  readonly entry: RouteEntry;
  readonly method: string;
  readonly path: string;
}

const PLACEHOLDERS = ['1', 'placeholder', '00000000-0000-4000-8000-000000000000'];
/** How many levels take the place of a wildcard. */
const WILDCARD_LEVELS = [1, 2, 3, 0];
/** Tried for a route of every method. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'SEARCH'];

/** One request for each row, served by the row's route where one was found. A regular expression has no known path. */
export function rowRequests({ entries, table }: CompiledAccess): RowRequest[] {
  return entries.flatMap((entry) => {
    const { template } = entry;
    const siblings = entries.filter((other) => other.template === template);
    const parts = siblings.flatMap(({ method, part }) => (part && method === entry.method ? [part.pattern] : []));
    const methods = methodsFor(entry.method, siblings);
    const requests = pathsFor(template, entry.part?.pattern, parts).flatMap((path) =>
      methods.map((method) => ({ method, path: asSent(path) })),
    );
    const served = requests.find(({ method, path }) => table.find(method, path)?.route.path === template);
    if (!served && template === ANY_PATH) return [];
    return [{ entry, method: entry.method, path: entry.path, ...(served ?? requests[0]) }];
  });
}

function methodsFor(method: string, declared: readonly RouteEntry[]): string[] {
  if (method === 'GET') return ['GET', 'HEAD'];
  return method === ANY_OTHER_METHOD
    ? METHODS.filter((each) => !declared.some((entry) => entry.method === each))
    : [method];
}

/** Paths of a route, or of the part of it that a pattern matches. Those that match the fewest other patterns come first. */
function pathsFor(template: string, part: Pattern | undefined, parts: readonly Pattern[]): string[] {
  const matchingParts = (path: string): number => parts.filter((pattern) => matches(pattern, path)).length;
  const paths = withoutOptionals(template)
    .toReversed()
    .flatMap((variant) =>
      PLACEHOLDERS.flatMap((word) => WILDCARD_LEVELS.map((count) => fill(variant, part?.levels ?? [], word, count))),
    );
  return [...new Set(paths)]
    .filter((path) => !part || matches(part, path))
    .toSorted((a, b) => matchingParts(a) - matchingParts(b));
}

function matches(pattern: Pattern, path: string): boolean {
  const levels = levelsOf(path);
  return pattern.levels.every((level, index) => level === levels[index]) && matchesFurtherLevels(pattern, levels);
}

/** A parameter becomes the pattern's literal at its level. A wildcard becomes the other literals and `count` more levels. */
function fill(template: string, literals: readonly string[], word: string, count: number): string {
  const filled = levelsOf(template).flatMap((level, index) => {
    if (level.startsWith('*')) return [...literals.slice(index), ...Array<string>(count).fill(word)];
    return level.includes(':') ? [literals[index] ?? level.replace(/:\w+(?:\([^)]*\))?/g, word)] : [level];
  });
  return `/${filled.join('/')}`;
}
