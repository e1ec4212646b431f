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
import {
  type Answer,
  changesOf,
  type ClientOptions,
  compareVersions,
  type Conflict,
  createEtags,
  createRefusals,
  dataOf,
  deletionsOf,
  Failure,
  keyNames,
  type Keys,
  MAX_RECORDS,
  readMany,
  recordUrl,
  sharedClient,
  succeed,
  withErrors,
  withKeys,
  writeMany,
} from 'declarest-client/providers';

import { sendCustom } from './custom.js';
import { toHttpError } from './errors.js';
import { notPaginated, readByCursor, readPage, readWholeList } from './lists.js';
import { exportFile, type ExportParams } from './export-file.js';
import { addFilters, addSorters } from './filters.js';
import { addMetaParameters, isInfinite, signalOf } from './meta.js';
import { resolveResource } from './resource-path.js';

/** Options of {@link dataProvider}. */
export interface DataProviderOptions extends ClientOptions {
  /**
   * The names of the primary key, of resources that have another one than `id`. Records get an `id` of its values.
   *
   * @example dataProvider(url, { keys: { countries: 'code', memberships: ['memberId', 'groupId'] } })
   */
  readonly keys?: Keys;
}

export interface ConflictParams<V = object> extends UpdateParams<V> {
  /** The record as the user saw it. */
  readonly before?: BaseRecord | undefined;
}

/** The data provider, with what the server offers beyond the methods of refine. */
export interface DeclarestDataProvider extends Required<DataProvider> {
  /**
   * Reads a record that somebody else has changed (412), and compares it with the form. The next `update` changes that
   * version.
   *
   * @example
   * const { current, fields } = await provider.readConflict({ resource: 'products', id, variables, before });
   */
  readConflict<T extends BaseRecord = BaseRecord>(params: ConflictParams): Promise<Conflict<T>>;
  /**
   * The list as a file: the response of the server, with its body unread.
   *
   * @example
   * const response = await provider.export('products', { format: 'csv' });
   * const file = await response.blob();
   */
  export(resource: string, params?: ExportParams): Promise<Response>;
}

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
  const client = withKeys(sharedClient(url, options), keys);
  const refusals = createRefusals();
  const etags = createEtags();

  const urlOf = (resource: string, meta?: MetaQuery): string => resolveResource(client, resource, meta).url;
  const urlOfRecord = (resource: string, id: BaseKey, meta?: MetaQuery): string =>
    recordUrl(urlOf(resource, meta), id, resource);

  /** The version that was read last, unless `meta.ifMatch` is `false`. Parameters of the page's URL are text in `meta`. */
  const ifMatch = (url: string, meta: MetaQuery = {}): Record<string, string> => {
    const etag = meta['ifMatch'] === false ? undefined : etags.find(url);
    return etag === undefined ? {} : { 'If-Match': etag };
  };

  const remember = <T>(url: string, answer: Answer): { data: T } => {
    const data = dataOf<T>(answer);
    etags.remember(url, data, answer);
    return { data };
  };

  const readRecords = <T extends BaseRecord>(resource: string, ids: BaseKey[], meta?: MetaQuery): Promise<T[]> => {
    const query = addMetaParameters(new URLSearchParams(), meta);
    return readMany<T>(client, refusals, { resource, url: urlOf(resource, meta), ids, query, signal: signalOf(meta) });
  };

  const methods: Omit<DeclarestDataProvider, 'getApiUrl'> = {
    getList: async <T extends BaseRecord>({ resource, pagination, sorters, filters, meta }: GetListParams) => {
      const { mode = 'server', currentPage = 1, pageSize = 10 } = pagination ?? {};
      const { url, filters: rest } = resolveResource(client, resource, meta, filters);
      const query = addSorters(addFilters(addMetaParameters(new URLSearchParams(), meta), rest, resource), sorters);
      const list = { method: 'GET', url, resource, query, signal: signalOf(meta) };
      if (mode !== 'server') {
        const data = await readWholeList<T>(client, refusals, list);
        return { data, total: data.length };
      }
      if (pageSize > MAX_RECORDS)
        throw new Failure(
          `pageSize of "${resource}" must be at most ${MAX_RECORDS}, got ${pageSize}. Use mode: 'off' to read the whole list.`,
          400,
        );
      // `useInfiniteList` continues with the cursor of the page before, where refine has the number of a page.
      const at: unknown = currentPage;
      const hasPages = !refusals.has(resource, 'page');
      if (typeof at === 'string' && !hasPages) return readByCursor<T>(client, list, pageSize, at);
      const page = hasPages ? await readPage<T>(client, list, currentPage, pageSize) : undefined;
      if (page) return { data: page.records, total: page.total ?? page.records.length };
      refusals.add(resource, 'page');
      // A table would take the first page for the whole list.
      if (!isInfinite(meta)) throw notPaginated(resource);
      return readByCursor<T>(client, list, pageSize);
    },

    getOne: async <T extends BaseRecord>({ resource, id, meta }: GetOneParams) => {
      const url = urlOfRecord(resource, id, meta);
      if (meta?.['deleted'] !== undefined) {
        // The server has hidden records in lists only.
        const [record] = await readRecords<T>(resource, [id], meta);
        if (record) return { data: record };
        throw new Failure(`"${resource}" has no record with the id ${id}, or no "id" in filterableFields.`, 404);
      }
      const query = addMetaParameters(new URLSearchParams(), meta);
      const answer = await succeed(client, { method: 'GET', url, resource, query, signal: signalOf(meta) });
      return remember<T>(url, answer);
    },

    getMany: async <T extends BaseRecord>({ resource, ids, meta }: GetManyParams) => ({
      data: await readRecords<T>(resource, ids, meta),
    }),

    create: async <T extends BaseRecord, V>({ resource, variables, meta }: CreateParams<V>) => {
      const url = urlOf(resource, meta);
      const answer = await succeed(client, { method: 'POST', url, resource, json: variables });
      const { id } = dataOf<{ readonly id: BaseKey }>(answer);
      return remember<T>(recordUrl(url, id, resource), answer);
    },

    createMany: async <T extends BaseRecord, V>({ resource, variables, meta }: CreateManyParams<V>) => {
      const url = urlOf(resource, meta);
      const data = await writeMany<unknown, T>(client, refusals, toHttpError, {
        resource,
        items: variables,
        batch: (items) => ({ method: 'POST', url: `${url}/batch`, resource, json: { items } }),
        single: (json) => ({ method: 'POST', url, resource, json }),
      });
      return { data };
    },

    update: async ({ resource, id, variables, meta }) => {
      const url = urlOfRecord(resource, id, meta);
      const headers = ifMatch(url, meta);
      return remember(url, await succeed(client, { method: 'PATCH', url, resource, json: variables, headers }));
    },

    updateMany: async <T extends BaseRecord, V>({ resource, ids, variables, meta }: UpdateManyParams<V>) => {
      const url = urlOf(resource, meta);
      const changes = changesOf({ resource, url, ids }, variables as object, keyNames(keys, resource).length === 1);
      const data = await writeMany<BaseKey, T>(client, refusals, toHttpError, changes);
      for (const id of ids) etags.forget(recordUrl(url, id, resource));
      return { data };
    },

    deleteOne: async <T extends BaseRecord, V>({ resource, id, meta }: DeleteOneParams<V>) => {
      const url = urlOfRecord(resource, id, meta);
      // A parameter of the page's URL is a member of `meta` too, as text.
      const query = new URLSearchParams(meta?.['purge'] === true ? { purge: 'true' } : {});
      await succeed(client, { method: 'DELETE', url, resource, query, headers: ifMatch(url, meta) });
      etags.forget(url);
      return { data: { id } as unknown as T };
    },

    deleteMany: async <T extends BaseRecord, V>({ resource, ids, meta }: DeleteManyParams<V>) => {
      const url = urlOf(resource, meta);
      await writeMany(client, refusals, toHttpError, deletionsOf({ resource, url, ids }));
      for (const id of ids) etags.forget(recordUrl(url, id, resource));
      return { data: ids.map((id) => ({ id }) as unknown as T) };
    },

    readConflict: async <T extends BaseRecord>({ resource, id, variables, before = {}, meta }: ConflictParams) => {
      const url = urlOfRecord(resource, id, meta);
      const answer = await succeed(client, { method: 'GET', url, resource });
      return compareVersions(before, { ...variables }, remember<T>(url, answer).data);
    },

    custom: async <T extends BaseRecord>(params: CustomParams) => ({ data: (await sendCustom(client, params)) as T }),

    export: (resource, params = {}) => exportFile(client, resource, params),
  };
  return { ...withErrors(methods, toHttpError), getApiUrl: () => client.url };
}
