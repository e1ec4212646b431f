/**
 * How a router or a proxy may interpret a path. A restriction applies where any interpretation matches its pattern. A
 * permission applies only to a clean path, which has one interpretation.
 */
import { decodePath } from '../http/http-request.js';
import { levelsOf } from '../routes/route.js';
import { foldWidely } from './pattern.js';

export interface ConcretePath {
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Printable ASCII of RFC 3986 `pchar` and `/`, without escapes, path parameters, empty levels and dot segments. */
const CLEAN = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~!$&'()+,=:@-]+)+$|^\/$/;

export const cleanLevels = (path: string): string[] | undefined => (CLEAN.test(path) ? spelledLevels(path) : undefined);

/** First what the router found, which no spelling can change; then the path as sent, and as proxies may rewrite it. */
export function interpretationsOf(template: string): (concrete: ConcretePath) => string[][] {
  const segments = spelledLevels(template.replace(/[{}]/g, ''));
  return ({ path, params }) => {
    const served = segments.flatMap((segment) => fill(segment, params));
    const rewritten = REWRITES.map((rewrite) => rewrite(path));
    const sent = new Set([path, ...rewritten, REWRITES.reduce((text, rewrite) => rewrite(text), path)]);
    const spelled = [...sent].map((text) => spelledLevels(text.replace(/(?<=.)\/$/, '')));
    const interpretations = [
      served,
      served.flatMap(levelsOf),
      ...spelled,
      ...spelled.map((levels) => levels.map(decode)),
      normalised(path),
    ];
    return interpretations.map((levels) => levels.map(foldWidely));
  };
}

/** Backslashes become slashes, double slashes become one, path parameters are removed. */
const REWRITES: readonly ((path: string) => string)[] = [
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replace(/\/{2,}/g, '/'),
  (path) => path.replace(/;.*$/s, ''),
];

/** One level for a literal or a parameter, any number for a wildcard, none for an optional parameter without a value. */
function fill(segment: string, params: Readonly<Record<string, unknown>>): string[] {
  const wildcard = /^\*(?<name>\w*)/.exec(segment)?.groups?.['name'];
  if (wildcard !== undefined) {
    const rest = params[wildcard] ?? params['*'];
    // An optional wildcard without a value is no level, rather than an empty one.
    if (rest === undefined) return [];
    return Array.isArray(rest) ? rest.map(String) : textOf(rest).split('/');
  }
  const text = segment.replace(/:(\w+)(?:\([^)]*\))?\??/g, (_, name: string) => textOf(params[name]));
  return text === '' ? [] : [text];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function normalised(path: string): string[] {
  const levels: string[] = [];
  for (const level of decode(path).replaceAll('\\', '/').split('/')) {
    const text = level.replace(/[;#?].*$/s, '').trim();
    if (text === '..') levels.pop();
    else if (text !== '' && text !== '.') levels.push(text);
  }
  return levels;
}

/** Empty levels are kept: a router may read them as levels. */
const spelledLevels = (path: string): string[] => (path === '/' ? [] : path.slice(1).split('/'));

/** Decodes once, as the routers do. A broken escape stays as it is. */
const decode = (text: string): string => decodePath(text) ?? text;
