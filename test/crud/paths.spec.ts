import { Inject, Injectable, type Type } from '@nestjs/common';
import {
  AfterInsert,
  AfterLoad,
  AfterRecover,
  AfterRemove,
  AfterSoftRemove,
  AfterUpdate,
  BeforeInsert,
  BeforeRecover,
  BeforeRemove,
  BeforeSoftRemove,
  BeforeUpdate,
  ChildEntity,
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  JoinColumn,
  type Logger,
  ManyToOne,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
  Tree,
  TreeChildren,
  TreeParent,
  ViewColumn,
  ViewEntity,
  VirtualColumn,
} from 'typeorm';
import { TypeOrmModule } from '@nestjs/typeorm';
import { linesOf } from '../harness/platforms.js';
import { type CrudParts, type CrudService, startCrud } from './service.js';

/** Keeps every statement. */
class Statements implements Logger {
  readonly texts: string[] = [];
  readonly values: unknown[][] = [];

  logQuery(sql: string, parameters: unknown[] = []): void {
    this.texts.push(sql);
    this.values.push(parameters);
  }
  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}

type Access = 'read' | 'create' | 'update' | 'delete';
/** Why an access goes through the repository; those that are not there are compiled. */
type Expected = Partial<Record<Access, string>>;
const every = (reason: string): Expected => ({ read: reason, create: reason, update: reason, delete: reason });
const OPERATIONS = { read: 'findAll, findById, search, exists', create: 'create', update: 'update', delete: 'delete' };

/** TypeORM writes a number into the text of a statement, and this one stands in no other. */
const NUMBER = 47_110_815;

/** Which way each access takes, by the statements that it runs. */
async function pathsOf(
  service: CrudService,
  { texts }: Statements,
  { entity, ...more }: { entity: Type },
): Promise<Record<Access, string>> {
  const pathOf = async (verb: string, run: () => Promise<{ status: number; text: string }>): Promise<string> => {
    texts.length = 0;
    const { status, text } = await run();
    if (status >= 400) throw new Error(text);
    const ran = texts.filter((each) => each.startsWith(verb));
    if (ran.length === 0) throw new Error(`No ${verb} among ${texts.join('\n')}`);
    return ran.some((each) => each.includes(`${NUMBER}`)) ? 'repository' : 'compiled';
  };
  const body = { amount: NUMBER, ...more };
  const { json } = await service.post('/api/things', body);
  const table = service.dataSource.getMetadata(entity).tableName;
  await service.dataSource.query(`UPDATE "${table}" SET id = ${NUMBER} WHERE id = ${json.data.id}`);
  const path = `/api/things/${NUMBER}`;
  const deletion = service.dataSource.entityMetadatas.some((each) => each.deleteDateColumn) ? 'UPDATE' : 'DELETE';
  return {
    read: await pathOf('SELECT', () => service.get(path)),
    create: await pathOf('INSERT', () => service.post('/api/things', body)),
    update: await pathOf('UPDATE', () => service.put(path, { ...body, amount: 1 })),
    delete: await pathOf(deletion, () => service.del(path)),
  };
}

/** Holds the statements and the line in the log against what is expected. */
async function expectPaths(
  entity: Type,
  expected: Expected,
  { body = {}, late, ...parts }: CrudParts & { body?: object; late?: (service: CrudService) => void } = {},
): Promise<void> {
  const statements = new Statements();
  const service = await startCrud('express', {
    entities: [entity, Other],
    resources: [{ entity, endpoint: '/api/things' }],
    path: 'compiled',
    ...parts,
    dataSource: { logger: statements, ...parts.dataSource },
  });
  try {
    if (!late) {
      const [line, ...others] = linesOf(service.logs, 'debug').filter((each) => each.includes(`${entity.name}: `));
      expect(others).toEqual([]);
      for (const access of Object.keys(OPERATIONS) as Access[]) {
        const reason = expected[access];
        if (reason !== undefined) expect(line).toContain(`${OPERATIONS[access]} through the repository (${reason})`);
        else expect(line).toMatch(new RegExp(`: ([\\w, ]+, )?${OPERATIONS[access]}(, [\\w, ]+)? compiled`));
      }
    }
    late?.(service);
    expect(await pathsOf(service, statements, { entity, ...body })).toEqual(
      Object.fromEntries(
        Object.keys(OPERATIONS).map((access) => [access, expected[access as Access] ? 'repository' : 'compiled']),
      ),
    );
  } finally {
    await service.close();
  }
}

/** An entity of its own for each case, named Thing. */
function thing(declare: (prototype: object) => void = () => undefined, Base: Type = Object): Type {
  class Thing extends Base {
    id!: number;
    amount!: number;
    hear(): void {}
  }
  PrimaryGeneratedColumn()(Thing.prototype, 'id');
  Column({ type: 'int' })(Thing.prototype, 'amount');
  declare(Thing.prototype);
  Entity()(Thing);
  return Thing;
}

@Entity()
class Other {
  @PrimaryGeneratedColumn()
  id!: number;
}

abstract class Named {
  @Column({ type: 'varchar', nullable: true })
  name!: string | null;

  get shown(): string {
    return this.name ?? '';
  }
}

describe('[4.6] the path of each access, by what an entity declares', () => {
  it.each<[name: string, entity: () => Type, expected: Expected, parts?: CrudParts & { body?: object }]>([
    ['nothing', () => thing(), {}],
    ['an abstract base class with a getter', () => thing(undefined, Named as unknown as Type), {}],
    ['a delete date', () => thing((type) => DeleteDateColumn()(type, 'deleted')), {}],
    ['a relation', () => thing((type) => ManyToOne(() => Other)(type, 'other')), {}],
    ['a lazy relation', () => thing((type) => ManyToOne(() => Other, { lazy: true })(type, 'other')), {}],
    [
      'an eager relation',
      () => thing((type) => ManyToOne(() => Other, { eager: true })(type, 'other')),
      every('an eager relation'),
    ],
    [
      'a relation with a column of its own for the key',
      () =>
        thing((type) => {
          Column({ type: 'int', nullable: true })(type, 'otherId');
          OneToOne(() => Other)(type, 'other');
          JoinColumn({ name: 'otherId' })(type, 'other');
        }),
      {},
    ],
    [
      'a transformer',
      () =>
        thing((type) =>
          Column({
            type: 'int',
            nullable: true,
            transformer: { to: (value) => value as never, from: (value) => value as never },
          })(type, 'price'),
        ),
      every('a value transformer'),
    ],
    [
      'an embedded',
      () => {
        class Place {
          city!: string | null;
        }
        Column({ type: 'varchar', nullable: true })(Place.prototype, 'city');
        return thing((type) => Column(() => Place)(type, 'place'));
      },
      every('embedded columns'),
    ],
    [
      'a virtual column',
      () => thing((type) => VirtualColumn({ query: (alias) => `SELECT ${alias}.id + 1`, type: 'int' })(type, 'next')),
      every('a virtual column'),
    ],
    [
      'jsonb',
      () => thing((type) => Column({ type: 'jsonb', nullable: true })(type, 'data')),
      every('a column written by a function of the database'),
    ],
    [
      'an accessor of its class',
      () => {
        const type = thing((prototype) => Column({ type: 'varchar', nullable: true })(prototype, 'name'));
        Object.defineProperty(type.prototype, 'name', { get: () => 'got', set: () => {}, configurable: true });
        return type;
      },
      every('a column behind a getter or setter'),
    ],
    [
      'an accessor of its constructor',
      () => {
        class Base {
          declare name: string;

          constructor() {
            Object.defineProperty(this, 'name', { get: () => 'got', set: () => {}, enumerable: true });
          }
        }
        return thing((type) => Column({ type: 'varchar', nullable: true })(type, 'name'), Base);
      },
      every('a column behind a getter or setter'),
    ],
    [
      'a default that is a function',
      () => {
        class Base {
          name = (): string => "'made'";
        }
        return thing((type) => Column({ type: 'varchar', nullable: true })(type, 'name'), Base);
      },
      every('a column whose default is a function'),
    ],
    [
      'a relation that its constructor fills',
      () => {
        class Base {
          other = new Other();
        }
        return thing((type) => ManyToOne(() => Other)(type, 'other'), Base);
      },
      every('a relation that its constructor fills'),
    ],
    [
      'a tree',
      () =>
        thing((type) => {
          TreeParent()(type, 'parent');
          TreeChildren()(type, 'children');
          Reflect.defineMetadata('design:type', type.constructor, type, 'parent');
          Tree('materialized-path')(type.constructor);
        }),
      every('a tree'),
    ],
    ['the query cache', () => thing(), every('the query cache'), { dataSource: { cache: { alwaysEnabled: true } } }],
    ['a query cache that is asked for', () => thing(), {}, { dataSource: { cache: true } }],
  ])('%s', (...[, entity, expected, parts]) => expectPaths(entity(), expected, parts));

  it('a table of several classes', async () => {
    @Entity()
    @TableInheritance({ column: { type: 'varchar', name: 'kind' } })
    class Parent {
      @PrimaryGeneratedColumn()
      id!: number;

      @Column({ type: 'int' })
      amount!: number;
    }
    @ChildEntity()
    class Child extends Parent {
      @Column({ type: 'int', nullable: true })
      more!: number | null;
    }
    for (const entity of [Parent, Child]) {
      const service = await startCrud('express', {
        entities: [Parent, Child],
        resources: [{ entity, endpoint: '/api/things' }],
        path: 'compiled',
      });
      const [line] = linesOf(service.logs, 'debug').filter((each) => each.includes(`${entity.name}: `));
      expect(line?.match(/through the repository \(inheritance\)/g)).toHaveLength(4);
      expect((await service.post('/api/things', { amount: 1 })).status).toBe(201);
      await service.close();
    }
  });

  it('a class that another one extends, each with a table of its own', async () => {
    @Entity()
    class Base {
      @PrimaryGeneratedColumn()
      id!: number;

      @Column({ type: 'int' })
      amount!: number;
    }
    @Entity()
    class Extended extends Base {
      @Column({ type: 'int', nullable: true })
      more!: number | null;
    }
    await expectPaths(Base, {}, { entities: [Base, Extended, Other] });
    await expectPaths(Extended, {}, { entities: [Extended, Base, Other] });
    const answers = async (path: 'compiled' | 'repository'): Promise<string[]> => {
      const endpoints = { '/bases': Base, '/extended': Extended };
      const resources = Object.entries(endpoints).map(([endpoint, entity]) => ({ entity, endpoint }));
      const service = await startCrud('express', { entities: [Base, Extended], resources, path });
      const texts: string[] = [];
      for (const endpoint of Object.keys(endpoints)) {
        await service.post(endpoint, { amount: 1, ...(endpoint === '/extended' && { more: 2 }) });
        await service.put(`${endpoint}/1`, { amount: 3 });
        for (const { text } of [await service.get(`${endpoint}/1`), await service.get(endpoint)])
          texts.push(text.replace(/"timestamp":"[^"]*"/, ''));
      }
      await service.close();
      return texts;
    };
    expect(await answers('compiled')).toEqual(await answers('repository'));
  });

  it.each<[decorator: () => PropertyDecorator, expected: Expected]>([
    [AfterLoad, { read: 'its @AfterLoad listener' }],
    [BeforeInsert, { create: 'its @BeforeInsert listener' }],
    [AfterInsert, { create: 'its @AfterInsert listener' }],
    [BeforeUpdate, { update: 'its @BeforeUpdate listener' }],
    [AfterUpdate, { update: 'its @AfterUpdate listener' }],
    [BeforeRemove, { delete: 'its @BeforeRemove listener' }],
    [AfterRemove, { delete: 'its @AfterRemove listener' }],
    [BeforeSoftRemove, { delete: 'its @BeforeSoftRemove listener' }],
    [AfterSoftRemove, { delete: 'its @AfterSoftRemove listener' }],
    [BeforeRecover, {}],
    [AfterRecover, {}],
  ])('a listener: %p', async (decorator, expected) => {
    await expectPaths(
      thing((type) => decorator()(type, 'hear')),
      expected,
    );
    // One of its base class is its own.
    class Base {
      hear(): void {}
    }
    decorator()(Base.prototype, 'hear');
    await expectPaths(thing(undefined, Base), expected);
  });

  const subscriber = (hooks: readonly string[], listenTo?: () => unknown): Type => {
    class Hears {
      readonly isIdle = true;
    }
    for (const hook of hooks)
      Object.defineProperty(Hears.prototype, hook, { value: () => undefined, configurable: true });
    if (listenTo) Object.defineProperty(Hears.prototype, 'listenTo', { value: listenTo });
    EventSubscriber()(Hears);
    return Hears;
  };
  const HEARD = 'the subscriber Hears';

  it.each<[hook: string, expected: Expected]>([
    ['afterLoad', { read: HEARD }],
    ['beforeInsert', { create: HEARD }],
    ['afterInsert', { create: HEARD }],
    ['beforeUpdate', { update: HEARD }],
    ['afterUpdate', { update: HEARD }],
    ['beforeRemove', { delete: HEARD }],
    ['afterRemove', { delete: HEARD }],
    ['beforeSoftRemove', { delete: HEARD }],
    ['afterSoftRemove', { delete: HEARD }],
    ['beforeRecover', {}],
    ['afterRecover', {}],
    ['beforeTransactionStart', {}],
    ['afterTransactionCommit', {}],
    ['beforeQuery', every(HEARD)],
    ['afterQuery', every(HEARD)],
  ])('a subscriber with %s', async (hook, expected) => {
    await expectPaths(thing(), expected, { dataSource: { subscribers: [subscriber([hook])] } });
  });

  it('a subscriber of this entity, of its base class, of another one, of none', async () => {
    class Base {
      readonly isBase = true;
    }
    const entity = thing(undefined, Base);
    const hears = (listenTo: () => unknown, expected: Expected, hook = 'afterLoad'): Promise<void> =>
      expectPaths(entity, expected, { dataSource: { subscribers: [subscriber([hook], listenTo)] } });
    await hears(() => entity, { read: HEARD });
    await hears(() => Base, { read: HEARD });
    await hears(() => Object, { read: HEARD });
    await hears(() => undefined, { read: HEARD });
    await hears(() => Other, {});
    await hears(() => class extends (entity as Type<object>) {}, {});
    // Every statement is told to whoever hears of statements, whatever it listens to.
    await hears(() => Other, every(HEARD), 'beforeQuery');
  });

  it('a subscriber that a provider adds', async () => {
    class Hears implements EntitySubscriberInterface {
      beforeInsert(): void {}
    }
    @Injectable()
    class Adds extends Hears {
      constructor(@Inject(DataSource) dataSource: DataSource) {
        super();
        dataSource.subscribers.push(new Hears());
      }
    }
    await expectPaths(thing(), { create: HEARD }, { providers: [Adds] });
  });

  it('a subscriber that is added, and taken away, when the application is up', async () => {
    class Hears implements EntitySubscriberInterface {
      afterLoad(): void {}
    }
    await expectPaths(thing(), { read: HEARD }, { late: ({ dataSource }) => dataSource.subscribers.push(new Hears()) });
    await expectPaths(
      thing(),
      {},
      {
        dataSource: { subscribers: [subscriber(['afterLoad'])] },
        late: ({ dataSource }) => dataSource.subscribers.pop(),
      },
    );
    await expectPaths(
      thing(),
      { read: HEARD },
      {
        dataSource: { subscribers: [subscriber(['afterLoad'], () => Other)] },
        late: ({ dataSource }) => dataSource.subscribers.splice(0, 1, new Hears()),
      },
    );
  });

  it('a key that is a date', async () => {
    @Entity()
    class Day {
      @PrimaryColumn({ type: 'datetime' })
      id = new Date('2026-01-31T09:30:15Z');

      @Column()
      name!: string;
    }
    const { post, get, logs, close } = await startCrud('express', {
      entities: [Day],
      resources: [{ entity: Day, endpoint: '/api/days' }],
      path: 'compiled',
    });
    expect(linesOf(logs, 'debug').find((line) => line.includes('Day: '))).toContain('(a key that is a date)');
    const { status, json } = await post('/api/days', { name: 'a' });
    expect(status).toBe(201);
    expect((await get('/api/days/2026-01-31T09:30:15Z')).json.data).toEqual(json.data);
    await close();
  });

  it('a view', async () => {
    @Entity()
    class Sale {
      @PrimaryGeneratedColumn()
      id!: number;

      @Column()
      amount!: number;
    }
    @ViewEntity({ name: 'large_sales', expression: 'SELECT id, amount FROM sale WHERE amount > 10' })
    class LargeSale {
      @PrimaryGeneratedColumn()
      id!: number;

      @ViewColumn()
      amount!: number;
    }
    const { get, logs, dataSource, close } = await startCrud('express', {
      entities: [Sale, LargeSale],
      resources: [{ entity: LargeSale, endpoint: '/api/large' }],
      path: 'compiled',
    });
    expect(linesOf(logs, 'debug').find((line) => line.includes('LargeSale: '))).toMatch(
      /LargeSale: findAll, findById, search, exists through the repository \(a view\)/,
    );
    await dataSource.getRepository(Sale).save([{ amount: 5 }, { amount: 50 }]);
    expect((await get('/api/large')).json.data).toEqual([{ id: 2, amount: 50 }]);
    expect((await get('/api/large/2')).json.data).toEqual({ id: 2, amount: 50 });
    await close();
  });

  it('two data sources decide each for itself', async () => {
    const entity = thing();
    const second = new Statements();
    const service = await startCrud('express', {
      entities: [entity],
      resources: [
        { entity, endpoint: '/api/things' },
        { entity, endpoint: '/api/others', dataSource: 'second' },
      ],
      path: 'compiled',
      imports: [
        TypeOrmModule.forRoot({
          name: 'second',
          type: 'better-sqlite3',
          database: ':memory:',
          entities: [entity],
          subscribers: [subscriber(['afterLoad'])],
          synchronize: true,
          logger: second,
        }),
      ],
    });
    const [first, other] = linesOf(service.logs, 'debug').filter((line) => line.includes('Thing: '));
    expect(first).toContain('Thing: findAll, findById, search, exists, create, update, delete compiled');
    expect(other).toContain(`findAll, findById, search, exists through the repository (${HEARD})`);
    await service.post('/api/others', { amount: 7 });
    second.texts.length = 0;
    expect((await service.get('/api/others')).json.data).toEqual([{ id: 1, amount: 7 }]);
    expect(second.texts.some((text) => text.startsWith('SELECT'))).toBe(true);
    expect((await service.get('/api/things')).json.data).toEqual([]);
    await service.close();
  });
});
