/** Cursors of lists: opaque to clients, and valid only for the sort and filter of the page that gave them. */
import { createHash } from 'node:crypto';
import type { Position } from './keyset.js';

/** The position, or the primary key of a record whose position is too long for a URL. */
export type Continuation = Position | string;

/** In bytes of JSON: a query string has at most 4,096. */
const MAX_POSITION = 500;

/** @param binding what the cursor is valid for, as text */
export function encodeCursor(position: Position, key: string, binding: string): string {
  const continuation = Buffer.byteLength(JSON.stringify(position)) > MAX_POSITION ? key : position;
  return Buffer.from(JSON.stringify([digestOf(continuation, binding), continuation])).toString('base64url');
}

/** `undefined` for a cursor that was altered, or that belongs to another sort or filter. */
export function readCursor(text: string, binding: string): Continuation | undefined {
  try {
    const [digest, continuation] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [unknown, Continuation];
    return isContinuation(continuation) && digest === digestOf(continuation, binding) ? continuation : undefined;
  } catch {
    return undefined;
  }
}

const isContinuation = (value: unknown): value is Continuation =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.every((each) => each === null || typeof each === 'string' || Number.isFinite(each)));

/** It keeps no secret: the values of a cursor are those that the client saw. */
const digestOf = (continuation: Continuation, binding: string): string =>
  createHash('sha256')
    .update(JSON.stringify([continuation, binding]))
    .digest('base64url')
    .slice(0, 16);
