/** Requests to other routes of the server. */
import type { CustomParams } from '@refinedev/core';
import { type Client, resolveUrl, succeed } from 'declarest-client/providers';

import { addFilters, addSorters } from './filters.js';
import { signalOf } from './meta.js';

/** @returns the whole body */
export async function sendCustom(client: Client, params: CustomParams): Promise<unknown> {
  const { url, method, filters = [], sorters, payload, query: values, headers, meta } = params;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values ?? {})) if (value !== undefined) query.set(name, String(value));
  const target = urlOf(client, url);
  const { body } = await succeed(client, {
    method: method.toUpperCase(),
    url: target,
    resource: url,
    query: addSorters(addFilters(query, filters, url), sorters),
    ...(payload !== undefined && { json: payload }),
    headers: { ...headers },
    signal: signalOf(meta),
    // The token is for the server of the provider only.
    isAnonymous: resolveUrl(target).origin !== resolveUrl(client.url).origin,
  });
  return body ?? '';
}

/** A path is below the base of the resources, which it may begin with. A whole URL may lead elsewhere. */
function urlOf(client: Client, url: string): string {
  if (url === client.url) return url;
  if (url.startsWith(`${client.url}/`)) return client.urlOf(url.slice(client.url.length + 1));
  return /^([a-z][a-z\d+.-]*:)?\/\//i.test(url) ? url : client.urlOf(url.replace(/^\//, ''));
}
