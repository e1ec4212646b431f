/** Reads and writes many records: with one request where the server offers that, else one by one. */
import {
  type Answer,
  type Client,
  failureOf,
  fieldsOf,
  isMissingRoute,
  isSuccess,
  isUnknown,
  joinList,
  messagesOf,
  recordUrl,
  type Refusals,
  type Request,
} from 'declarest-client/providers';
import { HttpError, type Identifier } from 'ra-core';

import { toHttpError } from './errors.js';
import { MAX_SIZE } from './lists.js';

/** The size of a list where the request does not say it. */
const DEFAULT_SIZE = 20;

export interface Records {
  readonly resource: string;
  readonly url: string;
  readonly ids: readonly Identifier[];
  readonly query: URLSearchParams;
  readonly signal: AbortSignal | undefined;
}

/** The records that exist. */
export async function readMany(client: Client, refusals: Refusals, records: Records): Promise<unknown[]> {
  const found = [];
  for (const ids of chunksOf(records.ids)) found.push(...(await readChunk(client, refusals, { ...records, ids })));
  return found;
}

async function readChunk(client: Client, refusals: Refusals, records: Records): Promise<readonly unknown[]> {
  const { resource, url, ids, query, signal } = records;
  if (refusals.has(resource, 'filter by id')) return readEach(client, records);
  const sent = new URLSearchParams([...query, ['filter[id][in]', joinList(ids)]]);
  // Lists without pages have no parameter "size".
  const isSized = ids.length > DEFAULT_SIZE && !refusals.has(resource, 'size');
  if (isSized) sent.set('size', String(ids.length));
  const answer = await client.send({ method: 'GET', url, resource, query: sent, signal });
  if (isSuccess(answer)) return dataOf(answer);
  if (isUnknown(answer, 'filter[id][in]')) refusals.add(resource, 'filter by id');
  else if (isSized && isUnknown(answer, 'size')) refusals.add(resource, 'size');
  else throw failureOf(answer);
  return readChunk(client, refusals, records);
}

async function readEach(client: Client, { resource, url, ids, query, signal }: Records): Promise<unknown[]> {
  // A hidden record is in lists only.
  const { deleted: _, ...rest } = Object.fromEntries(query);
  const found = await Promise.all(
    ids.map(async (id) => {
      const request = { method: 'GET', url: recordUrl(url, id, resource), resource, signal };
      const answer = await client.send({ ...request, query: new URLSearchParams(rest) });
      if (answer.status === 404 && !isMissingRoute(answer)) return [];
      if (!isSuccess(answer)) throw failureOf(answer);
      return [dataOf<unknown>(answer)];
    }),
  );
  return found.flat();
}

export interface Writes {
  readonly resource: string;
  readonly ids: readonly Identifier[];
  /** `false` where the server takes none. */
  readonly batch: ((ids: readonly Identifier[]) => Request) | false;
  readonly single: (id: Identifier) => Request;
}

/** Each batch is one transaction. */
export async function writeMany(client: Client, refusals: Refusals, writes: Writes): Promise<void> {
  const { resource, batch } = writes;
  for (const ids of chunksOf(writes.ids)) {
    if (!batch || refusals.has(resource, 'batch')) break;
    const answer = await client.send(batch(ids));
    if (isSuccess(answer)) continue;
    if (!isWithoutBatch(answer)) throw failureOf(answer);
    refusals.add(resource, 'batch');
  }
  if (!batch || refusals.has(resource, 'batch')) await writeEach(client, writes);
}

/**
 * Whether the server has no such batch, and read the path as that of a record with the id "batch".
 * Errors of a batch that exists name `ids` in other words, or items, such as `items[0].id`.
 */
function isWithoutBatch(answer: Answer): boolean {
  if (answer.status === 404)
    return isMissingRoute(answer) || /^\/batch of \S+ is not enabled/.test(messagesOf(answer)[0]);
  return isUnknown(answer, 'ids') || (answer.status === 400 && fieldsOf(answer)['id'] !== undefined);
}

async function writeEach(client: Client, { resource, ids, single }: Writes): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const answer = await client.send(single(id));
    if (isSuccess(answer)) continue;
    const { message, status, body } = toHttpError(failureOf(answer)) as {
      message: string;
      status: number;
      body: unknown;
    };
    throw new HttpError(`${index} of ${ids.length} records of "${resource}" were written. ${message}`, status, body);
  }
}

/** The content of a successful answer of a generated endpoint. */
export function dataOf<T>({ request, status, body }: Answer): T {
  const data = (body as { readonly data?: T } | undefined)?.data;
  if (data !== undefined && data !== null) return data;
  throw new HttpError(
    `The answer from ${request.url} for "${request.resource}" must be an object with "data". Check the url of the data provider.`,
    status,
    body,
  );
}

function chunksOf<T>(values: readonly T[]): T[][] {
  const chunks = [];
  for (let start = 0; start < values.length; start += MAX_SIZE) chunks.push(values.slice(start, start + MAX_SIZE));
  return chunks;
}
