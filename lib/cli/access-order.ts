import type { AccessRow } from '../access/access-rows.js';

/** The access of a row, as far as two accesses are compared. */
export type RowAccess = Pick<AccessRow, 'access' | 'requirements'>;

/** Whether every user who has the inner access also has the outer access, for any set of roles. */
export function isWithin(inner: RowAccess, outer: RowAccess): boolean {
  if (inner.access === 'nobody' || outer.access === 'public') return true;
  if (inner.access === 'public' || outer.access === 'nobody') return false;
  return outer.requirements.every((allowed) =>
    inner.requirements.some((required) => required.every((name) => allowed.includes(name))),
  );
}
