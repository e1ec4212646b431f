/** Values that other programs wrote, and that no client could send: GET answers them, PUT keeps them, filters find them. */
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, startCrud, wrongFields } from '../crud/service.js';
import { DATABASES, type DatabaseName } from '../harness/databases.js';

type Case = readonly [column: string, stored: string, answered: unknown];

const CASES: Readonly<Record<DatabaseName, readonly Case[]>> = {
  sqlite: [
    ['state', `'legacy'`, 'legacy'],
    ['starts', `'24:00:00'`, '24:00:00'],
    ['starts', `'100:30:00'`, '100:30:00'],
    ['at', `'2026-01-31T09:30:00Z'`, '2026-01-31T09:30:00.000Z'],
    ['at', '1769851800000', 1769851800000],
  ],
  postgres: [
    ['state', `'legacy'`, 'legacy'],
    ['starts', `'24:00:00'`, '24:00:00'],
    ['at', `'infinity'`, 'infinity'],
  ],
  mariadb: [
    ['state', `'legacy'`, 'legacy'],
    ['starts', `'-10:00:00'`, '-10:00:00'],
    ['starts', `'100:30:00'`, '100:30:00'],
    ['starts', `'838:59:59'`, '838:59:59'],
    ['starts', `'-838:59:59'`, '-838:59:59'],
    ['starts', `'24:00:00'`, '24:00:00'],
  ],
};

const CREATE: Readonly<Record<DatabaseName, string>> = {
  sqlite: 'state varchar, starts time, at datetime, id integer PRIMARY KEY AUTOINCREMENT NOT NULL',
  postgres: `state old_state, starts time, at timestamptz, id serial PRIMARY KEY`,
  mariadb: `state enum('open', 'done', 'legacy'), starts time, at datetime(3), id int PRIMARY KEY AUTO_INCREMENT`,
};

/** Its database knows one value more than the entity. */
function shiftOf(database: DatabaseName) {
  @Entity()
  class Shift {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({ default: 0 })
    version!: number;

    @Column({ type: database === 'sqlite' ? 'simple-enum' : 'enum', enum: ['open', 'done'], nullable: true })
    state!: string | null;

    @Column({ type: 'time', nullable: true })
    starts!: string | null;

    @Column({
      type: database === 'postgres' ? 'timestamptz' : 'datetime',
      precision: database === 'mariadb' ? 3 : null,
      nullable: true,
    })
    at!: Date | null;
  }
  return Shift;
}

describe.each(DATABASES)('values of other programs on %s', (database) => {
  const Shift = shiftOf(database);
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(database === 'mariadb' ? 'fastify' : 'express', {
      database,
      entities: [Shift],
      resources: [
        {
          entity: Shift,
          endpoint: '/shifts',
          maxListSize: 50,
          filterableFields: true,
          aggregatableFields: ['state', 'starts', 'at'],
          enableCount: true,
          enableBatch: true,
        },
      ],
      isDescribed: false,
    });
    await service.dataSource.query('DROP TABLE shift');
    if (database === 'postgres')
      await service.dataSource.query(`CREATE TYPE old_state AS ENUM ('open', 'done', 'legacy')`);
    await service.dataSource.query(`CREATE TABLE shift (${CREATE[database]}, version int NOT NULL DEFAULT 0)`);
  });
  afterAll(() => service.close());
  beforeEach(() => service.dataSource.query('DELETE FROM shift'));

  const stored = async (): Promise<unknown> => service.dataSource.query('SELECT * FROM shift');

  async function storedCase([column, sql, answered]: Case) {
    await service.dataSource.query(`INSERT INTO shift (${column}) VALUES (${sql})`);
    const [record] = (await service.get('/shifts')).json.data;
    expect(record[column]).toEqual(answered);
    return { record, url: `/shifts/${record.id}` };
  }

  it.each(CASES[database])('[4.6] PUT, PATCH and a batch keep %s %s as it is', async (...each) => {
    const { record, url } = await storedCase(each);
    const before = await stored();
    const answers = [
      await service.put(url, record),
      await service.send('PATCH', url, { json: { [each[0]]: record[each[0]] } }),
      await service.send('PATCH', '/shifts/batch', { json: { items: [record] } }),
    ];
    expect(answers.map(({ status, json }) => [status, json.data])).toEqual([
      [200, record],
      [200, record],
      [200, [record]],
    ]);
    expect(await stored()).toEqual(before);
    const changed = await service.put(url, { ...record, version: 1 });
    expect([changed.status, changed.json.data]).toEqual([200, { ...record, version: 1 }]);
  });

  it.each(CASES[database].filter(([, , answered]) => ![1769851800000, 'infinity'].includes(answered as number)))(
    '[7.1] filters find %s %s',
    async (...each) => {
      const [column, , answered] = each;
      const { record } = await storedCase(each);
      await service.post('/shifts', { state: 'open', starts: '09:30:00' });
      const text = encodeURIComponent(String(answered));
      for (const query of [`[${column}]=${text}`, `[${column}][in]=${text}`, `[${column}][between]=${text},${text}`])
        expect([query, (await service.get(`/shifts?filter${query}`)).json.data]).toEqual([query, [record]]);
      const { data } = (await service.get(`/shifts/aggregate?groupBy=${column}&filter[${column}]=${text}`)).json;
      expect(data).toEqual([{ groupBy: { [column]: answered }, count: 1 }]);
    },
  );

  it('[4.6] no client can send such a value where it is not stored', async () => {
    expect(wrongFields(await service.post('/shifts', { state: 'legacy', starts: '25:00:0', at: 1 }))).toEqual([
      'at',
      'starts',
      'state',
    ]);
    const { data } = (await service.post('/shifts', { state: 'open' })).json;
    expect(wrongFields(await service.put(`/shifts/${data.id}`, { ...data, state: 'legacy' }))).toEqual(['state']);
    expect(wrongFields(await service.send('PATCH', `/shifts/${data.id}`, { json: { state: 'legacy' } }))).toEqual([
      'state',
    ]);
  });

  it.runIf(database === 'mariadb')('[4.6] takes the times that the column holds', async () => {
    for (const starts of ['-10:00:00', '838:59:59', '100:30:00', '24:00:00'])
      expect((await service.post('/shifts', { starts })).json.data?.starts).toBe(starts);
    for (const starts of ['839:00:00', '-839:00:00', '10:60:00', '1:00:00', '00838:59:59'])
      expect([starts, wrongFields(await service.post('/shifts', { starts }))]).toEqual([starts, ['starts']]);
  });

  it.runIf(database === 'postgres')('[4.6] takes the end of the day', async () => {
    expect((await service.post('/shifts', { starts: '24:00:00' })).json.data.starts).toBe('24:00:00');
    for (const starts of ['24:00:01', '24:01', '25:00', '-01:00:00'])
      expect([starts, wrongFields(await service.post('/shifts', { starts }))]).toEqual([starts, ['starts']]);
  });
});
