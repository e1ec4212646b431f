/** `GET {base}/access`: what it says is what the operations then do. */
import { AuthModule, type AuthOptions, AuthUser, CrudModule, SecurityConfig, accessEndpoint } from 'declarest';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, DeleteDateColumn, Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import { as } from 'declarest/testing';
import { PLATFORMS, type RunningApp, startApp } from '../harness/platforms.js';
import { createDatabase } from '../harness/databases.js';
import { TEST_SECRET } from '../harness/tokens.js';

@Entity('may_users')
class User extends AuthUser {}

@Entity('may_shops')
class Shop {
  @PrimaryGeneratedColumn()
  id!: number;
}

@Entity('may_orders')
class Order {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  shopId!: number;

  @Column()
  customerId!: number;

  @Column({ default: 0 })
  discount!: number;

  @ManyToMany(() => Shop)
  @JoinTable({ name: 'may_visits' })
  visited!: Shop[];
}

const ORDERS = {
  entity: Order,
  endpoint: '/shops/:shopId/orders',
  filterableFields: ['discount', 'customerId'],
  sortableFields: ['discount', 'id'],
  includableRelations: ['visited'],
  linkableRelations: ['visited'],
  enableBatch: true,
  owner: { field: 'customerId', except: ['STAFF'] },
  fieldPermissions: { discount: { read: ['STAFF'], write: ['STAFF'] } },
  access: { read: 'public', create: 'authenticated', update: 'authenticated', delete: ['ADMIN'] },
} as const;

@Entity('may_notes')
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ default: '' })
  text!: string;

  @DeleteDateColumn()
  deletedAt!: Date | null;
}

/** The same orders, of which each tenant changes its own. */
const OF_TENANTS = {
  entity: Order,
  endpoint: '/orders',
  owner: { field: 'shopId', claim: 'tenantId' },
  access: { read: 'authenticated', update: 'authenticated' },
} as const;

const NOTES = {
  entity: Note,
  endpoint: '/notes',
  enableBatch: true,
  enableRestore: true,
  deletedRoles: ['ADMIN'],
} as const;

class Security extends SecurityConfig {
  override configure(): void {
    this.requireRole('ADMIN', '/v1/shops/*', 'PATCH /v1/notes/1', 'PATCH,DELETE /v1/notes/batch');
    this.publicEndpoints('GET /v1/notes/2');
  }
}

const AUTH: AuthOptions = {
  userClass: User,
  jwtSecret: TEST_SECRET,
  roleHierarchy: { ADMIN: ['STAFF'] },
  plugins: [accessEndpoint()],
};

describe.each(PLATFORMS)('on %s', (platform) => {
  let running: RunningApp;
  beforeAll(async () => {
    const database = await createDatabase();
    const module = {
      imports: [
        TypeOrmModule.forRoot({ ...database.options, autoLoadEntities: true, synchronize: true }),
        AuthModule.forRoot(AUTH),
        CrudModule.forFeature({ entity: Shop, endpoint: '/shops' }, ORDERS, OF_TENANTS, NOTES),
      ],
      providers: [Security],
    };
    running = await startApp(platform, module, {
      configure: (app) => void app.setGlobalPrefix('v1'),
      onClose: () => database.drop(),
    });
    const dataSource = running.app.get(DataSource);
    await dataSource.getRepository(Shop).save([{}, {}]);
    await dataSource.getRepository(Note).save([{}, {}, { deletedAt: new Date() }]);
    await dataSource.getRepository(Order).save([5, 6].map((customerId) => ({ shopId: 1, customerId })));
  });
  afterAll(() => running.close());

  const client = (role?: string, id = '5') =>
    as(running.app, role === undefined ? undefined : { roles: [role], sub: id });
  const resource = async (role?: string, at = '/v1/shops/:shopId/orders') => {
    const { status, json } = await client(role).get('/v1/api/auth/access');
    expect(status).toBe(200);
    const { authenticated, resources } = (json as { data: { authenticated: boolean; resources: { path: string }[] } })
      .data;
    expect(authenticated).toBe(role !== undefined);
    return resources.find(({ path }) => path === at);
  };

  it('says operations, fields, filters, sorts and the owner of each caller', async () => {
    const reads = ['findAll', 'findById'];
    expect(await resource()).toMatchObject({ operations: reads, owner: 'customerId' });
    expect(await resource('USER')).toEqual({
      path: '/v1/shops/:shopId/orders',
      operations: expect.toSatisfy((names: string[]) => names.includes('patch') && !names.includes('delete')),
      read: ['id', 'shopId', 'customerId', 'visitedIds'],
      create: ['shopId', 'visitedIds'],
      update: ['shopId', 'visitedIds'],
      filter: ['customerId'],
      sort: ['id'],
      include: ['visited'],
      owner: 'customerId',
      own: ['update', 'patch'],
      some: [],
    });
    const ofAdmin = await resource('ADMIN');
    expect(ofAdmin).toMatchObject({ filter: ['discount', 'customerId'], read: expect.arrayContaining(['discount']) });
    expect(ofAdmin).not.toHaveProperty('owner');
    expect(ofAdmin).toMatchObject({ operations: expect.arrayContaining(['delete', 'deleteMany']) });
  });

  it('says whether the answer for a record depends on its owner, or on something else', async () => {
    expect(await resource('STAFF')).toMatchObject({ own: [], some: [] });
    expect(await resource('USER', '/v1/orders')).toMatchObject({ own: [], some: ['update', 'patch', 'delete'] });
  });

  it('answers a token that is not valid as no token, and says so', async () => {
    const answer = await fetch(`${running.url}/v1/api/auth/access`, { headers: { authorization: 'Bearer none' } });
    expect(await answer.json()).toMatchObject({ data: { authenticated: false } });
  });

  it('says what the caller may do with one record, as the operations then do', async () => {
    for (const [role, id, order] of [
      ['USER', '5', 1],
      ['USER', '5', 2],
      ['STAFF', '5', 2],
      ['ADMIN', '5', 2],
    ] as const) {
      const path = `/v1/shops/1/orders/${order}`;
      const { json } = await client(role, id).get(`/v1/api/auth/access?record=${encodeURIComponent(path)}`);
      const { operations } = (json as { data: { record: { operations: string[] } } }).data.record;
      const patched = await client(role, id).patch(path, {});
      expect([role, order, operations.includes('patch')]).toEqual([role, order, patched.status === 200]);
      expect(operations.includes('delete')).toBe(role === 'ADMIN');
      expect(operations).toContain('findById');
    }
  });

  it('names the fields of new records only to callers who may create one', async () => {
    const created = async (role: string | undefined, path: string): Promise<unknown> => {
      const { json } = await client(role).get(`/v1/api/auth/access?record=${path}`);
      return (json as { data: { record: { create: unknown } } }).data.record.create;
    };
    expect(await created(undefined, '/v1/shops/1/orders/1')).toEqual([]);
    expect(await created('STAFF', '/v1/shops/1/orders/1')).toEqual(expect.arrayContaining(['customerId', 'discount']));
  });

  it('follows rules for a part of the paths', async () => {
    const partly = ['findById', 'patch'];
    expect(await resource('USER', '/v1/notes')).toMatchObject({
      operations: expect.arrayContaining(partly),
      some: ['patch'],
    });
    expect(await resource(undefined, '/v1/notes')).toMatchObject({ operations: ['findById'], some: ['findById'] });
    expect(await resource('ADMIN', '/v1/notes')).toMatchObject({ some: [] });
    for (const role of [undefined, 'USER', 'ADMIN'])
      for (const path of ['/v1/notes/1', '/v1/notes/2', '/v1/notes/2?fields=id']) {
        const { json } = await client(role).get(`/v1/api/auth/access?record=${encodeURIComponent(path)}`);
        const { operations = [] } = (json as { data?: { record: { operations: string[] } } }).data?.record ?? {};
        const [read, patched] = [await client(role).get(path), await client(role).patch(path.replace(/\?.*/, ''), {})];
        const expected = [read.status === 200, patched.status === 200];
        expect([role, path, operations.includes('findById'), operations.includes('patch')]).toEqual([
          role,
          path,
          ...expected,
        ]);
      }
  });

  it('says who may restore or purge a deleted record', async () => {
    const operationsFor = async (role: string): Promise<unknown> => {
      const { json } = await client(role).get('/v1/api/auth/access?record=/v1/notes/3');
      return (json as { data: { record: unknown } }).data.record;
    };
    expect(await operationsFor('ADMIN')).toMatchObject({ operations: ['delete', 'restore'], update: [] });
    expect(await operationsFor('USER')).toMatchObject({ operations: ['restore'], update: [] });
    expect((await client('ADMIN').get('/v1/notes/3')).status).toBe(404);
    for (const [role, status] of [
      ['USER', 400],
      ['ADMIN', 200],
    ] as const)
      expect([role, (await client(role).delete('/v1/notes/3?purge=true')).status]).toEqual([role, status]);
  });

  it.each<[query: string, status: number]>([
    ['record=/v1/shops/1/orders/9', 404],
    ['record=/v1/shops/2/orders/1', 404],
    ['record=/v1/shops/x/orders/1', 404],
    ['record=/v1/shops/1/orders/x', 404],
    ['record=/v1/shops/1/orders', 400],
    ['record=/none', 400],
    ['record=', 400],
    ['other=1', 400],
    ['record=/v1/shops/1/orders/1&record=/v1/shops/1/orders/2', 400],
  ])('answers %s by %d, without inner details', async (query, status) => {
    const answer = await client('USER').get(`/v1/api/auth/access?${query}`);
    expect([answer.status, answer.json]).toEqual([status, { success: false, message: expect.any(String) }]);
  });
});
