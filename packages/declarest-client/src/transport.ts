/** Sends requests with `fetch`, and reads the responses. */
import { Failure } from './failure.js';
import { type Answer, isStream, type Request } from './requests.js';

export interface Transport {
  /** @throws Failure where there is no response, or a body that is no JSON */
  respond(request: Request, token?: string): Promise<Response>;
  /** @throws Failure where the body is HTML */
  read(request: Request, response: Response): Promise<Answer>;
  /** The values of an answer in NDJSON, as they arrive. @throws Failure where it is something else, or ends early */
  readLines(request: Request, response: Response): AsyncGenerator<unknown>;
}

/** @param owner of the url, for messages */
export function createTransport(fetch: typeof globalThis.fetch, owner: 'client' | 'provider'): Transport {
  /** The only place that attaches the token. */
  const respond: Transport['respond'] = async (request, token) => {
    const { method, url, query, json, body, headers, signal, redirect, credentials } = request;
    const content = json === undefined ? body : stringify(request);
    try {
      return await fetch(withQuery(url, query), {
        method,
        // Fastify refuses an empty body that is declared as JSON.
        headers: {
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...(json !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(content !== undefined && { body: content }),
        // Node.js demands it of a stream.
        ...(isStream(content) && { duplex: 'half' }),
        ...(signal && { signal }),
        ...(redirect && { redirect }),
        ...(credentials && { credentials }),
      });
    } catch (cause) {
      throw failureOfFetch(request, cause);
    }
  };

  const read: Transport['read'] = async (request, response) => {
    const { status, headers } = response;
    let text: string;
    try {
      text = await response.text();
    } catch (cause) {
      throw failureOfFetch(request, cause);
    }
    if (headers.get('content-type')?.startsWith('text/html')) throw new Failure(aboutHtml(request, status), status);
    return { request, status, headers, body: parse(text) };
  };

  const readLines: Transport['readLines'] = async function* (request, response) {
    const { url, resource } = request;
    const { body, headers, status } = response;
    if (!body || !headers.get('content-type')?.startsWith('application/x-ndjson'))
      throw new Failure(
        `The answer from ${url} for "${resource}" must be NDJSON. Check the format of the query.`,
        status,
      );
    const reader = body.getReader();
    try {
      yield* valuesOf(reader);
    } catch (cause) {
      throw request.signal?.aborted
        ? cause
        : new Failure(
            `The answer from ${url} for "${resource}" ended early (${reasonOf(cause)}). Lines are missing.`,
            0,
          );
    } finally {
      // The server stops where nobody reads on.
      await reader.cancel().catch(() => undefined);
    }
  };

  /** Proxies have pages for bodies that are too large, for too many requests, and for a server that does not answer. */
  const aboutHtml = ({ url, resource }: Request, status: number): string =>
    status >= 500 || status === 413 || status === 429
      ? `A proxy answered for ${url} ("${resource}") with status ${status} and a page in HTML. ${proxyAdvice(status)}`
      : `The answer from ${url} for "${resource}" must be JSON, got HTML. Check the url of the ${owner}.`;

  return { respond, read, readLines };
}

function proxyAdvice(status: number): string {
  if (status === 413) return 'Check its limit for bodies.';
  return status === 429 ? 'Try again later.' : 'Check that the server behind it runs, and try again later.';
}

/** @throws Failure where JSON has no such value */
function stringify({ json, resource }: Request): string {
  try {
    return JSON.stringify(json);
  } catch (cause) {
    throw new Failure(
      `The body for "${resource}" must be JSON (${(cause as Error).message}). Send a bigint as text.`,
      400,
    );
  }
}

/** Front ends recognise requests that they cancelled themselves. */
const failureOfFetch = ({ signal, url, resource }: Request, cause: unknown): unknown =>
  signal?.aborted
    ? cause
    : new Failure(
        `There is no answer from ${url} for "${resource}" (${reasonOf(cause)}). Check that the server runs, and that its CORS settings allow this page.`,
        0,
      );

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** @throws SyntaxError where a line is not whole */
async function* valuesOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (rest + decoder.decode(value, { stream: !done })).split('\n');
    rest = done ? '' : (lines.pop() ?? '');
    for (const line of lines) if (line !== '') yield JSON.parse(line);
    if (done) return;
  }
}

/**
 * Leaves commas and brackets as they are: the server limits the length of the query string. A parameter with keys of several
 * columns has escapes of its own, so that all of it is escaped.
 */
function withQuery(url: string, query?: URLSearchParams): string {
  const shortened = (each: string): string =>
    /%(?:25|3B)/.test(each) ? each : each.replaceAll(/%(?:2C|5B|5D)/g, decodeURIComponent);
  const text = query?.toString().split('&').map(shortened).join('&') ?? '';
  return text === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${text}`;
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
