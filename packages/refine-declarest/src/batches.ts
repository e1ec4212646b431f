/** Reads and writes many records: with one request where the server offers that, else one by one. */
import type { BaseKey, BaseRecord } from '@refinedev/core';
import {
  type Answer,
  type Client,
  Failure,
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

import { httpError, toHttpError } from './errors.js';
import { listOf, MAX_RECORDS } from './lists.js';

const ID_FILTER = 'filter[id][in]';
/** The server limits the length of the query string to 4,096 bytes, which `meta` needs a part of. */
const MAX_LENGTH = 3_800;

export interface Records {
  readonly resource: string;
  readonly url: string;
  readonly ids: readonly BaseKey[];
  readonly query: URLSearchParams;
  readonly signal: AbortSignal | undefined;
}

/** The records that exist. */
export async function readMany<T extends BaseRecord>(
  client: Client,
  refusals: Refusals,
  records: Records,
): Promise<T[]> {
  const found: T[] = [];
  for (const ids of chunksOf(records.ids, MAX_LENGTH - records.query.toString().length, String))
    found.push(...(await readChunk<T>(client, refusals, { ...records, ids })));
  return found;
}

async function readChunk<T extends BaseRecord>(client: Client, refusals: Refusals, records: Records): Promise<T[]> {
  const { resource, url, ids, query, signal } = records;
  if (refusals.has(resource, 'filter by id')) return readEach(client, records);
  const sent = new URLSearchParams([...query, [ID_FILTER, joinList(ids)]]);
  if (!refusals.has(resource, 'size')) sent.set('size', String(MAX_RECORDS));
  const answer = await client.send({ method: 'GET', url, resource, query: sent, signal });
  if (isUnknown(answer, ID_FILTER)) refusals.add(resource, 'filter by id');
  else if (sent.has('size') && isUnknown(answer, 'size')) refusals.add(resource, 'size');
  else {
    const { data, metadata } = listOf<T>(answer);
    if (metadata?.truncated !== true) return data;
    // A list without pages may end at the `maxListSize` of the server.
    const known = new Set(data.map(({ id }) => String(id)));
    const others = ids.filter((id) => !known.has(String(id)));
    return [...data, ...(await readEach<T>(client, { ...records, ids: others }))];
  }
  return readChunk(client, refusals, records);
}

async function readEach<T>(client: Client, { resource, url, ids, query, signal }: Records): Promise<T[]> {
  const parameters = new URLSearchParams(query);
  // Lists only have hidden records.
  parameters.delete('deleted');
  const read = async (id: BaseKey): Promise<T[]> => {
    const at = recordUrl(url, id, resource);
    const answer = await client.send({ method: 'GET', url: at, resource, query: parameters, signal });
    if (answer.status === 404 && !isMissingRoute(answer)) return [];
    if (!isSuccess(answer)) throw failureOf(answer);
    return [dataOf<T>(answer)];
  };
  return (await Promise.all(ids.map(read))).flat();
}

export interface Writes<I> {
  readonly resource: string;
  readonly items: readonly I[];
  /** Of records that exist, where the items are ids. */
  readonly ids?: readonly BaseKey[];
  /** `false` where the server takes none. */
  readonly batch: ((items: readonly I[]) => Request) | false;
  readonly single: (item: I) => Request;
}

interface Batch<T> {
  readonly data: readonly T[] | null;
}

/** Each batch is one transaction. @returns the records in the order of the items, `null` for deleted ones */
export async function writeMany<I, T>(client: Client, refusals: Refusals, writes: Writes<I>): Promise<T[]> {
  const { resource, items, batch, single, ids = [] } = writes;
  const written: T[] = [];
  const fail = (answer: Answer): Error => {
    const failure = failureOf(answer);
    if (written.length === 0) return failure;
    const done = `${written.length} of ${items.length} records of "${resource}" were written.`;
    const { message, statusCode, errors } = toHttpError(failure);
    return httpError(`${done} ${message}`, statusCode, errors);
  };
  for (const chunk of chunksOf(items, MAX_LENGTH, (item) => (ids.length > 0 ? String(item) : ''))) {
    if (!batch || refusals.has(resource, 'batch')) break;
    const answer = await client.send(batch(chunk));
    // A batch of deletions answers `null`.
    if (isSuccess(answer)) written.push(...((answer.body as Batch<T>).data ?? chunk.map(() => null as T)));
    else if (isWithoutBatch(answer, ids)) refusals.add(resource, 'batch');
    else throw fail(answer);
  }
  for (const item of items.slice(written.length)) {
    const answer = await client.send(single(item));
    if (!isSuccess(answer)) throw fail(answer);
    written.push((answer.body as { readonly data: T }).data);
  }
  return written;
}

/**
 * A resource without batches has no such route, or reads the path as that of a record with the id "batch". Such a record does
 * not exist, or it has no field `items`. Errors of a batch that exists name `ids`, or items such as `items[0].id`.
 */
function isWithoutBatch(answer: Answer, ids: readonly BaseKey[]): boolean {
  if (answer.status === 404) {
    const [message] = messagesOf(answer);
    const isOfRecord = message.endsWith(' with id batch not found') && !ids.map(String).includes('batch');
    return isMissingRoute(answer) || /^\/batch of \S+ is not enabled/.test(message) || isOfRecord;
  }
  if (isUnknown(answer, 'ids') || isUnknown(answer, 'items')) return true;
  return answer.status === 400 && fieldsOf(answer)['id'] !== undefined;
}

/** The content of a successful answer of a generated endpoint. */
export function dataOf<T>({ request, status, body }: Answer): T {
  const data = (body as { readonly data?: T } | undefined)?.data;
  if (data !== undefined && data !== null) return data;
  throw new Failure(
    `The answer from ${request.url} for "${request.resource}" must be an object with "data". Check the url of the provider.`,
    status,
  );
}

/** @param textOf what the query string has of a value */
function chunksOf<T>(values: readonly T[], maxLength: number, textOf: (value: T) => string): T[][] {
  const chunks: T[][] = [];
  let length = 0;
  for (const value of values) {
    const added = encodeURIComponent(textOf(value)).length + 1;
    const last = chunks.at(-1);
    if (last && last.length < MAX_RECORDS && length + added <= maxLength) {
      last.push(value);
      length += added;
    } else {
      chunks.push([value]);
      length = added;
    }
  }
  return chunks;
}
