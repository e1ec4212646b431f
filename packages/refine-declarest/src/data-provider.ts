/** The data provider of refine. */
import type {
  BaseKey,
  BaseRecord,
  CreateManyParams,
  CreateParams,
  CustomParams,
  DataProvider,
  DeleteManyParams,
  DeleteOneParams,
  GetListParams,
  GetManyParams,
  GetOneParams,
  MetaQuery,
  UpdateManyParams,
  UpdateParams,
} from '@refinedev/core';

import { sendCustom } from './custom.js';
import { failureOf, httpError } from './errors.js';
import { createEtags } from './etags.js';
import { exportFile, type ExportedFile, type ExportParams } from './export-file.js';
import { addFilters, addSorters, joinList } from './filters.js';
import { type Answer, createClient, type HttpOptions, type Request } from './http.js';
import { readList } from './lists.js';
import { noMissingParts, readMany, writeMany } from './many-records.js';
import { addMetaParameters, signalOf } from './meta.js';
import { recordUrl, resolveResource } from './resource-path.js';

export interface DataProviderOptions extends HttpOptions {}

/** All methods of refine's data provider, and the export by the server. */
export type DeclarestDataProvider = Required<DataProvider> & {
  /**
   * Exports all records of a list as a file. The resource needs `enableExport`.
   *
   * @example
   * const { blob, filename } = await provider.export('products', { format: 'csv', filters });
   */
  export(resource: string, params?: ExportParams): Promise<ExportedFile>;
};

/**
 * A data provider for the resources below a URL.
 *
 * @param url the base of the resources
 * @example
 * <Refine dataProvider={dataProvider('http://localhost:3000/api')} resources={[{ name: 'products' }]} />
 */
export function dataProvider(url: string, options: DataProviderOptions = {}): DeclarestDataProvider {
  const client = createClient(url, options);
  const etags = createEtags();
  const missing = noMissingParts();

  const targetOf = (resource: string, meta: MetaQuery | undefined) => {
    const { url } = resolveResource(client.url, resource, meta);
    return { client, url, resource, meta };
  };

  /** `meta.ifMatch` replaces the ETag of the record, and `false` sends none. */
  const ifMatch = (meta: MetaQuery | undefined, remembered?: string): Record<string, string> => {
    const etag: unknown = meta?.['ifMatch'] ?? remembered;
    return typeof etag === 'string' ? { 'If-Match': etag } : {};
  };

  const readRecord = async (resource: string, id: BaseKey, meta?: MetaQuery): Promise<BaseRecord> => {
    const at = recordUrl(targetOf(resource, meta).url, id, resource);
    const query = addMetaParameters(new URLSearchParams(), { ...meta, deleted: undefined });
    const answer = await client.send({ method: 'GET', url: at, resource, query, signal: signalOf(meta) });
    const record = recordOf(answer, resource);
    etags.remember(at, answer);
    return record;
  };

  /** `undefined` for a record that does not exist. */
  const findRecord = async (resource: string, id: BaseKey, meta?: MetaQuery): Promise<BaseRecord | undefined> => {
    try {
      return await readRecord(resource, id, meta);
    } catch (error) {
      if (isMissingRecord(error)) return undefined;
      throw error;
    }
  };

  const readRecords = (resource: string, ids: readonly BaseKey[], meta?: MetaQuery): Promise<BaseRecord[]> =>
    readMany(targetOf(resource, meta), ids, missing, (id) => findRecord(resource, id, meta));

  const create = async (resource: string, body: unknown, meta?: MetaQuery): Promise<BaseRecord> => {
    const { url } = targetOf(resource, meta);
    const answer = await client.send({ method: 'POST', url, resource, body, signal: signalOf(meta) });
    const record = recordOf(answer, resource);
    if (record.id !== undefined) etags.remember(recordUrl(url, record.id, resource), answer);
    return record;
  };

  const change = async (
    method: 'PATCH' | 'DELETE',
    resource: string,
    id: BaseKey,
    { meta, body, remembered }: { meta: MetaQuery | undefined; body?: unknown; remembered: boolean },
  ): Promise<Answer> => {
    const at = recordUrl(targetOf(resource, meta).url, id, resource);
    const headers = ifMatch(meta, remembered ? etags.get(at) : undefined);
    const request: Request = { method, url: at, resource, headers, signal: signalOf(meta) };
    const answer = await client.send(body === undefined ? request : { ...request, body });
    if (answer.status >= 400) throw failureOf(answer, resource);
    etags.remember(at, answer);
    return answer;
  };

  /** Changes of many records know no versions, unless `meta.ifMatch` is given. */
  const forget = (url: string, ids: readonly BaseKey[], resource: string): void =>
    ids.forEach((id) => etags.forget(recordUrl(url, id, resource)));

  return {
    getApiUrl: () => client.url,

    getList: async <T extends BaseRecord>({ resource, pagination, sorters, filters, meta }: ListParams) => {
      const path = resolveResource(client.url, resource, meta, filters);
      const query = addSorters(addFilters(new URLSearchParams(), path.filters, resource), sorters);
      addMetaParameters(query, meta);
      const request: Request = { method: 'GET', url: path.url, resource, query, signal: signalOf(meta) };
      const { data, total, isTruncated } = await readList(client, request, pagination);
      return { data: data as T[], total, ...(isTruncated && { truncated: true }) };
    },

    getOne: async <T extends BaseRecord>({ resource, id, meta }: OneParams) => {
      // The server reads deleted records by lists only.
      if (meta?.['deleted'] === undefined) return { data: (await readRecord(resource, id, meta)) as T };
      const [record] = await readRecords(resource, [id], meta);
      if (!record) throw httpError(`"${resource}" has no record with the id ${id}.`, 404);
      return { data: record as T };
    },

    getMany: async <T extends BaseRecord>({ resource, ids, meta }: ManyParams) => ({
      data: (await readRecords(resource, ids, meta)) as T[],
    }),

    create: async <T extends BaseRecord>({ resource, variables, meta }: CreateParams) => ({
      data: (await create(resource, variables, meta)) as T,
    }),

    createMany: async <T extends BaseRecord>({ resource, variables, meta }: CreateManyParams) => {
      const single = (item: unknown): Promise<BaseRecord> => create(resource, item, meta);
      const batch = { method: 'POST' as const, body: { items: variables }, items: variables, single };
      return { data: recordsOf(await writeMany(targetOf(resource, meta), batch, missing), resource) as T[] };
    },

    update: async <T extends BaseRecord>({ resource, id, variables, meta }: UpdateParams) => {
      const answer = await change('PATCH', resource, id, { meta, body: variables, remembered: true });
      return { data: recordOf(answer, resource) as T };
    },

    updateMany: async <T extends BaseRecord>({ resource, ids, variables, meta }: UpdateManyParams) => {
      const target = targetOf(resource, meta);
      const single = async (id: BaseKey): Promise<BaseRecord> =>
        recordOf(await change('PATCH', resource, id, { meta, body: variables, remembered: false }), resource);
      const items = ids.map((id) => ({ ...(variables as object), id }));
      const batch = { method: 'PATCH' as const, body: { items }, headers: ifMatch(meta), ids, items: ids, single };
      const written = await writeMany(target, batch, missing);
      if (!Array.isArray(written)) forget(target.url, ids, resource);
      return { data: recordsOf(written, resource) as T[] };
    },

    deleteOne: async <T extends BaseRecord>({ resource, id, meta }: OneParams) => {
      await change('DELETE', resource, id, { meta, remembered: true });
      return { data: { id } as T };
    },

    deleteMany: async <T extends BaseRecord>({ resource, ids, meta }: ManyParams) => {
      const target = targetOf(resource, meta);
      const single = async (id: BaseKey): Promise<BaseRecord> => {
        await change('DELETE', resource, id, { meta, remembered: false });
        return { id };
      };
      const query = new URLSearchParams({ ids: joinList(ids) });
      const batch = { method: 'DELETE' as const, query, headers: ifMatch(meta), ids, items: ids, single };
      await writeMany(target, batch, missing);
      forget(target.url, ids, resource);
      return { data: ids.map((id) => ({ id }) as T) };
    },

    custom: async <T extends BaseRecord, Query, Payload>(params: CustomParams<Query, Payload>) => ({
      data: (await sendCustom(client, params)) as T,
    }),

    export: (resource, params = {}) => exportFile(client, resource, params),
  };
}

/** @throws HttpError where the answer is a failure, or has no record */
function recordOf(answer: Answer, resource: string): BaseRecord {
  const data = dataOf(answer, resource);
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data;
  throw noData(answer, resource);
}

function recordsOf(written: Answer | BaseRecord[], resource: string): BaseRecord[] {
  if (Array.isArray(written)) return written;
  const data = dataOf(written, resource);
  if (Array.isArray(data)) return data as BaseRecord[];
  throw noData(written, resource);
}

function dataOf(answer: Answer, resource: string): unknown {
  if (answer.status >= 400) throw failureOf(answer, resource);
  return (answer.json as { data?: unknown } | undefined)?.data;
}

const noData = ({ url, status }: Answer, resource: string) =>
  httpError(`The answer at ${url} for "${resource}" has no record in data. Check the operation on the server.`, status);
