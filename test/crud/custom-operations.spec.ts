/** Operations that an application adds by the option `operations`. */
import { Readable } from 'node:stream';
import { Get, NotFoundException, StreamableFile } from '@nestjs/common';
import type { CanActivate, ExecutionContext, Provider } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import {
  AccessReport,
  AuthModule,
  AuthUser,
  CrudController,
  runAs,
  SecurityConfig,
  standardOperations,
  type CrudOptions,
  type CustomOperation,
} from 'declarest';
import { Column, DeleteDateColumn, Entity, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { TEST_SECRET } from '../harness/tokens.js';
import { startCrud, type CrudService } from './service.js';

@Entity()
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  name!: string;

  @Column({ type: 'integer' })
  sold!: number;

  @Column({ type: 'integer', default: 0 })
  cost!: number;

  @Column({ type: 'integer' })
  shopId!: number;

  @Column({ type: 'varchar', length: 40, nullable: true })
  ownerId!: string | null;

  @Column({ type: 'boolean', default: false })
  published!: boolean;

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @VersionColumn()
  version!: number;
}

const topSellers: CustomOperation<Product> = {
  name: 'topSellers',
  route: { verb: 'GET', path: 'top-sellers' },
  copyOf: 'findAll',
  description: {
    summary: 'List the best-selling {tag}',
    parameters: { most: { type: 'integer', minimum: 1, maximum: 50 } },
    data: 'records',
  },
  run: ({ find }, { query }) => find({ sort: '-sold', limit: Number(query['most'] ?? 2) }),
};

const publish: CustomOperation<Product> = {
  name: 'publish',
  route: { verb: 'POST', path: ':id/publish', status: 200 },
  description: { summary: 'Publish a {one}', text: 'Everyone sees it then.', data: 'record' },
  run: async ({ resource }, { id }) => (await resource.patch(id, { published: true })).data,
};

const summary: CustomOperation<Product> = {
  name: 'summary',
  route: { verb: 'POST', path: 'summary', status: 200 },
  description: {
    summary: 'Count products that sold so many',
    body: { type: 'object', properties: { sold: { type: 'integer' } }, required: ['sold'] },
    data: { type: 'object', properties: { products: { type: 'integer' }, user: { type: ['string', 'null'] } } },
  },
  run: async ({ count, user }, { body }) => ({
    products: await count({ sold: Number(body['sold']) }),
    user: user?.id ?? null,
  }),
};

const products: CrudOptions<Product> = {
  entity: Product,
  endpoint: '/products',
  operations: [...standardOperations, topSellers, publish, summary],
  fieldPermissions: { cost: { read: ['STAFF'] } },
  owner: { field: 'ownerId', except: ['STAFF'] },
  scope: ({ user }) => user?.roles.includes('STAFF') || { shopId: 1 },
};

/** The user is what the header says: `ann`, or `eve:STAFF`. */
class HeaderGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: object }>();
    const [id, ...roles] = (request.headers['x-user'] ?? '').split(':');
    if (id) request.user = { id, email: '', roles };
    return true;
  }
}
const guard: Provider = { provide: APP_GUARD, useClass: HeaderGuard };

const RECORDS: readonly (Partial<Product> & Pick<Product, 'name' | 'sold' | 'shopId'>)[] = [
  { name: 'Lamp', sold: 5, shopId: 1, cost: 7, ownerId: 'ann' },
  { name: 'Chair', sold: 9, shopId: 1, cost: 8, ownerId: 'ben' },
  { name: 'Table', sold: 7, shopId: 1, cost: 9, ownerId: 'ann' },
  { name: 'Secret', sold: 50, shopId: 2, cost: 1, ownerId: 'ann' },
  { name: 'Gone', sold: 60, shopId: 1, cost: 1, ownerId: 'ann', deletedAt: new Date() },
];

const ANN = { headers: { 'x-user': 'ann' } };
const STAFF = { headers: { 'x-user': 'eve:STAFF' } };
const namesOf = (answer: { json: { data: { name: string }[] } }): string[] => answer.json.data.map(({ name }) => name);

const PLACES = DATABASES.flatMap((database) =>
  PLATFORMS.slice(database === 'sqlite' ? 0 : 1).map((platform) => ({ database, platform })),
);

describe.each(PLACES)('custom operations on $platform and $database', ({ database, platform }) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, {
      database,
      entities: [Product],
      resources: [products, { ...products, endpoint: '/shops/:shopId/products', scope: () => true }],
      providers: [guard],
      isDescribed: (path) => !path.startsWith('/shops/x/'),
    });
    await service.dataSource.getRepository(Product).save(RECORDS.map((each) => ({ ...each })));
  });
  afterAll(() => service.close());

  it('[9.1] keeps to the scope, to soft deletion and to the path', async () => {
    expect(namesOf(await service.send('GET', '/products/top-sellers', ANN))).toEqual(['Chair', 'Table']);
    expect(namesOf(await service.send('GET', '/products/top-sellers?most=9', ANN))).toEqual(['Chair', 'Table', 'Lamp']);
    expect(namesOf(await service.send('GET', '/products/top-sellers', STAFF))).toEqual(['Secret', 'Chair']);
    expect(namesOf(await service.send('GET', '/shops/2/products/top-sellers', ANN))).toEqual(['Secret']);
    expect((await service.send('GET', '/shops/x/products/top-sellers', ANN)).status).toBe(404);
  });

  it('[9.3] answers an envelope with the fields that the caller may read', async () => {
    const { status, json } = await service.send('GET', '/products/top-sellers?most=1', ANN);
    expect(status).toBe(200);
    expect(json).toMatchObject({ success: true, message: 'Product topSellers', timestamp: expect.any(String) });
    expect(json.data[0]).toEqual({
      id: 2,
      name: 'Chair',
      sold: 9,
      shopId: 1,
      ownerId: 'ben',
      published: false,
      version: 1,
    });
    const staff = await service.send('GET', '/products/top-sellers?most=2', STAFF);
    expect(staff.json.data[1]).toHaveProperty('cost', 8);
  });

  it('[9.2] keeps to the owner, and answers the ETag of a record', async () => {
    expect((await service.send('POST', '/products/2/publish', ANN)).status).toBe(403);
    expect((await service.send('POST', '/products/4/publish', ANN)).status).toBe(404);
    expect((await service.send('POST', '/products/x/publish', ANN)).status).toBe(400);
    const published = await service.send('POST', '/products/1/publish', ANN);
    expect(published.json).toMatchObject({ message: 'Product publish', data: { id: 1, published: true, version: 2 } });
    expect(published.status).toBe(200);
    expect(published.headers['etag']).toBe('"2"');
  });

  it('takes a body, and counts what the caller sees', async () => {
    const { json } = await service.send('POST', '/products/summary', { ...ANN, json: { sold: 50 } });
    expect(json.data).toEqual({ products: 0, user: 'ann' });
    const staff = await service.send('POST', '/products/summary', { ...STAFF, json: { sold: 50 } });
    expect(staff.json.data).toEqual({ products: 1, user: 'eve' });
    expect((await service.send('POST', '/products/summary', { ...ANN, json: [1] })).status).toBe(400);
  });

  it('refuses parameters that are not declared, or repeated', async () => {
    const { status, json } = await service.send('GET', '/products/top-sellers?limit=3', ANN);
    expect(status).toBe(400);
    expect(json.errors).toEqual([{ field: 'limit', message: 'unknown parameter; known ones are most' }]);
    expect((await service.send('GET', '/products/top-sellers?most=1&most=2', ANN)).status).toBe(400);
    expect((await service.send('POST', '/products/1/publish?force=1', ANN)).status).toBe(400);
  });

  it('leaves the generated operations as they are', async () => {
    expect((await service.send('GET', '/products', ANN)).json.data).toHaveLength(3);
    expect((await service.send('GET', '/products/count', ANN)).status).toBe(404);
  });
});

describe('custom operations', () => {
  it('are called from code, with the rights of a user', async () => {
    class ProductsController extends CrudController(products) {
      best(): Promise<{ data: Product[] }> {
        return (this as unknown as { topSellers(query: object): Promise<{ data: Product[] }> }).topSellers({});
      }
    }
    const service = await startCrud('express', { entities: [Product], resources: [ProductsController] });
    await service.dataSource.getRepository(Product).save(RECORDS.map((each) => ({ ...each })));
    const controller = service.app.get(ProductsController);
    expect((await controller.best()).data.map(({ name }) => name)).toEqual(['Chair', 'Table']);
    const staff = await runAs({ id: 1, roles: ['STAFF'] }, () => controller.best());
    expect(staff.data.map(({ name }) => name)).toEqual(['Secret', 'Chair']);
    await service.close();
  });

  it.each(PLATFORMS)('can be overridden on %s, and are a copy of the list', async (platform) => {
    class ProductsController extends CrudController(products) {
      @Get()
      override findAll(): Promise<never> {
        throw new NotFoundException();
      }
      @Get('top-sellers')
      topSellers(): string[] {
        return ['none'];
      }
    }
    const resources = [ProductsController];
    const service = await startCrud(platform, { entities: [Product], resources, isDescribed: false });
    expect((await service.get('/products/top-sellers')).json).toEqual(['none']);
    await service.close();
    class Plain extends CrudController(products) {
      @Get()
      override findAll(): Promise<never> {
        throw new NotFoundException();
      }
    }
    const plain = await startCrud(platform, { entities: [Product], resources: [Plain], isDescribed: false });
    expect(linesOf(plain.logs, 'warn').join('\n')).toContain('Plain.findAll does not run for topSellers. Use a scope,');
    await plain.close();
  });

  it('stand beside named ones, and nothing else is generated', async () => {
    const resources = [{ ...products, operations: ['findById', topSellers] as const }];
    const service = await startCrud('fastify', { entities: [Product], resources });
    expect((await service.get('/products/top-sellers')).status).toBe(200);
    expect((await service.get('/products')).status).toBe(404);
    await service.close();
  });

  it('have a scope that knows their name', async () => {
    const seen: string[] = [];
    const scope: CrudOptions<Product>['scope'] = ({ operation }) => (seen.push(operation), true);
    const service = await startCrud('express', { entities: [Product], resources: [{ ...products, scope }] });
    await service.get('/products/top-sellers');
    await service.close();
    expect(seen).toEqual(['topSellers']);
  });

  it.each<[what: string, run: typeof topSellers.run]>([
    ['sort by what is no column', ({ find }) => find({ sort: 'colour' as never })],
    ['find a number of records that is none', ({ find }) => find({ limit: Number('many') })],
    ['find less than no records, which some databases take for all', ({ find }) => find({ limit: -1 })],
    ['return a stream, whose state is not for clients', () => Readable.from(['a'])],
    ['return a file', () => new StreamableFile(Buffer.from('a'))],
  ])('are an error of the server where they %s', async (_what, run) => {
    const resources = [{ ...products, operations: [{ ...topSellers, run }] }];
    const service = await startCrud('express', { entities: [Product], resources, isDescribed: false });
    const { status, json } = await service.get('/products/top-sellers');
    expect([status, json.message]).toEqual([500, 'Internal server error']);
    await service.close();
  });

  it.each(PLATFORMS)('know whether a PATCH would be refused, before they begin, on %s', async (platform) => {
    const check: CustomOperation<Product> = {
      name: 'check',
      route: { verb: 'PUT', path: ':id/check' },
      description: { summary: 'Check a {one}', data: { type: 'array', items: { type: 'boolean' } } },
      async run({ assertChangeable, mayWrite }, { id }) {
        await assertChangeable(id);
        return [mayWrite('sold'), mayWrite('cost'), mayWrite('ownerId'), mayWrite('id')];
      },
    };
    const fieldPermissions = { cost: { write: ['STAFF'] } };
    const resources = [{ ...products, operations: [...standardOperations, check], fieldPermissions }];
    const service = await startCrud(platform, { entities: [Product], resources, providers: [guard] });
    await service.dataSource.getRepository(Product).save(RECORDS.map((each) => ({ ...each })));
    const put = async (id: number | string, user: typeof ANN, more?: object) => {
      const headers = { ...user.headers, ...more };
      const { status, json } = await service.send('PUT', `/products/${id}/check`, { headers });
      return [status, json.data];
    };
    expect(await put(1, ANN)).toEqual([200, [true, false, false, false]]);
    expect(await put(1, STAFF)).toEqual([200, [true, true, true, false]]);
    expect((await put('x', ANN))[0]).toBe(400);
    expect((await put(4, ANN))[0]).toBe(404);
    expect((await put(2, ANN))[0]).toBe(403);
    expect((await put(1, ANN, { 'if-match': '"9"' }))[0]).toBe(412);
    expect((await put(1, ANN, { 'if-match': '"1"' }))[0]).toBe(200);
    await service.close();
  });

  it('[8.5] of PUT, PATCH and DELETE describe what `If-Match` answers', async () => {
    const rename: CustomOperation<Product> = {
      ...publish,
      name: 'rename',
      route: { verb: 'PUT', path: ':id/name' },
    };
    const resources = [{ ...products, operations: [...standardOperations, publish, rename], requireIfMatch: true }];
    const service = await startCrud('express', { entities: [Product], resources });
    const { paths } = SwaggerModule.createDocument(service.app, new DocumentBuilder().build());
    expect(Object.keys(paths['/products/{id}/name']?.put?.responses ?? {})).toEqual(
      expect.arrayContaining(['412', '428']),
    );
    // `If-Match` does not count for POST.
    expect(paths['/products/{id}/publish']?.post?.responses).not.toHaveProperty('412');
    await service.close();
  });
});

describe('a wrong custom operation is refused', () => {
  const withOperation = (operation: object) => () => CrudController({ ...products, operations: [operation as never] });
  const option = (member: string) => `CRUD option \`operations.topSellers.${member}\` of Product must be `;

  const ROUTE =
    `${option('route')}{ verb, path, status } with GET, POST, PUT, PATCH or DELETE, "top-sellers" or ":id/publish", and ` +
    '200 to 299, got ';

  it.each<[what: string, operation: object, sentence: string]>([
    [
      'a name of a hook',
      { ...topSellers, name: 'beforeCreate' },
      'CRUD option `operations.beforeCreate.name` of Product must be a name such as "topSellers", and no hook, ' +
        '"then" or "read", got "beforeCreate". Begin it with a small letter.',
    ],
    [
      'a name of an operation',
      { ...topSellers, name: 'count' },
      'CRUD option `operations` of Product must be operations with different names, got "count" twice. Name one anew.',
    ],
    [
      'a path with another parameter',
      { ...topSellers, route: { verb: 'GET', path: ':year/top' } },
      `${ROUTE}{ verb: 'GET', path: ':year/top' }. Give for example { verb: "GET", path: "top-sellers" }.`,
    ],
    [
      'another verb',
      { ...topSellers, route: { verb: 'HEAD', path: 'top' } },
      `${ROUTE}{ verb: 'HEAD', path: 'top' }. `,
    ],
    ['a number as path', { ...topSellers, route: { verb: 'GET', path: 5 } }, `${ROUTE}{ verb: 'GET', path: 5 }. `],
    [
      'a status of a failure',
      { ...topSellers, route: { ...topSellers.route, status: 999 } },
      `${ROUTE}{ verb: 'GET', path: 'top-sellers', status: 999 }. `,
    ],
    [
      'a name that clients know as that of the list',
      { ...topSellers, name: 'list' },
      'CRUD option `operations.list.name` of Product must be free in the OpenAPI document, got "list" of findAll. ' +
        'Rename it.',
    ],
    [
      'a body that is no object',
      { ...topSellers, description: { ...topSellers.description, body: { type: 'array' } } },
      `${option('description')}{ summary, text, parameters, body, data, message, tool }, of which body describes an object, got {`,
    ],
    // Nest waits for an object that has the method `then`.
    ['a promise', { ...topSellers, name: 'then' }, 'CRUD option `operations.then.name` of Product must be a name '],
    ['an entry of `access`', { ...topSellers, name: 'read' }, 'CRUD option `operations.read.name` of Product must be '],
    [
      'another operation',
      { ...topSellers, copyOf: 'list' },
      `${option('copyOf')}the name of a generated operation, got "list". Give for example "findAll".`,
    ],
    [
      'no data',
      { ...topSellers, description: { summary: 'List', limit: 9n } },
      `${option('description')}{ summary, text, parameters, body, data, message, tool }, of which body describes an object, got ` +
        `{ summary: 'List', limit: 9n }. Give for example { summary: "List the best-selling products", data: "records" }.`,
    ],
    [
      'no run',
      { ...topSellers, run: 'find' },
      `${option('run')}a function, got "find". Return the member \`data\` of the answer.`,
    ],
    [
      'an unknown member',
      { ...topSellers, status: 201 },
      'CRUD option `operations.topSellers` of Product must be an object with name, route, copyOf, description, run, ' +
        'got "status". Correct or remove it.',
    ],
  ])('%s', (_what, operation, sentence) => {
    expect(withOperation(operation)).toThrow(sentence);
  });
});

describe('access rules of custom operations', () => {
  @Entity()
  class Reader extends AuthUser {}
  class Rules extends SecurityConfig {
    override configure(): void {
      this.requireRole('ADMIN', 'GET /products');
      this.requireAuth('POST /products/**');
    }
  }
  const parts = (strict: boolean) => ({
    entities: [Reader, Product],
    // The ids of users are numbers here.
    resources: [{ ...products, owner: { field: 'shopId' as const } }],
    imports: [AuthModule.forRoot({ userClass: Reader, jwtSecret: TEST_SECRET, defaultAccess: 'public', strict })],
    providers: [Rules],
  });

  it.each(PLATFORMS)('[3.1] stand in the table on %s, with warnings for a rule of what they copy', async (platform) => {
    const service = await startCrud(platform, parts(false));
    const { rows } = service.app.get(AccessReport, { strict: false });
    const access = rows.filter(({ path }) => /top-sellers|publish|summary/.test(path));
    expect(access.map((row) => [row.method, row.path, row.access])).toEqual([
      ['GET', '/products/top-sellers', 'public'],
      ['POST', '/products/summary', 'any token'],
      ['POST', '/products/:id/publish', 'any token'],
    ]);
    expect((await service.get('/products/top-sellers')).status).toBe(200);
    expect((await service.post('/products/1/publish', {})).status).toBe(401);
    const warnings = linesOf(service.logs, 'warn').filter((line) => line.includes(' but not '));
    expect(warnings).toEqual([
      'warn [SecurityRules] Rules.requireRole("ADMIN", "GET /products") restricts GET /products but not GET ' +
        '/products/top-sellers. Restrict "GET /products/top-sellers" too, or declare a rule of its own for it.',
    ]);
    await service.close();
  });
});
