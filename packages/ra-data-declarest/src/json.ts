/** Compares JSON values, and describes their differences. */

export type Fields = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The same text for equal values, whatever the order of their members. */
export function canonical(value: unknown): string {
  const sorted = (_: string, each: unknown): unknown =>
    isObject(each) ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1))) : each;
  return JSON.stringify(value, sorted) ?? '';
}

export const isEqual = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

/** The changed fields as a JSON merge patch (RFC 7396). Fields that `after` lacks are kept. */
export function changesBetween(before: Fields, after: Fields): Fields {
  const changed = Object.entries(after).filter(([name, value]) => value !== undefined && !isEqual(before[name], value));
  return Object.fromEntries(changed.map(([name, value]) => [name, mergePatch(before[name], value)]));
}

/** Inside of a value, members that are gone must be sent as `null`. */
function mergePatch(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const removed = Object.keys(before).filter((name) => after[name] === undefined);
  return { ...Object.fromEntries(removed.map((name) => [name, null])), ...changesBetween(before, after) };
}
