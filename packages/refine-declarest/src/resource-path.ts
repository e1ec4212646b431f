/** Builds the URLs of resources and records. */
import type { BaseKey, CrudFilter, MetaQuery } from '@refinedev/core';

import { httpError } from './errors.js';

export interface ResourcePath {
  readonly url: string;
  /** Without those that gave a value to the path. */
  readonly filters: readonly CrudFilter[];
}

/** A resource such as `products/:productId/reviews` takes the values from `meta`, or from a filter on the parameter. */
export function resolveResource(
  base: string,
  resource: string,
  meta: MetaQuery = {},
  filters: readonly CrudFilter[] = [],
): ResourcePath {
  let rest = filters;
  const path = resource.replace(/:(\w+)/g, (_, name: string) => {
    const isOfPath = (each: CrudFilter): boolean =>
      'field' in each && each.field === name && (each.operator === 'eq' || each.operator === 'eqs');
    const value: unknown = meta[name] ?? filters.find(isOfPath)?.value;
    if (value === undefined || value === null)
      throw httpError(
        `The resource "${resource}" needs a value for ${name}. Pass meta: { ${name}: … }, or a filter on ${name}.`,
        400,
      );
    rest = rest.filter((each) => !isOfPath(each));
    return encodeSegment(value, resource);
  });
  return { url: below(base, path), filters: rest };
}

/** The URL of a path. Dot segments, which may also be spelled `%2e`, must not lead out of the base. */
export function below(base: string, path: string): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  const resolve = (url: string): URL => new URL(url, location?.href ?? 'http://localhost');
  const [root, target] = [resolve(`${base}/`), resolve(`${base}/${path}`)];
  if (target.origin === root.origin && target.pathname.startsWith(root.pathname)) return `${base}/${path}`;
  throw httpError(`The path ${JSON.stringify(path)} must stay below the url of the provider. Leave out "..".`, 400);
}

export const recordUrl = (resourceUrl: string, id: BaseKey, resource: string): string =>
  `${resourceUrl}/${encodeSegment(id, resource)}`;

/** An empty level, `.` and `..` would lead to another URL. A lone surrogate cannot be encoded. */
function encodeSegment(value: unknown, resource: string): string {
  const text = String(value);
  if (/^\.{0,2}$/.test(text) || !text.isWellFormed())
    throw httpError(`The id of "${resource}" must not be ${JSON.stringify(text)}. Pass the id of a record.`, 400);
  return encodeURIComponent(text);
}
