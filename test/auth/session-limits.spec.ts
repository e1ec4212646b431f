/** `maxSessions` and `absoluteDays`: how many sessions a user has, and how long one lives at most. */
import { AuthEvents, AuthSession } from 'declarest';
import { DataSource } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';
import { slowStatements } from './slow-statements.js';

interface Tokens {
  readonly token: string;
  readonly refreshToken: string;
}

const DAY = 24 * 60 * 60 * 1000;
const sidOf = (token: string): string =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sid: string }).sid;
const rows = (app: AuthApp) => app.app.get(DataSource, { strict: false }).getRepository(AuthSession);

/** Moves the clock of a session back. */
async function age(app: AuthApp, { token }: Tokens, ms: number): Promise<void> {
  const { id, createdAt, lastUsedAt, expiresAt } = await rows(app).findOneByOrFail({ id: sidOf(token) });
  await rows(app).update({ id }, { createdAt: createdAt - ms, lastUsedAt: lastUsedAt - ms, expiresAt: expiresAt - ms });
}

async function login(app: AuthApp, email: string): Promise<Tokens> {
  const { status, json, text } = await app.post('/api/auth/login', { email, password: PASSWORD });
  if (status !== 200) throw new Error(text);
  return json.data as Tokens;
}

const register = async (app: AuthApp) => {
  const email = uniqueEmail();
  return { ...((await app.register({ email })) as unknown as Tokens), email };
};

const refresh = (app: AuthApp, { refreshToken }: Tokens) => app.post('/api/auth/refresh', { refreshToken });

const statusesOf = async (app: AuthApp, all: readonly Tokens[]): Promise<number[]> =>
  Promise.all(all.map(async (each) => (await refresh(app, each)).status));

afterEach(() => vi.restoreAllMocks());

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  describe.each(DATABASES)('with maxSessions on %s', (database) => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform, { database, auth: { sessions: { maxSessions: 2, revocation: 'immediate' } } });
    });
    afterAll(() => app.close());

    it('a login ends the session that began first, however it was used, and nobody else’s', async () => {
      const other = await register(app);
      const first = await register(app);
      const second = await login(app, first.email);
      const ended: object[] = [];
      app.app.get(AuthEvents, { strict: false }).on('session.ended', (event) => void ended.push(event));
      const used = (await refresh(app, first)).json.data as Tokens;
      const third = await login(app, first.email);
      expect((await app.get('/api/auth/me', { token: used.token })).status).toBe(401);
      expect(await statusesOf(app, [used, second, third, other])).toEqual([401, 200, 200, 200]);
      expect(ended).toEqual([expect.objectContaining({ sessionId: sidOf(first.token), count: 1 })]);
    });

    it.each<[string, (app: AuthApp) => void]>([
      ['', () => undefined],
      [' that overlap between their statements', slowStatements],
    ])('parallel logins%s leave as many', async (_, begin) => {
      const { email } = await register(app);
      begin(app);
      const all = await Promise.all(Array.from({ length: 10 }, () => login(app, email)));
      vi.restoreAllMocks();
      expect((await statusesOf(app, all)).toSorted()).toEqual([200, 200, ...Array<number>(8).fill(401)]);
    });

    it('sessions that are over do not count', async () => {
      const first = await register(app);
      const [second, third] = [await login(app, first.email), await login(app, first.email)];
      await age(app, third, 31 * DAY);
      const fourth = await login(app, first.email);
      expect(await statusesOf(app, [first, second, third, fourth])).toEqual([401, 200, 401, 200]);
    });
  });

  describe.each(DATABASES)('with absoluteDays on %s', (database) => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform, { database, auth: { sessions: { absoluteDays: 40, revocation: 'immediate' } } });
    });
    afterAll(() => app.close());

    it('a session ends for good, however often it was refreshed, and without an alarm', async () => {
      const alarms: object[] = [];
      app.app.get(AuthEvents, { strict: false }).on('session.reused', (event) => void alarms.push(event));
      const session = await register(app);
      await age(app, session, 29 * DAY);
      const next = (await refresh(app, session)).json.data as Tokens;
      await age(app, session, 10.99 * DAY);
      const last = (await refresh(app, next)).json.data as Tokens;
      expect((await app.get('/api/auth/sessions', { token: last.token })).json.data).toHaveLength(1);
      await age(app, session, 0.01 * DAY);
      expect((await refresh(app, last)).status).toBe(401);
      for (const path of ['me', 'sessions'])
        expect((await app.get(`/api/auth/${path}`, { token: last.token })).status).toBe(401);
      expect(alarms).toEqual([]);
    });
  });
});
