/** What a user may do, as `GET {base}/access` of the server says, or else its OpenAPI document with `x-access`. */
import type { ResourceAccess } from './access.js';
import type { Client } from './client.js';
import { type Fields, isObject } from './json.js';
import { accountUrlOf, resolveUrl, templateOf } from './paths.js';
import type { Claims } from './token-store.js';

/** Who may change the records of a resource: `owner` of the server, which the document does not say. */
export type Owners = Readonly<Record<string, string | { readonly field: string; readonly except?: readonly string[] }>>;

export interface PermissionOptions {
  /** The url of the account endpoints: origin and `authBasePath` of the server. @default `<url>/auth` */
  readonly authUrl?: string;
  /**
   * The OpenAPI document of the server, with `addAccess`: where it is, the document, or a function that gets it. It says
   * what the server does not answer itself: without `accessEndpoint()`, for which the server is then not asked, and for
   * routes that are written by hand.
   */
  readonly document?: string | object | (() => Promise<object>);
  /**
   * Resources with `owner` on a server without `accessEndpoint()`: the field, and the roles that may change the records of
   * others.
   *
   * @example { orders: { field: 'customerId', except: ['ADMIN'] } }
   */
  readonly owners?: Owners;
}

export interface Question {
  readonly resource: string;
  /** `list`, `show`, `create`, `edit`, `delete`, `clone`, or the name of an operation, such as `restore` or `export`. */
  readonly action: string;
  /** A field that the user wants to `read` or `write`. */
  readonly field?: string | undefined;
  /** Where it is known, at least its `id`. Without it, the answer is that for an own record. */
  readonly record?: Fields | undefined;
  /** Whether the document alone answers, without a request to `accessEndpoint()`. */
  readonly byRules?: boolean;
  /** Reads the whole record, where a front end knows its id only. */
  readonly readRecord?: () => Promise<Fields | undefined>;
}

/** Whether the server would allow it. What neither the server nor the document says is allowed: the server decides. */
export type MayDo = (question: Question) => Promise<boolean>;

type Operations = Readonly<Record<string, { readonly 'x-access'?: { readonly access?: unknown } } | undefined>>;

/** Method and path below the resource, as front ends name actions. */
const ACTIONS: Readonly<Record<string, readonly [method: string, path: string]>> = {
  list: ['get', ''],
  show: ['get', '/{}'],
  create: ['post', ''],
  edit: ['patch', '/{}'],
  delete: ['delete', '/{}'],
  clone: ['post', ''],
  restore: ['post', '/{}/restore'],
};

const OPERATIONS: Readonly<Record<string, string>> = {
  list: 'findAll',
  show: 'findById',
  edit: 'patch',
  clone: 'create',
  read: 'findAll',
  write: 'patch',
};

export function createPermissions(client: Client, options: PermissionOptions): MayDo {
  const { mayDo, lacks } = readDocument(client, options);
  const { document, authUrl } = options;
  const endpoint = `${accountUrlOf(client.url, authUrl)}/access`;
  return async (question) => {
    const { resource, action, field, record, byRules } = question;
    try {
      if (byRules || (await lacks(endpoint))) return await mayDo(question);
      const access = await client.access(resource, authUrl);
      // A resource without operations may be one that is written by hand.
      if (!access || (access.operations.length === 0 && document !== undefined)) return await mayDo(question);
      if (field !== undefined) return mayUse(field, action, access, record);
      return await client.can(OPERATIONS[action] ?? action, resource, record, authUrl);
    } catch {
      return mayDo(question);
    }
  };
}

/** A member of an embedded object or of an included relation belongs to a field: `category.name`. */
function mayUse(field: string, action: string, access: ResourceAccess, record: Fields | undefined): boolean {
  const written = record?.['id'] === undefined ? access.create : access.update;
  const names = action === 'write' ? written : [...access.read, ...access.include];
  return names.some((name) => name === field || isPart(field, name) || isPart(name, field));
}

const isPart = (name: string, whole: string): boolean => name.startsWith(`${whole}.`);

interface DocumentReader {
  /** Answers from the document alone. */
  readonly mayDo: MayDo;
  /** Whether there is a document, and it does not have the path of the url. */
  lacks(url: string): Promise<boolean>;
}

function readDocument(client: Client, { document, owners = {} }: PermissionOptions): DocumentReader {
  let read: Promise<ReadonlyMap<string, Operations> | undefined> | undefined;

  const load = async (): Promise<ReadonlyMap<string, Operations> | undefined> => {
    if (document === undefined) return undefined;
    if (typeof document === 'object') return operationsOf(document);
    if (typeof document === 'function') return operationsOf(await document());
    const { body } = await client.send({ method: 'GET', url: document, resource: 'document', isAnonymous: true });
    return isObject(body) ? operationsOf(body) : undefined;
  };

  /** A document that cannot be read is tried again with the next question. */
  const operations = async (): Promise<ReadonlyMap<string, Operations> | undefined> => {
    read ??= load();
    const current = read;
    const found = await current.catch(() => undefined);
    if (!found && read === current) read = undefined;
    return found;
  };

  const lacks = async (url: string): Promise<boolean> => {
    const paths = await operations();
    return paths !== undefined && !paths.has(templateOf(resolveUrl(url).pathname));
  };

  const mayDo: MayDo = async ({ resource, action, field, record, readRecord }) => {
    // The document says what a record may have, and not who reads or writes it.
    if (field !== undefined) return true;
    const claims = await client.claims();
    const owner = owners[resource];
    const isChange = action === 'edit' || action === 'delete';
    if (owner !== undefined && isChange) {
      const whole = (await readRecord?.()) ?? record;
      if (whole && !mayChange(owner, whole, claims)) return false;
    }
    const paths = await operations();
    if (!paths) return true;
    const base = templateOf(resolveUrl(`${client.url}/${resource}`).pathname);
    const [method, path] = ACTIONS[action] ?? ['get', `/${action}`];
    // A resource that the document does not describe is not one of its generated endpoints.
    if (!paths.has(base)) return true;
    const own = [`${base}/{}/${action}`, `${base}/${action}`]
      .flatMap((each) => Object.values(paths.get(each) ?? {}))
      .find((each) => each?.['x-access']);
    const operation = paths.get(`${base}${path}`)?.[method] ?? own;
    return operation ? isAllowed(operation['x-access']?.access, claims) : !(action in ACTIONS);
  };
  return { mayDo, lacks };
}

const operationsOf = (document: { readonly paths?: Fields }): ReadonlyMap<string, Operations> =>
  new Map(Object.entries(document.paths ?? {}).map(([path, item]) => [templateOf(path), item as Operations]));

const NAME = /(policy )?("(?:\\.|[^"\\])*"|[\w.:@/-]+)(, and | or |$)/g;

/** `ADMIN or STAFF, and policy owner`: each part must hold; policies are known to the server only. */
function isAllowed(access: unknown, claims: Claims | undefined): boolean {
  if (typeof access !== 'string' || access === 'public') return true;
  if (access === 'nobody' || !claims) return false;
  if (access === 'any token') return true;
  let holds = false;
  for (const [, policy, name = '', end] of access.matchAll(NAME)) {
    holds ||= policy !== undefined || claims.roles.includes(name.startsWith('"') ? (JSON.parse(name) as string) : name);
    if (end === ' or ') continue;
    if (!holds) return false;
    holds = false;
  }
  return true;
}

function mayChange(owner: Owners[string], record: Fields, claims: Claims | undefined): boolean {
  const { field, except = [] } = typeof owner === 'string' ? { field: owner } : owner;
  // A list may not have the field.
  if (!claims || record[field] === undefined) return claims !== undefined;
  return String(record[field]) === claims.id || except.some((role) => claims.roles.includes(role));
}
