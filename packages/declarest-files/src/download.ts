/** Answers a request with a file, or with a part of it (RFC 9110 §14). */
import { Readable } from 'node:stream';
import { HttpException, HttpStatus, NotFoundException, StreamableFile } from '@nestjs/common';
import type { HttpRequest } from 'declarest';
import type { StoredFile } from './file-column.js';
import type { ByteRange, FileStorage } from './file-storage.js';
import { reach } from './outage.js';
import { scaleImage } from './scaled-image.js';

/** What is used of the responses of Express and Fastify. */
export interface Response {
  header(name: string, value: string): unknown;
  status(code: number): unknown;
}

export async function sendFile(
  storage: FileStorage,
  file: StoredFile,
  [request, response]: readonly [HttpRequest, Response],
  width?: number,
): Promise<StreamableFile | undefined> {
  const { key, type, size, name } = file;
  const { method, headers } = request;
  // Another file has another key.
  const etag = `"${key.slice(key.lastIndexOf('/') + 1)}${width === undefined ? '' : `-${width}`}"`;
  const read = async (range?: ByteRange): Promise<Readable> => {
    const bytes = await reach(() => storage.read(key, range));
    if (!bytes) throw new NotFoundException('The file is not in the storage');
    return bytes;
  };
  response.header('ETag', etag);
  response.header('X-Content-Type-Options', 'nosniff');
  if (isKnown(headers['if-none-match'], etag)) {
    response.status(HttpStatus.NOT_MODIFIED);
    return undefined;
  }
  const shown = { type, disposition: dispositionOf(type, name) };
  if (width !== undefined) {
    const scaled = await reach(async () => scaleImage(await read(), width));
    return new StreamableFile(scaled, shown);
  }
  response.header('Accept-Ranges', 'bytes');
  const range = method === 'GET' && isCurrent(headers['if-range'], etag) ? rangeIn(headers.range, size) : undefined;
  if (range && (range.start >= size || range.start > range.end)) {
    response.header('Content-Range', `bytes */${size}`);
    throw new HttpException(`The file has ${size} bytes`, HttpStatus.REQUESTED_RANGE_NOT_SATISFIABLE);
  }
  const bytes = method === 'HEAD' ? Readable.from([]) : await read(range);
  const { start, end } = range ?? { start: 0, end: size - 1 };
  if (range) {
    response.status(HttpStatus.PARTIAL_CONTENT);
    response.header('Content-Range', `bytes ${start}-${end}/${size}`);
  }
  return new StreamableFile(bytes, { ...shown, length: end - start + 1 }).setErrorHandler(endConnection);
}

/** Nest 11 would end the response as if it were complete. Fastify destroys it by itself. */
const endConnection = (_: Error, response: object): void => void (response as Readable).destroy();

/** The comparison is weak (RFC 9110 §13.1.2). */
const isKnown = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, ''))) ?? false;

/** The file of an earlier part must be this one (RFC 9110 §13.1.5). A date is none that was sent. */
const isCurrent = (ifRange: unknown, etag: string): boolean => ifRange === undefined || ifRange === etag;

/** One range, which may lie outside of the file. Several, and malformed ones, are ignored as RFC 9110 §14.2 allows. */
function rangeIn(header: string | undefined, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === '') return last === '' ? undefined : { start: Math.max(0, size - Number(last)), end: size - 1 };
  if (last !== '' && Number(last) < Number(first)) return undefined;
  return { start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** A browser shows images only: other documents may contain scripts. The name is written as RFC 6266 §5 has it. */
function dispositionOf(type: string, name: string): string {
  const escaped = encodeURIComponent(name).replaceAll(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  return `${type.startsWith('image/') ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${escaped}`;
}
