/** Validation by a Standard Schema. */
import { IsIn } from 'class-validator';
import type { CrudOptions, StandardSchema } from 'declarest';
import { as, type Client } from 'declarest/testing';
import { Column, DeleteDateColumn, Entity, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import * as v from 'valibot';
import { z } from 'zod';
import { authModule } from '../access/ruled-app.js';
import { DATABASES } from '../harness/databases.js';
import { crudError, startCrud, wrongFields, type CrudService } from './service.js';

@Entity()
class Offer {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  title!: string;

  @Column({ type: 'int' })
  price!: number;

  @Column({ type: 'int', nullable: true })
  discount!: number | null;

  @IsIn(['EUR', 'CHF'])
  @Column({ default: 'EUR' })
  currency!: string;

  @Column({ type: 'simple-json', nullable: true })
  tags!: unknown;

  @Column({ type: Date, nullable: true })
  until!: Date | null;

  @Column({ type: 'varchar', length: 20, nullable: true, select: false })
  note!: string | null;

  @VersionColumn()
  version!: number;

  @DeleteDateColumn()
  deletedAt!: Date | null;
}

const seen: unknown[] = [];

/** Written by hand: keeps what it sees, and takes its time. */
const watching: StandardSchema = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: async (value) => {
      seen.push(value);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const { title, price } = value as Partial<Offer>;
      const issues = [
        ...(title === 'bad' ? [{ message: 'is a bad title', path: ['title'] }] : []),
        ...(title === 'worst' ? [{ message: 'is wrong', path: [{ key: 'tags' }, 'list', { key: 0 }] }] : []),
        ...(price === 0 ? [{ message: 'costs nothing' }] : []),
      ];
      return issues.length > 0 ? { issues } : { value };
    },
  },
};

const create = z.object({
  title: z.string().trim().min(2),
  price: z.number().positive(),
  discount: z.number().nullish().default(1),
});
const update = z
  .object({ title: z.string().trim().min(2), price: z.number(), discount: z.number().nullish() })
  .refine(({ price, discount }) => (discount ?? 0) <= price, { path: ['discount'], message: 'exceeds the price' });

const offer = { title: 'Lamp', price: 10, discount: 2 };

describe('a schema', () => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('fastify', {
      entities: [Offer],
      resources: [
        { entity: Offer, endpoint: '/api/watched', validationSchema: { create: watching, update: watching } },
        { entity: Offer, endpoint: '/api/created', validationSchema: { create } },
        { entity: Offer, endpoint: '/api/offers', validationSchema: { create, update } },
      ],
    });
  });
  afterAll(() => service.close());
  beforeEach(() => void seen.splice(0));

  const made = async (body: object = offer): Promise<number> => {
    const { status, json } = await service.post('/api/offers', body);
    expect(status).toBe(201);
    return json.data.id;
  };
  const patch = (id: number, json: unknown, endpoint = 'offers') =>
    service.send('PATCH', `/api/${endpoint}/${id}`, { json });

  it('[8.8] gives create the fields of POST, and update those of PUT', async () => {
    const { json } = await service.post('/api/watched', { ...offer, note: 'secret' });
    const put = { ...json.data, price: 11 };
    await service.put(`/api/watched/${json.data.id}`, put);
    const { id: _, version: __, ...changeable } = put;
    expect(seen).toEqual([{ ...offer, note: 'secret' }, changeable]);
  });

  it('[8.8] gives update, for PATCH, the record as it would be', async () => {
    const id = await made({
      ...offer,
      tags: { list: [1], other: true },
      until: '2026-01-31T09:30:00Z',
      note: 'secret',
    });
    await patch(id, { price: 12, tags: { list: null } }, 'watched');
    expect(seen).toEqual([
      { ...offer, price: 12, currency: 'EUR', tags: { other: true }, until: '2026-01-31T09:30:00.000Z' },
    ]);
  });

  it('[8.8] returns issues as errors with the path joined by dots, beside those of columns', async () => {
    const { json } = await service.post('/api/watched', {
      title: 'worst',
      price: 0,
      discount: 'x',
      currency: 'USD',
      x: 1,
    });
    expect(json.errors).toEqual([
      { field: 'x', message: expect.stringMatching(/^unknown field/) },
      { field: 'tags.list.0', message: 'is wrong' },
      { field: '', message: 'costs nothing' },
      { field: 'discount', message: expect.stringMatching(/^must be an integer/) },
      { field: 'currency', message: expect.any(String) },
    ]);
    const id = await made();
    for (const answer of [
      await service.put(`/api/watched/${id}`, { ...offer, title: 'bad' }),
      await patch(id, { title: 'bad' }, 'watched'),
    ])
      expect(answer.json.errors).toEqual([{ field: 'title', message: 'is a bad title' }]);
    expect((await service.get(`/api/offers/${id}`)).json.data.title).toBe('Lamp');
  });

  it('[8.8] stores what the schema returns, and keeps what it leaves out', async () => {
    const created = await service.post('/api/offers', { title: '  Desk ', price: 5, currency: 'CHF' });
    expect(created.json.data).toMatchObject({ title: 'Desk', price: 5, discount: 1, currency: 'CHF' });
    const { id } = created.json.data;
    expect((await patch(id, { title: ' Table  ' })).json.data).toMatchObject({ title: 'Table', currency: 'CHF' });
    const put = await service.put(`/api/offers/${id}`, { title: ' Chair', price: 6, currency: 'EUR' });
    expect(put.json.data).toMatchObject({ title: 'Chair', price: 6, discount: null, currency: 'EUR' });
    expect(wrongFields(await service.post('/api/offers', { ...offer, colour: 'red' }))).toEqual(['colour']);
    expect(wrongFields(await service.post('/api/offers', { title: 'x', price: 0 }))).toEqual(['price', 'title']);
  });

  it('[8.8] checks rules over several fields where PATCH sends one of them', async () => {
    const id = await made();
    expect(wrongFields(await patch(id, { discount: 11 }))).toEqual(['discount']);
    expect(wrongFields(await patch(id, { price: 1 }))).toEqual(['discount']);
    expect((await patch(id, { price: 1, discount: null })).status).toBe(200);
  });

  it('[8.8] returns 404 and 412 before what the schema says', async () => {
    const id = await made();
    expect((await patch(99_999, { price: -1 })).status).toBe(404);
    const headers = { 'if-match': '"9"' };
    expect((await service.send('PATCH', `/api/offers/${id}`, { headers, json: { title: '' } })).status).toBe(412);
  });

  it('[8.8] checks nothing else where only create is given', async () => {
    const id = await made();
    expect((await patch(id, { title: 'x' }, 'created')).status).toBe(200);
    expect((await service.put(`/api/created/${id}`, { title: 'y', price: -1 })).status).toBe(200);
    expect(wrongFields(await service.post('/api/created', { title: 'y', price: -1 }))).toEqual(['price', 'title']);
  });

  it.each([
    ['no object', 'zod'],
    ['another name', { delete: create }],
    ['no Standard Schema', { create: { parse: () => true } }],
  ])('[8.8] refuses to boot with %s', async (_what, schema) => {
    const { message } = await crudError('fastify', {
      resources: [{ entity: Offer, endpoint: '/api/offers', validationSchema: schema as object }],
    });
    expect(message).toMatch(
      /^CRUD option `validationSchema` of Offer must be \{create, update\} with Standard Schemas, got /,
    );
  });
});

describe('schemas beside permissions', () => {
  let service: CrudService;
  const user = (): Client => as(service.app, { sub: 1, roles: ['USER'] });
  const start = async (options: Partial<CrudOptions<Offer>>): Promise<void> => {
    service = await startCrud('fastify', {
      entities: [Offer],
      resources: [{ entity: Offer, endpoint: '/api/offers', ...options }],
      imports: [authModule({ defaultAccess: 'public' })],
    });
  };
  afterEach(() => service.close());

  it('[8.8] [9.2] [9.3] a strict schema does not see what only the server sets', async () => {
    const strict = z.strictObject({ title: z.string().min(2), discount: z.number().nullish() });
    await start({
      owner: 'price',
      fieldPermissions: { currency: { write: 'never' }, tags: { write: 'never' }, until: { write: 'never' } },
      validationSchema: { create: strict, update: strict },
    });
    expect((await user().post('/api/offers', { title: 'Lamp' })).status).toBe(201);
    const { data } = (await user().get('/api/offers/1')).json as { data: object };
    expect((await user().put('/api/offers/1', data)).json).toMatchObject({ data: { title: 'Lamp' } });
    expect((await user().patch('/api/offers/1', { discount: 1 })).json).toMatchObject({ data: { discount: 1 } });
    expect(wrongFields(await user().patch('/api/offers/1', { title: 'x' }))).toEqual(['title']);
  });

  it('[8.8] [9.3] a schema says nothing of fields that the caller does not know', async () => {
    const whole = z.object({ title: z.string(), price: z.number(), currency: z.string().default('CHF') });
    await start({
      fieldPermissions: {
        price: { read: ['EDITOR'], write: ['EDITOR'] },
        currency: { read: ['EDITOR'], write: ['EDITOR'] },
      },
      validationSchema: { create: whole.partial({ price: true }), update: whole },
    });
    const editor = as(service.app, { sub: 2, roles: ['EDITOR'] });
    expect((await editor.post('/api/offers', { title: 'a', price: 3 })).json).toMatchObject({
      data: { currency: 'CHF' },
    });
    for (const answer of [
      await user().patch('/api/offers/1', { title: 'b' }),
      await user().put('/api/offers/1', { title: 'c' }),
    ])
      expect([answer.status, /price|currency/.test(answer.text)]).toEqual([200, false]);
    expect((await editor.get('/api/offers/1')).json).toMatchObject({ data: { title: 'c', price: 3, currency: 'CHF' } });
    expect(wrongFields(await editor.patch('/api/offers/1', { price: 'x' }))).toEqual(['price']);
  });

  it('[8.7] [8.8] a schema sees what the path fixes, where it is sent', async () => {
    const whole = z.object({ title: z.string(), price: z.number() });
    await start({ endpoint: '/prices/:price/offers', validationSchema: { create: whole, update: whole } });
    expect((await user().post('/prices/5/offers', { title: 'a', price: 5 })).status).toBe(201);
    expect((await user().put('/prices/5/offers/1', { title: 'b', price: 5 })).json).toMatchObject({
      data: { price: 5 },
    });
    expect((await user().patch('/prices/5/offers/1', { title: 'c' })).json).toMatchObject({ data: { title: 'c' } });
    expect(wrongFields(await user().post('/prices/5/offers', { title: 'a' }))).toEqual(['price']);
  });

  it('[8.8] takes schemas of valibot', async () => {
    const title = v.object({ title: v.pipe(v.string(), v.trim(), v.minLength(2)) });
    await start({ validationSchema: { create: title, update: title } });
    expect((await user().post('/api/offers', { title: ' ab ', price: 1 })).json).toMatchObject({
      data: { title: 'ab' },
    });
    expect(wrongFields(await user().patch('/api/offers/1', { title: 'a' }))).toEqual(['title']);
  });
});

describe.each(DATABASES)('on %s', (database) => {
  it.each(['compiled', 'repository'] as const)(
    '[8.8] parallel patches that are valid alone but not together are not both made on the path %s',
    async (path) => {
      const service = await startCrud('express', {
        database,
        path,
        entities: [Offer],
        resources: [{ entity: Offer, endpoint: '/api/offers', validationSchema: { create, update } }],
      });
      for (let id = 1; id <= 10; id += 1) {
        await service.post('/api/offers', offer);
        const answers = await Promise.all(
          [{ price: 5 }, { discount: 8 }].map((json) => service.send('PATCH', `/api/offers/${id}`, { json })),
        );
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
      }
      await service.close();
    },
  );
});
