/** Reads and writes many records: with one request where the server offers that, else one by one. */
import type { BaseKey } from '@refinedev/core';

import { failureOf, fieldsOf, httpError, isMissingRoute, isUnknown, messageOf } from './errors.js';
import { joinList } from './filters.js';
import type { Answer, Client, Request } from './http.js';
import { MAX_RECORDS } from './lists.js';
import { recordUrl } from './resource-path.js';

/** What the server was found not to offer, by resource, so that it is tried once. */
export class Missing {
  private readonly known = new Set<string>();

  has(what: 'batch' | 'filter by id', resource: string): boolean {
    return this.known.has(`${what} ${resource}`);
  }

  add(what: 'batch' | 'filter by id', resource: string): void {
    this.known.add(`${what} ${resource}`);
  }
}

export interface Records {
  readonly resource: string;
  readonly url: string;
  readonly ids: readonly BaseKey[];
  readonly query: URLSearchParams;
  readonly signal: AbortSignal | undefined;
}

/** The records that exist. */
export async function readMany<T>(client: Client, missing: Missing, records: Records): Promise<T[]> {
  const found: T[] = [];
  for (const ids of chunksOf(records.ids)) found.push(...(await readChunk<T>(client, missing, { ...records, ids })));
  return found;
}

async function readChunk<T>(client: Client, missing: Missing, records: Records): Promise<T[]> {
  const { resource, url, ids, query, signal } = records;
  if (missing.has('filter by id', resource)) return readEach(client, records);
  const name = 'filter[id][in]';
  const sent = new URLSearchParams([...query, [name, joinList(ids)], ['size', String(MAX_RECORDS)]]);
  const send = () => client.send({ method: 'GET', url, resource, query: sent, signal });
  let answer = await send();
  if (isUnknown(answer, 'size')) {
    // A list without pages is whole.
    sent.delete('size');
    answer = await send();
  }
  if (answer.status === 200) return dataOf<T[]>(answer, resource);
  if (!isUnknown(answer, name)) throw failureOf(answer, resource);
  missing.add('filter by id', resource);
  return readEach(client, records);
}

async function readEach<T>(client: Client, { resource, url, ids, query, signal }: Records): Promise<T[]> {
  const read = async (id: BaseKey): Promise<T[]> => {
    const answer = await client.send({ method: 'GET', url: recordUrl(url, id, resource), resource, query, signal });
    if (answer.status === 404 && !isMissingRoute(answer)) return [];
    if (answer.status !== 200) throw failureOf(answer, resource);
    return [dataOf<T>(answer, resource)];
  };
  return (await Promise.all(ids.map(read))).flat();
}

export interface Writes<I> {
  readonly resource: string;
  readonly items: readonly I[];
  readonly batch: (items: readonly I[]) => Request;
  readonly single: (item: I) => Request;
}

interface Batch<T> {
  readonly data: readonly T[] | null;
}

/** Each batch is one transaction. @returns the records in the order of the items, `null` for deleted ones */
export async function writeMany<I, T>(client: Client, missing: Missing, writes: Writes<I>): Promise<T[]> {
  const { resource, items, batch, single } = writes;
  const written: T[] = [];
  for (const chunk of chunksOf(items)) {
    if (missing.has('batch', resource)) break;
    const answer = await client.send(batch(chunk));
    // A batch of deletions answers `null`.
    if (isSuccess(answer)) written.push(...((answer.json as Batch<T>).data ?? chunk.map(() => null as T)));
    else if (isWithoutBatch(answer)) missing.add('batch', resource);
    else throw failureOf(answer, resource);
  }
  for (const item of items.slice(written.length)) {
    const answer = await client.send(single(item));
    if (!isSuccess(answer)) {
      const { message, statusCode, errors } = failureOf(answer, resource);
      const done = `${written.length} of ${items.length} records of "${resource}" were written.`;
      throw httpError(`${done} ${message}`, statusCode, errors);
    }
    written.push((answer.json as { readonly data: T }).data);
  }
  return written;
}

export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300;

/**
 * A resource without batches may read the path as that of a record with the id "batch". Errors of a batch that exists name
 * items, such as `items[0].id`.
 */
function isWithoutBatch(answer: Answer): boolean {
  if (answer.status === 404) return isMissingRoute(answer) || messageOf(answer).startsWith('/batch of ');
  return isUnknown(answer, 'ids') || (answer.status === 400 && fieldsOf(answer)['id'] !== undefined);
}

/** The content of a successful answer of a generated endpoint. */
export function dataOf<T>({ json, url, status }: Answer, resource: string): T {
  const data = (json as { readonly data?: T } | undefined)?.data;
  if (data !== undefined && data !== null) return data;
  throw httpError(
    `The answer from ${url} for "${resource}" must be an object with "data". Check the url of the provider.`,
    status,
  );
}

function chunksOf<T>(values: readonly T[]): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < values.length; start += MAX_RECORDS)
    chunks.push(values.slice(start, start + MAX_RECORDS));
  return chunks;
}
