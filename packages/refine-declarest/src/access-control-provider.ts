/** Hides what the server would refuse. */
import type { AccessControlProvider, BaseKey, CanParams, CanReturnType } from '@refinedev/core';
import {
  type Client,
  type ClientOptions,
  createPermissions,
  type Fields,
  isObject,
  parametersOf,
  type PermissionOptions,
  recordUrl,
  sharedClient,
} from 'declarest-client/providers';

import { resolveResource } from './resource-path.js';

/** Options of {@link accessControlProvider}. */
export interface AccessControlOptions extends ClientOptions, PermissionOptions {}

/**
 * The access-control provider of refine, which asks `accessEndpoint()` of the server, or else reads the option `document`.
 * The action `field` with `params: { field: 'cost' }` asks whether the user may read a field.
 *
 * @param url the one of the other providers, whose login counts
 *
 * @example
 * <Refine accessControlProvider={accessControlProvider(url)} />
 */
export function accessControlProvider(url: string, options: AccessControlOptions = {}): AccessControlProvider {
  const client = sharedClient(url, options);
  const mayDo = createPermissions(client, options);
  const running = new Map<string, Promise<Fields | undefined>>();

  /** Several buttons ask at the same time. */
  const read = (at: string, resource: string): Promise<Fields | undefined> => {
    const current = running.get(at) ?? readRecord(client, at, resource).finally(() => running.delete(at));
    running.set(at, current);
    return current;
  };

  const can = async ({ resource, action, params = {} }: CanParams): Promise<CanReturnType> => {
    if (resource === undefined) return { can: true };
    const { id, field } = params as { readonly id?: BaseKey; readonly field?: unknown };
    const meta: Fields = { ...params.resource?.meta, ...(params['meta'] as Fields | undefined) };
    const at = id === undefined ? undefined : recordUrlOf(client, resource, id, meta);
    const question = {
      resource,
      action: action === 'field' ? 'read' : action,
      ...(typeof field === 'string' && { field }),
      // `meta` may have more, such as the icon of the resource.
      ...(id !== undefined && { record: { ...valuesOf(resource, meta), id } }),
      ...(at !== undefined && { readRecord: () => read(at, resource) }),
    };
    return (await mayDo(question)) ? { can: true } : { can: false, reason: 'Your account may not do this.' };
  };
  return { can, options: { buttons: { enableAccessControl: true, hideIfUnauthorized: true } } };
}

/** Of the path. */
const valuesOf = (resource: string, meta: Fields): Fields =>
  Object.fromEntries(parametersOf(resource).map((name) => [name, meta[name]]));

/** `undefined` for a nested resource whose parameters are not known. */
function recordUrlOf(client: Client, resource: string, id: BaseKey, meta: object | undefined): string | undefined {
  try {
    return recordUrl(resolveResource(client, resource, meta).url, id, resource);
  } catch {
    return undefined;
  }
}

async function readRecord(client: Client, url: string, resource: string): Promise<Fields | undefined> {
  const answer = await client.send({ method: 'GET', url, resource }).catch(() => undefined);
  const { data } = (isObject(answer?.body) ? answer.body : {}) as { readonly data?: unknown };
  return isObject(data) ? data : undefined;
}
