/** What a user may do, as the OpenAPI document of the server says with `x-access`. */
import type { Client } from './client.js';
import { type Fields, isObject } from './json.js';
import { resolveUrl } from './paths.js';
import type { Claims } from './token-store.js';

/** Who may change the records of a resource: `owner` of the server, which the document does not say. */
export type Owners = Readonly<Record<string, string | { readonly field: string; readonly except?: readonly string[] }>>;

export interface PermissionOptions {
  /** The OpenAPI document of the server, with `addAccess`: where it is, the document, or a function that gets it. */
  readonly document?: string | object | (() => Promise<object>);
  /**
   * Resources with `owner` on the server: the field, and the roles that may change the records of others.
   *
   * @example { orders: { field: 'customerId', except: ['ADMIN'] } }
   */
  readonly owners?: Owners;
}

export interface Question {
  readonly resource: string;
  /** `list`, `show`, `create`, `edit`, `delete`, `restore`, or the last segment of a path that is read, such as `export`. */
  readonly action: string;
  /** Where it is known. Without it, the answer is that for an own record. */
  readonly record?: Fields | undefined;
}

/** Whether the server would refuse it. What the document does not say is allowed: the server decides. */
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

export function createPermissions(client: Client, { document, owners = {} }: PermissionOptions): MayDo {
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

  return async ({ resource, action, record }) => {
    const claims = await client.claims();
    const owner = owners[resource];
    const isChange = action === 'edit' || action === 'delete';
    if (owner !== undefined && record && isChange && !mayChange(owner, record, claims)) return false;
    const paths = await operations();
    if (!paths) return true;
    const base = template(resolveUrl(`${client.url}/${resource}`).pathname);
    const [method, path] = ACTIONS[action] ?? ['get', `/${action}`];
    // A resource that the document does not describe is not one of its generated endpoints.
    if (!paths.has(base)) return true;
    const operation = paths.get(`${base}${path}`)?.[method];
    return operation ? isAllowed(operation['x-access']?.access, claims) : !(action in ACTIONS);
  };
}

/** `/products/:id` and `/products/{id}` are one path. */
const template = (path: string): string => path.replaceAll(/:\w+|\{\w+\}|%7B\w+%7D/g, '{}');

const operationsOf = (document: { readonly paths?: Fields }): ReadonlyMap<string, Operations> =>
  new Map(Object.entries(document.paths ?? {}).map(([path, item]) => [template(path), item as Operations]));

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
