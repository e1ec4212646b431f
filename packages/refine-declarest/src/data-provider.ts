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
} from '@refinedev/core';

import { dataOf, isSuccess, readMany, writeMany } from './batches.js';
import { sendCustom } from './custom.js';
import { failureOf, httpError } from './errors.js';
import { createEtags } from './etags.js';
import { MAX_RECORDS, notPaginated, readPage, readWholeList } from './lists.js';
import { exportFile, type ExportParams } from './export-file.js';
import { addFilters, addSorters, joinList } from './filters.js';
import { type Answer, createClient, type HttpOptions, type Request } from './http.js';
import { keyNames, type Keys, withKeys } from './keys.js';
import { addMetaParameters, signalOf } from './meta.js';
import { createRefusals } from './refusals.js';
import { recordUrl, resolveResource } from './resource-path.js';

/** Options of {@link dataProvider}. */
export interface DataProviderOptions extends HttpOptions {
  /**
   * The names of the primary key, of resources that have another one than `id`. Records get an `id` of its values.
   *
   * @example dataProvider(url, { keys: { countries: 'code', memberships: ['memberId', 'groupId'] } })
   */
  readonly keys?: Keys;
}

/** The data provider, with what the server offers beyond the methods of refine. */
export interface DeclarestDataProvider extends Required<DataProvider> {
  /**
   * The list as a file: the response of the server, with its body unread.
   *
   * @example
   * const response = await provider.export('products', { format: 'csv' });
   * const file = await response.blob();
   */
  export(resource: string, params?: ExportParams): Promise<Response>;
}

/** A change of many records holds whatever their versions are. */
const ANY_VERSION = { 'If-Match': '*' };

/**
 * Creates a data provider for the generated endpoints of a server.
 *
 * @param url base of the resources
 *
 * @example
 * <Refine dataProvider={dataProvider('http://localhost:3000/api')} resources={[{ name: 'products' }]} />
 */
export function dataProvider(url: string, options: DataProviderOptions = {}): DeclarestDataProvider {
  const { keys = {} } = options;
  const client = withKeys(createClient(url, options), keys);
  const refusals = createRefusals();
  const etags = createEtags();

  const urlOf = (resource: string, meta?: MetaQuery): string => resolveResource(client.url, resource, meta).url;
  const urlOfRecord = (resource: string, id: BaseKey, meta?: MetaQuery): string =>
    recordUrl(urlOf(resource, meta), id, resource);

  const succeed = async (request: Request): Promise<Answer> => {
    const answer = await client.send(request);
    if (isSuccess(answer)) return answer;
    throw failureOf(answer, request.resource);
  };

  /** The version that was read last, unless `meta.ifMatch` is `false`. Parameters of the page's URL are text in `meta`. */
  const ifMatch = (url: string, meta: MetaQuery = {}): Record<string, string> => {
    const etag = meta['ifMatch'] === false ? undefined : etags.get(url);
    return etag === undefined ? {} : { 'If-Match': etag };
  };

  const remember = <T>(url: string, answer: Answer, resource: string): { data: T } => {
    etags.remember(url, answer);
    return { data: dataOf<T>(answer, resource) };
  };

  const readRecords = <T extends BaseRecord>(resource: string, ids: BaseKey[], meta?: MetaQuery): Promise<T[]> => {
    const query = addMetaParameters(new URLSearchParams(), meta);
    return readMany<T>(client, refusals, { resource, url: urlOf(resource, meta), ids, query, signal: signalOf(meta) });
  };

  return {
    getApiUrl: () => client.url,

    getList: async <T extends BaseRecord>({ resource, pagination, sorters, filters, meta }: GetListParams) => {
      const { mode = 'server', currentPage = 1, pageSize = 10 } = pagination ?? {};
      const { url, filters: rest } = resolveResource(client.url, resource, meta, filters);
      const query = addSorters(addFilters(addMetaParameters(new URLSearchParams(), meta), rest, resource), sorters);
      const list = { method: 'GET', url, resource, query, signal: signalOf(meta) };
      if (mode !== 'server') {
        const data = await readWholeList<T>(client, refusals, list);
        return { data, total: data.length };
      }
      if (pageSize > MAX_RECORDS)
        throw httpError(
          `pageSize of "${resource}" must be at most ${MAX_RECORDS}, got ${pageSize}. Use mode: 'off' to read the whole list.`,
          400,
        );
      const page = await readPage<T>(client, list, currentPage, pageSize);
      if (!page) throw notPaginated(resource);
      return { data: page.records, total: page.total ?? page.records.length };
    },

    getOne: async <T extends BaseRecord>({ resource, id, meta }: GetOneParams) => {
      const url = urlOfRecord(resource, id, meta);
      if (meta?.['deleted'] !== undefined) {
        // The server has hidden records in lists only.
        const [record] = await readRecords<T>(resource, [id], meta);
        if (record) return { data: record };
        throw httpError(`"${resource}" has no record with the id ${id}, or no "id" in filterableFields.`, 404);
      }
      const query = addMetaParameters(new URLSearchParams(), meta);
      const answer = await succeed({ method: 'GET', url, resource, query, signal: signalOf(meta) });
      return remember<T>(url, answer, resource);
    },

    getMany: async <T extends BaseRecord>({ resource, ids, meta }: GetManyParams) => ({
      data: await readRecords<T>(resource, ids, meta),
    }),

    create: async <T extends BaseRecord, V>({ resource, variables, meta }: CreateParams<V>) => {
      const url = urlOf(resource, meta);
      const answer = await succeed({ method: 'POST', url, resource, body: variables });
      const { id } = dataOf<{ readonly id: BaseKey }>(answer, resource);
      return remember<T>(recordUrl(url, id, resource), answer, resource);
    },

    createMany: async <T extends BaseRecord, V>({ resource, variables, meta }: CreateManyParams<V>) => {
      const url = urlOf(resource, meta);
      const data = await writeMany<unknown, T>(client, refusals, {
        resource,
        items: variables,
        batch: (items) => ({ method: 'POST', url: `${url}/batch`, resource, body: { items } }),
        single: (body) => ({ method: 'POST', url, resource, body }),
      });
      return { data };
    },

    update: async ({ resource, id, variables, meta }) => {
      const url = urlOfRecord(resource, id, meta);
      const headers = ifMatch(url, meta);
      return remember(url, await succeed({ method: 'PATCH', url, resource, body: variables, headers }), resource);
    },

    updateMany: async <T extends BaseRecord, V>({ resource, ids, variables, meta }: UpdateManyParams<V>) => {
      const url = urlOf(resource, meta);
      const data = await writeMany<BaseKey, T>(client, refusals, {
        resource,
        items: ids,
        ids,
        // The text of a key of several columns does not tell numbers from texts.
        batch:
          keyNames(keys, resource).length === 1 &&
          ((items) => {
            const body = { items: items.map((id) => ({ ...(variables as object), id })) };
            return { method: 'PATCH', url: `${url}/batch`, resource, body, headers: ANY_VERSION };
          }),
        single: (id) => {
          const target = recordUrl(url, id, resource);
          return { method: 'PATCH', url: target, resource, body: variables, headers: ANY_VERSION };
        },
      });
      for (const id of ids) etags.forget(recordUrl(url, id, resource));
      return { data };
    },

    deleteOne: async <T extends BaseRecord, V>({ resource, id, meta }: DeleteOneParams<V>) => {
      const url = urlOfRecord(resource, id, meta);
      // A parameter of the page's URL is a member of `meta` too, as text.
      const query = new URLSearchParams(meta?.['purge'] === true ? { purge: 'true' } : {});
      await succeed({ method: 'DELETE', url, resource, query, headers: ifMatch(url, meta) });
      etags.forget(url);
      return { data: { id } as unknown as T };
    },

    deleteMany: async <T extends BaseRecord, V>({ resource, ids, meta }: DeleteManyParams<V>) => {
      const url = urlOf(resource, meta);
      await writeMany(client, refusals, {
        resource,
        items: ids,
        ids,
        batch: (items) => {
          const query = new URLSearchParams({ ids: joinList(items) });
          return { method: 'DELETE', url: `${url}/batch`, resource, query, headers: ANY_VERSION };
        },
        single: (id) => ({ method: 'DELETE', url: recordUrl(url, id, resource), resource, headers: ANY_VERSION }),
      });
      for (const id of ids) etags.forget(recordUrl(url, id, resource));
      return { data: ids.map((id) => ({ id }) as unknown as T) };
    },

    custom: async <T extends BaseRecord>(params: CustomParams) => ({ data: (await sendCustom(client, params)) as T }),

    export: (resource, params = {}) => exportFile(client, resource, params),
  };
}
