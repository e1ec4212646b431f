/** The access report, rule warnings, explained refusals, and the rules beyond roles. */
import {
  Controller,
  Get,
  type INestApplication,
  Injectable,
  Post,
  type Type,
  Version,
  VersioningType,
} from '@nestjs/common';
import {
  AccessReport,
  type AccessRow,
  Authenticated,
  type AuthOptions,
  type Principal,
  Roles,
  SecurityConfig,
} from 'declarest';
import { request } from '../harness/client.js';
import {
  bootError,
  linesOf,
  loggedAtBoot,
  type Platform,
  PLATFORMS,
  type RunningApp,
  startApp,
} from '../harness/platforms.js';
import { claims, makeToken } from '../harness/tokens.js';
import { authModule, probeController, wildcard } from './ruled-app.js';
import { refusal } from '../harness/refusal.js';

/** All that a configuration may declare, for a test that declares it. */
class Declarations extends SecurityConfig {
  constructor(private readonly say: (rules: Declarations) => void) {
    super();
  }
  override configure(): void {
    this.say(this);
  }
  open = (...patterns: string[]): void => this.publicEndpoints(...patterns);
  auth = (...patterns: string[]): void => this.requireAuth(...patterns);
  role = (role: string | readonly string[], ...patterns: string[]): void => this.requireRole(role, ...patterns);
  all = (roles: readonly string[], ...patterns: string[]): void => this.requireAllRoles(roles, ...patterns);
  deny = (...patterns: string[]): void => this.denyAll(...patterns);
  policy = (...args: Parameters<SecurityConfig['requirePolicy']>): void => this.requirePolicy(...args);
}

interface Parts {
  routes?: string[];
  controllers?: Type[];
  /** `false`: no configuration. */
  rules?: ((rules: Declarations) => void) | false;
  auth?: Partial<AuthOptions>;
  configure?: (app: INestApplication) => void;
}

function moduleOf({ routes = [], controllers = [], rules = () => {}, auth }: Parts) {
  @Injectable()
  class ShopSecurity extends Declarations {
    constructor() {
      super(rules || (() => {}));
    }
  }
  return {
    imports: [authModule(auth)],
    controllers: [...(routes.length > 0 ? [probeController([], ...routes)] : []), ...controllers],
    providers: rules ? [ShopSecurity] : [],
  };
}

const start = (platform: Platform, parts: Parts): Promise<RunningApp> => startApp(platform, moduleOf(parts), parts);
const startupError = (platform: Platform, parts: Parts): Promise<Error> => bootError(platform, moduleOf(parts), parts);

/** Without those of the package's own routes. */
const rowsOf = ({ app }: RunningApp): AccessRow[] =>
  app.get(AccessReport, { strict: false }).rows.filter(({ path }) => !path.includes('/auth/'));
const linesOfRows = (running: RunningApp): string[] =>
  rowsOf(running).map(
    ({ method, path, access, rules }) => `${method} ${path} | ${access} | ${rules.join(' > ') || 'default'}`,
  );

async function reported(platform: Platform, parts: Parts): Promise<string[]> {
  const running = await start(platform, parts);
  const lines = linesOfRows(running);
  await running.close();
  return lines;
}

const tokenOf = (who: string): string | undefined =>
  who === 'nobody' ? undefined : makeToken({ payload: claims({ roles: who.split('+') }) });

/** `GET /a as ADMIN+EDITOR` → status; without `as`, nobody asks. */
async function statuses(platform: Platform, parts: Parts, expected: Record<string, number>): Promise<void> {
  const running = await start(platform, parts);
  const got: Record<string, number> = {};
  for (const line of Object.keys(expected)) {
    const [, method = '', path = '', who = 'nobody'] = /^(\S+) (\S+)(?: as (\S+))?$/.exec(line) ?? [];
    const token = tokenOf(who);
    got[line] = (await request(running.url, method, path, token === undefined ? {} : { token })).status;
  }
  await running.close();
  expect(got).toEqual(expected);
}

describe.each(PLATFORMS)('the access report on %s', (platform) => {
  it('[3.5] has a row for each method of each route, with its access and every rule that took part', async () => {
    expect(
      await reported(platform, {
        routes: ['GET a', 'POST a', 'GET a/:id', 'DELETE a/:id', 'GET b', 'PUT c'],
        rules: ({ open, auth, role, all, deny, policy }) => {
          auth('/a/**');
          open('GET /a');
          role(['ADMIN', 'EDITOR'], 'DELETE /a/*');
          all(['ADMIN', 'EDITOR'], 'POST /a');
          deny('/b');
          policy('owner', () => true, '/c');
          role('ADMIN', '/c');
        },
      }),
    ).toEqual([
      'GET /a | public | ShopSecurity.requireAuth("/a/**") > ShopSecurity.publicEndpoints("GET /a")',
      'POST /a | ADMIN, and EDITOR | ShopSecurity.requireAuth("/a/**") > ShopSecurity.requireAllRoles("ADMIN", "POST /a") > ShopSecurity.requireAllRoles("EDITOR", "POST /a")',
      'GET /a/:id | any token | ShopSecurity.requireAuth("/a/**")',
      'DELETE /a/:id | ADMIN or EDITOR | ShopSecurity.requireAuth("/a/**") > ShopSecurity.requireRole("ADMIN", "EDITOR", "DELETE /a/*")',
      'GET /b | nobody | ShopSecurity.denyAll("/b")',
      expect.stringMatching(/^PUT \/c \| (policy owner, and ADMIN|ADMIN, and policy owner) \| ShopSecurity\.require/),
    ]);
  });

  it('[3.4] names the default where no rule matches', async () => {
    const routes = ['GET a'];
    expect(await reported(platform, { routes })).toEqual(['GET /a | any token | default']);
    expect(await reported(platform, { routes, rules: false })).toEqual(['GET /a | public | default']);
    expect(await reported(platform, { routes, auth: { defaultAccess: 'denied' } })).toEqual([
      'GET /a | nobody | default',
    ]);
    expect(await reported(platform, { routes, auth: { defaultAccess: 'public' } })).toEqual([
      'GET /a | public | default',
    ]);
  });

  it('[3.4] has rows for the routes of the package, with their own rules unless the application has a rule for them', async () => {
    const own = async (rules: (rules: Declarations) => void): Promise<AccessRow[]> => {
      const running = await start(platform, { rules });
      const { rows } = running.app.get(AccessReport, { strict: false });
      await running.close();
      return [...rows];
    };
    const row = (method: string, path: string, access: string): AccessRow => {
      return { method, path, template: path, access, requirements: [], rules: [`declarest("${path}")`] };
    };
    expect(await own(() => {})).toEqual([
      row('POST', '/api/auth/register', 'public'),
      row('POST', '/api/auth/login', 'public'),
      row('GET', '/api/auth/me', 'any token'),
    ]);
    expect((await own(({ deny }) => deny('/api/auth/register')))[0]).toEqual({
      method: 'POST',
      path: '/api/auth/register',
      template: '/api/auth/register',
      access: 'nobody',
      requirements: [],
      rules: ['ShopSecurity.denyAll("/api/auth/register")'],
    });
  });

  it('[3.5] has a row for each part of a route that a pattern matches, after the route', async () => {
    expect(
      await reported(platform, {
        routes: ['GET users/:id', `GET ${wildcard(platform, 'files')}`],
        rules: ({ open, auth, role }) => {
          auth('/**');
          open('/users/me');
          role('ADMIN', '/files/private/**');
          role('EDITOR', '/files/private/drafts/**');
        },
      }),
    ).toEqual([
      'GET /users/:id | any token | ShopSecurity.requireAuth("/**")',
      'GET /users/me | public | ShopSecurity.requireAuth("/**") > ShopSecurity.publicEndpoints("/users/me")',
      expect.stringMatching(/^GET \/files\/\*(path)? \| any token \| ShopSecurity\.requireAuth\("\/\*\*"\)$/),
      'GET /files/private/** | ADMIN | ShopSecurity.requireAuth("/**") > ShopSecurity.requireRole("ADMIN", "/files/private/**")',
      'GET /files/private/drafts/** | ADMIN, and EDITOR | ShopSecurity.requireAuth("/**") > ShopSecurity.requireRole("ADMIN", "/files/private/**") > ShopSecurity.requireRole("EDITOR", "/files/private/drafts/**")',
    ]);
  });

  it('[3.5] has rows of an @All route for the methods that rules name, and for any other method', async () => {
    expect(
      await reported(platform, {
        routes: ['ALL any'],
        rules: ({ open, role }) => {
          open('GET /any');
          role('ADMIN', 'DELETE /any');
        },
      }),
    ).toEqual([
      'GET /any | public | ShopSecurity.publicEndpoints("GET /any")',
      'DELETE /any | ADMIN | ShopSecurity.requireRole("ADMIN", "DELETE /any")',
      'any other method /any | any token | default',
    ]);
  });

  it('[3.1] has paths with global prefix and version', async () => {
    @Controller('a')
    class Versioned {
      @Get()
      @Version(['1', '2'])
      get(): void {}
    }
    expect(
      await reported(platform, {
        controllers: [Versioned],
        rules: ({ role }) => role('ADMIN', '/api/v2/**'),
        configure: (app) => void app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI }),
      }),
    ).toEqual([
      'GET /api/v1/a | any token | default',
      'GET /api/v2/a | ADMIN | ShopSecurity.requireRole("ADMIN", "/api/v2/**")',
    ]);
  });

  it('[3.2] describes the enforced access: base role, enforcedRoles, roleHierarchy', async () => {
    const routes = ['GET a', 'GET b', 'GET c'];
    const rules = ({ role }: Declarations): void => {
      role('USER', '/a');
      role('EDITOR', '/b');
      role('ADMIN', '/c');
    };
    const access = async (auth: Partial<AuthOptions>): Promise<string[]> =>
      (await reported(platform, { routes, rules, auth })).map((line) => line.split(' | ')[1]!);
    expect(await access({})).toEqual(['any token', 'EDITOR', 'ADMIN']);
    expect(await access({ enforcedRoles: ['ADMIN'] })).toEqual(['any token', 'any token', 'ADMIN']);
    expect(await access({ roleHierarchy: { OWNER: ['ADMIN'], ADMIN: ['EDITOR'] } })).toEqual([
      'any token',
      'EDITOR or OWNER or ADMIN',
      'ADMIN or OWNER',
    ]);
  });

  it('[3.5] names a decorator and its class or method', async () => {
    @Controller('a')
    @Roles('ADMIN')
    class Decorated {
      @Get()
      list(): void {}
      @Post()
      @Roles('EDITOR', 'OWNER')
      create(): void {}
    }
    expect(await reported(platform, { controllers: [Decorated] })).toEqual([
      'GET /a | ADMIN | @Roles on Decorated',
      'POST /a | ADMIN, and EDITOR or OWNER | @Roles on Decorated > @Roles on Decorated.create',
    ]);
  });

  it('[3.5] is logged once at startup, as a table with one line for each row', async () => {
    const parts: Parts = { routes: ['GET a', 'DELETE a/:id'], rules: ({ role }) => role('ADMIN', 'DELETE /a/*') };
    const { logs } = await loggedAtBoot(platform, moduleOf(parts));
    const tables = linesOf(logs, 'log').filter((line) => line.includes('Route access:'));
    expect(tables).toHaveLength(1);
    const [heading, ...lines] = tables[0]!.split('\n');
    expect(heading).toBe('log [SecurityRules] Route access:');
    expect(lines.slice(0, 2)).toEqual([
      'GET     /a                  any token  default',
      'DELETE  /a/:id              ADMIN      ShopSecurity.requireRole("ADMIN", "DELETE /a/*")',
    ]);
    expect(lines).toHaveLength(5);
  });

  it('[3.5] does not change with what is done to its rows', async () => {
    const running = await start(platform, { routes: ['GET a'], rules: ({ role }) => role('ADMIN', '/a') });
    const report = running.app.get(AccessReport, { strict: false });
    (report.rows as AccessRow[]).splice(0);
    expect(linesOfRows(running)).toEqual(['GET /a | ADMIN | ShopSecurity.requireRole("ADMIN", "/a")']);
    expect((await request(running.url, 'GET', '/a')).status).toBe(401);
    await running.close();
  });
});

describe.each(PLATFORMS)('rule warnings on %s', (platform) => {
  const WARNINGS: [what: string, parts: Parts, sentence: RegExp][] = [
    [
      'a route that no rule matches',
      { routes: ['GET a', 'GET b'], rules: ({ auth }) => auth('/a') },
      /No rule matches GET \/b: the default access applies\./,
    ],
    [
      'a rule that matches no route',
      { routes: ['GET a'], rules: ({ auth }) => auth('/a', '/nowhere') },
      /ShopSecurity\.requireAuth\("\/nowhere"\) matches no route\. Correct the pattern/,
    ],
    [
      'a public rule that matches a part of a route',
      {
        routes: ['GET users/:id'],
        rules: ({ auth, open }) => {
          auth('/users/**');
          open('/users/me');
        },
      },
      /ShopSecurity\.publicEndpoints\("\/users\/me"\) opens only a part of a route\. /,
    ],
    [
      'roles that no single principal can satisfy together',
      { routes: ['GET a'], rules: ({ all }) => all(['ADMIN', 'EDITOR'], '/a') },
      /GET \/a requires roles that no user has together: /,
    ],
    [
      'a rule that restricts PUT of a route but not PATCH',
      {
        routes: ['PUT a/:id', 'PATCH a/:id'],
        rules: ({ auth, role }) => {
          auth('/a/**');
          role('ADMIN', 'PUT /a/**');
        },
      },
      /ShopSecurity\.requireRole\("ADMIN", "PUT \/a\/\*\*"\) restricts PUT \/a\/:id but not PATCH \/a\/:id\. Restrict "PATCH \/a\/\*" too/,
    ],
    [
      'a role that differs from another only in case',
      {
        routes: ['GET a', 'GET b'],
        rules: ({ role }) => {
          role('ADMIN', '/a');
          role('Admin', '/b');
        },
      },
      /The roles ADMIN and Admin differ only in case\. Roles compare exactly: use one spelling\./,
    ],
    [
      'a route outside Nest’s routes that no rule matches',
      {
        routes: ['GET a'],
        rules: ({ auth }) => auth('/a'),
        configure: (app) =>
          void app
            .getHttpAdapter()
            .get('/raw', (_: unknown, response: { send(body: string): void }) => response.send('raw')),
      },
      /No rule matches GET \/raw, outside Nest's routes: access is public\./,
    ],
  ];

  it.each(WARNINGS)('[3.3] with strict, %s refuses to start', async (_what, parts, sentence) => {
    const error = await startupError(platform, { ...parts, auth: { strict: true } });
    expect(error.name).toBe('InvalidOptionError');
    expect(error.message).toMatch(sentence);
    expect(error.message).toMatch(/\. The option `strict` refuses this\.$/);
    expect(error.message).not.toContain('\n');
  });

  it('[3.3] roles of enforcedRoles are compared too', async () => {
    const parts: Parts = {
      routes: ['GET a'],
      rules: ({ role }) => role('ADMIN', '/a'),
      auth: { enforcedRoles: ['Admin'] },
    };
    const { logs } = await loggedAtBoot(platform, moduleOf(parts));
    expect(linesOf(logs, 'warn')).toContainEqual(
      expect.stringMatching(/The roles ADMIN and Admin differ only in case\./),
    );
  });

  it('[3.3] without strict, each is one warning', async () => {
    for (const [what, parts, sentence] of WARNINGS) {
      const { error, logs } = await loggedAtBoot(platform, moduleOf(parts), parts);
      expect([what, error, linesOf(logs, 'warn')]).toEqual([what, undefined, [expect.stringMatching(sentence)]]);
    }
  });

  it('[3.3] [8.1] a rule that restricts PUT but not PATCH is a warning, and with strict refuses', async () => {
    const [, parts, sentence] = WARNINGS.find(([what]) => what.startsWith('a rule that restricts PUT'))!;
    const { logs } = await loggedAtBoot(platform, moduleOf(parts), parts);
    expect(linesOf(logs, 'warn')).toEqual([expect.stringMatching(sentence)]);
    expect((await startupError(platform, { ...parts, auth: { strict: true } })).message).toMatch(sentence);
  });

  it('[3.3] with strict, all warnings are reported at once', async () => {
    const { message } = await startupError(platform, {
      routes: ['GET a', 'GET b'],
      rules: ({ auth }) => auth('/a', '/nowhere'),
      auth: { strict: true },
    });
    expect(message).toMatch(/GET \/b.*\/nowhere/);
  });

  it('[3.3] with strict, rules without a warning start', async () => {
    const { error, logs } = await loggedAtBoot(
      platform,
      moduleOf({
        routes: ['GET users/me', 'GET users/:id'],
        controllers: [decoratedWith(Authenticated())],
        rules: ({ auth, open, role, all }) => {
          auth('/users/**');
          open('/users/me');
          role('ADMIN', '/users/root');
          all(['ADMIN', 'USER'], '/users/*');
        },
        auth: { strict: true },
      }),
    );
    expect([error, linesOf(logs, 'warn')]).toEqual([undefined, []]);
  });

  it.each<[what: string, parts: Parts]>([
    ['there is no configuration', { routes: ['GET a'], rules: false }],
    ['the configuration declares nothing', { routes: ['GET a'] }],
    [
      'only some routes have decorators',
      { routes: ['GET a'], controllers: [decoratedWith(Authenticated())], rules: false },
    ],
  ])('[3.4] with strict, routes that no rule matches refuse to start where %s', async (_what, parts) => {
    const { message } = await startupError(platform, { ...parts, auth: { strict: true } });
    expect(message).toMatch(/GET \/a.*`strict` refuses this/);
  });
});

function decoratedWith(...decorators: ClassDecorator[]): Type {
  @Controller('decorated')
  class Decorated {
    @Get()
    get(): void {}
  }
  for (const decorate of decorators) decorate(Decorated);
  return Decorated;
}

describe.each(PLATFORMS)('explained refusals on %s', (platform) => {
  const PARTS: Parts = {
    routes: ['GET a', 'GET b', 'GET c', 'GET open', 'GET owned', 'GET both'],
    rules: ({ role, auth, deny, open, policy }) => {
      role('SUPPORT AGENT', '/a');
      auth('/b');
      deny('/c');
      open('/open');
      policy('owner', () => false, '/owned');
      role('ADMIN', '/both');
      policy('late', () => false, 'GET /both');
    },
  };
  const header = async (running: RunningApp, path: string, who: string): Promise<[number, string | undefined]> => {
    const token = tokenOf(who);
    const { status, headers } = await request(running.url, 'GET', path, token === undefined ? {} : { token });
    return [status, headers['x-access-rule'] && decodeURI(headers['x-access-rule'])];
  };

  it('[3.2] name the deciding rule in X-Access-Rule', async () => {
    const running = await start(platform, { ...PARTS, auth: { explainRefusals: true } });
    expect(await header(running, '/a', 'nobody')).toEqual([401, 'ShopSecurity.requireRole("SUPPORT AGENT", "/a")']);
    expect(await header(running, '/a', 'USER')).toEqual([403, 'ShopSecurity.requireRole("SUPPORT AGENT", "/a")']);
    expect(await header(running, '/a', 'SUPPORT AGENT')).toEqual([200, undefined]);
    expect(await header(running, '/b', 'nobody')).toEqual([401, 'ShopSecurity.requireAuth("/b")']);
    expect(await header(running, '/c', 'ADMIN')).toEqual([403, 'ShopSecurity.denyAll("/c")']);
    expect(await header(running, '/open', 'nobody')).toEqual([200, undefined]);
    expect(await header(running, '/owned', 'ADMIN')).toEqual([403, 'ShopSecurity.requirePolicy("owner", "/owned")']);
    // Of two, the one that was not met.
    expect(await header(running, '/both', 'USER')).toEqual([403, 'ShopSecurity.requireRole("ADMIN", "/both")']);
    expect(await header(running, '/both', 'ADMIN')).toEqual([403, 'ShopSecurity.requirePolicy("late", "GET /both")']);
    // Where there is no route, there is no rule.
    expect(await header(running, '/nowhere', 'nobody')).toEqual([404, undefined]);
    await running.close();
  });

  it('[3.4] name the default where no rule matches', async () => {
    const running = await start(platform, { routes: ['GET a'], auth: { explainRefusals: true } });
    expect(await header(running, '/a', 'nobody')).toEqual([401, 'default']);
    await running.close();
  });

  it('[3.2] a name beyond ASCII does not break the header', async () => {
    const running = await start(platform, {
      routes: ['GET a'],
      rules: ({ role }) => role('PRÜFER\r\nX-Evil: 1', '/a'),
      auth: { explainRefusals: true },
    });
    const { status, headers } = await request(running.url, 'GET', '/a');
    expect([status, decodeURI(headers['x-access-rule']!), headers['x-evil']]).toEqual([
      401,
      expect.stringContaining('PRÜFER'),
      undefined,
    ]);
    await running.close();
  });

  it('[3.2] are off by default', async () => {
    const running = await start(platform, PARTS);
    expect(await header(running, '/a', 'nobody')).toEqual([401, undefined]);
    await running.close();
  });

  it('[2.2] are refused in production', async () => {
    const before = process.env['NODE_ENV'];
    process.env['NODE_ENV'] = 'production';
    try {
      const { message } = await startupError(platform, { auth: { explainRefusals: true } });
      expect(message).toMatch(
        /^AuthModule option `explainRefusals` must be true or false, and false in production, got true\. /,
      );
    } finally {
      if (before === undefined) delete process.env['NODE_ENV'];
      else process.env['NODE_ENV'] = before;
    }
  });
});

describe.each(PLATFORMS)('further rules on %s', (platform) => {
  it('[3.2] requireRole with several roles requires any of them', async () => {
    await statuses(
      platform,
      { routes: ['GET a'], rules: ({ role }) => role(['ADMIN', 'EDITOR'], '/a') },
      {
        'GET /a': 401,
        'GET /a as USER': 403,
        'GET /a as ADMIN': 200,
        'GET /a as EDITOR': 200,
        'GET /a as OWNER+EDITOR': 200,
        'GET /a as admin': 403,
      },
    );
  });

  it('[3.2] requireAllRoles requires every role', async () => {
    await statuses(
      platform,
      { routes: ['GET a'], rules: ({ all }) => all(['ADMIN', 'EDITOR'], '/a') },
      { 'GET /a': 401, 'GET /a as ADMIN': 403, 'GET /a as EDITOR': 403, 'GET /a as EDITOR+ADMIN': 200 },
    );
  });

  it('[3.2] the refusal names any of several roles, or the one that is missing', async () => {
    const running = await start(platform, {
      routes: ['GET a', 'GET b'],
      rules: ({ role, all }) => {
        role(['ADMIN', 'SUPPORT_AGENT'], '/a');
        all(['ADMIN', 'SUPPORT_AGENT'], '/b');
      },
    });
    const ask = async (path: string, who: string) =>
      (await request(running.url, 'GET', path, { token: tokenOf(who)! })).json;
    expect(await ask('/a', 'USER')).toEqual(refusal('Admin or support agent access required'));
    expect(await ask('/b', 'ADMIN')).toEqual(refusal('Support agent access required'));
    await running.close();
  });

  it('[3.3] denyAll denies access until a narrower rule opens', async () => {
    await statuses(
      platform,
      {
        routes: ['GET a', 'GET a/b', 'GET a/b/c', 'GET a/d'],
        rules: ({ deny, open, role }) => {
          deny('/a/**');
          open('/a/b');
          // Restrictions add up: a role does not open.
          role('ADMIN', '/a/d');
        },
      },
      { 'GET /a': 401, 'GET /a as ADMIN': 403, 'GET /a/b': 200, 'GET /a/b/c as ADMIN': 403, 'GET /a/d as ADMIN': 403 },
    );
  });

  // Only the boolean lets in: what is merely truthy is a mistake of whoever wrote it.
  it.each<[what: string, answer: () => unknown, status: number]>([
    ['true', () => true, 200],
    ['false', () => false, 403],
    ['a promise of true', async () => true, 200],
    ['1', () => 1, 403],
    ['"true"', () => 'true', 403],
    ['nothing', () => undefined, 403],
    [
      'a throw',
      () => {
        throw new Error('secret of the policy');
      },
      403,
    ],
    ['a rejection', () => Promise.reject(new Error('secret of the policy')), 403],
  ])('[3.2] a policy that returns %s', async (what, answer, status) => {
    const running = await start(platform, {
      routes: ['GET a'],
      rules: ({ policy }) => policy('record_owner', answer as never, '/a'),
    });
    const answered = await request(running.url, 'GET', '/a', { token: tokenOf('USER')! });
    expect(answered.status).toBe(status);
    if (status === 403) expect(answered.json).toEqual(refusal('Record owner access required'));
    const errors = linesOf(running.logs, 'error').filter((line) => line.includes('The policy "record_owner" failed'));
    expect(errors).toHaveLength(/throw|rejection/.test(what) ? 1 : 0);
    expect((await request(running.url, 'GET', '/a')).status).toBe(401);
    await running.close();
  });

  it('[3.2] a policy receives the principal and the request, after the roles are checked', async () => {
    const seen: [Principal, string][] = [];
    const running = await start(platform, {
      routes: ['GET a/:id'],
      rules: ({ role, policy }) => {
        role('EDITOR', '/a/**');
        policy(
          'owner',
          (principal, asked) => {
            seen.push([principal, (asked as unknown as { params: { id: string } }).params.id]);
            return principal.id === 7;
          },
          '/a/*',
        );
      },
    });
    const ask = async (payload: Record<string, unknown>): Promise<number> =>
      (await request(running.url, 'GET', '/a/9', { token: makeToken({ payload: claims(payload) }) })).status;
    expect(await ask({ sub: '7', roles: ['USER'] })).toBe(403);
    expect((await request(running.url, 'GET', '/a/9')).status).toBe(401);
    expect(seen).toEqual([]);
    expect(await ask({ sub: '7', roles: ['EDITOR'] })).toBe(200);
    expect(await ask({ sub: '8', roles: ['EDITOR'] })).toBe(403);
    expect(seen).toEqual([
      [{ id: 7, email: 'ann@example.com', roles: ['EDITOR'] }, '9'],
      [{ id: 8, email: 'ann@example.com', roles: ['EDITOR'] }, '9'],
    ]);
    await running.close();
  });

  it('[3.2] roleHierarchy gives a role what it includes, through any number of steps', async () => {
    await statuses(
      platform,
      {
        routes: ['GET owner', 'GET admin', 'GET editor', 'GET both'],
        rules: ({ role, all }) => {
          role('OWNER', '/owner');
          role('ADMIN', '/admin');
          role('EDITOR', '/editor');
          all(['EDITOR', 'AUDITOR'], '/both');
        },
        auth: { roleHierarchy: { OWNER: ['ADMIN', 'AUDITOR'], ADMIN: ['EDITOR'] } },
      },
      {
        'GET /editor as OWNER': 200,
        'GET /editor as ADMIN': 200,
        'GET /admin as OWNER': 200,
        'GET /both as OWNER': 200,
        'GET /both as ADMIN': 403,
        'GET /admin as EDITOR': 403,
        'GET /owner as ADMIN': 403,
        'GET /editor as AUDITOR': 403,
      },
    );
  });

  it.each<[what: string, rules: (rules: Declarations) => void, sentence: RegExp]>([
    ['no roles', ({ role }) => role([], '/a'), /ShopSecurity\.requireRole must be .*got an array of 0\./],
    ['an empty role among them', ({ all }) => all(['ADMIN', ''], '/a'), /ShopSecurity\.requireAllRoles must be .*/],
    ['a role with space around it', ({ role }) => role(' ADMIN', '/a'), /ShopSecurity\.requireRole must be .*/],
    [
      'no function',
      ({ policy }) => policy('owner', '/a' as never),
      /ShopSecurity\.requirePolicy must be .*second argument/,
    ],
    ['no name', ({ policy }) => policy('', () => true, '/a'), /ShopSecurity\.requirePolicy must be .*name of a policy/],
    [
      'no pattern for a policy',
      ({ policy }) => policy('owner', () => true),
      /ShopSecurity\.requirePolicy must be .*one pattern or more/,
    ],
    ['no pattern for denyAll', ({ deny }) => deny(), /ShopSecurity\.denyAll must be .*one pattern or more/],
    [
      'no pattern for requireAllRoles',
      ({ all }) => all(['A', 'B']),
      /ShopSecurity\.requireAllRoles must be .*one pattern or more/,
    ],
  ])('[1] %s refuses to start', async (_what, rules, sentence) => {
    const { message } = await startupError(platform, { rules });
    expect(message).toMatch(sentence);
    expect(message).not.toContain('\n');
  });
});
