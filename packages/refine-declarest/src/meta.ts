/** Reads what this provider knows of `meta`, which refine passes as it is. */
import type { MetaQuery } from '@refinedev/core';
import { Failure } from 'declarest-client/providers';

/** The query parameters of `meta.include` (or `meta.embed`), `meta.fields` and `meta.deleted`. */
export function addMetaParameters(query: URLSearchParams, meta: MetaQuery = {}): URLSearchParams {
  const include = namesIn(meta['include'] ?? meta['embed']);
  if (include.length > 0) query.set('include', include.join(','));
  addFields(query, meta.fields);
  const deleted: unknown = meta['deleted'];
  if (deleted !== undefined) query.set('deleted', String(deleted));
  return query;
}

export const signalOf = (meta: MetaQuery = {}): AbortSignal | undefined => {
  const signal: unknown = meta['signal'] ?? meta.queryContext?.signal;
  // A parameter of the page's URL is a member of `meta` too, as text.
  return signal instanceof AbortSignal ? signal : undefined;
};

/** Whether `useInfiniteList` reads the list, which continues with a cursor where it gets one. */
export const isInfinite = (meta: MetaQuery = {}): boolean => {
  const queryKey: unknown = meta['queryKey'] ?? meta.queryContext?.queryKey;
  return Array.isArray(queryKey) && queryKey.includes('infinite');
};

/** refine identifies records by `id`, so it is always read. */
function addFields(query: URLSearchParams, fields: MetaQuery['fields']): void {
  if (fields === undefined) return;
  const own = new Set(['id']);
  for (const field of [fields].flat()) {
    if (typeof field === 'string') for (const name of field.split(',')) own.add(name);
    else if ('operation' in field)
      throw new Failure(
        'meta.fields must be names, or objects such as { category: ["name"] }, got a GraphQL field.',
        400,
      );
    else
      for (const [relation, names] of Object.entries(field)) query.set(`fields[${relation}]`, namesIn(names).join(','));
  }
  query.set('fields', [...own].join(','));
}

const namesIn = (value: unknown): string[] => (value === undefined ? [] : [value].flat().map(String));
