/** Builds the URLs of resources and records. */
import { HttpError, type Identifier } from 'ra-core';

import type { Fields } from './json.js';

/** `['productId']` for `products/:productId/reviews`. */
export const parametersOf = (resource: string): string[] =>
  [...resource.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

/** A nested resource takes each value from the first source that has it. */
export function resourceUrl(base: string, resource: string, sources: readonly (Fields | undefined)[]): string {
  const path = resource.replace(/:(\w+)/g, (_, name: string) => {
    const value = sources.map((each) => each?.[name]).find((each) => each !== undefined && each !== null);
    if (value !== undefined) return encodeSegment(value, resource);
    throw new HttpError(
      `The resource "${resource}" needs a value for ${name}. Pass meta: { ${name}: … } or a filter on ${name}.`,
      400,
    );
  });
  return `${base}/${path}`;
}

export const recordUrl = (url: string, id: Identifier, resource: string): string =>
  `${url}/${encodeSegment(id, resource)}`;

/** An empty level, `.` and `..` would lead to another URL. */
function encodeSegment(value: unknown, resource: string): string {
  const text = String(value);
  if (/^\.{0,2}$/.test(text))
    throw new HttpError(`The id of "${resource}" must not be ${JSON.stringify(text)}. Pass the id of a record.`, 400);
  return encodeURIComponent(text);
}
