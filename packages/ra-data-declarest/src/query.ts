/** Translates filters, sort and meta of react-admin to query parameters. */
import { type Fields, isObject, joinLists, textOf } from 'declarest-client/providers';
import type { SortPayload } from 'ra-core';

import { withZone } from './date-times.js';
import { invalidCall } from './errors.js';

const OPERATORS = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'nin',
  'between',
  'contains',
  'icontains',
  'startsWith',
  'endsWith',
  'isNull',
] as const;
type Operator = (typeof OPERATORS)[number];
const LISTS: readonly Operator[] = ['in', 'nin', 'between'];

const isOperator = (name: string | undefined): name is Operator => OPERATORS.some((operator) => operator === name);

/** What `meta` may contain. The values of a nested resource are in it too. */
export interface Meta extends Fields {
  /** Relations to include: `'category'`, `['category', 'tags']`. */
  readonly embed?: string | readonly string[];
  /** The fields to read; `id` is always read. */
  readonly fields?: string | readonly string[];
  /** Lists hidden records too, or only those. */
  readonly deleted?: 'with' | 'only';
  /** How the server finds the total of a list. */
  readonly count?: 'exact' | 'estimated' | 'capped' | 'none' | undefined;
  /** Deletes a record for good. */
  readonly purge?: boolean;
}

/** Parameters of a list. `q` and `deleted` of the filter are parameters of their own. */
export function listQuery(
  filter: Fields,
  sort: SortPayload | undefined,
  meta: Meta,
  resource: string,
): URLSearchParams {
  const { q, deleted = meta.deleted, ...conditions } = filter;
  const query = recordQuery(meta);
  if (hasText(q)) query.set('q', String(q));
  if (hasText(deleted)) query.set('deleted', String(deleted));
  if (sort?.field) query.set('sort', sort.order === 'DESC' ? `-${sort.field}` : sort.field);
  if (meta.count !== undefined) query.set('count', meta.count);
  addConditions(query, 'filter', conditions, resource);
  return query;
}

/** Parameters of a record. */
export function recordQuery({ embed, fields }: Meta): URLSearchParams {
  const query = new URLSearchParams();
  const include = namesIn(embed);
  if (include.length > 0) query.set('include', include.join(','));
  // react-admin identifies records by their id.
  if (fields !== undefined) query.set('fields', [...new Set(['id', ...namesIn(fields)])].join(','));
  return query;
}

export const hasText = (value: unknown): boolean =>
  value !== undefined && value !== null && String(value).trim() !== '';

const namesIn = (names: string | readonly string[] = []): string[] =>
  [names].flat().flatMap((each) => each.split(',').map((name) => name.trim()));

/** @param group such as `filter` or `filter[or][0]` */
function addConditions(query: URLSearchParams, group: string, conditions: Fields, resource: string): void {
  for (const [key, value] of Object.entries(conditions)) {
    if ((key === 'or' || key === 'and') && Array.isArray(value)) {
      for (const [index, member] of value.entries())
        addConditions(query, `${group}[${key}][${index}]`, member as Fields, resource);
    } else if (key === 'not' && isObject(value)) addConditions(query, `${group}[not]`, value, resource);
    else addField(query, group, key, value, resource);
  }
}

/** @param path a field, or one with an operator: `price_gte` */
function addField(query: URLSearchParams, group: string, path: string, value: unknown, resource: string): void {
  if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if (isOperator(key)) addCondition(query, group, path, key, inner, resource);
      // Inputs with the source "category.name" make an object of it.
      else addField(query, group, `${path}.${key}`, inner, resource);
    }
    return;
  }
  const [, field, suffix] = /^(.+)_([a-zA-Z]+)$/.exec(path) ?? [];
  const [name, operator] = field !== undefined && isOperator(suffix) ? [field, suffix] : [path, undefined];
  addCondition(query, group, name, operator ?? (Array.isArray(value) ? 'in' : 'eq'), value, resource);
}

function addCondition(
  query: URLSearchParams,
  group: string,
  field: string,
  operator: Operator,
  value: unknown,
  resource: string,
): void {
  const add = (operator: Operator, text: string): void => query.append(`${group}[${field}][${operator}]`, text);
  if (value === null) {
    if (operator === 'eq' || operator === 'ne') add('isNull', String(operator === 'eq'));
    return;
  }
  // An input without a value.
  if (value === undefined || value === '') return;
  if (Array.isArray(value) && value.length === 0) {
    if (operator === 'nin') return;
    throw invalidCall(
      `The filter "${field}" of "${resource}" must have values, got an empty array. Leave the filter out.`,
    );
  }
  const values: readonly unknown[] = [value].flat().map(withZone);
  if (values.some(isObject) || (values.length > 1 && !LISTS.includes(operator)))
    throw invalidCall(
      `The filter "${field}" of "${resource}" must have one value for "${operator}", got ${JSON.stringify(value)}. The operators are ${OPERATORS.join(', ')}.`,
    );
  if (!LISTS.includes(operator)) return add(operator, textOf(values[0]));
  for (const list of joinLists(values)) add(operator, list);
}
