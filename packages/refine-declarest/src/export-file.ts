/** Exports a list as a file, by the server. */
import type { CrudFilter, CrudSort, MetaQuery } from '@refinedev/core';

import { failureOf } from './errors.js';
import { addFilters, addSorters } from './filters.js';
import { type Client, unreachable } from './http.js';
import { addMetaParameters, signalOf } from './meta.js';
import { resolveResource } from './resource-path.js';

export interface ExportParams {
  /** @default 'csv' */
  readonly format?: 'csv' | 'ndjson';
  readonly filters?: readonly CrudFilter[];
  readonly sorters?: readonly CrudSort[];
  /** `fields`, `deleted`, `signal`, and the values of a nested resource. */
  readonly meta?: MetaQuery;
}

export interface ExportedFile {
  readonly blob: Blob;
  /** Such as `products.csv`. */
  readonly filename: string;
}

export async function exportFile(client: Client, resource: string, params: ExportParams): Promise<ExportedFile> {
  const { format = 'csv', filters, sorters, meta } = params;
  const path = resolveResource(client.url, resource, meta, filters);
  const query = new URLSearchParams({ format });
  addMetaParameters(addSorters(addFilters(query, path.filters, resource), sorters), meta);
  const url = `${path.url}/export`;
  const answer = await client.open({ method: 'GET', url, resource, query, signal: signalOf(meta) });
  if (!(answer instanceof Response)) throw failureOf(answer, resource);
  const named = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1];
  const filename = named ?? `${path.url.slice(path.url.lastIndexOf('/') + 1)}.${format}`;
  try {
    return { blob: await answer.blob(), filename };
  } catch (cause) {
    throw unreachable(resource, url, cause);
  }
}
