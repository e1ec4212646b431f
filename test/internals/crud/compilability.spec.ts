/** Which accesses of an entity are compiled, by what the entity and the data source declare. */
import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import {
  AfterLoad,
  AfterRecover,
  AfterSoftRemove,
  AfterUpdate,
  BeforeInsert,
  BeforeRemove,
  ChildEntity,
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  EntityMetadata,
  EventSubscriber,
  JoinColumn,
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
import {
  STORE_OPERATIONS,
  featureNotCompiled,
  hasPlainNames,
  hookNotCompiled,
} from '../../../lib/crud/store/record-store.js';
import { startCrud } from '../../crud/service.js';

@Entity()
class Other {
  @PrimaryGeneratedColumn()
  id!: number;
}

/** An entity of its own for each case. */
function thing(declare: (prototype: object) => void = () => undefined, Base: Type = Object): Type {
  class Thing extends Base {
    id!: number;
    amount!: number;
    listen(): void {}
  }
  PrimaryGeneratedColumn()(Thing.prototype, 'id');
  Column({ type: 'int' })(Thing.prototype, 'amount');
  declare(Thing.prototype);
  Entity()(Thing);
  return Thing;
}

async function withMetadata<R>(
  entity: Type,
  use: (metadata: EntityMetadata, dataSource: DataSource) => R,
  more: object = {},
): Promise<R> {
  const options = { type: 'better-sqlite3', database: ':memory:', entities: [entity, Other], ...more } as const;
  const dataSource = await new DataSource(options as never).initialize();
  try {
    return use(dataSource.getMetadata(entity), dataSource);
  } finally {
    await dataSource.destroy();
  }
}

const nullable = { type: 'varchar', nullable: true } as const;

it.each<[reason: string | undefined, what: string, entity: () => Type, options?: object]>([
  [undefined, 'nothing', () => thing()],
  [undefined, 'a delete date', () => thing((type) => DeleteDateColumn()(type, 'deleted'))],
  [undefined, 'a relation', () => thing((type) => ManyToOne(() => Other)(type, 'other'))],
  [undefined, 'a lazy relation', () => thing((type) => ManyToOne(() => Other, { lazy: true })(type, 'other'))],
  [
    undefined,
    'a relation with a column for its key',
    () =>
      thing((type) => {
        Column({ type: 'int', nullable: true })(type, 'otherId');
        OneToOne(() => Other)(type, 'other');
        JoinColumn({ name: 'otherId' })(type, 'other');
      }),
  ],
  [undefined, 'a cache on request', () => thing(), { cache: true }],
  [undefined, 'a cache of everything', () => thing(), { cache: { alwaysEnabled: true } }],
  ['an eager relation', 'one', () => thing((type) => ManyToOne(() => Other, { eager: true })(type, 'other'))],
  [
    undefined,
    'a value transformer',
    () => thing((type) => Column({ ...nullable, transformer: { to: String, from: String } })(type, 'price')),
  ],
  [
    'a key with a value transformer',
    'one',
    () => {
      class Coded {
        id!: string;
      }
      PrimaryColumn({ type: 'varchar', transformer: { to: String, from: String } })(Coded.prototype, 'id');
      Entity()(Coded);
      return Coded;
    },
  ],
  [
    undefined,
    'embedded columns',
    () => {
      class Place {
        city!: string | null;
      }
      Column(nullable)(Place.prototype, 'city');
      return thing((type) => Column(() => Place)(type, 'place'));
    },
  ],
  [
    'a virtual column',
    'one',
    () => thing((type) => VirtualColumn({ query: () => 'SELECT 1', type: 'int' })(type, 'next')),
  ],
  [
    'a column written by a function of the database',
    'jsonb',
    () => thing((type) => Column({ type: 'jsonb', nullable: true })(type, 'data')),
  ],
  [
    'a column behind a getter or setter',
    'an accessor of the class',
    () => {
      const type = thing((prototype) => Column(nullable)(prototype, 'name'));
      Object.defineProperty(type.prototype, 'name', { get: () => 'got', set: () => {}, configurable: true });
      return type;
    },
  ],
  [
    'a column whose default is a function',
    'one',
    () => {
      class Base {
        name = (): string => "'made'";
      }
      return thing((type) => Column(nullable)(type, 'name'), Base);
    },
  ],
  [
    'a relation that its constructor fills',
    'one',
    () => {
      class Base {
        other = new Other();
      }
      return thing((type) => ManyToOne(() => Other)(type, 'other'), Base);
    },
  ],
  [
    'a tree',
    'one',
    () =>
      thing((type) => {
        TreeParent()(type, 'parent');
        TreeChildren()(type, 'children');
        Reflect.defineMetadata('design:type', type.constructor, type, 'parent');
        Tree('materialized-path')(type.constructor);
      }),
  ],
  [
    'a key that is a date',
    'one',
    () => {
      class Day {
        id!: Date;
      }
      PrimaryColumn({ type: 'datetime' })(Day.prototype, 'id');
      Entity()(Day);
      return Day;
    },
  ],
  [
    'a view',
    'one',
    () => {
      class Large {
        id!: number;
      }
      ViewColumn()(Large.prototype, 'id');
      ViewEntity({ expression: 'SELECT 1 AS id' })(Large);
      return Large;
    },
  ],
])('[4.6] %s keeps an entity from being compiled: %s', async (...[reason, , entity, options]) => {
  expect(await withMetadata(entity(), featureNotCompiled, options)).toBe(reason);
});

it('[4.6] classes that share a table are not compiled', async () => {
  @Entity()
  @TableInheritance({ column: { type: 'varchar', name: 'kind' } })
  class Parent {
    @PrimaryGeneratedColumn()
    id!: number;
  }
  @ChildEntity()
  class Child extends Parent {}
  for (const entity of [Parent, Child])
    expect(await withMetadata(entity, featureNotCompiled, { entities: [Parent, Child] })).toBe('inheritance');
});

describe('[4.6] listeners and subscribers', () => {
  const reasonsOf = (entity: Type, subscribers: Type[] = []): Promise<object> =>
    withMetadata(
      entity,
      (metadata, dataSource) => {
        const reasons = STORE_OPERATIONS.map((access) => [access, hookNotCompiled(access, metadata, dataSource)]);
        return Object.fromEntries(reasons.filter(([, reason]) => reason !== undefined)) as object;
      },
      { subscribers },
    );

  it.each<[decorator: () => PropertyDecorator, reasons: object]>([
    [AfterLoad, { read: 'its @AfterLoad listener' }],
    [BeforeInsert, { create: 'its @BeforeInsert listener' }],
    [AfterUpdate, { update: 'its @AfterUpdate listener' }],
    [BeforeRemove, { delete: 'its @BeforeRemove listener' }],
    [AfterSoftRemove, { delete: 'its @AfterSoftRemove listener' }],
    [AfterRecover, { restore: 'its @AfterRecover listener' }],
  ])('%o', async (decorator, reasons) => {
    expect(await reasonsOf(thing((type) => decorator()(type, 'listen')))).toEqual(reasons);
    class Base {
      listen(): void {}
    }
    decorator()(Base.prototype, 'listen');
    expect(await reasonsOf(thing(undefined, Base))).toEqual(reasons);
  });

  const subscriber = (hook: string, listenTo?: () => unknown): Type => {
    class Audit {
      readonly name = 'audit';
    }
    Object.defineProperty(Audit.prototype, hook, { value: () => undefined });
    if (listenTo) Object.defineProperty(Audit.prototype, 'listenTo', { value: listenTo });
    EventSubscriber()(Audit);
    return Audit;
  };

  it.each<[hook: string, accesses: string[]]>([
    ['afterLoad', ['read']],
    ['afterInsert', ['create']],
    ['beforeUpdate', ['update']],
    ['afterRemove', ['delete']],
    ['beforeSoftRemove', ['delete']],
    ['afterTransactionCommit', []],
    // Query runners call these for compiled statements too.
    ['beforeQuery', []],
  ])('a subscriber with %s', async (hook, accesses) => {
    expect(await reasonsOf(thing(), [subscriber(hook)])).toEqual(
      Object.fromEntries(accesses.map((access) => [access, 'the subscriber Audit'])),
    );
  });

  it('a subscriber that listens to the entity, its base class, another one, or a subclass', async () => {
    class Base {
      readonly isBase = true;
    }
    const entity = thing(undefined, Base);
    const listens = (target: unknown): Promise<object> => reasonsOf(entity, [subscriber('afterLoad', () => target)]);
    for (const target of [entity, Base, Object, undefined]) expect(await listens(target)).toHaveProperty('read');
    for (const target of [Other, class extends (entity as Type<object>) {}]) expect(await listens(target)).toEqual({});
  });

  it('a subscriber that is added before the application has started', async () => {
    @Entity()
    class Item {
      @PrimaryGeneratedColumn()
      id!: number;
    }
    let loads = 0;
    @Injectable()
    class CountsLoads implements OnModuleInit {
      constructor(private readonly dataSource: DataSource) {}

      onModuleInit(): void {
        this.dataSource.subscribers.push({
          afterLoad: () => {
            loads += 1;
          },
        });
      }
    }
    const service = await startCrud('express', {
      entities: [Item],
      resources: [{ entity: Item, endpoint: '/items' }],
      providers: [CountsLoads],
      path: 'compiled',
    });
    await service.post('/items', {});
    await service.get('/items/1');
    expect(loads).toBe(2);
    await service.close();
  });
});

describe('[4.6] names', () => {
  const metadata = (name: { table?: string; column?: string; property?: string; relation?: string }): EntityMetadata =>
    ({
      tablePath: name.table ?? 'items',
      columns: [{ databaseName: name.column ?? 'name', propertyName: name.property ?? 'name' }],
      relations: [{ propertyName: name.relation ?? 'owner' }],
    }) as unknown as EntityMetadata;

  it.each([{}, { table: 'shop.items' }, { column: 'created_at' }, { property: '_hidden' }])('%j are plain', (name) => {
    expect(hasPlainNames(metadata(name))).toBe(true);
  });

  it.each([
    ...["it's", 'a"b', ':key', '$1', 'größe', '0', '', 'shop..items'].map((table) => ({ table })),
    ...['a:b', '7'].map((column) => ({ column })),
    ...['a-b', 'constructor', '__proto__'].map((property) => ({ property })),
    { relation: 'constructor' },
  ])('%j are not', (name) => {
    expect(hasPlainNames(metadata(name))).toBe(false);
  });
});
