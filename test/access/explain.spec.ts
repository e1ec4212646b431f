import { type INestApplication, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Authenticated, type AuthOptions, InvalidOptionError, Public, Roles, SecurityConfig } from 'declarest';
import { RouteTable } from '../../lib/routes/route-table.js';
import { describeExplanation, explain, type Explanation } from '../../lib/access/explain.js';
import { AccessRules } from '../../lib/access/access-rules.js';
import { type Platform, PLATFORMS, startApp } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { claims, makeToken } from '../harness/tokens.js';
import { type Random, seeded } from './random.js';
import { authModule, bearer, type Entry, probeController, wildcard } from './ruled-app.js';

/** Random (method, path, roles); a longer run: `EXPLAIN_TRIPLES=50000 EXPLAIN_SEED=7`. */
const TRIPLES = Number(process.env['EXPLAIN_TRIPLES'] ?? 500);
const SEED = Number(process.env['EXPLAIN_SEED'] ?? 1);
const TRIPLES_OF_APP = 10;

/** All that a configuration may declare. */
class Declarations extends SecurityConfig {
  constructor(private readonly declaring: (rules: Declarations) => void) {
    super();
  }
  configure(): void {
    this.declaring(this);
  }
  public = (...patterns: string[]): void => this.publicEndpoints(...patterns);
  auth = (...patterns: string[]): void => this.requireAuth(...patterns);
  role = (role: string | string[], ...patterns: string[]): void => this.requireRole(role, ...patterns);
  all = (roles: string[], ...patterns: string[]): void => this.requireAllRoles(roles, ...patterns);
  deny = (...patterns: string[]): void => this.denyAll(...patterns);
  policy = (...args: Parameters<SecurityConfig['requirePolicy']>): void => this.requirePolicy(...args);
}

interface App {
  app: INestApplication;
  port: number;
  entered: Entry[];
  close: () => Promise<void>;
}

interface Parts {
  routes: string[];
  declare?: (rules: Declarations) => void;
  auth?: Partial<AuthOptions>;
  /** By index of the route. */
  decorate?: (handler: number) => MethodDecorator | undefined;
  outside?: string[];
}

async function start(platform: Platform, { routes, declare, auth, decorate, outside = [] }: Parts): Promise<App> {
  const entered: Entry[] = [];
  const Probe = probeController(entered, ...routes);
  for (const index of routes.keys()) {
    const name = `handler${index}`;
    decorate?.(index)?.(Probe.prototype, name, Object.getOwnPropertyDescriptor(Probe.prototype, name)!);
  }
  @Injectable()
  class ShopSecurity extends Declarations {
    constructor() {
      super(declare ?? (() => {}));
    }
  }
  const running = await startApp(
    platform,
    {
      imports: [authModule({ explainRefusals: true, ...auth })],
      controllers: [Probe],
      providers: declare ? [ShopSecurity] : [],
    },
    {
      configure: (app) => {
        const adapter = app.getHttpAdapter();
        for (const path of outside)
          adapter.get(path, (_request: unknown, response: unknown) => {
            entered.push({ route: `GET ${path}`, params: {}, id: undefined });
            adapter.reply(response, 'outside', 200);
          });
      },
    },
  );
  return { app: running.app, port: running.port, entered, close: running.close };
}

function ask({ app }: App, method: string, path: string, roles?: string[]): Explanation {
  return explain(app.get(AccessRules, { strict: false }).compiled!, {
    method,
    path,
    roles,
  });
}

const told = (...args: Parameters<typeof ask>): string[] => describeExplanation(ask(...args)).split('\n');

/** What really happens, told by the handler and the answer. */
async function observe({ port, entered }: App, method: string, path: string, roles?: string[]) {
  entered.length = 0;
  const token = roles && makeToken({ payload: claims({ roles }) });
  const { status, headers } = await rawTarget(port, path, { method, headers: bearer(token) });
  const rule = headers['x-access-rule'];
  return { status, entered: [...entered], rule: rule === undefined ? undefined : decodeURI(rule) };
}

describe.each(PLATFORMS)('explaining on %s', (platform) => {
  let shop: App;
  const files = wildcard(platform, 'api/files');
  beforeAll(async () => {
    shop = await start(platform, {
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

  it('tells the route, each rule from broad to narrow with what it did, and the answer', () => {
    expect(told(shop, 'GET', '/api/products/7?page=2', ['USER'])).toEqual([
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
      '401, a valid token is needed, by ShopSecurity.requireRole("ADMIN", "DELETE /api/products/*")',
    ],
    [
      'a missing role',
      'DELETE',
      '/api/products/7',
      ['USER'],
      '403, ADMIN is needed, by ShopSecurity.requireRole("ADMIN", "DELETE /api/products/*")',
    ],
    [
      'any of several',
      'GET',
      '/api/users/7',
      ['USER'],
      '403, ADMIN or EDITOR is needed, by ShopSecurity.requireRole("ADMIN", "EDITOR", "/api/users/*")',
    ],
    [
      'the role',
      'DELETE',
      '/api/products/7',
      ['ADMIN'],
      'allowed (ADMIN or CHIEF), by ShopSecurity.requireRole("ADMIN", "DELETE /api/products/*")',
    ],
    [
      'a role that includes it',
      'DELETE',
      '/api/products/7',
      ['CHIEF'],
      'allowed (ADMIN or CHIEF), by ShopSecurity.requireRole("ADMIN", "DELETE /api/products/*")',
    ],
    [
      'all of several',
      'GET',
      '/api/secret',
      ['ADMIN'],
      '403, AUDITOR is needed, by ShopSecurity.requireAllRoles("AUDITOR", "/api/secret")',
    ],
    ['nobody', 'GET', '/api/closed', ['ADMIN'], '403, nobody gets in, by ShopSecurity.denyAll("/api/closed")'],
    ['no rule', 'GET', '/about', undefined, '401, a valid token is needed, by default'],
    ['no route', 'GET', '/api/nowhere', ['ADMIN'], '404, no route serves it'],
    ['a method without a route', 'PUT', '/api/products/7', ['ADMIN'], '404, no route serves it'],
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
      '403, ADMIN is needed, by ShopSecurity.requireRole("ADMIN", "/api/files/private/**")',
    ],
    [
      'another part of it',
      'GET',
      '/api/files/x/y',
      ['USER'],
      'allowed (any token), by ShopSecurity.requireAuth("/api/**")',
    ],
    [
      'that part in another spelling',
      'GET',
      '/api/files/%70rivate/x',
      ['USER'],
      '403, ADMIN is needed, by ShopSecurity.requireRole("ADMIN", "/api/files/private/**")',
    ],
    [
      "outside of Nest's routes",
      'GET',
      '/raw/metrics',
      ['USER'],
      '403, ADMIN is needed, by ShopSecurity.requireRole("ADMIN", "/raw/**")',
    ],
    ['outside, without a rule', 'GET', '/health', undefined, 'allowed (public), by default'],
    [
      "the package's own route",
      'GET',
      '/api/auth/me',
      undefined,
      '401, a valid token is needed, by declarest("/api/auth/me")',
    ],
  ])('%s', async (_title, method, path, roles, answer) => {
    expect(told(shop, method, path, roles).at(-1)).toBe(`Answer: ${answer}`);
    const { status, rule } = await observe(shop, method, path, roles);
    expect(String(status === 404 || status === 401 || status === 403 ? status : 'allowed')).toBe(
      answer.split(/[ ,]/)[0],
    );
    if (status === 401 || status === 403) expect(`by ${rule}`).toBe(answer.slice(answer.lastIndexOf(' by ') + 1));
  });

  it('tells what a decorator did, behind every rule', () => {
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

  it('leaves open what only a policy can tell, and asks none where the roles do not suffice', () => {
    expect(ask(shop, 'GET', '/api/orders/7', ['USER'])).toMatchObject({
      verdict: 'left to policies',
      access: 'policy owner',
      missing: ['owner'],
    });
    expect(told(shop, 'GET', '/api/orders/7', ['USER']).at(-1)).toBe(
      'Answer: depends on policy owner, by ShopSecurity.requirePolicy("owner", "/api/orders/**")',
    );
    expect(ask(shop, 'GET', '/api/orders/7').verdict).toBe('unauthenticated');
  });

  it('says of an unknown path no more than that', () => {
    expect(told(shop, 'GET', '/nowhere')).toEqual([
      'GET /nowhere without a token',
      'Route: none',
      'Answer: 404, no route serves it',
    ]);
  });

  it('names the rule that refuses, and not the last that matches', async () => {
    const app = await start(platform, {
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

/** Where routes and rules of a random application lie: few words, so that they meet. */
const LEVELS = ['a', 'b', 'c'];
const ROLES = ['USER', 'ADMIN', 'EDITOR', 'AUDITOR'];
const METHODS = ['GET', 'GET', 'POST', 'PUT', 'DELETE', 'ALL'];
const ASKED = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

const some = <T>(random: Random, least: number, most: number, make: () => T): T[] =>
  Array.from({ length: least + random.below(most - least + 1) }, make);

function randomRoutes(random: Random, platform: Platform): string[] {
  return some(random, 3, 8, () => {
    const levels = some(random, 0, 3, () => random.of([...LEVELS, ...LEVELS, ':x']));
    const named = levels.map((level, index) => (level === ':x' ? `:p${index}` : level));
    const path = named.join('/');
    const optional = platform === 'express' ? '{/:last}' : '/:last?';
    const end = [() => path, () => wildcard(platform, `/${path}`).replace(/^\/+/, ''), () => `${path}${optional}`];
    return `${random.of(METHODS)} ${end[random.of([0, 0, 0, 0, 0, 1, 2])]!()}`;
  });
}

/** Most of them on the way to a route, and so above one another. */
function randomRules(random: Random, routes: readonly string[]): (rules: Declarations) => void {
  const lines = some(random, 3, 10, () => {
    const route = random.of(routes).replace(/^\S+ /, '').replace(/[{}?]/g, '');
    const onTheWay = route.split('/').map((level) => (LEVELS.includes(level) ? level : random.of(LEVELS)));
    const levels =
      random.below(5) === 0
        ? some(random, 0, 3, () => random.of(LEVELS))
        : onTheWay.slice(0, random.below(onTheWay.length + 1));
    const tail = random.of([[], ['*'], ['**'], ['**']]);
    const methods = random.below(4) === 0 ? `${random.of(['GET', 'POST', 'PUT,DELETE', 'PATCH,GET'])} ` : '';
    const pattern = `${methods}/${[...levels, ...tail].join('/')}`;
    return { kind: random.below(12), pattern, roles: some(random, 1, 2, () => random.of(ROLES)) };
  });
  return ({ public: open, auth, role, all, deny }) => {
    for (const { kind, pattern, roles } of lines) {
      if (kind < 4) open(pattern);
      else if (kind < 6) auth(pattern);
      else if (kind < 10) role(roles, pattern);
      else if (kind < 11) all(roles, pattern);
      else deny(pattern);
    }
  };
}

function randomParts(random: Random, platform: Platform): Parts {
  const routes = randomRoutes(random, platform);
  const decorators = [Public(), Authenticated(), Roles('EDITOR'), Roles('ADMIN', 'AUDITOR')];
  const decorated = new Map([...Array(8).keys()].map((index) => [index, random.of([...decorators, ...Array(20)])]));
  const defaultAccess = random.of(['authenticated', 'public', 'denied', undefined, undefined] as const);
  return {
    routes,
    ...(random.below(12) > 0 && { declare: randomRules(random, routes) }),
    decorate: (index) => decorated.get(index) as MethodDecorator | undefined,
    auth: {
      ...(defaultAccess && { defaultAccess }),
      ...(random.below(3) === 0 && { roleHierarchy: { ADMIN: ['EDITOR'], CHIEF: ['ADMIN', 'AUDITOR'] } }),
      ...(random.below(6) === 0 && { enforcedRoles: ['ADMIN'] }),
    },
    outside: random.below(3) === 0 ? ['/a/outside'] : [],
  };
}

/** A method and a path that a route may serve, sometimes with the path spelled oddly. */
function randomRequest(random: Random, { routes, outside = [] }: Parts): [method: string, path: string] {
  const served = outside.map((path) => `GET ${path.slice(1)}`);
  const [verb = '', template = ''] = random.of([...routes, ...routes, ...served, 'GET nowhere/a']).split(' ');
  const method = random.below(4) === 0 || verb === 'ALL' ? random.of(ASKED) : verb;
  return [method, randomPath(random, `/${template}`)];
}

function randomPath(random: Random, template: string): string {
  const shown = template.replace(/\{(.*)\}|(\/:last)\?/, (_, group?: string, last?: string) =>
    random.below(2) === 0 ? '' : (group ?? last ?? ''),
  );
  const levels = shown.split('/').flatMap((level) => {
    if (level.startsWith('*')) return some(random, 1, 3, () => random.of([...LEVELS, 'z']));
    return level.startsWith(':') ? [random.of([...LEVELS, '7', 'x%20y'])] : [level];
  });
  const path = levels.join('/') || '/';
  const at = 1 + random.below(path.length);
  const char = path.charAt(at).replace('%', '');
  const isEscape = path.slice(at - 2, at).includes('%');
  return random.of([
    ...Array<() => string>(14).fill(() => path),
    () => `${path}?page=2`,
    () => `${path}/`,
    () => path.toUpperCase(),
    () => path.replace(/\/(?=.)/g, '//'),
    () => `${path}/a`,
    () =>
      char === '' || isEscape ? path : `${path.slice(0, at)}%${char.charCodeAt(0).toString(16)}${path.slice(at + 1)}`,
    () => `${path};v=1`,
  ])();
}

/** The next random application that starts: rules may contradict each other, and Fastify takes no route twice. */
async function startRandom(random: Random, platform: Platform): Promise<{ app: App; parts: Parts }> {
  for (;;) {
    const parts = randomParts(random, platform);
    try {
      return { parts, app: await start(platform, parts) };
    } catch (error) {
      if (!(error instanceof InvalidOptionError) && (error as { code?: string }).code !== 'FST_ERR_DUPLICATED_ROUTE')
        throw error;
    }
  }
}

describe('what is explained and what happens', () => {
  it(
    `agree in ${TRIPLES} of ${TRIPLES} random triples of method, path and roles`,
    async () => {
      const random = seeded(SEED);
      const differences: unknown[] = [];
      const verdicts: Record<string, number> = {};
      let [asked, applications, governed] = [0, 0, 0];
      while (asked < TRIPLES) {
        const platform = PLATFORMS[applications % PLATFORMS.length]!;
        const { app, parts } = await startRandom(random, platform);
        applications += 1;
        for (const last = Math.min(asked + TRIPLES_OF_APP, TRIPLES); asked < last; asked += 1) {
          const [method, path] = randomRequest(random, parts);
          const roles = random.of([
            undefined,
            undefined,
            ['USER'],
            ['ADMIN'],
            ['EDITOR'],
            ['AUDITOR'],
            ['ADMIN', 'AUDITOR'],
            ['CHIEF'],
            [],
          ]);
          const explained = ask(app, method, path, roles);
          const observed = await observe(app, method, path, roles);
          const expected = expectedOf(explained);
          verdicts[explained.verdict] = (verdicts[explained.verdict] ?? 0) + 1;
          if (explained.steps.length > 1) governed += 1;
          if (JSON.stringify(summaryOf(observed)) !== JSON.stringify(expected))
            differences.push({ platform, method, path, roles, explained, observed, parts });
        }
        await app.close();
      }
      console.log(
        `${asked} triples, ${applications} applications, ${governed} under several rules: ${JSON.stringify(verdicts)}`,
      );
      expect(differences).toEqual([]);
      // Otherwise little was tried.
      for (const verdict of ['allowed', 'unauthenticated', 'forbidden', 'unrouted'])
        expect(verdicts[verdict] ?? 0).toBeGreaterThan(TRIPLES / 20);
      expect(governed).toBeGreaterThan(TRIPLES / 5);
    },
    Math.max(60_000, TRIPLES * 100),
  );
});

interface Summary {
  happened: string;
  route: string | undefined;
  rule: string | undefined;
}

function expectedOf({ verdict, route, decidedBy }: Explanation): Summary {
  const happened = { allowed: 'entered', unauthenticated: '401', forbidden: '403', unrouted: '404' } as const;
  const refused = verdict === 'unauthenticated' || verdict === 'forbidden';
  return {
    happened: happened[verdict as keyof typeof happened],
    route: verdict === 'allowed' ? `${route!.method} ${route!.path.replace(/^\//, '')}` : undefined,
    rule: refused ? decidedBy : undefined,
  };
}

function summaryOf({ status, entered, rule }: Awaited<ReturnType<typeof observe>>): Summary {
  const [entry] = entered;
  return {
    happened: entry ? 'entered' : String(status),
    route: entry?.route.replace(' /', ' '),
    rule,
  };
}
