import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { columnsOf, entityOf, readOf, sentOf } from './column-cases.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

const short = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 40);

describe.each(DATABASES)('on %s', (database) => {
  const columns = columnsOf(database);
  const Wide = entityOf(columns);
  const body = Object.fromEntries(columns.map(({ name, valid }) => [name, sentOf(valid[0])]));
  const record = Object.fromEntries(columns.map(({ name, valid }) => [name, readOf(valid[0])]));

  // What a column takes is a matter of the database, not of the platform.
  const platforms = database === 'sqlite' ? PLATFORMS : PLATFORMS.slice(database === 'postgres' ? 0 : 1).slice(0, 1);
  describe.each(platforms)('and %s', (platform) => {
    let service: CrudService;
    let id: number;
    beforeAll(async () => {
      service = await startCrud(platform, {
        database,
        entities: [Wide],
        resources: [{ entity: Wide, endpoint: '/api/wide', maxListSize: 10 }],
      });
      const { status, json, text } = await service.post('/api/wide', body);
      if (status !== 201) throw new Error(text);
      id = json.data.id;
    });
    afterAll(() => service.close());

    it('[4.6] a record of every type of column reads back as it was written', async () => {
      expect((await service.get(`/api/wide/${id}`)).json.data).toEqual({ id, ...record });
      expect((await service.get('/api/wide')).json.data).toEqual([{ id, ...record }]);
    });

    it('[4.6] what GET returned can be PUT back as it is', async () => {
      const read = (await service.get(`/api/wide/${id}`)).json.data;
      const { status, json } = await service.put(`/api/wide/${id}`, read);
      expect([status, json.data]).toEqual([200, read]);
      expect((await service.get(`/api/wide/${id}`)).json.data).toEqual(read);
    });

    const valid = columns.flatMap(({ name, valid: values }) =>
      values.map((value) => [name, short(sentOf(value)), value] as const),
    );
    it.each(valid)('[4.6] %s takes %s, and gives it back', async (name, _text, value) => {
      const created = await service.post('/api/wide', { ...body, [name]: sentOf(value) });
      const expected = { ...record, [name]: readOf(value), id: expect.any(Number) as unknown };
      expect([created.status, created.json.data]).toEqual([201, expected]);
      const path = created.headers['location'] ?? '';
      expect((await service.get(path)).json.data).toEqual(created.json.data);
      await service.put(path, body);
      const updated = await service.put(path, { ...body, [name]: sentOf(value) });
      expect([updated.status, updated.json.data]).toEqual([200, created.json.data]);
      const again = await service.put(path, updated.json.data);
      expect([again.status, again.json.data]).toEqual([200, created.json.data]);
    });

    const wrong = columns.flatMap(({ name, wrong: values, column }) =>
      [...values, ...(column.nullable ? [] : [null])].map((value) => [name, short(value), value] as const),
    );
    it.each(wrong)(
      '[4.6] %s does not take %s: 400 on create and update, and nothing changes',
      async (name, _text, value) => {
        expect(wrongFields(await service.post('/api/wide', { ...body, [name]: value }))).toEqual([name]);
        expect(wrongFields(await service.put(`/api/wide/${id}`, { ...body, [name]: value }))).toEqual([name]);
        expect((await service.get(`/api/wide/${id}`)).json.data).toEqual({ id, ...record });
      },
    );

    const refused = columns.flatMap(({ name, refused: values = [] }) => values.map((value) => [name, value] as const));
    if (refused.length > 0)
      it.each(refused)('[4.6] of %s, the database does not take %j: 400, and nothing changes', async (name, value) => {
        for (const { status, json } of [
          await service.post('/api/wide', { ...body, [name]: value }),
          await service.put(`/api/wide/${id}`, { ...body, [name]: value }),
        ])
          expect([status, json.message]).toEqual([
            400,
            'Wide is not valid: the database does not take one of its values',
          ]);
        expect((await service.get(`/api/wide/${id}`)).json.data).toEqual({ id, ...record });
      });

    it('[4.6] every wrong field is named at once', async () => {
      const bad = columns.filter(({ column }) => !column.nullable);
      const all = { ...body, ...Object.fromEntries(bad.map(({ name }) => [name, null])) };
      expect(wrongFields(await service.post('/api/wide', all))).toEqual(bad.map(({ name }) => name).toSorted());
    });

    it('[4.6] every required field that is missing is named at once', async () => {
      const required = columns.filter(({ column }) => !column.nullable).map(({ name }) => name);
      expect(wrongFields(await service.post('/api/wide', {}))).toEqual(required.toSorted());
      expect(wrongFields(await service.put(`/api/wide/${id}`, {}))).toEqual(required.toSorted());
    });

    it.each(columns.filter(({ column }) => column.nullable).map(({ name }) => name))(
      '[4.6] %s, which may be null, becomes null when a PUT leaves it out',
      async (name) => {
        const path = (await service.post('/api/wide', body)).headers['location'] ?? '';
        const { valid: values } = columns.find((column) => column.name === name)!;
        await service.put(path, { ...body, [name]: sentOf(values.at(-1)) });
        const { [name]: _left, ...rest } = body;
        const { status, json } = await service.put(path, rest);
        expect([status, json.data]).toEqual([200, { ...record, id: expect.any(Number), [name]: null }]);
      },
    );
  });

  if (database === 'postgres')
    it('[4.6] money, which is read with the currency of the database, can be PUT back as it was read', async () => {
      const Price = entityOf([{ name: 'price', column: { type: 'money' }, valid: [], wrong: [] }]);
      const service = await startCrud('express', {
        database,
        entities: [Price],
        resources: [{ entity: Price, endpoint: '/api/prices' }],
      });
      for (const price of [1234.5, -0.5, '1234.5']) {
        const { status, json } = await service.post('/api/prices', { price });
        expect([status, json.data.price]).toEqual([201, expect.stringMatching(/1.?234.50|0.50/)]);
        const again = await service.put(`/api/prices/${json.data.id}`, json.data);
        expect([again.status, again.json.data]).toEqual([200, json.data]);
        expect((await service.get(`/api/prices/${json.data.id}`)).json.data).toEqual(json.data);
      }
      for (const price of ['', 'x', '-', true, {}, [5], '5\u0000', null])
        expect(wrongFields(await service.post('/api/prices', { price }))).toEqual(['price']);
      expect((await service.post('/api/prices', { price: 1e300 })).status).toBe(400);
      await service.close();
    });

  describe('of columns that hold a decimal', () => {
    const Amount = entityOf([
      { name: 'amount', column: { type: 'decimal', precision: 10, scale: 2 }, valid: [], wrong: [] },
      { name: 'real', column: { type: database === 'mariadb' ? 'float' : 'real' }, valid: [], wrong: [] },
    ]);
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud('express', {
        database,
        entities: [Amount],
        resources: [{ entity: Amount, endpoint: '/api/amounts' }],
      });
    });
    afterAll(() => service.close());

    it.each([12.34, 0, -0.5, 99999999.99, '12.34', '-99999999.99'])('[4.6] %p round-trips', async (amount) => {
      const created = await service.post('/api/amounts', { amount, real: 0.5 });
      expect(created.status).toBe(201);
      expect(Number(created.json.data.amount)).toBe(Number(amount));
      const { id } = created.json.data;
      const again = await service.put(`/api/amounts/${id}`, created.json.data);
      expect([again.status, again.json.data]).toEqual([200, created.json.data]);
    });

    it.each(['abc', '', '1,5', '0x1', 'NaN', 'Infinity', ' 1', '9'.repeat(350), true, [], {}, null])(
      '[4.6] %p is 400',
      async (amount) => {
        expect(wrongFields(await service.post('/api/amounts', { amount, real: 1 }))).toEqual(['amount']);
      },
    );

    it.each([1e12, 1e300, '9'.repeat(90)])('[4.6] %p, which no such column holds, is never 500', async (amount) => {
      const { status } = await service.post('/api/amounts', { amount, real: 1 });
      if (database === 'sqlite') expect(status).toBeLessThan(500);
      else expect(status).toBe(400);
    });

    it('[4.6] a number that single precision does not hold is never 500', async () => {
      expect((await service.post('/api/amounts', { amount: 1, real: 1e300 })).status).toBeLessThan(500);
    });
  });

  it.each(['5', 'null', 'true', '{"a":1}', '"x"', '[1]', ''])(
    '[4.6] the text %p in a JSON column is refused or read back as it was, never changed',
    async (value) => {
      const Json = entityOf([
        { name: 'value', column: { type: database === 'sqlite' ? 'simple-json' : 'json' }, valid: [], wrong: [] },
      ]);
      const service = await startCrud('express', {
        database,
        entities: [Json],
        resources: [{ entity: Json, endpoint: '/api/json' }],
      });
      const answer = await service.post('/api/json', { value });
      if (answer.status === 400) expect(wrongFields(answer)).toEqual(['value']);
      else expect([answer.status, answer.json.data.value]).toEqual([201, value]);
      await service.close();
    },
  );

  it.each([
    ['a comma in a word', ['a,b']],
    ['one empty word', ['']],
    ['an empty word among others', ['a', '']],
  ])('[4.6] a simple-array with %s is refused or read back as it was, never changed', async (_what, words) => {
    const Words = entityOf([{ name: 'words', column: { type: 'simple-array' }, valid: [], wrong: [] }]);
    const service = await startCrud('express', {
      database,
      entities: [Words],
      resources: [{ entity: Words, endpoint: '/api/words' }],
    });
    const answer = await service.post('/api/words', { words });
    if (answer.status === 400) expect(wrongFields(answer)).toEqual(['words']);
    else expect([answer.status, answer.json.data.words]).toEqual([201, words]);
    await service.close();
  });
});
