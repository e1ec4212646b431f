/** `throttle`: guessing is delayed, and nobody is locked out by somebody else. */
import bcrypt from 'bcrypt';
import { AuthEvents, type AuthOptions, type ThrottleStorage } from 'declarest';
import { Attempts } from 'declarest/plugin';
import type { INestApplication } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type Answer, request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { untilLimit } from '../harness/limit.js';
import { linesOf, ONE_PLATFORM, PLATFORMS, type Platform } from '../harness/platforms.js';
import {
  type AuthApp,
  type AuthAppOptions,
  bootAuth,
  expectFailure,
  PASSWORD,
  startAuth,
  uniqueEmail,
} from './auth-app.js';
import { Mailbox, mailsTo, noMailsTo } from './mailbox.js';

/** For several applications. */
function sharedStorage(): ThrottleStorage & { counts: Map<string, number> } {
  const counts = new Map<string, number>();
  return {
    counts,
    add: async (key, amount) => {
      const count = (counts.get(key) ?? 0) + amount;
      counts.set(key, count);
      return count;
    },
  };
}

/** An application behind one proxy that it trusts. */
function behindProxy(platform: Platform, auth: Partial<AuthOptions>, more: AuthAppOptions = {}): Promise<AuthApp> {
  const trusting =
    platform === 'fastify' ? { adapter: new FastifyAdapter({ trustProxy: true, forceCloseConnections: true }) } : {};
  const configure = (app: INestApplication): void => {
    if (platform === 'express')
      (app.getHttpAdapter().getInstance() as { set: (name: string, value: unknown) => void }).set('trust proxy', true);
  };
  return startAuth(platform, { ...more, ...trusting, configure, auth });
}

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const guess = (app: AuthApp, email: string, address = '192.0.2.1', password = 'not the password'): Promise<Answer> =>
  app.post('/api/auth/login', { email, password }, from(address));
const statusesOf = async (count: number, send: (index: number) => Promise<Answer>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) statuses.push((await send(index)).status);
  return statuses;
};
const times = (count: number, status: number): number[] => Array<number>(count).fill(status);

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const countersOf = (app: AuthApp): Map<string, unknown> =>
  Reflect.get(app.app.get(Attempts, { strict: false }), 'counters') as Map<string, unknown>;

/** Moves the clock of this process. */
function later(ms: number): void {
  const now = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => now + ms);
}

const FEW_TRIES = { sessions: true, throttle: { tries: 5, accountTries: 8, addressTries: 12 } };

// What counts them cannot see the platform.
it('200 guesses change nothing for the own session', async () => {
  const app = await behindProxy('fastify', FEW_TRIES);
  const email = uniqueEmail();
  await app.register({ email });
  const { refreshToken, token } = (await guess(app, email, '198.51.100.12', PASSWORD)).json.data;
  for (let round = 0; round < 2; round += 1)
    await Promise.all(Array.from({ length: 100 }, () => guess(app, email, '198.51.100.12')));
  expect((await app.get('/api/auth/me', { token })).status).toBe(200);
  const refreshed = await app.post('/api/auth/refresh', { refreshToken }, from('198.51.100.12'));
  expect(refreshed.status).toBe(200);
  await app.close();
});

/** Starts an application for the tests of a suite. */
function useFewTries(platform: Platform, use: (started: AuthApp) => void): void {
  let app: AuthApp;
  beforeAll(async () => use((app = await behindProxy(platform, FEW_TRIES))));
  // Tries come back with time, and a slow machine takes some.
  beforeEach(() => later(0));
  afterAll(() => app.close());
}

const register = async (app: AuthApp): Promise<string> => {
  const email = uniqueEmail();
  await app.register({ email });
  return email;
};

describe.each(PLATFORMS)('the request and the answer on %s', (platform) => {
  describe('with few tries', () => {
    let app: AuthApp;
    useFewTries(platform, (started) => (app = started));

    it('delays after the free tries, longer each time, without comparing a password', async () => {
      const email = await register(app);
      expect(await statusesOf(5, () => guess(app, email, '198.51.100.1'))).toEqual(times(5, 401));
      const compare = vi.spyOn(bcrypt, 'compare');
      const refused = await guess(app, email, '198.51.100.1', PASSWORD);
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
      expect(expectFailure(refused, 429)).toBe('Too many attempts, try again in 1 second');
      expect(compare).not.toHaveBeenCalled();
      const delays: string[] = [];
      for (let waited = 0; delays.length < 3; waited += 30_000) {
        later(waited + 30_000);
        expect((await guess(app, email, '198.51.100.1')).status).toBe(401);
        delays.push((await guess(app, email, '198.51.100.1')).headers['retry-after'] ?? '');
      }
      expect(delays).toEqual(['2', '4', '8']);
    });

    it('a /64 of IPv6 is one address', async () => {
      // The names differ, because a name has the same number of tries from a whole site.
      const guessAt = (n: number) => guess(app, `nobody${n}@example.com`, `2001:db8:1:2:${n}::${n}`);
      expect(await statusesOf(13, guessAt)).toEqual([...times(12, 401), 429]);
      expect((await guess(app, await register(app), '2001:db8:1:3::1')).status).toBe(401);
    });

    it('spellings of one login are counted together', async () => {
      const email = await register(app);
      const padded = `${' '.repeat(290)}${email}`;
      const spellings = [email, email.toUpperCase(), padded, `${email}\t`, email.replace('u', '\uff55')];
      expect(await statusesOf(6, (n) => guess(app, spellings[n % 5] ?? '', '198.51.100.9'))).toEqual([
        ...times(5, 401),
        429,
      ]);
      const sent = { json: { email, password: PASSWORD }, ...from('198.51.100.9') };
      for (const path of ['/api/auth/login/', '/API/AUTH/login', '/api/auth/login?x=1', '/api/auth/%6cogin'])
        expect([path, (await request(app.url, 'POST', path, sent)).status]).not.toEqual([path, 200]);
    });
  });

  it('X-Forwarded-For does not count without a proxy that is trusted', async () => {
    const app = await startAuth(platform, { auth: { throttle: { tries: 2 } } });
    const { email } = (await app.register({ email: uniqueEmail() })).user;
    expect(await statusesOf(3, (n) => guess(app, email as string, `192.0.2.${n}`))).toEqual([401, 401, 429]);
    await app.close();
  });
});

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  describe('with few tries', () => {
    let app: AuthApp;
    useFewTries(platform, (started) => (app = started));

    it('lets the user log in after the delay, and starts again after an hour', async () => {
      const email = await register(app);
      await statusesOf(5, () => guess(app, email, '198.51.100.2'));
      expect((await guess(app, email, '198.51.100.2', PASSWORD)).status).toBe(429);
      later(1_001);
      expect((await guess(app, email, '198.51.100.2', PASSWORD)).status).toBe(200);
      later(3_600_000);
      expect(await statusesOf(5, () => guess(app, email, '198.51.100.2'))).toEqual(times(5, 401));
    });

    it('all addresses that are new to an account share what is free for it, and it ends with the hour', async () => {
      const email = await register(app);
      const attack = (count: number, start: number) =>
        statusesOf(count, (n) => guess(app, email, `203.0.113.${start + n}`));
      expect(await attack(12, 1)).toEqual([...times(8, 401), ...times(4, 429)]);
      // No delay makes further guesses free.
      later(1_800_000);
      expect(await attack(4, 13)).toEqual(times(4, 429));
      const refused = await guess(app, email, '203.0.113.20', PASSWORD);
      expect([refused.status, Number(refused.headers['retry-after'])]).toEqual([429, expect.closeTo(1_800, -2)]);
      later(1_900_000);
      expect((await guess(app, email, '203.0.113.20', PASSWORD)).status).toBe(200);
    });

    it('one address with many accounts is not free, unknown accounts included', async () => {
      const statuses = await statusesOf(14, (n) => guess(app, `nobody${n}@example.com`, '203.0.113.66'));
      expect(statuses).toEqual([...times(12, 401), 429, 429]);
      const email = await register(app);
      expect((await guess(app, email, '203.0.113.66', PASSWORD)).status).toBe(429);
    });

    it('what is free for an address binds users who have logged in from there, too', async () => {
      const known = await register(app);
      expect((await guess(app, known, '203.0.113.77', PASSWORD)).status).toBe(200);
      const statuses = await statusesOf(14, (n) =>
        guess(app, n % 2 === 0 || n > 9 ? `nobody${n}@example.com` : known, '203.0.113.77'),
      );
      expect(statuses).toEqual([...times(12, 401), 429, 429]);
      expect((await guess(app, known, '203.0.113.77', PASSWORD)).status).toBe(429);
    });

    it('an address that is stopped keeps no names in memory', async () => {
      await statusesOf(12, (n) => guess(app, `nobody${n}@example.com`, '203.0.113.78'));
      const { size } = countersOf(app);
      expect(await statusesOf(20, (n) => guess(app, `other${n}@example.com`, '203.0.113.78'))).toEqual(times(20, 429));
      expect(countersOf(app).size).toBe(size);
    });

    it('refresh tokens that were not issued here do not stop those that were', async () => {
      const { refreshToken } = (await guess(app, await register(app), '203.0.113.79', PASSWORD)).json.data;
      const refresh = (token: string) => app.post('/api/auth/refresh', { refreshToken: token }, from('203.0.113.79'));
      expect(await statusesOf(13, () => refresh('x'.repeat(86)))).toEqual([...times(12, 401), 429]);
      expect((await refresh(refreshToken)).status).toBe(200);
    });

    it('strangers do not stop a user who has logged in from the address', async () => {
      const email = await register(app);
      expect((await guess(app, email, '203.0.113.80', PASSWORD)).status).toBe(200);
      for (const address of ['203.0.113.81', '203.0.113.82', '203.0.113.83'])
        await statusesOf(4, () => guess(app, email, address));
      expect(await statusesOf(4, () => guess(app, email, '203.0.113.80'))).toEqual(times(4, 401));
      expect((await guess(app, email, '203.0.113.80', PASSWORD)).status).toBe(200);
    });

    it('the networks of one site of IPv6 share the tries of a new address', async () => {
      const email = await register(app);
      const statuses = await statusesOf(40, (n) => guess(app, email, `2001:db8:77:${n}::1`));
      expect(statuses).toEqual([...times(5, 401), ...times(35, 429)]);
      expect((await guess(app, email, '2001:db8:78::1', PASSWORD)).status).toBe(200);
    });

    it('normalizes no more of a name than an account can have, because that takes quadratic time', async () => {
      const normalize = vi.spyOn(String.prototype, 'normalize');
      await guess(app, 'a'.repeat(50_000), '198.51.100.77');
      const lengths = normalize.mock.contexts.map((name) => String(name).length).filter((length) => length > 100);
      expect(lengths).toEqual([300]);
    });

    it('parallel guesses compare no more passwords than there are tries', async () => {
      const email = await register(app);
      const compare = vi.spyOn(bcrypt, 'compare');
      const answers = await Promise.all(Array.from({ length: 40 }, () => guess(app, email, '198.51.100.10')));
      expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(35);
      expect(compare).toHaveBeenCalledTimes(5);
    });

    it('parallel logins with the right password all succeed', async () => {
      const email = await register(app);
      const answers = await Promise.all(Array.from({ length: 30 }, () => guess(app, email, '198.51.100.11', PASSWORD)));
      expect(answers.map(({ status }) => status)).toEqual(times(30, 200));
    });

    it('guesses at the own password by a stolen token are counted with those of logins', async () => {
      const email = await register(app);
      const { token } = (await guess(app, email, '198.51.100.13', PASSWORD)).json.data;
      const change = () =>
        app.post(
          '/api/auth/password',
          { current: 'not the password', new: PASSWORD },
          { token, ...from('198.51.100.13') },
        );
      expect(await statusesOf(3, change)).toEqual(times(3, 401));
      expect(await statusesOf(2, () => guess(app, email, '198.51.100.13'))).toEqual(times(2, 401));
      expect((await change()).status).toBe(429);
      expect((await guess(app, email, '198.51.100.13', PASSWORD)).status).toBe(429);
    });

    it('a registration that says that an address is taken is counted; one that is not valid is not', async () => {
      const email = await register(app);
      const take = (body: object) => app.post('/api/auth/register', body, from('198.51.100.14'));
      expect(await statusesOf(15, () => take({ email: 'no address', password: PASSWORD }))).toEqual(times(15, 400));
      expect(await statusesOf(13, () => take({ email, password: PASSWORD }))).toEqual([...times(12, 400), 429]);
    });

    it('tells listeners of refused attempts', async () => {
      const events: object[] = [];
      app.app
        .get(AuthEvents, { strict: false })
        .on('attempts.refused', ({ name, action, address }) => void events.push({ name, action, address }));
      const email = await register(app);
      await statusesOf(6, () => guess(app, email, '198.51.100.15'));
      expect(events).toEqual([{ name: 'attempts.refused', action: 'password', address: '198.51.100.15' }]);
    });
  });

  it('by default, 20 wrong passwords are free', async () => {
    const app = await startAuth(platform);
    const { email } = (await app.register({ email: uniqueEmail() })).user;
    expect(await statusesOf(21, () => guess(app, email as string))).toEqual([...times(20, 401), 429]);
    await app.close();
  });

  it('`throttle: false` counts nothing', async () => {
    const app = await startAuth(platform, { auth: { throttle: false } });
    const { email } = (await app.register({ email: uniqueEmail() })).user;
    expect(await statusesOf(60, () => guess(app, email as string))).toEqual(times(60, 401));
    await app.close();
  });

  it('forgot is always 202, and mails three links an hour to an account, then with delays', async () => {
    Mailbox.mails.length = 0;
    const app = await startAuth(platform, { auth: { passwordReset: true, mailer: { useClass: Mailbox } } });
    const email = uniqueEmail();
    await app.register({ email });
    expect(await statusesOf(6, () => app.post('/api/auth/password/forgot', { email }))).toEqual(times(6, 202));
    await mailsTo(email, 3);
    // Spaces around the address are no other account.
    await statusesOf(3, (n) => app.post('/api/auth/password/forgot', { email: `${' '.repeat(n + 1)}${email}` }));
    expect(await noMailsTo(email)).toHaveLength(3);
    later(1_001);
    await app.post('/api/auth/password/forgot', { email });
    expect(await mailsTo(email, 4)).toHaveLength(4);
    await app.close();
  });

  it('a change of the address mails three links an hour, and counts taken addresses', async () => {
    const auth = { passwordReset: true, mailer: { useClass: Mailbox }, throttle: { addressTries: 30 } };
    const app = await startAuth(platform, { auth });
    const { token } = await app.register({ email: uniqueEmail() });
    const change = (email: string) => app.post('/api/auth/email', { password: PASSWORD, email }, { token });
    expect(await statusesOf(4, () => change(uniqueEmail()))).toEqual([...times(3, 202), 429]);
    const { email } = (await app.register({ email: uniqueEmail() })).user;
    expect(await statusesOf(31, () => change(email as string))).toEqual([...times(30, 400), 429]);
    await app.close();
  });

  it('mails to addresses that register are limited by the address of the client', async () => {
    Mailbox.mails.length = 0;
    const app = await startAuth(platform, {
      auth: { requireVerified: true, mailer: { useClass: Mailbox }, throttle: { addressTries: 2 } },
    });
    const emails = [uniqueEmail(), uniqueEmail(), uniqueEmail()];
    for (const email of emails)
      expect((await app.post('/api/auth/register', { email, password: PASSWORD })).status).toBe(201);
    await mailsTo(emails[1] as string);
    expect(await noMailsTo(emails[2] as string)).toEqual([]);
    await app.close();
  });

  it('guesses of links are limited by address', async () => {
    const app = await startAuth(platform, { auth: { passwordReset: true, throttle: { addressTries: 4 } } });
    const body = { token: 'x'.repeat(43), password: PASSWORD };
    expect(await statusesOf(5, () => app.post('/api/auth/password/reset', body))).toEqual([...times(4, 401), 429]);
    expect((await app.post('/api/auth/verify', { token: 'y' })).status).toBe(429);
    await app.close();
  });

  it.each(DATABASES)('counts in the database %s, for every process', async (database) => {
    const app = await startAuth(platform, { database, auth: { throttle: { tries: 4, storage: 'database' } } });
    const { email } = (await app.register({ email: uniqueEmail() })).user;
    const answers = await Promise.all(Array.from({ length: 20 }, () => guess(app, email as string)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(4);
    const rows = await app.users().query('SELECT * FROM declarest_throttle_count');
    expect(rows.map(({ count }: { count: number }) => Number(count)).toSorted()).toEqual([4, 4, 4]);
    expect(JSON.stringify(rows)).not.toContain(email);
    await app.close();
  });

  it('counts in a storage of the application, for every process', async () => {
    const storage = sharedStorage();
    const auth = { throttle: { tries: 3, storage } };
    const [app, other] = [await startAuth(platform, { auth }), await startAuth(platform, { auth })];
    const email = uniqueEmail();
    for (const each of [app, other]) await each.register({ email });
    expect(await statusesOf(2, () => guess(app, email))).toEqual(times(2, 401));
    expect(await statusesOf(3, () => guess(other, email))).toEqual([401, 429, 429]);
    expect([...storage.counts.keys()].join()).toMatch(/^([0-9a-f]{64},?)+$/);
    // Only the failures stay counted.
    expect([...storage.counts.values()].toSorted()).toEqual([0, 0, 3, 3, 3].toSorted());
    await app.close();
    await other.close();
  });

  it('an address that a user has logged in from is known to each process, and others use up none of its tries', async () => {
    const storage = sharedStorage();
    const auth = { throttle: { tries: 5, accountTries: 6, storage } };
    const [app, other] = [await behindProxy(platform, auth), await behindProxy(platform, auth)];
    const email = uniqueEmail();
    for (const each of [app, other]) await each.register({ email });
    expect((await guess(app, email, '192.0.2.9', PASSWORD)).status).toBe(200);
    expect(await statusesOf(8, (n) => guess(app, email, `192.0.2.${20 + n}`))).toEqual([...times(6, 401), 429, 429]);
    expect((await guess(other, email, '192.0.2.40', PASSWORD)).status).toBe(429);
    expect(await statusesOf(5, () => guess(other, email, '192.0.2.9'))).toEqual(times(5, 401));
    expect((await guess(other, email, '192.0.2.9', PASSWORD)).status).toBe(429);
    await app.close();
    await other.close();
  });

  it('a similar name of another user makes no address known', async () => {
    const auth = { loginMethod: 'USERNAME', throttle: { accountTries: 6, storage: sharedStorage() } } as const;
    for (const own of [auth, { ...auth, throttle: { accountTries: 6 } }]) {
      const app = await behindProxy(platform, own);
      for (const username of ['Ann', 'ann', 'ANN']) await app.register({ username });
      const login = (username: string, address: string, password = 'not the password') =>
        app.post('/api/auth/login', { username, password }, from(address));
      const statuses: number[] = [];
      for (let n = 0; n < 12; n += 1) {
        expect((await login(n % 2 === 0 ? 'ann' : 'ANN', `192.0.2.${n}`, PASSWORD)).status).toBe(n < 6 ? 200 : 429);
        statuses.push((await login('Ann', `192.0.2.${n}`)).status);
      }
      expect(statuses).toEqual([...times(6, 401), ...times(6, 429)]);
      await app.close();
    }
  });

  it.each<[string, () => Promise<number>, string]>([
    ['fails', () => Promise.reject(new Error('no connection to redis://secret@host')), 'Error'],
    ['does not answer', () => new Promise(() => undefined), 'TimeoutError'],
    ['answers no number', () => Promise.resolve({} as never), 'TypeError'],
  ])('a storage that %s makes no guess free', async (_, add, name) => {
    const app = await startAuth(platform, { auth: { throttle: { tries: 4, storage: { add } } } });
    const register = () => app.register({ email: uniqueEmail() });
    const { email } = (await (name === 'TimeoutError' ? untilLimit(5_000, 1, register) : register())).user;
    expect((await guess(app, email as string, undefined, PASSWORD)).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 8 }, () => guess(app, email as string)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...times(4, 401), ...times(4, 429)]);
    const lines = linesOf(app.logs, 'error');
    expect(lines).toEqual([expect.stringContaining(`\`throttle\` failed: ${name}. This process counts by itself`)]);
    await app.close();
  });

  it.each<[string, unknown, string]>([
    ['true', true, 'throttle` must be an object'],
    ['an unknown name', { limit: 1 }, '"limit"'],
    ['no tries', { tries: 0 }, 'throttle.tries` must be an integer of at least 1, got 0'],
    ['another storage', { storage: 'redis' }, 'throttle.storage` must be "memory", "database", or a storage'],
  ])('refuses %s at startup', async (_, throttle, message) => {
    const { error } = await bootAuth(platform, { auth: { throttle: throttle as never } });
    expect(String(error)).toContain(message);
  });
});
