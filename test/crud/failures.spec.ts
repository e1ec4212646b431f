import { Get, type LoggerService, Put } from '@nestjs/common';
import { CrudController, type JsonObject } from 'declarest';
import {
  BeforeInsert,
  Column,
  Entity,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { type CrudService, expectEnvelope, failure, naming, startCrud, wrongFields } from './service.js';

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

  @Column({ length: 20 })
  name!: string;

  @Column({ default: 1 })
  size!: number;

  @Column('double precision')
  price!: number;

  @Column({ default: true })
  sold!: boolean;

  @Column('simple-json', { nullable: true })
  extra!: unknown;

  @Column('text', { nullable: true })
  description!: string | null;

  @ManyToOne(() => Category, { nullable: true })
  category!: Category | null;
}

@Entity()
class Document {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column()
  title!: string;
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

const resources = () => [
  {
    entity: Product,
    endpoint: '/api/products',
    enableSearch: true,
    enableExists: true,
    enablePagination: true,
    searchableFields: ['name', 'description'],
  },
  { entity: Category, endpoint: '/api/categories' },
  { entity: Document, endpoint: '/api/documents', enableExists: true },
  { entity: Label, endpoint: '/api/labels', enableExists: true },
];

const pen = { name: 'Pen', size: 1, price: 2.5, sold: false, extra: null, description: null, categoryId: null };

/** Ids that are no integers of 64 bits, as they stand in a path. */
const NO_INTEGERS = ['abc', '1.5', '1e3', '%00', '9223372036854775808', "1'", '..%2F1'];

const NO_UUIDS = [
  'abc',
  '1',
  '00000000-0000-4000-8000-00000000000',
  '00000000-0000-4000-8000-00000000000g',
  '00000000-0000-4000-8000-000000000000%00',
  '%00',
];

describe.each(DATABASES)('on %s', (database) => {
  // Both platforms on SQLite, and each of them on one of the others: what is hostile is so to one of the two.
  const platforms = database === 'sqlite' ? PLATFORMS : PLATFORMS.slice(database === 'postgres' ? 0 : 1).slice(0, 1);
  describe.each(platforms)('and %s', (platform) => {
    let service: CrudService;
    let id: number;
    beforeAll(async () => {
      service = await startCrud(platform, { database, resources });
      id = (await service.post('/api/products', pen)).json.data.id;
    });
    afterAll(() => service.close());

    it.each([
      ['GET', undefined],
      ['PUT', pen],
      ['DELETE', undefined],
    ])('[4.3] %s of a missing record is 404 and names it', async (method, body) => {
      const { status, json } = await service.send(method, '/api/products/77', body && { json: body });
      expect([status, json]).toEqual([404, failure('Product with id 77 not found')]);
    });

    it.each(['0', '-1', '2147483648', '9223372036854775807'])(
      '[4.3] an integer that no record has, %s, is no failure of the server',
      async (missing) => {
        for (const method of ['GET', 'DELETE']) {
          const { status } = await service.send(method, `/api/products/${missing}`);
          expect([400, 404]).toContain(status);
        }
        expect((await service.put(`/api/products/${missing}`, pen)).status).toBeLessThan(500);
        expect((await service.get(`/api/products/exists/${missing}`)).status).toBeLessThan(500);
      },
    );

    it.each(NO_INTEGERS)('[4.3] %s is no id of an integer key: 400', async (text) => {
      expect(wrongFields(await service.get(`/api/products/${text}`))).toEqual(['id']);
      expect(wrongFields(await service.put(`/api/products/${text}`, pen))).toEqual(['id']);
      expect(wrongFields(await service.del(`/api/products/${text}`))).toEqual(['id']);
      expect(wrongFields(await service.get(`/api/products/exists/${text}`))).toEqual(['id']);
    });

    it.each(NO_UUIDS)('[4.3] %s is no id of a UUID key: 400', async (text) => {
      expect(wrongFields(await service.get(`/api/documents/${text}`))).toEqual(['id']);
      expect(wrongFields(await service.put(`/api/documents/${text}`, { title: 'a' }))).toEqual(['id']);
      expect(wrongFields(await service.del(`/api/documents/${text}`))).toEqual(['id']);
      expect(wrongFields(await service.get(`/api/documents/exists/${text}`))).toEqual(['id']);
    });

    it.each(['%00', '%27', '%25', '..', 'a'.repeat(90)])(
      '[4.3] a text key that no record has, %s, is 404 or 400',
      async (text) => {
        for (const answer of [
          await service.get(`/api/labels/${text}`),
          await service.put(`/api/labels/${text}`, { text: 'a' }),
          await service.del(`/api/labels/${text}`),
        ])
          expect([400, 404]).toContain(answer.status);
        expect([200, 400]).toContain((await service.get(`/api/labels/exists/${text}`)).status);
      },
    );

    it('[4.3] invalid data is 400 and names every wrong field at once', async () => {
      const wrong = {
        name: 'a name of more than twenty characters',
        size: 'large',
        price: null,
        sold: 'no',
        description: 5,
        categoryId: 'tools',
        colour: 'red',
        id: 5,
      };
      const fields = ['categoryId', 'colour', 'description', 'id', 'name', 'price', 'size', 'sold'];
      expect(wrongFields(await service.post('/api/products', wrong))).toEqual(fields);
      expect(wrongFields(await service.put(`/api/products/${id}`, { ...wrong, id: id + 1 }))).toEqual(fields);
      expect((await service.get(`/api/products/${id}`)).json.data).toEqual({ id, ...pen });
    });

    it('[4.3] an empty object names every required field', async () => {
      expect(wrongFields(await service.post('/api/products', {}))).toEqual(['name', 'price']);
      expect(wrongFields(await service.put(`/api/products/${id}`, {}))).toEqual(['name', 'price']);
    });

    it('[4.3] a taken unique value is 409 on create and update, and changes nothing', async () => {
      const one = await service.post('/api/categories', { name: 'One' });
      const two = (await service.post('/api/categories', { name: 'Two' })).json.data as { id: number };
      expect(one.status).toBe(201);
      const created = await service.post('/api/categories', { name: 'One' });
      expect([created.status, created.json]).toEqual([
        409,
        failure('Category cannot be created: name is already taken'),
      ]);
      const updated = await service.put(`/api/categories/${two.id}`, { name: 'One' });
      expect([updated.status, updated.json]).toEqual([409, failure(naming('Category'))]);
      expect((await service.get(`/api/categories/${two.id}`)).json.data.name).toBe('Two');
    });

    it('[4.3] a taken pair of unique values is 409', async () => {
      const { status, json } = await service.post('/api/products', pen);
      const taken = 'Product cannot be created: the combination of name and size is already taken';
      expect([status, json]).toEqual([409, failure(taken)]);
      expect((await service.post('/api/products', { ...pen, size: 2 })).status).toBe(201);
    });

    it('[4.3] a reference to nothing is 409 on create and update, and changes nothing', async () => {
      const before = (await service.get('/api/products')).json.metadata.pagination.total;
      const created = await service.post('/api/products', { ...pen, size: 7, categoryId: 4711 });
      const missing = 'Product cannot be created: categoryId refers to a record that does not exist';
      expect([created.status, created.json]).toEqual([409, failure(missing)]);
      const updated = await service.put(`/api/products/${id}`, { ...pen, categoryId: 4711 });
      expect([updated.status, updated.json]).toEqual([409, failure(naming('Product'))]);
      expect((await service.get(`/api/products/${id}`)).json.data.categoryId).toBeNull();
      expect((await service.get('/api/products')).json.metadata.pagination.total).toBe(before);
    });

    it('[4.3] the deletion of a record to which others refer is 409, and it stays', async () => {
      const category = (await service.post('/api/categories', { name: 'Referred' })).json.data as { id: number };
      await service.post('/api/products', { ...pen, size: 8, categoryId: category.id });
      const { status, json } = await service.del(`/api/categories/${category.id}`);
      const referred = 'Category cannot be deleted: other records refer to it';
      expect([status, json]).toEqual([409, failure(referred)]);
      expect((await service.get(`/api/categories/${category.id}`)).status).toBe(200);
    });

    it('[4.3] a conflict tells nothing of tables, constraints or statements', async () => {
      const { text } = await service.post('/api/products', pen);
      expect(text).not.toMatch(/sqlite|constraint|insert|duplicate|UQ_|FK_|key \(/i);
    });

    it.each<[string, unknown]>([
      ['__proto__ as a field', '{"__proto__":{"polluted":true},"name":"a","price":1}'],
      ['constructor as a field', '{"constructor":{"prototype":{"polluted":true}},"name":"a","price":1}'],
      [
        'ten thousand unknown fields',
        JSON.stringify(Object.fromEntries([...Array(5000).keys()].map((i) => [`f${i}`, i]))),
      ],
      ['objects that are operators', '{"name":{"$ne":null},"price":{"$gt":0}}'],
      ['null everywhere', '{"name":null,"price":null,"size":null,"sold":null,"extra":null,"categoryId":null}'],
      ['NUL in a text', '{"name":"a\\u0000b","price":1}'],
      ['a lone high surrogate', '{"name":"\\ud83d","price":1}'],
      ['a lone surrogate within JSON', '{"name":"json lone","price":1,"extra":["\\ud83d"]}'],
      ['1e400', '{"name":"a","price":1e400}'],
      ['-1e400', '{"name":"a","price":-1e400}'],
      ['an integer beyond 64 bits', '{"name":"a","price":1,"size":18446744073709551616}'],
      ['a reference beyond 64 bits', '{"name":"a","price":1,"categoryId":1e30}'],
      ['the relation itself', '{"name":"a","price":1,"category":{"name":"x"}}'],
      ['duplicate keys', '{"name":"dup1","name":"dup2","price":1}'],
      ['a long text', JSON.stringify({ name: 'a'.repeat(60_000), price: 1 })],
      ['deep objects', `{"name":"b","price":1,"extra":${'{"a":'.repeat(4000)}1${'}'.repeat(4000)}}`],
      ['deep objects for a text', `{"price":1,"name":${'['.repeat(8000)}${']'.repeat(8000)}}`],
      ['a byte order mark', '\ufeff{"name":"bom","price":1}'],
      ['broken UTF-8', Buffer.from('7b226e616d65223a22ff80fe222c227072696365223a317d', 'hex')],
      ['SQL', `{"name":"'; DROP TABLE","price":1}`],
    ])('[4.3] never 500, always an envelope: a body with %s', async (_what, body) => {
      const sent = { body: body as string | Buffer, headers: { 'content-type': 'application/json' } };
      expectEnvelope(await service.send('POST', '/api/products', sent));
      expectEnvelope(await service.send('PUT', `/api/products/${id}`, sent));
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
      // And nothing is broken for the next one.
      expect((await service.get(`/api/products?size=100`)).status).toBe(200);
      expect((await service.put(`/api/products/${id}`, pen)).json.data).toEqual({ id, ...pen });
    });

    it.each([
      '?',
      '?page=%ff',
      '?%=1',
      '?page[a][b]=1',
      '?__proto__[page]=1',
      '?q=%00',
      '?q=%ED%A0%80',
      '?q=%27%20OR%201=1--',
      '?name[$ne]=a',
      '?q=:term0&name=:key',
      '?size=9007199254740993&page=99999999999999999999',
      `?q=${'a'.repeat(7000)}`,
      `?${'a=1&'.repeat(1500)}`,
    ])('[4.3] never 500, always an envelope: the query %s', async (query) => {
      expectEnvelope(await service.get(`/api/products${query}`));
      expectEnvelope(await service.get(`/api/products/search${query}`));
      expectEnvelope(await service.get(`/api/products/${id}${query}`));
      expectEnvelope(await service.get(`/api/categories${query}`));
    });

    it('[4.3] the table of hostile requests broke nothing', async () => {
      expect((await service.get('/api/products')).status).toBe(200);
      expect(linesOf(service.logs, 'error')).toEqual([]);
    });
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  let id: number;
  beforeAll(async () => {
    service = await startCrud(platform, { resources });
    id = (await service.post('/api/products', pen)).json.data.id;
  });
  afterAll(() => service.close());

  const both = (): [string, string][] => [
    ['POST', '/api/products'],
    ['PUT', `/api/products/${id}`],
  ];
  const json = { 'content-type': 'application/json' };

  it.each(['{', 'hello', '{"a":1,}', '\u0000'])('[4.3] the body %p is not JSON: 400', async (body) => {
    for (const [method, path] of both()) {
      const answer = await service.send(method, path, { body, headers: json });
      expect([answer.status, answer.json]).toEqual([400, failure(expect.stringMatching(/JSON/))]);
    }
  });

  it.each(['null', '1', '"text"', '[{"name":"a","price":1}]'])(
    '[4.3] the body %s is JSON, but no object: 400',
    async (body) => {
      for (const [method, path] of both()) {
        const answer = await service.send(method, path, { body, headers: json });
        expect([answer.status, answer.json]).toEqual([400, failure(expect.any(String))]);
      }
    },
  );

  it('[4.3] no body and no type is 400', async () => {
    for (const [method, path] of both()) {
      const answer = await service.send(method, path);
      expect([answer.status, answer.json]).toMatchObject([400, failure(expect.any(String))]);
    }
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/vnd.api+json',
    'application/json; charset=latin1',
  ])('[4.3] the type %s is not application/json: 415', async (type) => {
    for (const [method, path] of both()) {
      const answer = await service.send(method, path, {
        body: JSON.stringify({ ...pen, name: 'Typed' }),
        headers: { 'content-type': type },
      });
      expect([answer.status, answer.json]).toEqual([415, failure(expect.stringMatching(/application\/json/))]);
    }
  });

  it('[4.3] a body without a type is 415', async () => {
    for (const [method, path] of both()) {
      const answer = await service.send(method, path, { body: JSON.stringify({ ...pen, name: 'Untyped' }) });
      expect([answer.status, answer.json]).toEqual([415, failure(expect.any(String))]);
    }
  });

  it.each(['APPLICATION/JSON', 'application/json;charset="UTF-8"'])(
    '[4.3] the type %s is application/json',
    async (type) => {
      const answer = await service.send('PUT', `/api/products/${id}`, {
        body: JSON.stringify(pen),
        headers: { 'content-type': type },
      });
      expect(answer.status).toBe(200);
    },
  );

  it('[4.3] an encoding that the server does not know is 415', async () => {
    for (const [method, path] of both()) {
      const answer = await service.send(method, path, {
        body: JSON.stringify(pen),
        headers: { ...json, 'content-encoding': 'foo' },
      });
      expect([answer.status, answer.json]).toEqual([415, failure(expect.any(String))]);
    }
  });

  it("[4.3] a body larger than the platform's limit is 413, and stores nothing", async () => {
    const body = JSON.stringify({ ...pen, description: 'x'.repeat(2_000_000) });
    for (const [method, path] of both()) {
      const answer = await service.send(method, path, { body, headers: json });
      expect([answer.status, answer.json]).toEqual([413, failure(expect.any(String))]);
    }
    expect((await service.get('/api/products')).json.data).toEqual([{ id, ...pen }]);
  });

  it('[4.3] a body in chunks is read like any other', async () => {
    const chunk = JSON.stringify({ ...pen, name: 'Chunk' });
    const { status, body } = await rawTarget(service.port, `/api/products/${id}`, {
      method: 'PUT',
      headers: [
        'Content-Type: application/json',
        `Transfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n0`,
      ],
    });
    expect([status, JSON.parse(body).data.name]).toEqual([200, 'Chunk']);
    await service.put(`/api/products/${id}`, pen);
  });

  it('[4.3] a broken percent-encoding in the id is 400, on Express in the envelope', async () => {
    const { status, body } = await rawTarget(service.port, '/api/products/%ff');
    expect(status).toBe(400);
    if (platform === 'express') expect(JSON.parse(body)).toMatchObject(failure(expect.any(String)));
  });

  it('[4.3] an id of more than 100 characters is 400, on Fastify 414', async () => {
    const { status } = await service.get(`/api/products/${'1'.repeat(120)}`);
    expect(status).toBe(platform === 'express' ? 400 : 414);
  });
});

describe.each(PLATFORMS)('a failure inside on %s', (platform) => {
  const CANARY = 'canary: password=hunter2 at /srv/app';

  class Throwing extends CrudController({ entity: Category, endpoint: '/api/throwing' }) {
    @Get()
    override findAll(): never {
      throw new Error(CANARY);
    }
    @Get(':id')
    override findById(id: string): never {
      const thrown: Record<string, unknown> = {
        text: CANARY,
        nothing: undefined,
        null: null,
        status: Object.assign(new Error(CANARY), { status: 500 }),
        odd: Object.assign(new Error(CANARY), { status: 'x', statusCode: -1 }),
      };
      throw thrown[id];
    }
    @Put(':id')
    override async update(_id: string, body: JsonObject) {
      return super.update(body as never, body);
    }
  }

  it.each(['', '/text', '/nothing', '/odd'])(
    '[4.3] what an override throws, a 500 does not tell (%p)',
    async (path) => {
      const service = await startCrud(platform, { resources: [Throwing] });
      const { status, json, text } = await service.get(`/api/throwing${path}`);
      expect([status, json]).toEqual([500, failure(expect.stringMatching(/\S/))]);
      expect(text).not.toMatch(/canary|hunter2|at |Error:/);
      await service.close();
    },
  );

  it('[4.3] the reason of a 500 stands in the log', async () => {
    const service = await startCrud(platform, { resources: [Throwing] });
    await service.get('/api/throwing');
    expect(linesOf(service.logs, 'error').join('\n')).toContain('canary');
    await service.close();
  });

  it('[4.3] a table that is gone is a 500 that says nothing about the inside', async () => {
    const logger = Object.fromEntries(
      ['log', 'error', 'warn', 'debug', 'verbose', 'fatal'].map((level) => [level, () => undefined]),
    ) as unknown as LoggerService;
    const service = await startCrud(platform, { resources, logger });
    await service.dataSource.query('DROP TABLE "product"');
    for (const answer of [
      await service.get('/api/products'),
      await service.get('/api/products?page=2'),
      await service.get('/api/products/1'),
      await service.get('/api/products/search?q=a'),
      await service.get('/api/products/exists/1'),
      await service.post('/api/products', pen),
      await service.put('/api/products/1', pen),
      await service.del('/api/products/1'),
    ]) {
      expect([answer.status, answer.json]).toEqual([500, failure(expect.stringMatching(/\S/))]);
      expect(answer.text).not.toMatch(/sqlite|table|product|select|query|typeorm|\.js|\.ts/i);
    }
    await service.close();
  });
});

describe.each(DATABASES)('a view in %s', (database) => {
  const isPostgres = database === 'postgres';

  it.each([false, ...(isPostgres ? [true] : [])])(
    'of which nothing can be changed refuses every write, materialized: %s',
    async (materialized) => {
      @Entity()
      class Sale {
        @PrimaryGeneratedColumn()
        id!: number;

        @Column()
        amount!: number;
      }
      const expression = 'SELECT MIN(id) AS id, SUM(amount) AS amount FROM sale GROUP BY amount';
      @ViewEntity({ name: 'totals', expression, materialized })
      class Total {
        @PrimaryGeneratedColumn()
        id!: number;

        @ViewColumn()
        amount!: string;
      }
      const { get, post, put, del, dataSource, logs, close } = await startCrud('express', {
        database,
        entities: [Sale, Total],
        resources: [{ entity: Total, endpoint: '/api/totals' }],
      });
      await dataSource.getRepository(Sale).save([{ amount: 5 }]);
      if (materialized) await dataSource.query('REFRESH MATERIALIZED VIEW totals');
      const written = [
        await post('/api/totals', { amount: '7' }),
        await put('/api/totals/1', { amount: '7' }),
        await del('/api/totals/1'),
      ];
      for (const { status, json } of written)
        expect([status, json.message]).toEqual([409, 'Total cannot be changed: it is a view of other records']);
      expect((await get('/api/totals')).json.data).toHaveLength(1);
      expect(linesOf(logs, 'error')).toEqual([]);
      await close();
    },
  );
});

@Entity()
class Ignored {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;
}

@Entity()
class Fixed {
  @PrimaryColumn('varchar', { length: 20 })
  id = 'fixed';

  @Column({ length: 20 })
  name!: string;
}

it('[4.6] a record that SQLite ignores is a conflict, also where its constructor gives the key of another one', async () => {
  const resources = [{ entity: Fixed, endpoint: '/fixed', enablePagination: true }];
  const service = await startCrud('express', { entities: [Fixed], resources, path: 'compiled' });
  await service.dataSource.query(
    `CREATE TRIGGER ignores BEFORE INSERT ON fixed WHEN EXISTS (SELECT 1 FROM fixed) BEGIN SELECT RAISE(IGNORE); END`,
  );
  expect((await service.post('/fixed', { name: 'first' })).json.data).toEqual({ id: 'fixed', name: 'first' });
  expect((await service.post('/fixed', { name: 'second' })).status).toBe(409);
  await service.close();
});

it('[4.6] a record that SQLite ignores is a conflict, and no other record is taken for it', async () => {
  const service = await startCrud('express', {
    entities: [Ignored],
    resources: [{ entity: Ignored, endpoint: '/ignored', enablePagination: true }],
    path: 'compiled',
  });
  await service.dataSource.query(
    `CREATE TRIGGER ignores BEFORE INSERT ON ignored WHEN NEW.name = 'skip' BEGIN SELECT RAISE(IGNORE); END`,
  );
  expect((await service.post('/ignored', { name: 'kept' })).status).toBe(201);
  const { status, json, headers } = await service.post('/ignored', { name: 'skip' });
  expect([status, json, headers['location']]).toEqual([
    409,
    failure('Ignored was not stored: the database ignored it, or it is deleted already'),
    undefined,
  ]);
  expect((await service.get('/ignored')).json.metadata.pagination.total).toBe(1);
  await service.close();
});

it.each(PLATFORMS)('[4.2] on %s, endpoints that the router takes for one refuse to boot', async (platform) => {
  const two = [
    { entity: Label, endpoint: '/p', enablePagination: true },
    { entity: Category, endpoint: '/P', enablePagination: true },
  ];
  const started = startCrud(platform, { entities: [Label, Category], resources: two });
  if (platform === 'express')
    await expect(started).rejects.toThrow(/`endpoint` of Category: expected a path of its own/);
  else await (await started).close();
});

(DATABASES.includes('postgres') ? it : it.skip).each(['compiled', 'repository'] as const)(
  '[4.3] a text that PostgreSQL cannot hold is named, and no id, on the path %s',
  async (path) => {
    const resources = [
      { entity: Category, endpoint: '/categories', enablePagination: true },
      { entity: Label, endpoint: '/labels', enablePagination: true },
    ];
    const service = await startCrud('express', { entities: [Category, Label], resources, database: 'postgres', path });
    const { id } = (await service.post('/categories', { name: 'a' })).json.data;
    expect(wrongFields(await service.post('/categories', { name: 'a\u0000' }))).toEqual(['name']);
    expect(wrongFields(await service.put(`/categories/${id}`, { name: '\u0000' }))).toEqual(['name']);
    expect(wrongFields(await service.get('/labels/a%00'))).toEqual(['id']);
    await service.close();
  },
);
