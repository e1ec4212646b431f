/** Sessions whose refresh token is in a cookie, through the client and the providers. The browser's cookies are a map here. */
import { createClient, type ClientOptions, Failure } from 'declarest-client';
import * as reactAdmin from 'ra-data-declarest';
import * as refine from 'refine-declarest';
import { withLocks } from './locks.js';
import { type Library, PASSWORD, recordedOptions, type RecordedOptions, startLibrary } from './admin-service.js';

const NAME = '__Host-declarest-refresh';
const ANN = { email: 'ann@example.com', password: PASSWORD };
const BEN = { email: 'ben@example.com', password: PASSWORD };
/** The client cannot see the platform. test/auth checks the cookie on both. */
const PLATFORM = 'fastify';

let library: Library;
beforeAll(async () => {
  library = await startLibrary(PLATFORM, { sessions: { cookie: true } });
  for (const user of [ANN, BEN]) await library.accounts.create({ ...user, role: 'ADMIN' });
});
afterAll(() => library.close());
afterEach(() => vi.restoreAllMocks());

interface Browser extends RecordedOptions {
  /** What a page of this origin, and of another one, opens. */
  readonly open: (options?: ClientOptions) => ReturnType<typeof createClient>;
  readonly openElsewhere: (options?: ClientOptions) => ReturnType<typeof createClient>;
  readonly fetchOf: (isSameOrigin: boolean) => typeof fetch;
  readonly cookies: Map<string, string>;
  /** Runs before an answer arrives. */
  onAnswer: (path: string) => Promise<unknown> | void;
}

function openBrowser(): Browser {
  const recorded = recordedOptions(library.api);
  const cookies = new Map<string, string>();
  const fetchOf =
    (isSameOrigin: boolean): typeof fetch =>
    async (input, init = {}) => {
      const hasCookies = isSameOrigin || init.credentials === 'include';
      const cookie = hasCookies ? [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') : '';
      const headers = {
        'sec-fetch-site': isSameOrigin ? 'same-origin' : 'same-site',
        ...(cookie && { cookie }),
        ...(init.headers as object),
      };
      const answer = await recorded.fetch(input, { ...init, headers });
      await browser.onAnswer(String(input));
      for (const set of hasCookies ? answer.headers.getSetCookie() : []) {
        const [, name = '', value = '', age] = /^([^=]+)=([^;]*); Max-Age=(\d+)/.exec(set) ?? [];
        if (age === '0') cookies.delete(name);
        else cookies.set(name, value);
      }
      return answer;
    };
  const { storage } = recorded;
  const browser: Browser = {
    ...recorded,
    cookies,
    fetchOf,
    onAnswer: () => undefined,
    open: (options) => createClient(library.api, { fetch: fetchOf(true), storage: { ...storage }, ...options }),
    openElsewhere: (options) =>
      createClient(library.api, { fetch: fetchOf(false), storage: { ...storage }, cookie: true, ...options }),
  };
  return browser;
}

const memory = (): ClientOptions => ({ storage: recordedOptions(library.api).storage });
const pathsOf = ({ sent }: Browser): string[] => sent.map(({ method, path }) => `${method} ${path}`);
const countOf = (browser: Browser, path: string): number => pathsOf(browser).filter((each) => each === path).length;
const REFRESH = 'POST /auth/refresh';

const now = performance.now.bind(performance);
/** Only clients read this clock. */
const pass = (seconds: number): void => {
  vi.spyOn(performance, 'now').mockImplementation(() => now() + seconds * 1000);
};

/** Locks of one browser. */
function locks() {
  let last: Promise<unknown> = Promise.resolve();
  const request = <T>(_name: string, task: () => Promise<T>): Promise<T> => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
  return { request };
}

describe.each(['open', 'openElsewhere'] as const)('with %s', (open) => {
  it('refreshes by the cookie, also after a reload, and stores no refresh token', async () => {
    const browser = openBrowser();
    await browser[open]().login(ANN);
    const first = browser.cookies.get(NAME);
    expect(first).toMatch(/^[\w-]{86}$/);
    expect(JSON.stringify([...browser.items])).not.toMatch(/refreshToken|[\w-]{86}"/);
    pass(891);
    const reloaded = browser[open]();
    await reloaded.request('GET', 'shelves');
    const [, refreshed] = browser.sent;
    expect(refreshed).toMatchObject({ path: '/auth/refresh', body: undefined });
    expect(refreshed?.headers).toMatchObject({ 'X-Requested-With': 'declarest-client' });
    expect(refreshed?.headers).not.toHaveProperty('Authorization');
    expect(browser.cookies.get(NAME)).not.toBe(first);
    expect(await reloaded.claims()).toMatchObject({ roles: ['ADMIN'] });
  });

  it('a logout ends the session on the server, and removes the cookie', async () => {
    const browser = openBrowser();
    const client = browser[open]();
    await client.login(ANN);
    const cookie = browser.cookies.get(NAME) ?? '';
    await client.logout();
    expect([browser.items.size, browser.cookies.size, await client.claims()]).toEqual([0, 0, undefined]);
    browser.cookies.set(NAME, cookie);
    const headers = { cookie: `${NAME}=${cookie}`, 'x-requested-with': 'x' };
    expect((await fetch(`${library.api}/auth/refresh`, { method: 'POST', headers })).status).toBe(401);
  });

  it('parallel requests and tabs send one refresh, in a browser with locks', async () => {
    const browser = openBrowser();
    await browser[open]().login(ANN);
    await withLocks(locks(), async () => {
      const tabs = [browser[open](), browser[open](), browser[open]()];
      pass(1_000);
      await Promise.all(tabs.flatMap((tab) => [tab.request('GET', 'shelves'), tab.user()]));
      expect(countOf(browser, REFRESH)).toBe(1);
    });
  });

  it('two tabs without locks may refresh together', async () => {
    const browser = openBrowser();
    await browser[open]().login(ANN);
    await withLocks(undefined, async () => {
      const tabs = [browser[open](), browser[open]()];
      pass(1_000);
      await Promise.all(tabs.map((tab) => tab.request('GET', 'shelves')));
      expect(countOf(browser, REFRESH)).toBe(2);
      pass(2_000);
      for (const tab of tabs) await tab.user();
      expect(countOf(browser, REFRESH)).toBe(3);
    });
  });
});

it('a page of the same origin needs no option', async () => {
  const browser = openBrowser();
  const credentials: unknown[] = [];
  const send = browser.fetchOf(true);
  const client = browser.open({ fetch: (input, init) => (credentials.push(init?.credentials), send(input, init)) });
  await client.login(ANN);
  pass(1_000);
  await client.user();
  expect(credentials).toEqual([undefined, 'include', undefined]);
});

it('does not become the user of another page, whose login has replaced the cookie', async () => {
  const browser = openBrowser();
  const { storage, items } = recordedOptions(library.api);
  const [ann, ben] = [browser.open({ storage }), browser.open(memory())];
  await ann.login(ANN);
  await ben.login(BEN);
  pass(1_000);
  expect(await ann.user()).toMatchObject({ email: ANN.email });
  // Her access token is refused, as when it has expired.
  for (const [key, text] of items) items.set(key, text.replace(/("token":"[^"]+)"/, '$1x"'));
  const failure = await ann.request('GET', 'shelves').catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 401, needsLogin: true } satisfies Partial<Failure>);
  expect(await ben.user()).toMatchObject({ email: BEN.email });
});

it('a login waits for the refresh of another tab, whose answer would replace its cookie', async () => {
  const browser = openBrowser();
  await browser.open().login(ANN);
  await withLocks(locks(), async () => {
    const [old, other] = [browser.open(), browser.open()];
    pass(1_000);
    let login: Promise<unknown> | undefined;
    browser.onAnswer = (path) => {
      // The answer of the refresh arrives a while after the user has sent the form.
      if (login || !path.endsWith('/refresh')) return undefined;
      login = other.login(BEN);
      return new Promise((resolve) => setTimeout(resolve, 50));
    };
    await old.request('GET', 'shelves');
    await login;
    pass(2_000);
    expect(await old.user()).toMatchObject({ email: BEN.email });
  });
});

it('logs out of a server that has changed to cookies, or back', async () => {
  const browser = openBrowser();
  const client = browser.open();
  await client.login(ANN);
  const [[key, text] = ['', '']] = browser.items;
  const login = JSON.parse(text) as { session: object };
  browser.items.set(key, JSON.stringify({ ...login, session: { ...login.session, refreshToken: 'x'.repeat(86) } }));
  pass(1_000);
  expect(await browser.open().claims()).toBeUndefined();
  const before = await startLibrary(PLATFORM, { sessions: true });
  const failure = await fetch(`${before.api}/auth/refresh`, { method: 'POST' });
  expect(failure.status).toBe(400);
  await before.close();
});

describe('providers', () => {
  it('of react-admin take the option, and share the login', async () => {
    const browser = openBrowser();
    const options = { fetch: browser.fetchOf(false), storage: browser.storage, cookie: true };
    const [auth, data] = [reactAdmin.authProvider(library.api, options), reactAdmin.dataProvider(library.api, options)];
    await auth.login(ANN);
    pass(1_000);
    await data.getList('shelves', { filter: {} });
    expect(await auth.getPermissions()).toEqual(['ADMIN']);
    expect([countOf(browser, REFRESH), browser.cookies.size]).toEqual([1, 1]);
    await auth.logout({});
    expect([browser.items.size, browser.cookies.size]).toEqual([0, 0]);
  });

  it('of refine take the option, and share the login', async () => {
    const browser = openBrowser();
    const options = { fetch: browser.fetchOf(false), storage: browser.storage, cookie: true };
    const [auth, data] = [refine.authProvider(library.api, options), refine.dataProvider(library.api, options)];
    await auth.login(ANN);
    pass(1_000);
    await data.getList({ resource: 'shelves' });
    expect([(await auth.check()).authenticated, countOf(browser, REFRESH), browser.cookies.size]).toEqual([true, 1, 1]);
    await auth.logout({});
    expect([browser.items.size, browser.cookies.size]).toEqual([0, 0]);
  });
});
