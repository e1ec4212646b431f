/** The option `access` of a resource: who may call its operations. */
import { Get, Post, Put } from '@nestjs/common';
import {
  AccessReport,
  Authenticated,
  CrudController,
  Public,
  Roles,
  type CrudOptions,
  type CrudResource,
  type CustomOperation,
  type ListQuery,
} from 'declarest';
import { addAccess } from 'declarest/openapi';
import { accessMatrix, as, createCrudTestingModule } from 'declarest/testing';
import { Column, DeleteDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { crudError, startCrud } from '../crud/service.js';
import { linesOf, PLATFORMS, type Platform } from '../harness/platforms.js';
import { authModule, securityConfig, type Declare } from './ruled-app.js';

@Entity()
class Product {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
  @Column({ type: 'integer', default: 0 }) stock!: number;
  @DeleteDateColumn() deletedAt!: Date | null;
}

const custom = (name: string, parts: Partial<CustomOperation<Product>> = {}): CustomOperation<Product> => ({
  name,
  route: { verb: 'GET', path: name.toLowerCase() },
  description: { summary: name, data: 'records' },
  run: ({ find }) => find({ limit: 1 }),
  ...parts,
});

const EVERYTHING = {
  entity: Product,
  endpoint: '/products',
  enableSearch: true,
  searchableFields: ['name'],
  enableExists: true,
  enableCount: true,
  enableExport: true,
  enableBatch: true,
  enableRestore: true,
  aggregatableFields: ['stock'],
} satisfies CrudOptions<Product>;

/** Without a rule, a route needs a token. */
const start = (platform: Platform, resources: CrudResource[], rules?: Declare) =>
  startCrud(platform, {
    entities: [Product],
    resources,
    imports: [authModule({ defaultAccess: 'authenticated', explainRefusals: true })],
    providers: rules ? [securityConfig(rules)] : [],
    isDescribed: false,
  });

type Service = Awaited<ReturnType<typeof start>>;

const accessOf = ({ app }: Service): Record<string, string> =>
  Object.fromEntries(
    app
      .get(AccessReport, { strict: false })
      .rows.filter(({ path }) => path.includes('products'))
      .map(({ method, path, access }) => [`${method} ${path}`, access]),
  );

const disagreeing = async ({ app }: Service) => (await accessMatrix(app)).filter(({ agrees }) => !agrees);

describe.each(PLATFORMS)('access on %s', (platform) => {
  it('[3.3] covers reads by one entry, and batches and restore by what they do', async () => {
    const access = { read: 'public', create: ['EDITOR'], update: ['EDITOR', 'CLERK'], delete: ['ADMIN'] } as const;
    const service = await start(platform, [{ ...EVERYTHING, access }]);
    expect(accessOf(service)).toEqual({
      'GET /products': 'public',
      'GET /products/:id': 'public',
      'GET /products/search': 'public',
      'GET /products/exists/:id': 'public',
      'GET /products/count': 'public',
      'GET /products/aggregate': 'public',
      'GET /products/export': 'public',
      'POST /products': 'EDITOR',
      'POST /products/batch': 'EDITOR',
      'PUT /products/:id': 'EDITOR or CLERK',
      'PATCH /products/:id': 'EDITOR or CLERK',
      'PATCH /products/batch': 'EDITOR or CLERK',
      'DELETE /products/:id': 'ADMIN',
      'DELETE /products/batch': 'ADMIN',
      'POST /products/:id/restore': 'ADMIN',
    });
    expect(await disagreeing(service)).toEqual([]);
    expect(linesOf(service.logs, 'warn').filter((line) => line.includes('SecurityRules'))).toEqual([]);
    await service.close();
  });

  it('[3.3] an operation has the entry of its name, or of the operation that it copies', async () => {
    const operations = [
      'findAll' as const,
      'search' as const,
      'count' as const,
      'findById' as const,
      'patch' as const,
      'patchMany' as const,
      custom('cheapest', { copyOf: 'findAll' }),
      custom('newest'),
      custom('oldest'),
    ];
    const { enableSearch, searchableFields, enableCount, enableBatch, entity, endpoint } = EVERYTHING;
    const options = { enableSearch, searchableFields, enableCount, enableBatch, entity, endpoint, operations };
    const access = { read: 'public', findAll: ['A'], count: ['B'], update: ['C'], newest: ['D'] } as const;
    const service = await start(platform, [{ ...options, access }]);
    expect(accessOf(service)).toEqual({
      'GET /products': 'A',
      'GET /products/search': 'A',
      'GET /products/cheapest': 'A',
      'GET /products/count': 'B',
      'GET /products/newest': 'D',
      'GET /products/oldest': 'any token',
      'GET /products/:id': 'public',
      'PATCH /products/:id': 'C',
      'PATCH /products/batch': 'C',
    });
    await service.close();
  });

  it('[3.3] an operation in the place of one that is not generated has its own entry', async () => {
    const undelete = custom('undelete', { route: { verb: 'POST', path: ':id/restore' } });
    const operations = ['delete' as const, undelete];
    const access = { delete: 'public', undelete: ['ADMIN'] } as const;
    const service = await start(platform, [{ entity: Product, endpoint: '/products', operations, access }]);
    expect(accessOf(service)).toEqual({ 'DELETE /products/:id': 'public', 'POST /products/:id/restore': 'ADMIN' });
    await service.close();
  });

  it('[3.3] [8.7] an override keeps it, its decorator replaces it, and that of the class comes after it', async () => {
    const access = { read: ['READER'], create: ['EDITOR'], update: ['EDITOR'] } as const;
    @Authenticated()
    class Products extends CrudController({ entity: Product, endpoint: '/shops/:stock/products', access }) {
      @Get() override findAll(query: ListQuery) {
        return super.findAll(query);
      }
      @Public() @Get(':id') override findById(id: string) {
        return super.findById(id);
      }
      @Put(':id') @Roles('ADMIN') override update(id: string, body: object) {
        return super.update(id, body as never);
      }
      @Post('own') own() {
        return 'own';
      }
    }
    const service = await start(platform, [Products]);
    expect(accessOf(service)).toEqual({
      'GET /shops/:stock/products': 'READER',
      'GET /shops/:stock/products/:id': 'public',
      'POST /shops/:stock/products': 'EDITOR',
      'POST /shops/:stock/products/own': 'any token',
      'PUT /shops/:stock/products/:id': 'ADMIN',
      'PATCH /shops/:stock/products/:id': 'EDITOR',
      'DELETE /shops/:stock/products/:id': 'any token',
    });
    expect(await disagreeing(service)).toEqual([]);
    const { rows } = service.app.get(AccessReport, { strict: false });
    const list = rows.find(({ method, path }) => method === 'GET' && path === '/shops/:stock/products');
    expect(list?.rules).toEqual(['access.read of Product', '@Authenticated on Products']);
    const { status, headers } = await as(service.app, { roles: ['USER'] }).get('/shops/7/products');
    expect([status, decodeURI(headers['x-access-rule'] ?? '')]).toEqual([403, 'access.read of Product']);
    await service.close();
  });

  it('[3.3] is narrower than rules by URL, which add up with it, and may not open what requires a role', async () => {
    const declare: Declare = ({ requireRole }) => requireRole('STAFF', '/products/**');
    const access = { read: ['READER'] } as const;
    const rules: Declare = ({ publicEndpoints }) => publicEndpoints('/products/**');
    const opened = await start(platform, [{ entity: Product, endpoint: '/products', access }], rules);
    expect(accessOf(opened)).toMatchObject({ 'GET /products': 'READER', 'POST /products': 'public' });
    await opened.close();
    const closed = await start(platform, [{ entity: Product, endpoint: '/products', access }], declare);
    expect(accessOf(closed)).toMatchObject({ 'GET /products': 'STAFF, and READER', 'POST /products': 'STAFF' });
    await closed.close();
    const parts = { entity: Product, endpoint: '/products', access: { read: 'public' } } as const;
    await expect(start(platform, [parts], declare)).rejects.toThrow(
      'The route of access.read of Product must be without a broader rule that requires a role or a policy, or denies ' +
        'everyone, got GET /products, restricted by TestSecurity.requireRole("STAFF", "/products/**").',
    );
  });

  it('[3.3] [3.4] is enforced and in the document, with its entry as the deciding rule', async () => {
    const access = { read: 'public', create: 'authenticated', delete: ['ADMIN'] } as const;
    const service = await start(platform, [{ entity: Product, endpoint: '/products', access }]);
    const item = { get: { responses: {} }, post: { responses: {} } };
    const document = { openapi: '3.1.0', info: { title: '', version: '' }, paths: { '/products': item } };
    const { paths } = addAccess(document, service.app);
    expect(paths['/products']).toMatchObject({
      get: { security: [], 'x-access': { access: 'public', rule: 'access.read of Product' } },
      post: { security: [{ bearer: [] }], 'x-access': { access: 'any token', rule: 'access.create of Product' } },
    });
    const sent = async (...roles: string[]) => (await as(service.app, { roles }).delete('/products/7')).status;
    expect([(await service.get('/products')).status, (await service.post('/products', {})).status]).toEqual([200, 401]);
    expect([await sent(), await sent('ADMIN')]).toEqual([403, 404]);
    await service.close();
  });

  it('[1] [3.3] without AuthModule refuses to start; a testing module without a server needs none', async () => {
    const resource: CrudOptions<Product> = { entity: Product, endpoint: '/products', access: { read: 'public' } };
    expect((await crudError(platform, { entities: [Product], resources: [resource] })).message).toBe(
      'CRUD option `access` of Product must be used with AuthModule or AccessModule, which apply it, got neither. ' +
        'Add AuthModule.forRoot({ … }) or AccessModule.forRoot({ … }) to the imports of the root module.',
    );
    await (await createCrudTestingModule([resource], [Product])).close();
  });
});

it.each<[access: object, message: string]>([
  [
    { list: 'public' },
    'CRUD option `access` of Product must be an object with only the operations findAll, read, findById, create, ' +
      'update, patch, delete, got "list". Correct or remove it.',
  ],
  [{ count: 'public' }, 'findAll, read, findById, create, update, patch, delete, got "count".'],
  [{ restore: ['ADMIN'] }, 'delete, got "restore".'],
  [
    { read: 'nobody' },
    'CRUD option `access.read` of Product must be "public", "authenticated" or an array of at least one role, got ' +
      '"nobody". Give for example ["ADMIN"].',
  ],
  [{ delete: [] }, 'CRUD option `access.delete` of Product must be "public"'],
  [{ delete: [' '] }, 'CRUD option `access.delete` of Product must be "public"'],
  [{ delete: undefined }, 'got undefined.'],
  [['ADMIN'], 'CRUD option `access` of Product must be an object, got an array of 1.'],
])('[1] refuses access: %j', (access, message) => {
  expect(() => CrudController({ entity: Product, endpoint: '/products', access: access as never })).toThrow(message);
});
