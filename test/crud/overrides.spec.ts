import {
  Body,
  type CanActivate,
  Controller,
  Delete,
  type ExecutionContext,
  ForbiddenException,
  Get,
  HttpCode,
  Inject,
  Injectable,
  type INestApplication,
  Param,
  Post,
  Put,
  Query,
  Req,
  Scope,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { CrudController, CrudModule, OverrideNote, type Envelope, type JsonObject, type ListQuery } from 'declarest';
import { Column, CreateDateColumn, Entity, PrimaryGeneratedColumn, type Repository } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM, PLATFORMS, type Platform } from '../harness/platforms.js';
import { type CrudParts, failure, naming, startCrud, success, wrongFields } from './service.js';

@Entity()
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @Column({ default: 0 })
  stock!: number;
}

const base = { entity: Product, endpoint: '/api/products' } as const;
const everything = { ...base, enableSearch: true, enableExists: true, searchableFields: ['name'] } as const;

class InStock extends CrudController({ ...base, enablePagination: true }) {
  @Get()
  @OverrideNote('Only what is in stock')
  override async findAll(query: ListQuery) {
    const page: Envelope<Product[]> = await super.findAll(query);
    return { ...page, data: page.data.filter(({ stock }) => stock > 0) };
  }
}

/** Every operation overridden, and nothing decorated but the routes. */
class Everything extends CrudController(everything) {
  @Get()
  override async findAll(query: ListQuery) {
    return { ...(await super.findAll(query)), message: 'own findAll' };
  }
  @Get(':id')
  override async findById(id: string) {
    return { ...(await super.findById(id)), message: `own findById ${id}` };
  }
  @Post()
  override async create(body: JsonObject) {
    return super.create({ ...body, name: `${String(body['name'])}!` });
  }
  @Put(':id')
  override async update(id: string, body: JsonObject) {
    return { ...(await super.update(id, body)), message: `own update ${id}` };
  }
  @Delete(':id')
  override async delete(id: string) {
    return { ...(await super.delete(id)), message: `own delete ${id}` };
  }
}

const started = (platform: 'express' | 'fastify', controller: Type, more: CrudParts = {}) =>
  startCrud(platform, { resources: [controller as never], isDescribed: false, ...more });

describe.each(DATABASES)('on %s', (database) => {
  describe.each(ONE_PLATFORM)('and %s', (platform) => {
    it('[4.7] super.findAll keeps validation, paging and envelope, and the others stay generated', async () => {
      const service = await started(platform, InStock, { database });
      await service.post('/api/products', { name: 'none', stock: 0 });
      await service.post('/api/products', { name: 'some', stock: 5 });
      const list = await service.get('/api/products?size=10');
      const pagination = { page: 1, size: 10, total: 2, totalPages: 1 };
      expect([list.status, list.json]).toEqual([
        200,
        success(naming('Product'), [{ id: 2, name: 'some', stock: 5 }], { pagination }),
      ]);
      expect(wrongFields(await service.get('/api/products?page=0&x=1'))).toEqual(['page', 'x']);
      expect((await service.get('/api/products/1')).json.data.name).toBe('none');
      expect((await service.put('/api/products/1', { name: 'now', stock: 1 })).json.data.name).toBe('now');
      expect((await service.del('/api/products/1')).json.data).toBeNull();
      expect(wrongFields(await service.post('/api/products', {}))).toEqual(['name']);
      await service.close();
    });

    it('[4.7] any of the five may be overridden, and undecorated parameters are those of the base', async () => {
      const service = await started(platform, Everything, { database });
      const created = await service.post('/api/products', { name: 'a' });
      expect([created.status, created.json]).toEqual([
        201,
        success('Product created', { id: 1, name: 'a!', stock: 0 }),
      ]);
      expect(created.headers['location']).toBe('/api/products/1');
      expect((await service.get('/api/products')).json.message).toBe('own findAll');
      expect((await service.get('/api/products/1')).json.message).toBe('own findById 1');
      expect((await service.get('/api/products/7')).json).toEqual(failure('Product with id 7 not found'));
      expect(wrongFields(await service.get('/api/products/abc'))).toEqual(['id']);
      expect((await service.put('/api/products/1', { name: 'b' })).json.message).toBe('own update 1');
      expect(wrongFields(await service.put('/api/products/1', {}))).toEqual(['name']);
      expect(
        (await service.send('POST', '/api/products', { body: 'x', headers: { 'content-type': 'text/plain' } })).status,
      ).toBe(415);
      expect((await service.del('/api/products/1')).json).toEqual(success('own delete 1', null));
      expect((await service.get('/api/products/search?name=a')).json.data).toEqual([]);
      expect((await service.get('/api/products/exists/1')).json.data).toEqual({ exists: false });
      await service.close();
    });
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  it('[4.7] the generated methods take what an override hands them, also when there is nothing', async () => {
    class Calls extends CrudController({ ...base, enablePagination: true }) {
      @Get()
      override async findAll() {
        return super.findAll({ size: '1' });
      }
      @Get('all')
      async all() {
        return super.findAll({});
      }
    }
    const service = await started(platform, Calls);
    // A further route of one level stands behind {id} only when it is declared after it; here it is the subclass's own.
    await service.post('/api/products', { name: 'a' });
    await service.post('/api/products', { name: 'b' });
    expect((await service.get('/api/products?page=9')).json.data).toHaveLength(1);
    expect((await service.get('/api/products/all')).json.data).toHaveLength(2);
    await service.close();
  });

  it('[4.7] parameter decorators of the subclass win', async () => {
    class Own extends CrudController(base) {
      @Get()
      override async findAll(@Query('only') only: never) {
        return { only } as never;
      }
      @Get(':id')
      override async findById(@Req() request: never) {
        return { method: (request as { method: string }).method } as never;
      }
      @Post()
      override async create(@Body('name') name: never) {
        return { name } as never;
      }
      @Put(':key')
      override async update(@Param('key') key: string, @Body() body: JsonObject) {
        return { key, body } as never;
      }
    }
    const service = await started(platform, Own);
    expect((await service.get('/api/products?only=x')).json).toEqual({ only: 'x' });
    expect((await service.get('/api/products/1')).json).toEqual({ method: 'GET' });
    expect((await service.post('/api/products', { name: 'n', colour: 1 })).json).toEqual({ name: 'n' });
    expect((await service.put('/api/products/k', { any: true })).json).toEqual({ key: 'k', body: { any: true } });
    await service.close();
  });

  it('[4.7] what an override returns is sent as it is', async () => {
    class Raw extends CrudController(base) {
      @Get()
      override async findAll() {
        return [{ nothing: 'wrapped' }] as never;
      }
      @Post()
      @HttpCode(202)
      override async create() {
        return { queued: true } as never;
      }
      @Delete(':id')
      override delete(id: string) {
        if (id === '9') throw new ForbiddenException('not this one');
        return Promise.resolve({ kept: id } as never);
      }
    }
    const service = await started(platform, Raw);
    expect((await service.get('/api/products')).json).toEqual([{ nothing: 'wrapped' }]);
    const created = await service.post('/api/products', {});
    expect([created.status, created.json, created.headers['location']]).toEqual([202, { queued: true }, undefined]);
    expect((await service.del('/api/products/1')).json).toEqual({ kept: '1' });
    const refused = await service.del('/api/products/9');
    expect([refused.status, refused.json]).toEqual([403, failure('not this one')]);
    await service.close();
  });

  it('[4.7] a further route of the subclass works beside the generated ones', async () => {
    class More extends CrudController(base) {
      @Get('stats/all')
      stats() {
        return { own: true };
      }
      @Post(':id/sell')
      async sell(@Param('id') id: string) {
        return super.findById(id);
      }
    }
    const service = await started(platform, More);
    await service.post('/api/products', { name: 'a' });
    expect((await service.get('/api/products/stats/all')).json).toEqual({ own: true });
    expect((await service.post('/api/products/1/sell', {})).json.data.name).toBe('a');
    expect((await service.post('/api/products/7/sell', {})).json).toEqual(failure('Product with id 7 not found'));
    await service.close();
  });

  const METHODS = [
    ['findAll', 'GET', '/api/products'],
    ['update', 'PUT', '/api/products/1'],
  ] as const;

  const undecorated = (operation: string): Type => {
    class ForgetfulController extends CrudController(base) {}
    Object.defineProperty(ForgetfulController.prototype, operation, {
      value: () => ({ own: true }),
      writable: true,
      configurable: true,
    });
    return ForgetfulController;
  };

  it.each(METHODS)(
    '[4.7] an overridden %s without its route decorator is not reachable: 404',
    async (operation, method, path) => {
      const service = await started(platform, undecorated(operation));
      await service.dataSource.getRepository(Product).save({ name: 'a' });
      const answer = await service.send(method, path, method === 'PUT' ? { json: { name: 'b' } } : {});
      expect(answer.status).toBe(404);
      expect(await service.dataSource.getRepository(Product).findBy({})).toEqual([{ id: 1, name: 'a', stock: 0 }]);
      await service.close();
    },
  );

  describe('in the `controllers` of a module', () => {
    @Injectable()
    class Prices {
      of(name: string): string {
        return `${name} costs 5`;
      }
    }

    class Priced extends CrudController(everything) {
      constructor(
        private readonly prices: Prices,
        @InjectRepository(Product) private readonly products: Repository<Product>,
      ) {
        super();
      }
      @Get(':id')
      override async findById(id: string) {
        const found = await super.findById(id);
        return { ...found, message: `${this.prices.of(found.data.name)} of ${await this.products.count()}` };
      }
    }

    const module: CrudParts = {
      entities: [Product],
      imports: [TypeOrmModule.forFeature([Product])],
      controllers: [Priced],
      providers: [Prices],
    };

    it("[4.7] [1] a subclass injects that module's providers, and every operation works without CrudModule", async () => {
      const service = await startCrud(platform, module);
      const created = await service.post('/api/products', { name: 'Pen' });
      expect([created.status, created.headers['location']]).toEqual([201, '/api/products/1']);
      expect((await service.get('/api/products/1')).json).toEqual(
        success('Pen costs 5 of 1', { id: 1, name: 'Pen', stock: 0 }),
      );
      expect((await service.get('/api/products')).json.data).toHaveLength(1);
      expect((await service.get('/api/products/search?name=PEN')).json.data).toHaveLength(1);
      expect((await service.get('/api/products/exists/1')).json.data).toEqual({ exists: true });
      expect((await service.put('/api/products/1', { name: 'Ink' })).json.data.name).toBe('Ink');
      expect((await service.get('/api/products/7')).json).toEqual(failure('Product with id 7 not found'));
      expect(wrongFields(await service.post('/api/products', {}))).toEqual(['name']);
      const broken = await service.send('POST', '/api/products', {
        body: '{',
        headers: { 'content-type': 'application/json' },
      });
      expect([broken.status, broken.json]).toEqual([400, failure(expect.any(String))]);
      expect((await service.del('/api/products/1')).json).toEqual(success(naming('Product'), null));
      await service.close();
    });

    it('[4.1] an override of create that copies the answer answers with the Location too', async () => {
      class Copying extends CrudController(base) {
        @Post()
        override async create(@Body() body: JsonObject): Promise<Envelope<Product>> {
          return { ...(await super.create(body)) };
        }
      }
      const service = await startCrud(platform, { entities: [Product], controllers: [Copying] });
      const created = await service.post('/api/products', { name: 'a' });
      expect([created.status, created.json, created.headers['location']]).toEqual([
        201,
        success('Product created', { id: 1, name: 'a', stock: 0 }),
        '/api/products/1',
      ]);
      await service.close();
    });

    it.each([
      ['nothing', undefined, '/api/products'],
      ['a version', { version: '2' }, '/v2/api/products'],
    ])('[4.7] a @Controller of the subclass that tells %s leaves it at its endpoint', async (_, told, path) => {
      @(told ? Controller(told) : Controller())
      class Decorated extends CrudController(base) {}
      const service = await startCrud(platform, {
        entities: [Product],
        controllers: [Decorated],
        configure: (app: INestApplication) => void app.enableVersioning(),
      });
      const created = await service.post(path, { name: 'a' });
      expect([created.status, created.headers['location']]).toEqual([201, `${path}/1`]);
      for (const elsewhere of ['/', '/1']) expect((await service.get(elsewhere)).status).toBe(404);
      await service.close();
    });

    it('[4.7] a controller path of the subclass is its endpoint', async () => {
      @Controller('/api/moved')
      class Moved extends CrudController(base) {}
      const service = await startCrud(platform, { entities: [Product], controllers: [Moved] });
      expect((await service.post('/api/moved', { name: 'a' })).headers['location']).toBe('/api/moved/1');
      expect((await service.get('/api/products')).status).toBe(404);
      await service.close();
    });
  });

  it('[4.7] a request-scoped subclass works, and a request has an instance of its own', async () => {
    let instances = 0;
    @Injectable({ scope: Scope.REQUEST })
    class Asked {
      constructor(@Inject(REQUEST) readonly request: { url: string }) {
        instances += 1;
      }
    }
    @Injectable()
    class Scoped extends CrudController(everything) {
      constructor(private readonly asked: Asked) {
        super();
      }
      @Get('search')
      override search(query: ListQuery) {
        return super.search(query);
      }
      @Get(':id')
      override async findById(id: string) {
        return { ...(await super.findById(id)), message: this.asked.request.url };
      }
    }
    const service = await startCrud(platform, {
      entities: [Product],
      imports: [CrudModule],
      controllers: [Scoped],
      providers: [Asked],
    });
    await service.post('/api/products', { name: 'a' });
    expect((await service.get('/api/products/1?fields=name')).json.message).toBe('/api/products/1?fields=name');
    expect((await service.get('/api/products/search?name=a')).json.data).toHaveLength(1);
    expect((await service.get('/api/products/9')).json).toEqual(failure('Product with id 9 not found'));
    expect(instances).toBe(4);
    await service.close();
  });

  it('[4.2] refuses to start a request-scoped subclass on Express whose :id hides a fixed path', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Scoped extends CrudController(everything) {
      @Get(':id')
      override findById(id: string) {
        return super.findById(id);
      }
    }
    const start = (platform: Platform) =>
      startCrud(platform, { entities: [Product], imports: [CrudModule], controllers: [Scoped] });
    await expect(start('express')).rejects.toThrow(
      'The routes of Scoped must be in the order in which Express matches them, because the controller is ' +
        'request-scoped, got search behind a parameter. ' +
        'Override `search` with its decorator above the route with the parameter.',
    );
    const service = await start('fastify');
    expect((await service.get('/api/products/search?name=a')).status).toBe(200);
    await service.close();
  });

  describe('with guards', () => {
    @Injectable()
    class Closed implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
        return headers['x-key'] === 'open';
      }
    }

    @UseGuards(Closed)
    class Guarded extends CrudController(everything) {
      @Get(':id')
      override async findById(id: string) {
        return super.findById(id);
      }
    }

    it.each<[string, CrudParts]>([
      ['forFeature', { resources: [Guarded] }],
      ['controllers', { entities: [Product], controllers: [Guarded] }],
    ])('[4.7] a guard of a subclass in %s covers each of its routes', async (_where, parts) => {
      const service = await startCrud(platform, { ...parts, isDescribed: false });
      await service.dataSource.getRepository(Product).save({ name: 'a' });
      for (const [method, path] of [
        ['GET', '/api/products'],
        ['GET', '/api/products/1'],
        ['GET', '/api/products/search?name=a'],
        ['POST', '/api/products'],
      ] as const) {
        const body = method === 'POST' ? { json: { name: 'b' } } : {};
        const refused = await service.send(method, path, body);
        expect([refused.status, refused.json]).toEqual([403, failure(expect.any(String))]);
        expect(await service.dataSource.getRepository(Product).findBy({})).toEqual([{ id: 1, name: 'a', stock: 0 }]);
        expect((await service.send(method, path, { ...body, headers: { 'x-key': 'open' } })).status).toBeLessThan(300);
      }
      await service.close();
    });

    it('[4.7] a global guard and a global prefix reach overridden and generated operations alike', async () => {
      const service = await started(platform, Everything, {
        configure: (app: INestApplication) => {
          app.useGlobalGuards(new Closed());
          app.setGlobalPrefix('shop');
        },
      });
      for (const path of ['', '/1', '/search?name=a', '/exists/1'])
        expect((await service.get(`/shop/api/products${path}`)).status).toBe(403);
      await service.close();
    });
  });
});

describe('[1] OverrideNote', () => {
  class Described extends CrudController(base) {
    @Get()
    @OverrideNote('Only what is in stock')
    override async findAll(query: ListQuery) {
      return super.findAll(query);
    }
    @OverrideNote()
    @Get(':id')
    override async findById(id: string) {
      return super.findById(id);
    }
    @Post()
    override async create(body: JsonObject) {
      return super.create(body);
    }
  }

  it('[4.7] is optional, and so is its description, which stands in the startup log', async () => {
    const service = await startCrud('express', { entities: [Product], resources: [Described], isDescribed: false });
    expect(service.logs.filter((line) => line.includes('is overridden'))).toEqual([
      'log [CrudModule] Described.findAll is overridden: Only what is in stock',
      'log [CrudModule] Described.findById is overridden',
    ]);
    await service.close();
  });
});

it.each(['compiled', 'repository'] as const)(
  '[4.7] what an override hands on as undefined is absent, as in JSON, on the path %s',
  async (path) => {
    class Absent extends CrudController(base) {
      @Post()
      override async create(body: JsonObject) {
        return super.create({ ...body, stock: undefined });
      }
      @Put(':id')
      override async update(@Param('id') id: string, @Body() body: JsonObject) {
        return super.update(id, { ...body, name: undefined });
      }
    }
    const service = await startCrud('express', { path, resources: [Absent] });
    const { status, json } = await service.post('/api/products', { name: 'Desk', stock: 7 });
    expect([status, json.data]).toEqual([201, { id: json.data.id, name: 'Desk', stock: 0 }]);
    const refused = await service.put(`/api/products/${json.data.id}`, { name: 'Desk', stock: 7 });
    expect([refused.status, refused.json.errors]).toEqual([400, [{ field: 'name', message: 'is required' }]]);
    await service.close();
  },
);

describe.each(['compiled', 'repository'] as const)("[4.7] the entity's own types, on the path %s", (path) => {
  @Entity()
  class Post1 {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({ length: 20 })
    title!: string;

    @Column({ type: 'datetime' })
    publishedAt!: Date;

    @Column({ type: 'blob', nullable: true })
    cover!: Buffer | null;

    @CreateDateColumn()
    createdAt!: Date;
  }

  const moment = new Date('2026-01-31T09:30:00.000Z');

  class Posts extends CrudController({ entity: Post1, endpoint: '/posts', maxListSize: 5 }) {
    @Post()
    override async create(body: JsonObject, user?: object) {
      const created = await super.create({ ...body, publishedAt: moment, cover: Buffer.from('png') });
      return { ...created, user: user === undefined ? 'none' : typeof user };
    }

    @Put(':id')
    override async update(id: string, body: JsonObject) {
      const { data } = await super.findById(id);
      return super.update(id, { ...data, ...body });
    }
  }

  it('are accepted by create and update, and a further parameter of an override is undefined', async () => {
    const service = await startCrud('express', { entities: [Post1], resources: [Posts], path, isDescribed: false });
    const { status, json } = await service.post('/posts', { title: 'First' });
    expect([status, json.user, json.data]).toEqual([
      201,
      'none',
      {
        id: 1,
        title: 'First',
        publishedAt: moment.toISOString(),
        cover: Buffer.from('png').toString('base64'),
        createdAt: expect.any(String) as unknown,
      },
    ]);
    const updated = await service.put('/posts/1', { title: 'Second' });
    expect([updated.status, updated.json.data]).toEqual([200, { ...json.data, title: 'Second' }]);
    await service.close();
  });
});

describe('[4.3] values that an override passes on', () => {
  @Entity('passed_on')
  class Passed {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column()
    name!: string;
  }

  class Things extends CrudController({ entity: Passed, endpoint: '/things', maxListSize: 5 }) {
    @Post()
    override async create(@Body() body: JsonObject) {
      return super.create(body);
    }

    @Put(':id')
    override async update(@Param('id') id: string, @Body() body: JsonObject) {
      return super.update(id, body);
    }
  }

  it.each(PLATFORMS)('are 400 unless they are an object, on %s', async (platform) => {
    const service = await startCrud(platform, { entities: [Passed], resources: [Things] });
    await service.post('/things', { name: 'first' });
    for (const [method, path] of [
      ['POST', '/things'],
      ['PUT', '/things/1'],
    ] as const) {
      const answers = [await service.send(method, path), await service.send(method, path, { json: [] })];
      expect(answers.map(({ status, json }) => [status, json.message])).toEqual(
        answers.map(() => [400, 'The request body must be a JSON object']),
      );
    }
    await service.close();
  });
});
