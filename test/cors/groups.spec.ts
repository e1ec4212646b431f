import type { AddressInfo } from 'node:net';
import {
  All,
  Controller,
  Get,
  Head,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  Post,
  Put,
  RequestMethod,
  type Type,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  cors,
  CrudController,
  CrudModule,
  OverrideNote,
  InvalidOptionError,
  type ListQuery,
  routesOf,
} from 'declarest';
import { ExpressAdapter as OwnExpressAdapter } from 'declarest/express';
import express from 'express';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { request } from '../harness/client.js';
import { createDatabase } from '../harness/databases.js';
import {
  linesOf,
  type Platform,
  PLATFORMS,
  type RunningApp,
  startApp,
  type StartOptions,
} from '../harness/platforms.js';
import { startShop } from '../harness/shop.js';
import {
  allCorsHeaders,
  corsHeadersOf,
  gadgetModule,
  GadgetsController,
  GizmosController,
  ORIGIN,
  OutsideController,
  OwnController,
  preflight,
  startGadgets,
} from './gadget-app.js';

const OTHER = 'http://localhost:5173';

@Controller('notes')
class NotesController {
  @Get()
  list() {
    return [];
  }

  @Get(':id')
  one() {
    return {};
  }

  @Post(':id/lines')
  add() {
    return {};
  }
}

@Controller('health')
class HealthController {
  @Get()
  health() {
    return { up: true };
  }
}

/** A module of these controllers that binds one CORS group. */
function groupOf(controllers: Type[], bind: (consumer: MiddlewareConsumer) => void): Type {
  @Module({ controllers })
  class GroupModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      bind(consumer);
    }
  }
  return GroupModule;
}

/** Boots them; `bind` has a group for `routesOf` of each. */
const startGroup = (
  platform: Platform,
  controllers: Type[],
  options: StartOptions & { bind?: (consumer: MiddlewareConsumer) => void } = {},
): Promise<RunningApp> =>
  startApp(
    platform,
    groupOf(
      controllers,
      options.bind ??
        ((consumer) => {
          consumer.apply(cors(ORIGIN)).forRoutes(...controllers.flatMap((each) => routesOf(each)));
        }),
    ),
    options,
  );

async function statusAndOrigin(app: RunningApp, method: string, path: string): Promise<unknown[]> {
  const answer = await request(app.url, method, path, { headers: preflight() });
  return [answer.status, answer.headers['access-control-allow-origin']];
}

const warnings = ({ logs }: RunningApp): string[] => linesOf(logs, 'warn');

describe.each(PLATFORMS)('CORS groups on %s', (platform) => {
  it('[5] two groups have their own origins', async () => {
    const app = await startGadgets(platform, {
      bind: (consumer) => {
        consumer.apply(cors(ORIGIN)).forRoutes(...routesOf(GadgetsController));
        consumer.apply(cors(OTHER)).forRoutes(...routesOf(GizmosController));
        consumer.apply(cors()).forRoutes(...routesOf(OutsideController));
      },
    });
    for (const [path, origin] of [
      ['/api/gadgets', ORIGIN],
      ['/api/gizmos', OTHER],
      ['/api/outside', '*'],
    ] as const) {
      expect([path, await statusAndOrigin(app, 'OPTIONS', path)]).toEqual([path, [204, origin]]);
      expect([path, await statusAndOrigin(app, 'GET', path)]).toEqual([path, [200, origin]]);
    }
    expect(await statusAndOrigin(app, 'OPTIONS', '/api/own/read')).toEqual([404, undefined]);
    await app.close();
  });

  it('[5] apply to a route of every method', async () => {
    @Controller('anything')
    class AnythingController {
      @All()
      any() {
        return {};
      }
    }
    const app = await startGroup(platform, [AnythingController]);
    expect(await statusAndOrigin(app, 'OPTIONS', '/anything')).toEqual([204, ORIGIN]);
    await app.close();
  });

  it('[5] one middleware class may be bound twice', async () => {
    const shared = cors(ORIGIN);
    const app = await startGadgets(platform, {
      bind: (consumer) => {
        consumer.apply(shared).forRoutes(...routesOf(GadgetsController));
      },
      imports: [
        groupOf([NotesController], (consumer) => {
          consumer.apply(shared).forRoutes(...routesOf(NotesController));
        }),
      ],
    });
    expect(await statusAndOrigin(app, 'OPTIONS', '/api/gadgets')).toEqual([204, ORIGIN]);
    expect(await statusAndOrigin(app, 'OPTIONS', '/notes/7/lines')).toEqual([204, ORIGIN]);
    await app.close();
  });

  it('[5] two applications in one process have separate groups', async () => {
    const first = await startGroup(platform, [NotesController]);
    const second = await startGroup(platform, [HealthController]);
    expect(await statusAndOrigin(first, 'OPTIONS', '/notes')).toEqual([204, ORIGIN]);
    expect(await statusAndOrigin(first, 'OPTIONS', '/health')).toEqual([404, undefined]);
    expect(await statusAndOrigin(second, 'OPTIONS', '/health')).toEqual([204, ORIGIN]);
    expect(await statusAndOrigin(second, 'OPTIONS', '/notes')).toEqual([404, undefined]);
    await first.close();
    await second.close();
  });

  it.each([
    ['a wildcard over everything', '{*path}'],
    ['a wildcard below a level', 'notes/*path'],
  ])('[5] bound to %s answers 204 only where the application has a route', async (_, path) => {
    const app = await startGroup(platform, [NotesController, HealthController], {
      bind: (consumer) => {
        consumer.apply(cors(ORIGIN)).forRoutes(path);
      },
    });
    for (const served of ['/notes/7', '/notes/7/lines'])
      expect([served, await statusAndOrigin(app, 'OPTIONS', served)]).toEqual([served, [204, ORIGIN]]);
    for (const unserved of ['/notes/7/lines/8', '/notes/7/x', '/note', '/healthy'])
      expect([unserved, await statusAndOrigin(app, 'OPTIONS', unserved)]).toEqual([unserved, [404, undefined]]);
    expect(await statusAndOrigin(app, 'OPTIONS', '/health')).toEqual(
      path.startsWith('notes') ? [404, undefined] : [204, ORIGIN],
    );
    await app.close();
  });

  it.each([
    ['from the start', adapterOtherwise],
    ['after the router was created', adapterToldTooLate],
  ])('[5] [6] compare case and trailing slash as the router does, set %s', async (_, adapterFor) => {
    const app = await startGroup(platform, [NotesController], { adapter: adapterFor(platform) });
    expect(await statusAndOrigin(app, 'OPTIONS', '/notes/7')).toEqual([204, ORIGIN]);
    for (const path of ['/NOTES/7', '/notes/7/', '/Notes/7/Lines']) {
      const method = path.endsWith('Lines') ? 'POST' : 'GET';
      const served = (await request(app.url, method, path)).status < 300;
      expect([path, await statusAndOrigin(app, 'OPTIONS', path)]).toEqual([
        path,
        served ? [204, ORIGIN] : [404, undefined],
      ]);
    }
    await app.close();
  });

  it('[1] [5] [6] follow the global prefix and its exclusions', async () => {
    const app = await startGroup(platform, [NotesController, HealthController], {
      configure: (app) => void app.setGlobalPrefix('v9/api', { exclude: ['health'] }),
    });
    for (const path of ['/v9/api/notes', '/v9/api/notes/7', '/v9/api/notes/7/lines', '/health'])
      expect([path, await statusAndOrigin(app, 'OPTIONS', path)]).toEqual([path, [204, ORIGIN]]);
    for (const path of ['/notes', '/notes/7', '/v9/api/health', '/v9/api/notes/7/x', '/v9/api'])
      expect([path, await statusAndOrigin(app, 'OPTIONS', path)]).toEqual([path, [404, undefined]]);
    expect(await statusAndOrigin(app, 'GET', '/v9/api/notes')).toEqual([200, ORIGIN]);
    expect(await statusAndOrigin(app, 'GET', '/health')).toEqual([200, ORIGIN]);
    expect(warnings(app)).toEqual([]);
    await app.close();
  });

  it('[1] [5] [6] do not apply to a path that is excluded from the global prefix for one method', async () => {
    const app = await startGroup(platform, [HealthController], {
      configure: (app) => void app.setGlobalPrefix('api', { exclude: [{ path: 'health', method: RequestMethod.GET }] }),
    });
    expect(await statusAndOrigin(app, 'GET', '/health')).toEqual([200, ORIGIN]);
    expect(await statusAndOrigin(app, 'OPTIONS', '/health')).toEqual([404, undefined]);
    await app.close();
  });

  it('[1] [5] [6] follow URI versions of controllers and of single routes', async () => {
    @Controller({ path: 'pets', version: ['1', '2'] })
    class PetsController {
      @Get()
      list() {
        return [];
      }

      @Get('latest')
      @Version('3')
      latest() {
        return {};
      }

      @Get('always')
      @Version(VERSION_NEUTRAL)
      always() {
        return {};
      }
    }
    const app = await startGroup(platform, [PetsController], {
      configure: (app) => void app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI }),
    });
    for (const path of ['/api/v1/pets', '/api/v2/pets', '/api/v3/pets/latest', '/api/pets/always']) {
      expect([path, await statusAndOrigin(app, 'OPTIONS', path)]).toEqual([path, [204, ORIGIN]]);
      expect([path, await statusAndOrigin(app, 'GET', path)]).toEqual([path, [200, ORIGIN]]);
    }
    for (const path of ['/api/pets', '/api/v3/pets', '/api/v4/pets', '/api/v1/pets/latest', '/api/v1/pets/always'])
      expect([path, await statusAndOrigin(app, 'OPTIONS', path)]).toEqual([path, [404, undefined]]);
    expect(warnings(app)).toEqual([]);
    await app.close();
  });

  it('[1] [5] [6] follow the default version', async () => {
    const app = await startGroup(platform, [NotesController], {
      configure: (app) => void app.enableVersioning({ type: VersioningType.URI, defaultVersion: ['1', '2'] }),
    });
    for (const path of ['/v1/notes/7', '/v2/notes/7']) {
      expect([path, await statusAndOrigin(app, 'OPTIONS', path)]).toEqual([path, [204, ORIGIN]]);
      expect([path, await statusAndOrigin(app, 'GET', path)]).toEqual([path, [200, ORIGIN]]);
    }
    expect(await statusAndOrigin(app, 'OPTIONS', '/notes/7')).toEqual([404, undefined]);
    expect(warnings(app)).toEqual([]);
    await app.close();
  });

  it('[1] [5] [6] apply to a path with versions by header', async () => {
    @Controller({ path: 'pets', version: '1' })
    class PetsController {
      @Get()
      list() {
        return [];
      }
    }
    const app = await startGroup(platform, [PetsController], {
      configure: (app) => void app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' }),
    });
    // A browser's preflight does not carry the header of the request that it announces.
    expect(await statusAndOrigin(app, 'OPTIONS', '/pets')).toEqual([204, ORIGIN]);
    const actual = await request(app.url, 'GET', '/pets', { headers: { 'x-version': '1', origin: ORIGIN } });
    expect([actual.status, corsHeadersOf(actual)]).toEqual([200, allCorsHeaders(ORIGIN)]);
    expect(warnings(app)).toEqual([]);
    await app.close();
  });

  it('[1] a binding without a route, as under a RouterModule prefix, is one warning that names it', async () => {
    @Module({
      imports: [
        groupOf([NotesController], (consumer) => {
          consumer.apply(cors(ORIGIN)).forRoutes(...routesOf(NotesController, 'add'));
        }),
      ],
    })
    class ParentModule {}
    const app = await startApp(platform, {
      imports: [
        ParentModule,
        RouterModule.register([{ path: 'parent', module: ParentModule, children: childrenOf(ParentModule) }]),
      ],
    });
    expect((await request(app.url, 'POST', '/parent/notes/7/lines')).status).toBe(201);
    expect(await statusAndOrigin(app, 'OPTIONS', '/parent/notes/7/lines')).toEqual([404, undefined]);
    expect(warnings(app)).toHaveLength(1);
    expect(warnings(app)[0]).toMatch(/\/notes\/:id\/lines/);
    await app.close();
  });

  it('[1] whole paths under a RouterModule prefix are bound without a warning', async () => {
    const notes = groupOf([NotesController], (consumer) => {
      consumer.apply(cors(ORIGIN)).forRoutes('parent/notes', 'parent/notes/*path');
    });
    const app = await startApp(platform, {
      imports: [notes, RouterModule.register([{ path: 'parent', module: notes }])],
    });
    expect(await statusAndOrigin(app, 'OPTIONS', '/parent/notes/7/lines')).toEqual([204, ORIGIN]);
    expect(await statusAndOrigin(app, 'OPTIONS', '/parent/notes')).toEqual([204, ORIGIN]);
    expect(warnings(app)).toEqual([]);
    await app.close();
  });

  it.each<[what: string, options: Parameters<typeof startGroup>[2]]>([
    ['app.enableCors()', { configure: (app) => app.enableCors() }],
    ['the option cors of NestFactory.create', { nestOptions: { cors: true } }],
  ])('[5] warns once of %s beside cors()', async (_, options) => {
    const app = await startGroup(platform, [NotesController, HealthController], options);
    const found = (): string[] => warnings(app).filter((line) => /enableCors.*every OPTIONS/.test(line));
    // Nest's own Express adapter does not tell: there the first response of the group does.
    const isKnown = platform === 'fastify' || process.env['TEST_EXPRESS_ADAPTER'] === 'own';
    expect(found()).toHaveLength(isKnown ? 1 : 0);
    await request(app.url, 'GET', '/notes', { headers: { origin: ORIGIN } });
    await request(app.url, 'GET', '/health', { headers: { origin: ORIGIN } });
    expect(found()).toHaveLength(1);
    await app.close();
  });

  it('[1] [5] a shop with CORS on products and login has no warning', async () => {
    const shop = await startShop(platform, { origin: ORIGIN });
    expect(warnings(shop)).toEqual([]);
    expect(await statusAndOrigin(shop, 'OPTIONS', '/api/auth/login')).toEqual([204, ORIGIN]);
    await shop.close();
  });

  it('[5] works under @nestjs/testing', async () => {
    const database = await createDatabase();
    const bind = (consumer: MiddlewareConsumer): void => {
      consumer
        .apply(cors(ORIGIN))
        .forRoutes(...routesOf(GadgetsController), ...routesOf(OwnController), '/api/auth/*path');
    };
    const built = await Test.createTestingModule({ imports: [gadgetModule({ bind }, database.options)] })
      .setLogger(false as never)
      .compile();
    const app = built.createNestApplication(platform === 'express' ? new ExpressAdapter() : new FastifyAdapter());
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    for (const [path, status] of [
      ['/api/gadgets/7', 204],
      ['/api/auth/me', 204],
      ['/api/auth/nope', 404],
    ] as const) {
      const answer = await request(url, 'OPTIONS', path);
      expect([path, answer.status, corsHeadersOf(answer)]).toEqual([
        path,
        status,
        status === 204 ? allCorsHeaders(ORIGIN) : {},
      ]);
    }
    const malformed = await request(url, 'POST', '/api/gadgets', {
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect([malformed.status, corsHeadersOf(malformed)]).toEqual([400, allCorsHeaders(ORIGIN)]);
    await app.close();
    await database.drop();
  });
});

it('[5] warns of app.enableCors() at startup on the adapter of declarest/express', async () => {
  const app = await startGroup('express', [NotesController], {
    adapter: new OwnExpressAdapter(),
    configure: (nest) => nest.enableCors(),
  });
  expect(warnings(app).filter((line) => line.includes('enableCors'))).toHaveLength(1);
  await app.close();
});

it('[5] answers the preflight of a route that Express gets after the start', async () => {
  const app = await startGroup('express', [NotesController], {
    bind: (consumer) => {
      consumer.apply(cors(ORIGIN)).forRoutes('{*path}');
    },
  });
  const asked = (): Promise<unknown[]> => statusAndOrigin(app, 'OPTIONS', '/late');
  expect([await asked(), await asked()]).toEqual([
    [404, undefined],
    [404, undefined],
  ]);
  app.app.getHttpAdapter().put('/late', (_: unknown, response: { end(): void }) => response.end());
  expect(await asked()).toEqual([204, ORIGIN]);
  await app.close();
});

/** The modules below it stand under its prefix. */
function childrenOf(parent: Type): { path: string; module: Type }[] {
  const imports = (Reflect.getMetadata('imports', parent) ?? []) as Type[];
  return imports.map((module) => ({ path: '', module }));
}

/** Express strict about both, Fastify lenient about both. */
function adapterOtherwise(platform: Platform): ExpressAdapter | FastifyAdapter {
  if (platform === 'fastify')
    return new FastifyAdapter({ routerOptions: { caseSensitive: false, ignoreTrailingSlash: true } });
  return new ExpressAdapter(express().set('case sensitive routing', true).set('strict routing', true));
}

/** Express's router takes these settings when it is made, which Nest's adapter sees to, and never again. */
function adapterToldTooLate(platform: Platform): ExpressAdapter | FastifyAdapter {
  if (platform === 'fastify') return adapterOtherwise(platform);
  const adapter = new ExpressAdapter();
  adapter.getInstance().set('case sensitive routing', true);
  adapter.getInstance().set('strict routing', true);
  return adapter;
}

@Entity()
class Widget {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;
}

const OPTIONS = { entity: Widget, endpoint: '/api/widgets' };

/** As it is generated, with everything on. */
class PlainWidgets extends CrudController({
  ...OPTIONS,
  enablePagination: true,
  enableSearch: true,
  enableExists: true,
  searchableFields: ['name'],
}) {}

/** With two overridden operations, one of them not routed, and a route of its own. */
class OverriddenWidgets extends CrudController({ ...OPTIONS, enablePagination: true }) {
  @Get()
  @OverrideNote('sorted')
  override findAll(query: ListQuery) {
    return super.findAll(query);
  }

  // Without @Put(':id') it is not reachable.
  override update(id: string, body: Record<string, unknown>) {
    return super.update(id, body);
  }

  @Post(':id/polish')
  polish() {
    return {};
  }
}

/** Another place for the same operations. */
@Controller('/api/moved')
class MovedWidgets extends CrudController({ ...OPTIONS, enablePagination: true }) {}

@Controller(['first', 'second/'])
class ManyPaths {
  @Get(['a', '/b/'])
  read() {
    return {};
  }

  @Put(':id')
  write() {
    return {};
  }

  @Head('head')
  head() {}

  @All('all')
  any() {
    return {};
  }

  notARoute() {
    return {};
  }
}

class Inherited extends ManyPaths {}
Controller('inherited')(Inherited);

@Controller()
class RootController {
  @Get()
  root() {
    return {};
  }

  @Get('about')
  about() {
    return {};
  }
}

@Controller('empty')
class EmptyController {}

@Injectable()
class SomeService {
  findAll() {
    return [];
  }
}

class PlainClass {
  readonly name = 'plain';
}

const pathsOf = (controller: Type<unknown>, operation?: string): string[] =>
  (operation === undefined ? routesOf(controller) : routesOf(controller, operation))
    .map(({ path }) => path)
    .filter((path, index, all) => all.indexOf(path) === index)
    .toSorted();

describe.each(PLATFORMS)('a group of routesOf on %s', (platform) => {
  it.each<[string, Type<never>, readonly [method: string, path: string][], readonly string[]]>([
    [
      'a generated controller',
      PlainWidgets as Type<never>,
      [
        ['GET', '/api/widgets'],
        ['POST', '/api/widgets'],
        ['GET', '/api/widgets/7'],
        ['PUT', '/api/widgets/7'],
        ['DELETE', '/api/widgets/7'],
        ['GET', '/api/widgets/search?name=a'],
        ['GET', '/api/widgets/exists/7'],
      ],
      ['/api/widgets/7/polish', '/api', '/api/widget'],
    ],
    [
      'a subclass with overrides',
      OverriddenWidgets as Type<never>,
      [
        ['GET', '/api/widgets'],
        ['GET', '/api/widgets/7'],
        ['POST', '/api/widgets/7/polish'],
      ],
      ['/api/widgets/7/other', '/api/widgets/exists/7'],
    ],
    [
      'a subclass with a path of its own',
      MovedWidgets as Type<never>,
      [
        ['GET', '/api/moved'],
        ['GET', '/api/moved/7'],
      ],
      ['/api/widgets', '/api/widgets/7'],
    ],
    [
      'a controller at the root',
      RootController as Type<never>,
      [
        ['GET', '/'],
        ['GET', '/about'],
      ],
      ['/about/us', '/nowhere'],
    ],
  ])(
    '[1] [5] answers the preflight of every route, and of no other path: %s',
    async (_, controller, served, unserved) => {
      const app = await startWith(platform, controller, (consumer) => {
        consumer.apply(cors(ORIGIN)).forRoutes(...routesOf(controller));
      });
      for (const [method, path] of served) {
        const ask = await request(app.url, 'OPTIONS', path);
        expect([path, ask.status, ask.headers['access-control-allow-origin']]).toEqual([path, 204, ORIGIN]);
        const actual = await request(app.url, method, path);
        expect([method, path, actual.headers['access-control-allow-origin']]).toEqual([method, path, ORIGIN]);
      }
      for (const path of unserved) {
        const ask = await request(app.url, 'OPTIONS', path);
        expect([path, ask.status, ask.headers['access-control-allow-origin']]).toEqual([path, 404, undefined]);
      }
      expect(linesOf(app.logs, 'warn').filter((line) => line.includes('[cors]'))).toEqual([]);
      await app.close();
    },
  );

  it('[1] [5] answers for a wildcard route in the syntax of the router', async () => {
    @Controller('files')
    class FilesController {
      @Get(platform === 'express' ? '*path' : '*')
      read() {
        return {};
      }
    }
    const app = await startWith(platform, FilesController as Type<never>, (consumer) => {
      consumer.apply(cors(ORIGIN)).forRoutes(...routesOf(FilesController));
    });
    for (const path of ['/files/a', '/files/a/b.txt']) {
      const ask = await request(app.url, 'OPTIONS', path);
      expect([path, ask.status, ask.headers['access-control-allow-origin']]).toEqual([path, 204, ORIGIN]);
      const actual = await request(app.url, 'GET', path);
      expect([path, actual.status, actual.headers['access-control-allow-origin']]).toEqual([path, 200, ORIGIN]);
    }
    expect((await request(app.url, 'OPTIONS', '/filesystem')).status).toBe(404);
    expect(linesOf(app.logs, 'warn').filter((line) => line.includes('routesOf'))).toEqual([]);
    await app.close();
  });

  it('[1] [5] of one operation answers for its path only, for every method', async () => {
    const app = await startWith(platform, PlainWidgets as Type<never>, (consumer) => {
      consumer.apply(cors(ORIGIN)).forRoutes(...routesOf(PlainWidgets, 'findAll'));
    });
    const origins = async (method: string, path: string): Promise<unknown[]> => {
      const { status, headers } = await request(app.url, method, path);
      return [status, headers['access-control-allow-origin']];
    };
    expect(await origins('OPTIONS', '/api/widgets')).toEqual([204, ORIGIN]);
    expect(await origins('GET', '/api/widgets')).toEqual([200, ORIGIN]);
    expect(await origins('OPTIONS', '/api/widgets/7')).toEqual([404, undefined]);
    expect(await origins('GET', '/api/widgets/7')).toEqual([404, undefined]);
    expect(await origins('OPTIONS', '/api/widgets/search')).toEqual([404, undefined]);
    await app.close();
  });
});

/** Boots a module with this controller and this binding, and with a database where it is a generated one. */
async function startWith(
  platform: Platform,
  controller: Type<never>,
  bind: (consumer: MiddlewareConsumer) => void,
): Promise<RunningApp> {
  const database = await createDatabase();
  const isGenerated = [PlainWidgets, OverriddenWidgets, MovedWidgets].includes(controller);
  @Module({
    imports: isGenerated ? [TypeOrmModule.forRoot(database.options), CrudModule.forFeature(controller)] : [],
    controllers: isGenerated ? [] : [controller],
  })
  class BoundModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      bind(consumer);
    }
  }
  return startApp(platform, BoundModule, { onClose: database.drop });
}

describe('routesOf', () => {
  it.each<[string, Type<unknown>, string[]]>([
    [
      'a generated controller',
      PlainWidgets,
      ['/api/widgets', '/api/widgets/:id', '/api/widgets/exists/:id', '/api/widgets/search'],
    ],
    [
      'a subclass with an override and a route of its own',
      OverriddenWidgets,
      ['/api/widgets', '/api/widgets/:id', '/api/widgets/:id/polish'],
    ],
    ['a subclass with a path of its own', MovedWidgets, ['/api/moved', '/api/moved/:id']],
    [
      'path arrays of controller and method',
      ManyPaths,
      [
        '/first/:id',
        '/first/a',
        '/first/all',
        '/first/b',
        '/first/head',
        '/second/:id',
        '/second/a',
        '/second/all',
        '/second/b',
        '/second/head',
      ],
    ],
    [
      'a subclass of an ordinary controller',
      Inherited,
      ['/inherited/:id', '/inherited/a', '/inherited/all', '/inherited/b', '/inherited/head'],
    ],
    ['a controller at the root', RootController, ['/', '/about']],
  ])('[1] gives the paths of %s', (_, controller, paths) => {
    expect(pathsOf(controller)).toEqual(paths);
  });

  it.each<[Type<unknown>, string, string[]]>([
    [PlainWidgets, 'findAll', ['/api/widgets']],
    [PlainWidgets, 'findById', ['/api/widgets/:id']],
    [PlainWidgets, 'update', ['/api/widgets/:id']],
    [PlainWidgets, 'search', ['/api/widgets/search']],
    [PlainWidgets, 'exists', ['/api/widgets/exists/:id']],
    [OverriddenWidgets, 'polish', ['/api/widgets/:id/polish']],
    [MovedWidgets, 'findById', ['/api/moved/:id']],
    [ManyPaths, 'read', ['/first/a', '/first/b', '/second/a', '/second/b']],
    [Inherited, 'write', ['/inherited/:id']],
  ])('[1] gives the paths of one operation: %o, %s', (controller, operation, paths) => {
    expect(pathsOf(controller, operation)).toEqual(paths);
  });

  it.each<[string, () => unknown]>([
    ['an unknown operation', () => routesOf(PlainWidgets, 'findSome')],
    ['an operation that is not enabled', () => routesOf(OverriddenWidgets, 'search')],
    ['an operation that is overridden without a route', () => routesOf(OverriddenWidgets, 'update')],
    ['a method without a route', () => routesOf(ManyPaths, 'notARoute')],
    ['the constructor', () => routesOf(PlainWidgets, 'constructor')],
    ['a provider', () => routesOf(SomeService)],
    ['a plain class', () => routesOf(PlainClass)],
    ['undefined', () => routesOf(undefined as never)],
    ['a path', () => routesOf('/api/widgets' as never)],
    ['a controller without a route', () => routesOf(EmptyController)],
  ])('[1] refuses %s', (_, declare) => {
    let error: unknown;
    try {
      declare();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect((error as Error).message).toMatch(
      /^The (first argument|controller|operation) of routesOf.* must be .+, got .+\. .+\.$/,
    );
    expect((error as Error).message).not.toContain('\n');
  });
});
