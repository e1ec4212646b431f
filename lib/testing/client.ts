import type { INestApplication } from '@nestjs/common';
import { Tokens } from '../auth/tokens.js';
import { expectKnownNames, expectNames, InvalidOptionError } from '../options/invalid-option.js';
import { exchange, type Answer, type RequestParts } from './http-exchange.js';

export type { Answer, RequestParts } from './http-exchange.js';

/** What the token says; nobody of that name has to exist. */
export interface TestUser {
  readonly roles: readonly string[];
  /** Default `""`. */
  readonly email?: string;
  /** The user's id; default `1`. */
  readonly sub?: string | number;
}

/** Sends real requests. A path is written as it is sent, each character one byte. */
export interface Client {
  get(path: string): Promise<Answer>;
  post(path: string, json?: unknown): Promise<Answer>;
  put(path: string, json?: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  request(method: string, path: string, parts?: RequestParts): Promise<Answer>;
}

/**
 * A client that sends a valid token of this user, signed as the application signs its own; without a user, none.
 * An application that does not listen yet is made to, on a free port of 127.0.0.1.
 */
export function as(app: INestApplication, user?: TestUser): Client {
  if (user) expectUser(user);
  const request = async (method: string, path: string, parts: RequestParts = {}): Promise<Answer> =>
    exchange(app, method, path, { ...parts, headers: { ...(user && (await bearer(app, user))), ...parts.headers } });
  return {
    request,
    get: (path) => request('GET', path),
    post: (path, json) => request('POST', path, { json }),
    put: (path, json) => request('PUT', path, { json }),
    delete: (path) => request('DELETE', path),
  };
}

/** Signed for each request, so that it never is too old. */
export async function bearer(
  app: INestApplication,
  { roles, email = '', sub = 1 }: TestUser,
): Promise<Record<string, string>> {
  const token = await provided(app, Tokens).sign({ sub: String(sub), email, roles });
  return { authorization: `Bearer ${token}` };
}

/** @throws InvalidOptionError for an application without `AuthModule` */
export function provided<T>(app: INestApplication, type: abstract new (...args: never[]) => T): T {
  try {
    return app.get<T>(type as never, { strict: false });
  } catch {
    throw new InvalidOptionError(
      'declarest/testing',
      'an application with AuthModule',
      'one without',
      'import AuthModule.forRoot(…) in its root module',
    );
  }
}

function expectUser(user: TestUser): void {
  expectKnownNames('as(app, user)', user, ['roles', 'email', 'sub']);
  expectNames('as(app, user): roles', user.roles);
}
