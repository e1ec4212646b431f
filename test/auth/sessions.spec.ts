/** `sessions`: refresh, logout, the list of sessions. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  OneTimeToken,
  AuthEvents,
  type AuthEventName,
  AuthSession,
  ThrottleCount,
  UserAccounts,
  UserRepository,
  VerifiedEmail,
} from 'declarest';
import { DataSource } from 'typeorm';
import type { Answer } from '../harness/client.js';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { refusal } from '../harness/refusal.js';
import { claims, makeToken, TEST_SECRET } from '../harness/tokens.js';
import { request } from '../harness/client.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';
import { slowStatements } from './slow-statements.js';

interface Login {
  readonly token: string;
  readonly refreshToken: string;
  readonly expiresIn: number;
  readonly user: Record<string, unknown>;
}

const REFRESH_TOKEN = expect.stringMatching(/^[\w-]{86}$/);
const payloadOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

async function login(app: AuthApp, email: string, headers: Record<string, string> = {}): Promise<Login> {
  const { status, json, text } = await app.post('/api/auth/login', { email, password: PASSWORD }, { headers });
  if (status !== 200) throw new Error(text);
  return json.data as Login;
}

const refresh = (app: AuthApp, refreshToken: unknown): Promise<Answer> =>
  app.post('/api/auth/refresh', { refreshToken });

const register = async (app: AuthApp): Promise<Login & { email: string }> => {
  const email = uniqueEmail();
  return { ...((await app.register({ email })) as unknown as Login), email };
};

const rows = (app: AuthApp) => app.app.get(DataSource, { strict: false }).getRepository(AuthSession);

/** Moves the clock of one session back, as if time had passed. */
async function age(app: AuthApp, { token }: Login, ms: number): Promise<void> {
  const { sid: id } = payloadOf(token);
  const session = await rows(app).findOneByOrFail({ id });
  const back = (time: number | null) => (time === null ? null : time - ms);
  const { rotatedAt, expiresAt, lastUsedAt } = session;
  await rows(app).update(
    { id },
    { rotatedAt: back(rotatedAt), expiresAt: expiresAt - ms, lastUsedAt: lastUsedAt - ms },
  );
}

afterEach(() => vi.restoreAllMocks());

const DAY = 24 * 60 * 60 * 1000;

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  describe.each(DATABASES)('with sessions on %s', (database) => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform, { database, auth: { sessions: true } });
    });
    afterAll(() => app.close());

    it('register and login also answer a refresh token and the seconds of the access token', async () => {
      const registered = await register(app);
      const logged = await login(app, registered.email);
      for (const answer of [registered, logged]) {
        expect([answer.refreshToken, answer.expiresIn]).toEqual([REFRESH_TOKEN, 900]);
        const { iat, exp, sid, ...others } = payloadOf(answer.token);
        expect([exp - iat, sid]).toEqual([900, expect.stringMatching(/^[0-9a-f]{32}$/)]);
        expect(others).toEqual({ sub: String(registered.user['id']), email: registered.email, roles: ['USER'] });
        expect((await app.get('/who', { token: answer.token })).json).toEqual({
          user: { id: registered.user['id'], email: registered.email, roles: ['USER'] },
        });
      }
      expect(payloadOf(registered.token).sid).not.toBe(payloadOf(logged.token).sid);
    });

    it('a refresh answers a new pair with the present role, and stores no token', async () => {
      const { refreshToken, user, token } = await register(app);
      await app.app.get(UserAccounts, { strict: false }).setRole(user['id'] as number, 'EDITOR');
      const answer = await refresh(app, refreshToken);
      expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
      expect(answer.json).toEqual({
        success: true,
        message: 'Token refreshed',
        data: { token: expect.any(String), refreshToken: REFRESH_TOKEN, expiresIn: 900 },
      });
      const { data } = answer.json;
      expect(data.refreshToken).not.toBe(refreshToken);
      expect(payloadOf(data.token)).toMatchObject({ roles: ['EDITOR'], sid: payloadOf(token).sid });
      const stored = JSON.stringify(await rows(app).findOneByOrFail({ id: payloadOf(token).sid }));
      for (const secret of [refreshToken, data.refreshToken, token])
        for (const part of [secret, Buffer.from(secret, 'base64url').subarray(16, 48).toString('hex')])
          expect(stored).not.toContain(part);
    });

    it('a spent token gets the same refresh token while that is unused; after its use it ends the session', async () => {
      const session = await register(app);
      const { refreshToken } = session;
      const next = (await refresh(app, refreshToken)).json.data.refreshToken;
      for (let uses = 0; uses < 5; uses += 1) {
        const { status, json } = await refresh(app, refreshToken);
        expect([status, json.data.refreshToken]).toEqual([200, next]);
        expect((await app.get('/api/auth/me', { token: json.data.token })).status).toBe(200);
      }
      const last = (await refresh(app, next)).json.data.refreshToken;
      expect(expectFailure(await refresh(app, refreshToken), 401)).toBe('Invalid refresh token');
      expect((await refresh(app, last)).status).toBe(401);
      expect(await rows(app).countBy({ id: payloadOf(session.token).sid })).toBe(0);
    });

    it('after 2 minutes a spent token ends its session, however old the token is', async () => {
      const session = await register(app);
      const second = (await refresh(app, session.refreshToken)).json.data.refreshToken;
      await age(app, session, 110_000);
      expect((await refresh(app, session.refreshToken)).json.data.refreshToken).toBe(second);
      const third = (await refresh(app, second)).json.data.refreshToken;
      await age(app, session, 10_000);
      // Two generations old.
      expect((await refresh(app, session.refreshToken)).status).toBe(401);
      expect((await refresh(app, third)).status).toBe(401);
      expect(await rows(app).countBy({ id: payloadOf(session.token).sid })).toBe(0);

      const other = await register(app);
      const next = (await refresh(app, other.refreshToken)).json.data.refreshToken;
      await age(app, other, 120_000);
      expect((await refresh(app, other.refreshToken)).status).toBe(401);
      expect((await refresh(app, next)).status).toBe(401);
    });

    it('a token whose refresh was in flight at a restart gets the same refresh token after it', async () => {
      const created = await createDatabase(database);
      const start = () => startAuth(platform, { auth: { sessions: true }, dataSource: created.options as never });
      const before = await start();
      const session = await register(before);
      const next = (await refresh(before, session.refreshToken)).json.data.refreshToken;
      await age(before, session, 60_000);
      await before.close();
      const after = await start();
      for (let uses = 0; uses < 3; uses += 1) {
        const { status, json } = await refresh(after, session.refreshToken);
        expect([status, json.data?.refreshToken]).toEqual([200, next]);
      }
      expect((await refresh(after, next)).status).toBe(200);
      expect((await refresh(after, session.refreshToken)).status).toBe(401);
      await after.close();
      await created.drop();
    });

    it.each<[string, (app: AuthApp) => void]>([
      ['', () => undefined],
      [' that overlap between their statements', slowStatements],
    ])('parallel refreshes%s with one token get the same new token, and no second family begins', async (_, begin) => {
      const { refreshToken, token } = await register(app);
      begin(app);
      const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(app, refreshToken)));
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
      expect(new Set(answers.map(({ json }) => json.data.refreshToken)).size).toBe(1);
      expect(await rows(app).countBy({ id: payloadOf(token).sid })).toBe(1);
      expect((await refresh(app, answers[0]?.json.data.refreshToken)).status).toBe(200);
    });

    it('the clocks of processes may differ by 30 s', async () => {
      const session = await register(app);
      const now = Date.now.bind(Date);
      for (const offset of [30_000, -30_000]) {
        const logged = await login(app, session.email);
        const first = await refresh(app, logged.refreshToken);
        vi.spyOn(Date, 'now').mockImplementation(() => now() + offset);
        const second = await refresh(app, logged.refreshToken);
        expect([first.status, second.status]).toEqual([200, 200]);
        expect((await app.get('/api/auth/me', { token: first.json.data.token })).status).toBe(200);
        expect((await refresh(app, second.json.data.refreshToken)).status).toBe(200);
        vi.restoreAllMocks();
      }
    });

    it('the expiry slides with each refresh', async () => {
      const session = await register(app);
      await age(app, session, 29 * DAY);
      const { refreshToken } = (await refresh(app, session.refreshToken)).json.data;
      await age(app, session, 29 * DAY);
      const again = (await refresh(app, refreshToken)).json.data;
      await age(app, session, 30 * DAY + 1000);
      expect((await refresh(app, again.refreshToken)).status).toBe(401);
    });

    it('refuses a refresh of a deactivated and of a deleted user', async () => {
      const [inactive, gone] = [await register(app), await register(app)];
      await app.app.get(UserAccounts, { strict: false }).setActive(inactive.user['id'] as number, false);
      await app.users().delete({ id: gone.user['id'] as number });
      for (const each of [inactive, gone]) expect((await refresh(app, each.refreshToken)).status).toBe(401);
      expect(await rows(app).countBy({ id: payloadOf(inactive.token).sid })).toBe(0);
    });

    it('[2.9] a user whom a standby does not have yet is 401, and the session goes on', async () => {
      const { refreshToken } = await register(app);
      vi.spyOn(app.app.get(UserRepository, { strict: false }), 'findById').mockResolvedValueOnce(null);
      expect((await refresh(app, refreshToken)).status).toBe(401);
      expect((await refresh(app, refreshToken)).status).toBe(200);
    });

    it('a user who was deactivated in the table gets no token', async () => {
      const { refreshToken, token, user } = await register(app);
      await app.users().update({ id: user['id'] as number }, { active: false });
      expect(expectFailure(await refresh(app, refreshToken), 401)).toBe('Invalid refresh token');
      expect(await rows(app).countBy({ id: payloadOf(token).sid })).toBe(0);
    });

    it('logout ends the session of the access token, or of the refresh token', async () => {
      const { email, ...first } = await register(app);
      const [second, third] = [await login(app, email), await login(app, email)];
      expect((await app.post('/api/auth/logout', undefined, { token: first.token })).status).toBe(204);
      const byToken = await app.post('/api/auth/logout', { refreshToken: second.refreshToken });
      expect([byToken.status, byToken.text]).toEqual([204, '']);
      expect((await app.post('/api/auth/logout', { refreshToken: second.refreshToken })).status).toBe(204);
      expect((await refresh(app, first.refreshToken)).status).toBe(401);
      expect((await refresh(app, second.refreshToken)).status).toBe(401);
      expect((await refresh(app, third.refreshToken)).status).toBe(200);
    });

    it('logout-all ends the sessions of the user, and of nobody else', async () => {
      const [ann, ben] = [await register(app), await register(app)];
      const other = await login(app, ann.email);
      expect((await app.post('/api/auth/logout-all', undefined, { token: ann.token })).status).toBe(204);
      for (const { refreshToken } of [ann, other]) expect((await refresh(app, refreshToken)).status).toBe(401);
      expect((await refresh(app, ben.refreshToken)).status).toBe(200);
    });

    it('lists own sessions, and ends one of them', async () => {
      const [ann, ben] = [await register(app), await register(app)];
      const phone = await login(app, ann.email, { 'user-agent': 'Phone 1' });
      const { status, json } = await app.get('/api/auth/sessions', { token: ann.token });
      const ids = [ann, phone].map(({ token }) => payloadOf(token).sid as string);
      expect([status, json.success]).toEqual([200, true]);
      expect(json.data).toHaveLength(2);
      expect(json.data.find((each: { id: string }) => each.id === ids[0])).toEqual({
        id: ids[0],
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        lastUsedAt: expect.stringMatching(/Z$/),
        userAgent: null,
        address: '127.0.0.1',
        current: true,
      });
      expect(json.data.find((each: { id: string }) => each.id === ids[1])).toMatchObject({
        userAgent: 'Phone 1',
        current: false,
      });
      const end = (id: unknown, token: string) =>
        request(app.url, 'DELETE', `/api/auth/sessions/${String(id)}`, { token });
      const foreign = await end(ids[1], ben.token);
      expect(expectFailure(foreign, 404)).toBe(`Session with id ${ids[1]} not found`);
      expect((await end('0'.repeat(32), ann.token)).status).toBe(404);
      expect((await end('x%00', ann.token)).status).toBe(404);
      expect((await end(ids[1], ann.token)).status).toBe(204);
      expect((await refresh(app, phone.refreshToken)).status).toBe(401);
      expect((await refresh(app, ann.refreshToken)).status).toBe(200);
    });
  });

  describe('bad input', () => {
    let app: AuthApp;
    let statements: () => number;
    beforeAll(async () => {
      let count = 0;
      const logger = { logQuery: () => (count += 1) };
      for (const name of ['logQueryError', 'logQuerySlow', 'logSchemaBuild', 'logMigration', 'log'])
        Object.assign(logger, { [name]: () => undefined });
      app = await startAuth(platform, {
        auth: { sessions: true },
        dataSource: { logging: true, logger: logger as never },
      });
      statements = () => count;
    });
    afterAll(() => app.close());

    it('a refresh token that was not issued here is 401 without a query, and ends no session', async () => {
      const { refreshToken, token } = await register(app);
      const bytes = Buffer.from(refreshToken, 'base64url');
      const flipped = (index: number) => {
        const copy = Buffer.from(bytes);
        copy.writeUInt8((copy[index] ?? 0) ^ 1, index);
        return copy.toString('base64url');
      };
      const before = statements();
      for (const forged of [
        '',
        'x',
        'x'.repeat(86),
        'x'.repeat(90_000),
        token,
        `${refreshToken}=`,
        ` ${refreshToken}`,
        // Another spelling of the same bytes.
        refreshToken.slice(0, -1) +
          (refreshToken.endsWith('A') ? 'B' : String.fromCharCode(refreshToken.charCodeAt(85) + 1)),
        flipped(0),
        flipped(20),
        flipped(63),
        '\0'.repeat(86),
      ]) {
        const answer = await refresh(app, forged);
        expect([forged.slice(0, 90), answer.status, answer.json?.message]).toEqual([
          forged.slice(0, 90),
          401,
          'Invalid refresh token',
        ]);
        const logout = await app.post('/api/auth/logout', { refreshToken: forged });
        expect([forged.slice(0, 90), logout.status]).toEqual([forged.slice(0, 90), 401]);
      }
      expect(statements()).toBe(before);
      expect((await refresh(app, refreshToken)).status).toBe(200);
    });

    it.each([
      [{}, 'refreshToken: required'],
      [{ refreshToken: null }, 'refreshToken: required'],
      [{ refreshToken: 7 }, 'refreshToken: expected well-formed text'],
      [{ refreshToken: ['a'] }, 'refreshToken: expected well-formed text'],
      [{ refreshToken: 'a', sub: '1' }, 'sub: not accepted here, expected only refreshToken'],
    ])('refresh of %j is 400', async (body, message) => {
      expect(expectFailure(await app.post('/api/auth/refresh', body))).toBe(message);
    });

    it('a refresh token is no access token, and the reverse', async () => {
      const { refreshToken } = await register(app);
      const answer = await app.get('/api/auth/me', { token: refreshToken });
      expect([answer.status, answer.json]).toEqual([401, refusal('Authentication required')]);
    });

    it('logout without a token is 401, and with a token of no session 400', async () => {
      expect((await app.post('/api/auth/logout', {})).json).toEqual(refusal('Authentication required'));
      const token = makeToken({ payload: claims() });
      expect(expectFailure(await app.post('/api/auth/logout', {}, { token }))).toBe('This token belongs to no session');
      const mine = await register(app);
      const body = { everywhere: true };
      expect(expectFailure(await app.post('/api/auth/logout', body, { token: mine.token }))).toContain('everywhere');
    });

    it.each(['/sessions', '/logout-all'])('%s without a token is 401', async (path) => {
      const method = path === '/sessions' ? 'GET' : 'POST';
      expect((await request(app.url, method, `/api/auth${path}`)).json).toEqual(refusal('Authentication required'));
    });
  });

  it.each(DATABASES)('every hour, expired rows are removed from all tables on %s', async (database) => {
    const timers = vi.spyOn(globalThis, 'setInterval');
    const auth = { sessions: true, passwordReset: true, throttle: { storage: 'database' } } as const;
    const app = await startAuth(platform, { database, auth });
    const removals = timers.mock.calls.filter(([, ms]) => ms === 3_600_000).map(([remove]) => remove as () => void);
    timers.mockRestore();
    const { manager } = rows(app);
    const now = Date.now();
    const [past, future] = [now - 60_000, now + 60_000];
    const user = await register(app);
    await age(app, user, 31 * DAY);
    const kept = await register(app);
    const link = { userId: '1', purpose: 'reset', data: {}, tries: 0 };
    await manager.insert(OneTimeToken, { ...link, hash: 'past', expiresAt: past });
    await manager.insert(OneTimeToken, { ...link, hash: 'future', expiresAt: future });
    await manager.insert(ThrottleCount, { id: 'past', count: 1, expiresAt: past });
    await manager.insert(ThrottleCount, { id: 'future', count: 1, expiresAt: future });
    await manager.insert(VerifiedEmail, { userId: '1', email: 'a@b.example' });
    removals.forEach((remove) => remove());
    while ((await manager.count(ThrottleCount)) > 1) await delay(5);
    expect((await rows(app).find()).map(({ id }) => id)).toEqual([payloadOf(kept.token).sid]);
    expect((await manager.find(OneTimeToken)).map(({ hash }) => hash)).toEqual(['future']);
    expect((await manager.find(ThrottleCount)).map(({ id }) => id)).toEqual(['future']);
    expect(await manager.count(VerifiedEmail)).toBe(1);
    await app.close();
  });

  it('without sessions the answers, the token and the routes are those of before', async () => {
    const app = await startAuth(platform);
    const { email, ...registered } = await register(app);
    const logged = await login(app, email);
    for (const each of [registered, logged]) {
      expect(Object.keys(each).toSorted()).toEqual(['token', 'user']);
      expect(Object.keys(payloadOf(each.token)).toSorted()).toEqual(['email', 'exp', 'iat', 'roles', 'sub']);
    }
    for (const path of ['refresh', 'logout', 'logout-all', 'password', 'password/forgot', 'verify', 'email'])
      expect((await app.post(`/api/auth/${path}`, {}, { token: logged.token })).status).toBe(404);
    for (const path of ['sessions', 'users'])
      expect((await app.get(`/api/auth/${path}`, { token: logged.token })).status).toBe(404);
    await app.close();
  });

  it('tokens live as long as the options say, in fractions too', async () => {
    const app = await startAuth(platform, {
      auth: { sessions: { accessTokenMinutes: 0.05, refreshTokenDays: 1.5 / 86_400 } },
    });
    const session = await register(app);
    const { iat, exp } = payloadOf(session.token);
    expect([exp - iat, session.expiresIn]).toEqual([3, 3]);
    await age(app, session, 1_500);
    expect((await refresh(app, session.refreshToken)).status).toBe(401);
    await app.close();
  });

  it('tells listeners what happens to sessions, without a secret', async () => {
    const app = await startAuth(platform, { auth: { sessions: true } });
    const events: object[] = [];
    const names: AuthEventName[] = ['user.registered', 'login.succeeded', 'login.failed', 'session.started'];
    const all = [...names, 'session.ended', 'session.reused'] as const;
    for (const name of all) app.app.get(AuthEvents, { strict: false }).on(name, (event) => void events.push(event));
    app.app.get(AuthEvents, { strict: false }).on('login.failed', () => {
      throw new Error('a listener that fails');
    });
    const session = await register(app);
    await app.post('/api/auth/login', { email: session.email, password: 'not the password' });
    await login(app, session.email);
    const next = (await refresh(app, session.refreshToken)).json.data;
    await age(app, session, 120_000);
    await refresh(app, session.refreshToken);
    const userId = String(session.user['id']);
    expect(events.map(({ at, ...event }: { at?: Date }) => [at instanceof Date, event])).toEqual([
      [true, { name: 'user.registered', userId }],
      [true, { name: 'session.started', userId, sessionId: payloadOf(session.token).sid }],
      [true, { name: 'login.failed', login: session.email, address: '127.0.0.1' }],
      [true, { name: 'session.started', userId, sessionId: expect.any(String) }],
      [true, { name: 'login.succeeded', userId, address: '127.0.0.1' }],
      [true, { name: 'session.ended', userId, sessionId: payloadOf(session.token).sid, count: 1 }],
      [true, { name: 'session.reused', userId, sessionId: payloadOf(session.token).sid, address: '127.0.0.1' }],
    ]);
    const said = JSON.stringify([events, app.logs]);
    for (const secret of [
      PASSWORD,
      session.refreshToken,
      next.refreshToken,
      session.token,
      'not the password',
      TEST_SECRET,
    ])
      expect(said).not.toContain(secret);
    expect(app.logs.filter((line) => line.includes('A listener of login.failed failed.'))).toHaveLength(1);
    await app.close();
  });
});
