/** Builds the URLs of resources and records. */
import { invalidCall } from './errors.js';
import type { Fields } from './json.js';

/** The names of the parameters: `productId` of `products/:productId/reviews`. */
export const parametersOf = (resource: string): string[] =>
  [...resource.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

/** @param sources of the values of a nested resource; the first that has a value counts */
export function resourceUrl(base: string, resource: string, sources: readonly (Fields | undefined)[]): string {
  const path = resource.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = sources.map((source) => source?.[name]).find((each) => each !== undefined && each !== null);
    if (value === undefined)
      throw invalidCall(`The resource "${resource}" needs a value for ${name}. Pass it as meta: { ${name}: … }.`);
    return segment(value, resource);
  });
  return `${base}/${path}`;
}

export const recordUrl = (url: string, id: unknown, resource: string): string => `${url}/${segment(id, resource)}`;

/** An empty segment, `.` and `..` would lead to another URL. */
function segment(value: unknown, resource: string): string {
  const text = String(value);
  if (/^\.{0,2}$/.test(text))
    throw invalidCall(`An id of "${resource}" must not be ${JSON.stringify(text)}. Pass the id of a record.`);
  return encodeURIComponent(text);
}
