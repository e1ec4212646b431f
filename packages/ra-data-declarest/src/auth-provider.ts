/** The auth provider of react-admin. */
import { type AuthProvider, HttpError, type UserIdentity } from 'ra-core';

import { failureOf, isSuccess } from './errors.js';
import { type Answer, createClient, type HttpOptions, type Request } from './http.js';
import type { IssuedTokens } from './sessions.js';
import { type Claims, readClaims } from './token-store.js';

/** Options of {@link authProvider}. */
export interface AuthProviderOptions extends HttpOptions {
  /** The url of login and identity: origin and `authBasePath` of the server. @default `<url>/auth` */
  readonly authUrl?: string;
  /** As `loginMethod` of the server. @default 'email' */
  readonly loginField?: 'email' | 'username';
}

export interface LoginParams {
  readonly email?: string;
  /** The login form of react-admin sends this name, also for an e-mail address. */
  readonly username?: string;
  readonly password: string;
}

/** The auth provider; permissions are the roles of the user. */
export interface DeclarestAuthProvider extends AuthProvider {
  login(params: LoginParams): Promise<void>;
  getIdentity(params?: { readonly signal?: AbortSignal }): Promise<UserIdentity>;
  getPermissions(params?: unknown): Promise<string[]>;
}

/**
 * Creates an auth provider for the endpoints of `AuthModule`.
 *
 * @param url the one of the data provider, so that both share the login
 *
 * @example
 * const url = 'http://localhost:3000/api';
 *
 * <Admin dataProvider={dataProvider(url)} authProvider={authProvider(url)} requireAuth />
 */
export function authProvider(url: string, options: AuthProviderOptions = {}): DeclarestAuthProvider {
  const client = createClient(url, options);
  const { tokens, sessions } = client;
  const { authUrl = `${client.url}/auth`, loginField = 'email' } = options;
  const base = authUrl.replace(/\/+$/, '');

  const succeed = async (request: Omit<Request, 'resource'>): Promise<Answer> => {
    const answer = await client.send({ ...request, resource: 'auth' });
    if (isSuccess(answer)) return answer;
    throw failureOf(answer);
  };

  /** Of a token that is replaced first where it expires. A failure of that does not end the login. */
  const claims = async (): Promise<Claims | undefined> => {
    await sessions.token().catch(() => undefined);
    return readClaims(tokens.read());
  };

  return {
    supportAbortSignal: true,

    login: async ({ email, username, password }) => {
      const name = loginField === 'email' ? (email ?? username) : username;
      const json = { [loginField]: name, password };
      const { body } = await succeed({ method: 'POST', url: `${base}/login`, json, isAnonymous: true });
      sessions.start((body as { data: IssuedTokens }).data, base);
    },

    logout: () => sessions.end(),

    checkAuth: async () => {
      if (!(await claims())) throw new HttpError('ra.auth.auth_check_error', 401);
    },

    // react-admin calls `logout` then, which removes the login.
    checkError: async (error: { readonly status?: unknown; readonly keepsLogin?: unknown } | undefined) => {
      if (error?.status === 401 && !error.keepsLogin) throw new HttpError('ra.notification.logged_out', 401);
    },

    getIdentity: async ({ signal } = {}) => {
      const { body } = await succeed({ method: 'GET', url: `${base}/me`, signal });
      const { user } = (body as { data: { user: UserIdentity } }).data;
      const names = [user['firstName'], user['lastName']].filter(Boolean).join(' ');
      return { ...user, fullName: names || user['email'] || user['username'] || String(user.id) };
    },

    getPermissions: async () => (await claims())?.roles ?? [],
  };
}
