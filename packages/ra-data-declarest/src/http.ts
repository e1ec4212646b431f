/** Sends requests to the server, with the token of the user. */
import { HttpError } from 'ra-core';

import { createTokenStore, type TokenStorage, type TokenStore } from './token-store.js';

export interface HttpOptions {
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: typeof fetch;
  /** Where the token is stored. @default `localStorage`, or memory where there is none */
  readonly storage?: TokenStorage;
}

export interface Request {
  readonly method: string;
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
}

export interface Client {
  /** Without a slash at the end. */
  readonly url: string;
  readonly tokens: TokenStore;
  /** @throws HttpError without an answer, or where it is HTML */
  send(request: Request): Promise<Answer>;
  /** The answer with its body unread. @throws HttpError without an answer */
  fetch(request: Request): Promise<Response>;
}

/** @param url the base of the resources, for example `https://shop.example/api` */
export function createClient(url: string, options: HttpOptions): Client {
  const base = url.replace(/\/+$/, '');
  const tokens = createTokenStore(base, options.storage);

  /** The only place that attaches the token. */
  const respond = async ({ method, url, resource, query, body, headers, signal }: Request): Promise<Response> => {
    const token = tokens.read();
    try {
      return await (options.fetch ?? globalThis.fetch)(withQuery(url, query), {
        method,
        headers: {
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          // Fastify refuses an empty body that is declared as JSON.
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

  return {
    url: base,
    tokens,
    fetch: respond,
    async send(request) {
      const response = await respond(request);
      return readAnswer(response, request);
    },
  };
}

/** @throws HttpError for HTML, and for a connection that ends early */
export async function readAnswer(response: Response, { method, url, resource, signal }: Request): Promise<Answer> {
  const { status, headers } = response;
  if (headers.get('content-type')?.startsWith('text/html'))
    throw new HttpError(
      `The server answered with HTML at ${url} for "${resource}", expected JSON. Check the url of the provider.`,
      status,
    );
  const text = await response.text().catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    throw unreachable(resource, url, cause);
  });
  return { method, url, status, headers, json: parseJson(text) };
}

const unreachable = (resource: string, url: string, cause: unknown): HttpError =>
  new HttpError(
    `No answer from ${url} for "${resource}" (${cause instanceof Error ? cause.message : String(cause)}). Check that the server runs, and its CORS settings where it has another origin.`,
    0,
  );

/** Commas are left as they are, because the server limits the length of the query string. */
function withQuery(url: string, query?: URLSearchParams): string {
  const text = query?.toString().replaceAll('%2C', ',') ?? '';
  return text === '' ? url : `${url}?${text}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
