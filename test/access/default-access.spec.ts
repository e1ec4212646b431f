import { request } from '../harness/client.js';
import { bootError, linesOf, PLATFORMS } from '../harness/platforms.js';
import { PASSWORD } from '../harness/shop.js';
import { type Declare, type RuledParts, ruledModule, startRuled, TOKENS } from './ruled-app.js';

const credentials = { email: 'ann@example.com', password: PASSWORD };
type Asked = Record<string, number>;

/** `POST /api/auth/login` → status without a token; a line may end in `as USER`. */
async function asking(url: string, lines: Asked): Promise<Asked> {
  const got: Asked = {};
  for (const line of Object.keys(lines)) {
    const [, method = '', path = '', who] = /^(\S+) (\S+)(?: as (\w+))?$/.exec(line) ?? [];
    const token = TOKENS[(who ?? 'ANYBODY') as keyof typeof TOKENS];
    const { status } = await request(url, method, path, {
      ...(method === 'POST' && { json: credentials }),
      ...(token !== undefined && { token }),
    });
    got[line] = status;
  }
  return got;
}

describe.each(PLATFORMS)('routes matched by no rule on %s', (platform) => {
  async function expectStatuses(parts: RuledParts, lines: Asked): Promise<string[]> {
    const app = await startRuled(platform, { routes: ['GET x', 'POST x', 'GET ruled'], ...parts });
    const got = await asking(app.url, lines);
    await app.close();
    expect(got).toEqual(lines);
    return linesOf(app.logs, 'warn');
  }
  const rules: Declare = ({ requireRole }) => requireRole('ADMIN', '/ruled');

  it('[3.4] without a SecurityConfig every route is open, with one warning', async () => {
    const warnings = await expectStatuses({ rules: false }, { 'GET /x': 200, 'POST /x': 201, 'GET /ruled': 200 });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/SecurityConfig.*open/);
  });

  it('[3.4] with one, they require a valid token', async () => {
    const warnings = await expectStatuses(
      { rules },
      { 'GET /x': 401, 'POST /x': 401, 'GET /x as USER': 200, 'GET /ruled as USER': 403, 'GET /ruled as ADMIN': 200 },
    );
    expect(warnings.filter((line) => line.includes('No SecurityConfig'))).toEqual([]);
  });

  it('[3.4] with one that declares nothing, they require a valid token', async () => {
    await expectStatuses({ rules: () => {} }, { 'GET /x': 401, 'GET /x as USER': 200 });
  });

  it.each<[access: 'authenticated' | 'public' | 'denied', lines: Asked]>([
    ['authenticated', { 'GET /x': 401, 'GET /x as USER': 200, 'GET /x as ADMIN': 200, 'GET /ruled as USER': 403 }],
    ['public', { 'GET /x': 200, 'POST /x': 201, 'GET /ruled': 401, 'GET /ruled as USER': 403 }],
    ['denied', { 'GET /x': 401, 'GET /x as USER': 403, 'GET /x as ADMIN': 403, 'GET /ruled as ADMIN': 200 }],
  ])('[3.4] defaultAccess %s applies only where no rule matches', async (defaultAccess, lines) => {
    await expectStatuses({ rules, auth: { defaultAccess } }, lines);
  });

  it.each<[access: 'authenticated' | 'public' | 'denied', lines: Asked]>([
    ['authenticated', { 'GET /x': 401, 'GET /x as USER': 200 }],
    ['public', { 'GET /x': 200 }],
    ['denied', { 'GET /x': 401, 'GET /x as USER': 403 }],
  ])('[3.4] defaultAccess %s applies without a SecurityConfig, without a warning', async (defaultAccess, lines) => {
    const warnings = await expectStatuses({ rules: false, auth: { defaultAccess } }, lines);
    expect(warnings).toEqual([]);
  });

  it('[3.4] a public rule opens what defaultAccess denies', async () => {
    await expectStatuses(
      { auth: { defaultAccess: 'denied' }, rules: ({ publicEndpoints }) => publicEndpoints('/x') },
      { 'GET /x': 200, 'GET /ruled as ADMIN': 403 },
    );
  });

  it('[3.4] [3.5] a restriction opens what defaultAccess denies for the clean path only', async () => {
    const app = await startRuled(platform, {
      routes: ['GET users/:id'],
      auth: { defaultAccess: 'denied' },
      rules: ({ requireAuth }) => requireAuth('/users/me'),
    });
    const statuses = await Promise.all(
      ['/users/me', '/users/me;x', '/users/ME', '/users/%6de', '/users/7'].map(
        async (path) => (await request(app.url, 'GET', path, { token: TOKENS.USER })).status,
      ),
    );
    expect(statuses).toEqual([200, 403, 403, 403, 403]);
    await app.close();
  });

  it('[3.4] under "denied" the refusal names no role', async () => {
    const app = await startRuled(platform, { routes: ['GET x'], auth: { defaultAccess: 'denied' } });
    const answer = await request(app.url, 'GET', '/x', { token: TOKENS.BOTH });
    expect(answer.status).toBe(403);
    expect(Object.keys(answer.json)).toEqual(['error']);
    expect((await request(app.url, 'GET', '/x')).json).toEqual({ error: 'Authentication required' });
    await app.close();
  });

  it.each<unknown>(['open', null, true])('[3.4] defaultAccess %p refuses to start', async (defaultAccess) => {
    const boot = async () => ruledModule({ auth: { defaultAccess } as never });
    const error = await boot().then(
      (root) => bootError(platform, root),
      (thrown: unknown) => thrown as Error,
    );
    expect(error.message).toMatch(/defaultAccess.*(?=.*authenticated)(?=.*public)(?=.*denied)/);
  });

  // The registered user is the first one, whose id the token has.
  const OWN: Asked = {
    'POST /api/auth/register': 201,
    'POST /api/auth/login': 200,
    'GET /api/auth/me': 401,
    'GET /api/auth/me as USER': 200,
  };
  it.each<[what: string, parts: RuledParts]>([
    ['without a SecurityConfig', { rules: false }],
    ['under the default', {}],
    ['under defaultAccess denied', { auth: { defaultAccess: 'denied' } }],
    ["under requireAuth('/**')", { rules: ({ requireAuth }) => requireAuth('/**') }],
    ["under requireAuth('/api/auth/**')", { rules: ({ requireAuth }) => requireAuth('/api/auth/**') }],
    ["under requireAuth('POST /api/auth/*')", { rules: ({ requireAuth }) => requireAuth('POST /api/auth/*') }],
    ["under publicEndpoints('/**')", { rules: ({ publicEndpoints }) => publicEndpoints('/**') }],
  ])(
    '[3.4] the package’s own routes carry their own rules: register and login are public, me is not, %s',
    async (_, parts) => {
      await expectStatuses(parts, OWN);
    },
  );

  it('[3.4] a role on a broader pattern applies to me, and not to login and register', async () => {
    await expectStatuses(
      { rules: ({ requireRole }) => requireRole('ADMIN', '/api/**') },
      {
        'POST /api/auth/register': 201,
        'POST /api/auth/login': 200,
        'GET /api/auth/me as USER': 403,
        'GET /api/auth/me as ADMIN': 200,
      },
    );
  });

  it('[3.4] they have their rules with another base path', async () => {
    await expectStatuses(
      { auth: { authBasePath: 'id/' }, rules: ({ publicEndpoints }) => publicEndpoints('GET /**') },
      { 'POST /id/register': 201, 'POST /id/login': 200, 'GET /id/me': 401, 'GET /id/me as USER': 200 },
    );
  });

  it.each<[rule: string, declare: Declare, lines: Asked]>([
    [
      "requireRole('ADMIN', '/api/auth/register')",
      ({ requireRole }) => requireRole('ADMIN', '/api/auth/register'),
      {
        'POST /api/auth/register': 401,
        'POST /api/auth/register as USER': 403,
        'POST /api/auth/register as ADMIN': 201,
        'POST /api/auth/login': 200,
        'GET /api/auth/me': 401,
        'GET /api/auth/me as USER': 200,
      },
    ],
    [
      "requireAuth('POST /api/auth/login')",
      ({ requireAuth }) => requireAuth('POST /api/auth/login'),
      { 'POST /api/auth/register': 201, 'POST /api/auth/login': 401, 'POST /api/auth/login as USER': 200 },
    ],
    [
      "requireRole('ADMIN', 'GET /api/auth/me')",
      ({ requireRole }) => requireRole('ADMIN', 'GET /api/auth/me'),
      {
        'POST /api/auth/register': 201,
        'GET /api/auth/me': 401,
        'GET /api/auth/me as USER': 403,
        'GET /api/auth/me as ADMIN': 200,
      },
    ],
    [
      "requireAuth('GET /api/auth/login'), which is another method",
      ({ requireAuth }) => requireAuth('GET /api/auth/login'),
      { 'POST /api/auth/register': 201, 'POST /api/auth/login': 200 },
    ],
  ])("[3.4] an application's rule for the very same path replaces the package's: %s", async (_, declare, lines) => {
    await expectStatuses({ rules: declare }, lines);
  });

  it('[3.4] me under a public rule for its path answers 401 without a token', async () => {
    const app = await startRuled(platform, { rules: ({ publicEndpoints }) => publicEndpoints('/api/auth/me') });
    const answer = await request(app.url, 'GET', '/api/auth/me');
    expect([answer.status, answer.json]).toEqual([401, { error: 'Authentication required' }]);
    await app.close();
  });
});
