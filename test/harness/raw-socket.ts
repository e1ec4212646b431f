import { connect } from 'node:net';

export interface RawAnswer {
  /** `undefined` when the server closed, or stayed silent, without a status line. */
  status: number | undefined;
  /** By lower-case name; repeated headers are joined with a comma. */
  headers: Record<string, string>;
  /** As received, in order. */
  rawHeaders: [name: string, value: string][];
  /** Decoded as UTF-8, chunks put together. */
  body: string;
  /** Every byte received. */
  raw: Buffer;
}

/**
 * Writes exactly these bytes and collects the response until the server closes the connection or time is up.
 * A string is written as latin1, so `'\xa0'` is the byte A0. Send `Connection: close`, or each response takes all the time.
 */
export function rawRequest(
  port: number,
  bytes: Buffer | string,
  { timeoutMs = 2_000 }: { timeoutMs?: number } = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(typeof bytes === 'string' ? latin1(bytes) : bytes));
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    socket.on('data', (chunk) => received.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A server may reset the connection after it has refused a request.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(parseAnswer(Buffer.concat(received)));
    });
  });
}

export interface RawRequestParts {
  method?: string;
  /** Written as given: `['Authorization: Bearer a', 'Authorization: Bearer b']`. */
  headers?: string[];
  body?: string;
}

/** A request with this exact target: `rawTarget(port, '/api//admin/%73tats')`. */
export function rawTarget(port: number, target: string, parts: RawRequestParts = {}): Promise<RawAnswer> {
  const { method = 'GET', headers = [], body } = parts;
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', ...headers];
  if (body !== undefined) lines.push(`Content-Length: ${Buffer.byteLength(body, 'latin1')}`);
  return rawRequest(port, `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`, { timeoutMs: 60_000 });
}

/** Parses one HTTP/1.1 response. */
export function parseAnswer(raw: Buffer): RawAnswer {
  const end = raw.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = raw
    .subarray(0, end < 0 ? raw.length : end)
    .toString('latin1')
    .split('\r\n');
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1];
  const rawHeaders = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const headers: Record<string, string> = {};
  for (const [name, value] of rawHeaders) {
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  const rest = end < 0 ? Buffer.alloc(0) : raw.subarray(end + 4);
  const chunked = headers['transfer-encoding']?.toLowerCase() === 'chunked';
  const body = (chunked ? unchunked(rest) : rest).toString('utf8');
  return { status: status === undefined ? undefined : Number(status), headers, rawHeaders, body, raw };
}

function unchunked(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd < 0 ? 0 : Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (!(size > 0)) break;
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(chunks);
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
