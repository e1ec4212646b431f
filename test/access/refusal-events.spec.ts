/** The event `access.refused`: what it says for each kind of refusal, and how often it is emitted. */
import { Controller, Get, type INestApplication } from '@nestjs/common';
import { AuthEvents, type HttpRequest, Roles } from 'declarest';
import { AccessRefused, type AuthPlugin } from 'declarest/plugin';
import { request } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { startNotes } from '../logins/notes-app.js';
import { type RuledApp, startRuled, TOKENS } from './ruled-app.js';

@Controller('decorated')
class Decorated {
  @Roles('EDITOR')
  @Get()
  get(): void {}
}

const ADDRESS = '127.0.0.1';

function refusalsOf(app: INestApplication): object[] {
  const refused: object[] = [];
  app.get(AuthEvents, { strict: false }).on('access.refused', ({ name, at, ...facts }) => {
    expect([name, at]).toEqual(['access.refused', expect.any(Date)]);
    refused.push(facts);
  });
  return refused;
}

describe.each(PLATFORMS)('access.refused of AuthModule on %s', (platform) => {
  let app: RuledApp;
  let refused: object[];
  afterEach(async () => {
    vi.useRealTimers();
    await app.close();
  });
  async function start(auth = {}): Promise<void> {
    app = await startRuled(platform, {
      routes: ['GET api/open', 'GET api/admin', 'GET api/more', 'GET unruled'],
      controllers: [Decorated],
      auth,
      rules: ({ publicEndpoints, requireAuth, requireRole }) => {
        publicEndpoints('/api/open');
        requireAuth('/api/**', '/files/**');
        requireRole('ADMIN', '/api/admin');
      },
    });
    refused = refusalsOf(app.app);
  }
  const get = async (path: string, token?: string): Promise<number> =>
    (await request(app.url, 'GET', path, token === undefined ? {} : { token })).status;

  it('says which rule refuses a request without a valid token: of a pattern, a decorator, or the default', async () => {
    await start();
    expect(await get('/api/admin')).toBe(401);
    expect(await get('/api/more', 'invalid')).toBe(401);
    expect(await get('/decorated')).toBe(401);
    expect(await get('/unruled')).toBe(401);
    expect(refused).toEqual(
      [
        'TestSecurity.requireRole("ADMIN", "/api/admin")',
        'TestSecurity.requireAuth("/api/**")',
        '@Roles on Decorated.get',
        'default',
      ].map((rule) => ({ rule, userId: undefined, address: ADDRESS })),
    );
  });

  it('says which user has not the role', async () => {
    await start();
    expect(await get('/api/admin', TOKENS.USER)).toBe(403);
    expect(await get('/decorated', TOKENS.USER)).toBe(403);
    expect(refused).toEqual([
      { rule: 'TestSecurity.requireRole("ADMIN", "/api/admin")', userId: '1', address: ADDRESS },
      { rule: '@Roles on Decorated.get', userId: '1', address: ADDRESS },
    ]);
  });

  it('tells of account endpoints, and of paths outside of the routes of Nest', async () => {
    await start();
    for (const path of ['/api/auth/me', '/files/x.txt'])
      expect((await request(app.url, 'GET', path, { headers: { 'x-request-id': path } })).status).toBe(401);
    expect(refused).toMatchObject([
      { rule: 'declarest("/api/auth/me")', requestId: '/api/auth/me' },
      { rule: 'TestSecurity.requireAuth("/files/**")', requestId: '/files/x.txt' },
    ]);
  });

  it('tells of a denied default', async () => {
    await start({ defaultAccess: 'denied' });
    expect(await get('/unruled', TOKENS.ADMIN)).toBe(403);
    expect(refused).toEqual([{ rule: 'default', userId: '1', address: ADDRESS }]);
  });

  it('tells of nothing that has access, does not exist, or is answered otherwise', async () => {
    await start();
    expect(await get('/api/open')).toBe(200);
    expect(await get('/api/open', 'invalid')).toBe(200);
    expect(await get('/api/admin', TOKENS.ADMIN)).toBe(200);
    expect(await get('/nowhere')).toBe(404);
    expect((await request(app.url, 'POST', '/api/auth/login', { json: {} })).status).toBe(400);
    expect(refused).toEqual([]);
  });

  it('tells of tokens that a plugin refuses by 403, and not of an outage', async () => {
    const limiting: AuthPlugin = {
      name: 'limiting',
      authenticate(_services, { headers }) {
        if (headers['x-outage'] !== undefined) throw new Error('away');
        return { bearerWasSent: true, failure: new AccessRefused(['second factor']) };
      },
    };
    await start({ plugins: [limiting] });
    const headers = { 'x-outage': 'yes' };
    expect((await request(app.url, 'GET', '/api/more', { headers, token: TOKENS.USER })).status).toBe(503);
    expect(refused).toEqual([]);
    expect(await get('/api/more', TOKENS.USER)).toBe(403);
    expect(refused).toEqual([{ rule: 'TestSecurity.requireAuth("/api/**")', userId: undefined, address: ADDRESS }]);
  });

  it('is emitted at most once a second for each rule, user and address', async () => {
    await start();
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now });
    const burst = async (): Promise<void> => {
      for (let count = 0; count < 5; count += 1) {
        await get('/api/admin');
        await get('/api/admin', TOKENS.USER);
        await get('/api/more');
      }
    };
    await burst();
    expect(refused).toHaveLength(3);
    vi.setSystemTime(now + 999);
    await burst();
    expect(refused).toHaveLength(3);
    vi.setSystemTime(now + 1_000);
    await burst();
    expect(refused).toHaveLength(6);
    vi.setSystemTime(now + 1_999);
    await burst();
    expect(refused).toHaveLength(6);
    // A clock that was set back does not silence the event.
    vi.setSystemTime(now - 3_600_000);
    await burst();
    expect(refused).toHaveLength(9);
  });
});

it.each(PLATFORMS)('access.refused of AccessModule on %s has the user of the application', async (platform) => {
  const authenticate = ({ headers }: HttpRequest) => {
    const id = headers['x-user'];
    return typeof id === 'string' ? { id, roles: [] } : undefined;
  };
  const app = await startNotes(platform, { authenticate });
  const refused = refusalsOf(app.app);
  const requestId = 'r-1';
  const headers = { 'x-user': 'ann', 'x-request-id': requestId };
  expect((await app.get('/api/admin')).status).toBe(401);
  expect((await app.get('/api/admin', { headers })).status).toBe(403);
  expect((await app.get('/api/own/t1', { headers })).status).toBe(403);
  expect((await app.get('/api/notes')).status).toBe(401);
  await app.close();
  const role = 'Rules.requireRole("ADMIN", "/api/admin")';
  expect(refused).toEqual([
    { rule: role, userId: undefined, address: ADDRESS },
    { rule: role, userId: 'ann', address: ADDRESS, requestId },
    { rule: 'Rules.requirePolicy("tenant", "/api/own/*")', userId: 'ann', address: ADDRESS, requestId },
    { rule: 'Rules.requireAuth("/api/**")', userId: undefined, address: ADDRESS },
  ]);
});

it('a listener that throws does not change the refusal', async () => {
  const app = await startRuled('express', { routes: ['GET api/a'], rules: ({ requireAuth }) => requireAuth('/**') });
  app.app.get(AuthEvents, { strict: false }).on('access.refused', () => {
    throw new Error('the log is full');
  });
  expect((await request(app.url, 'GET', '/api/a')).status).toBe(401);
  expect(app.logs.filter((line) => line.includes('A listener of access.refused failed.'))).toHaveLength(1);
  await app.close();
});
