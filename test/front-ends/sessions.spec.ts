/** Sessions through the client, and through the providers that stand on it: what they send, store and keep. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, Failure as ClientFailure } from 'declarest-client';
import * as reactAdmin from 'ra-data-declarest';
import * as refine from 'refine-declarest';
import { type Library, PASSWORD, recordedOptions, type RecordedOptions, startLibrary } from './admin-service.js';
import { withLocks } from './locks.js';

interface Failure extends Error {
  readonly status: number;
}

/** What all of them do, by the same names. */
interface FrontEnd {
  login: () => Promise<unknown>;
  logout: () => Promise<unknown>;
  isLoggedIn: () => Promise<boolean>;
  roles: () => Promise<unknown>;
  identity: () => Promise<unknown>;
  /** A list for users only. */
  list: () => Promise<unknown>;
  /** Sends a request to a path below the base. */
  post: (path: string, json: object) => Promise<unknown>;
  onSessionEnd: (listener: () => void) => () => void;
  /** Whether the front end logs out after this failure. */
  logsOutAfter: (failure: Failure) => Promise<boolean>;
}

type Options = Pick<RecordedOptions, 'fetch' | 'storage'>;
type OpenTab = (api: string, options: Options) => FrontEnd;

const isFulfilled = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  );

const openClient: OpenTab = (api, options) => {
  const client = createClient(api, options);
  return {
    login: () => client.login({ email: 'ann@example.com', password: PASSWORD }),
    logout: () => client.logout(),
    isLoggedIn: async () => (await client.claims()) !== undefined,
    roles: async () => (await client.claims())?.roles ?? [],
    identity: () => client.user(),
    list: () => client.request('GET', 'shelves'),
    post: (path, json) => client.request('POST', path, { json }),
    onSessionEnd: client.onSessionEnd,
    logsOutAfter: async (failure) =>
      failure instanceof ClientFailure && failure.needsLogin && !failure.isUnsaved && !client.keepsRefusedLogin,
  };
};

const openReactAdmin: OpenTab = (api, options) => {
  const [auth, data] = [reactAdmin.authProvider(api, options), reactAdmin.dataProvider(api, options)];
  return {
    login: () => auth.login({ email: 'ann@example.com', password: PASSWORD }),
    logout: () => auth.logout({}),
    isLoggedIn: () => isFulfilled(auth.checkAuth({})),
    roles: () => auth.getPermissions(),
    identity: () => auth.getIdentity(),
    list: () => data.getList('shelves', { filter: {} }),
    post: (path, json) => data.custom(path, { method: 'POST', json }),
    onSessionEnd: auth.onSessionEnd,
    logsOutAfter: async (failure) => !(await isFulfilled(auth.checkError(failure))),
  };
};

const openRefine: OpenTab = (api, options) => {
  const [auth, data] = [refine.authProvider(api, options), refine.dataProvider(api, options)];
  /** Failures have the name of react-admin for their status. */
  const translate = async <T>(promise: Promise<T>): Promise<T> => {
    try {
      return await promise;
    } catch (error) {
      throw Object.assign(error as Error, { status: (error as { statusCode?: number }).statusCode });
    }
  };
  return {
    login: () => auth.login({ email: 'ann@example.com', password: PASSWORD }),
    logout: () => auth.logout({}),
    isLoggedIn: async () => (await auth.check()).authenticated,
    roles: async () => auth.getPermissions(),
    identity: async () => auth.getIdentity(),
    list: () => translate(data.getList({ resource: 'shelves' })),
    post: (url, payload) => translate(data.custom({ url, method: 'post', payload })),
    onSessionEnd: auth.onSessionEnd,
    logsOutAfter: async (failure) => (await auth.onError({ ...failure, statusCode: failure.status })).logout === true,
  };
};

const failure = (promise: Promise<unknown>): Promise<Failure> =>
  promise.then(
    () => {
      throw new Error('The call was expected to fail.');
    },
    (error: Failure) => error,
  );

const FRONT_ENDS = [
  ['client', openClient],
  ['react-admin', openReactAdmin],
  ['refine', openRefine],
] as const;

/** The client cannot see the platform. test/auth checks logins, refreshes and logouts on both. */
const PLATFORM = 'fastify';

describe.each(FRONT_ENDS)('%s', (front, openTab) => {
  let library: Library;
  let options: RecordedOptions;
  let tab: FrontEnd;

  const paths = (): string[] => options.sent.map(({ method, path }) => `${method} ${path}`);
  const countOf = (path: string): number => paths().filter((each) => each === path).length;
  /** A tab has a client of its own: it shares what is stored, but not the object that stores it. */
  const open = ({ fetch, storage } = options): FrontEnd => openTab(library.api, { fetch, storage: { ...storage } });

  const setUp = async (started: Library): Promise<void> => {
    library = started;
    await library.accounts.ensure({ email: 'ann@example.com', password: PASSWORD, role: 'ADMIN' });
    options = recordedOptions(library.api);
    tab = open();
    await tab.login();
    options.sent.length = 0;
  };

  describe('with sessions', () => {
    let running: Library;
    beforeAll(async () => {
      running = await startLibrary(PLATFORM, { sessions: true });
    });
    afterAll(() => running.close());
    beforeEach(() => setUp(running));
    afterEach(() => vi.restoreAllMocks());

    const stored = (): string => [...options.items.values()].join();
    const refreshToken = (): string => /"refreshToken":"([\w-]+)"/.exec(stored())?.[1] ?? '';

    /** The server refuses the signature; the client does not know. */
    const breakToken = (): void => {
      const [[key, text] = ['', '']] = options.items;
      options.items.set(key, text.replace(/("token":"[^"]+)"/, '$1x"'));
    };

    /** Only clients read this clock. */
    const pass = (seconds: number): void => {
      const { now } = performance;
      const start = now.call(performance);
      vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + seconds * 1000);
      expect(performance.now() - start).toBeGreaterThanOrEqual(seconds * 1000);
    };

    /** A request that the client does not send itself. */
    const post = async (path: string, token = refreshToken()): Promise<number> => {
      const init = {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ refreshToken: token }),
      };
      return (await fetch(`${library.api}${path}`, init)).status;
    };

    /** What the endpoint of refreshes answers. */
    const answerRefresh = (answer: () => Promise<Response>): void => {
      const { fetch: send } = options;
      options.fetch = (input, init) => (String(input).endsWith('/auth/refresh') ? answer() : send(input, init));
    };

    it('refreshes 10 s before the token expires, whatever the time of the system is', async () => {
      pass(885);
      await tab.list();
      expect(paths()).toHaveLength(1);
      vi.restoreAllMocks();
      pass(891);
      await tab.list();
      expect(paths().slice(1)).toEqual(['POST /auth/refresh', expect.stringMatching(/^GET \/shelves/)]);
      vi.restoreAllMocks();
      vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 7 * 24 * 3_600_000);
      expect([await tab.isLoggedIn(), await tab.roles(), paths().length]).toEqual([true, ['ADMIN'], 3]);
    });

    it.each([
      ['expires', () => pass(1_000)],
      ['is refused', breakToken],
    ])('sends one refresh for parallel requests whose token %s', async (_reason, spoil) => {
      spoil();
      await Promise.all([tab.list(), tab.list(), tab.identity(), tab.list()]);
      expect(countOf('POST /auth/refresh')).toBe(1);
      expect(await post('/auth/refresh')).toBe(200);
    });

    it('repeats a request with the token that another request has got meanwhile', async () => {
      const { fetch: send } = options;
      const others: Promise<unknown>[] = [];
      options.fetch = async (input, init) => {
        const response = await send(input, init);
        // The first answer arrives after the second request has refreshed.
        if (response.status === 401 && others.length === 0) await (others[0] = tab.list());
        return response;
      };
      const slow = open();
      breakToken();
      await slow.list();
      expect([others.length, countOf('POST /auth/refresh')]).toEqual([1, 1]);
    });

    it('repeats a refused request once', async () => {
      answerRefresh(async () =>
        Response.json({ data: { token: 'e.e.e', refreshToken: 'other', expiresIn: 900 } }, { status: 200 }),
      );
      tab = open();
      breakToken();
      const refused = await failure(tab.list());
      expect([refused.status, paths().length]).toEqual([401, 2]);
      expect(await tab.logsOutAfter(refused)).toBe(true);
    });

    it('lets a second tab refresh with the same token, or use the new one', async () => {
      const second = open();
      breakToken();
      await withLocks(undefined, () => Promise.all([tab.list(), second.list()]));
      expect(countOf('POST /auth/refresh')).toBe(2);
      pass(1_000);
      await tab.list();
      await second.list();
      expect(countOf('POST /auth/refresh')).toBe(3);
      expect(await post('/auth/refresh')).toBe(200);
    });

    it('sends one refresh for all tabs of a browser with locks', async () => {
      let last: Promise<unknown> = Promise.resolve();
      const names = new Set<string>();
      const request = <T>(name: string, task: () => Promise<T>): Promise<T> => {
        names.add(name);
        const result = last.then(task);
        last = result.catch(() => undefined);
        return result;
      };
      await withLocks({ request }, async () => {
        const tabs = [tab, open(), open()];
        pass(1_000);
        await Promise.all(tabs.map(({ list }) => list()));
      });
      expect(countOf('POST /auth/refresh')).toBe(1);
      expect([...names]).toEqual([...options.items.keys()]);
      expect(await post('/auth/refresh')).toBe(200);
    });

    it('logs out when the session has ended', async () => {
      expect(await post('/auth/logout')).toBe(204);
      expect(await tab.isLoggedIn()).toBe(true);
      breakToken();
      const refused = await failure(tab.list());
      expect([refused.status, refused.message]).toEqual([401, 'Authentication required']);
      expect(await tab.logsOutAfter(refused)).toBe(true);
      await tab.logout();
      expect([await tab.isLoggedIn(), options.items.size]).toEqual([false, 0]);
    });

    it.each([
      ['the same tab', () => tab],
      ['another tab', () => open()],
    ])('keeps the page when a change is refused, and makes the change after a login in %s', async (place, other) => {
      await post('/auth/logout');
      breakToken();
      const refused = await failure(tab.post('shelves', { name: 'Plays' }));
      expect([refused.status, await tab.logsOutAfter(refused)]).toEqual([401, false]);
      if (front !== 'client')
        expect(refused.message).toBe(
          'Your session has ended, and the change is not saved. Log in again, here or in another tab, and save then.',
        );
      // Nobody else knows yet that the session has ended: the page stays open until it logs out.
      expect([await tab.isLoggedIn(), await tab.roles(), options.items.size]).toEqual([true, ['ADMIN'], 1]);
      // A front end reads the record again: its form must stay.
      expect(await tab.logsOutAfter(await failure(tab.list()))).toBe(false);
      await other().login();
      await tab.post('shelves', { name: `Plays by ${front} in ${place}` });
      await post('/auth/logout');
      breakToken();
      expect(await tab.logsOutAfter(await failure(tab.list()))).toBe(true);
    });

    it('tells its listeners that the session has ended, and then logs out after no failure', async () => {
      let ends = 0;
      const remove = tab.onSessionEnd(() => (ends += 1));
      await tab.list();
      expect(ends).toBe(0);
      await post('/auth/logout');
      breakToken();
      const refused = await failure(tab.list());
      expect([ends, await tab.logsOutAfter(refused)]).toEqual([1, false]);
      await failure(tab.list());
      // A session that has ended is not refreshed again.
      expect([ends, countOf('POST /auth/refresh')]).toEqual([2, 1]);
      remove();
      expect(await tab.logsOutAfter(await failure(tab.list()))).toBe(true);
      expect(ends).toBe(2);
    });

    it('calls no listener for a visitor without a login, but for a user whom another tab has logged out', async () => {
      let ends = 0;
      const visitor = open(recordedOptions(library.api));
      visitor.onSessionEnd(() => (ends += 1));
      const refused = await failure(visitor.list());
      expect([refused.status, ends, await visitor.logsOutAfter(refused)]).toEqual([401, 0, true]);
      tab.onSessionEnd(() => (ends += 1));
      await open().logout();
      expect([(await failure(tab.list())).status, ends]).toEqual([401, 1]);
    });

    it('keeps the login of other tabs when a tab is opened after the end of the session', async () => {
      expect(await tab.isLoggedIn()).toBe(true);
      await post('/auth/logout');
      pass(1_000);
      const opened = open();
      expect(await opened.isLoggedIn()).toBe(false);
      await opened.logout();
      expect([await tab.isLoggedIn(), await opened.isLoggedIn(), options.items.size]).toEqual([true, false, 1]);
    });

    it('knows without another request that a session has ended', async () => {
      await post('/auth/logout');
      pass(1_000);
      const opened = open();
      expect([await opened.isLoggedIn(), await opened.roles()]).toEqual([false, []]);
      expect(paths()).toEqual(['POST /auth/refresh']);
    });

    it.each<[string, () => Promise<Response>, number, string]>([
      ['the network fails', () => Promise.reject(new TypeError('Failed to fetch')), 0, '/auth/refresh for "auth"'],
      [
        'the server fails',
        async () => Response.json({ success: false, message: 'Try again later' }, { status: 503 }),
        503,
        'Try again later',
      ],
      [
        'too many clients refresh',
        async () => Response.json({ success: false, message: 'Too many attempts' }, { status: 429 }),
        429,
        'Too many attempts',
      ],
    ])('keeps the login when %s during a refresh', async (_reason, answer, status, message) => {
      const { fetch: send } = options;
      answerRefresh(answer);
      const offline = open();
      for (const spoil of [() => pass(1_000), breakToken]) {
        spoil();
        const failed = await failure(offline.list());
        expect([failed.status, failed.message]).toEqual([status, expect.stringContaining(message)]);
        expect([await offline.logsOutAfter(failed), await offline.isLoggedIn()]).toEqual([false, true]);
        expect(await offline.roles()).toEqual(['ADMIN']);
        vi.restoreAllMocks();
      }
      options.fetch = send;
      await open().list();
    });

    it('logs out of a server that has no sessions any more', async () => {
      const missing = { statusCode: 404, message: 'Cannot POST /api/auth/refresh', error: 'Not Found' };
      answerRefresh(async () => Response.json(missing, { status: 404 }));
      tab = open();
      pass(1_000);
      expect(await tab.isLoggedIn()).toBe(false);
    });

    it('keeps the login after a wrong password', async () => {
      const wrong = await failure(tab.post('auth/password', { current: 'wrong', new: `${PASSWORD}!` }));
      expect([wrong.status, wrong.message]).toEqual([401, 'Invalid credentials']);
      expect(paths()).toEqual(['POST /auth/password']);
      expect([await tab.logsOutAfter(wrong), await tab.isLoggedIn()]).toEqual([false, true]);
    });

    it('logs in again without a refresh of the last session', async () => {
      pass(1_000);
      await tab.login();
      expect(paths()).toEqual(['POST /auth/login']);
    });

    it('ends the session on the server at a logout, and also logs out without the server', async () => {
      const token = refreshToken();
      await tab.logout();
      expect(options.sent).toEqual([
        expect.objectContaining({ method: 'POST', path: '/auth/logout', body: { refreshToken: token } }),
      ]);
      expect([options.items.size, await post('/auth/refresh', token)]).toEqual([0, 401]);
      await tab.login();
      options.fetch = () => Promise.reject(new TypeError('Failed to fetch'));
      await open().logout();
      expect(options.items.size).toBe(0);
    });

    it('stays logged out after a logout during a refresh', async () => {
      pass(1_000);
      const pending = tab.list();
      await Promise.all([tab.logout(), failure(pending)]);
      expect([countOf('POST /auth/refresh'), options.items.size]).toEqual([1, 0]);
    });

    it('sends the refresh token to no other origin', async () => {
      const bodies: string[] = [];
      const listen = async (server: Server): Promise<string> => {
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      };
      const other = createServer((request, response) => {
        request.on('data', (chunk: Buffer) => bodies.push(chunk.toString())).on('end', () => response.end('{}'));
      });
      const target = await listen(other);
      const redirecting = createServer((_request, response) => {
        response.writeHead(307, { location: `${target}/auth/refresh` }).end();
      });
      const source = await listen(redirecting);
      const { fetch: send } = options;
      options.fetch = (input, init) =>
        send(/auth\/(refresh|logout)$/.test(String(input)) ? source : (input as string), init);
      tab = open();
      pass(1_000);
      expect((await failure(tab.list())).status).toBe(0);
      await tab.logout();
      expect(bodies).toEqual([]);
      other.close();
      redirecting.close();
    });
  });

  it('stores the token alone, and neither refreshes nor calls logout, without sessions', async () => {
    await setUp(await startLibrary(PLATFORM));
    const [[key, token] = ['', '']] = options.items;
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    options.items.set(key, `${token}x`);
    const refused = await failure(tab.list());
    expect(await tab.logsOutAfter(refused)).toBe(true);
    await tab.logout();
    expect([paths().length, options.items.size]).toEqual([1, 0]);
    await library.close();
  });
});

it('refine registers a user who must verify the e-mail address first', async () => {
  const library = await startLibrary('express', { sessions: true, requireVerified: true, throttle: { tries: 1 } });
  const { items, ...options } = recordedOptions(library.api);
  const auth = refine.authProvider(library.api, options);
  const user = { email: 'bob@example.com', password: PASSWORD };
  expect(await auth.register(user)).toEqual({
    success: true,
    redirectTo: '/login',
    successNotification: { message: expect.stringContaining('Confirm the e-mail address') },
  });
  expect(await auth.login(user)).toMatchObject({ error: { message: 'The e-mail address is not verified' } });
  for (const message of ['Invalid credentials', expect.stringMatching(/^Too many attempts, try again in \d+ second/)])
    expect(await auth.login({ ...user, password: 'wrong' })).toMatchObject({ success: false, error: { message } });
  expect(items.size).toBe(0);
  await library.close();
});
