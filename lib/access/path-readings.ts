/**
 * The ways in which a concrete path may be read. A restriction holds for a request that any reading brings under its
 * pattern; a permission only for a clean path, that has one reading.
 */
import { foldWidely } from './pattern.js';

export interface ConcretePath {
  /** As it was sent. */
  readonly path: string;
  /** What the router found for the parameters of the template, decoded, as the handler will see it. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** Printable ASCII of RFC 3986 `pchar` and `/`, without escapes, path parameters, empty levels and dot segments. */
const CLEAN = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~!$&'()+,=:@-]+)+$|^\/$/;

/** The levels of a clean path; `undefined` for any other spelling. */
export function cleanLevels(path: string): string[] | undefined {
  return CLEAN.test(path) ? levelsOf(path) : undefined;
}

/**
 * What the router made of it, which no spelling can change, and beside it the path as it was sent and as routers and
 * proxies are known to rewrite it.
 */
export function readingsOf(template: string): (concrete: ConcretePath) => [served: string[], ...others: string[][]] {
  const segments = levelsOf(template.replace(/[{}]/g, ''));
  return ({ path, params }) => {
    const served = segments.flatMap((segment) => fill(segment, params));
    const sent = [
      path,
      ...REWRITES.map((rewrite) => rewrite(path)),
      REWRITES.reduce((text, rewrite) => rewrite(text), path),
    ];
    const spelled = [...new Set(sent)].map((text) => levelsOf(text.replace(/(?<=.)\/$/, '')));
    const readings = [
      served,
      served.flatMap(levelsWithin),
      ...spelled,
      ...spelled.map((levels) => levels.map(decode)),
      normalised(path),
    ];
    const [first, ...others] = readings.map((levels) => levels.map(foldWidely));
    return [first ?? [], ...others];
  };
}

/** Slashes turned round, doubled ones made one, path parameters cut off. */
const REWRITES: readonly ((path: string) => string)[] = [
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replace(/\/{2,}/g, '/'),
  (path) => path.replace(/;.*$/s, ''),
];

/** One level for a literal and for a parameter, any number for a wildcard, none for a parameter that was left out. */
function fill(segment: string, params: Readonly<Record<string, unknown>>): string[] {
  const wildcard = /^\*(?<name>\w*)/.exec(segment)?.groups?.['name'];
  if (wildcard !== undefined) {
    const rest = params[wildcard] ?? params['*'];
    // Left out, as `{/*rest}` may be: no level, not an empty one.
    if (rest === undefined) return [];
    return Array.isArray(rest) ? rest.map(String) : textOf(rest).split('/');
  }
  const text = segment.replace(/:(\w+)(?:\([^)]*\))?\??/g, (_, name: string) => textOf(params[name]));
  return text === '' ? [] : [text];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const levelsWithin = (level: string): string[] => level.split('/').filter((text) => text !== '');

function normalised(path: string): string[] {
  const levels: string[] = [];
  for (const level of decode(path).replaceAll('\\', '/').split('/')) {
    const text = level.replace(/[;#?].*$/s, '').trim();
    if (text === '..') levels.pop();
    else if (text !== '' && text !== '.') levels.push(text);
  }
  return levels;
}

const levelsOf = (path: string): string[] => (path === '/' ? [] : path.slice(1).split('/'));

/** Once, as the routers do; what is no escape stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
