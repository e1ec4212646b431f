/** An application with the plugin `oidc`, and the front end that logs users in. */
import { type AuthOptions, mailedLinks, UserAccounts } from 'declarest';
import { oidc, type OidcOptions } from 'declarest-logins/oidc';
import type { AuthPlugin } from 'declarest/plugin';
import { type AuthApp, type AuthAppOptions, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import type { Platform } from '../harness/platforms.js';
import { DescribedApi, documentOf } from '../openapi/described.js';
import { browse } from './identity-provider.js';

export const BASE = '/api/auth';

export interface Begun {
  readonly url: string;
  readonly verifier: string;
}

export interface OidcApp extends AuthApp {
  begin: (provider?: string, json?: object) => Promise<Begun>;
  /** The response of the provider, which the client has not sent yet. */
  respond: (subject: string, provider?: string) => Promise<Begun>;
  finish: (response: object, options?: { token?: string }) => Promise<Answer>;
  /** From the begin to the end. */
  logIn: (subject: string, provider?: string) => Promise<Answer>;
  beginLink: (token: string, provider?: string, json?: object) => Promise<Answer>;
  finishLink: (token: string, response: object) => Promise<Answer>;
  link: (token: string, subject: string, provider?: string) => Promise<Answer>;
  identities: (token: string) => Promise<{ id: string; provider: string; email: string | null }[]>;
  unlink: (token: string, id: string) => Promise<Answer>;
  /** A user whose address counts as verified. */
  createVerified: () => Promise<{ id: string; email: string; token: string }>;
}

interface OidcAppOptions extends Omit<AuthAppOptions, 'auth'> {
  auth?: Partial<AuthOptions>;
  plugins?: readonly AuthPlugin[];
}

export async function startOidc(
  platform: Platform,
  options: OidcOptions,
  { auth, plugins = [mailedLinks()], ...more }: OidcAppOptions = {},
): Promise<OidcApp> {
  const app = await startAuth(platform, {
    ...more,
    auth: { throttle: false, ...auth, plugins: [...plugins, oidc(options)] },
  });
  // Each answer must be as the document says.
  const api = new DescribedApi(documentOf(app.app));
  const send = async (method: string, path: string, sent: RequestOptions = {}): Promise<Answer> => {
    const answer = await request(app.url, method, path, sent);
    const operation = api.find(method, path);
    const wrong = operation ? api.wrongWith(operation, answer) : [`no operation is ${method} ${path}`];
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    return answer;
  };
  const post: AuthApp['post'] = (path, json, sent) => send('POST', path, { json, ...sent });
  const begin = async (provider = 'main', json: object = {}): Promise<Begun> => {
    const answer = await post(`${BASE}/oidc/${provider}`, json);
    if (answer.status !== 200) throw new Error(`begin answered ${answer.status} ${answer.text}`);
    return answer.json.data;
  };
  const respond = async (subject: string, provider?: string): Promise<Begun> => {
    const { url, verifier } = await begin(provider);
    return { url: await browse(url, subject), verifier };
  };
  const finish = (response: object, sent = {}): Promise<Answer> => post(`${BASE}/oidc`, response, sent);
  const beginLink: OidcApp['beginLink'] = (token, provider = 'main', json = { password: PASSWORD }) =>
    post(`${BASE}/identities/${provider}`, json, { token });
  const finishLink: OidcApp['finishLink'] = (token, response) => post(`${BASE}/identities`, response, { token });
  return {
    ...app,
    post,
    begin,
    respond,
    finish,
    logIn: async (subject, provider) => finish(await respond(subject, provider)),
    beginLink,
    finishLink,
    link: async (token, subject, provider) => {
      const { status, text, json } = await beginLink(token, provider);
      if (status !== 200) throw new Error(`beginLink answered ${status} ${text}`);
      const { url, verifier } = json.data as Begun;
      return finishLink(token, { url: await browse(url, subject), verifier });
    },
    identities: async (token) => (await send('GET', `${BASE}/identities`, { token })).json.data,
    unlink: (token, id) => send('DELETE', `${BASE}/identities/${id}`, { token }),
    createVerified: async () => {
      const email = uniqueEmail();
      const { id } = await app.app.get(UserAccounts, { strict: false }).create({ email, password: PASSWORD });
      const { token } = (await post(`${BASE}/login`, { email, password: PASSWORD })).json.data;
      return { id: String(id), email, token };
    },
  };
}
