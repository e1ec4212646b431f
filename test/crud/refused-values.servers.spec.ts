/** Values that an expression, a partition, an index or the form of a geometry refuses, on the servers of MySQL and MariaDB. */
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DATABASES, IS_MYSQL } from '../harness/databases.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

@Entity()
class Share {
  @PrimaryColumn({ type: 'int' }) id!: number;
  @Column({ type: 'int', default: 1 }) total!: number;
  @Column({ type: 'int', default: 1 }) parts!: number;
  @Column({ type: 'json', nullable: true }) words!: unknown;
}

@Entity()
class Code {
  @PrimaryColumn({ type: 'char', length: 36, default: () => '(UUID())' }) id!: string;
  @Column({ length: 20 }) name!: string;
}

/** A table with partitions has no geometry. */
@Entity()
class Place {
  @PrimaryColumn({ type: 'int' }) id!: number;
  @Column('point') at!: string;
  @Column({ type: 'point', nullable: true }) end!: string | null;
}

type Refused = [what: string, share: { id: number; [field: string]: unknown }];

/** MariaDB has no index of the elements of an array. */
const OF_MYSQL: readonly Refused[] = [
  ['a text longer than the index of an array', { id: 2, words: ['longer'] }],
  ['an object in the index of an array', { id: 2, words: [{ a: 1 }] }],
];

const onMysql = DATABASES.includes('mariadb') ? describe : describe.skip;
onMysql.each(['compiled', 'repository'] as const)('values that MySQL and MariaDB refuse, %s', (path) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('fastify', {
      database: 'mariadb',
      path,
      entities: [Share, Place, Code],
      resources: [
        { entity: Share, endpoint: '/shares', maxListSize: 5 },
        { entity: Place, endpoint: '/places', maxListSize: 5 },
        { entity: Code, endpoint: '/codes', maxListSize: 5, clientId: true },
      ],
    });
    const query = (sql: string): Promise<unknown> => service.dataSource.query(sql);
    await query('ALTER TABLE share ADD each_part DECIMAL(9, 2) AS (total / parts) STORED');
    if (IS_MYSQL) await query("ALTER TABLE share ADD INDEX w ((CAST(words->'$[*]' AS CHAR(4) ARRAY)))");
    await query('ALTER TABLE share PARTITION BY RANGE (id) (PARTITION first VALUES LESS THAN (100))');
    expect((await service.post('/shares', { id: 1, words: ['abcd'] })).status).toBe(201);
  });
  afterAll(() => service.close());

  it.each<Refused>([
    ['a division by zero', { id: 2, parts: 0 }],
    ['a key without a partition', { id: 500 }],
    ...(IS_MYSQL ? OF_MYSQL : []),
  ])('[4.3] %s is 400', async (_, { id, ...values }) => {
    const created = await service.post('/shares', { id, ...values });
    expect([created.status, created.json.message]).toEqual([400, expect.stringMatching(/^Share is not valid/)]);
    if (id === 2) expect((await service.send('PATCH', '/shares/1', { json: values })).status).toBe(400);
    expect((await service.get('/shares')).json.data).toHaveLength(1);
  });

  it('[4.6] a key by DEFAULT (UUID()) is required on MySQL, which does not tell it', async () => {
    const created = await service.post('/codes', { name: 'a' });
    if (IS_MYSQL) expect(wrongFields(created)).toEqual(['id']);
    else expect(created.json.data).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown, name: 'a' });
    const id = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
    expect((await service.post('/codes', { id, name: 'b' })).json.data).toEqual({ id, name: 'b' });
  });

  it('[4.3] a text that is no geometry is 400', async () => {
    const place = { id: 1, at: 'POINT(1 2)', end: null };
    for (const at of ['x', 'POINT(1)']) expect((await service.post('/places', { ...place, at })).status).toBe(400);
    expect((await service.post('/places', place)).status).toBe(201);
    expect((await service.put('/places/1', { at: 'x', end: null })).status).toBe(400);
    // MariaDB makes NULL of it.
    const { status } = await service.send('PATCH', '/places/1', { json: { end: 'x' } });
    expect(status).toBe(IS_MYSQL ? 400 : 200);
    expect((await service.get('/places/1')).json.data).toEqual(place);
  });
});
