/** Translates the filters, sorts and `meta` of react-admin to query parameters. */
import { HttpError, type SortPayload } from 'ra-core';

import { type Fields, isObject } from './json.js';

/** What this provider knows of `meta`. Other members give the values of nested resources. */
export interface Meta extends Fields {
  /** Relations that the records include: `'category'` or `['category', 'reviews']`. */
  readonly embed?: string | readonly string[];
  /** The only fields that are read. */
  readonly fields?: string | readonly string[];
  /** How the total is counted: `exact`, `estimated` or `none`. */
  readonly count?: string | undefined;
  /** Deletes a record of which DELETE only hides the row. */
  readonly purge?: boolean;
}

const OPERATORS = new Set(
  'eq ne gt gte lt lte in nin between contains icontains startsWith endsWith isNull'.split(' '),
);
const LISTS = new Set(['in', 'nin', 'between']);

/** Parameters of a request for one record. */
export function recordQuery({ embed, fields }: Meta): URLSearchParams {
  const query = new URLSearchParams();
  if (embed !== undefined) query.set('include', [embed].flat().join(','));
  // react-admin identifies records by `id`.
  if (fields !== undefined)
    query.set('fields', [...new Set(['id', ...[fields].flat().join(',').split(',')])].join(','));
  return query;
}

/**
 * Parameters of a request for a list. `{ price_gte: 5 }` and `{ price: { gte: 5 } }` are `filter[price][gte]=5`. An array means
 * "one of", `null` means NULL, and `{ author: { name: 'Ann' } }` is a condition on a related record.
 *
 * @param resource for messages
 */
export function listQuery(
  filter: Fields,
  sort: SortPayload | undefined,
  meta: Meta,
  resource: string,
): URLSearchParams {
  const query = recordQuery(meta);
  if (sort?.field) query.set('sort', sort.order === 'DESC' ? `-${sort.field}` : sort.field);
  if (meta.count !== undefined) query.set('count', meta.count);
  const { q, deleted, ...conditions } = filter;
  if (hasText(q)) query.set('q', textOf(q));
  if (hasText(deleted)) query.set('deleted', textOf(deleted));
  for (const [name, value] of Object.entries(conditions)) addConditions(query, name, value, resource);
  return query;
}

function addConditions(query: URLSearchParams, name: string, value: unknown, resource: string): void {
  const [, field, suffix] = /^(.+)_([a-zA-Z]+)$/.exec(name) ?? [];
  if (field !== undefined && suffix !== undefined && OPERATORS.has(suffix))
    addCondition(query, field, suffix, value, resource);
  else if (!isObject(value)) addCondition(query, name, Array.isArray(value) ? 'in' : 'eq', value, resource);
  else
    for (const [key, inner] of Object.entries(value))
      if (OPERATORS.has(key)) addCondition(query, name, key, inner, resource);
      else addConditions(query, `${name}.${key}`, inner, resource);
}

/** A filter without a value is left out: react-admin sends one for an input that was cleared. */
function addCondition(query: URLSearchParams, field: string, operator: string, value: unknown, resource: string): void {
  if (value === null && operator === 'eq') return query.set(`filter[${field}][isNull]`, 'true');
  const values = [value].flat();
  if (values.length === 0 || !values.every(hasText)) return;
  if (values.some(isObject) || (values.length > 1 && !LISTS.has(operator)))
    throw new HttpError(
      `The filter "${operator}" on "${field}" of "${resource}" must be ${LISTS.has(operator) ? 'values' : 'one value'}, got ${JSON.stringify(value)}. Use operators such as { ${field}: { gte: 5 } }.`,
      400,
    );
  query.set(`filter[${field}][${operator}]`, LISTS.has(operator) ? joinList(values) : textOf(value));
}

/** A comma inside a value is escaped. */
export const joinList = (values: readonly unknown[]): string =>
  values.map((each) => textOf(each).replaceAll(',', String.raw`\,`)).join(',');

/** Whether a filter has a value. */
export const hasText = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));
