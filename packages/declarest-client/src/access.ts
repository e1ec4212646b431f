/** What the user may do, as `GET {base}/access` of the server says. */
import { failureOf, isSuccess } from './failure.js';
import { canonical, type Fields, isObject } from './json.js';
import { fillPath, recordUrl, resolveUrl, templateOf, withoutSlash } from './paths.js';
import type { Sender } from './requests.js';
import type { Claims } from './token-store.js';

/** What the user may do with a resource. Without any operation, all lists are empty. */
export interface ResourceAccess<Operation extends string = string, Field extends string = string> {
  readonly operations: readonly Operation[];
  readonly read: readonly Field[];
  readonly create: readonly Field[];
  readonly update: readonly Field[];
  /** Fields, and those of relations, such as `category.name`. */
  readonly filter: readonly string[];
  readonly sort: readonly string[];
  readonly include: readonly string[];
  /** The field that must hold the id of the user for the operations in `own`. */
  readonly owner?: Field;
  /** Operations for own records only. */
  readonly own: readonly Operation[];
  /** Operations for some records only: `can` asks the server for each. */
  readonly some: readonly Operation[];
}

export interface Access {
  /** `undefined` where the server has no such endpoint, or resources at other paths than those of the client. @throws Failure */
  find(resource: string, authUrl: string): Promise<ResourceAccess | undefined>;
  /** @throws Failure */
  can(operation: string, resource: string, record: object | undefined, authUrl: string): Promise<boolean>;
  /** Forgets what was answered. */
  clear(): void;
  /** Forgets what was answered for single records. */
  clearRecords(): void;
}

/** The parts of a client that are used. */
interface Login extends Pick<Sender, 'send'> {
  urlOf(path: string): string;
  user(authUrl: string): Promise<unknown>;
  claims(): Promise<Claims | undefined>;
  /** The same text while the claims of the token stay the same. */
  key(): string;
}

interface Listed extends ResourceAccess {
  readonly path: string;
}

interface Answered {
  readonly authenticated?: boolean;
  readonly resources?: readonly Listed[];
  readonly record?: Pick<ResourceAccess, 'operations'>;
}

const NOTHING: ResourceAccess = {
  operations: [],
  read: [],
  create: [],
  update: [],
  filter: [],
  sort: [],
  include: [],
  own: [],
  some: [],
};

const MAX_RECORDS = 1_000;

export function createAccess(login: Login): Access {
  let key: string | undefined;
  /** The access, by the url of the accounts. */
  const resources = new Map<string, Promise<Answered | undefined>>();
  /** The access to a record, by its path and content. */
  const records = new Map<string, Promise<Answered | undefined>>();
  let last: Promise<unknown> = Promise.resolve();

  const clear = (): void => {
    resources.clear();
    records.clear();
  };

  /** One request at a time. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };

  const send = async (authUrl: string, record?: string): Promise<Answered | undefined> => {
    const query = record === undefined ? undefined : new URLSearchParams({ record });
    const request = { method: 'GET', url: `${authUrl}/access`, resource: 'auth' };
    const answer = await login.send({ ...request, ...(query && { query }) });
    if (answer.status === 404) return undefined;
    if (!isSuccess(answer)) throw failureOf(answer);
    const { data } = (isObject(answer.body) ? answer.body : {}) as { readonly data?: Answered };
    return data;
  };

  /** The server ignores a token that it does not accept. This endpoint refuses it, so that the client refreshes it. */
  const ask = async (authUrl: string, record?: string): Promise<Answered | undefined> => {
    const answered = await send(authUrl, record);
    if (answered?.authenticated !== false || !(await login.claims())) return answered;
    await login.user(authUrl);
    return send(authUrl, record);
  };

  /** An answer that fails is asked for again. */
  const remember = (
    known: Map<string, Promise<Answered | undefined>>,
    name: string,
    load: () => Promise<Answered | undefined>,
  ): Promise<Answered | undefined> => {
    const answered = known.get(name) ?? inTurn(load);
    known.set(name, answered);
    answered.catch(() => known.get(name) === answered && known.delete(name));
    const [oldest] = known.size > MAX_RECORDS ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    return answered;
  };

  const find: Access['find'] = async (resource, authUrl) => {
    // The claims are those of a token that was refreshed where it had expired.
    await login.claims();
    const current = login.key();
    if (current !== key) clear();
    key = current;
    const listed = (await remember(resources, authUrl, () => ask(authUrl)))?.resources;
    if (!listed) return undefined;
    const base = withoutSlash(resolveUrl(login.urlOf('')).pathname);
    const path = templateOf(`${base}/${resource}`);
    const isBelow = (each: Listed): boolean => templateOf(each.path).startsWith(`${base}/`);
    const found = listed.find((each) => templateOf(each.path) === path);
    // A proxy may have changed the paths.
    return found ?? (listed.length === 0 || listed.some(isBelow) ? NOTHING : undefined);
  };

  const askForRecord = async (operation: string, resource: string, record: Fields, authUrl: string) => {
    const advice = (name: string): string => `Pass a record with ${name}.`;
    const url = login.urlOf(fillPath(resource, (name) => record[name], advice));
    const path = resolveUrl(recordUrl(url, record['id'], resource)).pathname;
    const name = `${authUrl} ${path} ${canonical(record)}`;
    const answered = await remember(records, name, () => ask(authUrl, path));
    return answered?.record?.operations.includes(operation) ?? false;
  };

  return {
    find,
    clear,
    clearRecords: () => records.clear(),
    can: async (operation, resource, given, authUrl) => {
      const access = await find(resource, authUrl);
      if (!access) return true;
      const { operations, owner, own, some } = access;
      if (!operations.includes(operation)) return false;
      const record = given as Fields | undefined;
      if (record?.['id'] === undefined) return true;
      const value = owner === undefined ? undefined : record[owner];
      const isOfOwner = own.includes(operation);
      if (isOfOwner && value !== undefined && String(value) !== (await login.claims())?.id) return false;
      if (!some.includes(operation) && !(isOfOwner && value === undefined)) return true;
      return askForRecord(operation, resource, record, authUrl);
    },
  };
}
