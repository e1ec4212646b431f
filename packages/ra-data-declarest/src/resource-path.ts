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
  return below(base, path);
}

/** The URL of a path. Dot segments, which may also be spelled `%2e`, must not lead out of the base. */
export function below(base: string, path: string): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  const resolve = (url: string): URL => new URL(url, location?.href ?? 'http://localhost');
  const [root, target] = [resolve(`${base}/`), resolve(`${base}/${path}`)];
  if (target.origin === root.origin && target.pathname.startsWith(root.pathname)) return `${base}/${path}`;
  throw invalidCall(`The path ${JSON.stringify(path)} must stay below the url of the provider. Leave out "..".`);
}

export const recordUrl = (url: string, id: unknown, resource: string): string => `${url}/${segment(id, resource)}`;

/** An empty segment, `.` and `..` would lead to another URL. A lone surrogate cannot be encoded. */
function segment(value: unknown, resource: string): string {
  const text = String(value);
  if (/^\.{0,2}$/.test(text) || !text.isWellFormed())
    throw invalidCall(`An id of "${resource}" must not be ${JSON.stringify(text)}. Pass the id of a record.`);
  return encodeURIComponent(text);
}
