/** Ways to write a path that routers, proxies and frameworks read differently. */

/** One way to write a path. */
export interface Spelling {
  /** For the title of a test: `"/" at the end`. */
  readonly name: string;
  /** The target of a request, each character one byte (latin1), as `as(app).request(method, target)` sends it. */
  readonly target: string;
}

type Rewriting = readonly [name: string, write: (path: string) => string];

const SUFFIXES =
  '/ // %2f /. /x/.. ;x ;jsessionid=1 ; ;/x/y %3bx # #/open/page ?x=/open/page ?/../open/page#/open/page % %2 %ff %00 %0a %20 %3f %23'
    .split(' ')
    .concat('\0', '\t', '\x80', '\x85', '\xa0', '\xff', '\xef\xbb\xbf');
const SEPARATORS = '// %2f %2F %252f %5c /./ /%2e/ /x/../ /x/%2e%2e/ /x/.%2e/ /x/..;/ ;x/ %c0%af \\'.split(' ');
const PREFIXES =
  '/ // /.. \xa0 http://127.0.0.1 http://127.0.0.1/ https://evil.example http://user:pass@127.0.0.1 http://a?b http://open@page http://[a http://a;b http:// http://a\\b ftp://host javascript://host http:'.split(
    ' ',
  );

const quote = (text: string): string =>
  `"${text.replace(/[^!-~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`;
const changeLast = (path: string, change: (level: string) => string): string =>
  path.replace(/[^/]+$/, (level) => change(level));
const replaceLastSlash = (path: string, text: string): string => path.replace(/\/(?=[^/]*$)/, () => text);
const withBackslashes = (path: string): string => `/${path.slice(1).replaceAll('/', '\\')}`;

function escapeFirst(text: string, times = 1): string {
  let escape = `%${text.charCodeAt(0).toString(16)}`;
  for (let time = 1; time < times; time++) escape = escape.replace('%', '%25');
  return escape + text.slice(1);
}

/** U+FF41 for `a`, which Unicode normalization turns into the letter. */
const fullWidth = (level: string): string =>
  encodeURIComponent(String.fromCharCode(level.charCodeAt(0) + 0xfee0)) + level.slice(1);

const BYTES_FROM_80_TO_FF = String.fromCharCode(...Array.from({ length: 0x80 }, (_, index) => 0x80 + index));

const REWRITINGS: readonly Rewriting[] = [
  ...SUFFIXES.map((text): Rewriting => [`${quote(text)} at the end`, (path) => `${path}${text}`]),
  ...SEPARATORS.map((text): Rewriting => [`${quote(text)} for the last slash`, (path) => replaceLastSlash(path, text)]),
  ...PREFIXES.map((text): Rewriting => [`${quote(text)} in front`, (path) => `${text}${path}`]),
  ['upper case', (path) => path.toUpperCase()],
  ['one letter in upper case', (path) => changeLast(path, (level) => level.charAt(0).toUpperCase() + level.slice(1))],
  ['the first level in upper case', (path) => path.replace(/^\/\w+/, (level) => level.toUpperCase())],
  ['an absolute target in upper case', (path) => `HTTP://127.0.0.1${path.toUpperCase()}`],
  ['two slashes everywhere', (path) => path.replaceAll('/', '//')],
  ['no slash in front', (path) => path.slice(1)],
  ['an escaped letter (%61)', (path) => changeLast(path, escapeFirst)],
  ['an escaped letter of the first level', (path) => `/${escapeFirst(path.slice(1))}`],
  ['an escaped letter in upper-case hex', (path) => changeLast(path, (level) => escapeFirst(level).toUpperCase())],
  ['a letter escaped twice (%2561)', (path) => changeLast(path, (level) => escapeFirst(level, 2))],
  ['a letter escaped three times', (path) => changeLast(path, (level) => escapeFirst(level, 3))],
  ['every letter escaped', (path) => path.replace(/[^/]/g, (letter) => escapeFirst(letter))],
  ['a broken escape within', (path) => changeLast(path, (level) => `%zz${level}`)],
  ['the bytes of a letter within', (path) => changeLast(path, (level) => `\xc3\xa9${level}`)],
  ['every byte from 80 to FF', (path) => path + BYTES_FROM_80_TO_FF],
  ['backslashes', (path) => path.replaceAll('/', '\\')],
  ['backslashes after the first slash', withBackslashes],
  ['backslashes and a fragment', (path) => `${withBackslashes(path)}#`],
  ['one backslash, an escape and a fragment', (path) => `${replaceLastSlash(changeLast(path, escapeFirst), '\\')}#`],
  ['letters that fold to ASCII (U+212A)', (path) => path.replaceAll('k', '%E2%84%AA')],
  ['letters that fold to ASCII (U+017F)', (path) => path.replaceAll('s', '%C5%BF')],
  ['a full-width letter', (path) => changeLast(path, fullWidth)],
];

/** Escapes what is not printable ASCII, as clients do. */
const asSent = (path: string): string => path.replace(/[^!-~]+/g, encodeURIComponent);

/** @param path as the application serves it, such as `/api/admin/stats` */
export function urlSpellings(path: string): Spelling[] {
  const canonical = asSent(path);
  const seen = new Set(['', canonical]);
  return REWRITINGS.flatMap(([name, write]) => {
    const target = write(canonical);
    if (seen.has(target)) return [];
    seen.add(target);
    return [{ name, target }];
  });
}
