/** The data provider of react-admin. */
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
  failureOf,
  type Fields,
  fillPath,
  isEqual,
  isSuccess,
  keyNames,
  type Keys,
  openSuccess,
  parametersOf,
  readMany,
  recordUrl,
  type Request,
  sharedClient,
  strongEtag,
  succeed,
  withErrors,
  withKeys,
  writeMany,
} from 'declarest-client/providers';
import type {
  DataProvider,
  DeleteParams,
  GetListResult,
  GetManyParams,
  GetManyReferenceParams,
  GetOneResult,
  Identifier,
  QueryFunctionContext,
  RaRecord,
  SortPayload,
  UpdateParams,
} from 'ra-core';

import { changesBetween } from './changes.js';
import { withZones } from './date-times.js';
import { conflict, toHttpError } from './errors.js';
import { createListReader } from './lists.js';
import { hasText, listQuery, type Meta, recordQuery } from './query.js';

/** Options of {@link dataProvider}. */
export interface DataProviderOptions extends ClientOptions {
  /**
   * The names of the primary key, of resources that have another one than `id`. Records get an `id` of its values.
   *
   * @example dataProvider(url, { keys: { countries: 'code', memberships: ['memberId', 'groupId'] } })
   */
  readonly keys?: Keys;
}

export interface ExportParams {
  /** @default 'csv' */
  readonly format?: 'csv' | 'ndjson';
  readonly filter?: Fields;
  readonly sort?: SortPayload;
  readonly meta?: Meta;
  readonly signal?: AbortSignal;
}

export interface RestoreParams {
  readonly id: Identifier;
  /** Gives the values of a nested resource. */
  readonly previousData?: RaRecord;
  readonly meta?: Meta;
}

/** The file of a record, in a column of declarest-files. */
export interface FileParams {
  readonly id: Identifier;
  /** The name of the column. */
  readonly field: string;
  /** Gives the values of a nested resource, and the version that a change is for. */
  readonly previousData?: RaRecord;
  readonly meta?: Meta;
}

export interface ReadFileParams extends FileParams {
  /** Scales an image down to so many pixels, where the server can. */
  readonly width?: number | undefined;
  readonly signal?: AbortSignal;
}

export interface WriteFileParams extends FileParams {
  /** A `File` has a name for downloads. */
  readonly file: Blob;
}

/** Members of the options of `fetch`, and `json`, which is sent as the body. */
export interface CustomInit {
  /** @default 'GET' */
  readonly method?: string;
  readonly json?: unknown;
  readonly body?: NonNullable<RequestInit['body']>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The data provider, with what the server offers beyond the methods of react-admin. */
export interface DeclarestDataProvider extends DataProvider {
  /**
   * The list as a file: the response of the server, with its body unread.
   *
   * @example
   * const response = await provider.export('products', { format: 'csv', filter: { price_gte: 30 } });
   * const file = await response.blob();
   */
  export(resource: string, params?: ExportParams): Promise<Response>;
  /**
   * Reads a record that somebody else has changed (412), and compares it with the form. An `update` with `current` as
   * `previousData` then changes that version.
   *
   * @example
   * const { current, fields } = await provider.readConflict('products', { id, data, previousData });
   */
  readConflict<RecordType extends RaRecord = RaRecord>(
    resource: string,
    params: UpdateParams<RecordType>,
  ): Promise<Conflict<RecordType>>;
  /** Shows a deleted record again. @example await provider.restore('products', { id: 7 }); */
  restore<RecordType extends RaRecord = RaRecord>(
    resource: string,
    params: RestoreParams,
  ): Promise<GetOneResult<RecordType>>;
  /**
   * The file of a record: the response of the server, with its body unread.
   *
   * @example
   * const response = await provider.readFile('products', { id: 7, field: 'photo', width: 200 });
   * const image = await response.blob();
   */
  readFile(resource: string, params: ReadFileParams): Promise<Response>;
  /** Stores a file, and returns the record. @example await provider.writeFile('products', { id: 7, field: 'photo', file }); */
  writeFile<RecordType extends RaRecord = RaRecord>(
    resource: string,
    params: WriteFileParams,
  ): Promise<GetOneResult<RecordType>>;
  /** Removes a file, and returns the record. @example await provider.deleteFile('products', { id: 7, field: 'photo' }); */
  deleteFile<RecordType extends RaRecord = RaRecord>(
    resource: string,
    params: FileParams,
  ): Promise<GetOneResult<RecordType>>;
  /**
   * Sends a request to another endpoint below the url, with the token. `data` is the whole body of the response.
   *
   * @example
   * const { data } = await provider.custom<{ data: { count: number } }>('products/count');
   */
  custom<T = unknown>(path: string, init?: CustomInit): Promise<{ data: T }>;
  supportAbortSignal: true;
}

/**
 * Creates a data provider for the generated endpoints of a server.
 *
 * @param url base of the resources
 *
 * @example
 * <Admin dataProvider={dataProvider('http://localhost:3000/api')}>
 *   <Resource name="products" list={ProductList} />
 * </Admin>
 */
export function dataProvider(url: string, options: DataProviderOptions = {}): DeclarestDataProvider {
  const { keys = {} } = options;
  const client = withKeys(sharedClient(url, options), keys);
  const refusals = createRefusals();
  const etags = createEtags();
  const readList = createListReader(client, refusals);

  /** The first source that has a value for the path counts. */
  const urlOf = (resource: string, ...sources: (Fields | undefined)[]): string => {
    const valueOf = (name: string): unknown =>
      sources.map((source) => source?.[name]).find((each) => each !== undefined && each !== null);
    return client.urlOf(fillPath(resource, valueOf, (name) => `Pass it as meta: { ${name}: … }.`));
  };

  /** A record that was answered whole has an ETag. */
  const remember = <T>(recordUrl: string, answer: Answer): { data: T } => {
    const data = dataOf<T>(answer);
    etags.remember(recordUrl, data, answer);
    return { data };
  };

  /**
   * Writes a record in the version that the user saw. Records of lists have no ETag: where the server requires one, the
   * record is read again, and must have the values that the user saw.
   *
   * @param url of the record
   */
  const writeVersion = async (request: Request, seen: Fields | undefined, url = request.url): Promise<Answer> => {
    const write = (etag: string | undefined): Promise<Answer> =>
      client.send({ ...request, headers: { ...request.headers, ...(etag !== undefined && { 'If-Match': etag }) } });
    const etag = seen && etags.find(url, seen);
    const answer = await write(etag);
    if (isSuccess(answer)) return answer;
    if (answer.status !== 428 || etag !== undefined || !seen) throw failureOf(answer);
    const { resource } = request;
    const current = await succeed(client, { method: 'GET', url, resource });
    const values = dataOf<Fields>(current);
    if (Object.keys(seen).some((name) => name in values && !isEqual(seen[name], values[name])))
      throw conflict(resource);
    const version = strongEtag(current);
    // Each try would be refused.
    if (version === undefined)
      throw new Failure(
        `The answer from ${url} for "${resource}" must have an ETag, got none. Let no proxy remove it, and let the user read the version.`,
        428,
      );
    const repeated = await write(version);
    if (isSuccess(repeated)) return repeated;
    throw failureOf(repeated);
  };

  const changeFile = async <T>(
    resource: string,
    { id, field, previousData, meta = {} }: FileParams,
    change: Pick<Request, 'method' | 'query' | 'headers' | 'body'>,
  ): Promise<{ data: T }> => {
    const url = recordUrl(urlOf(resource, meta, previousData), id, resource);
    const request = { ...change, url: recordUrl(url, field, resource), resource };
    return remember(url, await writeVersion(request, previousData, url));
  };

  const getList: DataProvider['getList'] = async (resource, params) => {
    const { pagination = { page: 1, perPage: 25 }, sort, signal } = params;
    const filter: Fields = params.filter ?? {};
    const meta: Meta = params.meta ?? {};
    const query = listQuery(withoutParameters(resource, filter), sort, meta, resource);
    const base = urlOf(resource, meta, filter);
    return readList({ resource, url: hasText(filter['q']) ? `${base}/search` : base, query, signal }, pagination);
  };

  const provider: DeclarestDataProvider = {
    supportAbortSignal: true,
    getList,

    getOne: async (resource, { id, meta = {}, signal }) => {
      const url = recordUrl(urlOf(resource, meta), id, resource);
      return remember(url, await succeed(client, { method: 'GET', url, resource, query: recordQuery(meta), signal }));
    },

    getMany: async <RecordType extends RaRecord>(
      resource: string,
      { ids, meta = {}, signal }: GetManyParams<RecordType> & QueryFunctionContext,
    ) => {
      const query = listQuery({}, undefined, { ...meta, count: undefined }, resource);
      const url = urlOf(resource, meta);
      return { data: await readMany<RecordType>(client, refusals, { resource, url, ids, query, signal }) };
    },

    getManyReference: async <RecordType extends RaRecord>(
      resource: string,
      { target, id, filter, ...params }: GetManyReferenceParams,
    ): Promise<GetListResult<RecordType>> => {
      // A target is the name of a field, and never has an operator.
      const reference = parametersOf(resource).includes(target) ? id : { eq: id };
      return getList(resource, { ...params, filter: { ...(filter as Fields), [target]: reference } });
    },

    create: async (resource, { data, meta = {} }) => {
      const url = urlOf(resource, meta, data);
      const answer = await succeed(client, { method: 'POST', url, resource, json: withZones(data) });
      return remember(recordUrl(url, dataOf<RaRecord>(answer).id, resource), answer);
    },

    update: async (resource, { id, data, previousData, meta = {} }) => {
      const url = recordUrl(urlOf(resource, meta, previousData, data), id, resource);
      const json = withZones(changesBetween(previousData ?? {}, data));
      return remember(url, await writeVersion({ method: 'PATCH', url, resource, json }, previousData));
    },

    updateMany: async (resource, { ids, data, meta = {} }) => {
      const url = urlOf(resource, meta, data);
      const { id: _, ...changes } = withZones(data as Fields);
      const updates = changesOf({ resource, url, ids }, changes, keyNames(keys, resource).length === 1);
      await writeMany(client, refusals, toHttpError, updates);
      return { data: ids };
    },

    delete: async <RecordType extends RaRecord>(
      resource: string,
      { id, previousData, meta = {} }: DeleteParams<RecordType>,
    ) => {
      const url = recordUrl(urlOf(resource, meta, previousData), id, resource);
      const query = new URLSearchParams((meta as Meta).purge ? { purge: 'true' } : {});
      await writeVersion({ method: 'DELETE', url, resource, query }, previousData);
      return { data: previousData ?? ({ id } as RecordType) };
    },

    deleteMany: async (resource, { ids, meta = {} }) => {
      const url = urlOf(resource, meta);
      await writeMany(client, refusals, toHttpError, deletionsOf({ resource, url, ids }));
      return { data: ids };
    },

    restore: async (resource, { id, previousData, meta }) => {
      const url = recordUrl(urlOf(resource, meta, previousData), id, resource);
      return remember(url, await succeed(client, { method: 'POST', url: `${url}/restore`, resource }));
    },

    readConflict: async <RecordType extends RaRecord>(
      resource: string,
      { id, data, previousData, meta = {} }: UpdateParams<RecordType>,
    ) => {
      const url = recordUrl(urlOf(resource, meta, previousData, data), id, resource);
      const answer = await succeed(client, { method: 'GET', url, resource });
      return compareVersions(previousData ?? {}, data, remember<RecordType>(url, answer).data);
    },

    export: async (resource, { format = 'csv', filter = {}, sort, meta = {}, signal } = {}) => {
      const query = listQuery(withoutParameters(resource, filter), sort, meta, resource);
      query.set('format', format);
      const request = { method: 'GET', url: `${urlOf(resource, meta, filter)}/export`, resource, query, signal };
      return openSuccess(client, request);
    },

    readFile: async (resource, { id, field, width, previousData, meta = {}, signal }) => {
      const url = recordUrl(recordUrl(urlOf(resource, meta, previousData), id, resource), field, resource);
      const query = new URLSearchParams(width === undefined ? {} : { width: String(width) });
      return openSuccess(client, { method: 'GET', url, resource, query, signal });
    },

    writeFile: async (resource, { file, ...params }) => {
      const query = new URLSearchParams(file instanceof File ? { name: file.name } : {});
      // The server reads the type from the bytes. Browsers have none, or another one, for some files.
      const headers = { 'Content-Type': 'application/octet-stream' };
      return changeFile(resource, params, { method: 'PUT', query, headers, body: file });
    },

    deleteFile: async (resource, params) => changeFile(resource, params, { method: 'DELETE' }),

    custom: async <T>(path: string, { method = 'GET', ...init }: CustomInit = {}) => {
      const answer = await succeed(client, {
        ...init,
        method: method.toUpperCase(),
        url: client.urlOf(path.replace(/^\/+/, '')),
        resource: path,
      });
      return { data: answer.body as T };
    },
  };
  return withErrors(provider, toHttpError);
}

/** The values of a nested resource are in its path. */
function withoutParameters(resource: string, filter: Fields): Fields {
  const names = parametersOf(resource);
  return Object.fromEntries(Object.entries(filter).filter(([name]) => !names.includes(name)));
}
