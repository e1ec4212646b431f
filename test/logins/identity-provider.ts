/** A certified OpenID Connect server on loopback, and a browser of a user who is logged in there. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Configuration } from 'oidc-provider';

export const CLIENT = { clientId: 'shop', clientSecret: 'a secret that no answer shows' };

export interface IdentityProvider {
  readonly issuer: string;
  readonly port: number;
  /** The claims of each account, by its subject; `inIdToken` has those that differ there. */
  readonly accounts: Map<string, Record<string, unknown>>;
  /** The paths that were requested. */
  readonly requests: string[];
  /** Its clock is so many milliseconds off. */
  clockOffset: number;
  /** Answers the next requests in its place. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean | void) | undefined;
  close: () => Promise<void>;
}

// It warns of what only production needs.
const muted = (['warn', 'info'] as const).map((level) => vi.spyOn(console, level).mockImplementation(() => undefined));
const { default: Provider } = await import('oidc-provider');

const clocks = new AsyncLocalStorage<number>();
const now = Date.now.bind(Date);
const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + (clocks.getStore() ?? 0));
afterAll(() => [...muted, clock].forEach((spy) => spy.mockRestore()));

export async function startProvider(
  redirectUris: readonly string[],
  more: Configuration & { readonly port?: number } = {},
): Promise<IdentityProvider> {
  const { port: wanted = 0, ...configuration } = more;
  const accounts: IdentityProvider['accounts'] = new Map();
  const server = createServer((request, response) => {
    running.requests.push(`${request.method} ${String(request.url).split('?')[0]}`);
    if (running.instead?.(request, response)) return;
    clocks.run(running.clockOffset, () => void handle(request, response));
  });
  const port = await listen(server, wanted);
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [...redirectUris],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { email: ['email', 'email_verified'], profile: ['given_name', 'family_name', 'preferred_username'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: (use) => {
        const { inIdToken = {}, ...claims } = accounts.get(sub) ?? {};
        return { ...claims, ...(use === 'id_token' && (inIdToken as object)), sub };
      },
    }),
    cookies: { keys: ['of this test'] },
    ...configuration,
  });
  const callback = provider.callback();

  /** The user is `login_hint`, and agrees to everything. */
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!request.url?.startsWith('/interaction/')) return callback(request, response);
    const { params, prompt, session } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login')
      return provider.interactionFinished(request, response, { login: { accountId: String(params['login_hint']) } });
    const grant = new provider.Grant({ accountId: session!.accountId, clientId: String(params['client_id']) });
    grant.addOIDCScope(String(params['scope']));
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }

  const close = (): Promise<void> => stop(server);
  const running: IdentityProvider = { issuer, port, accounts, requests: [], clockOffset: 0, instead: undefined, close };
  return running;
}

export async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

export const stop = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** Opens an address at a provider as a browser of `subject`. @returns where the provider sends the user back to */
export async function browse(address: string, subject: string): Promise<string> {
  let url = new URL(address);
  url.searchParams.set('login_hint', subject);
  const { origin } = url;
  const cookies = new Map<string, string>();
  for (let steps = 0; steps < 10; steps += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null)
      throw new Error(`${url.href} answered ${response.status} ${/<pre>.*/.exec(await response.text())?.[0]}`);
    url = new URL(location, url);
    if (url.origin !== origin) return url.href;
  }
  throw new Error('The provider sends no one back.');
}
