/**
 * Which paths a route serves, level by level, read from the template of either router: path-to-regexp on Express
 * (`/files/*path`, `/a{/:b}`), find-my-way on Fastify (`/files/*`, `/a/:b?`). A shape may be wider than its route, and is
 * never narrower, so that no rule is missed.
 */

/** One level: its literal text, or `undefined` for any text. */
export type Level = string | undefined;

export interface RouteShape {
  readonly levels: readonly Level[];
  /** Whether any number of further levels may follow, or none. */
  readonly open: boolean;
}

const ANYTHING: readonly RouteShape[] = [{ levels: [], open: true }];
const MOST_VARIANTS = 32;

/** `/a{/:b}` → the shapes of `/a` and of `/a/:b`. */
export function shapesOf(template: string): readonly RouteShape[] {
  const variants = withoutOptionals(template);
  return variants.length > MOST_VARIANTS ? ANYTHING : variants.map(shapeOf);
}

/** `/a{/:b}` → `/a` and `/a/:b`. */
export function withoutOptionals(template: string): string[] {
  const group = /\{([^{}]*)\}/.exec(template);
  if (group) {
    const [whole, inner = ''] = group;
    const rest = (text: string): string[] => withoutOptionals(template.replace(whole, () => text));
    return [...rest(''), ...rest(inner)];
  }
  if (template.endsWith('?')) return [template.slice(0, template.lastIndexOf('/')), template.slice(0, -1)];
  return [template];
}

function shapeOf(template: string): RouteShape {
  const levels: Level[] = [];
  for (const segment of template.split('/').filter((text) => text !== '')) {
    if (/[*(]/.test(segment)) return { levels, open: true };
    levels.push(/[:{}\\]/.test(segment) ? undefined : segment);
  }
  return { levels, open: false };
}

/** Whether both match exactly the same paths. */
export const isSameShape = (a: RouteShape, b: RouteShape): boolean =>
  a.open === b.open &&
  a.levels.length === b.levels.length &&
  a.levels.every((level, index) => level === b.levels[index]);

/** Whether some path of as many levels matches both. */
export const overlaps = (a: RouteShape, b: RouteShape): boolean =>
  a.levels.length === b.levels.length &&
  a.levels.every((level, index) => level === undefined || b.levels[index] === undefined || level === b.levels[index]);

/** Whether one of the two matches every path of the other. */
export const nests = (a: RouteShape, b: RouteShape): boolean => covers(a, b) || covers(b, a);

const covers = (wide: RouteShape, narrow: RouteShape): boolean =>
  wide.levels.length === narrow.levels.length &&
  wide.levels.every((level, index) => level === undefined || level === narrow.levels[index]);
