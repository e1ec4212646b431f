/**
 * RouteTable watches the adapter's verb methods, for want of a public list. This tells when that breaks: for an
 * application with every way to declare a route, the table is held against what the router says itself, what Nest maps,
 * and what is answered.
 */
import {
  All,
  type CanActivate,
  Controller,
  Delete,
  type ExecutionContext,
  Get,
  Head,
  type INestApplication,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  Options,
  Patch,
  Post,
  Put,
  RequestMethod,
  Scope,
  type Type,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
} from '@nestjs/common';
import { APP_GUARD, HttpAdapterHost, RouterModule } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import express from 'express';
import { RouteTable } from '../../lib/routes/route-table.js';
import { type Platform, PLATFORMS, type RunningApp, startApp } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';

/** What the guard saw of the request that came last. */
let template: string | undefined;

@Injectable()
class Witness implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ route?: { path: string }; routeOptions?: { url: string } }>();
    template = request.routeOptions?.url ?? request.route?.path;
    return true;
  }
}

@Controller('plain')
class PlainController {
  @Get()
  list() {
    return {};
  }

  @Post()
  create() {
    return {};
  }

  @Get('fixed')
  fixed() {
    return {};
  }

  @Get(':id')
  one() {
    return {};
  }

  @Put(':id')
  replace() {
    return {};
  }

  @Patch(':id')
  change() {
    return {};
  }

  @Delete(':id')
  remove() {
    return {};
  }

  @Get(':id/sub')
  sub() {
    return {};
  }

  @All('any')
  any() {
    return {};
  }

  @Head('head/only')
  headOnly() {}

  @Options('options/only')
  optionsOnly() {
    return {};
  }
}

@Controller(['first', 'second/'])
class PathsController {
  @Get(['a', '/b/'])
  read() {
    return {};
  }
}

@Controller({ path: 'ver', version: '1' })
class VersionedController {
  @Get('one')
  one() {
    return {};
  }

  @Get('two')
  @Version(['2', '3'])
  two() {
    return {};
  }

  @Get('neutral')
  @Version(VERSION_NEUTRAL)
  neutral() {
    return {};
  }
}

@Controller('health')
class HealthController {
  @Get()
  health() {
    return {};
  }

  @Post()
  report() {
    return {};
  }
}

@Controller({ path: 'scoped', scope: Scope.REQUEST })
class ScopedController {
  @Get(':key')
  read() {
    return {};
  }
}

@Controller({ path: 'hosted', host: '127.0.0.1' })
class HostedController {
  @Get()
  read() {
    return {};
  }
}

@Controller()
class RootController {
  @Get()
  root() {
    return {};
  }
}

class Base {
  @Get('inherited')
  inherited() {
    return {};
  }

  @Get('overridden')
  overridden() {
    return {};
  }

  @Get('unreachable')
  unreachable() {
    return {};
  }
}

@Controller('derived')
class DerivedController extends Base {
  @Get('overridden')
  override overridden() {
    return {};
  }

  override unreachable() {
    return {};
  }
}

@Controller('child')
class ChildController {
  @Get(':key')
  read() {
    return {};
  }
}

@Module({ controllers: [ChildController] })
class ChildModule {}

/** Wildcards and optional levels, in the words of each router. */
function wildController(platform: Platform): Type {
  const [wild, optional] = platform === 'express' ? ['files/*path', 'opt{/:z}'] : ['files/*', 'opt/:z?'];
  @Controller('wild')
  class WildController {
    @Get(wild)
    files() {
      return {};
    }

    @Get(optional)
    optional() {
      return {};
    }
  }
  return WildController;
}

/** Also binds middleware, which is no route. */
function rootModule(platform: Platform): Type {
  @Module({
    imports: [ChildModule, RouterModule.register([{ path: 'parent', module: ChildModule }])],
    controllers: [
      PlainController,
      PathsController,
      VersionedController,
      HealthController,
      ScopedController,
      HostedController,
      RootController,
      DerivedController,
      wildController(platform),
    ],
    providers: [{ provide: APP_GUARD, useClass: Witness }],
  })
  class RootModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer
        .apply((_request: unknown, _response: unknown, next: () => void) => next())
        .forRoutes({ path: 'plain/:id', method: RequestMethod.ALL }, 'middleware/only');
    }
  }
  return RootModule;
}

const REGISTERED = [
  'GET /api/plain',
  'POST /api/plain',
  'GET /api/plain/fixed',
  'GET /api/plain/:id',
  'PUT /api/plain/:id',
  'PATCH /api/plain/:id',
  'DELETE /api/plain/:id',
  'GET /api/plain/:id/sub',
  'ALL /api/plain/any',
  'HEAD /api/plain/head/only',
  'OPTIONS /api/plain/options/only',
  'GET /api/first/a',
  'GET /api/first/b',
  'GET /api/second/a',
  'GET /api/second/b',
  'GET /api/v1/ver/one',
  'GET /api/v2/ver/two',
  'GET /api/v3/ver/two',
  'GET /api/ver/neutral',
  'GET /health',
  'POST /api/health',
  'GET /api/scoped/:key',
  'GET /api/hosted',
  'GET /api',
  'GET /api/derived/inherited',
  'GET /api/derived/overridden',
  'GET /api/parent/child/:key',
];
const WILD = {
  express: ['GET /api/wild/files/*path', 'GET /api/wild/opt{/:z}'],
  fastify: ['GET /api/wild/files/*', 'GET /api/wild/opt/:z?'],
};
const RAW = ['GET /raw/:thing', 'ALL /raw-any', 'GET /raw-late'];

interface Watched extends RunningApp {
  table: RouteTable;
  /** What the router itself has, as `GET /path`; a route of every method as `ALL /path`. */
  served: () => Set<string>;
}

async function start(platform: Platform, adapter?: ExpressAdapter | FastifyAdapter): Promise<Watched> {
  let table: RouteTable | undefined;
  const onRoute: string[] = [];
  const running = await startApp(platform, rootModule(platform), {
    ...(adapter && { adapter }),
    configure: (app) => {
      table = RouteTable.of(adapterOf(app));
      app.setGlobalPrefix('api', { exclude: [{ path: 'health', method: RequestMethod.GET }] });
      app.enableVersioning({ type: VersioningType.URI });
      addRaw(app, 'get', '/raw/:thing');
      addRaw(app, 'all', '/raw-any');
      if (platform === 'fastify')
        fastifyOf(app).addHook('onRoute', ({ method, url }) => {
          onRoute.push(...(Array.isArray(method) ? [`ALL ${url}`] : [`${method} ${url}`]));
        });
    },
  });
  if (platform === 'express') addRaw(running.app, 'get', '/raw-late');
  const served = (): Set<string> => (platform === 'express' ? servedByExpress(running.app) : servedByFastify(onRoute));
  return { ...running, table: table as RouteTable, served };
}

function addRaw(app: INestApplication, verb: 'get' | 'all', path: string): void {
  const adapter = adapterOf(app);
  const handler = (_request: unknown, response: unknown): unknown => adapter.reply(response, {}, 200);
  adapter[verb](path, handler as never);
}

const adapterOf = (app: INestApplication): HttpAdapterHost['httpAdapter'] => app.get(HttpAdapterHost).httpAdapter;

interface FastifyInstance {
  addHook(name: 'onRoute', hook: (route: { method: string | string[]; url: string }) => void): void;
}
const fastifyOf = (app: INestApplication): FastifyInstance => app.getHttpAdapter().getInstance() as FastifyInstance;

/** The layers of its router; Nest's not-found handler of an excluded path is one of every method, which is left out. */
function servedByExpress(app: INestApplication): Set<string> {
  const { router } = app.getHttpAdapter().getInstance() as {
    router: { stack: { route?: { path: string; methods: Record<string, boolean>; stack: { name: string }[] } }[] };
  };
  const routes = router.stack.flatMap(({ route }) => (route ? [route] : []));
  return new Set(
    routes.flatMap(({ path, methods }) => {
      const names = Object.keys(methods).map((name) => name.toUpperCase());
      return names.length > 5 || names.includes('_ALL') ? [`ALL ${path}`] : names.map((name) => `${name} ${path}`);
    }),
  );
}

/** Fastify adds a HEAD to every GET. */
function servedByFastify(onRoute: readonly string[]): Set<string> {
  const ofNest = onRoute.filter(
    (route) => !route.startsWith('HEAD ') || !onRoute.includes(route.replace('HEAD', 'GET')),
  );
  return new Set(ofNest);
}

const named = (table: RouteTable): string[] => table.routes.map(({ method, path }) => `${method} ${path}`);

describe.each(PLATFORMS)('the route table on %s', (platform) => {
  let app: Watched;
  beforeAll(async () => {
    app = await start(platform);
  });
  afterAll(() => app.close());

  it('[3.5] has every route of the application, as the router serves it', () => {
    const late = platform === 'express' ? RAW : RAW.filter((route) => !route.endsWith('late'));
    expect(named(app.table).toSorted()).toEqual([...REGISTERED, ...WILD[platform], ...late].toSorted());
  });

  it('[3.5] has what the router itself has, and nothing else', () => {
    const inTable = new Set(named(app.table));
    // Express's router has as routes, too, what middleware is bound to, and Nest's not-found answer for what is
    // excluded from the prefix.
    const noRoutes =
      platform === 'express' ? ['/health', ...app.table.middlewarePaths].map((path) => `ALL ${path}`) : [];
    const known = [...app.served()].filter((route) => !noRoutes.includes(route));
    const rawBeforeTheHook = platform === 'fastify' ? RAW : [];
    expect(known.filter((route) => !inTable.has(route))).toEqual([]);
    expect([...inTable].filter((route) => !known.includes(route) && !rawBeforeTheHook.includes(route))).toEqual([]);
  });

  it('[3.5] has each route once, in order of registration', () => {
    expect(new Set(named(app.table)).size).toBe(app.table.routes.length);
    const order = named(app.table);
    expect(order.indexOf('GET /api/plain/fixed')).toBeLessThan(order.indexOf('GET /api/plain/:id'));
    expect(order[0]).toBe('GET /raw/:thing');
  });

  it('[3.5] gives the metadata of the controller’s method with the handler', () => {
    const route = app.table.routes.find(({ method, path }) => method === 'GET' && path === '/api/plain/:id/sub');
    expect(Reflect.getMetadata('path', route?.handler as object)).toBe(':id/sub');
  });

  it('[3.5] is one for each adapter', async () => {
    expect(RouteTable.of(adapterOf(app.app))).toBe(app.table);
    let table: RouteTable | undefined;
    const other = await startApp(
      platform,
      { controllers: [RootController] },
      { configure: (nest) => void (table = RouteTable.of(adapterOf(nest))) },
    );
    expect(table).toBe(RouteTable.of(adapterOf(other.app)));
    expect(table).not.toBe(app.table);
    await other.close();
  });

  it('[3.5] knows the paths to which middleware was bound, without taking them for routes', () => {
    expect(app.table.middlewarePaths).toEqual(expect.arrayContaining(['/api/plain/:id', '/api/middleware/only']));
    expect(named(app.table)).not.toContain('ALL /api/middleware/only');
    expect(app.table.serves('/api/middleware/only')).toBe(false);
  });

  it.each([
    ['GET', '/api/plain'],
    ['POST', '/api/plain'],
    ['GET', '/api/plain/fixed'],
    ['GET', '/api/plain/7'],
    ['PUT', '/api/plain/fixed'],
    ['PATCH', '/api/plain/7'],
    ['DELETE', '/api/plain/7'],
    ['GET', '/api/plain/7/sub'],
    ['HEAD', '/api/plain/7'],
    ['GET', '/api/plain/any'],
    ['OPTIONS', '/api/plain/any'],
    ['HEAD', '/api/plain/head/only'],
    ['OPTIONS', '/api/plain/options/only'],
    ['GET', '/api/second/b'],
    ['GET', '/api/v1/ver/one'],
    ['GET', '/api/v3/ver/two'],
    ['GET', '/api/ver/neutral'],
    ['GET', '/health'],
    ['GET', '/api/scoped/x'],
    ['GET', '/api/hosted'],
    ['GET', '/api'],
    ['GET', '/api/derived/overridden'],
    ['GET', '/api/parent/child/x'],
    ['GET', '/api/wild/files/a/b'],
    ['GET', '/api/wild/opt'],
    ['GET', '/api/wild/opt/z'],
    ['GET', '/api/plain/a%2fb'],
    ['GET', '/api/plain/%66ixed'],
    ['GET', '/api/plain/..'],
    ['GET', 'http://anywhere.example/api/plain/7/sub'],
  ])('[3.5] has the template under which the request is handled: %s %s', async (method, target) => {
    template = undefined;
    await rawTarget(app.port, target, { method });
    expect(template).toBeDefined();
    expect(app.table.routes.map(({ path }) => path)).toContain(template);
    // Which of them it is depends on the order on Express; Fastify prefers the most specific one.
    const path = target.replace('http://anywhere.example', '');
    if (platform === 'express') expect(app.table.find(method, path)?.path).toBe(template);
  });

  it.each([
    ['GET', '/api/nowhere'],
    ['PATCH', '/api/plain'],
    ['POST', '/api/plain/7'],
    ['GET', '/plain'],
    ['GET', '/api/derived/unreachable'],
    ['GET', '/api/v2/ver/one'],
    ['GET', '/child/x'],
    ['POST', '/health'],
  ])('[3.6] finds nothing where the application has nothing: %s %s', async (method, path) => {
    expect((await rawTarget(app.port, path, { method })).status).toBe(404);
    if (platform === 'express') expect(app.table.find(method, path)).toBeUndefined();
  });
});

const TARGETS = [
  '/api/plain',
  '/api/plain/',
  '/api/plain//',
  '/API/PLAIN',
  '/api/plain/7',
  '/api/PLAIN/7/SUB',
  '/api/plain/7/sub/',
  '/api/plain/7/nope',
  '/api//plain',
  '//api/plain',
  '/api/plain/fixed;x=1',
  '/api/plain/7/sub;x=1',
  '/api/%70lain',
  '/api/plain/7/%73ub',
  '/api/plain%2f7',
  '/api/./plain',
  '/api/wild/files',
  '/api/wild/files/a',
  '/api/wild/files/a/b/c',
  '/api/wild/opt',
  '/api/wild/opt/z',
  '/api/wild/opt/z/y',
  '/api',
  '/api/',
  '/',
  '/health',
  '/health/',
  '/api/health',
  '/api/parent/child/x',
  '/api/parent/child',
  '/api/child/x',
  '/raw/x',
  '/raw',
  '/raw-any',
  '/api/derived/unreachable',
  '/api/ver/one',
  '/api/v1/ver/one',
];

describe.each<[string, Platform, () => ExpressAdapter | FastifyAdapter]>([
  ['Express', 'express', () => new ExpressAdapter()],
  [
    'Express, strict and case-sensitive',
    'express',
    () => new ExpressAdapter(express().set('strict routing', true).set('case sensitive routing', true)),
  ],
  ['Fastify', 'fastify', () => new FastifyAdapter({ forceCloseConnections: true })],
  [
    'Fastify, case-insensitive and without trailing slashes',
    'fastify',
    () =>
      new FastifyAdapter({
        forceCloseConnections: true,
        routerOptions: { caseSensitive: false, ignoreTrailingSlash: true },
      }),
  ],
  [
    'Fastify, with collapsed slashes and semicolons',
    'fastify',
    () =>
      new FastifyAdapter({
        forceCloseConnections: true,
        routerOptions: { ignoreDuplicateSlashes: true, useSemicolonDelimiter: true } as object,
      }),
  ],
])('serves() on %s', (_, platform, adapter) => {
  let app: Watched;
  beforeAll(async () => {
    app = await start(platform, adapter());
  });
  afterAll(() => app.close());

  it.each(TARGETS)('[5] [6] says of %s what the router does', async (target) => {
    const answers = await Promise.all(
      ['GET', 'POST', 'OPTIONS'].map((method) => rawTarget(app.port, target, { method })),
    );
    const served = answers.some(({ status }) => status !== 404);
    expect(app.table.serves(target)).toBe(served);
  });

  it('[6] reads case and trailing slash as the router does', async () => {
    const reaches = async (target: string): Promise<boolean> => (await rawTarget(app.port, target)).status === 200;
    expect(app.table.reading).toMatchObject({
      caseSensitive: !(await reaches('/API/PLAIN/7/SUB')),
      ignoreTrailingSlash: await reaches('/api/plain/7/sub/'),
    });
  });
});
