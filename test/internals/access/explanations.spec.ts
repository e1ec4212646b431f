/** What the access rules explain of a request, compared with what happens; and the names of roles. */
import { Roles } from 'declarest';
import { PUBLIC } from '../../../lib/access/decide.js';
import { CompiledAccess } from '../../../lib/access/compiled-access.js';
import { ExpressRoutes } from '../../../lib/routes/express-routes.js';
import { PLATFORMS } from '../../harness/platforms.js';
import { type App, ask, describeAnswer, observe, start as startExplained } from './explained-app.js';
import { wildcard } from '../../access/ruled-app.js';

it('[3.3] [3.7] the names of roles include those of options, and of handlers of other contexts', () => {
  class Gateway {
    @Roles('Admin')
    handle(): void {}
  }
  const policy = { rules: [], fallback: PUBLIC, roleHierarchy: { OWNER: ['EDITOR'] }, enforcedRoles: ['Auditor'] };
  const handlers = [{ controller: Gateway, method: Gateway.prototype.handle }];
  const { roleNames } = new CompiledAccess(
    new ExpressRoutes({ router: { stack: [] } }, undefined),
    [],
    policy,
    handlers,
  );
  expect([...roleNames].toSorted()).toEqual(['Admin', 'Auditor', 'EDITOR', 'OWNER', 'USER']);
});

describe.each(PLATFORMS)('explanations on %s', (platform) => {
  let shop: App;
  const files = wildcard(platform, 'api/files');
  beforeAll(async () => {
    shop = await startExplained(platform, {
      routes: [
        'GET api/products',
        'GET api/products/:id',
        'DELETE api/products/:id',
        'GET api/users/me',
        'GET api/users/:id',
        `GET ${files}`,
        'GET api/orders/:id',
        'GET api/closed',
        'GET api/secret',
        'GET api/report',
        'GET about',
      ],
      declare: ({ public: open, auth, role, all, deny, policy }) => {
        auth('/api/**');
        open('GET /api/products/**');
        role('ADMIN', 'DELETE /api/products/*');
        role(['ADMIN', 'EDITOR'], '/api/users/*');
        open('/api/users/me');
        role('ADMIN', '/api/files/private/**');
        policy('owner', () => true, '/api/orders/**');
        deny('/api/closed');
        all(['ADMIN', 'AUDITOR'], '/api/secret');
        role('ADMIN', '/raw/**');
        auth('/api/report');
      },
      auth: { roleHierarchy: { CHIEF: ['ADMIN'] } },
      decorate: (index) => (index === 9 ? Roles('EDITOR') : undefined),
      outside: ['/raw/metrics', '/health'],
    });
  });
  afterAll(() => shop.close());

  it('[3.4] describes the route, the effect of each rule from broad to narrow, and the answer', () => {
    expect(describeAnswer(shop, 'GET', '/api/products/7?page=2', ['USER'])).toEqual([
      'GET /api/products/7?page=2 as USER',
      'Route: GET /api/products/:id',
      'Default: any token',
      'Rules, from broad to narrow:',
      '  1. ShopSecurity.requireAuth("/api/**")                   any token, as before',
      '  2. ShopSecurity.publicEndpoints("GET /api/products/**")  any token -> public',
      'Answer: allowed (public), by ShopSecurity.publicEndpoints("GET /api/products/**")',
    ]);
  });

  it.each<[title: string, method: string, path: string, roles: string[] | undefined, answer: string]>([
    [
      'no token',
      'DELETE',
      '/api/products/7',
      undefined,
      '401, a valid token is required, by ShopSecurity.requireRole("ADMIN", "DELETE /api/products/*")',
    ],
    [
      'a missing role',
      'DELETE',
      '/api/products/7',
      ['USER'],
      '403, ADMIN is required, by ShopSecurity.requireRole("ADMIN", "DELETE /api/products/*")',
    ],
    [
      'any of several',
      'GET',
      '/api/users/7',
      ['USER'],
      '403, ADMIN or EDITOR is required, by ShopSecurity.requireRole("ADMIN", "EDITOR", "/api/users/*")',
    ],
    [
      'a role that includes it',
      'DELETE',
      '/api/products/7',
      ['CHIEF'],
      'allowed (ADMIN or CHIEF), by ShopSecurity.requireRole("ADMIN", "DELETE /api/products/*")',
    ],
    ['nobody', 'GET', '/api/closed', ['ADMIN'], '403, nobody has access, by ShopSecurity.denyAll("/api/closed")'],
    ['no rule', 'GET', '/about', undefined, '401, a valid token is required, by default'],
    ['no route', 'GET', '/api/nowhere', ['ADMIN'], '404, no route serves this path'],
    ['a method without a route', 'PUT', '/api/products/7', ['ADMIN'], '404, no route serves this path'],
    [
      'HEAD, as GET',
      'HEAD',
      '/api/products',
      undefined,
      'allowed (public), by ShopSecurity.publicEndpoints("GET /api/products/**")',
    ],
    [
      'a part of a route',
      'GET',
      '/api/files/private/x',
      ['USER'],
      '403, ADMIN is required, by ShopSecurity.requireRole("ADMIN", "/api/files/private/**")',
    ],
    [
      'that part in another spelling',
      'GET',
      '/api/files/%70rivate/x',
      ['USER'],
      '403, ADMIN is required, by ShopSecurity.requireRole("ADMIN", "/api/files/private/**")',
    ],
    [
      "outside of Nest's routes",
      'GET',
      '/raw/metrics',
      ['USER'],
      '403, ADMIN is required, by ShopSecurity.requireRole("ADMIN", "/raw/**")',
    ],
    ['outside, without a rule', 'GET', '/health', undefined, 'allowed (public), by default'],
    [
      "the package's own route",
      'GET',
      '/api/auth/me',
      undefined,
      '401, a valid token is required, by declarest("/api/auth/me")',
    ],
  ])('[3.4] explains and applies: %s', async (_title, method, path, roles, answer) => {
    expect(describeAnswer(shop, method, path, roles).at(-1)).toBe(`Answer: ${answer}`);
    const { status, rule } = await observe(shop, method, path, roles);
    expect(String(status === 404 || status === 401 || status === 403 ? status : 'allowed')).toBe(
      answer.split(/[ ,]/)[0],
    );
    if (status === 401 || status === 403) expect(`by ${rule}`).toBe(answer.slice(answer.lastIndexOf(' by ') + 1));
  });

  it('[3.4] describes a decorator after every rule', () => {
    expect(ask(shop, 'GET', '/api/report', ['USER'])).toMatchObject({
      steps: [
        { rule: 'ShopSecurity.requireAuth("/api/**")', before: 'any token', after: 'any token' },
        { rule: 'ShopSecurity.requireAuth("/api/report")', before: 'any token', after: 'any token' },
        { rule: '@Roles on Probe.handler9', before: 'any token', after: 'EDITOR' },
      ],
      verdict: 'forbidden',
      decidedBy: '@Roles on Probe.handler9',
    });
  });

  it('[3.4] leaves the decision to policies, where the roles suffice', () => {
    expect(ask(shop, 'GET', '/api/orders/7', ['USER'])).toMatchObject({
      verdict: 'left to policies',
      access: 'policy owner',
      missing: ['owner'],
    });
    expect(describeAnswer(shop, 'GET', '/api/orders/7', ['USER']).at(-1)).toBe(
      'Answer: depends on policy owner, by ShopSecurity.requirePolicy("owner", "/api/orders/**")',
    );
    expect(ask(shop, 'GET', '/api/orders/7').verdict).toBe('unauthenticated');
  });

  it('[3.4] describes an unknown path as one without a route', () => {
    expect(describeAnswer(shop, 'GET', '/nowhere')).toEqual([
      'GET /nowhere without a token',
      'Route: none',
      'Answer: 404, no route serves this path',
    ]);
  });

  it('[3.4] names the rule that refuses rather than the last that matches', async () => {
    const app = await startExplained(platform, {
      routes: ['GET a/b'],
      declare: ({ role, auth }) => {
        role('ADMIN', '/a/**');
        auth('/a/b');
      },
    });
    const { decidedBy } = ask(app, 'GET', '/a/b', ['USER']);
    const { rule } = await observe(app, 'GET', '/a/b', ['USER']);
    await app.close();
    expect([decidedBy, rule]).toEqual(Array(2).fill('ShopSecurity.requireRole("ADMIN", "/a/**")'));
  });
});
