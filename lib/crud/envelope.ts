import type { Failure, FieldError } from '../http/failure.js';
import type { CrudData } from './record-types.js';

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
  /** Of a paged list. `size` is the one that was applied. */
  readonly pagination?: {
    readonly page: number;
    readonly size: number;
    readonly total: number;
    readonly totalPages: number;
  };
  /** Of an unpaged list with `maxListSize`: whether there were more records. */
  readonly truncated?: boolean;
}

export interface FailureEnvelope {
  readonly success: false;
  readonly message: string;
  readonly timestamp: string;
  /** Every wrong field of a request, at most 20. */
  readonly errors?: readonly FieldError[];
}

export function envelope<T>(message: string, data: T, metadata?: ListMetadata): Envelope<T> {
  return { success: true, message, data: data as CrudData<T>, timestamp: localNow(), ...(metadata && { metadata }) };
}

export function failureEnvelope({ message, errors }: Failure): FailureEnvelope {
  return { success: false, message, timestamp: localNow(), ...(errors && { errors }) };
}

/** `toISOString` formats UTC: the offset is added first, and the "Z" is removed. */
function localNow(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}
