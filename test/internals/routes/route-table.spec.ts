/**
 * The route table reads members of Express and Fastify that their documentation does not describe. These tests compare the
 * table with what each platform answers, so they fail when a new version changes such a member.
 */
import {
  Controller,
  Get,
  type INestApplication,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  Options,
  RequestMethod,
  Scope,
  type Type,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
} from '@nestjs/common';
import { HttpAdapterHost, RouterModule } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import express from 'express';
import type { RouteTable } from '../../../lib/routes/route-table.js';
import { applicationOf } from '../../../lib/routes/application.js';
import { type Platform, PLATFORMS } from '../../harness/platforms.js';
import { rawTarget } from '../../harness/raw-socket.js';
import { type RuledApp, startRuled, wildcard } from '../../access/ruled-app.js';

const text = (): string => 'served';

@Controller('verbs')
class VerbsController {
  @Get('get')
  get(): string {
    return text();
  }
  @Options('options')
  options(): string {
    return text();
  }
}

@Controller(['first', 'second/'])
class PathsController {
  @Get(['a', '/b/'])
  read(): string {
    return text();
  }
}

@Controller({ path: 'ver', version: '1' })
class VersionedController {
  @Get('one')
  one(): string {
    return text();
  }
  @Get('two')
  @Version(['2', '3'])
  two(): string {
    return text();
  }
  @Get('neutral')
  @Version(VERSION_NEUTRAL)
  neutral(): string {
    return text();
  }
}

@Controller({ path: 'scoped', scope: Scope.REQUEST })
class ScopedController {
  @Get(':key')
  read(): string {
    return text();
  }
}

class Base {
  @Get('inherited')
  inherited(): string {
    return text();
  }
  @Get('unreachable')
  unreachable(): string {
    return text();
  }
}

@Controller('derived')
class DerivedController extends Base {
  override unreachable(): string {
    return text();
  }
}

@Controller('child')
class ChildController {
  @Get(':key')
  read(): string {
    return text();
  }
}

@Module({ controllers: [ChildController] })
class ChildModule {}

/** Binds middleware, which is no route. */
@Module({})
class MiddlewareModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((_request: unknown, _response: unknown, next: () => void) => next())
      .forRoutes({ path: 'plain/:id', method: RequestMethod.ALL }, 'middleware/only');
  }
}

const optional = (platform: Platform, path: string): string =>
  `${path}${platform === 'express' ? '{/:last}' : '/:last?'}`;

const routesOn = (platform: Platform): string[] => [
  'GET plain',
  'POST plain',
  'GET plain/fixed',
  'GET plain/:id',
  'PUT plain/:id',
  'GET plain/:id/sub',
  'GET :x/sub',
  'ALL any/:x/:y',
  `GET ${wildcard(platform, 'plain')}`,
  `GET ${optional(platform, 'opt')}`,
  'GET pair/:x-:y',
  'GET pair/:x',
  'GET health',
  'GET ',
];

const controllers: Type[] = [
  VerbsController,
  PathsController,
  VersionedController,
  ScopedController,
  DerivedController,
];

const adapterOf = (app: INestApplication): HttpAdapterHost['httpAdapter'] => app.get(HttpAdapterHost).httpAdapter;
const tableOf = ({ app }: RuledApp): RouteTable => applicationOf(app).routeTable;

function addPlatformRoute(app: INestApplication, verb: 'get' | 'all', path: string): void {
  const adapter = adapterOf(app);
  adapter[verb](path, ((_request: unknown, response: unknown) => adapter.reply(response, {}, 200)) as never);
}

function start(platform: Platform, adapter?: ExpressAdapter | FastifyAdapter): Promise<RuledApp> {
  return startRuled(platform, {
    ...(adapter && { adapter }),
    routes: routesOn(platform),
    controllers,
    imports: [ChildModule, MiddlewareModule, RouterModule.register([{ path: 'parent', module: ChildModule }])],
    rules: ({ publicEndpoints }) => publicEndpoints('/**'),
    configure: (app) => {
      app.setGlobalPrefix('api', { exclude: [{ path: 'health', method: RequestMethod.GET }] });
      app.enableVersioning({ type: VersioningType.URI });
      addPlatformRoute(app, 'get', '/raw/:thing');
      addPlatformRoute(app, 'all', '/raw-any');
    },
  });
}

describe.each(PLATFORMS)('the route table on %s', (platform) => {
  let app: RuledApp;
  beforeAll(async () => {
    app = await start(platform);
  });
  afterAll(() => app.close());

  it('[3.5] lists every route of the application once, and nothing else', () => {
    const served = (route: string): string => {
      const [method, path = ''] = route.split(' ');
      return path === 'health' ? route.replace(' ', ' /') : `${method} /api${path && `/${path}`}`;
    };
    expect(
      tableOf(app)
        .routes.map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
    ).toEqual(
      [
        ...routesOn(platform).map(served),
        'GET /api/verbs/get',
        'OPTIONS /api/verbs/options',
        'GET /api/first/a',
        'GET /api/first/b',
        'GET /api/second/a',
        'GET /api/second/b',
        'GET /api/v1/ver/one',
        'GET /api/v2/ver/two',
        'GET /api/v3/ver/two',
        'GET /api/ver/neutral',
        'GET /api/scoped/:key',
        'GET /api/derived/inherited',
        'GET /api/parent/child/:key',
        'POST /api/api/auth/register',
        'POST /api/api/auth/login',
        'GET /api/api/auth/me',
        'GET /raw/:thing',
        'ALL /raw-any',
      ].toSorted(),
    );
  });

  it('[3.5] has the controller’s method of a route, and none for a platform route', () => {
    const { controllerRoutes, platformRoutes } = tableOf(app);
    const scoped = controllerRoutes.find(({ path }) => path === '/api/scoped/:key');
    expect(scoped?.handler).toBe(ScopedController.prototype.read);
    expect(platformRoutes.map(({ path }) => path)).toEqual(['/raw/:thing', '/raw-any']);
  });

  it('[3.5] belongs to one adapter', async () => {
    const other = await startRuled(platform, { routes: ['GET x'] });
    expect(tableOf(other)).not.toBe(tableOf(app));
    expect(tableOf(other).routes.map(({ path }) => path)).not.toContain('/api/plain');
    await other.close();
  });

  it.each([
    ['GET', '/'],
    ['GET', '/plain'],
    ['HEAD', '/plain'],
    ['PATCH', '/plain'],
    ['GET', '/plain/fixed'],
    ['GET', '/plain/%66ixed'],
    ['PUT', '/plain/fixed'],
    ['GET', '/plain/7'],
    ['GET', '/plain/x%2Fy%20z'],
    ['GET', '/plain/%2541'],
    ['GET', '/plain/7/sub'],
    ['GET', '/other/sub'],
    ['GET', '/plain/7/8/e%2Ff'],
    ['PATCH', '/any/1/2'],
    ['OPTIONS', '/any/1/2'],
    ['GET', '/opt'],
    ['GET', '/opt/'],
    ['GET', '/opt/1'],
    ['GET', '/pair/1-2'],
    ['GET', '/pair/1'],
    ['GET', '/PLAIN/7'],
    ['GET', '/plain/'],
    ['GET', '//plain'],
    ['GET', '/nowhere/b'],
  ])('[3.5] finds the route that serves %s /api%s, with its parameters', async (method, path) => {
    const target = path === '/' ? '/api' : `/api${path}`;
    app.entered.length = 0;
    const { status } = await rawTarget(app.port, target, { method });
    const [entry] = app.entered;
    expect(entry === undefined).toBe(status === 404);
    const found = tableOf(app).find(method, target);
    expect(found && { route: `${found.route.method} ${found.route.path}`, params: { ...found.params } }).toEqual(
      entry && { route: entry.route.replace(/ (?=.)/, ' /api/').replace(/ $/, ' /api'), params: { ...entry.params } },
    );
  });
});

const TARGETS = [
  '/api',
  '/api/',
  '/',
  '/api/plain',
  '/api/plain/',
  '/api/plain//',
  '/API/PLAIN',
  '/api//plain',
  '//api/plain',
  '/api/./plain',
  '/api/%70lain',
  '/api/plain%2f7',
  '/api/plain/fixed;x=1',
  '/api/pair/7/nope',
  '/api/opt',
  '/api/opt/z/y/x',
  '/api/verbs/options',
  '/api/v1/ver/one',
  '/api/ver/one',
  '/api/parent/child/x',
  '/api/child/x/y',
  '/api/derived/unreachable',
  '/api/middleware/only',
  '/health',
  '/health/',
  '/api/health',
  '/raw/x',
  '/raw',
  '/raw-any',
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
    'Fastify, which ignores case, trailing slashes, repeated slashes and semicolons',
    'fastify',
    () =>
      new FastifyAdapter({
        forceCloseConnections: true,
        routerOptions: {
          caseSensitive: false,
          ignoreTrailingSlash: true,
          ignoreDuplicateSlashes: true,
          useSemicolonDelimiter: true,
        } as object,
      }),
  ],
])('paths on %s', (_, platform, adapter) => {
  let app: RuledApp;
  beforeAll(async () => {
    app = await start(platform, adapter());
  });
  afterAll(() => app.close());

  it('[5] [6] have a route exactly where a request of some method is served', async () => {
    for (const target of TARGETS) {
      const answers = await Promise.all(
        ['GET', 'POST', 'OPTIONS'].map((method) => rawTarget(app.port, target, { method })),
      );
      const isServed = answers.some(({ status }) => status !== 404);
      expect([target, tableOf(app).hasRoute(target)]).toEqual([target, isServed]);
    }
  });

  it('[6] are compared as the router compares case', async () => {
    const { status } = await rawTarget(app.port, '/API/PAIR/7');
    expect(tableOf(app).isCaseSensitive).toBe(status !== 200);
  });
});
