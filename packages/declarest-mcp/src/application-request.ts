/** Sends a request to the application itself, over HTTP, so that all of its guards, pipes and interceptors run. */
import * as http from 'node:http';
import * as https from 'node:https';
import { Server as TlsServer } from 'node:tls';
import type { ResolvedOptions } from './options.js';
import type { ToolRequest } from './tool-request.js';

export interface ApplicationResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** The response cannot be the result of a tool. */
export class UnusableResponse extends Error {}

const TEXT = /^(text\/(?!event-stream)|application\/([\w.-]+\+)?(json|x-ndjson|xml)\b)/i;

type Options = Pick<ResolvedOptions, 'internalUrl' | 'maxResponseBytes'>;

/** @throws UnusableResponse for a body that is no text, or too large */
export function send(
  server: http.Server,
  { method, path, headers, body }: ToolRequest,
  signal: AbortSignal,
  { internalUrl, maxResponseBytes }: Options,
): Promise<ApplicationResponse> {
  const { request } = internalUrl?.protocol === 'https:' ? https : http;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const options = { ...addressOf(server, internalUrl), method, path, headers: { ...headers, ...length }, signal };
  return new Promise((resolve, reject) => {
    // A connection of its own: a kept one may be closed while the request is on its way.
    const outgoing = request({ ...options, agent: false }, (response) => {
      read(response, maxResponseBytes).then(resolve, (error: unknown) => {
        response.destroy();
        reject(error);
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function read(response: http.IncomingMessage, most: number): Promise<ApplicationResponse> {
  const { statusCode: status = 0, headers } = response;
  const type = headers['content-type']?.split(';')[0];
  if (type !== undefined && !TEXT.test(type)) throw new UnusableResponse(`The response is ${type}, which is no text`);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most)
      throw new UnusableResponse(`The response is larger than ${most} bytes. Ask for fewer records or fields`);
    chunks.push(chunk);
  }
  return { status, headers, text: Buffer.concat(chunks).toString('utf8') };
}

const EVERY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

function addressOf(server: http.Server, internalUrl: URL | undefined): http.RequestOptions {
  if (internalUrl) return { host: internalUrl.hostname.replaceAll(/[[\]]/g, ''), port: internalUrl.port };
  if (server instanceof TlsServer) throw new Error('The application listens with TLS. Set internalUrl of McpModule.');
  const address = server.address();
  if (address === null) throw new Error('The application does not listen.');
  if (typeof address === 'string') return { socketPath: address };
  return { host: EVERY_ADDRESS[address.address] ?? address.address, port: address.port };
}
