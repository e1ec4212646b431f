/** A replica that lags: what a write decides on, and what it answers, comes from the primary. */
import { Body, Param, Patch } from '@nestjs/common';
import { AuthModule, AuthUser, CrudController, type CrudOptions, type JsonObject } from 'declarest';
import {
  Column,
  DataSource,
  type DataSourceOptions,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryGeneratedColumn,
  type Relation,
  VersionColumn,
} from 'typeorm';
import { TEST_SECRET } from '../harness/tokens.js';
import { SERVER_DATABASES } from '../harness/busy-databases.js';
import { createDatabase, type DatabaseName, type TestDatabase } from '../harness/databases.js';
import { type CrudService, type DataPath, startCrud } from './service.js';

@Entity()
class Tag {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'boolean', default: true }) shown!: boolean;
}

@Entity()
class Item {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @Column({ type: 'simple-json', nullable: true }) extra!: unknown;
  @Column({ type: 'varchar', length: 20, default: 'a' }) once!: string;
  @ManyToOne(() => Tag, { nullable: true }) main!: Relation<Tag> | null;
  @ManyToMany(() => Tag) @JoinTable() tags!: Tag[];
  @DeleteDateColumn() deletedAt!: Date | null;
  @VersionColumn() version!: number;
}

@Entity('account')
class Account extends AuthUser {}

const options = {
  entity: Item,
  enableBatch: true,
  enableRestore: true,
  linkableRelations: ['tags'],
  fieldPermissions: { once: { write: 'once' } },
} as const satisfies Omit<CrudOptions<Item>, 'endpoint'>;

class Read extends CrudController({ entity: Item, endpoint: '/read' }) {
  @Patch(':id')
  override async patch(@Param('id') id: string, @Body() body: JsonObject) {
    const { data } = await this.findById(id);
    return super.patch(id, { name: `${data.name} and ${String(body['name'])}` });
  }
}

const ENTITIES = [Item, Tag, Account];

/** @returns a database of its own with the tables */
async function createTables(name: DatabaseName): Promise<{ database: TestDatabase; own: DataSource }> {
  const database = await createDatabase(name);
  const own = await new DataSource({ ...(database.options as DataSourceOptions), entities: ENTITIES }).initialize();
  return { database, own };
}

/** TypeORM would not insert the key. */
const insert = (dataSource: DataSource, id: number, name: string, version: number): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO item (id, name, once, extra, version) VALUES (${id}, '${name}', '${name}', '{"a":1}', ${version})`,
  );

const CASES = SERVER_DATABASES.flatMap((database) =>
  (['compiled', 'repository'] as DataPath[]).map((path) => [database, path] as const),
);

if (CASES.length > 0)
  describe.each(CASES)('on %s, %s', (name, path) => {
    let service: CrudService;
    let primary: DataSource;
    const databases: { database: TestDatabase; own: DataSource }[] = [];

    beforeAll(async () => {
      databases.push(await createTables(name), await createTables(name));
      const [master, slave] = databases.map(({ own }) => own);
      primary = master!;
      // The replica knows neither the changes of record 101, nor record 102, nor that record 103 is deleted, nor the tag.
      for (const id of [101, 103]) await insert(slave!, id, 'old', 1);
      await primary.query('INSERT INTO tag (id) VALUES (7)');
      const [url, replica] = databases.map(({ database }) => (database.options as { url: string }).url);
      service = await startCrud('express', {
        database: name,
        path,
        entities: ENTITIES,
        resources: [
          { ...options, endpoint: '/items' },
          { entity: Item, endpoint: '/paged', enablePagination: true, operations: ['findAll'] },
          { entity: Tag, endpoint: '/tags', operations: ['findAll'], scope: () => ({ shown: true }) },
          Read,
        ],
        imports: [AuthModule.forRoot({ userClass: Account, jwtSecret: TEST_SECRET, bcryptRounds: 4 })],
        dataSource: {
          url: undefined,
          synchronize: false,
          replication: { master: { url }, slaves: [{ url: replica }] },
        } as never,
      });
    });
    beforeEach(async () => {
      await primary.getRepository(Item).deleteAll();
      for (const id of [101, 102]) await insert(primary, id, 'new', 2);
    });
    afterAll(async () => {
      await service.close();
      for (const { own, database } of databases) {
        await own.destroy();
        await database.drop();
      }
    });

    const patch = (id: number, json: object, headers: Record<string, string> = {}, at = '/items') =>
      service.send('PATCH', `${at}/${id}`, { json, headers });
    const body = { name: 'put', extra: null, mainId: null, tagsIds: [] };

    it('[8.1] GET reads the replica, and an If-Match with its ETag is 412', async () => {
      const { headers, json } = await service.get('/items/101');
      expect([json.data.name, headers['etag']]).toEqual(['old', '"1"']);
      const stale = { 'if-match': '"1"' };
      expect((await patch(101, { name: 'b' }, stale)).status).toBe(412);
      expect((await service.send('PUT', '/items/101', { json: body, headers: stale })).status).toBe(412);
      expect((await service.send('DELETE', '/items/101', { headers: stale })).status).toBe(412);
      expect(await primary.getRepository(Item).findOneBy({ id: 101 })).toMatchObject({ name: 'new', version: 2 });
    });

    it('[4.4] a page and its total come from the replica', async () => {
      await primary.getRepository(Item).deleteAll();
      const { json } = await service.get('/paged?size=1');
      expect([json.data[0].name, json.metadata.pagination.total]).toEqual(['old', 2]);
    });

    it('[8.1] PATCH, PUT, POST, batches and restore answer the record as the primary has it', async () => {
      const patched = await patch(101, { name: 'b' }, { 'if-match': '"2"' });
      expect([patched.status, patched.headers['etag']]).toEqual([200, '"3"']);
      expect(patched.json.data).toMatchObject({ id: 101, name: 'b', version: 3, once: 'new' });
      expect((await service.put('/items/102', { ...body, once: 'new' })).json.data).toMatchObject({
        id: 102,
        name: 'put',
      });
      expect((await patch(102, { extra: { b: 2 } })).json.data).toMatchObject({ extra: { b: 2 }, version: 4 });
      expect((await patch(101, { extra: { b: 2 } })).json.data).toMatchObject({ extra: { a: 1, b: 2 } });
      const created = await service.post('/items', { name: 'c', mainId: 7, tagsIds: [7] });
      expect(created.json.data).toMatchObject({ name: 'c', mainId: 7, tagsIds: [7] });
      const items = [101, 102].map((id) => ({ id, name: 'd', tagsIds: [7] }));
      const batch = await service.send('PATCH', '/items/batch', { json: { items } });
      expect(batch.json.data).toMatchObject(items);
      expect((await service.del('/items/102')).status).toBe(200);
      expect((await service.send('POST', '/items/102/restore')).json.data).toMatchObject({ id: 102, name: 'd' });
      expect((await service.send('POST', '/items/101/restore')).json.data).toMatchObject({ id: 101, name: 'd' });
    });

    it('[8.1] a record that only the replica has is 404, and one that only the primary has is not', async () => {
      expect((await service.get('/items/103')).status).toBe(200);
      for (const answer of [
        await patch(103, { name: 'b' }),
        await patch(103, {}),
        await service.put('/items/103', body),
        await service.del('/items/103'),
        await service.send('POST', '/items/103/restore'),
        await service.del('/items/batch?ids=101,103'),
        await patch(103, { name: 'b' }, {}, '/read'),
      ])
        expect(answer.status).toBe(404);
      expect((await service.get('/items/102')).status).toBe(404);
      expect((await patch(102, {})).json.data).toMatchObject({ id: 102, name: 'new' });
      expect((await service.del('/items/batch?ids=101,102')).status).toBe(200);
    });

    it('[8.1] a user who is registered can log in at once', async () => {
      const user = { email: 'ann@x.example', password: 'long enough 1' };
      expect((await service.post('/api/auth/register', { ...user, firstName: 'Ann' })).json.data.user.firstName).toBe(
        'Ann',
      );
      const { token } = (await service.post('/api/auth/login', user)).json.data as { token: string };
      const me = await service.send('GET', '/api/auth/me', { token });
      expect(me.json.data.user.firstName).toBe('Ann');
    });

    it('[8.1] what an override of a write reads comes from the primary', async () => {
      expect((await patch(101, { name: 'b' }, {}, '/read')).json.data).toMatchObject({ name: 'new and b' });
    });
  });
