/** Downloads the export of a list that the server makes. */
import type { CrudFilter, CrudSort, MetaQuery } from '@refinedev/core';
import { type Client, openSuccess } from 'declarest-client/providers';

import { addFilters, addSorters } from './filters.js';
import { addMetaParameters, signalOf } from './meta.js';
import { resolveResource } from './resource-path.js';

export interface ExportParams {
  /** @default 'csv' */
  readonly format?: 'csv' | 'ndjson';
  readonly filters?: readonly CrudFilter[];
  readonly sorters?: readonly CrudSort[];
  readonly meta?: MetaQuery;
}

/** @returns the response with its body unread @throws Failure */
export async function exportFile(client: Client, resource: string, params: ExportParams): Promise<Response> {
  const { format = 'csv', filters, sorters, meta } = params;
  const { url, filters: rest } = resolveResource(client, resource, meta, filters);
  const query = addSorters(
    addFilters(addMetaParameters(new URLSearchParams({ format }), meta), rest, resource),
    sorters,
  );
  const request = { method: 'GET', url: `${url}/export`, resource, query, signal: signalOf(meta) };
  return openSuccess(client, request);
}
