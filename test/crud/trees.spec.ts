/** Trees of TypeORM: every write keeps what `findTrees()` reads. */
import type { Type } from '@nestjs/common';
import type { CrudResource } from 'declarest';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeLevelColumn,
  TreeParent,
  VersionColumn,
  type Relation,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { type CrudService, crudError, startCrud, wrongFields } from './service.js';

@Entity()
class Shop {
  @PrimaryGeneratedColumn()
  id!: number;
}

@Entity()
@Tree('closure-table')
class Closure {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @VersionColumn()
  version!: number;

  @ManyToOne(() => Shop, { nullable: true, cascade: true })
  shop!: Shop | null;

  @TreeParent()
  parent!: Relation<Closure> | null;

  @TreeChildren()
  children!: Relation<Closure>[];
}

/** Its foreign key is a column of its own. */
@Entity()
@Tree('materialized-path')
class MaterializedPath {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @Column({ type: 'int', nullable: true })
  parentId!: number | null;

  @TreeParent()
  @JoinColumn({ name: 'parentId' })
  parent!: Relation<MaterializedPath> | null;

  @TreeChildren({ cascade: true })
  children!: Relation<MaterializedPath>[];
}

@Entity()
@Tree('nested-set')
class NestedSet {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @TreeParent()
  parent!: Relation<NestedSet> | null;

  @TreeChildren()
  children!: Relation<NestedSet>[];
}

@Entity()
@Tree('closure-table')
class Uuid {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ length: 20 })
  name!: string;

  @DeleteDateColumn()
  deleted!: Date | null;

  @TreeParent({ onDelete: 'CASCADE' })
  parent!: Relation<Uuid> | null;

  @TreeChildren()
  children!: Relation<Uuid>[];
}

@Entity()
@Tree('materialized-path')
class Orphaning {
  @PrimaryGeneratedColumn()
  id!: number;

  @TreeParent({ onDelete: 'SET NULL' })
  parent!: Relation<Orphaning> | null;

  @TreeChildren()
  children!: Relation<Orphaning>[];
}

@Entity()
@Tree('materialized-path')
class Composite {
  @PrimaryColumn()
  shop!: string;

  @PrimaryColumn()
  code!: string;

  @Column({ nullable: true })
  parentShop!: string | null;

  @Column({ nullable: true })
  parentCode!: string | null;

  @TreeParent()
  @JoinColumn([
    { name: 'parentShop', referencedColumnName: 'shop' },
    { name: 'parentCode', referencedColumnName: 'code' },
  ])
  parent!: Relation<Composite> | null;

  @TreeChildren()
  children!: Relation<Composite>[];
}

@Entity()
@Tree('closure-table')
class Levelled {
  @PrimaryGeneratedColumn()
  id!: number;

  @TreeLevelColumn()
  level!: number;

  @TreeParent()
  parent!: Relation<Levelled> | null;

  @TreeChildren()
  children!: Relation<Levelled>[];
}

interface Branch {
  readonly name: string;
  readonly children?: readonly Branch[];
}
/** `a(b(c))` */
const drawn = (branches: readonly Branch[]): string =>
  branches
    .map(({ name, children = [] }) => (children.length > 0 ? `${name}(${drawn(children)})` : name))
    .toSorted()
    .join(' ');

const ALL = [Closure, MaterializedPath, NestedSet, Uuid];
const MOVABLE = [Closure, MaterializedPath, Uuid];
const once = { parentId: { write: 'once' as const } };

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  const pathOf = (entity: Type): string => `/${entity.name.toLowerCase()}`;
  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      entities: [Shop, ...ALL],
      resources: ALL.map((entity) => ({
        entity,
        endpoint: pathOf(entity),
        enableBatch: true,
        includableRelations: ['parent', 'children', 'children.children'],
        filterableFields: ['name', 'parentId', 'parent.name', 'children.name'],
        ...(entity === NestedSet && { fieldPermissions: once }),
        ...(entity === Uuid && { deletedRoles: ['ADMIN'] }),
      })) as CrudResource[],
    });
  });
  afterAll(() => service.close());

  const idOf = new Map<string, unknown>();
  const patch = (entity: Type, name: string, json: object) =>
    service.send('PATCH', `${pathOf(entity)}/${String(idOf.get(name))}`, { json });
  const remove = (entity: Type, name: string) => service.del(`${pathOf(entity)}/${String(idOf.get(name))}`);
  const treeOf = async (entity: Type): Promise<string> =>
    drawn((await service.dataSource.getTreeRepository(entity).findTrees()) as Branch[]);
  /** The tree `a(b(c) d)`. */
  const plant = async (entity: Type): Promise<void> => {
    for (const [name, parent] of [['a'], ['b', 'a'], ['c', 'b'], ['d', 'a']] as const) {
      const values = { name, ...(parent && { parentId: idOf.get(parent) }) };
      const { status, json, text } = await service.post(pathOf(entity), values);
      expect([status, text]).toEqual([201, text]);
      expect(json.data).toMatchObject({ name, parentId: parent ? idOf.get(parent) : null });
      idOf.set(name, json.data.id);
    }
    expect(await treeOf(entity)).toBe('a(b(c) d)');
    // Its path, or its left and right: `findTrees()` reads one tree without them too.
    const node = { id: idOf.get('b') };
    expect(await service.dataSource.getTreeRepository(entity).countDescendants(node)).toBe(2);
  };
  const clear = async (entity: Type): Promise<void> => {
    const ids = service.dataSource.getRepository(entity).find({ order: { id: 'DESC' }, withDeleted: true } as object);
    for (const node of await ids)
      await service.dataSource
        .getRepository(entity)
        .remove(node)
        .catch(() => undefined);
    if ((await service.dataSource.getRepository(entity).count()) > 0) await clear(entity);
  };

  describe.each(ALL.map((entity) => [entity.name, entity] as const))('%s', (_name, entity) => {
    beforeEach(() => plant(entity));
    afterEach(() => clear(entity));

    it('[4.1] [issue 11] keeps the tree when a record is replaced, changed and deleted', async () => {
      const path = `${pathOf(entity)}/${String(idOf.get('b'))}`;
      const { data } = (await service.get(path)).json;
      expect((await service.put(path, { ...data, name: 'B' })).status).toBe(200);
      expect((await patch(entity, 'c', { name: 'C' })).status).toBe(200);
      expect((await patch(entity, 'a', { name: 'A', parentId: null })).status).toBe(200);
      expect(await treeOf(entity)).toBe('A(B(C) d)');
      expect((await remove(entity, 'd')).status).toBe(200);
      expect(await treeOf(entity)).toBe('A(B(C))');
      const sent = { name: 'e', parentId: idOf.get('c') };
      expect((await service.post(pathOf(entity), sent)).status).toBe(201);
      expect(await treeOf(entity)).toBe('A(B(C(e)))');
    });

    it('[8.2] [issue 11] keeps the tree in batches', async () => {
      const batch = `${pathOf(entity)}/batch`;
      const items = ['x', 'y'].map((name) => ({ name, parentId: idOf.get('c') }));
      const created = await service.post(batch, { items });
      expect(created.status).toBe(201);
      expect(await treeOf(entity)).toBe('a(b(c(x y)) d)');
      const ids = (created.json.data as { id: unknown }[]).map(({ id }) => id).join();
      expect((await service.del(`${batch}?ids=${ids}`)).status).toBe(200);
      expect(await treeOf(entity)).toBe('a(b(c) d)');
    });

    it('[4.3] [issue 11] a parent that does not exist is 409', async () => {
      const parentId = entity === Uuid ? '00000000-0000-4000-8000-000000000000' : 0;
      const { status, json } = await service.post(pathOf(entity), { name: 'x', parentId });
      expect([status, json.fields]).toEqual([409, { parentId: 'refers to a record that does not exist' }]);
      expect(await treeOf(entity)).toBe('a(b(c) d)');
    });

    it('[7.1] [7.4] [issue 11] filters by the parent, and includes the children', async () => {
      const path = pathOf(entity);
      const names = async (query: string): Promise<string> =>
        ((await service.get(`${path}?${query}`)).json.data as { name: string }[])
          .map(({ name }) => name)
          .toSorted()
          .join('');
      expect(await names(`filter[parentId]=${String(idOf.get('a'))}`)).toBe('bd');
      expect(await names('filter[parentId][isNull]=true')).toBe('a');
      expect(await names('filter[parent.name]=b')).toBe('c');
      expect(await names('filter[children.name]=c')).toBe('b');
      const { data } = (await service.get(`${path}?filter[name]=a&include=children.children,parent`)).json;
      expect(drawn(data as Branch[])).toBe('a(b(c) d)');
      expect(data).toMatchObject([{ parent: null, children: expect.any(Array) as unknown }]);
    });
  });

  describe.each(MOVABLE.map((entity) => [entity.name, entity] as const))('%s', (_name, entity) => {
    beforeEach(() => plant(entity));
    afterEach(() => clear(entity));

    it('[8.1] [issue 11] moves a node with those below it', async () => {
      const moved = await patch(entity, 'b', { parentId: idOf.get('d') });
      expect([moved.status, moved.json.data.parentId]).toEqual([200, idOf.get('d')]);
      expect(await treeOf(entity)).toBe('a(d(b(c)))');
      expect((await patch(entity, 'd', { parentId: null })).status).toBe(200);
      expect(await treeOf(entity)).toBe('a d(b(c))');
      const path = `${pathOf(entity)}/${String(idOf.get('b'))}`;
      const { data } = (await service.get(path)).json;
      expect((await service.put(path, { ...data, name: 'B', parentId: idOf.get('a') })).status).toBe(200);
      expect(await treeOf(entity)).toBe('a(B(c)) d');
      const items = [{ id: idOf.get('a'), name: 'A', parentId: idOf.get('d') }];
      expect((await service.send('PATCH', `${pathOf(entity)}/batch`, { json: { items } })).status).toBe(200);
      expect(await treeOf(entity)).toBe('d(A(B(c)))');
    });

    it.each(['a', 'b', 'c'])('[4.3] [issue 11] a node below itself, at %s, is 409', async (below) => {
      const { status, json } = await patch(entity, 'a', { name: 'A', parentId: idOf.get(below) });
      expect([status, Object.keys(json.fields as object)]).toEqual([409, ['parentId']]);
      const items = [{ id: idOf.get('a'), parentId: idOf.get(below) }];
      expect((await service.send('PATCH', `${pathOf(entity)}/batch`, { json: { items } })).status).toBe(409);
      expect(await treeOf(entity)).toBe('a(b(c) d)');
    });

    it('[4.3] [issue 11] two moves at once make no cycle', async () => {
      const answers = await Promise.all([
        patch(entity, 'b', { parentId: idOf.get('d') }),
        patch(entity, 'd', { parentId: idOf.get('b') }),
      ]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      expect(await treeOf(entity)).toMatch(/^a\((b\(c d\)|d\(b\(c\)\))\)$/);
    });
  });

  it('[4.3] [issue 11] deleting a node with others below it is as its foreign key says', async () => {
    for (const entity of ALL) {
      await plant(entity);
      const isHidden = entity === Uuid;
      expect((await remove(entity, 'b')).status).toBe(isHidden ? 200 : 409);
      if (!isHidden) expect(await treeOf(entity)).toBe('a(b(c) d)');
      await clear(entity);
    }
  });

  it('[4.3] [issue 11] a nested set has one root, and its nodes keep their parent', async () => {
    await plant(NestedSet);
    const { status, json } = await service.post('/nestedset', { name: 'x' });
    expect([status, json.message]).toEqual([409, expect.stringContaining('one root')]);
    expect(wrongFields(await patch(NestedSet, 'b', { parentId: idOf.get('d') }))).toEqual(['parentId']);
    expect(await treeOf(NestedSet)).toBe('a(b(c) d)');
    const { data } = (await service.get('/nestedset?filter[name]=b')).json;
    expect(Object.keys(data[0] as object)).toEqual(['id', 'name', 'parentId']);
    await clear(NestedSet);
  });

  it('[4.3] [issue 11] of parallel roots of a nested set, one is stored', async () => {
    const resources = [{ entity: NestedSet, endpoint: '/nodes', operations: ['create'] }] as CrudResource[];
    // MariaDB ends a race by a deadlock, which is repeated where no listener runs.
    const empty = await startCrud('express', { database, path: 'compiled', entities: [NestedSet], resources });
    const nodes = empty.dataSource.getRepository(NestedSet);
    for (let count = 0; count < 20; count += 1) {
      const answers = await Promise.all(['x', 'y', 'z'].map((name) => empty.post('/nodes', { name })));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
      expect(await nodes.count()).toBe(1);
      await nodes.createQueryBuilder().delete().execute();
    }
    await empty.close();
  });

  it('[4.3] [issue 11] parallel writes keep a nested set', async () => {
    await plant(NestedSet);
    const names = ['p', 'q', 'r', 's', 't'];
    const sent = names.map((name) => service.post('/nestedset', { name, parentId: idOf.get('d') }));
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(names.map(() => 201));
    expect(await treeOf(NestedSet)).toBe('a(b(c) d(p q r s t))');
    await clear(NestedSet);
  });

  it('[4.6] [issue 11] moving a materialized path changes no other key', async () => {
    const nodes: number[] = [];
    // Such as 2 and 12.
    const isLikeFirst = (id: number): boolean => id !== nodes[0] && String(id).endsWith(String(nodes[0]));
    while (!nodes.some(isLikeFirst))
      nodes.push((await service.post('/materializedpath', { name: 'n' })).json.data.id as number);
    const [first, other] = nodes;
    const likeFirst = nodes.find(isLikeFirst)!;
    const move = (id: number, parentId: number | undefined) =>
      service.send('PATCH', `/materializedpath/${id}`, { json: { parentId } });
    await move(likeFirst, first);
    await move(first!, other);
    const trees = service.dataSource.getTreeRepository(MaterializedPath);
    const root = await trees.findOneByOrFail({ id: other! });
    expect((await trees.findDescendants(root)).map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(
      [first!, other!, likeFirst].toSorted((a, b) => a - b),
    );
    await clear(MaterializedPath);
  });

  it('[8.5] [issue 11] a move that the version refuses moves nothing', async () => {
    await plant(Closure);
    const path = `/closure/${String(idOf.get('b'))}`;
    const headers = { 'if-match': '"99"' };
    const json = { parentId: idOf.get('d') };
    expect((await service.send('PATCH', path, { json, headers })).status).toBe(412);
    expect(await treeOf(Closure)).toBe('a(b(c) d)');
    await clear(Closure);
  });

  it('[4.3] [issue 11] a related record that does not exist is not created', async () => {
    const { status, json } = await service.post('/closure', { name: 'x', shopId: 7 });
    expect([status, Object.keys(json.fields as object)]).toEqual([409, ['shopId']]);
    expect(await service.dataSource.getRepository(Shop).count()).toBe(0);
  });
});

const MOVES = 'must be an array without update, patch and patchMany';
it.each<[what: string, entity: Type, options: object, says: string[]]>([
  ['a nested set whose nodes can be moved', NestedSet, {}, [MOVES, 'got none', '{ parentId: { write: "once" } }']],
  ['a nested set with PATCH', NestedSet, { operations: ['findAll', 'patch'] }, [MOVES, 'got an array with patch']],
  ['a closure table with a level', Levelled, {}, ['without create, createMany, import, update', '@TreeLevelColumn']],
  ['a tree with a composite key', Composite, {}, ['without create, createMany, import, update', 'a key of one column']],
  ['a tree that loses nodes', Orphaning, {}, ['an array without delete and deleteMany', 'got none', '`onDelete`']],
])('[4.8] [issue 11] %s refuses to start', async (_what, entity, options, says) => {
  const resources = [{ entity, endpoint: '/nodes', ...options }] as CrudResource[];
  const { message } = await crudError('express', { entities: [entity], resources });
  for (const each of says) expect(message).toContain(each);
});

it.each<[what: string, entity: Type, options: object]>([
  ['a nested set without changes', NestedSet, { operations: ['findAll', 'create', 'delete'] }],
  ['a tree with a composite key that is not written', Composite, { operations: ['findAll', 'findById', 'delete'] }],
  ['a tree without deletion', Orphaning, { operations: ['create', 'update', 'patch'] }],
])('[4.8] [issue 11] %s starts', async (_what, entity, options) => {
  const resources = [{ entity, endpoint: '/nodes', ...options }] as CrudResource[];
  await (await startCrud('express', { entities: [entity], resources })).close();
});
