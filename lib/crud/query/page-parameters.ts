/** Reads which page of a list a query string asks for. */
import type { Paging } from '../declare/list-options.js';
import type { QueryParameters } from './parameters.js';

export interface PageParameters {
  readonly paged: Paging;
  /** How many records a numbered page may skip. */
  readonly maxOffset?: number | undefined;
}

export interface Page {
  readonly page: number;
  /** Records, 1 to 100. */
  readonly size: number;
}

export interface CursorPage {
  readonly size: number;
  readonly after: string | undefined;
}

export const COUNTS = ['exact', 'estimated', 'capped', 'none'] as const;
export type CountMode = (typeof COUNTS)[number];

export interface PageRequest {
  readonly page?: Page;
  readonly count?: CountMode;
  readonly cursor?: CursorPage;
}

export const DEFAULT_SIZE = 20;
export const MAX_SIZE = 100;

const NUMBERED = ['page', 'size', 'count'];
const CURSOR = ['size', 'after', 'pagination'];

export function pageParameterNames(paging: Paging): readonly string[] {
  if (paging === false) return [];
  if (paging === 'both') return [...NUMBERED, 'after', 'pagination'];
  return paging === 'cursor' ? CURSOR : NUMBERED;
}

export function readPageRequest({ paged, maxOffset }: PageParameters, parameters: QueryParameters): PageRequest {
  if (paged === false) return {};
  const pagination = parameters.get('pagination');
  if (pagination !== undefined && pagination !== 'cursor') parameters.add('pagination', 'must be cursor');
  const after = parameters.get('after');
  if (paged === 'cursor' || after !== undefined || pagination !== undefined) {
    for (const name of ['page', 'count'])
      if (parameters.get(name) !== undefined) parameters.add(name, 'must not be sent together with a cursor');
    return { cursor: { size: readNumber('size', DEFAULT_SIZE, MAX_SIZE, parameters), after } };
  }
  const page = readNumber('page', 1, Number.POSITIVE_INFINITY, parameters);
  const size = readNumber('size', DEFAULT_SIZE, MAX_SIZE, parameters);
  if (maxOffset !== undefined && (page - 1) * size > maxOffset) {
    const advice = paged === 'both' ? 'pagination=cursor' : 'filters';
    parameters.add('page', `must skip at most ${maxOffset} records: send ${advice} to read the ones behind them`);
  }
  return { page: { page, size }, count: readCount(parameters) };
}

function readCount(parameters: QueryParameters): CountMode {
  const text = parameters.get('count') ?? 'exact';
  const count = COUNTS.find((each) => each === text);
  if (count === undefined) parameters.add('count', `must be one of ${COUNTS.join(', ')}`);
  return count ?? 'exact';
}

function readNumber(name: string, fallback: number, most: number, parameters: QueryParameters): number {
  const text = parameters.get(name);
  if (text === undefined) return fallback;
  const value = /^\d+$/.test(text) ? Math.min(Number(text), most) : 0;
  if (value < 1 || !Number.isSafeInteger(value)) parameters.add(name, 'must be an integer from 1');
  return value;
}
