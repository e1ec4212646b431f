/** What serves requests beside Nest's routes: static files, sub-applications, routers, plugins. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Get, type INestApplication } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { AccessReport, Public } from 'declarest';
import { accessMatrix, urlSpellings } from 'declarest/testing';
import express from 'express';
import { RouteTable } from '../../lib/routes/route-table.js';
import { explain } from '../../lib/access/explain.js';
import { AccessRules } from '../../lib/access/access-rules.js';
import { linesOf, type Platform, PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { bearer, type Declare, type RuledApp, type RuledParts, startRuled, TOKENS, type Who } from './ruled-app.js';

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

describe.each(PLATFORMS)('what is mounted beside Nest’s routes on %s', (platform) => {
  const paths = Object.keys(MOUNTED[platform]);
  const start = (declare: Declare, more: object = {}): Promise<RuledApp> =>
    startRuled(platform, {
      routes: ['GET a', 'GET api/b'],
      rules: declare,
      configure: (app) => Object.values(MOUNTED[platform]).forEach((mount) => mount(app)),
      ...more,
    });

  it('[3.5] explicit rules govern each before it runs', async () => {
    const app = await start(({ requireRole }) =>
      requireRole('ADMIN', ...paths.map((path) => `${path.slice(0, path.lastIndexOf('/'))}/**`)),
    );
    for (const path of paths) {
      expect([path, await ask(app, path)]).toEqual([
        path,
        { status: 401, body: '{"error":"Authentication required"}', challenge: 'Bearer' },
      ]);
      expect([path, await ask(app, path, 'USER')]).toEqual([
        path,
        { status: 403, body: '{"error":"Admin access required"}', challenge: undefined },
      ]);
      const { status, body } = await ask(app, path, 'ADMIN');
      expect([path, status, body.startsWith('the ')]).toEqual([path, 200, true]);
      expect([path, (await ask(app, path, 'ANYBODY', 'HEAD')).status]).toEqual([path, 401]);
    }
    await app.close();
  });

  it('[3.5] the access matrix finds every row as declared', async () => {
    const app = await start(({ requireRole, requireAuth }) => {
      requireAuth('/**');
      requireRole('ADMIN', '/files/secret/**', '/wild/x', '/router/**');
    });
    const rows = await accessMatrix(app.app);
    expect(rows.filter(({ agrees }) => !agrees)).toEqual([]);
    expect(rows.length).toBeGreaterThan(3 * paths.length);
    await app.close();
  });

  it('[3.4] the default never does, and each is told of', async () => {
    const app = await start(({ requireAuth }) => requireAuth('/a', '/api/**'));
    for (const path of paths) expect([path, (await ask(app, path)).status]).toEqual([path, 200]);
    const [warning, ...others] = linesOf(app.logs, 'warn').filter((line) => line.includes('anybody gets in there'));
    expect(others).toEqual([]);
    for (const path of paths) {
      const [, first = ''] = path.split('/');
      // Of what is at the root or behind a regular expression, the table knows no path.
      expect(warning).toContain(` /${['rooted', 'pattern', 'matched'].includes(first) ? '{*rest}' : first}`);
    }
    await app.close();
  });

  it('[3.3] under strict, none may be there without a rule', async () => {
    await expect(start(({ requireAuth }) => requireAuth('/a', '/api/**'), { auth: { strict: true } })).rejects.toThrow(
      /anybody gets in there/,
    );
    const governed = await start(({ requireAuth }) => requireAuth('/**'), { auth: { strict: true } });
    expect((await ask(governed, paths[0]!)).status).toBe(401);
    await governed.close();
  });

  it('[3.5] a rule for a part of one holds for that part, in every spelling', async () => {
    const path = platform === 'express' ? '/files/secret/plan.txt' : '/wild/secret';
    const app = await start(({ requireRole }) => requireRole('ADMIN', `${path}/**`));
    expect((await ask(app, path, 'ADMIN')).status).toBe(200);
    expect((await ask(app, platform === 'express' ? '/files/open.txt' : '/wild/open')).status).toBe(200);
    const entered: string[] = [];
    for (const spelling of [...urlSpellings(path).map(({ target }) => target), `/x/..${path}`]) {
      const { status, body } = await ask(app, spelling);
      if (status === 200 && /plan|wildcard/.test(body)) entered.push(spelling);
    }
    // What Fastify's own wildcard is asked for under another name is another thing to it.
    expect(platform === 'express' ? entered : entered.filter((each) => decodeURIComponent(each) === path)).toEqual([]);
    await app.close();
  });
});

/** What `main.ts` may still mount when the application is initialised. */
describe.each<[platform: Platform, mount: (app: INestApplication) => unknown]>([
  ['express', (app) => expressOf(app).use('/late', answering('the late one'))],
  ['express', (app) => expressOf(app).get('/late/x', answering('the late one'))],
  ['fastify', (app) => fastifyOf(app).get('/late/x', async () => 'the late one')],
  ['fastify', (app) => fastifyOf(app).use('/late', (_request, response) => response.end('the late one'))],
])('after the start, on %s', (platform, mount) => {
  it('[3.5] what is added is governed as well', async () => {
    const app = await startRuled(platform, {
      rules: ({ requireRole }) => requireRole('ADMIN', '/late/**'),
      configure: async (nest) => {
        await nest.init();
        mount(nest);
      },
    });
    const answers = [await ask(app, '/late/x'), await ask(app, '/late/x', 'USER'), await ask(app, '/late/x', 'ADMIN')];
    // Nest's own 404 stands before what Express is given so late.
    const expected = platform === 'express' ? [404, 404, 404] : [401, 403, 200];
    expect(answers.map(({ status }) => status)).toEqual(expected);
    await app.close();
  });
});

@Controller()
class PublicPages {
  @Get('{*path}')
  @Public()
  page(): string {
    return 'the page';
  }
}

/** A restricted mount that is in front of a route of Nest's for the same path: the route decides for itself, alone. */
describe.each<[what: string, parts: RuledParts, path: string, answers: [anybody: string | number, admin: string]]>([
  [
    'static files and a route for every path',
    { routes: ['GET *path'], rules: ({ requireRole }) => requireRole('ADMIN', '/secret/**'), configure: files() },
    '/secret/plan.txt',
    [401, 'the file secret/plan.txt'],
  ],
  [
    'static files and a public route for every path',
    { controllers: [PublicPages], rules: ({ requireAuth }) => requireAuth('/**'), configure: files() },
    '/secret/plan.txt',
    ['the page', 'the file secret/plan.txt'],
  ],
  [
    'a function and a public route for every path',
    {
      controllers: [PublicPages],
      rules: ({ requireAuth }) => requireAuth('/**'),
      configure: (app) => void app.use('/fn', answering('the function')),
    },
    '/fn/x',
    ['the page', 'the function'],
  ],
  [
    'a router and a route for the very path',
    {
      routes: ['GET router/x'],
      rules: ({ requireRole }) => requireRole('ADMIN', '/router/**'),
      configure: (app) => void app.use('/router', express.Router().get('/x', answering('the router'))),
    },
    '/router/x',
    [401, 'the router'],
  ],
])('%s', (_what, parts, path, [anybody, admin]) => {
  it('[3.5] whom the rules keep out does not reach the mount', async () => {
    const app = await startRuled('express', parts);
    const { status, body } = await ask(app, path);
    expect(typeof anybody === 'number' ? status : body).toBe(anybody);
    expect((await ask(app, path, 'ADMIN')).body).toBe(admin);
    await app.close();
  });
});

describe('Express', () => {
  it.each<[what: string, options: object, path: string]>([
    ['at a prefix', { prefix: '/files' }, '/files/secret\\plan.txt#'],
    ['at the root', {}, '/secret\\plan.txt#'],
    ['in an encoded slash', {}, '/secret%2fplan.txt'],
    ['with an encoded dot', {}, '/%2e/secret/plan.txt'],
    ['with two slashes', {}, '/secret//plan.txt'],
    ['with another scheme', {}, 'ftp://host/secret/plan.txt'],
  ])('[3.6] static files %s: no spelling that Express takes for one gets past a rule', async (_what, options, path) => {
    const start = (rules: Declare): Promise<RuledApp> => startRuled('express', { rules, configure: files(options) });
    const open = await start(() => {});
    expect((await ask(open, path)).body).toBe('the file secret/plan.txt');
    await open.close();
    const closed = await start(({ requireRole }) => requireRole('ADMIN', '/secret/**', '/files/secret/**'));
    expect([401, 404]).toContain((await ask(closed, path)).status);
    await closed.close();
  });

  it('[3.5] an application that had mounts before Nest is governed, too', async () => {
    const instance = express().use('/early', answering('the early one'));
    const app = await startRuled('express', {
      adapter: new ExpressAdapter(instance),
      rules: ({ requireRole }) => requireRole('ADMIN', '/early/**'),
    });
    expect([(await ask(app, '/early/x')).status, (await ask(app, '/early/x', 'ADMIN')).body]).toEqual([
      401,
      'the early one',
    ]);
    await app.close();
  });

  it('[3.5] a router before version 2.3, whose layers do not tell their path, is governed the same', async () => {
    const layer: object = Object.getPrototypeOf(express().use(answering('nothing')).router.stack[0]);
    Object.defineProperty(layer, 'rawPath', { get: () => undefined, set: () => {}, configurable: true });
    const app = await startRuled('express', {
      rules: ({ requireRole }) => requireRole('ADMIN', '/api/auth/**', '/fn/**'),
      auth: { strict: true },
      configure: (nest) => {
        nest.use((_request: unknown, _response: unknown, next: Next) => next());
        nest.use('/fn', answering('the function'));
      },
    }).finally(() => Reflect.deleteProperty(layer, 'rawPath'));
    expect([(await ask(app, '/fn/x')).status, (await ask(app, '/fn/x', 'ADMIN')).body]).toEqual([401, 'the function']);
    expect((await ask(app, '/nowhere')).status).toBe(404);
    await app.close();
  });

  it('[3.5] the methods of a route are told when they are all there', async () => {
    const app = await startRuled('express', {
      rules: ({ requireRole }) => requireRole('ADMIN', 'GET,POST /route'),
      auth: { strict: true },
      configure: (nest) => void expressOf(nest).route('/route').get(answering('got')).post(answering('posted')),
    });
    const rows = app.app.get(AccessReport, { strict: false }).rows.filter(({ path }) => path === '/route');
    expect(rows.map(({ method, access }) => `${method} ${access}`)).toEqual(['GET ADMIN', 'POST ADMIN']);
    expect((await ask(app, '/route', 'ANYBODY', 'POST')).status).toBe(401);
    expect((await ask(app, '/route', 'ADMIN', 'POST')).body).toBe('posted');
    await app.close();
  });

  it('[3.6] a path that nothing serves stays 404, and routes keep their own rules', async () => {
    const limited: string[] = [];
    const app = await startRuled('express', {
      routes: ['GET api/a', 'GET api/open'],
      rules: ({ requireAuth, publicEndpoints }) => {
        requireAuth('/**');
        publicEndpoints('/api/open', '/page.html');
      },
      auth: { strict: true },
      configure: (nest) => {
        nest.use('/api', (request: { originalUrl: string }, _response: unknown, next: Next) => {
          limited.push(request.originalUrl);
          next();
        });
        nest.use((_request: unknown, _response: unknown, next: Next) => next());
        (nest as unknown as StaticApp).useStaticAssets(folder, { extensions: ['html'] });
      },
    });
    const statuses = async (...asked: string[]) =>
      Promise.all(asked.map(async (path) => (await ask(app, path)).status));
    expect(await statuses('/api/nowhere', '/nowhere', '/secret/none.txt')).toEqual([404, 404, 404]);
    expect(await statuses('/api/a', '/api/open', '/page.html')).toEqual([401, 200, 200]);
    expect(await statuses('/open.txt', '/secret/plan.txt', '/page', '/secret')).toEqual([401, 401, 401, 401]);
    expect((await ask(app, '/open.txt', 'USER')).body).toBe('the file open.txt');
    const explained = (path: string): unknown[] => {
      const { route, verdict, decidedBy } = explain(app.app.get(AccessRules, { strict: false }).compiled!, {
        method: 'GET',
        path,
        roles: undefined,
      });
      return [route?.path, verdict, decidedBy];
    };
    expect(explained('/open.txt')).toEqual(['/{*rest}', 'unauthenticated', 'TestSecurity.requireAuth("/**")']);
    expect(explained('/nowhere')).toEqual([undefined, 'unrouted', 'default']);
    // A function that passes on, above routes of Nest's, is a middleware: it runs for everybody.
    expect(limited.toSorted()).toEqual(['/api/a', '/api/nowhere', '/api/open']);
    await app.close();
  });
});
