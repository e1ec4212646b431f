/** Logins at a provider of OpenID Connect, through the client and the providers. */
import { type Client, createClient, Failure } from 'declarest-client';
import * as reactAdmin from 'ra-data-declarest';
import * as refine from 'refine-declarest';
import { browse, CLIENT, type IdentityProvider, startProvider } from '../logins/identity-provider.js';
import { type OidcApp, startOidc } from '../logins/oidc-app.js';
import { recordedOptions, type RecordedOptions } from './admin-service.js';

const PAGE = 'https://shop.example/login/main';
const OTHER_PAGE = 'https://phone.shop.example/login';
const NOT_BEGUN = 'This tab has not begun a login at a provider. Begin it again.';

let provider: IdentityProvider;
let app: OidcApp;
let api: string;
// The client cannot see the platform. test/logins checks the endpoints on both.
beforeAll(async () => {
  provider = await startProvider([PAGE, OTHER_PAGE]);
  provider.accounts.set('ann', { email: 'ann@shop.example', email_verified: true });
  const main = { issuer: provider.issuer, ...CLIENT, redirectUris: [PAGE, OTHER_PAGE] };
  app = await startOidc('fastify', { providers: { main } }, { auth: { sessions: true } });
  api = `${app.url}/api`;
});
afterAll(async () => {
  await app.close();
  await provider.close();
});

/** A tab of the browser: each page that it opens has a client of its own. */
interface Tab extends RecordedOptions {
  readonly openPage: () => Client;
}

function openTab(): Tab {
  const options = recordedOptions(api);
  const { storage } = recordedOptions(api);
  const openPage = (): Client => {
    vi.stubGlobal('sessionStorage', storage);
    return createClient(api, options);
  };
  return { ...options, openPage };
}
afterEach(() => void vi.unstubAllGlobals());

/** Opens a page of a tab, whose providers keep nothing of the pages before. @returns also the URLs that it left for */
function openAt(tab: Tab, href: string) {
  tab.openPage();
  const left: string[] = [];
  vi.stubGlobal('location', { href, assign: (url: string) => void left.push(url) });
  const options = { storage: tab.storage, fetch: ((...args) => tab.fetch(...args)) as typeof fetch };
  return { left, reactAdmin: reactAdmin.authProvider(api, options), refine: refine.authProvider(api, options) };
}

const failure = (promise: Promise<unknown>): Promise<Failure> =>
  promise.then(
    () => expect.unreachable(),
    (error: Failure) => error,
  );

it('logs in on the page that the provider sends the user back to, and refreshes the session', async () => {
  const tab = openTab();
  const url = await tab.openPage().beginExternalLogin('main');
  const back = await browse(url, 'ann');
  expect([back.startsWith(`${PAGE}?`), tab.items.size]).toEqual([true, 0]);
  const client = tab.openPage();
  const { data } = await client.finishExternalLogin(back);
  expect([data.user, await client.claims()]).toMatchObject([{ email: 'ann@shop.example' }, { roles: ['USER'] }]);
  const [[key, text] = ['', '{}']] = [...tab.items];
  const { session, ...login } = JSON.parse(text) as { session: object };
  tab.items.set(key, JSON.stringify({ ...login, session: { ...session, refreshAt: 0 } }));
  expect(await client.user()).toMatchObject({ email: 'ann@shop.example' });
  expect(tab.sent.map(({ method, path, headers }) => [`${method} ${path}`, 'Authorization' in headers])).toEqual([
    ['POST /auth/oidc/main', false],
    ['POST /auth/oidc', false],
    ['POST /auth/refresh', false],
    ['GET /auth/me', true],
  ]);
  expect((await failure(client.finishExternalLogin(back))).status).toBe(400);
});

it('finishes no login that another tab has begun', async () => {
  const back = await browse(await openTab().openPage().beginExternalLogin('main'), 'ann');
  const tab = openTab();
  const { status, message } = await failure(tab.openPage().finishExternalLogin(back));
  expect([status, message]).toEqual([400, NOT_BEGUN]);
  await tab.openPage().beginExternalLogin('main');
  expect(await failure(tab.openPage().finishExternalLogin(back))).toMatchObject({
    status: 401,
    message: 'The login at the provider failed',
  });
  expect(tab.items.size).toBe(0);
});

it('sends the user back to the page that the client names', async () => {
  const page = openTab().openPage();
  const url = await page.beginExternalLogin('main', OTHER_PAGE);
  expect(new URL(url).searchParams.get('redirect_uri')).toBe(OTHER_PAGE);
  expect((await failure(page.beginExternalLogin('main', 'https://evil.example/'))).status).toBe(400);
  expect((await failure(page.beginExternalLogin('none'))).status).toBe(404);
});

it('leaves the page and logs in on the way back, by react-admin', async () => {
  const tab = openTab();
  const { left, reactAdmin: before } = openAt(tab, PAGE);
  await expect(before.login({ providerName: 'none' })).rejects.toMatchObject({ status: 404 });
  expect(left).toEqual([]);
  expect(await before.login({ providerName: 'main' })).toEqual({ redirectTo: false });
  const back = await browse(String(left), 'ann');
  const { reactAdmin: auth } = openAt(tab, `${back}#/auth-callback`);
  await expect(auth.checkAuth({})).rejects.toMatchObject({ status: 401 });
  await auth.handleCallback();
  await auth.checkAuth({});
  expect(await auth.getIdentity()).toMatchObject({ email: 'ann@shop.example' });
  await expect(auth.handleCallback()).rejects.toMatchObject({ status: 400, message: NOT_BEGUN });
});

it('leaves the page and logs in on the way back, by refine', async () => {
  const tab = openTab();
  const { left, refine: before } = openAt(tab, PAGE);
  const unknown = { providerName: 'none' };
  const refused = [await before.login(unknown), await before.register(unknown)];
  expect(refused.map(({ success, error }) => [success, error?.name])).toEqual([
    [false, 'Login failed'],
    [false, 'Registration failed'],
  ]);
  expect(left).toEqual([]);
  expect(await before.login({ providerName: 'main', redirectUri: OTHER_PAGE })).toEqual({ success: true });
  expect(await before.register({ providerName: 'main' })).toEqual({ success: true });
  const pages = left.map((url) => new URL(url).searchParams.get('redirect_uri'));
  expect(pages).toEqual([OTHER_PAGE, PAGE]);
  const back = await browse(String(left.at(-1)), 'ann');
  const { refine: auth } = openAt(tab, back);
  expect((await auth.check()).authenticated).toBe(false);
  expect(await auth.login({ url: back })).toEqual({ success: true, redirectTo: '/' });
  expect(await auth.getIdentity()).toMatchObject({ email: 'ann@shop.example' });
  const again = await auth.login({ url: back });
  expect(again).toMatchObject({ success: false, error: { name: 'Login failed', message: NOT_BEGUN, statusCode: 400 } });
});
