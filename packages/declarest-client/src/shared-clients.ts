/** Clients of providers. */
import { buildClient, type Client, type ClientOptions } from './client.js';
import { withoutSlash } from './paths.js';
import { pageStorage, type TokenStorage } from './token-store.js';

const globalFetch: typeof fetch = (...args) => globalThis.fetch(...args);
const storageOfPage = pageStorage();
const clients = new WeakMap<TokenStorage, WeakMap<typeof fetch, Map<string, Client>>>();

/** The client of all providers that have the same url and options, so that they share the login. */
export function sharedClient(
  url: string,
  { fetch = globalFetch, storage = storageOfPage, cookie = false }: ClientOptions,
): Client {
  const ofStorage = clients.get(storage) ?? new WeakMap<typeof globalThis.fetch, Map<string, Client>>();
  clients.set(storage, ofStorage);
  const ofFetch = ofStorage.get(fetch) ?? new Map<string, Client>();
  ofStorage.set(fetch, ofFetch);
  const base = withoutSlash(url);
  const key = JSON.stringify([base, cookie]);
  const client = ofFetch.get(key) ?? buildClient(base, { fetch, storage, cookie }, 'provider');
  ofFetch.set(key, client);
  return client;
}
