/** Entities whose classes have one name, for which Nest has one token, never share a repository. */
import { Injectable, Module, Scope } from '@nestjs/common';
import { getRepositoryToken, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthSession, AuthUser, CrudController, CrudModule, IdempotencyKey } from 'declarest';
import { Column, DataSource, Entity, PrimaryGeneratedColumn, type Repository } from 'typeorm';
import { createDatabase } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { TEST_SECRET } from '../harness/tokens.js';
import { crudError, type CrudService, startCrud, success } from './service.js';

function itemOf(table: string) {
  @Entity(table)
  class Item {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ length: 20 }) name!: string;
  }
  return Item;
}
const ShopItem = itemOf('shop_item');
const HrItem = itemOf('hr_item');
const entities = [ShopItem, HrItem];

const shop = { entity: ShopItem, endpoint: '/shop', maxListSize: 10 };
const hr = { entity: HrItem, endpoint: '/hr', maxListSize: 10 };

const REFUSAL =
  /^The repository of Item must be one of the class Item, got one of another class, for the table (hr|shop)_item\. Rename one of the classes if both have this name: Nest finds repositories by the names of classes\.$/;

const running: CrudService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

async function start(...[platform, parts]: Parameters<typeof startCrud>): Promise<CrudService> {
  const service = await startCrud(platform, parts);
  running.push(service);
  return service;
}

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  it('[4.8] refuses to start where Nest would inject the repository of another class', async () => {
    for (const resources of [
      [shop, hr],
      [hr, shop],
    ]) {
      const error = await crudError(platform, { entities, resources });
      expect(error.message).toMatch(REFUSAL);
    }
  });

  it('[4.8] refuses a module that provides the repository of another class', async () => {
    class ShopController extends CrudController(shop) {}
    @Module({ imports: [TypeOrmModule.forFeature([HrItem])], controllers: [ShopController] })
    class ShopModule {}
    const error = await crudError(platform, { entities, imports: [ShopModule] });
    expect(error.message).toMatch(REFUSAL);
  });

  it('[4.8] refuses a request-scoped controller whose repository could be that of another class', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class OfRequest {}
    class ShopController extends CrudController(shop) {
      constructor(readonly of: OfRequest) {
        super();
      }
    }
    Reflect.defineMetadata('design:paramtypes', [OfRequest], ShopController);
    @Module({ imports: [CrudModule.forFeature(ShopController)], providers: [OfRequest], exports: [OfRequest] })
    class ShopModule {}
    const error = await crudError(platform, {
      entities,
      imports: [{ module: ShopModule, global: true }, CrudModule.forFeature(hr)],
    });
    expect(error.message).toMatch(REFUSAL);
  });

  it('[4.8] serves each table of classes of one name that are registered in two modules', async () => {
    @Injectable()
    class Audit {
      constructor(@InjectRepository(HrItem) readonly items: Repository<object>) {}
    }
    @Module({ imports: [CrudModule.forFeature(hr)], providers: [Audit] })
    class HrModule {}
    const { get, post, dataSource } = await start(platform, { entities, resources: [shop], imports: [HrModule] });
    await dataSource.getRepository(HrItem).insert({ name: 'salary' });
    expect(await get('/shop')).toMatchObject({ json: success('Item list', []) });
    expect(await post('/shop', { name: 'pen' })).toMatchObject({ status: 201 });
    expect(await get('/hr')).toMatchObject({ json: { data: [{ id: 1, name: 'salary' }] } });
    expect(await dataSource.getRepository(ShopItem).find()).toMatchObject([{ id: 1, name: 'pen' }]);
  });

  it('[4.8] serves classes of one name in two data sources', async () => {
    const database = await createDatabase();
    const second = TypeOrmModule.forRoot({ ...database.options, name: 'second', entities: [HrItem] } as never);
    try {
      const { get, post } = await start(platform, {
        entities: [ShopItem],
        resources: [shop, { ...hr, dataSource: 'second' }],
        imports: [second],
      });
      expect(await post('/hr', { name: 'salary' })).toMatchObject({ status: 201 });
      expect(await get('/shop')).toMatchObject({ json: { data: [] } });
      expect(await get('/hr')).toMatchObject({ json: { data: [{ name: 'salary' }] } });
      await running.pop()?.close();
    } finally {
      await database.drop();
    }
  });

  it('[4.8] refuses a repository of another class that a provider puts in its place', async () => {
    const other = { provide: getRepositoryToken(ShopItem), inject: [DataSource] };
    const useFactory = (dataSource: DataSource) => dataSource.getRepository(HrItem).extend({});
    class ShopController extends CrudController(shop) {}
    const error = await crudError(platform, {
      entities,
      controllers: [ShopController],
      providers: [{ ...other, useFactory }],
    });
    expect(error.message).toMatch(REFUSAL);
  });

  it('[4.8] refuses an entity with the name of a table of the package only where they share a module', async () => {
    const own = (table: string, of: { name: string }) =>
      Object.defineProperty(itemOf(table), 'name', { value: of.name });
    const [key, session] = [own('own_key', IdempotencyKey), own('own_session', AuthSession)];
    const error = await crudError(platform, {
      entities: [key, IdempotencyKey],
      resources: [{ entity: key, endpoint: '/keys', maxListSize: 10, enableIdempotency: true }],
    });
    expect(error.message).toMatch(/^The repository of IdempotencyKey must be one of the class IdempotencyKey, got /);

    @Entity('people')
    class Person extends AuthUser {}
    const auth = AuthModule.forRoot({ userClass: Person, jwtSecret: TEST_SECRET, bcryptRounds: 4, sessions: true });
    const { get, post } = await start(platform, {
      entities: [session, AuthSession, Person],
      resources: [{ entity: session, endpoint: '/sessions', maxListSize: 10 }],
      imports: [auth],
      isDescribed: false,
    });
    expect(await post('/sessions', { name: 'own' })).toMatchObject({ status: 201 });
    expect(await get('/sessions')).toMatchObject({ json: { data: [{ name: 'own' }] } });
  });

  it('[2.2] keeps users whose class has the name of a table of the package', async () => {
    @Entity('people')
    class Person extends AuthUser {}
    Object.defineProperty(Person, 'name', { value: AuthSession.name });
    const auth = AuthModule.forRoot({ userClass: Person, jwtSecret: TEST_SECRET, bcryptRounds: 4, sessions: true });
    const { post, dataSource } = await start(platform, {
      entities: [AuthSession, Person],
      imports: [auth],
      isDescribed: false,
    });
    const login = { email: 'ann@example.com', password: 'long enough for all' };
    expect(await post('/api/auth/register', login)).toMatchObject({ status: 201 });
    expect(await post('/api/auth/login', login)).toMatchObject({ status: 200 });
    expect(await dataSource.getRepository(Person).find()).toMatchObject([{ email: 'ann@example.com' }]);
  });
});
