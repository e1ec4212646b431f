import { Get, type LoggerService, Put } from '@nestjs/common';
import { CrudController, type JsonObject } from 'declarest';
import {
  BeforeInsert,
  Column,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { type CrudService, type DataPath, expectEnvelope, failure, naming, startCrud, wrongFields } from './service.js';

@Entity()
class Category {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 60, unique: true })
  name!: string;
}

@Entity()
@Unique(['name', 'size'])
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ name: 'product_name', length: 20 })
  name!: string;

  @Column({ default: 1 })
  size!: number;

  @Column('double precision')
  price!: number;

  @Column('simple-json', { nullable: true })
  extra!: unknown;

  @Column('text', { nullable: true })
  description!: string | null;

  @ManyToOne(() => Category, { nullable: true })
  category!: Category | null;

  @ManyToOne(() => Category, { nullable: true })
  @JoinColumn({ name: 'second_category' })
  second!: Category | null;

  @OneToOne(() => Category, { nullable: true })
  @JoinColumn()
  main!: Category | null;
}

@Entity()
class Document {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column()
  title!: string;

  @Index({ unique: true })
  @Column({ length: 50, select: false, update: false, insert: false, nullable: true, default: 'only one' })
  code!: string;
}

@Entity()
class Label {
  @PrimaryColumn({ length: 50 })
  id!: string;

  @Column({ length: 50 })
  text!: string;

  @BeforeInsert()
  setId(): void {
    this.id = this.text;
  }
}

/** `insert: false` leaves the required column to the database, which has no default for it. */
@Entity()
class Stamp {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 50 })
  text!: string;

  @Column({ name: 'issued_by', length: 50, insert: false })
  issuedBy!: string;
}

@Entity()
class SecretStamp {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 50 })
  text!: string;

  @Column({ length: 50, insert: false, update: false, select: false })
  secret!: string;
}

const pen = { name: 'Pen', size: 1, price: 2.5, extra: null, description: null };
const noCategory = { categoryId: null, secondId: null, mainId: null };
const paging = { enablePagination: true } as const;
const resources = () => [
  { entity: Product, endpoint: '/api/products', ...paging, enableSearch: true, searchableFields: ['name' as const] },
  { entity: Category, endpoint: '/api/categories', ...paging },
  { entity: Document, endpoint: '/api/documents', ...paging },
  { entity: Label, endpoint: '/api/labels', ...paging },
  { entity: Stamp, endpoint: '/api/stamps', ...paging },
  { entity: SecretStamp, endpoint: '/api/secret-stamps', ...paging },
];

const DATA_PATHS: DataPath[] = ['compiled', 'repository'];
const cases = DATABASES.flatMap((database) => DATA_PATHS.map((path) => [database, path] as const));

describe.each(cases)('on %s, %s', (database, path) => {
  let service: CrudService;
  let id: number;
  let categoryId: number;
  beforeAll(async () => {
    service = await startCrud(path === 'compiled' ? 'fastify' : 'express', { database, resources, path });
    id = (await service.post('/api/products', pen)).json.data.id;
    categoryId = (await service.post('/api/categories', { name: 'One' })).json.data.id;
  });
  afterAll(() => service.close());

  /** @param fields those that the message is about */
  const conflict = (message: string, ...fields: string[]): unknown[] => {
    const reason = message.replace(/^\w+ cannot be \w+: /, '');
    const each = fields.map((name) => [name, fields.length === 1 ? reason.replace(`${name} `, '') : reason]);
    return [409, failure(message, fields.length > 0 ? Object.fromEntries(each) : undefined)];
  };
  const saved = async (method: 'POST' | 'PUT', entity: string, json: object): Promise<unknown[]> => {
    const answer = await service.send(method, `/api/${entity}${method === 'PUT' ? `/${id}` : ''}`, { json });
    return [answer.status, answer.json];
  };

  it('[4.3] says which unique field is taken', async () => {
    const two = (await service.post('/api/categories', { name: 'Two' })).json.data as { id: number };
    expect(await saved('POST', 'categories', { name: 'One' })).toEqual(
      conflict('Category cannot be created: name is already taken', 'name'),
    );
    const updated = await service.put(`/api/categories/${two.id}`, { name: 'One' });
    expect([updated.status, updated.json]).toEqual(
      conflict('Category cannot be updated: name is already taken', 'name'),
    );
    expect((await service.get(`/api/categories/${two.id}`)).json.data.name).toBe('Two');
    expect(await saved('POST', 'products', pen)).toEqual(
      conflict('Product cannot be created: the combination of name and size is already taken', 'name', 'size'),
    );
    await service.post('/api/products', { ...pen, size: 90, mainId: categoryId });
    expect(await saved('POST', 'products', { ...pen, size: 91, mainId: categoryId })).toEqual(
      conflict('Product cannot be created: mainId is already taken', 'mainId'),
    );
    await service.post('/api/labels', { text: 'a' });
    expect(await saved('POST', 'labels', { text: 'a' })).toEqual(
      conflict('Label cannot be created: id is already taken', 'id'),
    );
    // The name of a field that clients can neither read nor write is not disclosed.
    await service.post('/api/documents', { title: 'a' });
    expect(await saved('POST', 'documents', { title: 'b' })).toEqual(
      conflict('Document cannot be created: a unique value is already taken'),
    );
  });

  it('[4.3] says which relation refers to no record, and changes nothing', async () => {
    const before = (await service.get('/api/products')).json.metadata.pagination.total;
    for (const relation of ['categoryId', 'secondId']) {
      // The other relation is right, and the record is sent with both.
      const sent = { ...pen, size: 7, categoryId, secondId: categoryId, [relation]: 4711 };
      const reason = `${relation} refers to a record that does not exist`;
      expect(await saved('POST', 'products', sent)).toEqual(conflict(`Product cannot be created: ${reason}`, relation));
      expect(await saved('PUT', 'products', sent)).toEqual(conflict(`Product cannot be updated: ${reason}`, relation));
    }
    expect((await service.get(`/api/products/${id}`)).json.data).toEqual({ id, ...pen, ...noCategory });
    expect((await service.get('/api/products')).json.metadata.pagination.total).toBe(before);
  });

  (database === 'sqlite' ? it.skip : it)('[4.3] knows constraints that a migration named otherwise', async () => {
    const [category, product] = [Category, Product].map((entity) => service.dataSource.getMetadata(entity));
    const unique = [...category!.uniques, ...category!.indices][0]!.name;
    const foreignKey = product!.foreignKeys[0]!.name;
    const renamed: string[] =
      database === 'postgres'
        ? [
            `ALTER TABLE category RENAME CONSTRAINT "${unique}" TO renamed`,
            `ALTER TABLE product RENAME CONSTRAINT "${foreignKey}" TO renamed_key`,
          ]
        : [
            `ALTER TABLE category RENAME INDEX ${unique} TO name`,
            `ALTER TABLE product DROP FOREIGN KEY ${foreignKey}`,
            'ALTER TABLE product ADD CONSTRAINT renamed FOREIGN KEY (categoryId) REFERENCES category (id)',
          ];
    for (const sql of renamed) await service.dataSource.query(sql);
    expect(await saved('POST', 'categories', { name: 'One' })).toEqual(
      conflict('Category cannot be created: name is already taken', 'name'),
    );
    expect(await saved('PUT', 'products', { ...pen, categoryId: 4711 })).toEqual(
      conflict('Product cannot be updated: categoryId refers to a record that does not exist', 'categoryId'),
    );
  });

  it('[4.3] says that other records refer to a record that cannot be deleted', async () => {
    const { id: referred } = (await service.post('/api/categories', { name: 'Referred' })).json.data as { id: number };
    await service.post('/api/products', { ...pen, size: 8, categoryId: referred });
    const { status, json } = await service.del(`/api/categories/${referred}`);
    expect([status, json]).toEqual(conflict('Category cannot be deleted: other records refer to it'));
    expect((await service.get(`/api/categories/${referred}`)).status).toBe(200);
  });

  it('[4.3] returns 404 for an unknown id', async () => {
    for (const [method, body] of [['GET'], ['PUT', pen], ['DELETE']] as const) {
      const { status, json } = await service.send(method, '/api/products/77', body && { json: body });
      expect([status, json]).toEqual([404, failure('Product with id 77 not found')]);
    }
    for (const missing of ['0', '-1', '2147483648', '9007199254740993', '-9223372036854775808'])
      for (const method of ['GET', 'DELETE'])
        expect([400, 404]).toContain((await service.send(method, `/api/products/${missing}`)).status);
  });

  it.each([
    ['products', ['abc', '1.5', '1e3', '0x10', '%20', '1%00', '%D9%A1', '9223372036854775808', '1%2F1', '__proto__']],
    ['documents', ['abc', '00000000-0000-4000-8000-00000000000', '00000000-0000-4000-8000-00000000000g', '%00']],
  ])('[4.3] returns 400 for an invalid id of %s', async (endpoint, ids) => {
    for (const text of ids) {
      const answers = [
        await service.get(`/api/${endpoint}/${text}`),
        await service.put(`/api/${endpoint}/${text}`, pen),
        await service.del(`/api/${endpoint}/${text}`),
      ];
      for (const answer of answers) expect([text, wrongFields(answer)]).toEqual([text, ['id']]);
    }
  });

  it('[4.3] names the column that the database requires, to those who know it', async () => {
    const required = await service.post('/api/stamps', { text: 'a' });
    expect([required.status, required.json]).toEqual([
      400,
      {
        ...failure('Stamp is not valid', { issuedBy: 'is required' }),
        errors: [{ field: 'issuedBy', message: 'is required' }],
      },
    ]);
    const hidden = await service.post('/api/secret-stamps', { text: 'a' });
    const message = 'SecretStamp is not valid: the database does not accept one of its values';
    expect([hidden.status, hidden.json]).toEqual([400, failure(message)]);
  });

  it('[4.3] returns 404 naming the option at the path of an operation that is not enabled', async () => {
    const options = { count: 'set enableCount', export: 'set enableExport', search: 'set enableSearch' };
    for (const [path, advice] of Object.entries(options))
      for (const [endpoint, name] of [
        ['categories', 'Category'],
        ['labels', 'Label'],
      ]) {
        const { status, json } = await service.get(`/api/${endpoint}/${path}`);
        expect([status, json]).toEqual([404, failure(`/${path} of ${name} is not enabled: ${advice}`)]);
      }
    await service.post('/api/labels', { text: 'count' });
    expect((await service.get('/api/labels/count')).json.data).toEqual({ id: 'count', text: 'count' });
    await service.del('/api/labels/count');
  });

  it('[4.3] returns 404 or 400 for a text id that no record has', async () => {
    for (const text of ['%00', '%27', '%25', '..', '%20', 'a'.repeat(90), '%0a'])
      for (const answer of [await service.get(`/api/labels/${text}`), await service.del(`/api/labels/${text}`)])
        expect([400, 404]).toContain(answer.status);
  });

  it('[4.3] names every wrong field at once', async () => {
    const wrong = {
      name: 'more than twenty characters',
      size: 'large',
      price: null,
      categoryId: 'a',
      colour: 1,
      id: 0,
    };
    const fields = ['categoryId', 'colour', 'id', 'name', 'price', 'size'];
    expect(wrongFields(await service.post('/api/products', wrong))).toEqual(fields);
    expect(wrongFields(await service.put(`/api/products/${id}`, wrong))).toEqual(fields);
    const { errors } = (await service.post('/api/products', { size: 'large' })).json;
    expect(errors).toEqual([
      { field: 'name', message: 'is required' },
      { field: 'size', message: expect.stringMatching(/^must be an integer from .+, got "large"$/) },
      { field: 'price', message: 'is required' },
    ]);
  });

  it('[4.3] lists at most 20 errors, and the accepted names once', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`f${n}`, 1]));
    for (const answer of [
      await service.post('/api/products', { ...pen, ...unknown }),
      await service.put(`/api/products/${id}`, { ...pen, ...unknown }),
    ]) {
      const { errors } = answer.json as { errors: { field: string; message: string }[] };
      expect(errors).toHaveLength(21);
      const names = 'name, size, price, extra, description, categoryId, secondId, mainId';
      expect(errors[0]).toEqual({ field: 'f0', message: `unknown field, expected one of ${names}` });
      expect(errors[19]).toEqual({ field: 'f19', message: 'unknown field' });
      expect(errors[20]).toEqual({ field: '', message: '… and 9980 more' });
      expect(answer.text.length).toBeLessThan(2_000);
    }
  });

  it.each<[string, string | Buffer]>([
    ['__proto__ as a field', '{"__proto__":{"polluted":true},"name":"a","price":1}'],
    ['constructor as a field', '{"constructor":{"prototype":{"polluted":true}},"name":"a","price":1}'],
    ['then and toJSON as fields', '{"then":"x","toJSON":"y","name":"a","price":1}'],
    ['a field name with NUL', '{"a\\u0000b":1,"name":"a","price":1}'],
    ['operators for values', '{"name":{"$ne":null},"price":{"$gt":0}}'],
    ['null for every field', '{"name":null,"price":null,"size":null,"extra":null,"categoryId":null}'],
    ['NUL in text', '{"name":"nul","price":1,"description":"\\u0000"}'],
    ['NUL and a lone surrogate in JSON', '{"name":"json","price":1,"extra":{"a\\u0000":"\\ud83d"}}'],
    ['a lone surrogate', '{"name":"\\ud83d","price":1}'],
    ['1e400', '{"name":"a","price":1e400}'],
    ['1e308 and 1e-400', '{"name":"big","price":1e308,"extra":1e-400}'],
    ['-0', '{"name":"minus zero","price":-0,"size":-0}'],
    ['an integer beyond 64 bits', '{"name":"a","price":1,"size":18446744073709551616}'],
    ['deep JSON', `{"name":"b","price":1,"extra":${'{"a":'.repeat(4000)}1${'}'.repeat(4000)}}`],
    ['deep arrays for text', `{"price":1,"name":${'['.repeat(8000)}${']'.repeat(8000)}}`],
    ['a byte order mark', '\ufeff{"name":"bom","price":1}'],
    ['invalid UTF-8', Buffer.from('7b226e616d65223a22ff80fe222c227072696365223a317d', 'hex')],
    ['SQL', `{"name":"'; DROP TABLE","price":1}`],
  ])('[4.3] never returns 500 for a body with %s', async (_what, body) => {
    const sent = { body, headers: { 'content-type': 'application/json' } };
    expectEnvelope(await service.send('POST', '/api/products', sent));
    expectEnvelope(await service.send('PUT', `/api/products/${id}`, sent));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect((await service.put(`/api/products/${id}`, pen)).json.data).toEqual({ id, ...pen, ...noCategory });
    expect(linesOf(service.logs, 'error')).toEqual([]);
  });

  it('[4.3] never returns 500 for a query string', async () => {
    const short =
      "? &&&=== page=%00 page=%ff page=% %=1 page=1&page=2 page[a][b]=1 __proto__=1 toString=1 q=%00 q=%ED%A0%80 q=' " +
      'q=%5C%5C%5C q=%25 name[$ne]=a q=:term0&name=:key q=$1&name=? size=-1 page=9007199254740991&size=100&q=a';
    for (const query of [...short.split(' '), 'a=1&'.repeat(1500), `${'q'.repeat(5000)}=1`]) {
      expectEnvelope(await service.get(`/api/products?${query}`));
      expectEnvelope(await service.get(`/api/products/search?${query}`));
      expectEnvelope(await service.get(`/api/products/${id}?${query}`));
    }
    expect(linesOf(service.logs, 'error')).toEqual([]);
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  it('[4.3] returns 400 for an id that is broken percent-encoding, on Express in the envelope', async () => {
    const service = await startCrud(platform, { resources });
    const answer = await rawTarget(service.port, '/api/products/%ff');
    expect(answer.status).toBe(400);
    if (platform === 'express') expect(JSON.parse(answer.body)).toMatchObject(failure(expect.any(String)));
    expect((await service.get(`/api/products/${'1'.repeat(120)}`)).status).toBe(platform === 'express' ? 400 : 414);
    await service.close();
  });

  it('[4.2] refuses to start if two endpoints are one for the router', async () => {
    const two = [
      { entity: Label, endpoint: '/p', ...paging },
      { entity: Category, endpoint: '/P', ...paging },
    ];
    const started = startCrud(platform, { entities: [Label, Category], resources: two });
    if (platform === 'express') await expect(started).rejects.toThrow(/`endpoint` of Category/);
    else await (await started).close();
  });
});

describe.each(PLATFORMS)('allowed names on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    const entity = Product;
    const lists = {
      enableSearch: true,
      filterableFields: ['name', 'size'],
      sortableFields: ['name', 'price'],
    } as const;
    const options = {
      ...lists,
      searchableFields: ['name'],
      includableRelations: ['category'],
      enableBatch: true,
    } as const;
    const product = { entity, endpoint: '/products', ...options };
    service = await startCrud(platform, {
      entities: [Product, Category],
      resources: () => [product as never, { entity: Category, endpoint: '/categories' }],
    });
  });
  afterAll(() => service.close());

  const fields = 'name, size, price, extra, description, categoryId, secondId, mainId';
  const batch = { items: [{ a: 1, b: 2 }, { c: 3 }] };
  it.each<[string, string, unknown, string]>([
    ['GET', '?filter[a]=1&filter[b]=2', undefined, 'name, size'],
    ['GET', '?filter[or][0][a]=1&filter[not][b]=2', undefined, 'name, size'],
    ['GET', '?filter[size][a]=1&filter[size][b]=2', undefined, 'eq, ne, gt, gte, lt, lte, between, in, nin, isNull'],
    ['GET', '?sort=a,-b', undefined, 'name, price'],
    ['GET', '?fields=a,b', undefined, `id, ${fields}`],
    ['GET', '?include=a,b', undefined, 'known ones are category'],
    ['GET', '?include=category&fields[category]=a,b', undefined, 'id, name'],
    ['GET', '?a=1&b=2', undefined, 'sort, filter, fields, include'],
    ['GET', '/search?a=1&b=2', undefined, 'name, q, sort, filter, fields, include'],
    ['POST', '', { a: 1, b: 2 }, fields],
    ['PATCH', '/1', { a: 1, b: 2 }, fields],
    ['POST', '/batch', batch, fields],
    ['POST', '/batch?atomic=false', batch, fields],
    ['POST', '/batch', { a: 1, b: 2 }, 'expected items'],
  ])('[7.9] %s %s %j says them once in the whole response', async (method, path, json, allowed) => {
    await service.post('/products', { ...pen, name: path });
    const answer = await service.send(method, `/products${path}`, json === undefined ? {} : { json });
    expect([answer.status, answer.text]).toEqual([path.includes('atomic') ? 207 : 400, naming('unknown ')]);
    expect([answer.text, answer.text.split(allowed).length - 1]).toEqual([answer.text, 1]);
  });
});

describe.each(PLATFORMS)('an internal failure on %s', (platform) => {
  const SECRET = 'password=hunter2 at /srv/app';
  const thrown: Record<string, unknown> = {
    text: SECRET,
    nothing: undefined,
    status: Object.assign(new Error(SECRET), { status: 500 }),
    odd: Object.assign(new Error(SECRET), { status: 'x', statusCode: -1 }),
  };

  class Throwing extends CrudController({ entity: Category, endpoint: '/api/throwing', ...paging }) {
    @Get(':id')
    override findById(id: string): never {
      throw thrown[id];
    }
    @Put(':id')
    override async update(_id: string, body: JsonObject) {
      return super.update(body as never, body);
    }
  }

  it('[4.3] returns 500 without a detail for what an override throws, and logs the reason', async () => {
    const service = await startCrud(platform, { resources: [Throwing] });
    for (const id of Object.keys(thrown)) {
      const { status, json } = await service.send('GET', `/api/throwing/${id}`, { headers: { 'x-request-id': 'r-7' } });
      expect([status, json]).toEqual([500, failure('Internal server error')]);
    }
    const log = linesOf(service.logs, 'error').join('\n');
    expect(log).toContain('hunter2');
    expect(log.split('A request failed unexpectedly: GET /api/throwing/:id, X-Request-Id "r-7".')).toHaveLength(5);
    await service.close();
  });

  it('[4.3] returns 500 without a detail if a table does not exist', async () => {
    const levels = ['log', 'error', 'warn', 'debug', 'verbose', 'fatal'];
    const logger = Object.fromEntries(levels.map((level) => [level, () => undefined])) as unknown as LoggerService;
    const service = await startCrud(platform, { resources, logger });
    await service.dataSource.query('DROP TABLE "product"');
    for (const answer of [
      await service.get('/api/products'),
      await service.get('/api/products/1'),
      await service.get('/api/products/search?q=a'),
      await service.post('/api/products', pen),
      await service.put('/api/products/1', pen),
      await service.del('/api/products/1'),
    ])
      expect([answer.status, answer.json]).toEqual([500, failure('Internal server error')]);
    await service.close();
  });
});

@Entity()
class Sale {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;
}

const expression = 'SELECT MIN(id) AS id, name FROM sale GROUP BY name';
const views = DATABASES.flatMap((database) =>
  (database === 'postgres' ? [false, true] : [false]).map((m) => [database, m] as const),
);

it.each(views)('[4.3] returns 409 for a write to a view of %s, materialized: %s', async (database, materialized) => {
  @ViewEntity({ name: 'totals', expression, materialized })
  class Total {
    @PrimaryGeneratedColumn()
    id!: number;

    @ViewColumn()
    name!: string;
  }
  const service = await startCrud('express', {
    database,
    entities: [Sale, Total],
    resources: [{ entity: Total, endpoint: '/api/totals' }],
  });
  await service.dataSource.getRepository(Sale).save([{ name: 'a' }]);
  if (materialized) await service.dataSource.query('REFRESH MATERIALIZED VIEW totals');
  for (const { status, json } of [
    await service.post('/api/totals', { name: 'b' }),
    await service.put('/api/totals/1', { name: 'b' }),
    await service.del('/api/totals/1'),
  ])
    expect([status, json.message]).toEqual([409, 'Total cannot be changed: it is a view of other records']);
  await service.close();
});

@Entity()
class Fixed {
  @PrimaryColumn('varchar', { length: 20 })
  id = 'fixed';

  @Column({ length: 20 })
  name!: string;
}

it('[4.6] returns 409 for an ignored record with the key of another record', async () => {
  const resources = [{ entity: Fixed, endpoint: '/fixed', enablePagination: true }];
  const service = await startCrud('express', { entities: [Fixed], resources, path: 'compiled' });
  await service.dataSource.query(
    `CREATE TRIGGER ignores BEFORE INSERT ON fixed WHEN EXISTS (SELECT 1 FROM fixed) BEGIN SELECT RAISE(IGNORE); END`,
  );
  expect((await service.post('/fixed', { id: 'fixed', name: 'first' })).json.data).toEqual({
    id: 'fixed',
    name: 'first',
  });
  expect((await service.post('/fixed', { id: 'fixed', name: 'second' })).status).toBe(409);
  await service.close();
});

it('[4.6] returns 409 for a record that SQLite ignores', async () => {
  const service = await startCrud('express', {
    entities: [Sale],
    resources: [{ entity: Sale, endpoint: '/sales', ...paging }],
    path: 'compiled',
  });
  await service.dataSource.query(
    `CREATE TRIGGER ignores BEFORE INSERT ON sale WHEN NEW.name = 'skip' BEGIN SELECT RAISE(IGNORE); END`,
  );
  expect((await service.post('/sales', { name: 'kept' })).status).toBe(201);
  const { status, json, headers } = await service.post('/sales', { name: 'skip' });
  expect([status, json, headers['location']]).toEqual([409, failure(naming('Sale')), undefined]);
  expect((await service.get('/sales')).json.metadata.pagination.total).toBe(1);
  await service.close();
});
