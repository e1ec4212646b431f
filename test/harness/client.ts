import * as http from 'node:http';

export interface RequestOptions {
  /** Sent as JSON, with its content type. */
  json?: unknown;
  /** Sent as it is; give the content type in `headers`. */
  body?: string | Buffer;
  headers?: Record<string, string>;
  /** Sent as `Authorization: Bearer <token>`. */
  token?: string;
}

export interface Answer {
  status: number;
  /** By lower-case name; repeated headers are joined with a comma. */
  headers: Record<string, string>;
  text: string;
  /** The parsed body; `undefined` when it is empty or not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test states what it expects of the body by asserting it
  json: any;
}

/** Sends one request over its own connection. Unlike `fetch`, `node:http` sends any path and method as given. */
export function request(url: string, method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const body = 'json' in options ? JSON.stringify(options.json) : options.body;
  const headers: Record<string, string | number> = {
    ...('json' in options && { 'content-type': 'application/json' }),
    ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = http.request({ hostname, port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: response.statusCode ?? 0,
          headers: joined(response.headersDistinct),
          text,
          json: parsed(text),
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function joined(headers: NodeJS.Dict<string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, (values ?? []).join(', ')]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
