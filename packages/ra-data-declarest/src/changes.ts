/** Finds what a form has changed. */
import { type Fields, isEqual, isObject } from 'declarest-client/providers';

/** The changed fields as a JSON merge patch (RFC 7396). Fields that `after` lacks are kept. */
export function changesBetween(before: Fields, after: Fields): Fields {
  const changed = Object.entries(after).filter(([name, value]) => value !== undefined && !isEqual(before[name], value));
  return Object.fromEntries(changed.map(([name, value]) => [name, mergePatch(before[name], value)]));
}

/** Inside of a value, members that are gone must be sent as `null`. */
function mergePatch(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const removed = Object.keys(before).filter((name) => after[name] === undefined);
  return { ...Object.fromEntries(removed.map((name) => [name, null])), ...changesBetween(before, after) };
}
