import { asSent } from './http-exchange.js';

/** One way to write a path. */
export interface Spelling {
  /** For the title of a test: `two slashes at the end`. */
  readonly name: string;
  /** The target of a request, each character one byte (latin1), as `as(app).request(method, target)` sends it. */
  readonly target: string;
}

const last = (path: string, change: (level: string) => string): string =>
  path.replace(/[^/]+$/, (level) => change(level));
const lastSlash = (path: string, written: string): string => path.replace(/\/(?=[^/]*$)/, written);
const backslashed = (path: string): string => `/${path.slice(1).replaceAll('/', '\\')}`;
const upper = (path: string): string => path.toUpperCase();
const latin1 = (bytes: readonly number[]): string => String.fromCharCode(...bytes);

/** Escapes the first letter, `times` over. */
function escaped(text: string, times = 1): string {
  let escape = `%${text.charCodeAt(0).toString(16)}`;
  for (let time = 1; time < times; time++) escape = escape.replace('%', '%25');
  return escape + text.slice(1);
}

const SPELLINGS: readonly (readonly [name: string, write: (path: string) => string])[] = [
  ['upper case', upper],
  ['one letter in upper case', (path) => last(path, (level) => level.charAt(0).toUpperCase() + level.slice(1))],
  ['a slash at the end', (path) => `${path}/`],
  ['two slashes at the end', (path) => `${path}//`],
  ['two slashes in front', (path) => `/${path}`],
  ['two slashes before the last level', (path) => lastSlash(path, '//')],
  ['two slashes everywhere', (path) => path.replaceAll('/', '//')],
  ['an escaped letter (%61)', (path) => last(path, escaped)],
  ['an escaped letter in upper-case hex', (path) => last(path, (level) => upper(escaped(level)))],
  ['a letter escaped twice (%2561)', (path) => last(path, (level) => escaped(level, 2))],
  ['every letter escaped', (path) => path.replace(/[^/]/g, (letter) => escaped(letter))],
  ['%2f for the last slash', (path) => lastSlash(path, '%2f')],
  ['%252f for the last slash', (path) => lastSlash(path, '%252f')],
  ['%2f at the end', (path) => `${path}%2f`],
  ['%5c for the last slash', (path) => lastSlash(path, '%5c')],
  ['a dot segment', (path) => lastSlash(path, '/./')],
  ['a dot segment at the end', (path) => `${path}/.`],
  ['an escaped dot segment', (path) => lastSlash(path, '/%2e/')],
  ['two dots', (path) => lastSlash(path, '/x/../')],
  ['two escaped dots', (path) => lastSlash(path, '/x/%2e%2e/')],
  ['two half-escaped dots', (path) => lastSlash(path, '/x/.%2e/')],
  ['two dots in front', (path) => `/..${path}`],
  ['two dots at the end', (path) => `${path}/x/..`],
  ['two dots and a semicolon', (path) => lastSlash(path, '/x/..;/')],
  ['a path parameter (;x)', (path) => `${path};x`],
  ['a path parameter with levels below', (path) => `${path};/x/y`],
  ['a path parameter before the last level', (path) => lastSlash(path, ';x/')],
  ['an escaped semicolon', (path) => `${path}%3bx`],
  ['backslashes', (path) => path.replaceAll('/', '\\')],
  ['backslashes behind the first slash', backslashed],
  ['backslashes and a fragment', (path) => `${backslashed(path)}#`],
  ['one backslash, an escape and a fragment', (path) => `${lastSlash(last(path, escaped), '\\')}#`],
  ['a fragment', (path) => `${path}#`],
  ['a query', (path) => `${path}?x=/open/page`],
  ['a query with another path and a fragment', (path) => `${path}?/../open/page#/open/page`],
  ['a broken escape at the end', (path) => `${path}%`],
  ['a broken escape within', (path) => last(path, (level) => `%zz${level}`)],
  ['half an escape', (path) => `${path}%2`],
  ['an escape that is not UTF-8', (path) => `${path}%ff`],
  ['an overlong escape', (path) => lastSlash(path, '%c0%af')],
  ['an escaped NUL', (path) => `${path}%00`],
  ['an escaped line break', (path) => `${path}%0a`],
  ['an escaped question mark', (path) => `${path}%3f`],
  ['an escaped hash', (path) => `${path}%23`],
  ['a NUL', (path) => `${path}\0`],
  ['a tab', (path) => `${path}\t`],
  ['byte 80', (path) => `${path}\x80`],
  ['byte 85 (a line break to some)', (path) => `${path}\x85`],
  ['byte A0 (a space to some)', (path) => `${path}\xa0`],
  ['every byte from 80 to FF', (path) => path + latin1(Array.from({ length: 128 }, (_, index) => 0x80 + index))],
  ['the bytes of U+FEFF', (path) => `${path}\xef\xbb\xbf`],
  ['the bytes of a letter within', (path) => last(path, (level) => `\xc3\xa9${level}`)],
  ['letters that fold to ASCII (U+212A)', (path) => path.replaceAll('k', '%E2%84%AA')],
  ['letters that fold to ASCII (U+017F)', (path) => path.replaceAll('s', '%C5%BF')],
  ['a full-width letter', (path) => last(path, fullWidth)],
  ['an absolute target', (path) => `http://127.0.0.1${path}`],
  ['an absolute target of another host', (path) => `https://evil.example${path}`],
  ['an absolute target with two slashes', (path) => `http://127.0.0.1/${path}`],
  ['an absolute target with a user', (path) => `http://user:pass@127.0.0.1${path}`],
  ['an absolute target with a query as host', (path) => `http://a?b${path}`],
  ['an absolute target with another path as user', (path) => `http://open@page${path}`],
  ['an absolute target with a bracket', (path) => `http://[a${path}`],
  ['an absolute target with a semicolon', (path) => `http://a;b${path}`],
  ['an absolute target without host', (path) => `http://${path}`],
  ['an absolute target with a backslash', (path) => `http://a\\b${path}`],
  ['an absolute target of another scheme', (path) => `ftp://host${path}`],
  ['an absolute target with one slash', (path) => `http:${path}`],
  ['no slash in front', (path) => path.slice(1)],
];

/** U+FF41 for `a`, which Unicode normalization turns into the letter. */
const fullWidth = (level: string): string =>
  encodeURIComponent(String.fromCharCode(level.charCodeAt(0) + 0xfee0)) + level.slice(1);

/**
 * Ways to write a path that routers, proxies and frameworks read differently, for tests of an application: a user who has
 * no access to `/api/admin/stats` must have access to none of them.
 *
 * @example
 * ```ts
 * for (const { name, target } of urlSpellings('/api/admin/stats'))
 *   expect([name, (await as(app).request('GET', target)).status]).not.toEqual([name, 200]);
 * ```
 *
 * @param path as the application serves it, such as `/api/admin/stats`
 */
export function urlSpellings(path: string): Spelling[] {
  const canonical = asSent(path);
  const seen = new Set(['', canonical]);
  return SPELLINGS.flatMap(([name, write]) => {
    const target = write(canonical);
    if (seen.has(target)) return [];
    seen.add(target);
    return [{ name, target }];
  });
}
