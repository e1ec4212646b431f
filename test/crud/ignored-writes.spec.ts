/** Writes that a trigger or a rule swallows: the database reports no error, and changes nothing. */
import {
  AfterRemove,
  BeforeRecover,
  Column,
  DeleteDateColumn,
  Entity,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeParent,
  VersionColumn,
  type Relation,
} from 'typeorm';
import { CrudController, type CrudResource } from 'declarest';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { type CrudService, type DataPath, failure, startCrud } from './service.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @Column({ type: 'int', default: 1 }) ownerId!: number;
  @DeleteDateColumn() deletedAt!: Date | null;
  @VersionColumn() version!: number;
}

/** Its listener is called with the record that is removed. */
@Entity()
class Heard {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;

  @AfterRemove()
  hear(): void {}
}

@Entity()
class Restored {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @DeleteDateColumn() deletedAt!: Date | null;

  @BeforeRecover()
  hear(): void {}
}

@Entity()
@Tree('closure-table')
class Closure {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @TreeParent() parent!: Relation<Closure> | null;
  @TreeChildren() children!: Relation<Closure>[];
}

@Entity()
@Tree('materialized-path')
class Path {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @TreeParent() parent!: Relation<Path> | null;
  @TreeChildren() children!: Relation<Path>[];
}

@Entity()
@Tree('nested-set')
class NestedSet {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @TreeParent() parent!: Relation<NestedSet> | null;
  @TreeChildren() children!: Relation<NestedSet>[];
}

class Hooked extends CrudController({ entity: Heard, endpoint: '/hooked' }) {
  override beforeUpdate(): void {}
  override beforeDelete(): void {}
}

/** Swallows every UPDATE and DELETE of records that are called `kept`. */
const swallow = (table: string): Readonly<Record<DatabaseName, readonly string[]>> => ({
  sqlite: ['UPDATE', 'DELETE'].map(
    (event) => `CREATE TRIGGER swallows_${table}_${event} BEFORE ${event} ON ${table} WHEN old.name = 'kept' BEGIN
      SELECT RAISE(IGNORE); END`,
  ),
  postgres: [
    `CREATE FUNCTION swallow_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
    `CREATE TRIGGER swallows BEFORE UPDATE OR DELETE ON ${table} FOR EACH ROW WHEN (OLD.name = 'kept')
      EXECUTE FUNCTION swallow_${table}()`,
  ],
  mariadb: [],
});

// A trigger of MariaDB and MySQL cannot ignore a statement.
const SWALLOWING = DATABASES.filter((name) => name !== 'mariadb');
const CASES = SWALLOWING.flatMap((database) =>
  (['compiled', 'repository'] as DataPath[]).map((path) => [database, path] as const),
);

// A file needs a case.
if (CASES.length === 0) it('only MariaDB and MySQL ignore nothing', () => expect(DATABASES).toEqual(['mariadb']));
else
  describe.each(CASES)('on %s, %s', (database, path) => {
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud('fastify', {
        database,
        path,
        entities: [Item, Heard, Restored, Closure, Path, NestedSet],
        resources: [
          { entity: Item, endpoint: '/items', enableBatch: true, enableRestore: true },
          { entity: Heard, endpoint: '/heard', enableBatch: true },
          Hooked,
          { entity: Restored, endpoint: '/restored', enableRestore: true },
          { entity: Closure, endpoint: '/closure' },
          { entity: Path, endpoint: '/path' },
          { entity: NestedSet, endpoint: '/set', fieldPermissions: { parentId: { write: 'once' } } },
        ] as CrudResource[],
      });
      for (const table of ['item', 'heard', 'restored', 'closure', 'path', 'nested_set'])
        for (const sql of swallow(table)[database]) await service.dataSource.query(sql);
      for (const endpoint of ['/items', '/heard'])
        for (const name of ['kept', 'free']) await service.post(endpoint, { name });
    });
    afterAll(() => service.close());

    const ignored = (name: string) => [409, failure(`${name} was not changed: the database ignored the statement`)];

    it.each([
      ['PUT', '/items/1', { name: 'b', ownerId: 1 }, 'Item'],
      ['PATCH', '/items/1', { name: 'b' }, 'Item'],
      ['DELETE', '/items/1', undefined, 'Item'],
      [
        'PATCH',
        '/items/batch',
        {
          items: [
            { id: 2, name: 'b' },
            { id: 1, name: 'b' },
          ],
        },
        'Item',
      ],
      ['DELETE', '/items/batch?ids=2,1', undefined, 'Item'],
      ['DELETE', '/heard/1', undefined, 'Heard'],
      ['DELETE', '/heard/batch?ids=2,1', undefined, 'Heard'],
      ['PUT', '/hooked/1', { name: 'b' }, 'Heard'],
      ['PATCH', '/hooked/1', { name: 'b' }, 'Heard'],
      ['DELETE', '/hooked/1', undefined, 'Heard'],
    ])('[8.1] %s %s is 409, and nothing is changed', async (method, target, json, name) => {
      const { status, json: body } = await service.send(method, target, json ? { json } : {});
      expect([status, body]).toEqual(ignored(name));
      for (const endpoint of ['/items', '/heard'])
        expect((await service.get(endpoint)).json.data.map((each: Item) => each.name)).toEqual(['kept', 'free']);
    });

    it.each([
      ['/items', 'item', 'Item'],
      ['/restored', 'restored', 'Restored'],
    ])('[8.1] a restore at %s is 409', async (endpoint, table, name) => {
      const { id } = (await service.post(endpoint, { name: 'hidden' })).json.data as { id: number };
      await service.del(`${endpoint}/${id}`);
      await service.dataSource.query(`UPDATE ${table} SET name = 'kept' WHERE id = ${id}`);
      const { status, json } = await service.send('POST', `${endpoint}/${id}/restore`);
      expect([status, json]).toEqual(ignored(name));
      expect((await service.get(`${endpoint}/${id}`)).status).toBe(404);
    });

    it.each([
      ['/closure', 'closure', 'Closure'],
      ['/path', 'path', 'Path'],
    ])('[8.1] [issue 11] a move at %s is 409, also where a node below is kept', async (endpoint, table, name) => {
      const create = async (parentId: number | null) =>
        (await service.post(endpoint, { name: 'free', parentId })).json.data.id as number;
      const [root, moved] = [await create(null), await create(null)];
      const below = await create(moved);
      const read = async () =>
        JSON.stringify(
          await Promise.all(
            [table, ...(table === 'closure' ? ['closure_closure'] : [])].map((each) =>
              service.dataSource.query(`SELECT * FROM ${each} ORDER BY 1, 2`),
            ),
          ),
        );
      for (const kept of table === 'path' ? [below, moved] : [moved]) {
        await service.dataSource.query(`UPDATE ${table} SET name = 'kept' WHERE id = ${kept}`);
        const before = await read();
        const { status, json } = await service.send('PATCH', `${endpoint}/${moved}`, { json: { parentId: root } });
        expect([status, json]).toEqual(ignored(name));
        expect(await read()).toBe(before);
      }
    });

    it('[8.1] [issue 11] a node of a nested set whose parent does not make room is 409', async () => {
      const create = (values: object) => service.post('/set', values);
      const { id: parentId } = (await create({ name: 'free' })).json.data as { id: number };
      expect((await create({ name: 'free', parentId })).status).toBe(201);
      await service.dataSource.query(`UPDATE nested_set SET name = 'kept' WHERE id = ${parentId}`);
      const { status, json } = await create({ name: 'free', parentId });
      expect([status, json]).toEqual(ignored('NestedSet'));
      expect(await service.dataSource.getRepository(NestedSet).count()).toBe(2);
    });

    it('[8.1] a stale If-Match is 412, and an unknown id 404', async () => {
      for (const [method, json] of [
        ['PUT', { name: 'b', ownerId: 1 }],
        ['PATCH', { name: 'b' }],
        ['DELETE'],
      ] as const) {
        const stale = { headers: { 'if-match': '"0"' }, ...(json && { json }) };
        expect((await service.send(method, '/items/1', stale)).status).toBe(412);
        expect((await service.send(method, '/items/4711', json && { json })).status).toBe(404);
      }
    });
  });
