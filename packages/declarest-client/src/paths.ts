/** Builds the URLs of resources and records. */
import { Failure } from './failure.js';

/** The names of the parameters: `productId` of `products/:productId/reviews`. */
export const parametersOf = (resource: string): string[] =>
  [...resource.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

/** `/products/:id` and `/products/{id}` are one path. */
export const templateOf = (path: string): string => path.replaceAll(/:\w+|\{\w+\}|%7B\w+%7D/g, '{}');

/**
 * The path of a nested resource.
 *
 * @param valueOf the value of a parameter; `undefined` or `null` where there is none
 * @param advice what to do then
 */
export function fillPath(
  resource: string,
  valueOf: (name: string) => unknown,
  advice: (name: string) => string,
): string {
  return resource.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = valueOf(name);
    if (value === undefined || value === null)
      throw new Failure(`The resource "${resource}" needs a value for ${name}. ${advice(name)}`, 400);
    return segment(value, resource);
  });
}

export const recordUrl = (url: string, id: unknown, resource: string): string => `${url}/${segment(id, resource)}`;

function segment(value: unknown, resource: string): string {
  const text = String(value);
  if (isSegment(text)) return encodeURIComponent(text);
  throw new Failure(`An id of "${resource}" must not be ${JSON.stringify(text)}. Pass the id of a record.`, 400);
}

/** An empty segment, `.` and `..` would lead to another URL. A lone surrogate cannot be encoded. */
const isSegment = (text: string): boolean => !/^\.{0,2}$/.test(text) && text.isWellFormed();

export const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** The url of the account endpoints, without a slash at the end. @param url of the resources */
export const accountUrlOf = (url: string, authUrl = `${url}/auth`): string => withoutSlash(authUrl);

/** As `fetch` does: relative URLs belong to the page. */
export function resolveUrl(url: string): URL {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  return new URL(url, location?.href ?? 'http://localhost');
}

/** Whether a path stays below its base. Dot segments may also be spelled `%2e`. */
export function isBelow(base: string, path: string): boolean {
  const [root, target] = [resolveUrl(`${base}/`), resolveUrl(`${base}/${path}`)];
  return target.origin === root.origin && target.pathname.startsWith(root.pathname);
}
