/** Extension points of TypeORM that generated operations respect: repositories of the application, and query runners. */
import { Controller, Inject, Injectable, type Provider, type Type } from '@nestjs/common';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import { CrudController } from 'declarest';
import {
  Column,
  DataSource,
  Entity,
  ManyToOne,
  PrimaryGeneratedColumn,
  type FindManyOptions,
  type QueryRunner,
  Repository,
} from 'typeorm';
import type { Answer } from '../harness/client.js';
import { DATABASES, IS_MYSQL } from '../harness/databases.js';
import { crudError, startCrud, type CrudService } from './service.js';

@Entity()
class Shop {
  @PrimaryGeneratedColumn()
  id!: number;
}

@Entity()
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20, default: 'mine' })
  tenant!: string;

  @Column({ length: 20 })
  name!: string;

  @ManyToOne(() => Shop)
  shop!: Shop | null;
}

const options = {
  entity: Product,
  endpoint: '/products',
  enablePagination: true,
  enableSearch: true,
  enableExists: true,
  searchableFields: ['name', 'tenant'],
} as const;

describe.each(DATABASES)('on %s', (database) => {
  /** The same for every application: the repository that its module provides is another one. */
  const withRepository = async (provide: (dataSource: DataSource) => Repository<Product>): Promise<CrudService> => {
    const provider: Provider = { provide: getRepositoryToken(Product), inject: [DataSource], useFactory: provide };
    class Products extends CrudController(options) {}
    Controller()(Products);
    const service = await startCrud('express', {
      database,
      entities: [Product, Shop],
      controllers: [Products],
      providers: [provider],
    });
    await service.dataSource
      .query(`INSERT INTO shop DEFAULT VALUES`)
      .catch(() => service.dataSource.query('INSERT INTO shop () VALUES ()'));
    await service.dataSource.getRepository(Product).insert([
      { name: 'lamp', tenant: 'mine', shop: { id: 1 } },
      { name: 'lamp', tenant: 'theirs' },
    ]);
    return service;
  };

  it('[4.1] every operation goes through a repository that a provider replaces', async () => {
    const calls: string[] = [];
    class TenantRepository extends Repository<Product> {
      override createQueryBuilder(alias?: string, runner?: QueryRunner) {
        const query = super.createQueryBuilder(alias, runner);
        if (alias === undefined) return query;
        calls.push('read');
        return query.where(`${alias}.tenant = 'mine'`);
      }
    }
    for (const name of ['insert', 'update', 'delete'] as const) {
      const method = Repository.prototype[name] as (...args: unknown[]) => unknown;
      Object.defineProperty(TenantRepository.prototype, name, {
        value(this: unknown, ...args: unknown[]) {
          calls.push(name);
          return method.apply(this, args);
        },
      });
    }
    const service = await withRepository((dataSource) => new TenantRepository(Product, dataSource.manager));
    const lamp = { id: 1, tenant: 'mine', name: 'lamp', shopId: 1 };
    const called = async (run: () => Promise<Answer>): Promise<unknown[]> => {
      calls.length = 0;
      const { status, json } = await run();
      return [status, json.data, calls.join(' ')];
    };
    expect(await called(() => service.get('/products?size=1'))).toEqual([200, [lamp], 'read read']);
    expect(await called(() => service.get('/products/search?q=a&name=LA&size=1'))).toEqual([200, [lamp], 'read read']);
    expect(await called(() => service.get('/products/search?name=%25'))).toEqual([200, [], 'read']);
    expect(await called(() => service.get('/products/1'))).toEqual([200, lamp, 'read']);
    expect(await called(() => service.get('/products/2'))).toEqual([404, undefined, 'read']);
    expect(await called(() => service.get('/products/exists/2'))).toEqual([200, { exists: false }, 'read']);
    expect(await called(() => service.post('/products', { name: 'desk', shopId: 1 }))).toEqual([
      201,
      { id: 3, tenant: 'mine', name: 'desk', shopId: 1 },
      'insert read',
    ]);
    expect(await called(() => service.put('/products/3', { name: 'sofa', tenant: 'mine', shopId: null }))).toEqual([
      200,
      { id: 3, tenant: 'mine', name: 'sofa', shopId: null },
      'read update read',
    ]);
    expect(await called(() => service.put('/products/2', { name: 'x' }))).toEqual([404, undefined, 'read']);
    expect(await called(() => service.del('/products/2'))).toEqual([404, undefined, 'read read']);
    expect(await called(() => service.del('/products/3'))).toEqual([200, null, 'read delete']);
    await service.close();
  });

  it('[4.1] refuses to start with a repository whose own methods restrict reads', async () => {
    class TenantRepository extends Repository<Product> {
      override find(given?: FindManyOptions<Product>): Promise<Product[]> {
        return super.find({ ...given, where: { tenant: 'mine' } });
      }
    }
    await expect(withRepository((dataSource) => new TenantRepository(Product, dataSource.manager))).rejects.toThrow(
      'The repository of Product must be one that reads by its query builder, got one with its own `find`. ' +
        'Override `createQueryBuilder`, or restrict the records by the option `scope`.',
    );
  });

  it('[4.1] a condition that a repository adds to its query builder holds for reads', async () => {
    const service = await withRepository((dataSource) =>
      dataSource.getRepository(Product).extend({
        createQueryBuilder(this: Repository<Product>, alias?: string, runner?: QueryRunner) {
          const query = Repository.prototype.createQueryBuilder.call(this, alias, runner);
          return alias === undefined ? query : query.where(`${alias}.tenant = 'mine'`);
        },
      } as never),
    );
    expect((await service.get('/products/search?name=lamp')).json.metadata.pagination.total).toBe(1);
    expect((await service.get('/products/1')).status).toBe(200);
    for (const answer of [await service.get('/products/2'), await service.put('/products/2', { name: 'x' })])
      expect(answer.status).toBe(404);
    expect((await service.get('/products/exists/2')).json.data).toEqual({ exists: false });
    await service.close();
  });

  it('[4.6] a query runner of the application runs every statement', async () => {
    const seen: string[] = [];
    @Injectable()
    class Wrapped {
      constructor(@Inject(DataSource) dataSource: DataSource) {
        const create = dataSource.createQueryRunner.bind(dataSource);
        const known = new WeakSet<QueryRunner>();
        dataSource.createQueryRunner = (mode) => {
          const runner = create(mode);
          if (known.has(runner)) return runner;
          known.add(runner);
          const query = runner.query.bind(runner);
          runner.query = ((sql: string, ...more: []) => {
            seen.push(sql.split(' ')[0]!);
            return query(sql, ...more);
          }) as typeof query;
          return runner;
        };
      }
    }
    const service = await startCrud('express', {
      database,
      entities: [Product, Shop],
      resources: [options],
      providers: [Wrapped],
      path: 'compiled',
    });
    seen.length = 0;
    await service.post('/products', { name: 'lamp' });
    await service.get('/products?size=1');
    await service.get('/products/search?q=lamp&size=1');
    await service.get('/products/1');
    await service.get('/products/exists/1');
    await service.put('/products/1', { name: 'desk' });
    await service.del('/products/1');
    const [begin, end] = database === 'sqlite' ? ['BEGIN ', ' COMMIT'] : ['START ', ' COMMIT'];
    const update = database === 'postgres' ? 'UPDATE' : `${begin}UPDATE SELECT${end}`;
    // MySQL has no INSERT RETURNING.
    const insert = database === 'mariadb' && IS_MYSQL ? 'INSERT SELECT' : 'INSERT';
    expect(seen.join(' ')).toBe(`${insert} SELECT SELECT SELECT SELECT SELECT SELECT ${update} DELETE`);
    await service.close();
  });
});

it('[4.1] refuses to start with an object that only looks like a repository', async () => {
  const fake = { find: async () => [{ id: 7, name: 'fake' }], count: async () => 1 };
  const { message } = await crudError('express', {
    entities: [Product, Shop],
    controllers: [class extends CrudController(options) {}] as Type[],
    imports: [TypeOrmModule.forFeature([Shop])],
    providers: [{ provide: getRepositoryToken(Product), useValue: fake }],
  });
  expect(message).toMatch(/^The repository of Product must be one that reads by its query builder, got one with/);
});
