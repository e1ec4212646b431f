/** The client of a server: the login of a user, and requests with its token. */
import { createAccess, type ResourceAccess } from './access.js';
import { createRequests } from './client-requests.js';
import type { Requests } from './document-requests.js';
import type { AnyPaths, BaseOf, FieldName, OperationName, ResourceName } from './document-types.js';
import { dataOf, Failure, isTokenRefused, succeed } from './failure.js';
import { createLogins, type Logins } from './logins.js';
import { accountUrlOf, isBelow, withoutSlash } from './paths.js';
import { isStream, type Request, type Sender } from './requests.js';
import { createSessions } from './sessions.js';
import {
  type Claims,
  claimsText,
  createTokenStore,
  pageStorage,
  readClaims,
  type TokenStorage,
} from './token-store.js';
import { createTransport } from './transport.js';

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: typeof fetch;
  /** Where the login is stored. @default `localStorage`, or memory where there is none */
  readonly storage?: TokenStorage;
  /**
   * Whether a server of another origin has the refresh token in a cookie, as with `sessions({ cookie: true })`. At the same
   * origin, the client finds it out by the answer of the login.
   *
   * @default false
   */
  readonly cookie?: boolean;
}

/**
 * A client of one server. It sends the token of the user, and refreshes it.
 *
 * @typeParam Paths what openapi-typescript makes of the document, for what `request`, `can` and `access` take and return
 * @typeParam Base the path of the resources in the document
 */
export interface Client<Paths extends object = AnyPaths, Base extends string = BaseOf<Paths>> extends Sender, Logins {
  /** The base of the resources, without a slash at the end. */
  readonly url: string;
  /** The user of the token, as `/me` says. @throws Failure */
  user<T = unknown>(authUrl?: string, signal?: AbortSignal): Promise<T>;
  /**
   * Calls the listener when the server refuses the login, not for a visitor without one. The client keeps it until `logout`,
   * so that a page can keep its form, log in again, and send the change then.
   *
   * @returns a function that removes the listener
   */
  onSessionEnd(listener: () => void): () => void;
  /**
   * Whether a page must not log out where the server refuses the login: it calls such a listener, or the server has refused a
   * change, whose form is still there.
   */
  readonly keepsRefusedLogin: boolean;
  /** Removes the login, and ends its session on the server if that can be reached. */
  logout(): Promise<void>;
  /** Removes the login, without a request. */
  forget(): void;
  /** The token for requests of your own, refreshed if it expires soon. @throws Failure where that fails for now */
  token(): Promise<string | undefined>;
  /** The claims of the login; `undefined` where the user must log in. A login that has ended is kept where it was used. */
  claims(): Promise<Claims | undefined>;
  /**
   * Whether the user may call an operation, as the server says where it has `accessEndpoint()`. Without it, and for
   * resources that lie at other paths than those of the client, the answer is `true`: the server decides.
   *
   * The answers are kept for the login. One of a record is kept until this client changes something, or the record is another.
   *
   * @param record where it is known, with its `id` and the values of the path. Without it, the answer is that for an own record
   * @param authUrl of the endpoints of `AuthModule`. @default `<url>/auth`
   * @throws Failure
   *
   * @example
   * if (await client.can('update', 'orders', order)) showForm(order);
   */
  can<Resource extends ResourceName<Paths, Base>>(
    operation: OperationName<Paths, Base, Resource>,
    resource: Resource,
    record?: object,
    authUrl?: string,
  ): Promise<boolean>;
  /**
   * The operations, fields, filters and sorts of a resource that the user may use.
   *
   * @returns `undefined` where the server has no `accessEndpoint()`, or resources at other paths than those of the client
   * @throws Failure
   *
   * @example
   * const { read = [] } = (await client.access('orders')) ?? {};
   */
  access<Resource extends ResourceName<Paths, Base>>(
    resource: Resource,
    authUrl?: string,
  ): Promise<ResourceAccess<OperationName<Paths, Base, Resource>, FieldName<Paths, Base, Resource>> | undefined>;
  /**
   * Sends a request to a path below the url. With the types of a document, it takes the paths, parameters and bodies of that,
   * and a batch with `atomic: false` has an answer of its own.
   *
   * @returns the body of the response
   * @throws Failure
   *
   * @example
   * const { data: product } = await client.request('GET', 'products/:id', { params: { id: 7 } });
   * await client.request('PATCH', 'products/:id', { params: { id: 7 }, json: { price: 5 }, seen: product });
   */
  readonly request: Requests<Paths, Base>['request'];
  /**
   * As `request`, for files.
   *
   * @returns the response with its body unread
   * @throws Failure
   *
   * @example
   * const response = await client.stream('GET', 'products/export', { query: { format: 'csv' } });
   * const file = await response.blob();
   */
  readonly stream: Requests<Paths, Base>['stream'];
  /**
   * As `request`, for NDJSON: the records of an export, or what became of the lines of an import (`ImportResult`), as they
   * arrive. Leaving the loop ends the request.
   *
   * @throws Failure, also where the response ends early
   *
   * @example
   * for await (const product of client.lines('GET', 'products/export', { query: { format: 'ndjson' } })) print(product);
   *
   * @example
   * const headers = { 'Content-Type': 'text/csv' };
   * const results = client.lines('POST', 'products/import', { query: { atomic: false }, headers, body: file });
   * for await (const { line, message } of results) if (message) report(line, message);
   */
  readonly lines: Requests<Paths, Base>['lines'];
  /** The URL of a path. @throws Failure where it is not below the url of the client */
  urlOf(path: string): string;
}

/**
 * Creates a client with a login of its own.
 *
 * @param url base of the resources
 *
 * @example
 * const client = createClient('https://shop.example/api');
 * await client.login({ email: 'ann@shop.example', password });
 *
 * @example
 * // `openapi-typescript` has written the types of the document.
 * const client = createClient<paths>('https://shop.example/api');
 */
export const createClient = <Paths extends object = AnyPaths, Base extends string = BaseOf<Paths>>(
  url: string,
  options: ClientOptions = {},
): Client<Paths, Base> => buildClient(url, options, 'client') as unknown as Client<Paths, Base>;

const failureOfStream = ({ resource }: Request): Failure =>
  new Failure(`The token was replaced while "${resource}" was sent. Send it again, with another stream.`, 401);

/** @param owner of the url, for messages */
export function buildClient(
  url: string,
  { fetch = (...args) => globalThis.fetch(...args), storage = pageStorage(), cookie = false }: ClientOptions,
  owner: 'client' | 'provider',
): Client {
  const base = withoutSlash(url);
  const tokens = createTokenStore(base, storage);

  const { respond, read, readLines } = createTransport(fetch, owner);
  const sessions = createSessions(tokens, async (request) => read(request, await respond(request)), cookie);

  const listeners = new Set<() => void>();
  /** The access token with which a change was refused. */
  let unsaved: string | undefined;
  /** Whether this client had a login that was valid. */
  let isInUse = false;
  /** Another page may have removed the login. A visitor who has never logged in has none to keep. */
  const hadLogin = (): boolean => isInUse || tokens.read() !== undefined;

  const isRefused = async (request: Request, response: Response): Promise<boolean> =>
    response.status === 401 && isTokenRefused(await read(request, response.clone()));

  /** With a session, a request whose token is refused is repeated once with another one. */
  const repeatRefused: Client['open'] = async (request) => {
    if (request.isAnonymous) return respond(request);
    const token = await sessions.token();
    const first = await respond(request, token);
    if (!(await isRefused(request, first))) return first;
    const other = await sessions.replace(token);
    if (other !== undefined && isStream(request.body)) throw failureOfStream(request);
    const response = other === undefined ? first : await respond(request, other);
    if (other === undefined || (await isRefused(request, response))) {
      if (request.method !== 'GET') unsaved = tokens.read()?.token;
      if (hadLogin()) for (const listener of listeners) listener();
    }
    return response;
  };

  const open: Client['open'] = async (request) => {
    const response = await repeatRefused(request);
    if (request.method !== 'GET' && response.ok) access.clearRecords();
    return response;
  };

  const sender: Sender = { open, read, send: async (request) => read(request, await open(request)) };

  const urlOf = (path: string): string => {
    if (isBelow(base, path)) return `${base}/${path}`;
    throw new Failure(`The path ${JSON.stringify(path)} must stay below the url of the ${owner}. Leave out "..".`, 400);
  };

  const accountUrl = (authUrl?: string): string => accountUrlOf(base, authUrl);

  const user = async <T>(authUrl?: string, signal?: AbortSignal): Promise<T> => {
    const url = `${accountUrl(authUrl)}/me`;
    const answer = await succeed(sender, { method: 'GET', url, resource: 'auth', signal });
    return dataOf<{ readonly user: T }>(answer, 'authUrl').user;
  };

  const claims = async (): Promise<Claims | undefined> => {
    // A refresh that fails does not end the login.
    await sessions.token().catch(() => undefined);
    const found = readClaims(tokens.read());
    if (!found) return undefined;
    isInUse ||= !found.isExpired && !sessions.hasEnded();
    const { isExpired: _, ...rest } = found;
    return isInUse ? rest : undefined;
  };

  const access = createAccess({ send: sender.send, urlOf, user, claims, key: () => claimsText(tokens.read()) });
  const onLogin = (): void => {
    isInUse = true;
    access.clear();
  };

  return {
    ...sender,
    ...createLogins({ sender, sessions, cookie, accountUrl, onLogin }),
    url: base,
    urlOf,
    user,
    can: (operation, resource, record, authUrl) => access.can(operation, resource, record, accountUrl(authUrl)),
    access: (resource, authUrl) => access.find(resource, accountUrl(authUrl)),
    onSessionEnd: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    get keepsRefusedLogin() {
      return (listeners.size > 0 && hadLogin()) || (unsaved !== undefined && tokens.read()?.token === unsaved);
    },
    logout: async () => {
      // A front end logs out where a page is opened with a login that has ended. Other pages may still have a form.
      const isOver = !isInUse && sessions.hasEnded();
      isInUse = false;
      access.clear();
      if (!isOver) await sessions.end();
    },
    forget: () => {
      isInUse = false;
      access.clear();
      tokens.clear();
    },
    token: () => sessions.token(),
    claims,
    ...createRequests({ sender, readLines, urlOf }),
  };
}
