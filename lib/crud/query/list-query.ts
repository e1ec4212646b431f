/** Reads the query string of a list or a search. Pure; reports every wrong parameter. */
import { BadRequestException, createParamDecorator } from '@nestjs/common';
import type { FieldError } from '../../http/failure.js';
import { queryOf, type HttpRequest } from '../../http/request-facts.js';
import { PAGE_PARAMETERS } from '../crud-options.js';

/** The parameters of a request: `?page=2&name=lamp` → `{ page: '2', name: 'lamp' }`; a repeated one has an array. */
export type ListQuery = Readonly<Record<string, string | readonly string[]>>;

export interface Page {
  /** From 1. */
  readonly page: number;
  /** Records, 1 to 100. */
  readonly size: number;
}

/** A text to find: in the field, or in any searchable field where that is `undefined`. A record must match all terms. */
export interface Term {
  readonly field: string | undefined;
  readonly text: string;
}

export interface ListRequest {
  readonly page?: Page;
  readonly terms: readonly Term[];
}

const DEFAULT_SIZE = 20;
const MAX_SIZE = 100;
/** In code points: matching a long term against long texts takes seconds. */
const MAX_TERM = 100;
const ANY_FIELD = 'q';

/** Read from the URL itself, so that the query parsers of both platforms make no difference. */
export function rawQueryOf(request: HttpRequest): ListQuery {
  const query = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of new URLSearchParams(queryOf(request))) {
    const earlier = query[name];
    if (earlier === undefined) query[name] = value;
    else if (typeof earlier === 'string') query[name] = [earlier, value];
    else earlier.push(value);
  }
  return query;
}

export const RawQuery = createParamDecorator((_: unknown, context) =>
  rawQueryOf(context.switchToHttp().getRequest<HttpRequest>()),
);

/**
 * @param searchable the fields that a search may name; `undefined` for a list
 * @throws 400 naming every wrong parameter, or where a search has none
 */
export function parseListQuery(query: ListQuery, paged: boolean, searchable?: readonly string[]): ListRequest {
  const errors: FieldError[] = [];
  const searched = searchable?.length ? [...new Set([...searchable, ANY_FIELD])] : [];
  const parameters = readParameters(query, [...searched, ...(paged ? PAGE_PARAMETERS : [])], errors);
  const terms = searched.flatMap((name) => {
    const text = parameters.get(name);
    if (text === undefined) return [];
    if (text === '') errors.push({ field: name, message: 'must be a text to search for, got an empty one' });
    // SQLite's LIKE reads no further than NUL, and PostgreSQL has no text with it.
    if (text.includes('\0')) errors.push({ field: name, message: 'must be a text without the character NUL' });
    const { length } = [...text];
    if (length > MAX_TERM)
      errors.push({ field: name, message: `must be at most ${MAX_TERM} characters long, got ${length}` });
    return [{ field: searchable?.includes(name) ? name : undefined, text }];
  });
  if (searchable && terms.length === 0 && errors.length === 0)
    errors.push({ field: ANY_FIELD, message: `is missing: send at least one of ${searched.join(', ')}` });
  const page = paged ? readPage(parameters, errors) : undefined;
  if (errors.length > 0) throw new BadRequestException({ message: 'The query is not valid', errors });
  return { terms, ...(page && { page }) };
}

function readParameters(query: ListQuery, known: readonly string[], errors: FieldError[]): Map<string, string> {
  const parameters = new Map<string, string>();
  let hint = `; ${known.length === 0 ? 'none is known' : `known ones are ${known.join(', ')}`}`;
  for (const [name, value] of Object.entries(query ?? {})) {
    if (!known.includes(name)) {
      // The known names are listed once: with each error, the answer would be many times the request.
      errors.push({ field: name, message: `unknown parameter${hint}` });
      hint = '';
    } else if (typeof value !== 'string') errors.push({ field: name, message: 'must be sent once, got several' });
    else parameters.set(name, value);
  }
  return parameters;
}

function readPage(parameters: ReadonlyMap<string, string>, errors: FieldError[]): Page {
  const read = (name: string, fallback: number, most: number): number => {
    const text = parameters.get(name);
    if (text === undefined) return fallback;
    const value = /^\d+$/.test(text) ? Math.min(Number(text), most) : 0;
    if (value < 1 || !Number.isSafeInteger(value)) errors.push({ field: name, message: 'must be an integer from 1' });
    return value;
  };
  return { page: read('page', 1, Number.POSITIVE_INFINITY), size: read('size', DEFAULT_SIZE, MAX_SIZE) };
}
