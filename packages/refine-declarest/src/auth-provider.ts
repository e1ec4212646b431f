/** Logs in and out at the endpoints of `AuthModule`, and reads the roles from the token. */
import type { AuthActionResponse, AuthProvider, HttpError } from '@refinedev/core';
import {
  type Client,
  type ClientOptions,
  Failure,
  logInBy,
  type LoginBody,
  type LoginStep,
  sharedClient,
  withErrors,
} from 'declarest-client/providers';

import { toHttpError } from './errors.js';

export interface AuthProviderOptions extends ClientOptions {
  /** The URL of the endpoints, where `authBasePath` lies elsewhere. @default `<url>/auth` */
  readonly authUrl?: string;
}

/**
 * A login name with a password, `{ challenge, code }`, `{ passkey: true }`, or `{ passkey }` of a login's answer.
 * Logins at providers begin by `{ providerName }`, as `AuthPage` sends it, and end by `{ url }`.
 *
 * @example
 * const { mutate: login } = useLogin<LoginParams>();
 * login({ providerName: 'google' });
 * login({ url: location.href });
 */
export interface LoginParams extends LoginStep {
  readonly email?: string;
  readonly username?: string;
  readonly password?: string;
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
> & {
  /**
   * Calls the listener when the session has ended. With a listener, failed reads do not log out either, so that a page
   * can ask for a login beside its form. Returns a function that removes the listener.
   */
  onSessionEnd(listener: () => void): () => void;
  /** The client of the provider, for passkeys of the user and requests of your own. It throws `Failure`. */
  readonly client: Client;
} {
  const client = sharedClient(url, options);
  const { authUrl } = options;

  /** @param name is the title of the notification of a failure */
  const enter = async (send: () => Promise<LoginBody | undefined>, name: string): Promise<AuthActionResponse> => {
    try {
      const body = await send();
      // The browser leaves the page.
      if (!body) return { success: true };
      const { data, message } = body;
      const { challenge, passkey } = data;
      if (challenge !== undefined)
        return { success: false, error: { name: 'Second step', message }, challenge, passkey };
      if (data.token !== undefined) return { success: true, redirectTo: '/' };
      // The user must verify the e-mail address first.
      return { success: true, redirectTo: '/login', successNotification: { message } };
    } catch (error) {
      const shown = error instanceof Failure ? toHttpError(error) : (error as Error);
      return { success: false, error: Object.assign(shown, { name }) };
    }
  };

  const methods = withErrors(
    {
      /** Login pages pass further members, such as `remember`. */
      login: ({ email, username, password, ...step }: LoginParams) =>
        enter(() => logInBy(client, step, { email, username, password }, authUrl), 'Login failed'),

      /** A login at a provider registers too. */
      register: (fields: object) => {
        const step = fields as LoginStep;
        const isExternal = step.providerName !== undefined;
        const send = () => (isExternal ? logInBy(client, step, {}, authUrl) : client.register(fields, authUrl));
        return enter(send, 'Registration failed');
      },

      logout: async () => {
        await client.logout();
        return { success: true, redirectTo: '/login' };
      },

      check: async () =>
        (await client.claims())
          ? { authenticated: true }
          : { authenticated: false, logout: true, redirectTo: '/login' },

      /** 401 ends the login, unless a password was wrong. 403 does not: the user may see other pages. */
      onError: async (error: HttpError) =>
        error.statusCode === 401 && !error['keepsLogin'] && !client.keepsRefusedLogin
          ? { logout: true, redirectTo: '/login', error }
          : {},

      getIdentity: async (): Promise<Identity | null> => {
        if (!(await client.claims())) return null;
        const user = await client.user<Omit<Identity, 'name'>>(authUrl);
        const name = [user.firstName, user.lastName].filter(Boolean).join(' ');
        return { ...user, name: name || (user.email ?? user.username ?? String(user.id)) };
      },

      getPermissions: async () => (await client.claims())?.roles ?? [],
    },
    toHttpError,
  );
  return { ...methods, onSessionEnd: client.onSessionEnd, client };
}
