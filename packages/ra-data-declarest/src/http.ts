/** Sends requests to the server, with the token of the user. */
import { isTokenRefused, noAnswer, notJson } from './errors.js';
import { createSessions, type Sessions } from './sessions.js';
import { createTokenStore, type TokenStorage, type TokenStore } from './token-store.js';

export interface HttpOptions {
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: typeof fetch;
  /** Where both providers store the login. @default `localStorage`, or memory where there is none */
  readonly storage?: TokenStorage;
}

export interface Request {
  readonly method: string;
  readonly url: string;
  /** Names the request in messages: a resource, such as `products`. */
  readonly resource: string;
  readonly query?: URLSearchParams;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: RequestInit['body'];
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly redirect?: 'error';
  /** Sent without a token, as a login is. */
  readonly isAnonymous?: boolean;
}

/** A response of any status, with its body. */
export interface Answer {
  readonly request: Request;
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body, or its text where it is not JSON; `undefined` where it is empty. */
  readonly body: unknown;
}

export interface Client {
  /** The base of the resources, without a slash at the end. */
  readonly url: string;
  readonly tokens: TokenStore;
  readonly sessions: Sessions;
  /** The response with its body unread. @throws HttpError where there is no response */
  open(request: Request): Promise<Response>;
  /** Reads the body of a response of `open`. @throws HttpError where it is HTML */
  read(request: Request, response: Response): Promise<Answer>;
  /** Does both. */
  send(request: Request): Promise<Answer>;
}

export function createClient(url: string, { fetch: fetchOption, storage }: HttpOptions): Client {
  const base = url.replace(/\/+$/, '');
  const tokens = createTokenStore(base, storage);

  /** The only place that attaches the token. All URLs are below the base, or that of the login. */
  const respond = async (request: Request, token?: string): Promise<Response> => {
    const { method, url, query, json, body, headers, signal, redirect } = request;
    const send = fetchOption ?? globalThis.fetch;
    try {
      return await send(withQuery(url, query), {
        method,
        // Fastify refuses an empty body that is declared as JSON.
        headers: {
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...(json !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(json !== undefined ? { body: JSON.stringify(json) } : body !== undefined && { body }),
        ...(signal && { signal }),
        ...(redirect && { redirect }),
      });
    } catch (cause) {
      throw failureOfFetch(request, cause);
    }
  };

  const read: Client['read'] = async (request, response) => {
    const { status, headers } = response;
    let text: string;
    try {
      text = await response.text();
    } catch (cause) {
      throw failureOfFetch(request, cause);
    }
    if (headers.get('content-type')?.startsWith('text/html')) throw notJson(request, status);
    return { request, status, headers, body: parse(text) };
  };

  const sessions = createSessions(tokens, async (request) => read(request, await respond(request)));

  /** With a session, a request whose token is refused is repeated once with another one. */
  const open: Client['open'] = async (request) => {
    if (request.isAnonymous) return respond(request);
    const token = await sessions.token();
    const response = await respond(request, token);
    if (response.status !== 401 || !tokens.read()?.session) return response;
    if (!isTokenRefused(await read(request, response.clone()))) return response;
    const other = await sessions.replace(token);
    return other === undefined ? response : respond(request, other);
  };

  return { url: base, tokens, sessions, open, read, send: async (request) => read(request, await open(request)) };
}

/** react-admin recognises requests that it cancelled itself. */
const failureOfFetch = (request: Request, cause: unknown): unknown =>
  request.signal?.aborted ? cause : noAnswer(request, cause);

/** Leaves commas and brackets as they are: the server limits the length of the query string. */
function withQuery(url: string, query?: URLSearchParams): string {
  const text = query?.toString().replaceAll(/%(?:2C|5B|5D)/g, decodeURIComponent) ?? '';
  return text === '' ? url : `${url}?${text}`;
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
