/**
 * Whether a path that middleware is bound to matches what a route is asked for, where that is certain before there is a
 * request: for templates of words and whole parameters, and targets in which nothing can be read in two ways.
 */

/** No escape, no empty level, none of the characters that a router may read as it likes. */
const PLAIN_TARGET = /^(?:\/[\w.~-]+)+(?:\?|$)/;
const PLAIN_TEMPLATE = /^(?:\/(?::\w+|[\w.~-]+))+$/;

export const isPlainTarget = (target: string): boolean => PLAIN_TARGET.test(target);

/**
 * Of any plain target that the router has brought to this route.
 *
 * @returns `undefined` where the target decides
 */
export function matchesRoute(bound: readonly string[], route: string): boolean | undefined {
  if (!PLAIN_TEMPLATE.test(route)) return undefined;
  if (bound.includes(route)) return true;
  return bound.every((path) => PLAIN_TEMPLATE.test(path) && areApart(path, route)) ? false : undefined;
}

/** Whether they differ in a word, however its case is read; a binding may hold for longer paths, too. */
function areApart(path: string, route: string): boolean {
  const levels = route.toLowerCase().split('/');
  return path
    .toLowerCase()
    .split('/')
    .some((level, index) => {
      const other = levels[index];
      return other !== undefined && ![level, other].some((each) => each.startsWith(':')) && level !== other;
    });
}
