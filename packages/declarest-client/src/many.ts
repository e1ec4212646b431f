/** Reads and writes many records: with one request where the server offers that, else one by one. */
import type { Client } from './client.js';
import {
  dataOf,
  type Failure,
  failureOf,
  fieldsOf,
  isMissingRoute,
  isSuccess,
  isUnknown,
  messagesOf,
} from './failure.js';
import { chunksOf, joinLists, MAX_LENGTH } from './lists.js';
import { recordUrl } from './paths.js';
import type { Refusals } from './refusals.js';
import type { Answer, Request } from './requests.js';

type Id = string | number;

const ID_FILTER = 'filter[id][in]';
/** The size of a page where the request does not say it. */
const DEFAULT_SIZE = 20;

export interface Records {
  readonly resource: string;
  readonly url: string;
  readonly ids: readonly Id[];
  readonly query: URLSearchParams;
  readonly signal: AbortSignal | undefined;
}

/** The records that exist. */
export async function readMany<T>(client: Client, refusals: Refusals, records: Records): Promise<T[]> {
  const found: T[] = [];
  for (const ids of chunksOf(records.ids, String, MAX_LENGTH - records.query.toString().length))
    found.push(...(await readChunk<T>(client, refusals, { ...records, ids })));
  return found;
}

async function readChunk<T>(client: Client, refusals: Refusals, records: Records): Promise<readonly T[]> {
  const { resource, url, ids, query, signal } = records;
  if (refusals.has(resource, 'filter by id')) return readEach(client, records);
  const sent = new URLSearchParams(query);
  for (const list of joinLists(ids)) sent.append(ID_FILTER, list);
  // Lists without pages have no parameter "size".
  const isSized = ids.length > DEFAULT_SIZE && !refusals.has(resource, 'size');
  if (isSized) sent.set('size', String(ids.length));
  const answer = await client.send({ method: 'GET', url, resource, query: sent, signal });
  if (isUnknown(answer, ID_FILTER)) refusals.add(resource, 'filter by id');
  else if (isSized && isUnknown(answer, 'size')) refusals.add(resource, 'size');
  else if (!isSuccess(answer)) throw failureOf(answer);
  else {
    const data = dataOf<readonly (T & { readonly id: Id })[]>(answer);
    const { metadata } = answer.body as { readonly metadata?: { readonly truncated?: unknown } };
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
  const read = async (id: Id): Promise<T[]> => {
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
  /** The records that exist, where the items are ids. */
  readonly ids?: readonly Id[];
  /** What the query string of a batch has of an item. */
  readonly inQuery?: (item: I) => string;
  /** `false` where the server takes none. */
  readonly batch: ((items: readonly I[]) => Request) | false;
  readonly single: (item: I) => Request;
}

/** A change of many records holds whatever their versions are. */
const ANY_VERSION = { 'If-Match': '*' };

interface Targets {
  readonly resource: string;
  readonly url: string;
  readonly ids: readonly Id[];
}

/** @param hasBatch `false` for a key of several columns, whose text does not tell numbers from texts */
export function changesOf({ resource, url, ids }: Targets, changes: object, hasBatch: boolean): Writes<Id> {
  const request = { method: 'PATCH', resource, headers: ANY_VERSION };
  const batch = (items: readonly Id[]): Request => {
    return { ...request, url: `${url}/batch`, json: { items: items.map((id) => ({ ...changes, id })) } };
  };
  const single = (id: Id): Request => ({ ...request, url: recordUrl(url, id, resource), json: changes });
  return { resource, items: ids, ids, batch: hasBatch && batch, single };
}

export function deletionsOf({ resource, url, ids }: Targets): Writes<Id> {
  const request = { method: 'DELETE', resource, headers: ANY_VERSION };
  const batch = (items: readonly Id[]): Request => {
    const query = new URLSearchParams(joinLists(items).map((list): [string, string] => ['ids', list]));
    return { ...request, url: `${url}/batch`, query };
  };
  const single = (id: Id): Request => ({ ...request, url: recordUrl(url, id, resource) });
  return { resource, items: ids, ids, inQuery: String, batch, single };
}

interface Batch<T> {
  readonly data: readonly T[] | null;
}

/**
 * Each batch is one transaction.
 *
 * @param toError the error of the front end, whose message gets the number of written records
 * @returns the records in the order of the items, `null` for deleted ones
 */
export async function writeMany<I, T>(
  client: Client,
  refusals: Refusals,
  toError: (failure: Failure) => Error,
  { resource, items, ids = [], inQuery = () => '', batch, single }: Writes<I>,
): Promise<T[]> {
  const written: T[] = [];
  const fail = (answer: Answer): Error => {
    const failure = failureOf(answer);
    if (written.length === 0) return failure;
    const error = toError(failure);
    const done = `${written.length} of ${items.length} records of "${resource}" were written.`;
    return Object.assign(error, { message: `${done} ${error.message}` });
  };
  for (const chunk of chunksOf(items, inQuery)) {
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
function isWithoutBatch(answer: Answer, ids: readonly Id[]): boolean {
  if (answer.status === 404) {
    const [message] = messagesOf(answer);
    const isOfRecord = message.endsWith(' with id batch not found') && !ids.map(String).includes('batch');
    return isMissingRoute(answer) || /^\/batch of \S+ is not enabled/.test(message) || isOfRecord;
  }
  if (isUnknown(answer, 'ids') || isUnknown(answer, 'items')) return true;
  return answer.status === 400 && fieldsOf(answer)['id'] !== undefined;
}
