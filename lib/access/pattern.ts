/** The pattern language of the rules: `GET,POST /api/products/*`. Three forms of path and no more. */
import { METHODS } from 'node:http';
import { describe, InvalidOptionError } from '../options/invalid-option.js';
import type { RouteShape } from '../routes/route-shape.js';

/** What follows the literal levels: nothing, exactly one level, or any number of levels and none. */
export type Tail = '' | '*' | '**';

export interface Pattern {
  /** As it was written. */
  readonly text: string;
  /** Empty for every method. HEAD is never among them: it is governed as GET. */
  readonly methods: readonly string[];
  readonly levels: readonly string[];
  readonly tail: Tail;
}

/** How a pattern lies to what a route serves: all of it, none, or a part that only the concrete path tells. */
export type Relation = 'covers' | 'disjoint' | 'partial';

const FORM = /^(?:(?<methods>[^/\s]+) )?(?<path>\/\S*)$/;
const LITERAL_LEVEL = /^[^\s*:?#%;\\{}()[\]"<>|^`]+$/;

/** @param declaredBy for the message: `ShopSecurity.publicEndpoints` */
export function parsePattern(text: unknown, declaredBy: string): Pattern {
  const refuse = (advice: string): never => {
    throw new InvalidOptionError(
      declaredBy,
      'a pattern such as "/api/products/**" or "GET /api/products/*"',
      describe(text),
      advice,
    );
  };
  if (typeof text !== 'string') return refuse('write it as one string');
  const { methods = '', path } = FORM.exec(text)?.groups ?? {};
  if (path === undefined) return refuse('begin the path with "/", after upper-case methods and one space if any');
  if (path.includes('//')) return refuse('leave out the empty level between two slashes');
  const levels = path
    .replace(/(?<=.)\/$/, '')
    .slice(1)
    .split('/');
  if (levels.length === 1 && levels[0] === '') levels.pop();
  const last = levels.at(-1);
  const tail: Tail = last === '*' || last === '**' ? last : '';
  if (tail !== '') levels.pop();
  for (const level of levels) {
    if (level === '.' || level === '..') return refuse('leave out dot segments');
    if (level.includes('*')) return refuse('use * or ** only as the whole last level');
    if (!LITERAL_LEVEL.test(level))
      return refuse(
        `write ${JSON.stringify(level)} as plain text; parameters, queries and escapes have no place in a pattern`,
      );
  }
  return Object.freeze({ text, methods: methods === '' ? [] : parseMethods(methods, refuse), levels, tail });
}

function parseMethods(list: string, refuse: (advice: string) => never): string[] {
  const methods = list.split(',');
  for (const method of methods) {
    if (method === 'HEAD') refuse('write GET, which includes HEAD');
    if (!METHODS.includes(method))
      refuse(`${JSON.stringify(method)} is no HTTP method; write methods in upper case, separated by commas`);
  }
  return [...new Set(methods)];
}

/** `/api/products/**`: the path of a pattern, without its methods. */
export const pathOfPattern = ({ levels, tail }: Pick<Pattern, 'levels' | 'tail'>): string =>
  `/${[...levels, ...(tail === '' ? [] : [tail])].join('/')}`;

/** Whether a pattern whose literal levels are the beginning of a path matches the path. */
export function matchesFurtherLevels({ levels, tail }: Pattern, path: readonly string[]): boolean {
  const further = path.length - levels.length;
  return tail === '**' || further === tail.length;
}

/** Whether a pattern matches every path that another one matches. */
export function covers(outer: Pattern, inner: Pattern, fold: Fold): boolean {
  const further = inner.levels.length - outer.levels.length;
  if (!outer.levels.every((level, index) => fold(level) === fold(inner.levels[index] ?? ''))) return false;
  if (outer.tail === '**') return further >= 0;
  if (outer.tail === '*') return (further === 0 && inner.tail === '*') || (further === 1 && inner.tail === '');
  return further === 0 && inner.tail === '';
}

/** Makes spellings equal that differ in case only. */
export type Fold = (text: string) => string;

/** The letters A to Z: what a router that knows no case takes for one another, and no more. For permissions. */
export const foldAscii: Fold = (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Every letter, as some router or database might: for restrictions, which are never to be spelled around. */
export const foldWidely: Fold = (text) => text.toLowerCase();

export const exactly: Fold = (text) => text;

export function relationTo(pattern: Pattern, shapes: readonly RouteShape[], fold: Fold): Relation {
  const relations = new Set(shapes.map((shape) => relationToShape(pattern, shape, fold)));
  const [only] = relations;
  return relations.size === 1 && only !== undefined ? only : 'partial';
}

function relationToShape({ levels, tail }: Pattern, shape: RouteShape, fold: Fold): Relation {
  let certain = true;
  for (const [index, literal] of levels.entries()) {
    if (index >= shape.levels.length) {
      if (!shape.open) return 'disjoint';
      certain = false;
      break;
    }
    const level = shape.levels[index];
    if (level === undefined) certain = false;
    else if (fold(level) !== fold(literal)) return 'disjoint';
  }
  const further = shape.levels.length - levels.length;
  if (tail !== '**') {
    const wanted = tail === '*' ? 1 : 0;
    if (further > wanted || (further < wanted && !shape.open)) return 'disjoint';
    if (shape.open) certain = false;
  }
  return certain ? 'covers' : 'partial';
}

/** Broadest first: fewer literal levels; then `**`, `*`, plain; then without methods, with methods. */
export function byBreadth(a: Pattern, b: Pattern): number {
  const rank = ({ levels, tail, methods }: Pattern): number =>
    levels.length * 6 + (2 - tail.length) * 2 + (methods.length > 0 ? 1 : 0);
  return rank(a) - rank(b);
}
