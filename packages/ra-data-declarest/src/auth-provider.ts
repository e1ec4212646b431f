/** The auth provider of react-admin. */
import {
  type Client,
  type ClientOptions,
  createPermissions,
  type Fields,
  logInBy,
  type LoginBody,
  type LoginStep,
  type PermissionOptions,
  resolveUrl,
  sharedClient,
  withErrors,
} from 'declarest-client/providers';
import { type AuthProvider, HttpError, type UserIdentity } from 'ra-core';

import { toHttpError } from './errors.js';

/** Options of {@link authProvider}. */
export interface AuthProviderOptions extends ClientOptions, PermissionOptions {
  /** As `loginMethod` of the server. @default 'email' */
  readonly loginField?: 'email' | 'username';
}

/** react-admin names a field by its resource: `products.cost`, `products/:productId/reviews.text`. */
const FIELD = /^(.*?[^/.]+)\.([^/]+)$/;
const FIELD_ACTIONS: readonly string[] = ['read', 'write'];

/**
 * A login name with a password, `{ challenge, code }`, `{ passkey: true }`, `{ passkey }` of a `ChallengeError`, or
 * `{ providerName }`.
 */
export interface LoginParams extends LoginStep {
  readonly email?: string;
  /** The login form of react-admin sends this name, also for an e-mail address. */
  readonly username?: string;
  readonly password?: string;
}

/** What `login` throws where the password is right, and the user must give a second factor. */
export interface ChallengeError extends HttpError {
  /** For `login({ challenge, code })`. */
  readonly challenge: string;
  /** For `login({ passkey })`, where a passkey counts too. */
  readonly passkey?: object | undefined;
}

/** The auth provider; permissions are the roles of the user. */
export interface DeclarestAuthProvider extends AuthProvider {
  /**
   * Logs in by a password, by the code of a second factor, or by a passkey. `providerName` leaves the page for the
   * login at a provider of `oidc()`.
   *
   * @returns `{ redirectTo: false }` where it leaves the page
   * @throws ChallengeError where a login needs a second factor
   * @throws HttpError
   *
   * @example
   * const login = useLogin();
   * await login({ email, password }).catch(({ challenge }: ChallengeError) => setChallenge(challenge));
   * await login({ challenge, code });
   *
   * @example
   * await login({ providerName: 'google' });
   */
  login(params: LoginParams): Promise<void | { readonly redirectTo: false }>;
  /**
   * Logs in on the page that a provider has sent the user back to. react-admin calls it on `/auth-callback`.
   *
   * @throws ChallengeError, HttpError as `login`
   */
  handleCallback(): Promise<void>;
  /** The client of the provider, for passkeys of the user and requests of your own. It throws `Failure`. */
  readonly client: Client;
  getIdentity(params?: { readonly signal?: AbortSignal }): Promise<UserIdentity>;
  getPermissions(params?: unknown): Promise<string[]>;
  /**
   * Whether the server allows it, as its `accessEndpoint()` says, or else the option `document`; without both, everything is
   * allowed. Actions are those of react-admin and the names of operations; `read` and `write` are for a field such as
   * `products.cost`.
   */
  canAccess(params: {
    readonly action: string;
    readonly resource: string;
    readonly record?: unknown;
  }): Promise<boolean>;
  /**
   * Calls the listener when the session has ended. With a listener, failed reads do not log out either, so that a page
   * can ask for a login beside its form.
   *
   * @returns a function that removes the listener
   */
  onSessionEnd(listener: () => void): () => void;
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
  const client = sharedClient(url, options);
  const { authUrl, loginField = 'email' } = options;
  const mayDo = createPermissions(client, options);

  /** @throws ChallengeError */
  const assertLoggedIn = ({ data, message }: LoginBody): void => {
    if (data.challenge !== undefined)
      throw Object.assign(new HttpError(message, 401), {
        challenge: data.challenge,
        passkey: data.passkey,
      }) satisfies ChallengeError;
  };

  const provider: DeclarestAuthProvider = {
    supportAbortSignal: true,

    client,

    login: async ({ email, username, password, ...step }) => {
      const name = loginField === 'email' ? (email ?? username) : username;
      const body = await logInBy(client, step, { [loginField]: name, password }, authUrl);
      if (!body) return { redirectTo: false };
      return assertLoggedIn(body);
    },

    handleCallback: async () => assertLoggedIn(await client.finishExternalLogin(resolveUrl('').href, authUrl)),

    logout: () => client.logout(),

    checkAuth: async () => {
      if (!(await client.claims())) throw new HttpError('ra.auth.auth_check_error', 401);
    },

    // react-admin calls `logout` then, which removes the login.
    checkError: async (error: { readonly status?: unknown; readonly keepsLogin?: unknown } | undefined) => {
      if (error?.status === 401 && !error.keepsLogin && !client.keepsRefusedLogin)
        throw new HttpError('ra.notification.logged_out', 401);
    },

    getIdentity: async ({ signal } = {}) => {
      const user = await client.user<UserIdentity>(authUrl, signal);
      const names = [user['firstName'], user['lastName']].filter(Boolean).join(' ');
      return { ...user, fullName: names || user['email'] || user['username'] || String(user.id) };
    },

    canAccess: ({ action, resource, record }) => {
      const [, owner = resource, field] = FIELD_ACTIONS.includes(action) ? (FIELD.exec(resource) ?? []) : [];
      return mayDo({ action, resource: owner, field, record: record as Fields | undefined });
    },

    onSessionEnd: client.onSessionEnd,

    getPermissions: async () => (await client.claims())?.roles ?? [],
  };
  return { ...withErrors(provider, toHttpError), onSessionEnd: provider.onSessionEnd };
}
