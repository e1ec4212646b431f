/** Real requests to an application that listens, as plain `node:http` sends them. */
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { INestApplication } from '@nestjs/common';
import { describe, InvalidOptionError } from '../options/invalid-option.js';

export interface RequestParts {
  /** Sent as JSON, with its content type. */
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  /** By lower-case name; repeated headers are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed body, `undefined` where it is empty or no JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test states what it expects of the body by asserting it
  readonly json: any;
}

/** A path as clients send it: letters beyond ASCII are escaped, what is escaped already stays. */
export const asSent = (path: string): string => path.replace(/[^!-~]+/g, encodeURIComponent);

/** Each character one byte, and none that would end the request line. */
const BYTES = /^[^\r\n\u{100}-\u{10ffff}]+$/u;

/** One request over a connection of its own, with exactly this target in its first line. */
export async function exchange(
  app: INestApplication,
  method: string,
  target: string,
  { json, headers = {} }: RequestParts = {},
): Promise<Answer> {
  if (!BYTES.test(target))
    throw new InvalidOptionError(
      `${method} request`,
      'a path of single bytes, without a line break',
      describe(target),
      'write other letters with encodeURIComponent',
    );
  const { isSecure, ...address } = await addressOf(app);
  const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
  const content = body && { 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const outgoing = (isSecure ? https : http).request(
      // An application under test has a certificate that nobody signed.
      { ...address, method, headers: { ...content, ...headers }, agent: false, rejectUnauthorized: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve(answerOf(response, Buffer.concat(chunks).toString('utf8'))));
      },
    );
    outgoing.on('error', reject);
    // Set here, because the constructor refuses some bytes; it is sent as latin1, byte for byte.
    outgoing.path = target;
    outgoing.end(body);
  });
}

const starts = new WeakMap<INestApplication, Promise<unknown>>();

/** Where the application listens. One that does not yet is made to listen on a free port of 127.0.0.1. */
export async function addressOf(app: INestApplication): Promise<{ hostname: string; port: number; isSecure: boolean }> {
  const server = app.getHttpServer() as http.Server;
  if (!server.listening) {
    if (!starts.has(app)) starts.set(app, app.listen(0, '127.0.0.1'));
    await starts.get(app);
  }
  const found = server.address() as AddressInfo | string | null;
  if (found === null || typeof found === 'string')
    throw new InvalidOptionError(
      'declarest/testing',
      'an application that listens on a port',
      found === null ? 'one that is closed' : `one that listens on ${found}`,
      'leave the listening to it, or listen on a port',
    );
  const hostname = { '0.0.0.0': '127.0.0.1', '::': '::1' }[found.address] ?? found.address;
  return { hostname, port: found.port, isSecure: server instanceof TlsServer };
}

function answerOf({ statusCode = 0, headersDistinct }: http.IncomingMessage, text: string): Answer {
  const headers = Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(', ')] as const);
  return { status: statusCode, headers: Object.fromEntries(headers), text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
