/** Generated handlers are run past Nest's router where the application says nothing around them, and only there. */
import {
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  Catch,
  ConsoleLogger,
  Controller,
  type DynamicModule,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  HttpException,
  type INestApplication,
  Inject,
  Injectable,
  Module,
  type NestInterceptor,
  Param,
  type PipeTransform,
  Post,
  Scope,
  SetMetadata,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  VersioningType,
} from '@nestjs/common';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import {
  type AbstractHttpAdapter,
  APP_FILTER,
  APP_GUARD,
  APP_INTERCEPTOR,
  APP_PIPE,
  NestFactory,
  REQUEST,
} from '@nestjs/core';
import { GuardsConsumer } from '@nestjs/core/guards/guards-consumer.js';
import { RouterExecutionContext } from '@nestjs/core/router/router-execution-context.js';
import { RouterProxy } from '@nestjs/core/router/router-proxy.js';
import { jest } from '@jest/globals';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, CrudController, CrudModule, SecurityConfig, SecurityRulesGuard } from 'declarest';
import express from 'express';
import { of } from 'rxjs';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { AccessRefused, Refused } from '../../lib/http/refusal.js';
import { copyMetadata } from '../harness/metadata.js';
import { request } from '../harness/client.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { startShop, User } from '../harness/shop.js';
import { TEST_SECRET } from '../harness/tokens.js';
import { type CrudParts, type CrudService, startCrud } from './service.js';

@Entity()
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;
}

/** What the tests call of Fastify. */
interface Instance {
  addHook(name: string, hook: (...args: never[]) => unknown): unknown;
}
interface Reply {
  header(name: string, value: string): unknown;
}

const OPTIONS = { entity: Product, endpoint: '/api/products' } as const;

let heard: string[] = [];
beforeEach(() => (heard = []));
afterEach(() => jest.restoreAllMocks());

const hear = (what: string): true => heard.push(what) > 0 || true;

@Injectable()
class Guard implements CanActivate {
  canActivate = (): boolean => hear('guard');
}
@Injectable()
class Interceptor implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler) {
    hear('interceptor');
    return next.handle();
  }
}
@Injectable()
class Pipe implements PipeTransform {
  transform(value: unknown): unknown {
    hear('pipe');
    return value;
  }
}
@Catch(HttpException)
class Filter implements ExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost): void {
    hear('filter');
    const response = host.switchToHttp().getResponse<{ status(code: number): { send(body: object): void } }>();
    response.status(418).send({ told: exception.message });
  }
}

/** A subclass that overrides nothing. */
function subclass(...decorators: ClassDecorator[]): Type {
  class ProductsController extends CrudController(OPTIONS) {}
  for (const decorate of decorators) decorate(ProductsController);
  return ProductsController;
}

const decorateMethod = (prototype: object, name: string, decorate: MethodDecorator): void =>
  decorate(prototype, name, Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor) as void;

/** Decorates the generated method itself. */
function decorated(decorate: MethodDecorator): Type {
  const { prototype } = CrudController(OPTIONS);
  decorateMethod(prototype, 'findById', decorate);
  return prototype.constructor as Type;
}

/** What many a decorator puts in the place of a method. */
function standIn(method: (...args: unknown[]) => unknown, told: object = method): (...args: unknown[]) => unknown {
  const wrapper = function (this: unknown, ...args: unknown[]): unknown {
    return method.apply(this, args);
  };
  copyMetadata(told, wrapper);
  return wrapper;
}

function scoped(): Type {
  class ProductsController extends CrudController(OPTIONS) {
    @Inject(REQUEST)
    readonly request!: object;
  }
  return ProductsController;
}

interface Said {
  readonly parts?: () => Partial<CrudParts>;
  readonly configure?: (app: INestApplication) => unknown;
  readonly controllers?: () => Type[];
  /** In the line of the boot. */
  readonly reason: string;
  /** For `GET /api/products/1`, or of the answer to it. */
  readonly heard?: string;
  readonly status?: number;
  readonly headers?: Record<string, string>;
}

let last: ReturnType<typeof CrudController<Product>>;

const SAID: Record<string, Said> = {
  'a global guard': {
    parts: () => ({ providers: [{ provide: APP_GUARD, useClass: Guard }] }),
    reason: 'globalGuards',
    heard: 'guard',
  },
  'a guard of main.ts': {
    configure: (app) => app.useGlobalGuards(new Guard()),
    reason: 'globalGuards',
    heard: 'guard',
  },
  'a global guard of a request': {
    parts: () => ({ providers: [{ provide: APP_GUARD, useClass: Guard, scope: Scope.REQUEST }] }),
    reason: 'globalRequestGuards',
    heard: 'guard',
  },
  'a global interceptor': {
    parts: () => ({ providers: [{ provide: APP_INTERCEPTOR, useClass: Interceptor }] }),
    reason: 'globalInterceptors',
    heard: 'interceptor',
  },
  'a global pipe': {
    parts: () => ({ providers: [{ provide: APP_PIPE, useClass: Pipe }] }),
    reason: 'globalPipes',
    heard: 'pipe',
  },
  'a pipe of main.ts': { configure: (app) => app.useGlobalPipes(new Pipe()), reason: 'globalPipes', heard: 'pipe' },
  'a guard of the class': {
    controllers: () => [subclass(UseGuards(Guard))],
    reason: '__guards__',
    heard: 'guard',
  },
  'an interceptor of the class': {
    controllers: () => [subclass(UseInterceptors(Interceptor))],
    reason: '__interceptors__',
    heard: 'interceptor',
  },
  'a pipe of the class': {
    controllers: () => [subclass(UsePipes(Pipe))],
    reason: '__pipes__',
    heard: 'pipe',
  },
  'a filter of the class': {
    controllers: () => [subclass(UseFilters(Filter))],
    reason: '__exceptionFilters__',
  },
  'what nobody knows of the class': {
    controllers: () => [subclass(SetMetadata('audited', true))],
    reason: 'audited',
  },
  'a host': {
    controllers: () => [subclass(Controller({ path: OPTIONS.endpoint, host: 'shop.example' }))],
    reason: 'host',
    status: 404,
  },
  'a pipe of a parameter': {
    controllers: () => {
      const controller = subclass();
      Param('id', Pipe)(controller.prototype as object, 'findById', 0);
      return [controller];
    },
    reason: 'parameters',
    heard: 'pipe',
  },
  'a scope': { controllers: () => [scoped()], reason: 'scope' },
  'a guard of the method': {
    controllers: () => [decorated(UseGuards(Guard))],
    reason: '__guards__',
    heard: 'guard',
  },
  'a status of the method': {
    controllers: () => [decorated(HttpCode(203))],
    reason: '__httpCode__',
    status: 203,
  },
  'a header of the method': {
    controllers: () => [decorated(Header('x-of', 'the method'))],
    reason: '__headers__',
    headers: { 'x-of': 'the method' },
  },
  'versions in a header': {
    configure: (app) => app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' }),
    reason: 'versioningOptions',
  },
  'a listener to routes': {
    configure: (app) => (app.getHttpAdapter() as AbstractHttpAdapter).setOnRouteTriggered(() => hear('route')),
    reason: 'onRouteTriggered',
    heard: 'route',
  },
  'another controller of the same methods': {
    controllers: () => {
      const Generated = CrudController(OPTIONS);
      class Others extends Generated {}
      Controller('/api/others')(Others);
      return [Generated, Others];
    },
    reason: 'another method, or one of several controllers',
  },
  'a function that stands in for one of its methods': {
    controllers: () => [(last = CrudController(OPTIONS))],
    configure: () => {
      const { findById } = last.prototype;
      last.prototype.findById = standIn(function (this: unknown, ...args) {
        hear('stand-in');
        return (findById as (...sent: unknown[]) => unknown).apply(this, args);
      }, findById) as never;
    },
    reason: 'another method, or one of several controllers',
    heard: 'stand-in',
  },
  'another controller of the same methods, for one of which a function stands in here': {
    controllers: () => {
      const Generated = CrudController(OPTIONS);
      class Others extends Generated {}
      Controller('/api/others')(Others);
      class ProductsController extends Generated {}
      UseInterceptors(Interceptor)(ProductsController);
      return [(last = ProductsController), Others];
    },
    // When the package has said of the methods what they are.
    configure: () => {
      const { prototype } = last;
      const value = standIn(prototype.findById as never);
      Object.defineProperty(prototype, 'findById', { value, writable: true, configurable: true });
    },
    reason: 'another method, or one of several controllers',
    heard: 'interceptor',
  },
};

interface Replaced {
  readonly controller: () => Type;
  readonly path: string;
  readonly status: number;
  readonly json?: object;
}

/** In the place of generated handlers, or said of them anew, where only Nest can tell what it comes to. */
const REPLACED: Record<string, Replaced> = {
  'a function around one that tells the same metadata': {
    controller: () =>
      decorated((prototype, name, descriptor: PropertyDescriptor) => {
        const wrapper = (): unknown => of({ from: 'the wrapper' });
        copyMetadata(descriptor.value as object, wrapper);
        Object.defineProperty(prototype, name, { ...descriptor, value: wrapper });
      }),
    path: '/api/products/7',
    status: 200,
    json: { from: 'the wrapper' },
  },
  'a method of the object itself': {
    controller: () =>
      class ProductsController extends CrudController(OPTIONS) {
        constructor() {
          super();
          this.findById = () => of({ from: 'the object' }) as never;
        }
      },
    path: '/api/products/7',
    status: 200,
    json: { from: 'the object' },
  },
  'an override': {
    controller: () => {
      class ProductsController extends CrudController(OPTIONS) {
        override findById() {
          return of({ from: 'the override' }) as never;
        }
      }
      decorateMethod(ProductsController.prototype, 'findById', Get(':id'));
      return ProductsController;
    },
    path: '/api/products/7',
    status: 200,
    json: { from: 'the override' },
  },
  'a name with a dot in it': {
    controller: () => {
      class ProductsController extends CrudController(OPTIONS) {
        'findAll.names'(): object {
          return { only: 'names' };
        }
      }
      decorateMethod(ProductsController.prototype, 'findAll.names', Get('names'));
      return ProductsController;
    },
    path: '/api/products/names',
    status: 200,
    json: { only: 'names' },
  },
  'another verb': {
    controller: () => {
      const { prototype } = CrudController(OPTIONS);
      decorateMethod(prototype, 'update', Post(':id'));
      return prototype.constructor as Type;
    },
    path: '/api/products/1',
    status: 201,
  },
  'another parameter': {
    controller: () => {
      const { prototype } = CrudController(OPTIONS);
      decorateMethod(prototype, 'findById', Get('by/:nr'));
      Param('nr')(prototype, 'findById', 0);
      return prototype.constructor as Type;
    },
    path: '/api/products/by/1',
    status: 200,
  },
};

describe.each(PLATFORMS)('generated handlers on %s', (platform) => {
  let service: CrudService | undefined;
  afterEach(async () => {
    await service?.close();
    service = undefined;
  });

  const started = async (parts: CrudParts, configure?: Said['configure']): Promise<CrudService> => {
    service = await startCrud(platform, {
      entities: [Product],
      path: 'compiled',
      ...parts,
      ...(configure && { configure: (app) => void configure(app) }),
    });
    await service.dataSource.query(`INSERT INTO "product" ("name") VALUES ('Lamp')`);
    return service;
  };
  const ofNest = (): string[] => linesOf(service?.logs ?? [], 'debug').filter((line) => /Nest's router/.test(line));

  it('are run past the router where nothing is said: by none of its consumers, and answer as they do through it', async () => {
    const consumer = jest.spyOn(GuardsConsumer.prototype, 'tryActivate');
    const { get, post, put, del } = await started({ resources: [OPTIONS] });
    expect(ofNest()).toEqual([]);
    const answers = [await get('/api/products/1'), await get('/api/products/7'), await get('/api/products/x')];
    answers.push(await post('/api/products', { name: 'Desk' }), await put('/api/products/2', {}));
    answers.push(await del('/api/products/2'), await get('/api/products'), await get('/api/products?page=2'));
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 201, 400, 200, 200, 400]);
    expect(answers[3]?.headers['location']).toBe('/api/products/2');
    expect(consumer).not.toHaveBeenCalled();
  });

  it('of a subclass are run past it, too, but for what is overridden', async () => {
    class ProductsController extends CrudController(OPTIONS) {
      override async findAll() {
        return super.findAll({});
      }
    }
    await started({ resources: [ProductsController] });
    expect(ofNest()).toEqual([]);
    const consumer = jest.spyOn(GuardsConsumer.prototype, 'tryActivate');
    expect((await service!.get('/api/products/1')).status).toBe(200);
    expect(consumer).not.toHaveBeenCalled();
  });

  it.each(Object.entries(SAID))('go through it where there is %s', async (_, said) => {
    const { parts, configure, controllers, reason, status = 200, headers = {} } = said;
    const given = controllers?.() ?? [OPTIONS];
    const { get } = await started({ resources: given as CrudParts['resources'] & object, ...parts?.() }, configure);
    expect(ofNest()).toEqual(expect.arrayContaining([expect.stringMatching(`\\.findById .*: ${reason}$`)]));
    const answer = await get('/api/products/1');
    expect(answer.status).toBe(status);
    expect(answer.headers).toEqual(expect.objectContaining(headers));
    if (said.heard) expect(heard).toEqual([said.heard]);
  });

  describe('that nothing has asked for before the first request', () => {
    /** What is told of them at debug level needs each decision at boot. */
    const logger = new ConsoleLogger({ logLevels: ['fatal'] });

    it('are run past the router', async () => {
      const consumer = jest.spyOn(GuardsConsumer.prototype, 'tryActivate');
      const { get } = await started({ resources: [OPTIONS], logger });
      expect([(await get('/api/products/1')).status, (await get('/api/products/7')).status]).toEqual([200, 404]);
      expect(consumer).not.toHaveBeenCalled();
    });

    it.each(Object.entries(SAID))('go through it where there is %s', async (_, said) => {
      const { parts, configure, controllers, status = 200, headers = {} } = said;
      const given = controllers?.() ?? [OPTIONS];
      const { get } = await started({ resources: given as never, logger, ...parts?.() }, configure);
      for (const answer of [await get('/api/products/1'), await get('/api/products/1')]) {
        expect(answer.status).toBe(status);
        expect(answer.headers).toEqual(expect.objectContaining(headers));
      }
      if (said.heard) expect(heard).toEqual([said.heard, said.heard]);
    });

    it('are known by their own names, and not by what was copied to the method of another controller', async () => {
      const Products = CrudController(OPTIONS);
      class Plain {
        findOne(): unknown {
          return of({ own: true });
        }
      }
      decorateMethod(Plain.prototype, 'findOne', Get('one'));
      UseGuards(Guard)(Plain);
      Controller('/plain')(Plain);
      const copied = (): void => copyMetadata(Products.prototype.findById, Plain.prototype.findOne);
      const { get } = await started({ resources: [Products], controllers: [Plain], logger }, copied);
      expect((await get('/plain/1')).json).toEqual({ own: true });
      expect(heard).toEqual(['guard']);
    });

    it('are found beside controllers that have something else under the name of a method', async () => {
      class Plain {
        readonly findById = 'no method';
      }
      Controller('/plain')(Plain);
      const Products = CrudController(OPTIONS);
      class Guarded extends Products {}
      Controller('/api/guarded')(Guarded);
      UseGuards(Guard)(Guarded);
      const { get } = await started({ resources: [Products, Guarded], controllers: [Plain], logger });
      for (const path of ['/api/products/1', '/api/guarded/1']) expect((await get(path)).status).toBe(200);
      expect(heard).toEqual(['guard']);
    });

    it('have the version that Nest has given them', async () => {
      const versioned = (app: INestApplication): void =>
        void app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version', defaultVersion: '2' });
      const { send } = await started({ resources: [OPTIONS], logger }, versioned);
      const statusOf = async (version: string): Promise<number> =>
        (await send('GET', '/api/products/1', { headers: { 'x-version': version } })).status;
      expect([await statusOf('2'), await statusOf('1')]).toEqual([200, 404]);
    });

    it('tell of themselves what Nest says of them', async () => {
      const adapter = platform === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
      const router = platform === 'fastify' ? adapter : adapter.getInstance<FastifyAdapter>();
      const get = jest.spyOn(router as FastifyAdapter, 'get');
      await started({ resources: [OPTIONS], logger, adapter });
      const registered = (get.mock.calls as unknown[][]).find(([path]) => path === '/api/products/:id')?.[1] as Type;
      const nests = Object.getPrototypeOf(registered) as Type;
      expect(nests).not.toBe(Function.prototype);
      expect([registered.name, Reflect.getMetadata('path', registered)]).toEqual([nests.name, ':id']);
    });
  });

  it.each(Object.entries(REPLACED))('are not run where there is %s', async (_, { controller, path, status, json }) => {
    const { send } = await started({ resources: [controller()] as never });
    const answer = await send(path === '/api/products/1' ? 'POST' : 'GET', path, { json: { name: 'Sofa' } });
    expect(answer.status).toBe(status);
    if (json) expect(answer.json).toEqual(json);
  });

  it.each<[string, () => Partial<CrudParts>]>([
    [
      'documentation is made of what is said',
      () => ({ resources: [subclass(SetMetadata('swagger/apiUseTags', ['shop'])) as never] }),
    ],
    [
      'Nest sorts the routes, and names no handler',
      () => ({ nestOptions: { routeResolutionStrategy: 'specificity' } }),
    ],
  ])('are run past it where %s', async (_, parts) => {
    const consumer = jest.spyOn(GuardsConsumer.prototype, 'tryActivate');
    const { get } = await started({ resources: [OPTIONS], ...parts() });
    expect(ofNest()).toEqual([]);
    expect((await get('/api/products/1')).status).toBe(200);
    expect(consumer).not.toHaveBeenCalled();
  });

  it('go through it where a tool has put itself before what catches their failures', async () => {
    const { createProxy } = RouterProxy.prototype;
    jest.spyOn(RouterProxy.prototype, 'createProxy').mockImplementation(function traced(this: RouterProxy, ...args) {
      return createProxy.apply(this, args);
    });
    await started({ resources: [OPTIONS] });
    expect(ofNest()).toEqual(expect.arrayContaining([expect.stringMatching('findById .*: instrumentation$')]));
  });

  it('go through it where a tool has put itself before it', async () => {
    const { create } = RouterExecutionContext.prototype;
    jest.spyOn(RouterExecutionContext.prototype, 'create').mockImplementation(function traced(this: never, ...args) {
      return create.apply(this, args as never);
    });
    const { get } = await started({ resources: [OPTIONS] });
    expect(ofNest()).toEqual(expect.arrayContaining([expect.stringMatching('findById .*: instrumentation$')]));
    expect((await get('/api/products/1')).status).toBe(200);
  });

  it('are run past it although there are global filters, which never hear of them', async () => {
    const { get } = await started({ resources: [OPTIONS], providers: [{ provide: APP_FILTER, useClass: Filter }] });
    expect(ofNest()).toEqual([]);
    expect((await get('/api/products/7')).status).toBe(404);
    expect(heard).toEqual([]);
  });

  it.each(['past', 'through'])(
    'fail %s it where not even a failure can be told, and the next one is answered',
    async (way) => {
      const { get, app } = await started({ resources: [OPTIONS], path: way === 'past' ? 'compiled' : 'repository' });
      expect(ofNest().length > 0).toBe(way === 'through');
      const adapter = app.getHttpAdapter();
      const reply = jest.spyOn(adapter, 'reply').mockImplementation(() => {
        throw new Error('a secret');
      });
      expect((await get('/api/products/1')).status).toBe(500);
      reply.mockRestore();
      expect((await get('/api/products/1')).status).toBe(200);
    },
  );

  if (platform === 'fastify')
    it('leave their answer to a hook for as long as it likes', async () => {
      const { get, del } = await started({
        resources: [OPTIONS],
        configure: (app) => {
          const slow = async (_: unknown, reply: Reply, body: string): Promise<string> => {
            hear(typeof body);
            await setTimeout(10);
            reply.header('X-Hook', 'slow');
            return body.replace('Product', 'Slow');
          };
          (app.getHttpAdapter().getInstance() as Instance).addHook('onSend', slow);
        },
      });
      const answers = [await get('/api/products/1'), await get('/api/products/7'), await del('/api/products/1')];
      expect(answers.map(({ status, json, headers }) => [status, json.message, headers['x-hook']])).toEqual([
        [200, 'Slow found', 'slow'],
        [404, 'Slow with id 7 not found', 'slow'],
        [200, 'Slow deleted', 'slow'],
      ]);
      expect(heard).toEqual(['string', 'string', 'string']);
    });

  it('answer a failure of what sends their answer, and nothing is left unheard', async () => {
    const { get, app } = await started({
      resources: [OPTIONS],
      configure: (each) => {
        if (platform === 'fastify')
          each
            .getHttpAdapter()
            .getInstance()
            .addHook('preSerialization', async () => setTimeout(5).then(() => Promise.reject(new Error('a secret'))));
        else
          each.use((_: object, response: { json: object }, next: () => void) => {
            response.json = async (): Promise<void> => {
              delete (response as { json?: object }).json;
              await setTimeout(5);
              throw new Error('a secret');
            };
            next();
          });
      },
    });
    const answer = await get('/api/products/1');
    expect([answer.status, answer.text.includes('a secret')]).toEqual([500, platform === 'fastify']);
    await app.close();
  });

  it('answer when those have come to an end who have called `next`', async () => {
    const configure = (app: INestApplication): void => {
      app.use((_: unknown, response: ServerResponse, next: () => void) => {
        next();
        response.setHeader('X-Middleware', 'late');
      });
      if (platform !== 'fastify') return;
      const hook = (_: unknown, reply: Reply, done: () => void): void => {
        done();
        reply.header('X-Hook', 'late');
      };
      for (const place of ['onRequest', 'preHandler'])
        (app.getHttpAdapter().getInstance() as Instance).addHook(place, hook);
    };
    const { get, post, del, logs } = await started({ resources: [OPTIONS], configure });
    const late = { 'x-middleware': 'late', ...(platform === 'fastify' && { 'x-hook': 'late' }) };
    for (const path of ['/api/products', '/api/products/7', '/api/products/x'])
      expect((await get(path)).headers).toMatchObject(late);
    expect((await post('/api/products', { name: 'Desk' })).headers).toMatchObject(late);
    expect((await del('/api/products/1')).headers).toMatchObject(late);
    expect(linesOf(logs, 'error')).toEqual([]);
  });

  describe('behind the rules', () => {
    class Security extends SecurityConfig {
      configure(): void {
        this.requireAuth('/api/**');
        this.requireRole('ADMIN', 'DELETE /api/products/*');
        const later = (): Promise<boolean> => setTimeout(5, false);
        this.requirePolicy('open', later, 'PUT /api/products/*');
      }
    }

    it('refuse, and let in, without the router', async () => {
      const consumer = jest.spyOn(GuardsConsumer.prototype, 'tryActivate');
      const shop = await startShop(platform, { rules: false, providers: [Security], overridden: false });
      try {
        const token = await shop.register();
        consumer.mockClear();
        const send = (method: string, bearer?: string) =>
          request(shop.url, method, '/api/products/1', bearer === undefined ? {} : { token: bearer });
        const anonymous = await send('GET');
        expect([anonymous.status, anonymous.text]).toEqual([401, '{"error":"Authentication required"}']);
        expect(anonymous.headers['www-authenticate']).toBe('Bearer');
        expect((await send('GET', token)).status).toBe(404);
        expect((await send('DELETE', token)).json).toEqual({ error: 'Admin access required' });
        expect((await send('PUT', token)).json).toEqual({ error: 'Open access required' });
        expect(consumer).not.toHaveBeenCalled();
      } finally {
        await shop.close();
      }
    });

    it('refuse with an object for whoever looks at what is sent', async () => {
      const seen: unknown[] = [];
      const note = <T>(body: T): T => (seen.push(body), body);
      const configure = (app: INestApplication): void => {
        if (platform === 'express')
          app.use((_: unknown, response: { json(body: unknown): unknown }, next: () => void) => {
            const json = response.json.bind(response);
            response.json = (body) => json(note(body));
            next();
          });
        else {
          const hook = async (_request: unknown, _reply: unknown, body: object): Promise<object> => note(body);
          (app.getHttpAdapter().getInstance() as { addHook(name: string, hook: object): void }).addHook(
            'preSerialization',
            hook,
          );
        }
      };
      const shop = await startShop(platform, { rules: false, providers: [Security], overridden: false, configure });
      try {
        const { status, json } = await request(shop.url, 'GET', '/api/products/1');
        expect([status, json]).toEqual([401, { error: 'Authentication required' }]);
        expect(seen).toEqual([{ error: 'Authentication required' }]);
      } finally {
        await shop.close();
      }
    });

    it('ask whoever stands in the place of the guard, also where a test has put it there afterwards', async () => {
      const shop = await startShop(platform, { rules: false, providers: [Security], overridden: false });
      try {
        const guard = shop.app.get(SecurityRulesGuard, { strict: false });
        jest.spyOn(guard, 'canActivate').mockReturnValue(true);
        expect((await request(shop.url, 'GET', '/api/products/1')).status).toBe(404);
        jest.restoreAllMocks();
        const refused = Refused.by(() => new AccessRefused(['GUEST']));
        for (const says of [refused, Promise.resolve(refused)]) {
          const refusal = jest.spyOn(guard, 'refusal').mockReturnValue(says);
          const { status, json } = await request(shop.url, 'GET', '/api/products/1');
          expect([status, json]).toEqual([403, { error: 'Guest access required' }]);
          refusal.mockRestore();
        }
        expect((await request(shop.url, 'GET', '/api/products/1')).status).toBe(401);
      } finally {
        await shop.close();
      }
    });
  });
});

describe('two applications on one Express', () => {
  @Injectable()
  class Closed extends SecurityConfig {
    configure(): void {
      this.requireAuth('/**');
    }
  }
  class ProductsController extends CrudController(OPTIONS) {}
  const moduleOf = (...[security]: DynamicModule[]): Type => {
    @Module({
      imports: [
        TypeOrmModule.forRoot({
          type: 'better-sqlite3',
          database: ':memory:',
          entities: [Product, User],
          synchronize: true,
        }),
        CrudModule.forFeature(ProductsController),
        ...(security ? [security] : []),
      ],
      providers: security ? [Closed] : [],
    })
    class Root {}
    return Root;
  };

  it.each<[string, () => [ExpressAdapter, ExpressAdapter]]>([
    [
      'adapter',
      () => {
        const adapter = new ExpressAdapter();
        return [adapter, adapter];
      },
    ],
    [
      'instance of it',
      () => {
        const instance = express();
        return [new ExpressAdapter(instance), new ExpressAdapter(instance)];
      },
    ],
  ])('of one %s keep their own rules and their own data', async (_, adaptersOf) => {
    const [first, second] = adaptersOf();
    const auth = AuthModule.forRoot({ userClass: User, jwtSecret: TEST_SECRET });
    const quiet = { logger: false, abortOnError: false } as const;
    const closed = await NestFactory.create(moduleOf(auth), first, quiet);
    const open = await NestFactory.create(moduleOf(), second, quiet);
    const server = createServer(first.getInstance() as RequestListener);
    try {
      await closed.setGlobalPrefix('closed').init();
      await open.setGlobalPrefix('open').init();
      await open.get(DataSource).query(`INSERT INTO "product" ("name") VALUES ('open')`);
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      expect((await request(url, 'GET', '/closed/api/products/1')).status).toBe(401);
      expect((await request(url, 'GET', '/open/api/products/1')).json.data).toEqual({ id: 1, name: 'open' });
    } finally {
      server.close();
      await Promise.all([closed.close(), open.close()]);
    }
  });
});
