/** The providers with resources whose key is not `id`. */
import * as reactAdmin from 'ra-data-declarest';
import * as refine from 'refine-declarest';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { PLATFORMS } from '../harness/platforms.js';

@Entity()
class Country {
  @PrimaryColumn({ length: 2 }) code!: string;
  @Column({ length: 20 }) name!: string;
}

/** Values of its keys have the characters that separate keys. */
@Entity()
class Place {
  @PrimaryColumn('int') shop!: number;
  @PrimaryColumn({ length: 20 }) shelf!: string;
  @Column({ length: 20 }) name!: string;
}

const ALL = { enablePagination: true, enableBatch: true, enableExport: true } as const;
const keys = { countries: 'code', places: ['shop', 'shelf'] };
const PAGE = { page: 1, perPage: 25 };

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  let sent: string[];
  const record = ((input, init) => {
    sent.push(`${init?.method ?? 'GET'} ${decodeURIComponent(String(input).slice(service.url.length))}`);
    return fetch(input, init);
  }) as typeof fetch;
  const options = { keys, fetch: record };
  const austria = { code: 'AT', name: 'Austria' };

  beforeAll(async () => {
    const fields = { filterableFields: true, sortableFields: ['code'] } as const;
    const resources = [
      { entity: Country, endpoint: '/countries', ...ALL, ...fields },
      { entity: Place, endpoint: '/places', ...ALL },
    ];
    service = await startCrud(platform, { entities: [Country, Place], resources });
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    sent = [];
    await service.dataSource.getRepository(Country).clear();
    await service.dataSource.getRepository(Country).insert([austria, { code: 'BE', name: 'Belgium' }]);
  });

  it('react-admin: records get an id of their key', async () => {
    const data = reactAdmin.dataProvider(service.url, options);
    const at = { ...austria, id: 'AT' };
    const list = await data.getList('countries', {
      pagination: PAGE,
      sort: { field: 'id', order: 'DESC' },
      filter: {},
    });
    expect([list.total, list.data.map(({ id }) => id)]).toEqual([2, ['BE', 'AT']]);
    expect((await data.getOne('countries', { id: 'AT', meta: { fields: 'name' } })).data).toEqual({ ...at });
    expect((await data.getMany('countries', { ids: ['AT'] })).data).toEqual([at]);
    const created = await data.create('countries', { data: { code: 'CH', name: 'Swiss' } });
    expect(created.data).toEqual({ code: 'CH', name: 'Swiss', id: 'CH' });
    const change = { id: 'CH', data: { ...created.data, name: 'Switzerland' }, previousData: created.data };
    expect((await data.update('countries', change)).data).toEqual({ code: 'CH', name: 'Switzerland', id: 'CH' });
    await data.updateMany('countries', { ids: ['AT', 'BE'], data: { name: 'x' } });
    await data.deleteMany('countries', { ids: ['BE', 'CH'] });
    expect((await service.get('/countries')).json.data).toEqual([{ code: 'AT', name: 'x' }]);
    expect(sent).toEqual([
      'GET /countries?sort=-code&page=1&size=25',
      'GET /countries/AT?fields=code,name',
      'GET /countries?filter[code][in]=AT',
      'POST /countries',
      'PATCH /countries/CH',
      'PATCH /countries/batch',
      'DELETE /countries/batch?ids=BE,CH',
    ]);
  });

  it('refine: records get an id of their key', async () => {
    const data = refine.dataProvider(service.url, options);
    const at = { ...austria, id: 'AT' };
    const sorters = [{ field: 'id', order: 'desc' as const }];
    const list = await data.getList({ resource: 'countries', sorters });
    expect([list.total, list.data.map(({ id }) => id)]).toEqual([2, ['BE', 'AT']]);
    expect((await data.getOne({ resource: 'countries', id: 'AT' })).data).toEqual(at);
    expect((await data.getMany({ resource: 'countries', ids: ['AT'] })).data).toEqual([at]);
    const created = await data.create({ resource: 'countries', variables: { code: 'CH', name: 'Swiss' } });
    expect(created.data).toEqual({ code: 'CH', name: 'Swiss', id: 'CH' });
    const update = { resource: 'countries', id: 'CH', variables: { name: 'Switzerland' } };
    expect((await data.update(update)).data).toEqual({ code: 'CH', name: 'Switzerland', id: 'CH' });
    await data.updateMany({ resource: 'countries', ids: ['AT', 'BE'], variables: { name: 'x' } });
    await data.deleteMany({ resource: 'countries', ids: ['BE', 'CH'] });
    expect((await service.get('/countries')).json.data).toEqual([{ code: 'AT', name: 'x' }]);
    expect(sent.slice(0, 3)).toEqual([
      'GET /countries?sort=-code&page=1&size=10',
      'GET /countries/AT',
      'GET /countries?filter[code][in]=AT',
    ]);
  });

  it('react-admin: a filter by id is one by the key', async () => {
    const data = reactAdmin.dataProvider(service.url, { ...options, keys: { countries: ['code'] } });
    const list = { pagination: PAGE, sort: { field: 'id', order: 'ASC' }, filter: { id: ['AT', 'CH'] } } as const;
    expect((await data.getList('countries', list)).data).toHaveLength(1);
    expect(sent).toEqual(['GET /countries?sort=code&filter[code][in]=AT,CH&page=1&size=25']);
  });

  describe.each(['react-admin', 'refine'])('%s: keys of several columns', (name) => {
    const SHELVES = ['x', 'z,1', 'a;b', '50%', 'a%2Cb', 'q?&=#/'];
    const remove = async (ids: string[]): Promise<unknown> =>
      name === 'refine'
        ? refine.dataProvider(service.url, options).deleteMany({ resource: 'places', ids })
        : reactAdmin.dataProvider(service.url, options).deleteMany('places', { ids });
    const idsOf = async (): Promise<string[]> => {
      const list = await refine.dataProvider(service.url, options).getList({ resource: 'places' });
      return list.data.map(({ id }) => String(id));
    };
    beforeEach(async () => {
      const places = service.dataSource.getRepository(Place);
      await places.clear();
      await places.insert(SHELVES.map((shelf, shop) => ({ shop, shelf, name: shelf })));
    });

    it('[8.2] deletes several records in one request, whatever their keys hold', async () => {
      const ids = await idsOf();
      expect(ids).toHaveLength(SHELVES.length);
      await remove(ids.slice(1));
      expect(await idsOf()).toEqual(ids.slice(0, 1));
      expect(sent.filter((each) => each.startsWith('DELETE'))).toHaveLength(1);
    });

    it('[8.2] deletes one record, whatever its key holds', async () => {
      const ids = await idsOf();
      for (const id of ids) await remove([id]);
      expect(await idsOf()).toEqual([]);
    });
  });
});
