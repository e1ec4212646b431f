/** Sends requests to the server, with the token of the user. */
import { httpError } from './errors.js';
import { createTokenStore, type TokenStorage } from './token-store.js';

export interface HttpOptions {
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: typeof fetch;
  /** Where the token is stored. @default `localStorage`, or memory where there is none */
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
  /** @throws HttpError without an answer, or where it is HTML */
  send(request: Request): Promise<Answer>;
  /** The answer with its body unread, where it is a success. */
  open(request: Request): Promise<Response | Answer>;
}

/** @param url the base of the resources */
export function createClient(url: string, { fetch: fetchOption, storage }: HttpOptions): Client {
  const base = url.replace(/\/+$/, '');
  const tokens = createTokenStore(base, storage);

  /** The only place that attaches the token. It goes to the server of the provider and to no other. */
  const withToken = (target: string): Record<string, string> => {
    const token = tokens.read();
    return token !== undefined && originOf(target) === originOf(base) ? { Authorization: `Bearer ${token}` } : {};
  };

  const respond = async ({ method, url, resource, query, body, headers, signal }: Request): Promise<Response> => {
    const target = withQuery(url, query);
    const send = fetchOption ?? globalThis.fetch;
    try {
      return await send(target, {
        method,
        // Fastify refuses an empty body that is declared as JSON.
        headers: {
          ...withToken(target),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
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

  return {
    url: base,
    send: async (request) => read(await respond(request), request),
    open: async (request) => {
      const response = await respond(request);
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
