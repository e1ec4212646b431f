/** Compares the two versions of a record that two users have changed. */
import { type Fields, isEqual } from './json.js';

/** A field whose values differ. */
export interface ConflictField {
  readonly name: string;
  /** The value that the user saw. */
  readonly before: unknown;
  readonly mine: unknown;
  /** The value that the server has now. */
  readonly theirs: unknown;
  /** Whether the user has changed it; else only somebody else has. */
  readonly isMine: boolean;
}

/** What a page shows after 412. */
export interface Conflict<T = Fields> {
  /** The record as the server has it now. */
  readonly current: T;
  readonly fields: readonly ConflictField[];
}

/**
 * @param before as the user saw it
 * @param mine the fields of the form
 * @param current as the server has it now
 */
export function compareVersions<T extends object>(before: Fields, mine: Fields, current: T): Conflict<T> {
  const fields = Object.entries(current)
    .map(([name, theirs]): ConflictField => {
      const isMine = mine[name] !== undefined && !isEqual(mine[name], before[name]);
      return { name, before: before[name], mine: isMine ? mine[name] : before[name], theirs, isMine };
    })
    .filter(({ mine, theirs }) => !isEqual(mine, theirs));
  return { current, fields };
}
