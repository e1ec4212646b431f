/** Mistakes in generated controllers that show when the application starts. */
import {
  Controller,
  Get,
  type INestApplication,
  Injectable,
  Param,
  Patch,
  Post,
  Put,
  type Type,
  VersioningType,
} from '@nestjs/common';
import { CrudController, CrudModule, CrudOverride, type CrudOptions, type JsonObject, type ListQuery } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { bootError, linesOf, PLATFORMS } from '../harness/platforms.js';
import { crudError, startCrud } from './service.js';

@Entity()
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;
}

const base: CrudOptions<Product> = { entity: Product, endpoint: '/api/products', enablePagination: true };

describe.each(PLATFORMS)('starting on %s', (platform) => {
  const warningsOf = async (...controllers: Type[]): Promise<string[]> => {
    const service = await startCrud(platform, { entities: [Product], controllers });
    const lines = linesOf(service.logs, 'warn').filter((line) => line.includes('[CrudModule]'));
    await service.close();
    return lines.map((line) => line.replace('warn [CrudModule] ', ''));
  };

  it('[8.7] refuses a parameter in the endpoint that names no field', async () => {
    const resources = [{ ...base, endpoint: '/api/shops/:shop/products' }];
    expect((await crudError(platform, { entities: [Product], resources })).message).toMatch(
      /`endpoint` of Product must be a path whose parameters are fields among name, got :shop/,
    );
  });

  it('[4.2] refuses a parameter in front of generated routes, which would filter nothing', async () => {
    @Controller('/api/shops/:shop/products')
    class Products extends CrudController(base) {}
    const parts = { entities: [Product], controllers: [Products] };
    expect((await crudError(platform, parts)).message).toMatch(
      /`endpoint` of Product must be served without further parameters, got "\/api\/shops\/:shop\/products/,
    );
    const configure = (app: INestApplication): void => void app.setGlobalPrefix('/tenants/:tenant');
    const resources = [base];
    expect((await crudError(platform, { entities: [Product], resources, configure })).message).toMatch(
      /got "\/tenants\/:tenant\/api\/products/,
    );
  });

  it('[4.2] accepts parameters of the routes that a subclass adds', async () => {
    @Controller()
    class Products extends CrudController(base) {
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
    class Goods extends CrudController({ ...base, enablePagination: false }) {}
    expect(await warningsOf(Goods)).toEqual([expect.stringContaining('Unpaginated list endpoints: /api/goods.')]);
  });

  it('[4.3] allows several versions of one path that a header tells apart', async () => {
    @Controller({ version: '1' })
    class First extends CrudController(base) {}
    @Controller({ version: '2' })
    class Second extends CrudController(base) {
      @Get()
      override async findAll() {
        return { version: 2 } as never;
      }
    }
    const configure = (app: INestApplication): void =>
      void app.enableVersioning({ type: VersioningType.HEADER, header: 'X-V' });
    const service = await startCrud(platform, { entities: [Product], controllers: [First, Second], configure });
    const versions = [];
    for (const version of ['1', '2'])
      versions.push((await service.send('GET', '/api/products', { headers: { 'x-v': version } })).json);
    expect(versions).toEqual([expect.objectContaining({ data: [] }), { version: 2 }]);
    await service.close();
  });

  it('[6] starts where the global prefix excludes a generated endpoint', async () => {
    const configure = (app: INestApplication): void => void app.setGlobalPrefix('v1', { exclude: ['products'] });
    const resources = [{ ...base, endpoint: '/products' }];
    const service = await startCrud(platform, { entities: [Product], resources, configure });
    expect((await service.get('/products')).status).toBe(200);
    await service.close();
  });

  it.each(['forFeature', 'controllers'] as const)(
    '[4.8] refuses to start without TypeOrmModule (%s)',
    async (where) => {
      const controller = CrudController(base);
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
    const controller = CrudController({ ...base, enableSearch: true, searchableFields: ['colour' as 'name'] });
    const { message } = await crudError(platform, { entities: [Product], controllers: [controller] });
    expect(message).toMatch(/searchableFields.*colour/);
  });

  it('[4.7] warns of an override with another verb or path than its operation', async () => {
    @Controller()
    class Products extends CrudController(base) {
      @Post(':id')
      override update(id: string, body: JsonObject) {
        return super.update(id, body);
      }

      @Get('all')
      override findById(id: string) {
        return super.findById(id);
      }

      @CrudOverride()
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
    class Products extends CrudController({ ...base, operations: ['findAll', 'findById', 'update'] }) {
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
    class Products extends CrudController(base) {
      @Get()
      @CrudOverride('Only what is in stock')
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
    class Base extends CrudController(base) {
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
      controllers: [CrudController({ ...base, endpoint: '/third' })],
    });
    expect(linesOf(service.logs, 'warn').filter((line) => line.includes('Unpaginated'))).toEqual([
      'warn [CrudModule] Unpaginated list endpoints: /first, /second. Set enablePagination or maxListSize.',
    ]);
    await service.close();
  });

  it('[4.6] logs at debug level which accesses of a resource are compiled', async () => {
    const service = await startCrud(platform, { entities: [Product], resources: [base], path: 'compiled' });
    expect(linesOf(service.logs, 'debug')).toContain(
      'debug [CrudModule] Product: read, create, update, delete compiled',
    );
    await service.close();
  });

  it('[1] a lifecycle hook of a subclass replaces that of the generated class, and CrudModule checks in its place', async () => {
    @Injectable()
    class Products extends CrudController({ ...base, enableSearch: true, searchableFields: ['colour' as 'name'] }) {
      onModuleInit(): void {}
    }
    const { message } = await crudError(platform, { entities: [Product], resources: [Products] });
    expect(message).toMatch(/searchableFields.*colour/);
  });
});
