import { Post, Put } from '@nestjs/common';
import { CrudController, type JsonObject } from 'declarest';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { columnsOf, entityOf, readOf, sentOf } from './column-cases.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

describe.each(DATABASES)('columns on %s', (database) => {
  const columns = columnsOf(database);
  const Wide = entityOf(columns);
  const body = Object.fromEntries(columns.map(({ name, valid }) => [name, sentOf(valid[0])]));
  const record = Object.fromEntries(columns.map(({ name, valid }) => [name, readOf(valid[0])]));
  /** What a column accepts depends on the database, not on the platform. */
  const platform = database === 'mariadb' ? 'fastify' : 'express';

  class OwnTypes extends CrudController({ entity: Wide, endpoint: '/api/own', maxListSize: 10 }) {
    @Post()
    override create(sent: JsonObject) {
      const values = { bigint: 9007199254740993n, int: 5n, dateTime: new Date(0), bytes: Buffer.from([1, 2]) };
      return super.create({ ...sent, ...values });
    }
    @Put(':id')
    override async update(id: string, sent: JsonObject) {
      const { data } = await super.findById(id);
      return super.update(id, { ...data, ...sent });
    }
  }

  let service: CrudService;
  let id: number;
  beforeAll(async () => {
    service = await startCrud(platform, {
      database,
      entities: [Wide],
      resources: [{ entity: Wide, endpoint: '/api/wide', maxListSize: 10 }, OwnTypes],
      isDescribed: (path) => !path.startsWith('/api/own'),
    });
    const { status, json, text } = await service.post('/api/wide', body);
    if (status !== 201) throw new Error(text);
    id = json.data.id;
  });
  afterAll(() => service.close());

  it('[4.6] reads every column back as it was written', async () => {
    expect((await service.get(`/api/wide/${id}`)).json.data).toEqual({ id, ...record });
    expect((await service.get('/api/wide')).json.data).toEqual([{ id, ...record }]);
  });

  it('[4.6] accepts in PUT what GET returned', async () => {
    const read = (await service.get(`/api/wide/${id}`)).json.data;
    const { status, json } = await service.put(`/api/wide/${id}`, read);
    expect([status, json.data]).toEqual([200, read]);
    expect((await service.get(`/api/wide/${id}`)).json.data).toEqual(read);
  });

  it.each(columns.map((column) => [column.name, column] as const))(
    '[4.6] stores each valid value of %s and refuses each wrong one',
    async (name, { valid, wrong, refused = [] }) => {
      for (const value of valid) {
        const created = await service.post('/api/wide', { ...body, [name]: sentOf(value) });
        const expected = { ...record, [name]: readOf(value), id: expect.any(Number) as unknown };
        expect([created.status, created.json.data]).toEqual([201, expected]);
        const path = created.headers['location'] ?? '';
        expect((await service.get(path)).json.data).toEqual(created.json.data);
        const again = await service.put(path, created.json.data);
        expect([again.status, again.json.data]).toEqual([200, created.json.data]);
      }
      for (const value of wrong) {
        const sent = { ...body, [name]: value };
        expect([value, wrongFields(await service.post('/api/wide', sent))]).toEqual([value, [name]]);
        expect(wrongFields(await service.put(`/api/wide/${id}`, sent))).toEqual([name]);
      }
      for (const value of refused) {
        const { status, json } = await service.post('/api/wide', { ...body, [name]: value });
        const named = json.errors?.map(({ field }: { field: string }) => field) ?? [name];
        expect([value, status, named]).toEqual([value, 400, [name]]);
      }
      expect((await service.get(`/api/wide/${id}`)).json.data).toEqual({ id, ...record });
    },
  );

  it('[4.6] names every field that is missing or null at once', async () => {
    const required = columns.filter(({ column }) => !column.nullable).map(({ name }) => name);
    const nulls = Object.fromEntries(required.map((name) => [name, null]));
    // Beyond 20 errors, the answer says only how many more there are.
    const named = required.length > 20 ? ['', ...required.slice(0, 20)] : required;
    for (const sent of [{}, nulls]) {
      expect(wrongFields(await service.post('/api/wide', sent))).toEqual(named.toSorted());
      expect(wrongFields(await service.put(`/api/wide/${id}`, sent))).toEqual(named.toSorted());
    }
  });

  it('[4.6] sets a nullable column to null if a PUT leaves it out', async () => {
    const path = (await service.post('/api/wide', { ...body, nullableInt: 5, nullableJson: {} })).headers['location'];
    const { nullableInt: _int, nullableJson: _json, ...rest } = body;
    const { json } = await service.put(path ?? '', rest);
    expect(json.data).toMatchObject({ nullableInt: null, nullableJson: null });
  });

  it("[4.7] accepts the entity's own types from an override", async () => {
    const { status, json } = await service.post('/api/own', body);
    const own = { bigint: '9007199254740993', int: 5, dateTime: '1970-01-01T00:00:00.000Z', bytes: 'AQI=' };
    expect([status, json.data]).toMatchObject([201, own]);
    const changed = await service.put(`/api/own/${json.data.id}`, { text: 'changed' });
    expect([changed.status, changed.json.data]).toEqual([200, { ...json.data, text: 'changed' }]);
  });

  it('[4.6] never answers 500 for a number out of range', async () => {
    const Real = entityOf([{ name: 'real', column: { type: database === 'mariadb' ? 'float' : 'real' } }]);
    const other = await startCrud(platform, {
      database,
      entities: [Real],
      resources: [{ entity: Real, endpoint: '/api/reals' }],
    });
    expect((await other.post('/api/reals', { real: 1e300 })).status).toBeLessThan(500);
    await other.close();
  });
});

(DATABASES.includes('postgres') ? it : it.skip)(
  '[4.6] accepts in PUT a money value, which PostgreSQL returns with its currency',
  async () => {
    const Price = entityOf([{ name: 'price', column: { type: 'money' } }]);
    const resources = [{ entity: Price, endpoint: '/api/prices' }];
    const service = await startCrud(PLATFORMS[0]!, { database: 'postgres', entities: [Price], resources });
    for (const price of [1234.5, -0.5, '1234.5']) {
      const { status, json } = await service.post('/api/prices', { price });
      expect([status, json.data.price]).toEqual([201, expect.stringMatching(/1.?234.50|0.50/)]);
      const again = await service.put(`/api/prices/${json.data.id}`, json.data);
      expect([again.status, again.json.data]).toEqual([200, json.data]);
    }
    for (const price of ['', 'x', true, [5], '5\u0000', null])
      expect(wrongFields(await service.post('/api/prices', { price }))).toEqual(['price']);
    await service.close();
  },
);
