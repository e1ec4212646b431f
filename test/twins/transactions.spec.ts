/** Transactions of the application: a generated operation takes part in them as a repository does. */
import { ConflictException, Controller, HttpCode, Injectable, Module, Param, Post } from '@nestjs/common';
import { InjectTransaction, type Transaction, Transactional as ClsTransactional } from '@nestjs-cls/transactional';
import { ClsPluginTransactional, TransactionHost } from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { getDataSourceToken } from '@nestjs/typeorm';
import { AuthModule, AuthUser, CrudController, joinTransaction, UserAccounts } from 'declarest';
import { ClsModule } from 'nestjs-cls';
import { Column, DataSource, Entity, EntityManager, PrimaryGeneratedColumn, Repository } from 'typeorm';
import {
  addTransactionalDataSource,
  deleteDataSourceByName,
  initializeTransactionalContext,
} from 'typeorm-transactional';
import { Propagation, StorageDriver, Transactional } from 'typeorm-transactional';
import { type CrudService, startCrud } from '../crud/service.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { TEST_SECRET } from '../harness/tokens.js';

@Entity()
class Product {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
}

@Entity()
class LogEntry {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) text!: string;
}

@Entity()
class Account extends AuthUser {}

let hooks: string[];
class Products extends CrudController({ entity: Product, endpoint: '/products', enableBatch: true }) {
  override async afterCreate({ name }: { name: string }): Promise<void> {
    hooks.push(`created ${name}`);
  }
}

/** What each way of beginning a transaction runs: `keep` decides whether it ends well. */
type Within = <R>(work: () => Promise<R>) => Promise<R>;

/** The same steps by generated operations and by repositories. */
class Shop {
  constructor(
    readonly products: Products,
    readonly accounts: UserAccounts,
    /** The repository that hand-written code has inside of the transaction. */
    readonly repositoryOf: <T extends object>(entity: new () => T) => Repository<T>,
  ) {}

  async writeAll(): Promise<void> {
    await this.repositoryOf(LogEntry).save({ text: 'begun' });
    const { data } = await this.products.create({ name: 'one' });
    await this.products.createMany({ items: [{ name: 'two' }, { name: 'three' }] });
    await this.accounts.create({ email: 'ann@x.example', password: 'long enough 1' });
    await this.products.patch(String(data.id), { name: 'changed' });
  }

  /** Rows of the transaction are seen, and a row that it has locked can be changed. */
  async readOwn(): Promise<unknown[]> {
    const saved = await this.repositoryOf(Product).save({ name: 'saved' });
    const { data: found } = await this.products.findById(String(saved.id));
    await this.repositoryOf(Product).update(saved.id, { name: 'locked' });
    const { data: patched } = await this.products.patch(String(saved.id), { name: 'patched' });
    const { data: list } = await this.products.findAll({});
    return [found.name, patched.name, list.map(({ name }) => name)];
  }
}

const parts = (database: (typeof DATABASES)[number]) => ({
  database,
  entities: [Product, LogEntry, Account],
  resources: [Products],
  isDescribed: false,
});
const auth = () =>
  AuthModule.forRoot({ userClass: Account, jwtSecret: TEST_SECRET, bcryptRounds: 4, defaultAccess: 'public' });

const counted = async ({ dataSource }: CrudService): Promise<Record<string, number>> => ({
  products: await dataSource.getRepository(Product).count(),
  logs: await dataSource.getRepository(LogEntry).count(),
  accounts: await dataSource.getRepository(Account).count(),
});
const NOTHING = { products: 0, logs: 0, accounts: 0 };
const ALL = { products: 3, logs: 1, accounts: 1 };

/** Runs the law of one way to begin a transaction. */
function joins(
  start: () => Promise<{ service: CrudService; within: Within; repositoryOf: Shop['repositoryOf'] }>,
): void {
  let service: CrudService;
  let within: Within;
  let shop: Shop;
  beforeAll(async () => {
    const started = await start();
    ({ service, within } = started);
    shop = new Shop(service.app.get(Products), service.app.get(UserAccounts), started.repositoryOf);
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    hooks = [];
    for (const entity of [Product, LogEntry, Account]) await service.dataSource.getRepository(entity).clear();
  });

  it('[2.8] all of it is rolled back, and no `after` hook runs', async () => {
    const refused = within(async () => {
      await shop.writeAll();
      throw new ConflictException('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    expect(await counted(service)).toEqual(NOTHING);
    expect(hooks).toEqual([]);
  });

  it('[2.8] all of it is committed, and `after` hooks run then', async () => {
    await within(async () => {
      await shop.writeAll();
      expect(hooks).toEqual([]);
    });
    expect(await counted(service)).toEqual(ALL);
    expect(hooks).toEqual(['created one', 'created two', 'created three']);
  });

  it('[2.8] operations see its rows, and change rows that it has locked', async () => {
    expect(await within(() => shop.readOwn())).toEqual(['saved', 'patched', ['patched']]);
  });

  it('[2.8] [4.3] a failed operation is the failure of its own, and ends the transaction with it', async () => {
    const refused = within(async () => {
      await shop.writeAll();
      await shop.products.create({ name: 'far longer than twenty characters' });
    });
    await expect(refused).rejects.toMatchObject({ status: 400 });
    const taken = within(async () => {
      await shop.writeAll();
      await shop.accounts.create({ email: 'ann@x.example', password: 'long enough 1' });
    });
    await expect(taken).rejects.toThrow('already exists');
    expect(await counted(service)).toEqual(NOTHING);
  });

  it('[2.8] work that is not awaited belongs to no transaction that has ended', async () => {
    let late: Promise<unknown> | undefined;
    let end: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    await within(async () => {
      late = ended.then(() => shop.products.create({ name: 'late' }));
    });
    end?.();
    await late;
    expect((await counted(service))['products']).toBe(1);
  });
}

describe.each(DATABASES)('on %s', (database) => {
  describe('joinTransaction with dataSource.transaction', () => {
    let current: EntityManager | undefined;
    joins(async () => {
      const service = await startCrud('express', { ...parts(database), imports: [auth()] });
      return {
        service,
        within: (work) =>
          service.dataSource.transaction((manager) => joinTransaction(manager, () => ((current = manager), work()))),
        repositoryOf: (entity) => (current as EntityManager).getRepository(entity),
      };
    });
  });

  describe('joinTransaction with @nestjs-cls/transactional', () => {
    @Injectable()
    class Flow {
      constructor(
        @InjectTransaction() private readonly manager: Transaction<TransactionalAdapterTypeOrm>,
        readonly host: TransactionHost<TransactionalAdapterTypeOrm>,
      ) {}

      @ClsTransactional()
      run<R>(work: () => Promise<R>): Promise<R> {
        return joinTransaction(this.host.tx, work);
      }

      repositoryOf = <T extends object>(entity: new () => T): Repository<T> => this.manager.getRepository(entity);
    }
    @Module({ providers: [Flow] })
    class FlowModule {}
    joins(async () => {
      const plugin = new ClsPluginTransactional({
        adapter: new TransactionalAdapterTypeOrm({ dataSourceToken: getDataSourceToken() as string }),
        enableTransactionProxy: true,
      });
      const cls = ClsModule.forRoot({ global: true, middleware: { mount: true }, plugins: [plugin] });
      const service = await startCrud('express', { ...parts(database), imports: [auth(), cls, FlowModule] });
      const flow = service.app.get(Flow);
      return { service, within: (work) => flow.run(work), repositoryOf: flow.repositoryOf };
    });
  });

  // It patches classes of TypeORM, which other test files share.
  describe('@Transactional() of typeorm-transactional', () => {
    const { getRepository } = EntityManager.prototype;
    const { extend } = Repository.prototype;
    @Module({})
    class Transactions {
      constructor(dataSource: DataSource) {
        addTransactionalDataSource(dataSource);
      }
    }
    class Flow {
      @Transactional()
      run<R>(work: () => Promise<R>): Promise<R> {
        return work();
      }
      @Transactional({ propagation: Propagation.NOT_SUPPORTED })
      runOutside<R>(work: () => Promise<R>): Promise<R> {
        return work();
      }
    }
    const flow = new Flow();
    let running: CrudService;
    beforeAll(() => {
      initializeTransactionalContext({ storageDriver: StorageDriver.ASYNC_LOCAL_STORAGE });
    });
    afterAll(() => {
      deleteDataSourceByName('default');
      Object.assign(EntityManager.prototype, { getRepository });
      Object.assign(Repository.prototype, { extend });
      Reflect.deleteProperty(Repository.prototype, 'manager');
    });

    joins(async () => {
      running = await startCrud('express', { ...parts(database), imports: [Transactions, auth()] });
      return {
        service: running,
        within: (work) => flow.run(work),
        repositoryOf: (entity) => running.dataSource.getRepository(entity),
      };
    });

    it('[2.8] an operation inside of NOT_SUPPORTED stays outside', async () => {
      if (database === 'sqlite') return; // It has one connection.
      const refused = flow.run(async () => {
        await flow.runOutside(() => running.app.get(Products).create({ name: 'outside' }));
        throw new ConflictException('refused');
      });
      await expect(refused).rejects.toThrow('refused');
      expect((await counted(running))['products']).toBe(1);
    });
  });

  it.each(PLATFORMS)(
    '[2.8] [4.7] an override and its hand-written twin leave the same rows on %s',
    async (platform) => {
      @Injectable()
      class Overridden extends CrudController({ entity: Product, endpoint: '/generated' }) {
        constructor(private readonly dataSource: DataSource) {
          super();
        }
        @Post()
        override create(body: Record<string, unknown>): Promise<never> {
          return this.dataSource.transaction((manager) =>
            joinTransaction(manager, async () => {
              await manager.insert(LogEntry, { text: 'generated' });
              const answer = await super.create(body);
              if (body['name'] === 'refused') throw new ConflictException();
              return answer as never;
            }),
          );
        }
      }
      @Controller('handwritten')
      class Handwritten {
        constructor(private readonly dataSource: DataSource) {}
        @Post(':name')
        @HttpCode(201)
        create(@Param('name') name: string): Promise<object> {
          return this.dataSource.transaction(async (manager) => {
            await manager.insert(LogEntry, { text: 'handwritten' });
            const saved = await manager.getRepository(Product).save({ name });
            if (name === 'refused') throw new ConflictException();
            return saved;
          });
        }
      }
      const service = await startCrud(platform, {
        ...parts(database),
        resources: [Overridden],
        controllers: [Handwritten],
      });
      for (const name of ['refused', 'kept']) {
        const mine = await service.post('/generated', { name });
        const other = await service.post(`/handwritten/${name}`, {});
        expect([name, mine.status]).toEqual([name, other.status]);
      }
      expect(await service.dataSource.getRepository(Product).find()).toHaveLength(2);
      expect((await service.dataSource.getRepository(LogEntry).find()).map(({ text }) => text)).toEqual([
        'generated',
        'handwritten',
      ]);
      await service.close();
    },
  );

  it('[2.8] [8.9] a savepoint that is rolled back takes its `after` hooks with it', async () => {
    hooks = [];
    const service = await startCrud('express', parts(database));
    const products = service.app.get(Products);
    await service.dataSource.transaction((manager) =>
      joinTransaction(manager, async () => {
        await products.create({ name: 'kept' });
        const undone = manager.transaction((inner) =>
          joinTransaction(inner, async () => {
            await products.create({ name: 'undone' });
            throw new Error('undone');
          }),
        );
        await undone.catch(() => undefined);
      }),
    );
    expect((await service.get('/products')).json.data).toEqual([{ id: expect.any(Number) as number, name: 'kept' }]);
    expect(hooks).toEqual(['created kept']);
    await service.close();
  });

  it('[2.8] refuses a manager without a connection in one sentence', async () => {
    const service = await startCrud('express', parts(database));
    await expect(joinTransaction(service.dataSource.manager, () => Promise.resolve())).rejects.toThrow(
      'joinTransaction must be called with the manager of a transaction, got one without an open connection.',
    );
    await service.close();
  });
});
