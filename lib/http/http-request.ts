/** What the package reads of a request, on Express and on Fastify. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';

export interface HttpRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly url?: string;
  readonly originalUrl?: string;
  /** Express: the path as its router reads it. */
  readonly path?: string | null;
  /** Fastify's request wraps node's, which has a `stream` in HTTP/2. Express's request is node's own. */
  readonly raw?: IncomingMessage & { readonly stream?: Pick<ServerHttp2Stream, 'endAfterHeaders'> };
  readonly rawHeaders?: readonly string[];
  /** The address of the client, as far as the platform trusts the proxies in front of it. */
  readonly ip?: string | undefined;
  /** Fastify: only where `trustProxy` is set. */
  readonly ips?: readonly string[] | undefined;
  readonly body?: unknown;
  /** Express: whether any byte of the body was read. */
  readonly readableDidRead?: boolean;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly route?: { readonly path?: unknown };
  readonly routeOptions?: { readonly url?: string | undefined };
}

export interface HeaderWriter {
  header(name: string, value: string): unknown;
  getHeader?(name: string): number | string | readonly string[] | undefined;
}

/** The request target as sent: `/api/products?page=2`, or `http://host/api/products` (RFC 9112 §3.2). */
export const targetOf = (request: HttpRequest): string => request.originalUrl ?? request.raw?.url ?? request.url ?? '/';

/** The path of the target, undecoded, without scheme, host, query and fragment. Express's router accepts any scheme. */
export function pathOf(request: HttpRequest): string {
  const target = targetOf(request);
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  const end = local.search(/[?#]/);
  return (end < 0 ? local : local.slice(0, end)) || '/';
}

/** `undefined` for a broken escape. */
export function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

export const queryOf = (request: HttpRequest): string => targetOf(request).replace(/^[^?]*\??/, '');

/** The template of the route that serves the request. Known in guards and later. */
export function templateOf(request: HttpRequest): string | undefined {
  const path = request.routeOptions?.url ?? request.route?.path;
  return typeof path === 'string' ? path : undefined;
}

/** Every value sent under a header's name: node joins or drops repeated ones in `headers`. */
export function headerValues(request: HttpRequest, name: string): string[] {
  const raw = request.rawHeaders ?? request.raw?.rawHeaders ?? [];
  const values: string[] = [];
  for (let index = 0; index < raw.length; index += 2)
    if (raw[index]?.length === name.length && raw[index]?.toLowerCase() === name) values.push(raw[index + 1] ?? '');
  const merged = request.headers[name];
  return values.length > 0 || merged === undefined ? values : [merged].flat();
}

/** RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^Bearer(?:$| +(?<token>[A-Za-z0-9._~+/-]+=*) *$| )/i;

export function bearerOf(request: HttpRequest): { readonly wasSent: boolean; readonly token: string | undefined } {
  const values = headerValues(request, 'authorization');
  const bearer = values.map((value) => BEARER.exec(value)).find((match) => match !== null);
  // Two Authorization headers are refused: a proxy in front may have checked the other one.
  return { wasSent: bearer !== undefined, token: values.length === 1 ? bearer?.groups?.['token'] : undefined };
}
