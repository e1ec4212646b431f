/** Cursors of lists: opaque to clients, and valid only for the sort and filter of the page that gave them. */
import { hash } from 'node:crypto';
import type { ColumnKind } from '../../entities/value-types.js';
import type { Position } from '../sql/keyset.js';
import type { SortKey } from '../sql/condition.js';

/** The position, or the primary key of a record whose position is too long for a URL. */
export type Continuation = Position | string;

/** The limit in bytes of JSON. A query string has at most 4,096. */
const MAX_POSITION = 500;

/** @param binding what the cursor is valid for, as text */
export function encodeCursor(position: Position, key: string, binding: string): string {
  const continuation = Buffer.byteLength(JSON.stringify(position)) > MAX_POSITION ? key : position;
  return Buffer.from(JSON.stringify([digestOf(continuation, binding), continuation])).toString('base64url');
}

/** `undefined` for a cursor that was altered, or that belongs to another sort or filter. */
export function readCursor(text: string, sort: readonly SortKey[], binding: string): Continuation | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) return undefined;
  try {
    const [digest, continuation] = JSON.parse(bytes.toString()) as [unknown, Continuation];
    return isContinuation(continuation, sort) && digest === digestOf(continuation, binding) ? continuation : undefined;
  } catch {
    return undefined;
  }
}

const isContinuation = (value: unknown, sort: readonly SortKey[]): value is Continuation =>
  typeof value === 'string' ||
  (Array.isArray(value) &&
    value.length <= sort.length &&
    value.every((each, place) => isPlace(each, sort[place]?.field.type.comparison)));

/** The database writes values as texts; SQLite's floating point numbers stay numbers. */
const isPlace = (value: unknown, comparison: ColumnKind | undefined): boolean =>
  value === null ||
  typeof value === 'string' ||
  (Number.isFinite(value) && (comparison === 'number' || comparison === 'exact number'));

/** It keeps no secret: the values of a cursor are those that the client saw. */
const digestOf = (continuation: Continuation, binding: string): string =>
  hash('sha256', JSON.stringify([continuation, binding]), 'base64url').slice(0, 16);
