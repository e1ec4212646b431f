/** Logs in and out at the endpoints of `AuthModule`, and reads the roles from the token. */
import type { AuthProvider, HttpError, UserIdentity } from 'ra-core';

import { failureOf } from './errors.js';
import { createClient, type HttpOptions } from './http.js';
import { readClaims } from './token-store.js';

export interface AuthProviderOptions extends HttpOptions {
  /** The URL of the endpoints, where `authBasePath` lies elsewhere. @default `<url>/auth` */
  readonly authUrl?: string;
  /** What the user name of react-admin's login form is. @default 'email' */
  readonly loginField?: 'email' | 'username';
}

interface Profile {
  readonly id: string | number;
  readonly email: string | null;
  readonly username: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/**
 * The auth provider of react-admin. `getPermissions` returns the roles of the token, for example `['ADMIN']`.
 *
 * @param url the one of the data provider, which sends the token of this login
 *
 * @example
 * <Admin dataProvider={dataProvider(url)} authProvider={authProvider(url)} requireAuth />
 */
export function authProvider(url: string, options: AuthProviderOptions = {}): AuthProvider {
  const { loginField = 'email' } = options;
  const client = createClient(url, options);
  const { tokens } = client;
  const base = options.authUrl?.replace(/\/+$/, '') ?? `${client.url}/auth`;

  return {
    async login({ username, password, ...others }: Readonly<Record<string, unknown>>) {
      // A login of another user must not send the token of the last one.
      tokens.clear();
      const body = { ...(username !== undefined && { [loginField]: username }), ...others, password };
      const answer = await client.send({ method: 'POST', url: `${base}/login`, resource: 'login', json: body });
      if (answer.status !== 200) throw failureOf(answer);
      tokens.write((answer.body as { readonly data: { readonly token: string } }).data.token);
    },

    async logout() {
      tokens.clear();
    },

    async checkAuth() {
      if (!readClaims(tokens.read())) throw new Error('Log in to continue.');
    },

    /** 401 ends the login. 403 does not: the user may see other pages. */
    async checkError(error: HttpError) {
      if (error.status !== 401) return;
      tokens.clear();
      throw error;
    },

    async getIdentity(): Promise<UserIdentity> {
      const answer = await client.send({ method: 'GET', url: `${base}/me`, resource: 'me' });
      if (answer.status !== 200) throw failureOf(answer);
      const { user } = (answer.body as { readonly data: { readonly user: Profile } }).data;
      const name = [user.firstName, user.lastName].filter(Boolean).join(' ');
      return { ...user, fullName: name || (user.email ?? user.username ?? String(user.id)) };
    },

    async getPermissions(): Promise<readonly string[]> {
      return readClaims(tokens.read())?.roles ?? [];
    },
  };
}
