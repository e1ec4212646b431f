/** The ways to log in besides the password: providers, passkeys, and a mail with a link to a new password. */
import { accountUrlOf, type Client, succeed } from 'declarest-client/providers';
import type { AuthProviderOptions } from 'ra-data-declarest';

export interface LoginOptions extends Pick<AuthProviderOptions, 'authUrl' | 'loginField'> {
  /** What the login page offers besides the password: the document, which tells the rest, is read after the login. */
  readonly logins?: Logins;
  /**
   * The page to which a provider sends people back: one of its `redirectUris`, which shows the interface.
   *
   * @default the first one that the server declares
   * @example (provider) => `https://shop.example/admin/login/${provider}/`
   */
  readonly redirectUri?: (provider: string) => string;
}

export interface Logins {
  /** The providers of `oidc()`, and their names for people: `{ google: 'Google' }`. */
  readonly providers?: Readonly<Record<string, string>>;
  /** Whether the server has `passkeys()`, with the origin of this page in `origins`. */
  readonly passkeys?: boolean;
  /** Whether the server has `passwordReset`. Its mails lead to the page of `accountLinks`. */
  readonly passwordReset?: boolean;
}

export interface ConnectedLogins extends Logins, Pick<LoginOptions, 'loginField'> {
  /** @returns the address of the provider */
  beginAt(provider: string): Promise<string>;
  /** Whether a provider has sent the user back, until `takeReturn` returns the address to which it did. */
  readonly hasReturn: boolean;
  takeReturn(): string | undefined;
  requestReset(email: string): Promise<unknown>;
}

/** @param returned the address to which a provider has sent the user back */
export function connectLogins(client: Client, options: LoginOptions, returned: string | undefined): ConnectedLogins {
  const { authUrl, loginField = 'email', logins = {}, redirectUri } = options;
  let waiting = returned;
  return {
    ...logins,
    loginField,
    beginAt: (provider) => client.beginExternalLogin(provider, redirectUri?.(provider), authUrl),
    get hasReturn() {
      return waiting !== undefined;
    },
    takeReturn: () => {
      const taken = waiting;
      waiting = undefined;
      return taken;
    },
    requestReset: (email) => {
      const url = `${accountUrlOf(client.url, authUrl)}/password/forgot`;
      return succeed(client, { method: 'POST', url, resource: 'auth', json: { email }, isAnonymous: true });
    },
  };
}
