/** Reads pages, and whole lists. */
import type { BaseRecord, Pagination } from '@refinedev/core';

import { failureOf, httpError, isUnknown } from './errors.js';
import type { Answer, Client, Request } from './http.js';

/** The server sends at most so many records in a page. */
export const MAX_PAGE = 100;
/** Of a list that is read page by page. */
const MAX_RECORDS = 10_000;

export interface RecordList {
  readonly data: BaseRecord[];
  readonly total: number;
  /** Where the server has cut a list without pages at its `maxListSize`. */
  readonly isTruncated: boolean;
}

interface Page {
  readonly data: BaseRecord[];
  readonly total?: number;
  /** The cursor of the next page. */
  readonly next?: string | null;
  readonly isPaginated: boolean;
  readonly isTruncated: boolean;
}

interface ListBody {
  readonly data?: unknown;
  readonly metadata?: {
    readonly pagination?: { readonly total?: number; readonly next?: string | null };
    readonly truncated?: unknown;
  };
}

/** @throws HttpError where the answer is a failure, or no list */
export function readPage(answer: Answer, resource: string): Page {
  if (answer.status >= 400) throw failureOf(answer, resource);
  const { data, metadata = {} } = (answer.json ?? {}) as ListBody;
  if (!Array.isArray(data)) throw noList(answer, resource);
  const { pagination, truncated } = metadata;
  return { data: data as BaseRecord[], ...pagination, isPaginated: pagination !== undefined, isTruncated: truncated === true };
}

const noList = ({ url, status }: Answer, resource: string) =>
  httpError(`The answer at ${url} for "${resource}" has no list in data. Check that the server generates this resource.`, status);

/** Without a mode, as refine does by default: one page of 10 records. */
export function readList(client: Client, request: Request, pagination: Pagination = {}): Promise<RecordList> {
  const { mode = 'server', currentPage = 1, pageSize = 10 } = pagination;
  const read = async (parameters: Record<string, string | number>): Promise<Page> => {
    const query = new URLSearchParams(request.query);
    for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
    const answer = await client.send({ ...request, query });
    if (isUnknown(answer, 'page') || isUnknown(answer, 'size')) throw notPaginated(request.resource);
    return readPage(answer, request.resource);
  };
  const readNumbered = async (page: number, size: number): Promise<RecordList> => {
    const { total, ...list } = await read({ page, size });
    if (total === undefined) throw notPaginated(request.resource);
    return { ...list, total };
  };
  if (mode !== 'server') return readWhole(request.resource, read, readNumbered);
  if (pageSize <= MAX_PAGE) return readNumbered(currentPage, pageSize);
  return readRange(readNumbered, (currentPage - 1) * pageSize, pageSize);
}

const notPaginated = (resource: string) =>
  httpError(
    `The list of "${resource}" has no numbered pages. Set enablePagination to true or "both" on the server, or use the pagination mode "off".`,
    400,
  );

/** Pages of more records than the server sends are put together. */
async function readRange(
  readNumbered: (page: number, size: number) => Promise<RecordList>,
  start: number,
  length: number,
): Promise<RecordList> {
  const first = Math.floor(start / MAX_PAGE);
  const data: BaseRecord[] = [];
  let total = Number.POSITIVE_INFINITY;
  for (let page = first; page * MAX_PAGE < Math.min(start + length, total); page += 1) {
    const read = await readNumbered(page + 1, MAX_PAGE);
    data.push(...read.data);
    ({ total } = read);
  }
  const skipped = start - first * MAX_PAGE;
  return { data: data.slice(skipped, skipped + length), total, isTruncated: false };
}

/** The first request has no parameters of pages, because a list without pages refuses them. */
async function readWhole(
  resource: string,
  read: (parameters: Record<string, string | number>) => Promise<Page>,
  readNumbered: (page: number, size: number) => Promise<RecordList>,
): Promise<RecordList> {
  const first = await read({});
  if (!first.isPaginated) return { ...first, total: first.data.length };
  if (first.total !== undefined) {
    if (first.data.length >= first.total) return { ...first, total: first.total };
    if (first.total > MAX_RECORDS) throw tooLong(resource);
    return readRange(readNumbered, 0, first.total);
  }
  const data = [...first.data];
  for (let { next } = first; next != null;) {
    if (data.length >= MAX_RECORDS) throw tooLong(resource);
    const page = await read({ after: next, size: MAX_PAGE });
    data.push(...page.data);
    ({ next } = page);
  }
  return { data, total: data.length, isTruncated: false };
}

const tooLong = (resource: string) =>
  httpError(
    `The list of "${resource}" has more than ${MAX_RECORDS} records. Use the pagination mode "server", or the export.`,
    400,
  );
