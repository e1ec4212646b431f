/** Compares JSON values. */

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
