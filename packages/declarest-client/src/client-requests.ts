/** Requests below the url of a client, with the version of the record that the user saw. */
import { createEtags } from './etags.js';
import { openSuccess, succeed } from './failure.js';
import { isObject } from './json.js';
import { joinLists } from './lists.js';
import { fillPath, withoutSlash } from './paths.js';
import type { Answer, Request, Sender } from './requests.js';
import type { Transport } from './transport.js';

export type QueryValue = string | number | boolean | readonly (string | number)[];

/** What `request` takes beside the method and the path. */
export interface RequestOptions {
  /** Values of the path: `productId` of `products/:productId/reviews`. They are escaped. */
  readonly params?: Readonly<Record<string, string | number>>;
  /** A list is an array. Commas in its values are escaped. */
  readonly query?: Readonly<Record<string, QueryValue | undefined>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /**
   * Sent as it is, such as a `File` or a `FormData`, which browsers read while they send. Streams are for Node.js, and for
   * Chromium with HTTP/2: other browsers send a text in place of a stream.
   */
  readonly body?: RequestInit['body'];
  /** The record that the user saw: the request has its ETag as `If-Match`, where this client has read or written it. */
  readonly seen?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Requests without the types of a document. */
export interface AnyRequests {
  request<T = unknown>(method: string, path: string, options?: RequestOptions): Promise<T>;
  stream(method: string, path: string, options?: RequestOptions): Promise<Response>;
  lines<T = unknown>(method: string, path: string, options?: RequestOptions): AsyncGenerator<T>;
}

type Sent = [method: string, path: string, options?: RequestOptions];

/** The parts of a client that are used. */
interface Parts {
  readonly sender: Sender;
  readonly readLines: Transport['readLines'];
  urlOf(path: string): string;
}

export function createRequests({ sender, readLines, urlOf }: Parts): AnyRequests {
  const etags = createEtags();

  /** @throws Failure for a path that is not below the url */
  const prepare = (...[method, path, options = {}]: Sent): Request => {
    const { params, query, seen, headers, ...rest } = options;
    const advice = (name: string): string => `Pass it as params: { ${name}: … }.`;
    const filled = params ? fillPath(path, (name) => params[name], advice) : path;
    const url = urlOf(filled.replace(/^\/+/, ''));
    const etag = seen === undefined ? undefined : etags.find(url, seen);
    return {
      ...rest,
      // `fetch` leaves `patch` and `query` as they are, and Node.js refuses them.
      method: method.toUpperCase(),
      url,
      resource: path,
      ...(query && { query: queryOf(query) }),
      headers: { ...(etag !== undefined && { 'If-Match': etag }), ...headers },
    };
  };

  async function* lines(...sent: Sent): AsyncGenerator<unknown> {
    const request = prepare(...sent);
    yield* readLines(request, await openSuccess(sender, request));
  }

  return {
    request: async <T>(...sent: Sent) => {
      const answer = await succeed(sender, prepare(...sent));
      const { data } = (isObject(answer.body) ? answer.body : {}) as { readonly data?: unknown };
      if (isObject(data)) etags.remember(urlOfRecord(answer), data, answer);
      return answer.body as T;
    },
    stream: async (...sent) => openSuccess(sender, prepare(...sent)),
    lines: <T>(...sent: Sent) => lines(...sent) as AsyncGenerator<T>,
  };
}

function queryOf(values: NonNullable<RequestOptions['query']>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    const texts = typeof value === 'object' ? joinLists(value) : value === undefined ? [] : [String(value)];
    for (const text of texts) query.append(name, text);
  }
  return query;
}

/** The URL of the record in an answer: that of a new one is in `Location`, whatever its key is. */
function urlOfRecord({ request: { method, url }, headers }: Answer): string {
  if (method !== 'POST') return url;
  const key = headers.get('Location')?.split('/').at(-1);
  return key === undefined ? url.replace(/\/restore$/, '') : `${withoutSlash(url)}/${key}`;
}
