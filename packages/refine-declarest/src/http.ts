/** Sends requests to the server, with the token of the user. */
import { httpError, isTokenRefused } from './errors.js';
import { createSessions, type Sessions } from './sessions.js';
import { createTokenStore, type TokenStorage, type TokenStore } from './token-store.js';

export interface HttpOptions {
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: typeof fetch;
  /** Where the login is stored. @default `localStorage`, or memory where there is none */
  readonly storage?: TokenStorage;
}

export interface Request {
  readonly method: string;
  /** Absolute, or as `fetch` resolves it. */
  readonly url: string;
  /** Names the request in messages: a resource, such as `products`. */
  readonly resource: string;
  readonly query?: URLSearchParams;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly redirect?: 'error';
}

/** An answer of any status. */
export interface Answer {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; `undefined` where it is empty or not JSON. */
  readonly json: unknown;
  readonly text: string;
}

export interface Client {
  /** Without a slash at the end. */
  readonly url: string;
  readonly tokens: TokenStore;
  readonly sessions: Sessions;
  /** @throws HttpError without an answer, or where it is HTML */
  send(request: Request): Promise<Answer>;
  /** The answer with its body unread, where it is a success. */
  open(request: Request): Promise<Response | Answer>;
}

/** @param url the base of the resources */
export function createClient(url: string, { fetch: fetchOption, storage }: HttpOptions): Client {
  const base = url.replace(/\/+$/, '');
  const tokens = createTokenStore(base, storage);

  const respond = async (request: Request, token?: string): Promise<Response> => {
    const { method, url, resource, query, body, headers, signal, redirect } = request;
    const send = fetchOption ?? globalThis.fetch;
    try {
      return await send(withQuery(url, query), {
        method,
        // Fastify refuses an empty body that is declared as JSON.
        headers: {
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
        ...(redirect && { redirect }),
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw unreachable(resource, url, cause);
    }
  };

  const read = async (response: Response, { method, url, resource, signal }: Request): Promise<Answer> => {
    const { status, headers } = response;
    let text: string;
    try {
      text = await response.text();
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw unreachable(resource, url, cause);
    }
    if (headers.get('content-type')?.startsWith('text/html'))
      throw httpError(
        `The server answered with HTML at ${url} for "${resource}", expected JSON. Check the url of the provider.`,
        status,
      );
    return { method, url, status, headers, json: parseJson(text), text };
  };

  const sessions = createSessions(tokens, async (request) => read(await respond(request), request));

  /**
   * The only place that attaches the token. It goes to the server of the provider and to no other. With a session, a request
   * whose token is refused is repeated once with another one.
   */
  const respondToUser = async (request: Request): Promise<Response> => {
    if (originOf(request.url) !== originOf(base)) return respond(request);
    const token = await sessions.token();
    const response = await respond(request, token);
    if (response.status !== 401 || !tokens.read()?.session) return response;
    if (!isTokenRefused(await read(response.clone(), request))) return response;
    const other = await sessions.replace(token);
    return other === undefined ? response : respond(request, other);
  };

  return {
    url: base,
    tokens,
    sessions,
    send: async (request) => read(await respondToUser(request), request),
    open: async (request) => {
      const response = await respondToUser(request);
      return response.ok ? response : read(response, request);
    },
  };
}

export const unreachable = (resource: string, url: string, cause: unknown) =>
  httpError(
    `No answer from ${url} for "${resource}" (${cause instanceof Error ? cause.message : String(cause)}). Check that the server runs, and its CORS settings where it has another origin.`,
    0,
  );

/** Relative URLs belong to the page. */
function originOf(url: string): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  return new URL(url, location?.href ?? 'http://localhost').origin;
}

/** Commas are left as they are, because the server limits the length of the query string. */
function withQuery(url: string, query?: URLSearchParams): string {
  const text = query?.toString().replaceAll('%2C', ',') ?? '';
  return text === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${text}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
