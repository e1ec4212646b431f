/** Reads pages of lists, by number or by cursor. */
import {
  type Answer,
  type Client,
  failureOf,
  isSuccess,
  isUnknown,
  MAX_RECORDS,
  type Refusals,
} from 'declarest-client/providers';
import type { GetListResult, PaginationPayload } from 'ra-core';

import { notPaginated } from './errors.js';

export interface List {
  readonly resource: string;
  readonly url: string;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal | undefined;
}

interface Page {
  readonly records: readonly unknown[];
  readonly total?: number;
  readonly hasNext: boolean;
}

interface Pagination {
  readonly total?: number;
  readonly next?: string | null;
  readonly hasNext?: boolean;
}

const MAX_CURSOR_LISTS = 100;

export type ReadList = (list: List, pagination: PaginationPayload) => Promise<GetListResult>;

export function createListReader(client: Client, refusals: Refusals): ReadList {
  /** Cursors by list; those of a list by page. */
  const cursors = new Map<string, Map<number, string>>();

  const cursorsOf = (key: string): Map<number, string> => {
    const known = cursors.get(key) ?? new Map<number, string>();
    cursors.delete(key);
    cursors.set(key, known);
    const [oldest] = cursors.keys();
    if (cursors.size > MAX_CURSOR_LISTS && oldest !== undefined) cursors.delete(oldest);
    return known;
  };

  /** react-admin sorts by `id` unless told otherwise. Where that is refused, the list has its own order. */
  const send = async ({ resource, url, query, signal }: List, page: Record<string, string>): Promise<Answer> => {
    const sent = new URLSearchParams([...query, ...Object.entries(page)]);
    const isById = /^-?id$/.test(query.get('sort') ?? '');
    const request = { method: 'GET', url, resource, query: sent, signal };
    if (!isById || !refusals.has(resource, 'sort by id')) {
      const answer = await client.send(request);
      if (!isById || !isUnknown(answer, 'sort')) return answer;
      refusals.add(resource, 'sort by id');
    }
    sent.delete('sort');
    return client.send(request);
  };

  const readNumbered = async (list: List, page: number, size: number): Promise<Page> => {
    const answer = await send(list, { page: String(page), size: String(size) });
    if (isUnknown(answer, 'page')) {
      if (isUnknown(answer, 'size')) throw notPaginated(list.resource);
      refusals.add(list.resource, 'page');
      return readByCursor(list, page, size);
    }
    const { records, pagination } = contentOf(answer, list);
    const { total } = pagination;
    const hasNext = total === undefined ? records.length === size : page * size < total;
    return { records, hasNext, ...(total !== undefined && { total }) };
  };

  /** Continues behind the last page whose cursor is known. */
  const readByCursor = async (list: List, page: number, size: number): Promise<Page> => {
    const known = cursorsOf(`${list.url}?${list.query.toString()}&size=${size}`);
    let current = page;
    while (current > 1 && !known.has(current)) current -= 1;
    for (;;) {
      const after = known.get(current);
      const answer = await send(list, { size: String(size), ...(after !== undefined && { after }) });
      const { records, pagination } = contentOf(answer, list);
      const { next } = pagination;
      if (next) known.set(current + 1, next);
      else known.delete(current + 1);
      if (current === page) return { records, hasNext: Boolean(next) };
      if (!next) return { records: [], hasNext: false };
      current += 1;
    }
  };

  const readPage = (list: List, page: number, size: number): Promise<Page> =>
    refusals.has(list.resource, 'page') ? readByCursor(list, page, size) : readNumbered(list, page, size);

  return async (list, { page, perPage }) => {
    const size = Math.min(perPage, MAX_RECORDS);
    const start = (page - 1) * perPage;
    const first = Math.floor(start / size) + 1;
    const skipped = start - (first - 1) * size;
    const end = skipped + perPage;
    const records: unknown[] = [];
    let last: Page;
    let number = first;
    do {
      last = await readPage(list, number, size);
      records.push(...last.records);
      number += 1;
    } while (last.hasNext && records.length < end);
    const data = records.slice(skipped, end) as GetListResult['data'];
    if (last.total !== undefined) return { data, total: last.total };
    return { data, pageInfo: { hasPreviousPage: page > 1, hasNextPage: last.hasNext || records.length > end } };
  };
}

function contentOf(answer: Answer, { resource }: List): { records: readonly unknown[]; pagination: Pagination } {
  if (!isSuccess(answer)) throw failureOf(answer);
  const { data, metadata } = (answer.body ?? {}) as { data?: unknown; metadata?: { pagination?: Pagination } };
  if (!Array.isArray(data) || !metadata?.pagination) throw notPaginated(resource);
  return { records: data, pagination: metadata.pagination };
}
