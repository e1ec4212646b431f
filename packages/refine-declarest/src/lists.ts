/** Reads pages of lists, and whole lists. */
import type { BaseRecord, GetListResponse } from '@refinedev/core';
import {
  type Answer,
  type Client,
  Failure,
  failureOf,
  isUnknown,
  MAX_RECORDS,
  type Refusals,
  type Request,
} from 'declarest-client/providers';

interface Page<T> {
  readonly records: T[];
  /** `undefined` where the server counts none. */
  readonly total: number | undefined;
}

interface ListBody<T> {
  readonly data: T[];
  readonly metadata?: {
    readonly pagination?: { readonly total?: number; readonly next?: string | null };
  };
}

/** @throws Failure where the answer is a failure, or no list */
function listOf<T>(answer: Answer): ListBody<T> {
  if (answer.status !== 200) throw failureOf(answer);
  const { data, metadata } = (answer.body ?? {}) as Partial<ListBody<T>>;
  if (!Array.isArray(data)) throw notPaginated(answer.request.resource);
  return { data, ...(metadata && { metadata }) };
}

/** @returns `undefined` where the list has no numbered pages @throws Failure */
export async function readPage<T>(
  client: Client,
  list: Request,
  page: number,
  size: number,
): Promise<Page<T> | undefined> {
  const query = new URLSearchParams([...(list.query ?? []), ['page', String(page)], ['size', String(size)]]);
  const answer = await client.send({ ...list, query });
  if (isUnknown(answer, 'page')) return undefined;
  const { data, metadata } = listOf<T>(answer);
  return metadata?.pagination && { records: data, total: metadata.pagination.total };
}

/**
 * A page of a list that has cursors.
 *
 * @param after the cursor; the first page has none
 * @throws Failure
 */
export async function readByCursor<T extends BaseRecord>(
  client: Client,
  list: Request,
  size: number,
  after?: string,
): Promise<GetListResponse<T>> {
  const query = new URLSearchParams([...(list.query ?? []), ['size', String(size)]]);
  if (after !== undefined) query.set('after', after);
  const answer = await client.send({ ...list, query });
  if (isUnknown(answer, 'size')) throw notPaginated(list.resource);
  const { data, metadata } = listOf<T>(answer);
  const next = metadata?.pagination?.next ?? undefined;
  return { data, total: data.length, cursor: { ...(next !== undefined && { next }) } };
}

/** All pages, or a list that has none. */
export async function readWholeList<T>(client: Client, refusals: Refusals, list: Request): Promise<T[]> {
  const all: T[] = [];
  for (let number = 1; !refusals.has(list.resource, 'page'); number += 1) {
    const page = await readPage<T>(client, list, number, MAX_RECORDS);
    if (!page) {
      refusals.add(list.resource, 'page');
      break;
    }
    all.push(...page.records);
    // An overridden list may have left out records of a page.
    const isLast = page.total === undefined ? page.records.length < MAX_RECORDS : number * MAX_RECORDS >= page.total;
    if (isLast) return all;
  }
  const { data, metadata } = listOf<T>(await client.send(list));
  // A list that has cursors only would end after its first page.
  if (metadata?.pagination) throw notPaginated(list.resource);
  return data;
}

export const notPaginated = (resource: string): Failure =>
  new Failure(
    `The list "${resource}" has no numbered pages. Set enablePagination: true on the server, or pagination: { mode: 'off' } for a list without pages.`,
    400,
  );
