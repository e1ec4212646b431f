/** Sends requests to the server, with the token of the user. */
import { HttpError } from 'ra-core';

import { createTokenStore, type TokenStorage, type TokenStore } from './token-store.js';

/** Options of both providers. Give both the same. */
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
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: BodyInit;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An answer of any status. */
export interface Answer {
  readonly request: Request;
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; `undefined` where it is empty or not JSON. */
  readonly body: unknown;
}

export interface Client {
  /** Without a slash at the end. */
  readonly url: string;
  readonly tokens: TokenStore;
  /** @throws HttpError without an answer, or where it is HTML */
  send(request: Request): Promise<Answer>;
  /** The response with its body unread. @throws HttpError without an answer */
  open(request: Request): Promise<Response>;
  /** @throws HttpError where the answer ends early, or is HTML */
  read(request: Request, response: Response): Promise<Answer>;
}

/** @param url the base of the resources, for example `https://shop.example/api` */
export function createClient(url: string, options: HttpOptions): Client {
  const base = url.replace(/\/+$/, '');
  const tokens = createTokenStore(base, options.storage);

  const open = async (request: Request): Promise<Response> => {
    const {
      method,
      url,
      query,
      json,
      signal,
      headers,
      body = json === undefined ? null : JSON.stringify(json),
    } = request;
    // The only place that attaches the token.
    const token = tokens.read();
    try {
      return await (options.fetch ?? globalThis.fetch)(withQuery(url, query), {
        method,
        body,
        headers: {
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          // Fastify refuses an empty body that is declared as JSON.
          ...(json !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(signal && { signal }),
      });
    } catch (cause) {
      throw signal?.aborted ? cause : unreachable(request, cause);
    }
  };

  const read = async (request: Request, response: Response): Promise<Answer> => {
    const { status, headers } = response;
    if (headers.get('content-type')?.startsWith('text/html'))
      throw new HttpError(
        `The server answered with HTML at ${request.url} for "${request.resource}", expected JSON. Check the url of the provider.`,
        status,
      );
    const text = await response.text().catch((cause: unknown) => {
      throw request.signal?.aborted ? cause : unreachable(request, cause);
    });
    return { request, status, headers, body: parseJson(text) };
  };

  return { url: base, tokens, open, read, send: async (request) => read(request, await open(request)) };
}

const unreachable = ({ url, resource }: Request, cause: unknown): HttpError =>
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
