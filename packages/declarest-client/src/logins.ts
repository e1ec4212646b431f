/** The ways to log in and register: by a password, a second factor, a passkey, and a login at a provider. */
import { dataOf, Failure, succeed } from './failure.js';
import { createPasskey, getPasskey } from './passkeys.js';
import type { Request, Sender } from './requests.js';
import type { IssuedTokens, Sessions } from './sessions.js';
import { pageStorage } from './token-store.js';

/** The body of the response to a login or a registration. */
export interface LoginBody {
  readonly message: string;
  /** Without a token where the user must verify the e-mail address, or give a second factor, first. */
  readonly data: Partial<IssuedTokens> & {
    readonly user?: unknown;
    /** The challenge of a login that needs a second factor: `answerChallenge` takes it. */
    readonly challenge?: string;
    /** The options of the ceremony, where a passkey counts as well as a code: `answerChallengeByPasskey` takes them. */
    readonly passkey?: object;
  };
}

/** What a passkey is added or removed with. Without any of it, the user confirms by a passkey that it has. */
export interface PasskeyConfirmation {
  readonly password?: string | undefined;
  /** A code of the authenticator app, or a recovery code. A user who has a second factor adds a passkey by a factor only. */
  readonly code?: string | undefined;
  /** For a user without a password, passkey and second factor, who has logged in within the last 5 minutes. */
  readonly hasJustLoggedIn?: true | undefined;
}

export interface Logins {
  /**
   * Logs in, and stores the tokens. Where `data` of the body has a `challenge`, the user is not logged in yet: ask for a code,
   * and pass both to `answerChallenge`.
   *
   * @param authUrl of the endpoints of `AuthModule`. @default `<url>/auth`
   * @throws Failure
   *
   * @example
   * const { data } = await client.login({ email, password });
   * if (data.challenge !== undefined) await client.answerChallenge(data.challenge, await askForCode());
   */
  login(credentials: object, authUrl?: string): Promise<LoginBody>;
  /**
   * The second step of a login, with `secondFactor()` on the server. Stores the tokens as `login` does.
   *
   * @param challenge of the login. It is good for 5 minutes and 5 codes
   * @param code of the authenticator app, or a recovery code
   * @throws Failure 401 for a wrong code
   */
  answerChallenge(challenge: string, code: string, authUrl?: string): Promise<LoginBody>;
  /**
   * As `answerChallenge`, by a passkey, with `passkeys({ secondFactor: true })` on the server.
   *
   * @param passkey of the login
   * @throws Failure as `loginByPasskey`
   */
  answerChallengeByPasskey(passkey: object, authUrl?: string): Promise<LoginBody>;
  /** As `login`, for a new user. */
  register(fields: object, authUrl?: string): Promise<LoginBody>;
  /**
   * As `login`, by a passkey that the user chooses in the browser (WebAuthn), with `passkeys()` on the server.
   *
   * @throws Failure 400 where the browser gives no passkey, such as for a user who has cancelled
   */
  loginByPasskey(authUrl?: string): Promise<LoginBody>;
  /** As `register`, by a new passkey in place of a password. @throws Failure as `loginByPasskey` */
  registerByPasskey(fields: object, authUrl?: string): Promise<LoginBody>;
  /**
   * Adds a passkey to the user.
   *
   * @returns its id
   * @throws Failure as `loginByPasskey`; 401 for a wrong proof, and for a login that is too old
   *
   * @example
   * await client.addPasskey({ name: 'Laptop', password });
   */
  addPasskey(passkey: PasskeyConfirmation & { readonly name: string }, authUrl?: string): Promise<string>;
  /** Removes a passkey of the user. @throws Failure as `addPasskey` */
  removePasskey(id: string, confirmation: PasskeyConfirmation, authUrl?: string): Promise<void>;
  /**
   * Begins a login at a provider such as Google, with `oidc()` on the server. `sessionStorage` keeps what proves that this tab
   * has begun it.
   *
   * @param provider its name on the server
   * @param redirectUri where the provider sends the user back to. @default the first one that the server declares
   * @returns the URL to send the user to
   * @throws Failure 404 for an unknown provider
   *
   * @example
   * location.assign(await client.beginExternalLogin('google'));
   */
  beginExternalLogin(provider: string, redirectUri?: string, authUrl?: string): Promise<string>;
  /**
   * As `login`, on the page that the provider has sent the user back to.
   *
   * @param url of that page, with its query. It counts once, within 10 minutes
   * @throws Failure 401 for a login that failed, 409 where no account may be used or created, 400 where this tab has begun none
   *
   * @example
   * await client.finishExternalLogin(location.href);
   */
  finishExternalLogin(url: string, authUrl?: string): Promise<LoginBody>;
}

/** What a login page passes to a provider in place of a password. */
export interface LoginStep {
  /** The challenge of a login that needs a code, with `code`. */
  readonly challenge?: string;
  readonly code?: string;
  /** Asks the browser for a passkey: `true`, or the `passkey` of a login that needs a second factor. */
  readonly passkey?: true | object;
  /** Leaves the page for the login at this provider of `oidc()`, such as `google`. */
  readonly providerName?: string;
  /** Where that provider sends the user back to. @default the first one that the server declares */
  readonly redirectUri?: string;
  /** The URL of the page that it has sent the user back to, with the query. */
  readonly url?: string;
}

/** The part of a page that is used. */
interface Page {
  readonly location: { assign(url: string): void };
}

/** The login of a provider. @returns `undefined` where the browser leaves the page */
export async function logInBy(
  client: Logins,
  { challenge, code = '', passkey, providerName, redirectUri, url }: LoginStep,
  credentials: object,
  authUrl?: string,
): Promise<LoginBody | undefined> {
  if (providerName !== undefined) {
    const { location } = globalThis as unknown as Page;
    location.assign(await client.beginExternalLogin(providerName, redirectUri, authUrl));
    return undefined;
  }
  if (url !== undefined) return client.finishExternalLogin(url, authUrl);
  if (challenge !== undefined) return client.answerChallenge(challenge, code, authUrl);
  if (passkey === true) return client.loginByPasskey(authUrl);
  return passkey ? client.answerChallengeByPasskey(passkey, authUrl) : client.login(credentials, authUrl);
}

/** The parts of a client that are used. */
interface Parts {
  readonly sender: Sender;
  readonly sessions: Pick<Sessions, 'logIn' | 'start'>;
  /** Whether a login at another origin sets a cookie. */
  readonly cookie: boolean;
  accountUrl(authUrl?: string): string;
  /** Follows a login. */
  onLogin(): void;
}

export function createLogins({ sender, sessions, cookie, accountUrl, onLogin }: Parts): Logins {
  const request = (method: string, path: string, json: object, authUrl?: string): Request => ({
    method,
    url: `${accountUrl(authUrl)}/${path}`,
    resource: 'auth',
    json,
  });

  /** Sends a request without a token whose answer may be a login. */
  const enter = async (path: string, json: object, authUrl?: string): Promise<LoginBody> => {
    const sent: Request = { ...request('POST', path, json, authUrl), isAnonymous: true };
    const body = await sessions.logIn(async () => {
      const answer = await succeed(sender, { ...sent, ...(cookie && { credentials: 'include' }) });
      const data = dataOf<LoginBody['data']>(answer, 'authUrl');
      if (data.token !== undefined) sessions.start(data as IssuedTokens, accountUrl(authUrl));
      return answer.body as LoginBody;
    });
    if (body.data.token !== undefined) onLogin();
    return body;
  };

  /** The `data` of an answer. */
  const post = async (path: string, json: object, authUrl?: string, isAnonymous = false): Promise<object> => {
    return dataOf(await succeed(sender, { ...request('POST', path, json, authUrl), isAnonymous }), 'authUrl');
  };

  const verifiers = pageStorage('sessionStorage');
  const verifierKey = (authUrl?: string): string => `declarest:${accountUrl(authUrl)}/oidc`;

  /** What shows that it is the user who changes the passkeys. */
  const confirm = async (confirmation: PasskeyConfirmation, authUrl?: string): Promise<object> => {
    const { password, code, hasJustLoggedIn } = confirmation;
    if (password !== undefined || code !== undefined || hasJustLoggedIn) return { password, code };
    return { credential: await getPasskey(await post('passkeys/confirm/options', {}, authUrl)) };
  };

  return {
    login: (credentials, authUrl) => enter('login', credentials, authUrl),
    answerChallenge: (challenge, code, authUrl) => enter('mfa/challenge', { challenge, code }, authUrl),
    answerChallengeByPasskey: async (passkey, authUrl) =>
      enter('passkeys/challenge', { credential: await getPasskey(passkey) }, authUrl),
    register: (fields, authUrl) => enter('register', fields, authUrl),

    loginByPasskey: async (authUrl) => {
      const options = await post('passkeys/login/options', {}, authUrl, true);
      return enter('passkeys/login', { credential: await getPasskey(options) }, authUrl);
    },

    registerByPasskey: async (fields, authUrl) => {
      const { email, username } = fields as { readonly email?: unknown; readonly username?: unknown };
      const options = await post('passkeys/register/options', { email, username }, authUrl, true);
      return enter('passkeys/register', { ...fields, credential: await createPasskey(options) }, authUrl);
    },

    addPasskey: async ({ name, ...confirmation }, authUrl) => {
      const options = await post('passkeys/options', await confirm(confirmation, authUrl), authUrl);
      const added = await post('passkeys', { name, credential: await createPasskey(options) }, authUrl);
      return (added as { readonly passkey: { readonly id: string } }).passkey.id;
    },

    removePasskey: async (id, confirmation, authUrl) => {
      const json = await confirm(confirmation, authUrl);
      await succeed(sender, request('DELETE', `passkeys/${encodeURIComponent(id)}`, json, authUrl));
    },

    beginExternalLogin: async (provider, redirectUri, authUrl) => {
      const begun = await post(`oidc/${encodeURIComponent(provider)}`, { redirectUri }, authUrl, true);
      const { url, verifier } = begun as { readonly url: string; readonly verifier: string };
      verifiers.setItem(verifierKey(authUrl), verifier);
      return url;
    },

    finishExternalLogin: async (url, authUrl) => {
      const verifier = verifiers.getItem(verifierKey(authUrl));
      if (verifier === null) throw new Failure('This tab has not begun a login at a provider. Begin it again.', 400);
      const body = await enter('oidc', { url, verifier }, authUrl);
      verifiers.removeItem(verifierKey(authUrl));
      return body;
    },
  };
}
