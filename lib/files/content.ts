/** Answers that are the same for every request: they are compressed once, and have an ETag of their bytes. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { HeaderWriter, HttpRequest } from '../http/http-request.js';

/** What is used of the responses of Express and Fastify. */
export interface Response extends HeaderWriter {
  status(code: number): unknown;
  send(body?: Buffer): unknown;
}

export type Content = Readonly<{ type: string; caching: string; etag: string; plain: Buffer; gzip: Buffer }>;

/** By default, clients ask each time whether it is the newest. It is private, because rules may decide who gets it. */
export function contentOf(type: string, plain: Buffer, caching = 'private, no-cache'): Content {
  const hash = createHash('sha256').update(plain).digest('base64url');
  // It is weak, because both encodings have it (RFC 9110 §8.8.1).
  return { type, caching, etag: `W/"${hash}"`, plain, gzip: gzipSync(plain, { level: 9 }) };
}

/** Sends the content, or 304 where the client has it already. */
export function sendContent(request: HttpRequest, response: Response, content: Content): void {
  const { type, caching, etag, plain, gzip } = content;
  const { 'accept-encoding': encodings = '', 'if-none-match': known = '' } = request.headers;
  response.header('ETag', etag);
  response.header('Vary', [response.getHeader?.('Vary') ?? [], 'Accept-Encoding'].flat().join(', '));
  response.header('Cache-Control', caching);
  if (matches(known, etag)) {
    response.status(304);
    response.send();
    return;
  }
  response.header('Content-Type', type);
  const isCompressed = acceptsGzip(String(encodings));
  if (isCompressed) response.header('Content-Encoding', 'gzip');
  response.send(isCompressed ? gzip : plain);
}

/** The comparison is weak (RFC 9110 §13.1.2): caches on the way may have changed the tag. */
const matches = (header: string, etag: string): boolean =>
  header.split(',').some((each) => ['*', etag, etag.slice(2)].includes(each.trim()));

/** `gzip;q=0` refuses it (RFC 9110 §12.5.3). */
const acceptsGzip = (header: string): boolean =>
  header.split(',').some((each) => {
    const [coding = '', weight = 'q=1'] = each.split(';');
    return coding.trim().toLowerCase() === 'gzip' && Number(weight.replace(/^\s*q\s*=/i, '')) !== 0;
  });
