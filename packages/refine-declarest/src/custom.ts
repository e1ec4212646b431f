/** Requests to other routes of the server. */
import type { CustomParams } from '@refinedev/core';

import { isSuccess } from './batches.js';
import { failureOf } from './errors.js';
import { addFilters, addSorters } from './filters.js';
import type { Client } from './http.js';
import { signalOf } from './meta.js';

/** @returns the whole body */
export async function sendCustom(client: Client, params: CustomParams): Promise<unknown> {
  const { url, method, filters = [], sorters, payload, query: values, headers, meta } = params;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values ?? {})) if (value !== undefined) query.set(name, String(value));
  const answer = await client.send({
    method: method.toUpperCase(),
    url: resolveUrl(client.url, url),
    resource: url,
    query: addSorters(addFilters(query, filters, url), sorters),
    ...(payload !== undefined && { body: payload }),
    headers: { ...headers },
    signal: signalOf(meta),
  });
  if (!isSuccess(answer)) throw failureOf(answer, url);
  return answer.json ?? answer.text;
}

/** A path is below the base of the resources, unless it begins with that already. */
function resolveUrl(base: string, url: string): string {
  const isWhole = /^([a-z][a-z\d+.-]*:)?\/\//i.test(url) || url === base || url.startsWith(`${base}/`);
  return isWhole ? url : `${base}/${url.replace(/^\//, '')}`;
}
