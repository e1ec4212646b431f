/** Batches of new, changed and deleted records. */
import { ConflictException, Post } from '@nestjs/common';
import {
  AccessReport,
  CrudController,
  type CrudResource,
  type HookContext,
  type HookValues,
  type JsonObject,
} from 'declarest';
import { as, type TestUser } from 'declarest/testing';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import { authModule, securityConfig } from '../access/ruled-app.js';
import { DATABASES, IS_MYSQL } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { StatementLog } from '../harness/statement-log.js';
import { type CrudService, failure, startCrud, success, wrongFields } from './service.js';
import { refusal } from '../harness/refusal.js';

@Entity()
class Tag {
  @PrimaryGeneratedColumn() id!: number;
}

@Entity()
class Product {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20, unique: true }) name!: string;
  @Column({ type: 'int', default: 7 }) price!: number;
  @Column({ type: 'simple-json', nullable: true }) meta!: unknown;
  @Column({ type: 'int', nullable: true }) shopId!: number | null;
  @Column({ type: 'varchar', length: 20, nullable: true }) notes!: string | null;
  @ManyToOne(() => Product, { nullable: true }) parent!: Product | null;
  @ManyToMany(() => Tag) @JoinTable() tags!: Tag[];
  @VersionColumn() version!: number;
}

/** Without a relation, a version or anything else. */
@Entity()
class Plain {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column({ length: 20 }) name!: string;
  @DeleteDateColumn() deletedAt!: Date | null;
}

const seen: unknown[] = [];

class Hooked extends CrudController({ entity: Product, endpoint: '/hooked', enableBatch: true }) {
  override async beforeCreate(values: HookValues<Product>, { manager }: HookContext) {
    if (values.name === 'refused') throw new ConflictException('Refused');
    seen.push(`create ${values.name} after ${await manager.count(Product)}`);
    return { ...values, notes: `${values.name} is hooked` };
  }
  override beforeUpdate(id: number, { price, ...values }: HookValues<Product>) {
    if (price === 0) throw new ConflictException('Refused');
    seen.push(`update ${id}`);
    return { ...values, price: (price ?? 0) + 1 };
  }
  override beforeDelete(id: number) {
    seen.push(`delete ${id}`);
  }
  override afterCreate({ name }: { name: string }) {
    seen.push(`created ${name}`);
  }
  override afterUpdate({ id }: { id: number }) {
    seen.push(`updated ${id}`);
  }
  override afterDelete(id: number) {
    seen.push(`deleted ${id}`);
  }
}

class Overridden extends CrudController({ entity: Product, endpoint: '/overridden', enableBatch: true }) {
  @Post('batch')
  override createMany({ items }: JsonObject) {
    return super.createMany({ items: (items as object[]).map((item) => ({ ...item, notes: 'by the override' })) });
  }
}

const product = { entity: Product, enableBatch: true } as const;
const RESOURCES: CrudResource[] = [
  { ...product, endpoint: '/products', maxBatchSize: 600 },
  { ...product, endpoint: '/linked', linkableRelations: ['tags'] },
  {
    ...product,
    endpoint: '/scoped',
    scope: ({ operation }) => (operation.endsWith('Many') ? { shopId: 1 } : true),
    fieldPermissions: { notes: { read: ['ADMIN'], write: ['ADMIN'] }, price: { write: 'once' } },
  },
  { ...product, endpoint: '/owned', owner: 'shopId' },
  { ...product, endpoint: '/shops/:shopId/products' },
  { ...product, endpoint: '/matched', requireIfMatch: true },
  { entity: Plain, endpoint: '/plain', enableBatch: true, maxBatchSize: 3, deletedRoles: ['ADMIN'] },
  Hooked,
  Overridden,
];

const PLACES = DATABASES.flatMap((database, index) =>
  (['compiled', 'repository'] as const).map((path, other) => ({
    database,
    path,
    platform: PLATFORMS[(index + other) % PLATFORMS.length]!,
  })),
);

describe.each(PLACES)('on $database, $path, $platform', ({ database, path, platform }) => {
  let service: CrudService;
  let logger: StatementLog;
  beforeAll(async () => {
    logger = new StatementLog();
    service = await startCrud(platform, {
      database,
      path,
      entities: [Product, Plain, Tag],
      resources: RESOURCES,
      dataSource: { logger },
      imports: [authModule({ defaultAccess: 'public' })],
    });
    await service.dataSource.getRepository(Tag).save([{}, {}, {}]);
  });
  beforeEach(async () => {
    const parent = service.dataSource.driver.escape('parentId');
    await service.dataSource.query(`UPDATE product SET ${parent} = NULL`);
    for (const table of ['product_tags_tag', 'product', 'plain'])
      await service.dataSource.query(`DELETE FROM ${table}`);
    logger.take();
    seen.length = 0;
  });
  afterAll(() => service.close());

  const of = (user?: TestUser) => as(service.app, user);
  const post = (endpoint: string, ...items: unknown[]) => service.post(`${endpoint}/batch`, { items });
  const patch = (endpoint: string, ...items: unknown[]) =>
    service.send('PATCH', `${endpoint}/batch`, { json: { items } });
  const insert = async (...names: string[]): Promise<number[]> => {
    const rows = names.map((name, index) => ({ name, shopId: index + 1, meta: { a: 1, b: 2 } }));
    const { identifiers } = await service.dataSource.getRepository(Product).insert(rows as never);
    return identifiers.map(({ id }) => id as number);
  };
  const products = () => service.dataSource.getRepository(Product).find({ order: { id: 'ASC' } });
  const names = async () => (await products()).map(({ name }) => name);

  it('[8.2] POST stores all items in the order sent, each with its own fields', async () => {
    const items = Array.from({ length: 150 }, (_, index) => ({
      name: `n${index}`,
      ...(index % 2 === 0 && { price: index }),
      ...(index % 3 === 0 && { meta: { index } }),
    }));
    logger.take();
    const { status, json, headers } = await post('/products', ...items);
    if (path === 'compiled') {
      const sent = logger.take().map(([sql]) => sql.split(' ')[0]!);
      const writes = sent.filter((each) => ['INSERT', 'SELECT', 'UPDATE'].includes(each));
      // MySQL has no RETURNING, which tells the keys.
      const isTogether = !(database === 'mariadb' && IS_MYSQL);
      expect(writes).toEqual(isTogether ? ['INSERT'] : [...Array<string>(150).fill('INSERT'), 'SELECT']);
    }
    const stored = json.data as { id: number }[];
    const rest = { shopId: null, notes: null, parentId: null, version: 1 };
    expect([status, json]).toEqual([
      201,
      success(
        'Product batch created',
        items.map((item, index) => ({ id: stored[index]!.id, price: 7, meta: null, ...rest, ...item })),
      ),
    ]);
    expect(headers['location']).toBeUndefined();
    expect(stored.map(({ id }) => id)).toEqual(stored.map(({ id }) => id).toSorted((a, b) => a - b));
    expect(await names()).toEqual(items.map(({ name }) => name));
    logger.take();
    const plain = await post('/plain', { name: 'a' }, { name: 'b' });
    // Its keys are known without RETURNING.
    if (path === 'compiled') expect(logger.take().filter(([sql]) => sql.startsWith('INSERT'))).toHaveLength(1);
    expect(plain.json.data).toMatchObject([{ name: 'a' }, { name: 'b' }]);
    for (const { id, name } of plain.json.data as { id: string; name: string }[])
      expect((await service.get(`/plain/${id}`)).json.data).toEqual({ id, name });
  });

  it('[8.2] a batch that needs several statements is stored in the order sent, or not at all', async () => {
    const batch = (round: string) =>
      Array.from({ length: 600 }, (_, index) => ({ name: `${round}${index}`, price: index }));
    const [first, second, last] = [batch('a'), batch('b'), [...batch('c').slice(1), { name: 'a7', price: 1 }]];
    for (const items of [first, second]) expect((await post('/products', ...items)).json.data).toMatchObject(items);
    expect((await post('/products', ...last)).status).toBe(409);
    expect(await names()).toEqual([...first, ...second].map(({ name }) => name));
  });

  it('[8.2] a batch that fails in the middle writes nothing', async () => {
    const [first, second] = await insert('first', 'second');
    await service.put(`/products/${second}`, { name: 'second', parentId: first });
    const before = await products();
    const wrong = await post('/products', { name: 'a' }, { name: 5, colour: 1 }, { name: 'b' }, 7, {});
    expect(wrongFields(wrong)).toEqual(['items[3]']);
    const fields = await post('/products', { name: 'a' }, { name: 5, colour: 1 }, { name: 'b' }, {});
    expect(wrongFields(fields)).toEqual(['items[1].colour', 'items[1].name', 'items[3].name']);
    const taken = failure('Product cannot be created: name is already taken', { name: 'is already taken' });
    for (const items of [
      [{ name: 'a' }, { name: 'first' }, { name: 'b' }],
      [{ name: 'a' }, { name: 'a' }],
    ]) {
      const conflict = await post('/products', ...items);
      expect([conflict.status, conflict.json]).toEqual([409, taken]);
    }
    const reference = await post('/products', { name: 'a', parentId: first }, { name: 'b', parentId: 1e6 });
    expect(reference.json).toEqual(
      failure('Product cannot be created: parentId refers to a record that does not exist', {
        parentId: 'refers to a record that does not exist',
      }),
    );
    const changed = await patch('/products', { id: first, price: 1 }, { id: second, name: 'first' });
    expect([changed.status, changed.json.message]).toEqual([409, 'Product cannot be updated: name is already taken']);
    const removed = await service.del(`/products/batch?ids=${second},999999`);
    expect([removed.status, removed.json]).toEqual([404, failure('Product with id 999999 not found')]);
    const other = await insert('other');
    const referenced = await service.del(`/products/batch?ids=${other[0]},${first}`);
    expect([referenced.status, referenced.json.message]).toEqual([
      409,
      'Product cannot be deleted: other records refer to it',
    ]);
    expect((await products()).slice(0, 2)).toEqual(before);
    expect(await names()).toEqual(['first', 'second', 'other']);
  });

  it('[8.2] PATCH changes each item by a merge patch, and answers in the order sent', async () => {
    const [first, second, third] = await insert('first', 'second', 'third');
    const { status, json } = await patch(
      '/products',
      { id: third, meta: { b: null, c: 3 } },
      { id: first, name: 'new', shopId: null },
      { id: second },
    );
    expect(status).toBe(200);
    expect(json.message).toBe('Product batch updated');
    expect(json.data).toMatchObject([
      { id: third, name: 'third', meta: { a: 1, c: 3 }, version: 2 },
      { id: first, name: 'new', shopId: null, meta: { a: 1, b: 2 }, version: 2 },
      { id: second, name: 'second', version: 1 },
    ]);
    // A missing record comes before the wrong fields, and these come before a conflict.
    const missing = await patch('/products', { id: first, price: 'x' }, { id: 999_999, price: 1 });
    expect([missing.status, missing.json]).toEqual([404, failure('Product with id 999999 not found')]);
    const wrong = await patch('/products', { id: first, name: 'second' }, { id: second, price: 'x', version: 9 });
    expect(wrongFields(wrong)).toEqual(['items[1].price', 'items[1].version']);
    expect(wrongFields(await patch('/products', { price: 1 }, { id: 'x' }, { id: null }, 5))).toEqual([
      'items[0].id',
      'items[1].id',
      'items[2].id',
      'items[3]',
    ]);
    expect(wrongFields(await patch('/products', { id: first }, { id: second }, { id: first }))).toEqual([
      'items[2].id',
    ]);
    expect((await products()).map(({ version }) => version)).toEqual([2, 1, 2]);
  });

  it('[8.2] DELETE removes the named records, and hides those with a delete date', async () => {
    const [first, second, third] = await insert('first', 'second', 'third');
    const { status, json } = await service.del(`/products/batch?ids=${third},${first}`);
    expect([status, json]).toEqual([200, success('Product batch deleted', null)]);
    expect(await names()).toEqual(['second']);
    expect(wrongFields(await service.del(`/products/batch?ids=${second},${second}`))).toEqual(['ids']);
    const plain = (await post('/plain', { name: 'a' }, { name: 'b' })).json.data as { id: string }[];
    const ids = plain.map(({ id }) => id).join();
    expect((await service.del(`/plain/batch?ids=${ids}`)).status).toBe(200);
    expect((await service.del(`/plain/batch?ids=${ids}`)).status).toBe(404);
    const rows = () => service.dataSource.query('SELECT id FROM plain');
    expect(await rows()).toHaveLength(2);
    expect(wrongFields(await service.del(`/plain/batch?ids=${ids}&purge=true`))).toEqual(['purge']);
    const admin = of({ roles: ['ADMIN'] });
    expect((await admin.delete(`/plain/batch?ids=${ids}&purge=true`)).status).toBe(200);
    expect(await rows()).toEqual([]);
  });

  it('[8.2] atomic=false writes each item by itself, and answers 207 with all results', async () => {
    const created = await service.post('/products/batch?atomic=false', {
      items: [{ name: 'a' }, { name: 'a' }, { name: 5 }, 5, { name: 'b' }],
    });
    expect(created.status).toBe(207);
    const error = { field: expect.any(String) as unknown, message: expect.any(String) as unknown };
    const [a, , , , b] = created.json.data as { data: { id: number } }[];
    expect(created.json.data).toEqual([
      { status: 201, data: expect.objectContaining({ name: 'a' }) as unknown },
      {
        status: 409,
        message: 'Product cannot be created: name is already taken',
        fields: { name: 'is already taken' },
      },
      {
        status: 400,
        message: 'Product is not valid',
        errors: [{ ...error, field: 'name' }],
        fields: { name: error.message },
      },
      { status: 400, message: 'The batch is not valid', errors: [{ ...error, field: '' }] },
      { status: 201, data: expect.objectContaining({ name: 'b' }) as unknown },
    ]);
    const [one, two] = [a!.data.id, b!.data.id];
    const changed = await service.send('PATCH', '/products/batch?atomic=false', {
      json: { items: [{ id: one, name: 'b' }, { id: two, price: 1 }, { id: 999_999 }] },
    });
    expect([changed.status, changed.json.data]).toEqual([
      207,
      [
        {
          status: 409,
          message: 'Product cannot be updated: name is already taken',
          fields: { name: 'is already taken' },
        },
        { status: 200, data: expect.objectContaining({ id: two, price: 1 }) as unknown },
        { status: 404, message: 'Product with id 999999 not found' },
      ],
    ]);
    const deleted = await service.del(`/products/batch?ids=${one},999999&atomic=false`);
    expect([deleted.status, deleted.json.data]).toEqual([
      207,
      [
        { status: 200, data: null },
        { status: 404, message: 'Product with id 999999 not found' },
      ],
    ]);
    expect(await names()).toEqual(['b']);
  });

  it('[8.2] [9.1] [9.3] scope and fields hold for each item', async () => {
    const [inside, outside] = await insert('inside', 'outside');
    const created = await post('/scoped', { name: 'a', shopId: 1 }, { name: 'b', shopId: 2 });
    expect([created.status, created.json]).toEqual([403, refusal('Access denied')]);
    const missing = failure(`Product with id ${outside} not found`);
    expect((await patch('/scoped', { id: inside, shopId: 1 }, { id: outside, shopId: 1 })).json).toEqual(missing);
    expect((await service.del(`/scoped/batch?ids=${inside},${outside}`)).json).toEqual(missing);
    expect((await patch('/scoped', { id: inside, shopId: 2 })).status).toBe(403);
    expect(wrongFields(await post('/scoped', { name: 'a', shopId: 1, notes: 'n' }))).toEqual(['items[0].notes']);
    const wrong = await patch('/scoped', { id: inside, notes: 'n', price: 1 });
    expect(wrongFields(wrong)).toEqual(['items[0].notes', 'items[0].price']);
    const { json } = await post('/scoped', { name: 'a', shopId: 1, price: 5 });
    expect(json.data).toEqual([expect.not.objectContaining({ notes: null })]);
    // An unchanged value of a field that cannot be written is accepted.
    expect((await patch('/scoped', { id: json.data[0].id, price: 5 })).status).toBe(200);
    expect(await names()).toEqual(['inside', 'outside', 'a']);
  });

  it('[8.2] [9.2] [8.7] owner and path hold for each item', async () => {
    const [own, foreign] = await insert('own', 'foreign');
    const ann = of({ sub: 1, roles: ['USER'] });
    expect((await service.post('/owned/batch', { items: [{ name: 'a' }] })).status).toBe(401);
    const { json } = await ann.post('/owned/batch', { items: [{ name: 'a' }, { name: 'b' }] });
    expect((json.data as { shopId: number }[]).map(({ shopId }) => shopId)).toEqual([1, 1]);
    const items = [
      { id: own, price: 1 },
      { id: foreign, price: 'x' },
    ];
    const refused = await ann.patch('/owned/batch', { items });
    expect([refused.status, refused.json]).toEqual([403, refusal('Owner access required')]);
    expect((await ann.delete(`/owned/batch?ids=${own},${foreign}`)).status).toBe(403);
    const below = await post('/shops/2/products', { name: 'c' }, { name: 'd', shopId: 2 });
    expect((below.json.data as { shopId: number }[]).map(({ shopId }) => shopId)).toEqual([2, 2]);
    expect(wrongFields(await post('/shops/2/products', { name: 'e', shopId: 1 }))).toEqual(['items[0].shopId']);
    expect((await patch('/shops/2/products', { id: own, price: 1 })).status).toBe(404);
    expect((await service.del(`/shops/2/products/batch?ids=${own}`)).status).toBe(404);
    expect((await products()).map(({ name, price }) => [name, price])).toEqual(
      ['own', 'foreign', 'a', 'b', 'c', 'd'].map((name) => [name, 7]),
    );
  });

  it('[8.2] [8.5] with requireIfMatch, PATCH and DELETE need If-Match: *', async () => {
    const [id] = await insert('a');
    const send = async (method: string, at: string, header?: string) => {
      const json = method === 'PATCH' ? { json: { items: [{ id, price: header === '*' ? 1 : 'x' }] } } : {};
      const headers = header === undefined ? {} : { 'if-match': header };
      return (await service.send(method, at, { ...json, headers })).status;
    };
    for (const [method, at] of [
      ['PATCH', '/matched/batch'],
      ['DELETE', `/matched/batch?ids=${id}`],
    ] as const)
      expect([await send(method, at), await send(method, at, '"1"'), await send(method, at, '*')]).toEqual([
        428, 412, 200,
      ]);
  });

  it('[8.2] [8.9] hooks run once for each item, in the transaction of the batch', async () => {
    const created = await post('/hooked', { name: 'a' }, { name: 'b' });
    expect((created.json.data as { notes: string }[]).map(({ notes }) => notes)).toEqual([
      'a is hooked',
      'b is hooked',
    ]);
    const [a, b] = (created.json.data as { id: number }[]).map(({ id }) => id);
    const changed = await patch('/hooked', { id: b, price: 5 }, { id: a });
    expect((changed.json.data as { price: number }[]).map(({ price }) => price)).toEqual([6, 1]);
    await service.del(`/hooked/batch?ids=${a},${b}`);
    expect(seen.splice(0)).toEqual([
      'create a after 0',
      'create b after 1',
      'created a',
      'created b',
      `update ${b}`,
      `update ${a}`,
      `updated ${b}`,
      `updated ${a}`,
      `delete ${a}`,
      `delete ${b}`,
      `deleted ${a}`,
      `deleted ${b}`,
    ]);
    const refused = await post('/hooked', { name: 'c' }, { name: 'refused' });
    expect([refused.status, refused.json]).toEqual([409, failure('Refused')]);
    const wrong = await post('/hooked', { name: 'd' }, { name: 'thirteen chars' });
    expect(wrongFields(wrong)).toEqual(['items[1].notes']);
    expect([seen, await names()]).toEqual([
      ['create c after 0', 'create d after 0', 'create thirteen chars after 1'],
      [],
    ]);
  });

  it('[8.2] [8.3] links many-to-many relations of each item', async () => {
    const tags = (await service.dataSource.getRepository(Tag).find()).map(({ id }) => id);
    const created = await post('/linked', { name: 'a', tagsIds: tags.slice(0, 2) }, { name: 'b' });
    expect(created.json.data).toMatchObject([{ tagsIds: tags.slice(0, 2) }, { tagsIds: [] }]);
    const [a, b] = (created.json.data as { id: number }[]).map(({ id }) => id);
    const changed = await patch('/linked', { id: b, tagsIds: [tags[2]] }, { id: a, price: 1 });
    expect(changed.json.data).toMatchObject([{ tagsIds: [tags[2]] }, { tagsIds: tags.slice(0, 2) }]);
    expect((await post('/linked', { name: 'c' }, { name: 'd', tagsIds: [999_999] })).status).toBe(409);
    expect(await names()).toEqual(['a', 'b']);
  });

  it('[8.2] concurrent batches neither mix nor block each other', async () => {
    const ids = await insert('a', 'b', 'c', 'd');
    const changes = Array.from({ length: 10 }, (_, index) => {
      const items = ids.map((id) => ({ id, price: index }));
      return patch('/products', ...(index % 2 === 0 ? items : items.toReversed()));
    });
    const additions = Array.from({ length: 10 }, (_, index) =>
      post('/products', { name: `n${index}` }, { name: index % 2 === 0 ? 'a' : `m${index}` }),
    );
    const statuses = async (answers: Promise<{ status: number }>[]) =>
      (await Promise.all(answers)).map(({ status }) => status);
    expect(await statuses(changes)).toEqual(changes.map(() => 200));
    expect(await statuses(additions)).toEqual(additions.map((_, index) => (index % 2 === 0 ? 409 : 201)));
    const prices = new Set((await products()).filter(({ id }) => ids.includes(id)).map(({ price }) => price));
    expect([prices.size, (await names()).length]).toEqual([1, 14]);
  });
});

it.each(PLATFORMS)('[8.2] rules for the endpoint with /** govern its batches on %s', async (platform) => {
  const service = await startCrud(platform, {
    entities: [Product, Plain, Tag],
    resources: RESOURCES.slice(0, 1),
    imports: [authModule()],
    providers: [securityConfig(({ requireRole }) => requireRole('EDITOR', 'POST,PUT,PATCH,DELETE /products/**'))],
  });
  const rows = service.app.get(AccessReport, { strict: false }).rows.filter(({ path }) => path === '/products/batch');
  expect(rows.map(({ method, access }) => [method, access]).toSorted()).toEqual([
    ['DELETE', 'EDITOR'],
    ['PATCH', 'EDITOR'],
    ['POST', 'EDITOR'],
  ]);
  const statuses = async (roles: string[]) => {
    const client = as(service.app, { roles });
    const answers = [
      await client.post('/products/batch', { items: [{ name: 'a' }] }),
      await client.patch('/products/batch', { items: [{ id: 1, price: 1 }] }),
      await client.delete('/products/batch?ids=1'),
    ];
    return answers.map(({ status }) => status);
  };
  expect(await statuses(['USER'])).toEqual([403, 403, 403]);
  expect(await statuses(['EDITOR'])).toEqual([201, 200, 200]);
  await service.close();
});

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, { entities: [Product, Plain, Tag], resources: RESOURCES });
  });
  afterAll(() => service.close());

  it.each<[string, string, string, unknown, string[]]>([
    ['no items', 'POST', '/plain/batch', {}, ['items']],
    ['an empty array', 'POST', '/plain/batch', { items: [] }, ['items']],
    ['too many items', 'PATCH', '/plain/batch', { items: [{}, {}, {}, {}] }, ['items']],
    ['items that are no array', 'PATCH', '/plain/batch', { items: { 0: {} } }, ['items']],
    ['another field', 'POST', '/plain/batch', { items: [{ name: 'a' }], atomic: false }, ['atomic']],
    ['another parameter', 'POST', '/plain/batch?page=1', { items: [{ name: 'a' }] }, ['page']],
    ['atomic that is no boolean', 'PATCH', '/plain/batch?atomic=no', { items: [{}] }, ['atomic']],
    ['no ids', 'DELETE', '/plain/batch', undefined, ['ids']],
    ['empty ids', 'DELETE', '/plain/batch?ids=', undefined, ['ids']],
    ['an id that is none', 'DELETE', '/plain/batch?ids=1,', undefined, ['ids']],
    ['repeated ids', 'DELETE', '/plain/batch?ids=1&ids=2', undefined, ['ids']],
    ['too many ids', 'DELETE', `/plain/batch?ids=${Array.from({ length: 4 }, () => '1').join()}`, undefined, ['ids']],
    ['too many items, each by itself', 'POST', '/plain/batch?atomic=false', { items: [1, 2, 3, 4] }, ['items']],
  ])('[8.2] %s returns 400', async (_, method, at, json, fields) => {
    expect(wrongFields(await service.send(method, at, json === undefined ? {} : { json }))).toEqual(fields);
  });

  it('[8.2] takes 100 items by default', async () => {
    const send = (count: number) => service.post('/linked/batch', { items: Array.from({ length: count }, () => ({})) });
    expect(wrongFields(await send(100))).toContain('items[0].name');
    expect(wrongFields(await send(101))).toEqual(['items']);
    const remove = (count: number) =>
      service.del(`/linked/batch?ids=${Array.from({ length: count }, (_, at) => at + 1).join()}`);
    expect((await remove(100)).status).toBe(404);
    expect(wrongFields(await remove(101))).toEqual(['ids']);
  });

  it('[7.8] [8.2] does not exist, and neither does an export, unless it is declared', async () => {
    const other = await startCrud(platform, { entities: [Plain], resources: [{ entity: Plain, endpoint: '/off' }] });
    expect((await other.post('/off/batch', { items: [{ name: 'a' }] })).status).toBe(404);
    const batch = failure('/batch of Plain is not enabled: set enableBatch');
    expect((await other.send('PATCH', '/off/batch', { json: { name: 'a' } })).json).toEqual(batch);
    expect((await other.del('/off/batch')).json).toEqual(batch);
    expect((await other.get('/off/export')).json).toEqual(failure('/export of Plain is not enabled: set enableExport'));
    await other.close();
  });

  it('[8.2] accepts application/json only', async () => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = JSON.stringify({ items: [{ id: 1 }] });
    expect((await service.send('PATCH', '/products/batch', { body, headers })).status).toBe(415);
  });

  it('[8.2] [8.9] createMany can be overridden', async () => {
    const { status, json } = await service.post('/overridden/batch', { items: [{ name: 'a' }] });
    expect([status, json.data]).toMatchObject([201, [{ notes: 'by the override' }]]);
  });
});
