/** A request and its answer as node's server has them, in the words in which the package knows those of both platforms. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { HttpRequest } from '../http/request-facts.js';
import type { HeaderHolder } from '../routes/direct-middleware.js';
import type { Platform } from './front.js';

export class PlainRequest implements HttpRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  body: unknown = undefined;
  unreadable: unknown = undefined;

  constructor(
    request: IncomingMessage,
    readonly route: { readonly path: string },
    readonly params: Readonly<Record<string, string>>,
  ) {
    this.method = request.method ?? '';
    this.headers = request.headers;
    this.url = request.url ?? '';
    this.rawHeaders = request.rawHeaders;
  }
}

/** Its head and its text go out as one. */
export class PlainResponse implements HeaderHolder {
  private readonly headers: Record<string, string> = {};

  constructor(
    private readonly raw: ServerResponse,
    private readonly platform: Pick<Platform, 'complete'>,
  ) {}

  setHeader(name: string, value: string): void {
    this.headers[name] = value;
  }

  /** As the responses of both platforms have it. */
  header(name: string, value: string): void {
    this.setHeader(name, value);
  }

  /** @param text JSON; nothing where somebody has answered meanwhile, a time limit of the application's for example */
  answer(status: number, text: string): void {
    if (this.raw.headersSent) return;
    const length = Buffer.byteLength(text);
    this.setHeader('content-type', 'application/json; charset=utf-8');
    this.setHeader('content-length', String(length));
    this.platform.complete(this, text, length);
    this.raw.writeHead(status, this.headers);
    this.raw.end(text);
  }

  /** Where it cannot be answered. */
  abandon(): void {
    this.raw.destroy();
  }
}
