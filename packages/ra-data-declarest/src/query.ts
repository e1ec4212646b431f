/** Translates the filters, sorts and `meta` of react-admin to query parameters. */
import { HttpError, type SortPayload } from 'ra-core';

const OPERATORS = new Set(
  'eq ne gt gte lt lte in nin between contains icontains startsWith endsWith isNull'.split(' '),
);

export type Filter = Readonly<Record<string, unknown>>;

/** `meta.embed` (or `meta.include`) becomes `include`, and `meta.fields` becomes `fields`. */
export function addMeta(query: URLSearchParams, meta: Filter = {}): void {
  const include = namesIn(meta['embed'] ?? meta['include']);
  if (include !== '') query.set('include', include);
  const fields = namesIn(meta['fields']);
  if (fields !== '') query.set('fields', fields);
}

export function addSort(query: URLSearchParams, sort: SortPayload | undefined): void {
  if (sort?.field) query.set('sort', sort.order === 'DESC' ? `-${sort.field}` : sort.field);
}

/**
 * `{ price_gte: 5 }` and `{ price: { gte: 5 } }` are `filter[price][gte]=5`. An array means "one of", `null` means NULL, and
 * `{ author: { name: 'Ann' } }` is a condition on the related record. `q` and `deleted` are parameters of their own.
 *
 * @param resource for messages
 */
export function addFilter(query: URLSearchParams, { q, deleted, ...conditions }: Filter, resource: string): void {
  if (isGiven(q)) query.set('q', textOf(q));
  if (isGiven(deleted)) query.set('deleted', textOf(deleted));
  for (const [name, value] of Object.entries(conditions)) addConditions(query, name, value, resource);
}

function addConditions(query: URLSearchParams, name: string, value: unknown, resource: string): void {
  const [, field, suffix] = /^(.+)_([a-zA-Z]+)$/.exec(name) ?? [];
  if (field !== undefined && suffix !== undefined && OPERATORS.has(suffix))
    return addCondition(query, field, suffix, value, resource);
  if (!isPlain(value)) return addCondition(query, name, Array.isArray(value) ? 'in' : 'eq', value, resource);
  for (const [key, inner] of Object.entries(value)) {
    if (OPERATORS.has(key)) addCondition(query, name, key, inner, resource);
    else addConditions(query, `${name}.${key}`, inner, resource);
  }
}

/** A filter without a value is left out: react-admin sends one for an input that was cleared. */
function addCondition(query: URLSearchParams, field: string, operator: string, value: unknown, resource: string): void {
  if (value === null && operator === 'eq') return query.set(`filter[${field}][isNull]`, 'true');
  if (!isGiven(value) || (Array.isArray(value) && value.length === 0)) return;
  const values = [value].flat();
  if (values.some((each) => isPlain(each)))
    throw new HttpError(
      `The filter "${operator}" on "${field}" of "${resource}" must be a value or an array of values, got ${JSON.stringify(value)}. Use operators such as { ${field}: { gte: 5 } }.`,
      400,
    );
  query.set(`filter[${field}][${operator}]`, joinList(values, operator));
}

const LISTS = new Set(['in', 'nin', 'between']);

/** A comma inside a value of a list is escaped. */
export const joinList = (values: readonly unknown[], operator = 'in'): string =>
  values.map((each) => (LISTS.has(operator) ? textOf(each).replaceAll(',', String.raw`\,`) : textOf(each))).join(',');

const namesIn = (value: unknown): string => (value === undefined ? '' : [value].flat().map(textOf).join(','));
const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));
const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
