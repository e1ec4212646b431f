/** Requests outside Nest's routes: static files, sub-applications, routers, plugins. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Get, type INestApplication, Injectable, type OnModuleInit, VersioningType } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CrudModule } from 'declarest';
import express from 'express';
import { accessMatrix } from 'declarest/testing';
import { urlSpellings } from './url-spellings.js';
import { linesOf, type Platform, PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { bearer, type Declare, type RuledApp, startRuled, TOKENS, type Who } from './ruled-app.js';
import { refusal } from '../harness/refusal.js';

const folder = mkdtempSync(join(tmpdir(), 'declarest-mounts-'));
mkdirSync(join(folder, 'secret'));
for (const file of ['open.txt', 'page.html', 'secret/plan.txt']) writeFileSync(join(folder, file), `the file ${file}`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Respond = { send: (text: string) => unknown };
type Next = () => void;
const answering = (text: string) => (_request: unknown, response: Respond) => void response.send(text);

const expressOf = (app: INestApplication) => app.getHttpAdapter().getInstance() as express.Express;
const fastifyOf = (app: INestApplication) => app.getHttpAdapter().getInstance() as Fastify;

/** Everything that `main.ts` may mount, on either platform: what is asked for, and how it gets there. */
const MOUNTED: Record<Platform, Record<string, (app: INestApplication) => void>> = {
  express: {
    '/fn/x': (app) => void app.use('/fn', answering('the function')),
    '/passing/x': (app) =>
      void app.use('/passing', (request: unknown, response: Respond, _next: Next) =>
        answering('the function that may pass on')(request, response),
      ),
    '/sub/x': (app) => void app.use('/sub', express().get('/x', answering('the sub-application'))),
    '/router/x': (app) => void app.use('/router', express.Router().get('/x', answering('the router'))),
    '/listed/x': (app) => void app.use(['/none', '/listed'], [answering('the list')]),
    '/rooted/x': (app) => void app.use(express.Router().get('/rooted/x', answering('the router at the root'))),
    '/direct/x': (app) => void expressOf(app).get('/direct/x', answering('the direct route')),
    '/instance/x': (app) => void expressOf(app).use('/instance', answering('the instance')),
    '/pattern/x': (app) => void app.use(/^\/pattern/, answering('the pattern')),
    '/array/x': (app) => void expressOf(app).get(['/array/x'], answering('the list of paths')),
    '/handlers/x': (app) => void expressOf(app).get('/handlers/x', [answering('the list of handlers')]),
    '/matched/x': (app) => void expressOf(app).get(/^\/matched/, answering('the matched route')),
    '/route/x': (app) => void expressOf(app).route('/route/x').get(answering('the route')),
    '/stacked/x': (app) => void expressOf(app).router.use('/stacked', answering('the router’s own mount')),
    '/adapter/x': (app) => void app.getHttpAdapter().get('/adapter/x', answering('the adapter') as never),
    '/files/open.txt': (app) =>
      void (app as unknown as StaticApp).useStaticAssets(folder, { prefix: '/files', extensions: ['html'] }),
  },
  fastify: {
    '/direct/x': (app) => void fastifyOf(app).get('/direct/x', async () => 'the route'),
    '/wild/x': (app) => void fastifyOf(app).all('/wild/*', async () => 'the wildcard'),
    '/used/x': (app) => void app.use('/used', (_request: unknown, response: Raw) => response.end('the function')),
    '/listed/x': (app) =>
      void app.use(['/none', '/listed'], (_request: unknown, response: Raw, _next: Next) => response.end('the list')),
    '/hook/x': (app) =>
      void fastifyOf(app).get(
        '/hook/x',
        { preHandler: (_request: unknown, reply: Respond) => reply.send('the hook') },
        async () => 'never',
      ),
    '/plugin/x': (app) =>
      void fastifyOf(app).register(async (plugin) => void plugin.get('/x', async () => 'the plugin'), {
        prefix: '/plugin',
      }),
    '/adapter/x': (app) => void app.getHttpAdapter().get('/adapter/x', answering('the adapter') as never),
  },
};
function files(options: object = {}): (app: INestApplication) => void {
  return (app) => void (app as unknown as StaticApp).useStaticAssets(folder, options);
}
interface StaticApp {
  useStaticAssets(folder: string, options?: object): unknown;
}
interface Raw {
  end(text: string): unknown;
}
interface Fastify {
  use(path: string, handler: (request: unknown, response: Raw) => unknown): unknown;
  get(path: string, options: object, handler: () => Promise<string>): unknown;
  get(path: string, handler: () => Promise<string>): unknown;
  all(path: string, handler: () => Promise<string>): unknown;
  register(plugin: (instance: Fastify) => Promise<void>, options: object): unknown;
}

const ask = async (app: RuledApp, path: string, who: Who = 'ANYBODY', method = 'GET') => {
  const { status, body, headers } = await rawTarget(app.port, path, { method, headers: bearer(TOKENS[who]) });
  return { status, body, challenge: headers['www-authenticate'] };
};

describe.each(PLATFORMS)('routes and mounts outside Nest’s routes on %s', (platform) => {
  const paths = Object.keys(MOUNTED[platform]);
  const start = (declare: Declare, more: object = {}): Promise<RuledApp> =>
    startRuled(platform, {
      routes: ['GET a', 'GET api/b'],
      rules: declare,
      configure: (app) => Object.values(MOUNTED[platform]).forEach((mount) => mount(app)),
      ...more,
    });
  const below = (path: string): string => `${path.slice(0, path.lastIndexOf('/'))}/**`;

  it('[3.6] a rule for each is applied before it runs', async () => {
    const app = await start(({ requireRole }) => requireRole('ADMIN', ...paths.map(below)));
    for (const path of paths) {
      expect([path, await ask(app, path)]).toEqual([
        path,
        { status: 401, body: JSON.stringify(refusal('Authentication required')), challenge: 'Bearer' },
      ]);
      expect([path, await ask(app, path, 'USER')]).toEqual([
        path,
        { status: 403, body: JSON.stringify(refusal('Admin access required')), challenge: undefined },
      ]);
      const { status, body } = await ask(app, path, 'ADMIN');
      expect([path, status, body.startsWith('the ')]).toEqual([path, 200, true]);
      expect([path, (await ask(app, path, 'ANYBODY', 'HEAD')).status]).toEqual([path, 401]);
    }
    await app.close();
  });

  it('[3.6] below a restricting pattern that matches no route of Nest’s the rule answers, mounted or not', async () => {
    const app = await start(({ requireAuth, publicEndpoints }) => {
      requireAuth('/nothing/**');
      publicEndpoints('/nothing/open');
    });
    expect((await ask(app, '/nothing/at/all')).status).toBe(401);
    expect((await ask(app, '/nothing/at/all', 'USER')).status).toBe(404);
    expect((await ask(app, '/nothing/open')).status).toBe(404);
    expect((await ask(app, '/nothing//open')).status).toBe(401);
    expect((await ask(app, '/elsewhere')).status).toBe(404);
    await app.close();
  });

  it('[3.5] a rule that also matches Nest’s routes is applied to every known route and mount', async () => {
    const app = await start(({ requireAuth }) => requireAuth('/**'));
    // Fastify does not tell what middie mounts: it is refused as an unknown path.
    const unknown = platform === 'express' ? [] : ['/used/x', '/listed/x'];
    for (const path of paths) {
      expect([path, (await ask(app, path)).status]).toEqual([path, unknown.includes(path) ? 404 : 401]);
      expect([path, (await ask(app, path, 'USER')).status]).toEqual([path, 200]);
    }
    await app.close();
  });

  it('[3.5] the access matrix observes what every row declares', async () => {
    const app = await start(({ requireRole, requireAuth }) => {
      requireAuth('/**');
      requireRole('ADMIN', '/files/secret/**', '/wild/x', '/router/**');
    });
    const rows = await accessMatrix(app.app);
    expect(rows.filter(({ agrees }) => !agrees)).toEqual([]);
    expect(rows.length).toBeGreaterThan(10);
    await app.close();
  });

  it('[3.4] the default access does not apply, and one warning lists them', async () => {
    const app = await start(({ requireAuth }) => requireAuth('/a', '/api/**'));
    for (const path of paths) expect([path, (await ask(app, path)).status]).toEqual([path, 200]);
    const warnings = linesOf(app.logs, 'warn').filter((line) => line.includes("outside Nest's routes"));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(platform === 'express' ? '/files{/*rest}' : '/wild/*');
    await app.close();
  });

  it('[3.3] with strict, each needs a rule', async () => {
    await expect(start(({ requireAuth }) => requireAuth('/a', '/api/**'), { auth: { strict: true } })).rejects.toThrow(
      /outside Nest's routes/,
    );
    const governed = await start(({ requireAuth }) => requireAuth('/**'), { auth: { strict: true } });
    expect((await ask(governed, paths[0]!)).status).toBe(401);
    await governed.close();
  });

  it('[3.5] a rule for a part of a mount applies to that part, in every spelling', async () => {
    const path = platform === 'express' ? '/files/secret/plan.txt' : '/wild/secret';
    const app = await start(({ requireRole }) => requireRole('ADMIN', `${path}/**`));
    expect((await ask(app, path, 'ADMIN')).status).toBe(200);
    expect((await ask(app, platform === 'express' ? '/files/open.txt' : '/wild/open')).status).toBe(200);
    const entered: string[] = [];
    for (const spelling of [...urlSpellings(path).map(({ target }) => target), `/x/..${path}`]) {
      const { status, body } = await ask(app, spelling);
      if (status === 200 && /plan|wildcard/.test(body)) entered.push(spelling);
    }
    // Fastify's wildcard treats another spelling as another resource.
    expect(platform === 'express' ? entered : entered.filter((each) => decodeURIComponent(each) === path)).toEqual([]);
    await app.close();
  });
});

/** What main.ts may still add after `app.init()`. */
describe.each<[platform: Platform, mount: (app: INestApplication) => unknown]>([
  ['express', (app) => expressOf(app).use('/late', answering('the late one'))],
  ['express', (app) => expressOf(app).get('/late/x', answering('the late one'))],
  ['fastify', (app) => fastifyOf(app).get('/late/x', async () => 'the late one')],
  ['fastify', (app) => fastifyOf(app).use('/late', (_request, response) => response.end('the late one'))],
])('after the start, on %s', (platform, mount) => {
  it('[3.6] a route or mount that is added is governed as well', async () => {
    const app = await startRuled(platform, {
      rules: ({ requireRole }) => requireRole('ADMIN', '/late/**'),
      configure: async (nest) => {
        await nest.init();
        mount(nest);
      },
    });
    const answers = [await ask(app, '/late/x'), await ask(app, '/late/x', 'USER'), await ask(app, '/late/x', 'ADMIN')];
    // On Express, Nest's own 404 comes before it.
    expect(answers.map(({ status }) => status)).toEqual([401, 403, platform === 'express' ? 404 : 200]);
    await app.close();
  });
});

describe('mounts of Express', () => {
  it.each<[what: string, path: string]>([
    ['a backslash', '/files/secret\\plan.txt#'],
    ['an encoded slash', '/files/secret%2fplan.txt'],
    ['an encoded dot', '/files/%2e/secret/plan.txt'],
    ['two slashes', '/files/secret//plan.txt'],
    ['another scheme', 'ftp://host/files/secret/plan.txt'],
  ])('[3.6] no spelling of a static file avoids a rule: %s', async (_what, path) => {
    const start = (rules: Declare): Promise<RuledApp> =>
      startRuled('express', { rules, configure: files({ prefix: '/files' }) });
    const open = await start(() => {});
    expect((await ask(open, path)).body).toBe('the file secret/plan.txt');
    await open.close();
    const closed = await start(({ requireRole }) => requireRole('ADMIN', '/files/secret/**'));
    expect([401, 404]).toContain((await ask(closed, path)).status);
    await closed.close();
  });

  it('[3.6] a function above Nest’s routes is a middleware, and runs for everybody', async () => {
    const limited: string[] = [];
    const app = await startRuled('express', {
      routes: ['GET api/a', 'GET api/open'],
      rules: ({ requireAuth, publicEndpoints }) => {
        requireAuth('/**');
        publicEndpoints('/api/open');
      },
      configure: (nest) => {
        nest.use('/api', (request: { originalUrl: string }, _response: unknown, next: Next) => {
          limited.push(request.originalUrl);
          next();
        });
        nest.use((_request: unknown, _response: unknown, next: Next) => next());
      },
    });
    const statuses = async (...asked: string[]) =>
      Promise.all(asked.map(async (path) => (await ask(app, path)).status));
    expect(await statuses('/api/nowhere', '/nowhere', '/api/a', '/api/open')).toEqual([404, 404, 401, 200]);
    expect(limited.toSorted()).toEqual(['/api/a', '/api/nowhere', '/api/open']);
    await app.close();
  });

  /** Rules that also match Nest's routes, so that only the stack of Express tells what is mounted. */
  const startMounted = (configure: (app: INestApplication) => void, ...routes: string[]): Promise<RuledApp> =>
    startRuled('express', { routes, rules: ({ requireAuth }) => requireAuth('/**'), configure });

  it.each(['/docs/x', '/DOCS/x', '/docs\\x#', '/docs\\#', 'http://host/docs/x', 'http:///docs/x', 'ftp://host/docs/x'])(
    '[3.6] the target %s of a mount is read as Express reads it',
    async (target) => {
      const app = await startMounted((nest) => void nest.use('/docs', answering('the documents')), 'GET a');
      expect(await ask(app, target, 'USER')).toMatchObject({ status: 200, body: 'the documents' });
      expect((await ask(app, target)).status).toBe(401);
      await app.close();
    },
  );

  it.each<[what: string, path: string, router: express.Router]>([
    ['its routes', '/api/legacy', express.Router().get('/legacy', answering('the router'))],
    ['its parameters', '/api/legacy/7', express.Router().get('/legacy/:id', answering('the router'))],
    ['its mounts', '/api/legacy/x', express.Router().use('/legacy', answering('the router'))],
    ['its routers', '/api/v1/legacy', express.Router().use('/v1', express.Router().get('/legacy', answering('it')))],
    ['its root', '/api', express.Router().get('/', answering('the router'))],
  ])('[3.6] a router above Nest’s routes is governed: %s', async (_what, path, router) => {
    const app = await startMounted((nest) => void nest.use('/api', router), 'GET api/a');
    expect((await ask(app, path)).status).toBe(401);
    expect((await ask(app, path, 'USER')).status).toBe(200);
    expect((await ask(app, '/api/nowhere/at/all')).status).toBe(404);
    await app.close();
  });

  it('[3.6] a route of main.ts is governed although its path is excluded from the global prefix', async () => {
    const app = await startMounted((nest) => {
      nest.setGlobalPrefix('api', { exclude: ['health/*path'] });
      expressOf(nest).get('/health/secret', answering('the secret'));
    }, 'GET health/b');
    expect((await ask(app, '/health/secret')).status).toBe(401);
    expect((await ask(app, '/health/secret', 'USER')).status).toBe(200);
    await app.close();
  });

  it.each([
    ['alone', []],
    // It reads the routes before AuthModule does.
    ['with CrudModule', [CrudModule]],
  ])('[3.6] a route behind a versioned route is governed: Nest passes other versions on (%s)', async (_, imports) => {
    @Controller({ path: 'v', version: '1' })
    class Versioned {
      @Get()
      read(): string {
        return 'version 1';
      }
    }
    @Injectable()
    class LateRoutes implements OnModuleInit {
      constructor(private readonly host: HttpAdapterHost) {}
      onModuleInit(): void {
        this.host.httpAdapter.get('/v', answering('the late route') as never);
      }
    }
    const app = await startRuled('express', {
      imports,
      controllers: [Versioned],
      providers: [LateRoutes],
      rules: ({ requireAuth }) => requireAuth('/v'),
      configure: (nest) => void nest.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' }),
    });
    expect((await ask(app, '/v')).status).toBe(401);
    expect((await ask(app, '/v', 'USER')).body).toBe('the late route');
    await app.close();
  });
});

it("[3.6] a function that is mounted above controllers' routes is a warning: it may answer requests itself", async () => {
  const parts = {
    routes: ['GET api/products'],
    rules: ({ requireAuth }: Parameters<Declare>[0]) => requireAuth('/api/**'),
  };
  const app = await startRuled('express', {
    ...parts,
    configure: (nest) => {
      nest.use('/api', express().get('/report', answering('the report')));
      nest.use('/own', answering('the function'));
      nest.use(passOn);
    },
  });
  const warning = expect.stringMatching(/Rules do not apply to what the functions mounted at \/api answer themselves/);
  expect(linesOf(app.logs, 'warn')).toContainEqual(warning);
  expect((await ask(app, '/api/report')).status).toBe(200);
  await app.close();
  const without = await startRuled('express', { ...parts, configure: (nest) => void nest.use(passOn) });
  expect(linesOf(without.logs, 'warn')).not.toContainEqual(warning);
  await without.close();
});

const passOn = (_request: unknown, _response: unknown, next: Next): void => next();
