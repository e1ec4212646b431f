import { BeforeInsert, Column, Entity, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { type DatabaseName, DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

const BEYOND = '9007199254740993';
const NEIGHBOUR = '9007199254740992';

function entitiesOf(database: DatabaseName) {
  const type = database === 'sqlite' ? 'integer' : 'bigint';

  @Entity()
  class Big {
    @PrimaryGeneratedColumn('increment', { type })
    id!: string;

    @Column({ length: 20 })
    name!: string;

    @Column({ type: 'bigint', nullable: true })
    count!: string | null;
  }

  @Entity()
  class Child {
    @PrimaryGeneratedColumn()
    id!: number;

    @ManyToOne(() => Big, { nullable: true })
    big!: Big | null;
  }
  return { Big, Child };
}

describe.each(DATABASES)('on %s', (database) => {
  const { Big, Child } = entitiesOf(database);
  const quote = database === 'mariadb' ? '`' : '"';

  describe.each(PLATFORMS)('and %s', (platform) => {
    let service: CrudService;
    const sql = (text: string): Promise<unknown> => service.dataSource.query(text.replaceAll('"', quote));
    beforeAll(async () => {
      service = await startCrud(platform, {
        database,
        entities: [Big, Child],
        resources: [
          { entity: Big, endpoint: '/api/bigs', enableExists: true, enableSearch: true, searchableFields: ['name'] },
          { entity: Child, endpoint: '/api/children' },
        ],
      });
    });
    beforeEach(async () => {
      await service.dataSource.getRepository(Child).createQueryBuilder().delete().execute();
      await service.dataSource.getRepository(Big).createQueryBuilder().delete().execute();
      await sql(`INSERT INTO "big" ("id", "name") VALUES (${NEIGHBOUR}, 'neighbour')`);
      await sql(`INSERT INTO "big" ("id", "name") VALUES (${BEYOND}, 'beyond')`);
    });
    afterAll(() => service.close());

    it('[4.6] an id beyond 53 bits is a string, exact', async () => {
      expect((await service.get(`/api/bigs/${BEYOND}`)).json.data).toEqual({ id: BEYOND, name: 'beyond', count: null });
      expect((await service.get(`/api/bigs/${NEIGHBOUR}`)).json.data.name).toBe('neighbour');
      expect((await service.get('/api/bigs')).json.data.map((each: { id: unknown }) => each.id)).toEqual([
        NEIGHBOUR,
        BEYOND,
      ]);
      expect((await service.get('/api/bigs/search?name=beyond')).json.data[0].id).toBe(BEYOND);
      expect((await service.get(`/api/bigs/exists/${BEYOND}`)).json.data).toEqual({ exists: true });
      expect((await service.get('/api/bigs/exists/9007199254740994')).json.data).toEqual({ exists: false });
      expect((await service.get('/api/bigs/9007199254740991')).status).toBe(404);
    });

    it('[4.6] a PUT to an id beyond 53 bits changes that record, not its neighbour', async () => {
      const { status, json } = await service.put(`/api/bigs/${BEYOND}`, { id: BEYOND, name: 'changed' });
      expect([status, json.data]).toEqual([200, { id: BEYOND, name: 'changed', count: null }]);
      expect((await service.get(`/api/bigs/${NEIGHBOUR}`)).json.data.name).toBe('neighbour');
      expect(wrongFields(await service.put(`/api/bigs/${BEYOND}`, { id: NEIGHBOUR, name: 'x' }))).toEqual(['id']);
    });

    it('[4.6] a DELETE of an id beyond 53 bits deletes that record, not its neighbour', async () => {
      expect((await service.del(`/api/bigs/${BEYOND}`)).status).toBe(200);
      expect((await service.get('/api/bigs')).json.data.map((each: { id: unknown }) => each.id)).toEqual([NEIGHBOUR]);
    });

    it('[4.6] a new record beyond 53 bits has its exact id in the answer and in its Location', async () => {
      if (database === 'postgres') await sql(`SELECT setval(pg_get_serial_sequence('big', 'id'), ${BEYOND})`);
      const { status, json, headers } = await service.post('/api/bigs', { name: 'next' });
      expect(status).toBe(201);
      expect(json.data.name).toBe('next');
      expect(typeof json.data.id).toBe('string');
      expect(BigInt(json.data.id as string)).toBeGreaterThan(BigInt(BEYOND));
      expect(headers['location']).toBe(`/api/bigs/${json.data.id}`);
      expect((await service.get(headers['location'] ?? '')).json.data.name).toBe('next');
      if (database === 'postgres') await sql(`SELECT setval(pg_get_serial_sequence('big', 'id'), 1)`);
    });

    it('[4.6] of many new records beyond 53 bits at once each answer has its own', async () => {
      if (database === 'postgres') await sql(`SELECT setval(pg_get_serial_sequence('big', 'id'), ${BEYOND})`);
      const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
      const answers = await Promise.all(names.map((name) => service.post('/api/bigs', { name })));
      expect(answers.map(({ json }) => json.data?.name)).toEqual(names);
      expect(new Set(answers.map(({ json }) => json.data.id)).size).toBe(20);
      if (database === 'postgres') await sql(`SELECT setval(pg_get_serial_sequence('big', 'id'), 1)`);
    });

    it('[4.6] a reference beyond 53 bits is exact', async () => {
      const created = await service.post('/api/children', { bigId: BEYOND });
      expect([created.status, created.json.data.bigId]).toEqual([201, BEYOND]);
      const { id } = created.json.data;
      expect((await service.get(`/api/children/${id}`)).json.data.bigId).toBe(BEYOND);
      expect((await service.put(`/api/children/${id}`, created.json.data)).json.data.bigId).toBe(BEYOND);
      expect((await service.put(`/api/children/${id}`, { bigId: NEIGHBOUR })).json.data.bigId).toBe(NEIGHBOUR);
      expect((await service.post('/api/children', { bigId: '9007199254740995' })).status).toBe(409);
      expect((await service.del(`/api/bigs/${BEYOND}`)).status).toBe(200);
    });

    it.each([
      ['-9223372036854775808', '-9223372036854775808'],
      ['9223372036854775807', '9223372036854775807'],
      ['-9007199254740993', '-9007199254740993'],
      ['-9007199254740991', -9007199254740991],
      ['9007199254740991', 9007199254740991],
      ['9007199254740992', '9007199254740992'],
      ['0', 0],
    ])('[4.6] the 64-bit integer %s of a column is read as %p', async (stored, read) => {
      await sql(`UPDATE "big" SET "count" = ${stored} WHERE "id" = ${BEYOND}`);
      const { json } = await service.get(`/api/bigs/${BEYOND}`);
      expect(json.data.count).toBe(read);
      const again = await service.put(`/api/bigs/${BEYOND}`, json.data);
      expect([again.status, again.json.data]).toEqual([200, json.data]);
    });

    it('[4.6] an id that is safe is a number', async () => {
      await sql(`INSERT INTO "big" ("id", "name") VALUES (9007199254740991, 'safe')`);
      expect((await service.get('/api/bigs/9007199254740991')).json.data.id).toBe(9007199254740991);
    });
  });
});

describe('text and UUID ids', () => {
  const seen: string[] = [];

  @Entity()
  class Slugged {
    @PrimaryColumn({ length: 40 })
    id!: string;

    @Column({ length: 40 })
    title!: string;

    @BeforeInsert()
    setId(): void {
      this.id = this.title.toLowerCase().replaceAll(' ', '-');
      seen.push(this.id);
    }
  }

  @Entity()
  class Token {
    @PrimaryGeneratedColumn('uuid')
    id!: string;

    @Column({ length: 40 })
    title!: string;

    @ManyToOne(() => Slugged, { nullable: true })
    page!: Slugged | null;
  }

  describe.each(PLATFORMS)('on %s', (platform) => {
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud(platform, {
        entities: [Slugged, Token],
        resources: [
          { entity: Slugged, endpoint: '/api/pages' },
          { entity: Token, endpoint: '/api/tokens' },
        ],
      });
    });
    afterAll(() => service.close());

    it('[4.8] [4.6] a text id set before the insert may not be given, and does not change with the title', async () => {
      expect(wrongFields(await service.post('/api/pages', { id: 'mine', title: 'A' }))).toEqual(['id']);
      expect((await service.post('/api/pages', { title: 'About us' })).json.data.id).toBe('about-us');
      const { json } = await service.put('/api/pages/about-us', { title: 'Contact' });
      expect(json.data).toEqual({ id: 'about-us', title: 'Contact' });
      expect((await service.get('/api/pages')).json.data).toHaveLength(1);
      expect(seen).toContain('about-us');
    });

    it('[4.6] a relation to a record with a text id is a text', async () => {
      await service.post('/api/pages', { title: 'Imprint' });
      const created = await service.post('/api/tokens', { title: 'a', pageId: 'imprint' });
      expect([created.status, created.json.data.pageId]).toEqual([201, 'imprint']);
      expect((await service.post('/api/tokens', { title: 'a', pageId: 'nowhere' })).status).toBe(409);
      expect(wrongFields(await service.post('/api/tokens', { title: 'a', pageId: 5 }))).toEqual(['pageId']);
    });

    it('[4.8] UUID ids are new for every record, and may not be given', async () => {
      const ids = await Promise.all(
        [1, 2, 3].map(async () => (await service.post('/api/tokens', { title: 'x' })).json.data.id as string),
      );
      expect(new Set(ids).size).toBe(3);
      expect(wrongFields(await service.post('/api/tokens', { id: ids[0], title: 'x' }))).toEqual(['id']);
    });
  });
});
