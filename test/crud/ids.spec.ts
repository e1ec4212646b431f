import { BeforeInsert, Column, Entity, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { type DatabaseName, DATABASES } from '../harness/databases.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

const BEYOND = '9007199254740993';
const MIN = '-9223372036854775808';
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

  let service: CrudService;
  const sql = (text: string): Promise<unknown> => service.dataSource.query(text.replaceAll('"', quote));
  beforeAll(async () => {
    service = await startCrud('express', {
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

  it('[4.6] sends an id beyond 53 bits as an exact string', async () => {
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

  it('[4.6] updates exactly the record of an id beyond 53 bits', async () => {
    const { status, json } = await service.put(`/api/bigs/${BEYOND}`, { id: BEYOND, name: 'changed' });
    expect([status, json.data]).toEqual([200, { id: BEYOND, name: 'changed', count: null }]);
    expect((await service.get(`/api/bigs/${NEIGHBOUR}`)).json.data.name).toBe('neighbour');
    expect(wrongFields(await service.put(`/api/bigs/${BEYOND}`, { id: NEIGHBOUR, name: 'x' }))).toEqual(['id']);
  });

  it('[4.6] deletes exactly the record of an id beyond 53 bits', async () => {
    expect((await service.del(`/api/bigs/${BEYOND}`)).status).toBe(200);
    expect((await service.get('/api/bigs')).json.data.map((each: { id: unknown }) => each.id)).toEqual([NEIGHBOUR]);
  });

  it('[4.6] answers parallel POSTs with the exact id of each new record, also in Location', async () => {
    if (database === 'postgres') await sql(`SELECT setval(pg_get_serial_sequence('big', 'id'), ${BEYOND})`);
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const answers = await Promise.all(names.map((name) => service.post('/api/bigs', { name })));
    expect(answers.map(({ json }) => json.data?.name)).toEqual(names);
    expect(new Set(answers.map(({ json }) => json.data.id)).size).toBe(20);
    for (const { json, headers } of answers) {
      expect(BigInt(json.data.id as string)).toBeGreaterThan(BigInt(BEYOND));
      expect(headers['location']).toBe(`/api/bigs/${json.data.id}`);
    }
    if (database === 'postgres') await sql(`SELECT setval(pg_get_serial_sequence('big', 'id'), 1)`);
  });

  it('[4.6] reads and writes references beyond 53 bits exactly', async () => {
    const created = await service.post('/api/children', { bigId: BEYOND });
    expect([created.status, created.json.data.bigId]).toEqual([201, BEYOND]);
    const { id } = created.json.data;
    expect((await service.get(`/api/children/${id}`)).json.data.bigId).toBe(BEYOND);
    expect((await service.put(`/api/children/${id}`, created.json.data)).json.data.bigId).toBe(BEYOND);
    expect((await service.put(`/api/children/${id}`, { bigId: NEIGHBOUR })).json.data.bigId).toBe(NEIGHBOUR);
    expect((await service.post('/api/children', { bigId: '9007199254740995' })).status).toBe(409);
    expect((await service.del(`/api/bigs/${BEYOND}`)).status).toBe(200);
  });

  it('[4.6] reads 64-bit integers as numbers while they are safe, and as strings beyond', async () => {
    for (const read of [MIN, '9223372036854775807', '-9007199254740993', -9007199254740991, 9007199254740991, 0]) {
      await sql(`UPDATE "big" SET "count" = ${read} WHERE "id" = ${BEYOND}`);
      const { json } = await service.get(`/api/bigs/${BEYOND}`);
      expect(json.data.count).toBe(read);
      const again = await service.put(`/api/bigs/${BEYOND}`, json.data);
      expect([again.status, again.json.data]).toEqual([200, json.data]);
    }
  });

  it('[4.6] sends a safe id as a number', async () => {
    await sql(`INSERT INTO "big" ("id", "name") VALUES (9007199254740991, 'safe')`);
    expect((await service.get('/api/bigs/9007199254740991')).json.data.id).toBe(9007199254740991);
  });
});

describe('text and UUID ids', () => {
  @Entity()
  class Slugged {
    @PrimaryColumn({ length: 40 })
    id!: string;

    @Column({ length: 40 })
    title!: string;

    @BeforeInsert()
    setId(): void {
      this.id = this.title.toLowerCase().replaceAll(' ', '-');
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

  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('fastify', {
      entities: [Slugged, Token],
      resources: [
        { entity: Slugged, endpoint: '/api/pages' },
        { entity: Token, endpoint: '/api/tokens' },
      ],
    });
  });
  afterAll(() => service.close());

  it('[4.8] [4.6] refuses a text id from a client, and keeps it when the title changes', async () => {
    expect(wrongFields(await service.post('/api/pages', { id: 'mine', title: 'A' }))).toEqual(['id']);
    expect((await service.post('/api/pages', { title: 'About us' })).json.data.id).toBe('about-us');
    const { json } = await service.put('/api/pages/about-us', { title: 'Contact' });
    expect(json.data).toEqual({ id: 'about-us', title: 'Contact' });
    expect((await service.get('/api/pages')).json.data).toHaveLength(1);
  });

  it('[4.6] reads and writes a relation to a text id as text', async () => {
    await service.post('/api/pages', { title: 'Imprint' });
    const created = await service.post('/api/tokens', { title: 'a', pageId: 'imprint' });
    expect([created.status, created.json.data.pageId]).toEqual([201, 'imprint']);
    expect((await service.post('/api/tokens', { title: 'a', pageId: 'nowhere' })).status).toBe(409);
    expect(wrongFields(await service.post('/api/tokens', { title: 'a', pageId: 5 }))).toEqual(['pageId']);
  });

  it('[4.8] generates UUID ids, and refuses them from a client', async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await service.post('/api/tokens', { title: 'x' })).json.data.id as string),
    );
    expect(new Set(ids).size).toBe(3);
    expect(wrongFields(await service.post('/api/tokens', { id: ids[0], title: 'x' }))).toEqual(['id']);
  });
});
