/** Receives an uploaded file as a temporary one, so that nothing waits for the client while records are written. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import { OutageLog } from '../../database/outage-log.js';
import { notify, ServiceUnavailable } from '../../http/failure.js';
import type { HttpRequest } from '../../http/http-request.js';
import { isOfType } from '../../http/json-body.js';

const MAX_BYTES = 2 ** 30;
const outage = new OutageLog('The folder of temporary files');

export const FILE_TYPES = ['application/x-ndjson', 'text/csv'] as const;

export interface Upload {
  readonly type: (typeof FILE_TYPES)[number];
  readonly path: string;
  readonly bytes: number;
  remove(): Promise<void>;
}

/** @throws 400 for a file that is empty, not UTF-8 or ends early, 413, 415, 503 */
export async function receiveUpload(request: HttpRequest): Promise<Upload> {
  const type = typeOf(request);
  const folder = await mkdtemp(join(tmpdir(), 'declarest-import-')).catch(refuse);
  const path = join(folder, 'file');
  const remove = () => notify('Removing an uploaded file', () => rm(folder, { recursive: true, force: true }));
  const file = createWriteStream(path);
  const body = bodyOf(request);
  try {
    await pipeline(checked(body.iterator({ destroyOnReturn: false })), file);
  } catch (error) {
    // A client may send all of it before it reads the answer.
    body.resume();
    await remove();
    refuse(error);
  }
  outage.succeed();
  return { type, path, bytes: file.bytesWritten, remove };
}

/** @throws 400, or 503 where a call of the file system failed */
function refuse(error: unknown): never {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw new BadRequestException('The file must be in UTF-8');
  if (/^(ECONNRESET|ERR_STREAM_PREMATURE_CLOSE)$/.test(code)) throw new BadRequestException('The file ended early');
  if (syscall === undefined) throw error;
  outage.refuse(error);
  throw new ServiceUnavailable('The server is busy, try again', 5, { cause: error });
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
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new PayloadTooLargeException(`The file must have at most ${MAX_BYTES} bytes`);
    decoder.decode(chunk, { stream: true });
    yield chunk;
  }
  decoder.decode();
  if (bytes === 0) throw new BadRequestException('The file is empty');
}
