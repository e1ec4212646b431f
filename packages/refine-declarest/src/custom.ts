/** Requests to other routes of the server. */
import type { CustomParams } from '@refinedev/core';

import { isSuccess } from './batches.js';
import { failureOf } from './errors.js';
import { addFilters, addSorters } from './filters.js';
import type { Client } from './http.js';
import { signalOf } from './meta.js';
import { below } from './resource-path.js';

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

/** A path is below the base of the resources, which it may begin with. A whole URL may lead elsewhere. */
function resolveUrl(base: string, url: string): string {
  if (url === base) return url;
  if (url.startsWith(`${base}/`)) return below(base, url.slice(base.length + 1));
  return /^([a-z][a-z\d+.-]*:)?\/\//i.test(url) ? url : below(base, url.replace(/^\//, ''));
}
