/** Builds the URLs of resources and records. */
import { HttpError, type Identifier } from 'ra-core';

import type { Filter } from './query.js';

/**
 * A resource such as `products/:productId/reviews` takes its values from the first source that has them.
 *
 * @returns the URL, and the names that the path uses
 */
export function resourceUrl(
  base: string,
  resource: string,
  ...sources: readonly (Filter | undefined)[]
): { readonly url: string; readonly names: readonly string[] } {
  const names: string[] = [];
  const path = resource.replace(/:(\w+)/g, (_, name: string) => {
    const value = sources.map((each) => each?.[name]).find((each) => each !== undefined && each !== null);
    if (value === undefined)
      throw new HttpError(
        `The resource "${resource}" needs a value for ${name}. Pass meta: { ${name}: … } or a filter on ${name}.`,
        400,
      );
    names.push(name);
    return encodeSegment(value, resource);
  });
  return { url: `${base}/${path}`, names };
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
