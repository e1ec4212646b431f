/** What else may be asked for the paths of a route, by the templates of both. */
import { matchesRoute, PLAIN_TEMPLATE } from '../routes/bound-path.js';

/** What a template begins with, whatever its parameters are; nothing for a list or a regular expression. */
export const headOf = (path: unknown): string =>
  typeof path === 'string' ? (/^[\w.~/-]*/.exec(path)?.[0] ?? '').toLowerCase() : '';

/** Told by their heads alone, as there may be thousands. */
export const mayMeet = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);

interface Other {
  readonly path: unknown;
  /** Whether it is for this path alone, and not for what is below it. */
  readonly isRoute: boolean;
}

/**
 * @returns `'never'` where nothing is for both; the word that it has in the place of the route's parameter; `undefined`
 * where it is for more of what the route is for, or nobody can tell
 */
export function meeting({ path, isRoute }: Other, route: string): 'never' | { readonly word: string } | undefined {
  if (typeof path !== 'string') return undefined;
  if (matchesRoute([path], route) === false) return 'never';
  if (!isRoute || !(path === '/' || PLAIN_TEMPLATE.test(path))) return undefined;
  const [others, levels] = [path, route].map((each) => each.split('/')) as [string[], string[]];
  if (others.length !== levels.length) return 'never';
  const [word = ':', last = ''] = [others.at(-1), levels.at(-1)];
  const above = [others, levels].map((each) => each.slice(0, -1).join('/').toLowerCase());
  const isWord = above[0] === above[1] && last.startsWith(':') && !word.startsWith(':');
  return isWord ? { word: word.toLowerCase() } : undefined;
}
