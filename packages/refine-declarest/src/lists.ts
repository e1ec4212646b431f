/** Reads pages of lists, and whole lists. */
import { failureOf, httpError, isUnknown } from './errors.js';
import type { Client, Request } from './http.js';

/** The server takes as many values in a list, items in a batch, and records on a page. */
export const MAX_RECORDS = 100;

interface Page<T> {
  readonly records: T[];
  /** `undefined` where the server counts none. */
  readonly total: number | undefined;
}

interface ListBody<T> {
  readonly data?: T[];
  readonly metadata?: { readonly pagination?: { readonly total?: number } };
}

/** @returns `undefined` where the list has no numbered pages @throws HttpError */
export async function readPage<T>(
  client: Client,
  list: Request,
  page: number,
  size: number,
): Promise<Page<T> | undefined> {
  const query = new URLSearchParams([...(list.query ?? []), ['page', String(page)], ['size', String(size)]]);
  const answer = await client.send({ ...list, query });
  if (isUnknown(answer, 'page')) return undefined;
  if (answer.status !== 200) throw failureOf(answer, list.resource);
  const { data, metadata } = (answer.json ?? {}) as ListBody<T>;
  return Array.isArray(data) && metadata?.pagination ? { records: data, total: metadata.pagination.total } : undefined;
}

/** All pages, or a list that has none. */
export async function readWholeList<T>(client: Client, list: Request): Promise<T[]> {
  const all: T[] = [];
  for (let number = 1; ; number += 1) {
    const page = await readPage<T>(client, list, number, MAX_RECORDS);
    if (!page) break;
    all.push(...page.records);
    if (page.records.length < MAX_RECORDS || all.length === page.total) return all;
  }
  const answer = await client.send(list);
  if (answer.status !== 200) throw failureOf(answer, list.resource);
  const { data, metadata } = (answer.json ?? {}) as ListBody<T>;
  // A list that has cursors only would end after its first page.
  if (!Array.isArray(data) || metadata?.pagination) throw notPaginated(list.resource);
  return data;
}

export const notPaginated = (resource: string): Error =>
  httpError(
    `The list "${resource}" has no numbered pages. Set enablePagination: true on the server, or pagination: { mode: 'off' } for a list without pages.`,
    400,
  );
