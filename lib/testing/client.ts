/** Sends real requests to an application with `node:http`. */
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import * as http from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { Duplex, Transform } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { connect as connectTls, Server as TlsServer } from 'node:tls';
import type { INestApplication } from '@nestjs/common';
import { Credentials, type CredentialReader } from '../access/identity/authenticator.js';
import { AccountCredentials } from '../auth/plugins/account-credentials.js';
import { AccessTokens } from '../auth/tokens/access-tokens.js';
import type { Principal } from '../http/caller.js';
import { parseJson } from '../http/json-body.js';
import { areNames, describe, expectKnownNames, InvalidOptionError } from '../options/invalid-option.js';
import { applicationOf, type Application } from '../routes/application.js';

/** The claims of a token, or a user as `AccessModule` finds it. A user with this id need not exist. */
export interface TestUser {
  readonly roles: readonly string[];
  /** Default `""`. */
  readonly email?: string;
  /** The user's id; default `1`. */
  readonly sub?: string | number;
  /** What the option `claims` adds, or further members of a user of `AccessModule`; none by default. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Sends real requests. A path is sent as it is, one byte for each character. */
export interface Client {
  get(path: string): Promise<Answer>;
  post(path: string, json?: unknown): Promise<Answer>;
  put(path: string, json?: unknown): Promise<Answer>;
  patch(path: string, json?: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  request(method: string, path: string, parts?: RequestParts): Promise<Answer>;
}

/**
 * A client that sends a valid token of this user, signed with the application's secret, or no token without a user. With
 * `AccessModule`, its option `authenticate` is not called for this token.
 * An application that does not listen yet starts to listen on a free port of 127.0.0.1.
 * @example const { status } = await as(app, { roles: ['ADMIN'] }).delete('/api/products/7');
 */
export function as(app: INestApplication, user?: TestUser): Client {
  if (user) {
    expectKnownNames('as(app, user)', user, ['roles', 'email', 'sub', 'claims']);
    const [expected, advice] = ['an array of non-empty names', 'set an array such as ["ADMIN"]'];
    if (!areNames(user.roles))
      throw new InvalidOptionError('as(app, user): roles', expected, describe(user.roles), advice);
  }
  const request = async (method: string, path: string, parts: RequestParts = {}): Promise<Answer> =>
    exchange(app, method, path, { ...parts, headers: { ...(user && (await bearer(app, user))), ...parts.headers } });
  return {
    request,
    get: (path) => request('GET', path),
    post: (path, json) => request('POST', path, { json }),
    put: (path, json) => request('PUT', path, { json }),
    patch: (path, json) => request('PATCH', path, { json }),
    delete: (path) => request('DELETE', path),
  };
}

/** The header with a token that is signed now, so that it never expires during a test. */
export async function bearer(app: INestApplication, { roles, email = '', sub = 1, claims: own }: TestUser) {
  const credentials = getProvider(app, Credentials);
  const users = applicationOf(app).stateOf(TestUsers, credentials);
  const token =
    credentials instanceof AccountCredentials
      ? getProvider(app, AccessTokens).sign({ sub: String(sub), email, roles, sid: TEST_SESSION, ...(own && { own }) })
      : users.tokenOf({ ...own, id: sub, email, roles });
  return { authorization: `Bearer ${token}` };
}

/** A session that needs no row. */
const TEST_SESSION = randomUUID();

/** Users of tests, who need not exist. */
class TestUsers {
  private readonly users = new Map<string, Principal>();

  constructor(credentials: Credentials) {
    const read: CredentialReader['read'] = (request, known) => {
      const { token = '', bearerWasSent } = known;
      const principal = this.users.get(token);
      if (principal) return { principal, bearerWasSent, isComplete: true };
      const signed = credentials instanceof AccountCredentials ? credentials.readToken(request, known) : undefined;
      return signed?.session === TEST_SESSION ? { ...signed, isComplete: true } : undefined;
    };
    credentials.readers.unshift({ read });
  }

  /** For AccessModule, whose users have tokens of other issuers. */
  tokenOf(user: Principal): string {
    const token = randomUUID();
    this.users.set(token, user);
    return token;
  }
}

/** @throws InvalidOptionError for an application without users */
export function getProvider<T>(app: INestApplication, type: abstract new (...args: never[]) => T): T {
  const found = applicationOf(app).providerOf(type);
  if (found) return found;
  const advice = 'Import AuthModule.forRoot(…) or AccessModule.forRoot(…) in its root module';
  const expected = 'one with AuthModule or AccessModule';
  throw new InvalidOptionError('declarest/testing: the application', expected, 'one without', advice);
}

export interface RequestParts {
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  /** The names are in lower case. The values of repeated headers are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed body; `undefined` where it is empty or not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape of the body
  readonly json: any;
}

/** Escapes what is not printable ASCII, as clients do. */
export const asSent = (path: string): string => path.replace(/[^!-~]+/g, encodeURIComponent);

/** One byte for each character, without a line break. */
const BYTES = /^[^\r\n\u{100}-\u{10ffff}]+$/u;

export async function exchange(
  app: INestApplication,
  method: string,
  target: string,
  { json, headers = {} }: RequestParts = {},
): Promise<Answer> {
  if (!BYTES.test(target)) {
    const [expected, advice] = ['text of single bytes without a line break', 'Escape it with encodeURIComponent'];
    throw new InvalidOptionError(`The path of a ${method} request`, expected, describe(target), advice);
  }
  const { isSecure, ...to } = await addressOf(app);
  const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
  const content = body && { 'content-type': 'application/json', 'content-length': body.length };
  // The certificate of an application under test is self-signed.
  const socket = isSecure ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
  const connection = { ...to, createConnection: () => withTarget(socket, target) };
  const outgoing = http.request({ ...connection, method, path: PLACEHOLDER, headers: { ...content, ...headers } });
  // An error after the response has begun is reported by the response.
  outgoing.on('error', () => {});
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [http.IncomingMessage];
  const text = await readText(response);
  const named = Object.entries(response.headersDistinct);
  const answered = Object.fromEntries(named.map(([name, values = []]) => [name, values.join(', ')]));
  return { status: response.statusCode ?? 0, headers: answered, text, json: parseJson(text) };
}

const PLACEHOLDER = `/${randomUUID()}`;

/** A connection that sends the target, as latin1, in the place of the path: node refuses some of its bytes. */
function withTarget(socket: Duplex, target: string): Duplex {
  const replace = (text: string): string => text.replace(PLACEHOLDER, () => target);
  const writable = new Transform({
    transform: (chunk: Buffer, _, done) => done(null, Buffer.from(replace(chunk.toString('latin1')), 'latin1')),
  });
  writable.pipe(socket);
  return Duplex.from({ readable: socket, writable });
}

const startListening = (_: Application, app: INestApplication): Promise<unknown> => app.listen(0, '127.0.0.1');

/** The address of the application, which starts to listen on a free port of 127.0.0.1 unless it listens already. */
export async function addressOf(app: INestApplication): Promise<{ host: string; port: number; isSecure: boolean }> {
  const server = app.getHttpServer() as http.Server;
  if (!server.listening) await applicationOf(app).once(startListening, app);
  const found = server.address() as AddressInfo | string | null;
  if (found === null || typeof found === 'string') {
    const got = found === null ? 'one that is closed' : `one that listens on ${found}`;
    const advice = 'Do not call listen(), or listen on a port';
    throw new InvalidOptionError('declarest/testing: the application', 'one that listens on a port', got, advice);
  }
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[found.address] ?? found.address;
  return { host, port: found.port, isSecure: server instanceof TlsServer };
}
