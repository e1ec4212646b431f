import type { INestApplication } from '@nestjs/common';
import { Tokens } from '../auth/tokens.js';
import { expectKnownNames, expectNames, InvalidOptionError } from '../options/invalid-option.js';
import { exchange, type Answer, type RequestParts } from './http-exchange.js';

export type { Answer, RequestParts } from './http-exchange.js';

/** The claims of a token. A user with this id need not exist. */
export interface TestUser {
  readonly roles: readonly string[];
  /** Default `""`. */
  readonly email?: string;
  /** The user's id; default `1`. */
  readonly sub?: string | number;
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
 * A client that sends a valid token of this user, signed with the application's secret, or no token without a user.
 * An application that does not listen yet starts to listen on a free port of 127.0.0.1.
 *
 * @example const { status } = await as(app, { roles: ['ADMIN'] }).delete('/api/products/7');
 */
export function as(app: INestApplication, user?: TestUser): Client {
  if (user) {
    expectKnownNames('as(app, user)', user, ['roles', 'email', 'sub']);
    expectNames('as(app, user): roles', user.roles);
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
export async function bearer(app: INestApplication, { roles, email = '', sub = 1 }: TestUser) {
  const token = getProvider(app, Tokens).sign({ sub: String(sub), email, roles });
  return { authorization: `Bearer ${token}` };
}

/** @throws InvalidOptionError for an application without `AuthModule` */
export function getProvider<T>(app: INestApplication, type: abstract new (...args: never[]) => T): T {
  try {
    return app.get<T>(type as never, { strict: false });
  } catch {
    const advice = 'Import AuthModule.forRoot(…) in its root module';
    throw new InvalidOptionError('declarest/testing: the application', 'one with AuthModule', 'one without', advice);
  }
}
