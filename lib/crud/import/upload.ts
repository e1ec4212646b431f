/** Receives an uploaded file as a temporary one, so that nothing waits for the client while records are written. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import { parse } from 'content-type';
import type { HttpRequest } from '../../http/http-request.js';

const MAX_BYTES = 2 ** 30;

export const FILE_TYPES = ['application/x-ndjson', 'text/csv'] as const;

export interface Upload {
  readonly type: (typeof FILE_TYPES)[number];
  readonly path: string;
  readonly bytes: number;
  remove(): Promise<void>;
}

/** @throws 400 for a file that is empty, not UTF-8 or ends early, 413, 415 */
export async function receiveUpload(request: HttpRequest): Promise<Upload> {
  const type = typeOf(request);
  const folder = await mkdtemp(join(tmpdir(), 'declarest-import-'));
  const path = join(folder, 'file');
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await pipeline(bodyOf(request), checked, createWriteStream(path));
  } catch (error) {
    await remove();
    const isCut = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
    throw isCut ? new BadRequestException('The file ended early') : error;
  }
  return { type, path, bytes: (await stat(path)).size, remove };
}

function typeOf({ headers }: HttpRequest): Upload['type'] {
  const { type, parameters } = parse(headers['content-type'] ?? '');
  const known = FILE_TYPES.find((each) => each === type);
  const isPlain = /^(identity)?$/i.test(headers['content-encoding'] ?? '');
  if (known && isPlain && /^utf-?8$/i.test(parameters['charset'] ?? 'utf-8')) return known;
  throw new UnsupportedMediaTypeException(`The file must be ${FILE_TYPES.join(' or ')} in UTF-8`);
}

/** A parser of the application may have read the body. */
function bodyOf(request: HttpRequest): Readable {
  const { body, raw = request } = request;
  if (body instanceof Readable) return body;
  if (typeof body === 'string' || body instanceof Uint8Array) return Readable.from([Buffer.from(body)]);
  return raw as IncomingMessage;
}

async function* checked(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  const decode = (chunk?: Uint8Array): void => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new BadRequestException('The file must be in UTF-8');
    }
  };
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new PayloadTooLargeException(`The file must have at most ${MAX_BYTES} bytes`);
    decode(chunk);
    yield chunk;
  }
  decode();
  if (bytes === 0) throw new BadRequestException('The file is empty');
}
