/** The rows and fields of the access table, and the changes of a table that count as wider. */
import { Get } from '@nestjs/common';
import { standardOperations, type CustomOperation, type ListQuery, type ScopeContext } from 'declarest';
import { Between, In, IsNull, LessThan, Like, Raw } from 'typeorm';
import { PLATFORMS } from '../../harness/platforms.js';
import { type Order, type Changes, changesBetween, OPTIONS, tableOf, type Tenant, type Variant } from './shop.js';

const NOT_SECRET = [['name != "secret"', 'name is not null']];
const CODE = [[expect.stringMatching(/^code: scope of Article#[0-9a-f]{8}$/)]];
const scoped = (scope: unknown): Variant => ({ options: { Article: { scope } } });

it.each(PLATFORMS)('says rows, fields and related records on %s', async (platform) => {
  const { callers, resources } = await tableOf(platform);
  expect(callers).toEqual(['nobody', 'USER', 'STAFF', 'ADMIN']);
  const [product, category, order, article] = resources;
  const deletes = { nobody: 'none', USER: 'none', STAFF: 'none', ADMIN: 'all' };
  expect(product?.rows['DELETE /api/products/:id']).toEqual(deletes);
  expect(product?.fields['cost']).toEqual({ read: ['ADMIN'], create: ['ADMIN'], update: ['ADMIN'] });
  expect(product?.fields['id']).toEqual({ read: 'all', create: 'none', update: 'none' });
  expect(product?.fields['deletedAt']?.read).toEqual(['ADMIN']);
  expect(product?.deleted).toEqual(['ADMIN']);
  // Of users, the scope reads the e-mail address in a way that no condition says.
  const ofUsers = [[expect.stringMatching(/^code: CategoryScope#[0-9a-f]{8}$/)]];
  const reading = { nobody: NOT_SECRET, USER: ofUsers, STAFF: ofUsers, ADMIN: ofUsers };
  expect(category?.rows['GET /api/categories']).toEqual(reading);
  expect(product?.related['category']?.rows).toEqual(category?.rows['GET /api/categories']);
  const own = [['own (customerId)']];
  expect(order?.rows['GET /api/orders']).toEqual({ nobody: 'none', USER: own, STAFF: own, ADMIN: 'all' });
  expect(order?.fields['customerId']).toEqual({ read: 'all', create: ['ADMIN'], update: ['ADMIN'] });
  const any = [
    ['own (authorId)'],
    ['status = "new"', 'tenantId = :tenantId'],
    ['status = "open"', 'tenantId = :tenantId'],
  ];
  expect(article?.rows['GET /api/articles/count']).toEqual({ nobody: 'none', USER: any, STAFF: any, ADMIN: any });
});

it.each<[scope: (context: ScopeContext<Tenant>) => unknown, rows: unknown]>([
  [() => true, 'all'],
  [() => false, 'none'],
  [async ({ user }) => ({ tenantId: user?.tenantId }), [['tenantId = :tenantId']]],
  [({ user }) => (user?.tenantId ? { title: Like(`${user.tenantId}-%`) } : false), [['title like ":tenantId-*"']]],
  [({ user }) => (user?.email.endsWith('@shop.example') ? true : { status: 'open' }), CODE],
  [() => ({ tenantId: Between(3, 5), title: IsNull() }), [['tenantId <= 5', 'tenantId >= 3', 'title is null']]],
  [
    ({ user }) => ({ authorId: Raw((column) => `${column} > :id`, { id: user?.id }) }),
    [['authorId > :id {"id":":id"}']],
  ],
  [({ user }) => [{ authorId: user?.id }, { authorId: user?.id, status: 'open' }], [['own (authorId)']]],
  [({ operation }) => ({ status: operation }), [['status = "findAll"']]],
  [({ user }) => (user?.roles.includes('STAFF') ? true : { status: 'open' }), [['status = "open"']]],
  [({ user }) => (Number(user?.id) > 1_000 ? true : { status: 'open' }), CODE],
  [() => ({ tenantId: LessThan(Math.random()) }), CODE],
  // A claim is read whose name begins that of another, which is compared.
  [({ user }) => Reflect.get(user ?? {}, 'tenant') === 'x' || { tenantId: user?.tenantId }, CODE],
  [({ user }) => ('superuser' in (user ?? {}) ? true : { authorId: user?.id }), CODE],
  [({ user }) => (Object.hasOwn(user ?? {}, 'superuser') ? true : { authorId: user?.id }), CODE],
  [
    ({ user }) => {
      const { ...all } = user as object;
      return 'superuser' in all ? true : { authorId: user?.id };
    },
    CODE,
  ],
  [() => Promise.reject(new Error('No database')), CODE],
  [
    ({ user }) => (user?.tenantId ? { tenantId: user.tenantId } : true),
    [['tenantId = :tenantId', 'user with tenantId'], ['user without tenantId']],
  ],
])('says the rows of the scope %s', async (scope, rows) => {
  const { resources } = await tableOf('express', scoped(scope));
  expect(resources[3]?.rows['GET /api/articles']?.['USER']).toEqual(rows);
});

it('says that a scope through a relation leaves out deleted records', async () => {
  const { resources } = await tableOf('express', {
    options: { Order: { owner: undefined, scope: () => [{ product: { name: 'Pen' } }, { customerId: 1 }] } },
  });
  const order = resources.find(({ entity }) => entity === 'Order');
  expect(order?.rows['GET /api/orders']?.['USER']).toEqual([
    ['customerId = 1'],
    ['product (deletedAt is null)', 'product (name = "Pen")'],
  ]);
});

const user = (of: ScopeContext<Tenant>) => of.user as NonNullable<typeof of.user>;
const both = (restricted: object, of: ScopeContext<Tenant>) => [restricted, { authorId: Number(user(of).id) }];
const article = (scope: (of: ScopeContext<Tenant>) => unknown): Changes => ({
  Article: { scope: (of: ScopeContext<Tenant>) => (of.user ? scope(of) : false) },
});
const { owner } = OPTIONS.Order;
const { access, fieldPermissions } = OPTIONS.Product;

it.each<[what: string, variant: Variant, sentence: string]>([
  [
    'no owner',
    { options: { Order: { owner: undefined } } },
    'USER, STAFF: GET /api/orders: was own (customerId), is all',
  ],
  [
    'an owner whom others see',
    { options: { Order: { owner: { ...owner, reads: false } } } },
    'USER, STAFF: GET /api/orders: was own (customerId), is all',
  ],
  [
    'a further role without owner',
    { options: { Order: { owner: { ...owner, except: ['ADMIN', 'STAFF'] } } } },
    'STAFF: GET /api/orders: was own (customerId), is all',
  ],
  [
    'no field permissions',
    { options: { Product: { fieldPermissions: {} } } },
    'nobody, USER, STAFF: Product.cost was not readable, is readable',
  ],
  [
    'a further reader',
    { options: { Product: { fieldPermissions: { cost: { ...fieldPermissions.cost, read: ['STAFF'] } } } } },
    'STAFF: Product.cost was not readable, is readable',
  ],
  [
    'a field to write',
    { options: { Product: { fieldPermissions: { cost: { read: ['ADMIN'] } } } } },
    'nobody, USER, STAFF: Product.cost was not writable, is writable',
  ],
  [
    'a field to write once',
    { options: { Product: { fieldPermissions: { cost: { read: ['ADMIN'], write: 'once' } } } } },
    'nobody, USER, STAFF: Product.cost was not writable in new records, is writable in new records',
  ],
  [
    'another role to delete',
    { options: { Product: { access: { ...access, delete: ['STAFF'] } } } },
    'access.delete of Product) -> STAFF or ADMIN',
  ],
  [
    'no role to create',
    { options: { Product: { access: { ...access, create: 'authenticated' } } } },
    'access.create of Product) -> any token',
  ],
  ['no scope', { options: { Article: { scope: undefined } } }, 'USER, STAFF, ADMIN: GET /api/articles: was'],
  [
    'a scope without the tenant',
    { options: article((of) => both({ status: In(['open', 'new']) }, of)) },
    'USER, STAFF, ADMIN: GET /api/articles: was',
  ],
  [
    'a scope without the status',
    { options: article((of) => both({ tenantId: user(of).tenantId }, of)) },
    'is own (authorId), or tenantId = :tenantId',
  ],
  [
    'a scope of another status',
    { options: article((of) => both({ tenantId: user(of).tenantId, status: In(['open', 'new', 'old']) }, of)) },
    'or status = "old" and tenantId = :tenantId',
  ],
  [
    'a scope with an alternative',
    { options: article((of) => [...both({ tenantId: user(of).tenantId, status: 'open' }, of), { title: 'News' }]) },
    'or title = "News"',
  ],
  [
    'a scope for nobody',
    scoped(({ user: of }: ScopeContext) => (of ? false : { status: 'open' })),
    'nobody: GET /api/articles: was none, is status = "open"',
  ],
  [
    'another role that sees deleted records',
    { options: { Product: { deletedRoles: ['STAFF'] } } },
    'STAFF: deleted records of Product were none, are all',
  ],
  [
    'a relation to records without a resource',
    { options: { Product: { includableRelations: ['category', 'tags'] } } },
    'everybody: Tag through Product.tags: was none, is all',
  ],
  [
    'a relation without the scope',
    { options: { Category: { scope: undefined } } },
    'nobody: GET /api/categories: was name != "secret" and name is not null, is all, in 3 places',
  ],
  [
    'a role that includes another',
    { hierarchy: { STAFF: ['ADMIN'] } },
    'STAFF: GET /api/orders: was own (customerId), is all',
  ],
  ['a public route', { rules: (config) => config.publicEndpoints('GET /api/orders') }, 'GET /api/orders: any token'],
])('finds %s wider', async (_what, variant, sentence) => {
  const changes = changesBetween(await tableOf('express'), await tableOf('express', variant));
  expect(changes.filter(({ kind }) => kind === 'wider').map((each) => each.sentence)).toContainEqual(
    expect.stringContaining(sentence),
  );
});

it('finds rows wider whose entity has another name', async () => {
  const { resources, ...before } = await tableOf('express');
  const renamed = { ...before, resources: resources.map((each) => ({ ...each, entity: `Old${each.entity}` })) };
  const changes = changesBetween(renamed, await tableOf('express', { options: { Order: { owner: undefined } } }));
  const sentences = changes.filter(({ kind }) => kind === 'wider').map(({ sentence }) => sentence);
  expect(sentences).toContain('USER, STAFF: GET /api/orders: was own (customerId), is all, in 6 places');
});

it('finds rows wider whose route became narrower', async () => {
  const before = scoped(({ user: of }: ScopeContext) => (of ? { title: 'or none' } : false));
  const after: Variant = { options: { Article: { scope: undefined, access: { read: ['STAFF'] } } } };
  const changes = changesBetween(await tableOf('express', before), await tableOf('express', after));
  const sentences = changes.filter(({ kind }) => kind === 'wider').map(({ sentence }) => sentence);
  expect(sentences).toContain('STAFF, ADMIN: GET /api/articles: was title = "or none", is all, in 3 places');
});

it.each<[what: string, variant: Variant]>([
  ['nothing', {}],
  ['the order of roles', { options: { Order: { owner: { ...owner, except: ['ADMIN', 'ADMIN'] } } } }],
  [
    'a role that the hierarchy gives already',
    { options: { Product: { access: { ...access, update: ['STAFF', 'ADMIN'] } } } },
  ],
  [
    'a scope in other words',
    {
      options: article((of) => [
        { authorId: user(of).id },
        { status: 'new', tenantId: user(of).tenantId },
        { tenantId: Number(user(of).tenantId), status: 'open' },
      ]),
    },
  ],
  ['a narrower scope', { options: article((of) => ({ authorId: Number(user(of).id), status: 'open' })) }],
  [
    'fewer values of a scope',
    { options: article((of) => both({ tenantId: user(of).tenantId, status: In(['open']) }, of)) },
  ],
  [
    'a field that only some write',
    { options: { Product: { fieldPermissions: { ...fieldPermissions, name: { write: ['ADMIN'] } } } } },
  ],
  [
    'a field that nobody reads',
    { options: { Product: { fieldPermissions: { cost: { read: 'never', write: 'never' } } } } },
  ],
  ['a resource for fewer roles', { options: { Category: { access: { read: ['STAFF'] } } } }],
  ['no role that sees deleted records', { options: { Product: { deletedRoles: [] } } }],
  ['fewer relations', { options: { Product: { includableRelations: [] } } }],
  ['pages', { options: { Article: { enablePagination: true } } }],
  ['sorting', { options: { Order: { sortableFields: ['quantity'] } } }],
  ['a new route with the default access', { options: { Order: { enableCount: true } } }],
  ['larger batches', { options: { Product: { maxBatchSize: 500 } } }],
  ['a relation to records that callers list', { options: { Order: { includableRelations: ['product'] } } }],
  ['a new role without power', { hierarchy: { ADMIN: ['STAFF'], STAFF: ['EDITOR'] } }],
  ['a narrower rule', { rules: (config) => config.requireRole('STAFF', '/api/orders/**') }],
  ['fewer operations', { options: { Order: { operations: ['findAll', 'findById'] } } }],
  ['an owner of a resource', { options: { Article: { owner: { field: 'authorId', reads: true } } } }],
])('finds %s not wider', async (_what, variant) => {
  const changes = changesBetween(await tableOf('express'), await tableOf('express', variant));
  expect(changes.filter(({ kind }) => kind === 'wider')).toEqual([]);
});

it('names the code of overridden and custom operations as an alternative to the conditions', async () => {
  const latest: CustomOperation<Order> = {
    name: 'latest',
    route: { verb: 'GET', path: 'latest' },
    description: { summary: 'List the latest orders', data: 'records' },
    run: ({ find }) => find({ sort: '-id', limit: 3 }),
  };
  const variant: Variant = {
    options: { Order: { operations: [...standardOperations, latest] } },
    extend(Base) {
      class Orders extends Base {
        @Get()
        override findAll(query: ListQuery) {
          return super.findAll({ ...query, sort: '-id' });
        }
      }
      return Orders as typeof Base;
    },
  };
  const { resources } = await tableOf('express', variant);
  expect(resources[2]?.rows['GET /api/orders']?.['USER']).toEqual([['code: Orders.findAll'], ['own (customerId)']]);
  expect(resources[2]?.rows['GET /api/orders/latest']).toMatchObject({
    USER: [['code: latest'], ['own (customerId)']],
    ADMIN: 'all',
  });
  expect(resources[2]?.rows['GET /api/orders/:id']?.['ADMIN']).toBe('all');
});

it('finds code wider that no condition says, where its source has changed', async () => {
  const [before, after] = await Promise.all([
    tableOf(
      'express',
      scoped(({ user: of }: ScopeContext) => of !== undefined && Number(of.id) > 500),
    ),
    tableOf(
      'express',
      scoped(({ user: of }: ScopeContext) => of !== undefined && Number(of.id) > 400),
    ),
  ]);
  const changes = changesBetween(before, after);
  expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(['wider']));
  expect(changes[0]?.sentence).toMatch(
    /was code: scope of Article#\w{8}, is code: scope of Article#\w{8}, in 7 places$/,
  );
});
