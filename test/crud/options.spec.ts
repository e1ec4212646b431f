/** Mistakes in generated controllers that show when the application starts. */
import {
  Controller,
  Get,
  type INestApplication,
  Injectable,
  Module,
  Param,
  Patch,
  Post,
  Put,
  type Type,
  VersioningType,
} from '@nestjs/common';
import { getRepositoryToken, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  CrudController,
  CrudModule,
  type CrudOptions,
  OverrideNote,
  type CrudResource,
  type JsonObject,
  type ListQuery,
} from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn, type Repository } from 'typeorm';
import { createDatabase } from '../harness/databases.js';
import { bootError, linesOf, PLATFORMS } from '../harness/platforms.js';
import { crudError, startCrud, wrongFields } from './service.js';

@Entity()
class Thing {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @Column({ nullable: true, select: false, type: 'varchar' })
  secret!: string | null;
}

@Entity()
class Part {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column()
  name!: string;
}

class NotMapped {
  id!: number;
}

const base = { entity: Thing, endpoint: '/api/things' } as const;
/** Everything after `as never` is what a developer without TypeScript can write. */
const wrongly = (options: unknown): CrudResource => options as CrudResource;

/** [what is wrong, the resources, what the sentence has to say] */
const refused: [string, () => CrudResource[], RegExp[]][] = [
  ['no entity', () => [wrongly({ endpoint: '/api/things' })], [/entity/, /undefined/]],
  ['an entity that is a name', () => [wrongly({ ...base, entity: 'Thing' })], [/entity/, /"Thing"/]],
  ['an entity that is an instance', () => [wrongly({ ...base, entity: new Thing() })], [/entity/]],
  ['a class that is not mapped', () => [{ ...base, entity: NotMapped }], [/entity/, /NotMapped/, /@Entity/]],
  ['no endpoint', () => [wrongly({ entity: Thing })], [/endpoint/, /Thing/]],
  ['an empty endpoint', () => [{ ...base, endpoint: '' }], [/endpoint/, /Thing/]],
  ['a slash for an endpoint', () => [{ ...base, endpoint: '/' }], [/endpoint/]],
  ['an endpoint that is no text', () => [wrongly({ ...base, endpoint: 5 })], [/endpoint/, /5/]],
  ['an endpoint with a wildcard', () => [{ ...base, endpoint: '/api/*things' }], [/endpoint/, /\*things/]],
  ['an endpoint with a query', () => [{ ...base, endpoint: '/api/things?x' }], [/endpoint/]],
  [
    'an unknown option',
    () => [wrongly({ ...base, pagination: true })],
    [
      /pagination/,
      /entity/,
      /endpoint/,
      /enablePagination/,
      /enableSearch/,
      /enableExists/,
      /searchableFields/,
      /dataSource/,
      /maxListSize/,
    ],
  ],
  [
    'enablePagination that is no boolean',
    () => [wrongly({ ...base, enablePagination: 'yes' })],
    [/enablePagination/, /"yes"/],
  ],
  ['enableSearch that is no boolean', () => [wrongly({ ...base, enableSearch: 1 })], [/enableSearch/]],
  ['enableExists that is null', () => [wrongly({ ...base, enableExists: null })], [/enableExists/, /null/]],
  ['search without searchable fields', () => [{ ...base, enableSearch: true }], [/searchableFields/, /Thing/]],
  ['search with no field', () => [{ ...base, enableSearch: true, searchableFields: [] }], [/searchableFields/]],
  [
    'a searchable field the entity lacks',
    () => [{ ...base, enableSearch: true, searchableFields: ['name', 'nmae'] }],
    [/searchableFields/, /nmae/, /Thing/],
  ],
  [
    'a searchable field, though search is off',
    () => [{ ...base, searchableFields: ['name'] }],
    [/searchableFields/, /enableSearch/],
  ],
  [
    'a searchable field of the prototype',
    () => [{ ...base, enableSearch: true, searchableFields: ['constructor'] }],
    [/searchableFields/, /constructor/],
  ],
  [
    'a hidden column to search',
    () => [{ ...base, enableSearch: true, searchableFields: ['secret'] }],
    [/searchableFields/, /secret/],
  ],
  [
    'searchable fields that are one name',
    () => [wrongly({ ...base, enableSearch: true, searchableFields: 'name' })],
    [/searchableFields/, /name/],
  ],
  [
    'a searchable field that is no name',
    () => [wrongly({ ...base, enableSearch: true, searchableFields: [1] })],
    [/searchableFields/],
  ],
  ['a data source that is no name', () => [wrongly({ ...base, dataSource: 1 })], [/dataSource/]],
  ['an unknown data source', () => [{ ...base, dataSource: 'archive' }], [/archive/]],
  ['maxListSize 0', () => [{ ...base, maxListSize: 0 }], [/maxListSize/, /0/]],
  ['a negative maxListSize', () => [{ ...base, maxListSize: -1 }], [/maxListSize/, /-1/]],
  ['a broken maxListSize', () => [{ ...base, maxListSize: 1.5 }], [/maxListSize/, /1\.5/]],
  ['maxListSize as text', () => [wrongly({ ...base, maxListSize: '10' })], [/maxListSize/, /10/]],
  ['maxOffset 0', () => [{ ...base, enablePagination: true, maxOffset: 0 }], [/maxOffset/, /0/]],
  ['maxOffset without pages', () => [{ ...base, maxOffset: 100 }], [/maxOffset/, /numbered pages/]],
  [
    'maxOffset with pages by cursor',
    () => [{ ...base, enablePagination: 'cursor', maxOffset: 100 }],
    [/maxOffset/, /numbered pages/],
  ],
  ['two resources on one endpoint', () => [base, { entity: Part, endpoint: '/api/things' }], [/\/api\/things/]],
  [
    'two resources on one endpoint, spelled otherwise',
    () => [base, { entity: Part, endpoint: 'api/things/' }],
    [/api\/things/],
  ],
  [
    'a class and options on one endpoint',
    () => [class ThingsController extends CrudController(base) {}, { entity: Part, endpoint: '/api/things' }],
    [/\/api\/things/],
  ],
  ['the same resource twice', () => [base, base], [/\/api\/things/]],
  ['a class that is no generated controller', () => [wrongly(NotMapped)], [/NotMapped/, /CrudController/]],
  ['null for a resource', () => [wrongly(null)], [/null/]],
];

it.each(refused)('[1] [4.2] %s refuses to boot with one sentence', async (_what, resources, says) => {
  const { message } = await crudError('express', { resources });
  for (const what of says) expect(message).toMatch(what);
  expect(message).not.toMatch(/\n\s+at /);
  expect(message.split('\n')).toHaveLength(1);
});

it('[1] CrudModule.forFeature without a resource refuses to boot', () => {
  expect(() => CrudModule.forFeature()).toThrow(/CrudModule\.forFeature/);
});

it('[4.2] two resources on one endpoint in two modules refuse to boot', async () => {
  @Module({ imports: [CrudModule.forFeature({ entity: Part, endpoint: '/api/things' })] })
  class PartsModule {}
  const { message } = await crudError('express', { resources: [base], imports: [PartsModule] });
  expect(message).toContain('/api/things');
});

it('[4.2] an entity may stand on two endpoints, each with its own options', async () => {
  const service = await startCrud('express', {
    resources: [base, { entity: Thing, endpoint: '/api/paged', enablePagination: true }],
  });
  await service.post('/api/things', { name: 'a' });
  expect((await service.get('/api/things')).json).not.toHaveProperty('metadata');
  expect((await service.get('/api/paged')).json.metadata.pagination.total).toBe(1);
  await service.close();
});

it('[4.2] dataSource names a further data source', async () => {
  const archive = await createDatabase();
  const service = await startCrud('express', {
    resources: [base, { entity: Thing, endpoint: '/api/archive', dataSource: 'archive' }],
    imports: [TypeOrmModule.forRoot({ ...archive.options, name: 'archive' })],
    onClose: archive.drop,
  });
  await service.post('/api/archive', { name: 'old' });
  await service.post('/api/archive', { name: 'older' });
  expect((await service.get('/api/archive')).json.data).toHaveLength(2);
  expect((await service.get('/api/things')).json.data).toEqual([]);
  expect((await service.put('/api/archive/2', { name: 'oldest' })).json.data).toEqual({ id: 2, name: 'oldest' });
  expect((await service.del('/api/archive/1')).status).toBe(200);
  expect(await service.dataSource.getRepository(Thing).count()).toBe(0);
  await service.close();
});

it('[4.2] [4.8] an entity that only the other data source knows refuses to boot', async () => {
  const archive = await createDatabase();
  const { message } = await crudError('express', {
    entities: [Part],
    resources: [base],
    imports: [TypeOrmModule.forRoot({ ...archive.options, name: 'archive', entities: [Thing] })],
    onClose: archive.drop,
  });
  expect(message).toMatch(/Thing.*(entities|autoLoadEntities)/);
});

it('[1] CrudModule.forFeature registers the repository of the entity', async () => {
  @Injectable()
  class Counter {
    constructor(@InjectRepository(Thing) readonly things: Repository<Thing>) {}
  }
  const service = await startCrud('express', { resources: [base], providers: [Counter] });
  await service.post('/api/things', { name: 'a' });
  expect(await service.app.get(Counter).things.count()).toBe(1);
  expect(service.app.get(getRepositoryToken(Thing), { strict: false })).toBeDefined();
  await service.close();
});

it('[1] CrudModule.forFeature takes options and classes side by side, and may be used in several modules', async () => {
  class ThingsController extends CrudController(base) {}
  @Module({ imports: [CrudModule.forFeature({ entity: Part, endpoint: '/api/parts' })] })
  class PartsModule {}
  const service = await startCrud('express', {
    resources: [ThingsController, { entity: Part, endpoint: '/api/spares' }],
    imports: [PartsModule],
  });
  for (const path of ['/api/things', '/api/spares', '/api/parts'])
    expect((await service.get(path)).json.data).toEqual([]);
  await service.close();
});

it('[1] two applications in one process serve the same resource from two databases', async () => {
  const first = await startCrud('express', { resources: [base] });
  const second = await startCrud('express', { resources: [base] });
  await first.post('/api/things', { name: 'a' });
  expect((await second.get('/api/things')).json.data).toEqual([]);
  expect((await first.get('/api/things')).json.data).toHaveLength(1);
  await Promise.all([first.close(), second.close()]);
});

it('[4.8] an entity unknown to the data source refuses to boot and says how to fix it', async () => {
  const { message } = await crudError('express', {
    entities: [Part],
    resources: [base],
  });
  expect(message).toMatch(/Thing/);
  expect(message).toMatch(/entities/);
});

describe.each(PLATFORMS)('on %s', (platform) => {
  it('[4.2] a resource on an endpoint of the application itself refuses to boot', async () => {
    @Controller('api/things')
    class OwnController {
      @Get()
      all() {
        return 'own';
      }
    }
    const { message } = await crudError(platform, { resources: [base], controllers: [OwnController] });
    expect(message).toContain('/api/things');
  });

  it('[4.2] without further options pagination, search and exists are off', async () => {
    const service = await startCrud(platform, { resources: [base] });
    await service.post('/api/things', { name: 'a' });
    expect((await service.get('/api/things')).json).not.toHaveProperty('metadata');
    expect(wrongFields(await service.get('/api/things?page=1&size=1'))).toEqual(['page', 'size']);
    expect((await service.get('/api/things/exists/1')).status).toBe(404);
    expect((await service.get('/api/things/search?name=a')).status).toBe(404);
    await service.close();
  });

  const searched: CrudOptions<Thing> = {
    ...base,
    enableSearch: true,
    enableExists: true,
    searchableFields: ['name'],
  };

  class OverridesById extends CrudController(searched) {
    @Get(':id')
    override findById(@Param('id') id: string) {
      return { own: id } as never;
    }
  }
  class AddsById extends CrudController({ ...searched, operations: ['findAll', 'search', 'exists', 'create'] }) {
    @Get(':id')
    one(@Param('id') id: string) {
      return { own: id };
    }
  }
  class AddsTwoLevels extends CrudController(searched) {
    @Get(':a/:b')
    two(@Param('a') a: string, @Param('b') b: string) {
      return { own: `${a}/${b}` };
    }
  }
  class Grandchild extends OverridesById {
    @Get(':id')
    override findById(@Param('id') id: string) {
      return { own: `${id}!` } as never;
    }
  }

  it.each<[string, Type, 'forFeature' | 'controllers']>([
    ['overrides findById', OverridesById, 'forFeature'],
    ['overrides findById', OverridesById, 'controllers'],
    ['declares the route under another name in place of findById', AddsById, 'forFeature'],
    ['declares the route under another name in place of findById', AddsById, 'controllers'],
    ['adds a route of two parameters', AddsTwoLevels, 'forFeature'],
    ['overrides what a subclass overrides', Grandchild, 'controllers'],
  ])('[4.2] search and exists come before {id} in a subclass that %s (%o in %s)', async (_what, controller, where) => {
    const service = await startCrud(platform, {
      entities: [Thing],
      ...(where === 'forFeature'
        ? { resources: [controller as CrudResource] }
        : { controllers: [controller], imports: [TypeOrmModule.forFeature([Thing])] }),
    });
    await service.post('/api/things', { name: 'abc' });
    const found = await service.get('/api/things/search?name=B');
    expect([found.status, found.json.data]).toEqual([200, [{ id: 1, name: 'abc' }]]);
    const exists = await service.get('/api/things/exists/1');
    expect([exists.status, exists.json.data]).toEqual([200, { exists: true }]);
    await service.close();
  });

  it('[1] a generated controller works under a global prefix, and its Location carries it', async () => {
    const service = await startCrud(platform, {
      resources: [base],
      configure: (app) => void app.setGlobalPrefix('v1'),
    });
    expect((await service.post('/v1/api/things', { name: 'a' })).headers['location']).toBe('/v1/api/things/1');
    expect((await service.get('/api/things')).status).toBe(404);
    await service.close();
  });
});

describe('[1] CrudController', () => {
  it('[1] gives the class a name that is readable and stable', () => {
    const names = [CrudController(base).name, CrudController({ ...base, endpoint: '/elsewhere' }).name];
    expect(names[0]).toMatch(/^Thing\w*Controller$/);
    expect(names[1]).toBe(`Elsewhere${names[0]}`);
    expect(CrudController({ ...base, endpoint: '/elsewhere' }).name).toBe(names[1]);
  });
});

@Entity()
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;
}

const products: CrudOptions<Product> = { entity: Product, endpoint: '/api/products', enablePagination: true };

describe.each(PLATFORMS)('starting on %s', (platform) => {
  const warningsOf = async (...controllers: Type[]): Promise<string[]> => {
    const service = await startCrud(platform, { entities: [Product], controllers });
    const lines = linesOf(service.logs, 'warn').filter((line) => line.includes('[CrudModule]'));
    await service.close();
    return lines.map((line) => line.replace('warn [CrudModule] ', ''));
  };

  it('[8.7] refuses a parameter in the endpoint that names no field', async () => {
    const resources = [{ ...products, endpoint: '/api/shops/:shop/products' }];
    expect((await crudError(platform, { entities: [Product], resources })).message).toMatch(
      /`endpoint` of Product must be a path whose parameters are fields among name, got :shop/,
    );
  });

  it('[4.2] refuses a parameter in front of generated routes, which would filter nothing', async () => {
    @Controller('/api/shops/:shop/products')
    class Products extends CrudController(products) {}
    const parts = { entities: [Product], controllers: [Products] };
    expect((await crudError(platform, parts)).message).toMatch(
      /`endpoint` of Product must be served without further parameters, got "\/api\/shops\/:shop\/products/,
    );
    const configure = (app: INestApplication): void => void app.setGlobalPrefix('/tenants/:tenant');
    const resources = [products];
    expect((await crudError(platform, { entities: [Product], resources, configure })).message).toMatch(
      /got "\/tenants\/:tenant\/api\/products/,
    );
  });

  it('[4.2] accepts parameters of the routes that a subclass adds', async () => {
    @Controller()
    class Products extends CrudController(products) {
      @Get('by/:name/:size')
      byName(@Param('name') name: string) {
        return name;
      }
    }
    const service = await startCrud(platform, { entities: [Product], controllers: [Products] });
    expect((await service.get('/api/products/by/pen/1')).text).toBe('pen');
    await service.close();
  });

  it('[4.4] names a list without a bound by the path where it is served', async () => {
    @Controller('/api/goods')
    class Goods extends CrudController({ ...products, enablePagination: false }) {}
    expect(await warningsOf(Goods)).toEqual([expect.stringContaining('Unpaginated list endpoints: /api/goods.')]);
  });

  it('[4.3] allows several versions of one path that a header tells apart', async () => {
    @Controller({ version: '1' })
    class First extends CrudController(products) {}
    @Controller({ version: '2' })
    class Second extends CrudController(products) {
      @Get()
      override async findAll() {
        return { version: 2 } as never;
      }
    }
    const configure = (app: INestApplication): void =>
      void app.enableVersioning({ type: VersioningType.HEADER, header: 'X-V' });
    const controllers = [First, Second];
    const service = await startCrud(platform, { entities: [Product], controllers, configure, isDescribed: false });
    const versions = [];
    for (const version of ['1', '2'])
      versions.push((await service.send('GET', '/api/products', { headers: { 'x-v': version } })).json);
    expect(versions).toEqual([expect.objectContaining({ data: [] }), { version: 2 }]);
    await service.close();
  });

  it('[6] starts where the global prefix excludes a generated endpoint', async () => {
    const configure = (app: INestApplication): void => void app.setGlobalPrefix('v1', { exclude: ['products'] });
    const resources = [{ ...products, endpoint: '/products' }];
    const service = await startCrud(platform, { entities: [Product], resources, configure });
    expect((await service.get('/products')).status).toBe(200);
    await service.close();
  });

  it.each(['forFeature', 'controllers'] as const)(
    '[4.8] refuses to start without TypeOrmModule (%s)',
    async (where) => {
      const controller = CrudController(products);
      const root =
        where === 'forFeature' ? { imports: [CrudModule.forFeature(controller)] } : { controllers: [controller] };
      const { name, message } = await bootError(platform, root);
      expect([name, message]).toEqual([
        'InvalidOptionError',
        expect.stringMatching(/`entity` of Product.*data source, got none.*Import TypeOrmModule\.forRoot/),
      ]);
    },
  );

  it('[1] refuses a declaration that does not fit the data source, also without CrudModule', async () => {
    const controller = CrudController({ ...products, enableSearch: true, searchableFields: ['colour' as 'name'] });
    const { message } = await crudError(platform, { entities: [Product], controllers: [controller] });
    expect(message).toMatch(/searchableFields.*colour/);
  });

  it('[4.7] warns of an override with another verb or path than its operation', async () => {
    @Controller()
    class Products extends CrudController(products) {
      @Post(':id')
      override update(id: string, body: JsonObject) {
        return super.update(id, body);
      }

      @Get('all')
      override findById(id: string) {
        return super.findById(id);
      }

      @OverrideNote()
      override async delete() {
        return null;
      }
    }
    expect(await warningsOf(Products)).toEqual([
      expect.stringMatching(/^Products\.findById overrides @Get\(':id'\) but is decorated with @Get\('all'\)/),
      expect.stringMatching(/^Products\.update overrides @Put\(':id'\) but is decorated with @Post\(':id'\)/),
      expect.stringMatching(/^Products\.delete overrides .* has no route\. Decorate it with @Delete\(':id'\)/),
    ]);
  });

  it('[4.7] does not warn of overrides with their own routes, nor of further routes', async () => {
    class Products extends CrudController({ ...products, operations: ['findAll', 'findById', 'update'] }) {
      @Get([':key', 'by-key/:key'])
      override findById(@Param('key') id: string) {
        return super.findById(id);
      }

      @Put('/:id/')
      override update(id: string, body: JsonObject) {
        return super.update(id, body);
      }

      @Patch(':id')
      change(): object {
        return {};
      }
    }
    expect(await warningsOf(Products)).toEqual([]);
  });

  it('[4.7] logs the description of an override', async () => {
    class Products extends CrudController(products) {
      @Get()
      @OverrideNote('Only what is in stock')
      override findAll(query: ListQuery) {
        return super.findAll(query);
      }
    }
    const service = await startCrud(platform, { entities: [Product], controllers: [Products] });
    const lines = service.logs.filter((line) => line.includes('Only what is in stock'));
    expect(lines).toEqual(['log [CrudModule] Products.findAll is overridden: Only what is in stock']);
    await service.close();
  });

  it('[4.2] no `:id` hides a path of the subclass, or of its base class', async () => {
    class Base extends CrudController(products) {
      @Get('oldest')
      oldest(): string {
        return 'oldest';
      }
    }
    class Products extends Base {
      @Get(':id')
      override findById(id: string) {
        return super.findById(id);
      }

      @Get('latest')
      latest(): string {
        return 'latest';
      }
    }
    const service = await startCrud(platform, { entities: [Product], controllers: [Products] });
    expect((await service.get('/api/products/latest')).text).toBe('latest');
    expect((await service.get('/api/products/oldest')).text).toBe('oldest');
    expect((await service.get('/api/products/7')).status).toBe(404);
    await service.close();
  });

  it('[4.4] names unpaginated lists once, also of several modules', async () => {
    const [first, second] = ['/first', '/second'].map((endpoint) => ({ entity: Product, endpoint }));
    const service = await startCrud(platform, {
      entities: [Product],
      resources: [first!],
      imports: [CrudModule.forFeature(second!)],
      controllers: [CrudController({ ...products, endpoint: '/third' })],
    });
    expect(linesOf(service.logs, 'warn').filter((line) => line.includes('Unpaginated'))).toEqual([
      'warn [CrudModule] Unpaginated list endpoints: /first, /second. Set enablePagination or maxListSize.',
    ]);
    await service.close();
  });

  it('[4.6] logs at debug level which accesses of a resource are compiled', async () => {
    const service = await startCrud(platform, { entities: [Product], resources: [products], path: 'compiled' });
    expect(linesOf(service.logs, 'debug')).toContain(
      'debug [CrudModule] Product: read, create, update, delete compiled',
    );
    await service.close();
  });

  it('[1] a lifecycle hook of a subclass replaces that of the generated class, and CrudModule checks in its place', async () => {
    @Injectable()
    class Products extends CrudController({ ...products, enableSearch: true, searchableFields: ['colour' as 'name'] }) {
      onModuleInit(): void {}
    }
    const { message } = await crudError(platform, { entities: [Product], resources: [Products] });
    expect(message).toMatch(/searchableFields.*colour/);
  });
});
