/** JSON merge patch (RFC 7396). */
import type { JsonObject } from '../http/json-body.js';

/** The types of the entity, which the application's own code may give, replace a value as a whole. */
export const isMerged = (patch: unknown): patch is JsonObject =>
  typeof patch === 'object' &&
  patch !== null &&
  !Array.isArray(patch) &&
  !(patch instanceof Date || patch instanceof Uint8Array);

export function mergePatch(current: unknown, patch: unknown): unknown {
  if (!isMerged(patch)) return patch;
  const members = new Map(isMerged(current) ? Object.entries(current) : []);
  for (const [name, value] of Object.entries(patch))
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  // Unlike an assignment, this makes `__proto__` a member as any other.
  return Object.fromEntries(members);
}
