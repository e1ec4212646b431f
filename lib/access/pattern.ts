/** The pattern language of the rules: `GET,POST /api/products/*`. A path has one of three forms. */
import { METHODS } from 'node:http';
import { describe, InvalidOptionError } from '../options/invalid-option.js';
import { levelsOf, type RouteShape } from '../routes/route.js';

export interface Pattern {
  readonly text: string;
  /** Empty for every method. HEAD is never among them: it is governed as GET. */
  readonly methods: readonly string[];
  readonly levels: readonly string[];
  /** What follows the literal levels: nothing, exactly one level, or any number of levels. */
  readonly tail: '' | '*' | '**';
}

/** Whether a pattern matches all paths of a route, none, or a part of them. */
export type Coverage = 'covers' | 'disjoint' | 'partial';

const FORM = /^(?:(?<methods>[^/\s]+) )?(?<path>\/\S*)$/;
const LITERAL_LEVEL = /^[^\s*:?#%;\\{}()[\]"<>|^`]+$/;

/** @param declaredBy for the message: `ShopSecurity.publicEndpoints` @throws InvalidOptionError */
export function parsePattern(text: unknown, declaredBy: string): Pattern {
  const refuse = (advice: string): never => {
    const expected = 'a path such as "/api/products/**" or "GET /api/products/*"';
    throw new InvalidOptionError(`The pattern of ${declaredBy}`, expected, describe(text), advice);
  };
  if (typeof text !== 'string') return refuse('Write it as one string');
  const { methods: list = '', path } = FORM.exec(text)?.groups ?? {};
  if (path === undefined) return refuse('Begin the path with "/", after upper-case methods and one space, if any');
  if (path.includes('//')) return refuse('Remove the empty level between two slashes');
  const { levels, tail } = readLevels(path);
  for (const level of levels) {
    if (level === '.' || level === '..') return refuse('Remove the dot segments');
    if (level.includes('*')) return refuse('Use * or ** only as the whole last level');
    if (!LITERAL_LEVEL.test(level))
      return refuse(
        `Replace ${JSON.stringify(level)} by plain text, or end the pattern there with * or **: it has no parameters, queries or escapes`,
      );
  }
  const methods = list === '' ? [] : [...new Set(list.split(','))];
  for (const method of methods) {
    if (method === 'HEAD') return refuse('Write GET, which includes HEAD');
    const advice = `${JSON.stringify(method)} is not an HTTP method: write methods in upper case, separated by commas`;
    if (!METHODS.includes(method)) return refuse(advice);
  }
  return Object.freeze({ text, methods, levels, tail });
}

/** `/api/products/**` → the levels `api` and `products`, and the tail. */
export function readLevels(path: string): Pick<Pattern, 'levels' | 'tail'> {
  const levels = levelsOf(path);
  const last = levels.at(-1);
  return last === '*' || last === '**' ? { levels: levels.slice(0, -1), tail: last } : { levels, tail: '' };
}

/** `/api/products/**`: the path of a pattern, without its methods. */
export const pathOfPattern = ({ levels, tail }: Pattern): string => `/${[...levels, tail].filter(Boolean).join('/')}`;

/** Whether a pattern whose literal levels are the beginning of a path matches the path. */
export function matchesFurtherLevels({ levels, tail }: Pattern, path: readonly string[]): boolean {
  const further = path.length - levels.length;
  return tail === '**' || further === tail.length;
}

export function covers(outer: Pattern, inner: Pattern, fold: Fold): boolean {
  const levels = inner.tail === '*' ? [...inner.levels, undefined] : inner.levels;
  return relationToShape(outer, { levels, open: inner.tail === '**' }, fold) === 'covers';
}

export type Fold = (text: string) => string;

/** Folds A to Z only, as a case-insensitive router does. For permissions. */
export const foldAscii: Fold = (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Folds every letter, as some router or database might. For restrictions, so that no spelling avoids them. */
export const foldWidely: Fold = (text) => text.toLowerCase();

export const exactly: Fold = (text) => text;

export function relationTo(pattern: Pattern, shapes: readonly RouteShape[], fold: Fold): Coverage {
  const [first, ...others] = new Set(shapes.map((shape) => relationToShape(pattern, shape, fold)));
  return others.length > 0 ? 'partial' : (first ?? 'partial');
}

function relationToShape({ levels, tail }: Pattern, shape: RouteShape, fold: Fold): Coverage {
  const further = shape.levels.length - levels.length;
  const least = tail === '*' ? 1 : 0;
  if ((further > least && tail !== '**') || (further < least && !shape.open)) return 'disjoint';
  const compared = levels.map((literal, index) => ({ literal, level: shape.levels[index] }));
  if (compared.some(({ literal, level }) => level !== undefined && fold(level) !== fold(literal))) return 'disjoint';
  const isCertain = compared.every(({ level }) => level !== undefined);
  return isCertain && (tail === '**' || !shape.open) ? 'covers' : 'partial';
}

/** Sorts the broadest first: fewer literal levels; then `**`, `*`, plain; then without methods, with methods. */
export function byBreadth(a: Pattern, b: Pattern): number {
  const rank = ({ levels, tail, methods }: Pattern): number =>
    levels.length * 6 + (2 - tail.length) * 2 + (methods.length > 0 ? 1 : 0);
  return rank(a) - rank(b);
}
