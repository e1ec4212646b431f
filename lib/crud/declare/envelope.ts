/** What generated operations take and return. */
import type { Failure, WrongFields } from '../../http/failure.js';
import type { CrudData } from './record-types.js';

/** The parameters of a request: `?page=2&name=lamp` → `{ page: '2', name: 'lamp' }`; a repeated one has an array. */
export type ListQuery = Readonly<Record<string, string | readonly string[]>>;

/** The answer of every generated operation. `Envelope<Article>` has one record, `Envelope<Article[]>` a list. */
export interface Envelope<T> {
  readonly success: true;
  /** Such as `Product created`. */
  readonly message: string;
  readonly data: CrudData<T>;
  /** Local date-time in ISO 8601 without offset: `2026-01-31T09:30:15.123`. */
  readonly timestamp: string;
  readonly metadata?: ListMetadata;
}

export interface ListMetadata {
  /** Only in a paged list. */
  readonly pagination?: Pagination;
  /** The included relations that `maxIncluded` cut. Without them, of a list with `maxListSize`: whether it was cut. */
  readonly truncated?: boolean | readonly string[];
}

/** Numbered pages have `page`, cursor pages have `next` and `hasNext`. */
export interface Pagination {
  /** The page of a numbered one, from 1. */
  readonly page?: number;
  /** The largest number of records, as it was applied. */
  readonly size: number;
  /** Only in numbered pages, unless `count=none` was sent. */
  readonly total?: number;
  readonly totalPages?: number;
  /** Whether `total` is the estimate of the database. */
  readonly estimated?: true;
  /** Whether the count stopped at `total`, with `count=capped`. */
  readonly capped?: true;
  /** The cursor for `after`; `null` on the last page. */
  readonly next?: string | null;
  readonly hasNext?: boolean;
}

/** The result of one item with `atomic=false`: what the operation for a single record would answer. */
export type BatchResult<D = unknown> =
  { readonly status: number; readonly data: D } | ({ readonly status: number; readonly message: string } & WrongFields);

export interface FailureEnvelope extends WrongFields {
  readonly success: false;
  readonly message: string;
  readonly timestamp: string;
}

export function envelope<T>(message: string, data: T, metadata?: ListMetadata): Envelope<T> {
  return { success: true, message, data: data as CrudData<T>, timestamp: localNow(), ...(metadata && { metadata }) };
}

export function failureEnvelope({ status: _status, message, members, ...wrong }: Failure): FailureEnvelope {
  return { ...members, success: false, message, timestamp: localNow(), ...wrong };
}

/** `toISOString` formats UTC: the offset is added first, and the "Z" is removed. */
function localNow(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}
