/** Receives the body of a request as a file. Its size and its type are checked while it is stored. */
import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import type { HttpException } from '@nestjs/common';
import type { HttpRequest } from 'declarest';
import { fileTypeFromBuffer } from 'file-type';
import { StoredFile, type FileColumnOptions } from './file-column.js';
import type { FileStorage } from './file-storage.js';
import { discard, reach } from './outage.js';

/** Of the beginning of a file: what file-type asks for. */
const SAMPLE_BYTES = 4_100;
export const BYTES = 'application/octet-stream';

interface Target {
  readonly storage: FileStorage;
  readonly key: string;
  /** The names of the entity and of the column. */
  readonly entity: string;
  readonly column: string;
  readonly options: FileColumnOptions;
  /** As the client names the file. */
  readonly name: string | undefined;
}

/** @throws 400 for a file that is empty or ends early, and for a wrong name, 413, 415, 503 */
export async function receiveFile(request: HttpRequest, target: Target): Promise<StoredFile> {
  const { storage, key, column, options, name } = target;
  const { types, maxBytes } = options;
  type Refusal = new (body: object) => HttpException;
  const refusal = (Exception: Refusal, message: string, field = column): HttpException =>
    new Exception({ message: `${target.entity} is not valid`, errors: [{ field, message }] });
  const tooLarge = refusal(PayloadTooLargeException, `must have at most ${maxBytes} bytes`);

  const body = bodyOf(request);
  let size = 0;
  let problem: HttpException | undefined;
  async function* checked(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > maxBytes) throw tooLarge;
        yield chunk;
      }
    } catch (error) {
      problem = error === tooLarge ? tooLarge : refusal(BadRequestException, 'ended early');
      throw problem;
    }
  }
  const chunks = checked();

  try {
    const { 'content-type': sent = '', 'content-encoding': encoding = '', 'content-length': length } = request.headers;
    const isSent = [...types, BYTES].includes(sent.split(';')[0]?.trim().toLowerCase() ?? '');
    if (!isSent || !/^(identity)?$/i.test(encoding))
      throw refusal(UnsupportedMediaTypeException, `must be sent as ${[...types, BYTES].join(' or ')}`);
    if (name !== undefined && !isName(name))
      throw refusal(BadRequestException, 'must be 1 to 200 characters without slashes', 'name');
    if (Number(length) > maxBytes) throw tooLarge;
    const start = await firstOf(chunks);
    if (size === 0) throw refusal(BadRequestException, 'must not be empty');
    const found = await fileTypeFromBuffer(Buffer.concat(start));
    if (!found || !types.includes(found.mime)) {
      const got = found?.mime ?? 'another type';
      throw refusal(UnsupportedMediaTypeException, `must be ${types.join(' or ')}, got ${got}`);
    }
    const bytes = Readable.from(joined(start, chunks), { objectMode: false });
    // The storage throws it too, unless it has stopped to read.
    bytes.on('error', () => undefined);
    const fail = async (error: unknown): Promise<never> => {
      await discard(storage, key);
      throw problem ?? error;
    };
    await reach(() => storage.write(key, bytes, found.mime).catch(fail));
    return new StoredFile(key, found.mime, size, name ?? `${column}.${found.ext}`);
  } catch (error) {
    // A client may send all of it before it reads the answer. A stream flows again when its iterator is closed.
    void chunks.return(undefined).then(() => body.resume());
    throw error;
  }
}

const isName = (name: string): boolean => /^[^\p{Cc}/\\]{1,200}$/u.test(name) && name.isWellFormed();

/** A parser of the application may have read the body. */
function bodyOf(request: HttpRequest): Readable {
  const { body, raw = request } = request;
  if (body instanceof Readable) return body;
  if (typeof body === 'string' || body instanceof Uint8Array) return Readable.from([Buffer.from(body)]);
  return raw as IncomingMessage;
}

async function firstOf(chunks: AsyncGenerator<Buffer>): Promise<Buffer[]> {
  const first: Buffer[] = [];
  for (let length = 0; length < SAMPLE_BYTES;) {
    const next = await chunks.next();
    if (next.done) break;
    first.push(next.value);
    length += next.value.length;
  }
  return first;
}

async function* joined(first: readonly Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  yield* rest;
}
