/** Connects an interface to a service: its providers, and the resources that the user may read. */
import { createPermissions, isObject, resolveUrl, sharedClient, succeed } from 'declarest-client/providers';
import { authProvider, dataProvider, type DeclarestAuthProvider, type DeclarestDataProvider } from 'ra-data-declarest';
import { describeService, type ResourceDescription, type ServiceDescription } from 'ra-data-declarest/description';
import { createContext, useContext } from 'react';

import { withAccounts } from './accounts.js';
import { type ConnectedLogins, connectLogins, type LoginOptions } from './logins.js';

export interface ServiceOptions extends LoginOptions {
  /** The base of the resources: `https://shop.example/api`. */
  readonly url: string;
  /**
   * The description that `describeService` of `ra-data-declarest/description` makes on the server, or the OpenAPI document
   * with `addAccess`; or the URL of either, which is read with the token of the user.
   *
   * @default '/docs-json' of the origin of `url`
   */
  readonly document?: string | object;
}

export interface Service {
  readonly data: DeclarestDataProvider;
  readonly auth: DeclarestAuthProvider;
  /** What the user may read; empty before the login. */
  readonly resources: readonly ResourceDescription[];
  /** Why there is no interface for this user. */
  readonly refusal: string | undefined;
  readonly logins: ConnectedLogins;
}

const REFUSED = 'This user may not use the interface. Log in as a user whose role has access to it.';

/** @param returned the address to which a provider has sent the user back */
export function connectService({ url, document, ...options }: ServiceOptions, returned?: string): Service {
  const client = sharedClient(url, {});
  const { href, pathname } = resolveUrl(client.url);
  let resources: readonly ResourceDescription[] = [];
  let refusal: string | undefined;
  let loginName: string | undefined;
  let reading: Promise<ServiceDescription> | undefined;

  const read = async (): Promise<unknown> => {
    if (isObject(document)) return document;
    const request = {
      method: 'GET',
      url: (document as string) ?? new URL('/docs-json', href).href,
      resource: 'document',
    };
    return (await succeed(client, request)).body;
  };
  const load = (): Promise<ServiceDescription> =>
    (reading ??= read().then((body) =>
      isDescription(body) ? body : describeService(body as object, pathname.replace(/\/$/, '')),
    ));

  const keys: Record<string, readonly string[]> = {};
  const provider = dataProvider(url, { keys });
  const forForms: DeclarestDataProvider = {
    ...provider,
    create: (...params) => provider.create(...params).catch(asFormError),
    update: (...params) => provider.update(...params).catch(asFormError),
  };
  const data = withAccounts(forForms, (resource) =>
    resources.some(({ name, accounts }) => name === resource && accounts),
  );
  const auth = authProvider(url, { ...options, document: load });
  const logins = connectLogins(client, options, returned);
  const mayDo = createPermissions(client, { ...options, document: load });

  const describe = async (): Promise<void> => {
    try {
      const { resources: described } = await load();
      for (const { name, key } of described) if (key) keys[name] = key;
      const mayRead = await Promise.all(
        described.map(({ name }) => mayDo({ resource: name, action: 'list', byRules: true })),
      );
      resources = described.filter((_, index) => mayRead[index]);
      refusal = undefined;
    } catch (error) {
      reading = undefined;
      resources = [];
      refusal = (error as { readonly status?: number }).status === 403 ? REFUSED : (error as Error).message;
    }
  };

  return {
    data,
    auth: {
      ...auth,
      login: async (params) => {
        const result = await auth.login(params);
        loginName = params.username;
        return result;
      },
      // A login that has ended may be stored still: the login page finishes the other one.
      checkAuth: (params) => (logins.hasReturn ? Promise.reject({ message: false }) : auth.checkAuth(params)),
      // The next user may have another role.
      logout: (params) => {
        loginName = undefined;
        reading = undefined;
        resources = [];
        return auth.logout(params);
      },
      // After the login, the name needs no request before the first list.
      getIdentity: async (params) => {
        const claims = await client.claims();
        if (!claims || loginName === undefined) return auth.getIdentity(params);
        return { id: claims.id, fullName: loginName };
      },
      // Before the first record, the rules say enough: the server is asked what the user may do with a record.
      canAccess: (params) => {
        const { action, resource, record } = params;
        const isOfResource = resources.some(({ name }) => name === resource);
        return record === undefined && isOfResource
          ? mayDo({ action, resource, byRules: true })
          : auth.canAccess(params);
      },
      // react-admin asks for permissions once for each login, before it shows a resource.
      getPermissions: async () => {
        const isLoggedIn = await auth.checkAuth({}).then(
          () => true,
          () => false,
        );
        if (isLoggedIn) await describe();
        return auth.getPermissions();
      },
    },
    get resources() {
      return resources;
    },
    get refusal() {
      return refusal;
    },
    logins,
  };
}

/** react-admin takes a form for saved, and leaves it without a question, after a failure that has no errors. */
function asFormError(error: Error & { readonly status?: number; body?: unknown }): never {
  const serverError = error.status === 412 ? 'Somebody else has changed this record.' : error.message;
  const body: unknown = error.body;
  error.body = { errors: { root: { serverError } }, ...(isObject(body) && body) };
  throw error;
}

const isDescription = (body: unknown): body is ServiceDescription => isObject(body) && Array.isArray(body['resources']);

export const ServiceContext = createContext<Service | undefined>(undefined);

export function useService(): Service {
  const service = useContext(ServiceContext);
  if (!service)
    throw new Error('The component must be inside of AdminFor, got no such parent. Render AdminFor around it.');
  return service;
}
