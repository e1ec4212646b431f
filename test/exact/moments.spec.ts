/** Moments as GET answers them: filters, groups and PUT find and keep the rows, also those of other programs. */
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { DATABASES, type DatabaseName, emptyTables } from '../harness/databases.js';

const END = '9999-12-31T23:59:59.999Z';

function momentOf(database: DatabaseName) {
  @Entity()
  class Moment {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({
      type: database === 'postgres' ? 'timestamptz' : 'datetime',
      ...(database !== 'sqlite' && { precision: 6 }),
    })
    at!: Date;
  }
  return Moment;
}

describe.each(DATABASES)('moments on %s', (database) => {
  const Moment = momentOf(database);
  let service: CrudService;
  beforeAll(async () => {
    const resource = { entity: Moment, endpoint: '/moments', maxListSize: 50, enableCount: true as const };
    service = await startCrud(database === 'mariadb' ? 'fastify' : 'express', {
      database,
      entities: [Moment],
      resources: [{ ...resource, filterableFields: true, aggregatableFields: ['at'] }],
      ...(database === 'mariadb' && { dataSource: { timezone: 'Z' } as object }),
    });
  });
  beforeEach(() => emptyTables(service.dataSource, database));
  afterAll(() => service.close());

  const insert = (...texts: readonly string[]) =>
    service.dataSource.query(`INSERT INTO moment (at) VALUES ${texts.map((text) => `('${text}')`).join()}`);
  const found = async (query: string): Promise<unknown[]> => {
    const { status, json } = await service.get(`/moments?${query}`);
    if (status !== 200) throw new Error(`${query}: ${JSON.stringify(json)}`);
    return json.data.map(({ id }: { id: number }) => id);
  };

  it('[7.1] are found up to the last one that databases store', async () => {
    for (const at of ['2026-01-31T09:30:00.000Z', '9999-12-31T23:59:59.998Z', END])
      expect((await service.post('/moments', { at })).status).toBe(201);
    if (database !== 'sqlite') await insert('9999-12-31 23:59:59.999999');
    const last = database === 'sqlite' ? [3] : [3, 4];
    expect(await found(`filter[at][lte]=${END}`)).toEqual([1, 2, ...last]);
    expect(await found(`filter[at][between]=2026-01-01T00:00:00Z,${END}`)).toEqual([1, 2, ...last]);
    expect(await found(`filter[at]=${END}`)).toEqual(last);
    expect(await found(`filter[at][in]=${END},2026-01-31T09:30:00Z`)).toEqual([1, ...last]);
    expect(await found(`filter[at][nin]=${END}`)).toEqual([1, 2]);
    expect(await found(`filter[at][ne]=${END}`)).toEqual([1, 2]);
    expect(await found(`filter[at][gt]=${END}`)).toEqual([]);
    expect(await found(`filter[at][gte]=${END}`)).toEqual(last);
    expect(await found(`filter[at][lt]=${END}`)).toEqual([1, 2]);
    expect(await found('filter[at][gt]=9999-12-31T23:59:59.998Z')).toEqual(last);
    expect(await found('filter[at][lte]=9999-12-31T23:59:59.998Z')).toEqual([1, 2]);
  });

  it('[7.1] are found by what GET answers, to the microsecond that it does not', async () => {
    await insert(
      '2026-01-31 09:30:00',
      '2026-01-31 09:30:00.000999',
      '2026-01-31 09:30:00.001',
      '2026-01-31 09:29:59.999999',
    );
    const { data } = (await service.get('/moments')).json;
    expect(data.map(({ at }: { at: string }) => at.slice(17))).toEqual(['00.000Z', '00.000Z', '00.001Z', '59.999Z']);
    expect(await found('filter[at]=2026-01-31T09:30:00Z')).toEqual([1, 2]);
    expect(await found('filter[at][gt]=2026-01-31T09:30:00Z')).toEqual([3]);
    expect(await found('filter[at][lte]=2026-01-31T09:30:00Z')).toEqual([1, 2, 4]);
    expect(await found('filter[at][lt]=2026-01-31T09:30:00Z')).toEqual([4]);
    expect(await found('filter[at][gte]=2026-01-31T09:30:00.001Z')).toEqual([3]);
  });

  it('[7.7] make one group of each key', async () => {
    await insert(
      '2026-01-31 09:30:00',
      '2026-01-31 09:30:00.000',
      '2026-01-31 09:30:00.000999',
      '2026-01-31 09:30:01.5',
    );
    expect((await service.get('/moments/aggregate?groupBy=at&min=at&max=at')).json.data).toEqual([
      {
        groupBy: { at: '2026-01-31T09:30:00.000Z' },
        count: 3,
        min: { at: '2026-01-31T09:30:00.000Z' },
        max: { at: '2026-01-31T09:30:00.000Z' },
      },
      {
        groupBy: { at: '2026-01-31T09:30:01.500Z' },
        count: 1,
        min: { at: '2026-01-31T09:30:01.500Z' },
        max: { at: '2026-01-31T09:30:01.500Z' },
      },
    ]);
  });

  it.runIf(database === 'sqlite')(
    '[7.7] make one group of each key, whatever form another program gave it',
    async () => {
      await insert(
        '2026-01-31 09:30:00',
        '2026-01-31T09:30:00Z',
        '2026-01-31T10:30:00+01:00',
        '2026-01-31T09:30:00.000Z',
        '2026-01-31 09:30',
      );
      expect((await service.get('/moments/aggregate?groupBy=at')).json.data).toEqual([
        { groupBy: { at: '2026-01-31T09:30:00.000Z' }, count: 5 },
      ]);
    },
  );
});
