/** Bodies of plain requests: JSON of a length that was said, as nearly all are sent. The platform reads all others. */
import { AsyncResource } from 'node:async_hooks';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** How the platform reads what is JSON. */
export interface JsonReader {
  /** Bytes. */
  readonly limit: number;
  /** Whether it closes the connection after what it could not read. */
  readonly closes: boolean;
  /** @throws what the platform's parser throws */
  readonly parse: (body: Buffer) => unknown;
}

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;

export const hasNoBody = (headers: IncomingHttpHeaders): boolean =>
  headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;

export function hasPlainBody(headers: IncomingHttpHeaders, limit: number): boolean {
  const length = Number(headers['content-length']);
  return (
    length > 0 &&
    length <= limit &&
    JSON_TYPE.test(headers['content-type'] ?? '') &&
    headers['content-encoding'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

/**
 * Of a request that is broken off nothing is told, as there is nobody to answer. What is asked then runs where the request
 * was heard of, as behind the platforms' parsers: an `AsyncLocalStorage` may have been entered there.
 */
export function readBody(request: IncomingMessage, then: (body: Buffer) => void): void {
  const here = new AsyncResource('declarest.body');
  const chunks: Buffer[] = [];
  request.on(
    'data',
    (chunk: Buffer | string) => void chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk),
  );
  request.on('end', () => {
    here.runInAsyncScope(then, undefined, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
  });
}
