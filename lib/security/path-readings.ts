/**
 * The ways in which a concrete path may be read. A restriction holds for a path that any reading brings under its
 * pattern; a permission only for a clean path, that has one reading.
 */
import { foldCase } from './pattern.js';

/** Printable ASCII of RFC 3986 `pchar` and `/`, without escapes, path parameters, empty levels and dot segments. */
const CLEAN = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~!$&'()+,=:@-]+)+$|^\/$/;

/** The levels of a clean path; `undefined` for any other spelling. */
export function cleanLevels(path: string): string[] | undefined {
  return CLEAN.test(path) ? levelsOf(path) : undefined;
}

/** Levels as the router splits them, with each level decoded, and as a lenient proxy would normalise the whole. */
export function everyReading(path: string): string[][] {
  const folded = foldCase(path);
  const asSent = levelsOf(folded.replace(/(?<=.)\/$/, ''));
  return [asSent, asSent.map((level) => foldCase(decode(level))), normalised(folded)];
}

function normalised(path: string): string[] {
  const levels: string[] = [];
  for (const level of foldCase(decode(path)).replaceAll('\\', '/').split('/')) {
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
