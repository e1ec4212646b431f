import { type ArgumentsHost, Catch, Controller, type ExceptionFilter, Get, HttpException } from '@nestjs/common';
import { CurrentUser, type Principal, UserAccounts } from 'declarest';
import { type Answer, request } from '../harness/client.js';
import { bootError, linesOf, PLATFORMS } from '../harness/platforms.js';
import { PASSWORD, type Shop, startShop } from '../harness/shop.js';
import { claims, makeToken } from '../harness/tokens.js';
import {
  type Declare,
  type RuledApp,
  ruledModule,
  type RuledParts,
  startRuled,
  TOKENS,
  type Who,
} from './ruled-app.js';
import { refusal } from '../harness/refusal.js';

const withRoles = (...roles: string[]): string => makeToken({ payload: claims({ roles }) });
const expired = makeToken({ payload: claims({ exp: Math.floor(Date.now() / 1000) - 1 }) });

function expectUnauthenticated(answer: Answer, challenge = 'Bearer'): void {
  expect([answer.status, answer.text]).toEqual([401, JSON.stringify(refusal('Authentication required'))]);
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
  expect(answer.headers['www-authenticate']).toBe(challenge);
}

function expectForbidden(answer: Answer, text: string): void {
  expect([answer.status, answer.text]).toEqual([403, JSON.stringify(refusal(text))]);
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
  expect(answer.headers).not.toHaveProperty('www-authenticate');
}

@Controller('whoami')
class WhoAmIController {
  @Get()
  who(@CurrentUser() user: Principal | undefined) {
    return { user: user ?? null };
  }
}

const ROLE_RULES = {
  '/role/admin': 'ADMIN',
  '/role/agent': 'SUPPORT_AGENT',
  '/role/lower': 'manager',
  '/role/mixed': 'TeamLead_EU',
  '/role/one': 'X',
  '/role/user': 'USER',
};

describe.each(PLATFORMS)('rules on %s', (platform) => {
  let app: RuledApp;
  beforeAll(async () => {
    app = await startRuled(platform, {
      routes: [
        'GET public',
        'GET auth',
        'POST auth',
        'GET both',
        ...Object.keys(ROLE_RULES).map((path) => `GET ${path}`),
      ],
      controllers: [WhoAmIController],
      rules: ({ publicEndpoints, requireAuth, requireRole }) => {
        publicEndpoints('/public', '/whoami');
        requireAuth('/auth');
        for (const [path, role] of Object.entries(ROLE_RULES)) requireRole(role, path);
        requireRole('ADMIN', '/both');
        requireRole('SUPPORT_AGENT', 'GET /both');
      },
    });
  });
  afterAll(() => app.close());
  const get = (path: string, token?: string): Promise<Answer> =>
    request(app.url, 'GET', path, token === undefined ? {} : { token });

  it.each(Object.keys(TOKENS) as Who[])('[3.2] a public route needs no token: %s', async (who) => {
    expect((await get('/public', TOKENS[who])).status).toBe(200);
  });

  it('[3.2] requireAuth without a token is 401 with the exact body and challenge', async () => {
    expectUnauthenticated(await get('/auth'));
    expectUnauthenticated(await request(app.url, 'POST', '/auth', { json: {} }));
  });

  it.each(['USER', 'ADMIN', 'SUPPORT_AGENT'] as const)('[3.2] requireAuth accepts any valid token: %s', async (who) => {
    expect((await get('/auth', TOKENS[who])).status).toBe(200);
  });

  it.each<[string, string]>([
    ['expired', expired],
    ['signed with another secret', makeToken({ secret: 'another secret that nobody knows, 32 bytes' })],
    ['not a token', 'abc'],
    ['without roles', makeToken({ payload: claims({ roles: undefined }) })],
  ])('[3.2] an invalid token (%s) on a protected path is 401 with error="invalid_token"', async (_, token) => {
    expectUnauthenticated(await get('/auth', token), 'Bearer error="invalid_token"');
    expectUnauthenticated(await get('/role/admin', token), 'Bearer error="invalid_token"');
  });

  it.each(['Basic YTpi', 'Token abc', 'abc'])(
    '[3.2] the challenge has error="invalid_token" only when a Bearer token was sent, not for "%s"',
    async (authorization) => {
      expectUnauthenticated(await request(app.url, 'GET', '/auth', { headers: { authorization } }));
    },
  );

  it('[3.2] requireRole without a token is 401, not 403', async () => {
    expectUnauthenticated(await get('/role/admin'));
  });

  it('[3.2] a valid token without the role is 403 with exactly that body', async () => {
    expectForbidden(await get('/role/admin', TOKENS.USER), 'Admin access required');
  });

  it.each<[path: string, role: string, text: string]>([
    ['/role/admin', 'ADMIN', 'Admin access required'],
    ['/role/agent', 'SUPPORT_AGENT', 'Support agent access required'],
    ['/role/lower', 'manager', 'Manager access required'],
    ['/role/mixed', 'TeamLead_EU', 'Teamlead eu access required'],
    ['/role/one', 'X', 'X access required'],
  ])('[3.2] %s: the role %s is enforced with the text "%s"', async (path, role, text) => {
    expectForbidden(await get(path, TOKENS.USER), text);
    expectForbidden(await get(path, withRoles()), text);
    expect((await get(path, withRoles(role))).status).toBe(200);
    expect((await get(path, withRoles('USER', role, 'OTHER'))).status).toBe(200);
  });

  it.each([['ADMIN'], ['SUPPORT_AGENT'], ['ANYTHING'], []])(
    '[3.2] any valid token has the base role USER, also one with %o',
    async (...roles) => {
      expect((await get('/role/user', withRoles(...roles.filter((role) => typeof role === 'string')))).status).toBe(
        200,
      );
    },
  );

  it('[3.2] the base role requires a valid token', async () => {
    expectUnauthenticated(await get('/role/user'));
    expectUnauthenticated(await get('/role/user', expired), 'Bearer error="invalid_token"');
  });

  it.each(['admin', ' ADMIN', 'ADMINS', 'ADMIN,USER', 'ＡＤＭＩＮ', '*', ''])(
    '[2.5] [3.2] roles compare exactly: %o is not ADMIN',
    async (role) => {
      expectForbidden(await get('/role/admin', withRoles(role)), 'Admin access required');
    },
  );

  it('[3.2] ADMIN does not include another role', async () => {
    expectForbidden(await get('/role/agent', TOKENS.ADMIN), 'Support agent access required');
  });

  it.each<[who: Who, status: number]>([
    ['ANYBODY', 401],
    ['USER', 403],
    ['ADMIN', 403],
    ['SUPPORT_AGENT', 403],
    ['BOTH', 200],
  ])('[3.3] roles of several rules add up: %s is answered %i', async (who, status) => {
    expect((await get('/both', TOKENS[who])).status).toBe(status);
  });

  it('[3.2] where roles add up, the refusal names one that is missing', async () => {
    expectForbidden(await get('/both', TOKENS.ADMIN), 'Support agent access required');
    expectForbidden(await get('/both', TOKENS.SUPPORT_AGENT), 'Admin access required');
  });

  it.each<[string, string]>([
    ['expired', `Bearer ${expired}`],
    ['nonsense', 'Bearer abc'],
    ['empty', 'Bearer '],
    ['another scheme', 'Basic YTpi'],
    ['no scheme', TOKENS.ADMIN],
  ])('[3.2] a bad token on a public path is ignored: %s', async (_, authorization) => {
    const answer = await request(app.url, 'GET', '/whoami', { headers: { authorization } });
    expect([answer.status, answer.json]).toEqual([200, { user: null }]);
    expect(answer.headers).not.toHaveProperty('www-authenticate');
  });

  it('[1] CurrentUser is the principal of the token, also on a public path, or undefined', async () => {
    expect((await get('/whoami', TOKENS.USER)).json).toEqual({
      user: { id: 1, email: 'ann@example.com', roles: ['USER'] },
    });
    expect((await get('/whoami')).json).toEqual({ user: null });
  });

  it('[3.2] a refused request reaches no handler', async () => {
    const entries = app.entered.length;
    await get('/auth');
    await get('/role/admin', TOKENS.USER);
    await get('/both', TOKENS.ADMIN);
    expect(app.entered).toHaveLength(entries);
  });

  it.each(['', ' ADMIN', undefined, [], ['ADMIN', 7]])('[1] requireRole(%o, …) refuses to start', async (role) => {
    const error = await bootError(
      platform,
      ruledModule({ routes: ['GET a'], rules: ({ requireRole }) => requireRole(role as string, '/a') }),
    );
    expect(error.message).toMatch(/^TestSecurity\.requireRole must be called with the name of a role/);
  });
});

describe.each(PLATFORMS)('enforcedRoles on %s', (platform) => {
  const routes = ['GET admin', 'GET agent', 'GET lead', 'GET auth'];
  const rules: Declare = ({ requireRole, requireAuth }) => {
    requireRole('ADMIN', '/admin');
    requireRole('SUPPORT_AGENT', '/agent');
    requireRole('LEAD', '/lead');
    requireAuth('/auth');
  };
  let app: RuledApp;
  beforeAll(async () => {
    app = await startRuled(platform, { routes, rules, auth: { enforcedRoles: ['ADMIN'] } });
  });
  afterAll(() => app.close());

  it.each<[path: string, who: Who, status: number]>([
    ['/admin', 'ANYBODY', 401],
    ['/admin', 'USER', 403],
    ['/admin', 'ADMIN', 200],
    ['/agent', 'ANYBODY', 401],
    ['/agent', 'USER', 200],
    ['/lead', 'ANYBODY', 401],
    ['/lead', 'SUPPORT_AGENT', 200],
    ['/auth', 'USER', 200],
  ])(
    '[3.2] with ["ADMIN"] a rule for another role requires only a valid token: %s for %s is %i',
    async (path, who, status) => {
      const token = TOKENS[who];
      expect((await request(app.url, 'GET', path, token === undefined ? {} : { token })).status).toBe(status);
    },
  );

  it('[3.2] one warning lists the rules that are not enforced', () => {
    const warnings = linesOf(app.logs, 'warn').filter((line) => line.includes('enforcedRoles'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('"SUPPORT_AGENT", "/agent"');
    expect(warnings[0]).toContain('"LEAD", "/lead"');
    expect(warnings[0]).not.toContain('/admin');
    expect(warnings[0]).not.toContain('/auth');
  });

  it('[3.2] without the option every role is enforced, without a warning', async () => {
    const strict = await startRuled(platform, { routes, rules });
    expect(linesOf(strict.logs, 'warn').join('\n')).not.toContain('enforcedRoles');
    expect((await request(strict.url, 'GET', '/agent', { token: TOKENS.USER })).status).toBe(403);
    await strict.close();
  });

  it('[3.2] with an empty list only a token is required', async () => {
    const lax = await startRuled(platform, { routes, rules, auth: { enforcedRoles: [] } });
    expect((await request(lax.url, 'GET', '/admin', { token: TOKENS.USER })).status).toBe(200);
    expectUnauthenticated(await request(lax.url, 'GET', '/admin'));
    await lax.close();
  });
});

describe.each(PLATFORMS)('rules and generated endpoints on %s', (platform) => {
  let shop: Shop;
  const tokens: Record<string, string | undefined> = {};
  beforeAll(async () => {
    shop = await startShop(platform, {
      rules: ({ publicEndpoints, requireAuth, requireRole }) => {
        publicEndpoints('GET /api/products/**');
        requireAuth('/api/**');
        requireRole('ADMIN', 'DELETE /api/products/*', '/api/products/exists/*');
        requireRole('SUPPORT_AGENT', '/api/categories/**');
      },
    });
    tokens['user'] = await shop.register();
    tokens['admin'] = await shop.admin();
  });
  afterAll(() => shop.close());

  const product = { name: 'Lamp', description: null, price: 9.5, stock: 3, categoryId: null };
  it.each<[method: string, path: string, nobody: number, user: number, admin: number]>([
    ['GET', '/api/products', 200, 200, 200],
    ['HEAD', '/api/products', 200, 200, 200],
    ['GET', '/api/products/search?name=x', 200, 200, 200],
    ['GET', '/api/products/999', 404, 404, 404],
    ['GET', '/api/products/exists/999', 401, 403, 200],
    ['POST', '/api/products', 401, 201, 201],
    ['PUT', '/api/products/999', 401, 404, 404],
    ['DELETE', '/api/products/999', 401, 403, 404],
    ['GET', '/api/categories', 401, 403, 403],
    ['POST', '/api/categories', 401, 403, 403],
    ['DELETE', '/api/categories/1', 401, 403, 403],
  ])('[3.2] rules apply to the generated %s %s', async (method, path, nobody, user, admin) => {
    const body = method === 'POST' || method === 'PUT' ? { json: product } : {};
    const statuses = [];
    for (const token of [undefined, tokens['user'], tokens['admin']])
      statuses.push((await request(shop.url, method, path, { ...body, ...(token !== undefined && { token }) })).status);
    expect(statuses).toEqual([nobody, user, admin]);
  });

  it('[3.2] a refusal on a generated endpoint has the same bodies', async () => {
    expectUnauthenticated(await request(shop.url, 'DELETE', '/api/products/1'));
    expectForbidden(
      await request(shop.url, 'DELETE', '/api/products/1', { token: tokens['user']! }),
      'Admin access required',
    );
    expectForbidden(
      await request(shop.url, 'GET', '/api/categories', { token: tokens['admin']! }),
      'Support agent access required',
    );
  });

  it('[3.2] roles other than ADMIN may be stored, and their rule opens to them', async () => {
    await shop.app
      .get(UserAccounts, { strict: false })
      .create({ email: 'agent@example.com', password: PASSWORD, role: 'SUPPORT_AGENT' });
    const login = await request(shop.url, 'POST', '/api/auth/login', {
      json: { email: 'agent@example.com', password: PASSWORD },
    });
    expect(login.json.data.user.role).toBe('SUPPORT_AGENT');
    expect((await request(shop.url, 'GET', '/api/categories', { token: login.json.data.token })).status).toBe(200);
  });
});

@Catch(HttpException)
class ShoutingFilter implements ExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse();
    const answer = { shouted: exception.getStatus() };
    if (typeof response.json === 'function') response.status(exception.getStatus()).json(answer);
    else response.status(exception.getStatus()).send(answer);
  }
}

describe.each(PLATFORMS)("the application's own exception filter on %s", (platform) => {
  it('[3.2] may reshape refusals of its own routes, except for status and challenge', async () => {
    const app = await startRuled(platform, {
      routes: ['GET mine'],
      rules: ({ requireRole }) => requireRole('ADMIN', '/mine'),
      configure: (nest) => void nest.useGlobalFilters(new ShoutingFilter()),
    });
    const refused = await request(app.url, 'GET', '/mine');
    expect([refused.status, refused.json]).toEqual([401, { shouted: 401 }]);
    expect(refused.headers['www-authenticate']).toBe('Bearer');
    const forbidden = await request(app.url, 'GET', '/mine', { token: TOKENS.USER });
    expect([forbidden.status, forbidden.json]).toEqual([403, { shouted: 403 }]);
    await app.close();
  });

  it('[3.2] without one, refusals of its own routes have the exact bodies', async () => {
    const app = await startRuled(platform, {
      routes: ['GET mine'],
      rules: ({ requireRole }) => requireRole('ADMIN', '/mine'),
    });
    expectUnauthenticated(await request(app.url, 'GET', '/mine'));
    expectForbidden(await request(app.url, 'GET', '/mine', { token: TOKENS.USER }), 'Admin access required');
    await app.close();
  });
});

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
    expect(answer.json).toEqual(refusal('Access denied'));
    expect((await request(app.url, 'GET', '/x')).json).toEqual(refusal('Authentication required'));
    await app.close();
  });

  it.each<unknown>(['open', null, true])('[3.4] defaultAccess %o refuses to start', async (defaultAccess) => {
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
    expect([answer.status, answer.json]).toEqual([401, refusal('Authentication required')]);
    await app.close();
  });
});
