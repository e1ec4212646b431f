/** Hides what the access rules of the server would refuse. */
import type { AccessControlProvider, BaseKey, CanParams, CanReturnType } from '@refinedev/core';
import {
  type Client,
  type ClientOptions,
  createPermissions,
  type Fields,
  isObject,
  type PermissionOptions,
  recordUrl,
  sharedClient,
} from 'declarest-client/providers';

import { resolveResource } from './resource-path.js';

/** Options of {@link accessControlProvider}. */
export interface AccessControlOptions extends ClientOptions, PermissionOptions {}

/**
 * The access-control provider of refine. Resources of `owners` are read to compare the owner: buttons know the id only.
 *
 * @param url the one of the other providers, whose login counts
 *
 * @example
 * <Refine accessControlProvider={accessControlProvider(url, { document: 'https://shop.example/docs-json' })} />
 */
export function accessControlProvider(url: string, options: AccessControlOptions): AccessControlProvider {
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
    const { id } = params;
    const isOfOwner = options.owners?.[resource] !== undefined && (action === 'edit' || action === 'delete');
    const at = isOfOwner && id !== undefined ? recordUrlOf(client, resource, id, params.resource?.meta) : undefined;
    const record = at === undefined ? undefined : await read(at, resource);
    return (await mayDo({ resource, action, record }))
      ? { can: true }
      : { can: false, reason: 'Your account may not do this.' };
  };
  return { can, options: { buttons: { enableAccessControl: true, hideIfUnauthorized: true } } };
}

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
