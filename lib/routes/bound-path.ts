/**
 * Whether a path that middleware is bound to matches what a route is asked for, where that is certain before there is a
 * request: for templates of words and whole parameters, and targets in which nothing can be read in two ways.
 */

/** No escape, no empty level, none of the characters that a router may read as it likes. */
const PLAIN_TARGET = /^(?:\/[\w.~-]+)+(?:\?|$)/;
const PARAMETER = /^:\w+$/;
const PLAIN_LEVEL = /^(?::\w+|[\w.~-]+)$/;
export const PLAIN_TEMPLATE = /^(?:\/(?::\w+|[\w.~-]+))+$/;
/** All that is below; with braces also where there is nothing. */
const WILDCARD = /^(?:\*\w+|\{\*\w+\})$/;

export const isPlainTarget = (target: string): boolean => PLAIN_TARGET.test(target);

/**
 * Of any plain target that the router has brought to this route.
 *
 * @returns `undefined` where the target decides
 */
export function matchesRoute(bound: readonly string[], route: string): boolean | undefined {
  if (!PLAIN_TEMPLATE.test(route)) return undefined;
  const levels = route.split('/');
  if (bound.some((path) => covers(path, levels))) return true;
  return bound.every((path) => areApart(path, levels)) ? false : undefined;
}

/** Whether it is for all that the route is for: a parameter is for any word, and a wildcard for what is below it. */
function covers(path: string, route: readonly string[]): boolean {
  const levels = path.split('/');
  const isOpen = WILDCARD.test(levels.at(-1) ?? '');
  if (isOpen) levels.pop();
  return (
    levels[0] === '' &&
    (isOpen ? levels.length < route.length : levels.length === route.length) &&
    levels.every((level, place) => level === route[place] || PARAMETER.test(level))
  );
}

/** Whether they differ in a word, however its case is read; a binding may hold for longer paths, too. */
function areApart(path: string, route: readonly string[]): boolean {
  const [, ...levels] = path.toLowerCase().split('/');
  const end = levels.findIndex((level) => !PLAIN_LEVEL.test(level));
  return levels.slice(0, end === -1 ? undefined : end).some((level, index) => {
    const other = route[index + 1]?.toLowerCase();
    return other !== undefined && ![level, other].some((each) => each.startsWith(':')) && level !== other;
  });
}
