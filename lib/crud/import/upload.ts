/** Receives an uploaded file as a temporary one, so that nothing waits for the client while records are written. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import { notify } from '../../http/failure.js';
import type { HttpRequest } from '../../http/http-request.js';
import { isOfType } from '../../http/json-body.js';

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
  const remove = () => notify('Removing an uploaded file', () => rm(folder, { recursive: true, force: true }));
  const file = createWriteStream(path);
  try {
    await pipeline(bodyOf(request), checked, file);
  } catch (error) {
    await remove();
    const isCut = ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String((error as { code?: string }).code));
    throw isCut ? new BadRequestException('The file ended early') : error;
  }
  return { type, path, bytes: file.bytesWritten, remove };
}

function typeOf({ headers }: HttpRequest): Upload['type'] {
  const known = FILE_TYPES.find((each) => isOfType(headers['content-type'] ?? '', [each]));
  if (known && /^(identity)?$/i.test(headers['content-encoding'] ?? '')) return known;
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
