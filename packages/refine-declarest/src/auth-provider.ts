/** Logs in and out at the endpoints of `AuthModule`, and reads the roles from the token. */
import type { AuthActionResponse, AuthProvider, HttpError } from '@refinedev/core';

import { isSuccess } from './batches.js';
import { failureOf } from './errors.js';
import { createClient, type HttpOptions } from './http.js';
import type { IssuedTokens } from './sessions.js';
import { type Claims, readClaims } from './token-store.js';

export interface AuthProviderOptions extends HttpOptions {
  /** The URL of the endpoints, where `authBasePath` lies elsewhere. @default `<url>/auth` */
  readonly authUrl?: string;
}

interface Credentials {
  readonly email?: string;
  readonly username?: string;
  readonly password?: string;
}

interface EnterBody {
  readonly data: Partial<IssuedTokens>;
  readonly message?: string;
}

/** The user of the token, as `/me` says. */
export interface Identity {
  readonly id: string | number;
  readonly email: string | null;
  readonly username: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly role: string;
  readonly active: boolean;
  /** The first and last name, or else the login. */
  readonly name: string;
}

/**
 * The auth provider of refine. `getPermissions` returns the roles of the token, for example `['ADMIN']`.
 *
 * @param url the one of the data provider, which sends the token of this login
 *
 * @example
 * <Refine dataProvider={dataProvider(url)} authProvider={authProvider(url)} />
 */
export function authProvider(
  url: string,
  options: AuthProviderOptions = {},
): Required<
  Pick<AuthProvider, 'login' | 'register' | 'logout' | 'check' | 'onError' | 'getIdentity' | 'getPermissions'>
> {
  const client = createClient(url, options);
  const { tokens, sessions } = client;
  const base = options.authUrl?.replace(/\/+$/, '') ?? `${client.url}/auth`;

  /** Of a token that is replaced first where it expires. A failure of that does not end the login. */
  const claims = async (): Promise<Claims | undefined> => {
    await sessions.token().catch(() => undefined);
    return readClaims(tokens.read());
  };

  /** Both endpoints answer a token, unless the user must verify the e-mail address first. */
  const enter = async (level: 'login' | 'register', body: unknown, name: string): Promise<AuthActionResponse> => {
    try {
      // A login of another user must not send the token of the last one.
      tokens.clear();
      const url = `${base}/${level}`;
      const answer = await client.send({ method: 'POST', url, resource: level, body });
      if (!isSuccess(answer)) throw failureOf(answer, level);
      const { data, message } = answer.json as EnterBody;
      if (data.token === undefined)
        return { success: true, redirectTo: '/login', successNotification: { message: message ?? '' } };
      sessions.start(data as IssuedTokens, base);
      return { success: true, redirectTo: '/' };
    } catch (error) {
      // refine shows the name as the title of the notification.
      return { success: false, error: Object.assign(error as Error, { name }) };
    }
  };

  return {
    /** Login pages pass further members, such as `remember`. */
    login: ({ email, username, password }: Credentials) =>
      enter('login', { email, username, password }, 'Login failed'),

    register: (fields: unknown) => enter('register', fields, 'Registration failed'),

    logout: async () => {
      await sessions.end();
      return { success: true, redirectTo: '/login' };
    },

    check: async () =>
      (await claims()) ? { authenticated: true } : { authenticated: false, logout: true, redirectTo: '/login' },

    /** 401 ends the login, unless a password was wrong. 403 does not: the user may see other pages. */
    onError: async (error: HttpError) =>
      error.statusCode === 401 && !error['keepsLogin'] ? { logout: true, redirectTo: '/login', error } : {},

    getIdentity: async (): Promise<Identity | null> => {
      if (!(await claims())) return null;
      const answer = await client.send({ method: 'GET', url: `${base}/me`, resource: 'me' });
      if (!isSuccess(answer)) throw failureOf(answer, 'me');
      const { user } = (answer.json as { readonly data: { readonly user: Omit<Identity, 'name'> } }).data;
      const name = [user.firstName, user.lastName].filter(Boolean).join(' ');
      return { ...user, name: name || (user.email ?? user.username ?? String(user.id)) };
    },

    getPermissions: async () => (await claims())?.roles ?? [],
  };
}
