import { All, Controller, Get, Head, Injectable, Post, Put } from '@nestjs/common';
import { Module, type MiddlewareConsumer, type NestModule, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  cors,
  CrudController,
  CrudModule,
  CrudOverride,
  InvalidOptionError,
  type ListQuery,
  routesOf,
} from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { takeReturnedPaths } from '../../lib/cors/routes-of.js';
import { request } from '../harness/client.js';
import { createDatabase } from '../harness/databases.js';
import { linesOf, PLATFORMS, type Platform, type RunningApp, startApp } from '../harness/platforms.js';
import { ORIGIN } from './gadget-app.js';

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
  @CrudOverride('sorted')
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
  ])('[1] gives the paths of one operation: %p, %s', (controller, operation, paths) => {
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

describe.each(PLATFORMS)('a group of routesOf on %s', (platform) => {
  // The tests above called routesOf outside of an application.
  beforeAll(() => void takeReturnedPaths());

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
