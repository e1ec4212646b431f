/** Bodies of plain requests: JSON of a length that was said, as nearly all are sent. The platform reads all others. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** How the platform reads what is JSON. */
export interface JsonReader {
  /** Bytes. */
  readonly limit: number;
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

/** Of a request that is broken off nothing is told, as there is nobody to answer. */
export function readBody(request: IncomingMessage, then: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => void chunks.push(chunk));
  request.on('end', () => then(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
}
