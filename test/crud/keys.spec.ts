/** Primary keys of other names, of several columns, and those that clients choose. */
import { Controller, Get, Param, Post } from '@nestjs/common';
import { CrudController, type JsonObject } from 'declarest';
import {
  BeforeInsert,
  Column,
  CreateDateColumn,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  type InsertEvent,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  ViewColumn,
  ViewEntity,
  type Relation,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { crudError, startCrud, wrongFields } from './service.js';
import { startTwins } from './twins.js';

const EVERYTHING = {
  enableExists: true,
  enableBatch: true,
  enableCount: true,
  enableExport: true,
  enableSearch: true,
  enablePagination: 'both',
  filterableFields: true,
} as const;

@Entity()
class Shelf {
  @PrimaryGeneratedColumn()
  nr!: number;

  @Column({ length: 20 })
  name!: string;

  @OneToMany(() => Book, ({ shelf }) => shelf)
  books!: Book[];
}

/** Its `id` is a column as any other. */
@Entity()
class Book {
  @PrimaryGeneratedColumn({ name: 'pk' })
  bookNr!: number;

  @Column({ length: 20 })
  id!: string;

  @ManyToOne(() => Shelf, ({ books }) => books, { nullable: true })
  shelf!: Shelf | null;

  @ManyToMany(() => Shelf)
  @JoinTable()
  copies!: Shelf[];
}

describe.each(DATABASES)('on %s', (database) => {
  it('[4.6] every operation works with a key of another name beside a plain `id`', async () => {
    const twins = await startTwins('express', {
      database,
      entities: [Book, Shelf],
      resources: [
        {
          entity: Book,
          endpoint: '/books',
          ...EVERYTHING,
          searchableFields: ['id'],
          sortableFields: ['id'],
          includableRelations: ['shelf'],
          linkableRelations: ['copies'],
        },
        {
          entity: Shelf,
          endpoint: '/shelves',
          ...EVERYTHING,
          searchableFields: ['name'],
          includableRelations: ['books'],
        },
      ],
    });
    for (const name of ['low', 'high']) await twins.post('/shelves', { name });
    const created = await twins.post('/books', { id: 'b', shelfId: 2, copiesIds: [1] });
    const record = { bookNr: 1, id: 'b', shelfId: 2, copiesIds: [1] };
    expect([created.status, created.json.data, created.headers['location']]).toEqual([201, record, '/books/1']);
    expect((await twins.get('/books/1')).json.data).toEqual(record);
    expect((await twins.put('/books/1', { ...record, id: 'c' })).json.data).toEqual({ ...record, id: 'c' });
    expect(wrongFields(await twins.put('/books/1', { ...record, bookNr: 7 }))).toEqual(['bookNr']);
    expect((await twins.send('PATCH', '/books/1', { json: { copiesIds: [2, 1] } })).json.data.copiesIds).toEqual([
      1, 2,
    ]);
    expect((await twins.get('/books/exists/1')).json.data).toEqual({ exists: true });
    expect((await twins.get('/books/2')).json.message).toBe('Book with id 2 not found');
    expect((await twins.get('/books/c')).json.message).toBe('Book id is not valid');

    const items = ['d', 'c', 'c', 'a'].map((id) => ({ id, copiesIds: [2] }));
    expect((await twins.post('/books/batch', { items })).status).toBe(201);
    const patched = await twins.send('PATCH', '/books/batch', {
      json: { items: [{ bookNr: 5, id: 'x', shelfId: 1 }] },
    });
    expect(patched.json.data).toEqual([{ bookNr: 5, id: 'x', shelfId: 1, copiesIds: [2] }]);
    expect(wrongFields(await twins.send('PATCH', '/books/batch', { json: { items: [{ id: 'x' }] } }))).toEqual([
      'items[0].bookNr',
    ]);
    expect((await twins.get('/books?sort=-id&size=9')).json.data.map((each: Book) => each.bookNr)).toEqual([
      5, 2, 1, 3, 4,
    ]);
    expect((await twins.get('/books?filter[bookNr][in]=1,5&fields=id')).json.data).toEqual([{ id: 'c' }, { id: 'x' }]);

    const first = await twins.get('/books?sort=id&size=2&pagination=cursor&fields=bookNr');
    expect(first.json.data).toEqual([{ bookNr: 1 }, { bookNr: 3 }]);
    const next = await twins.get(`/books?sort=id&size=2&fields=bookNr&after=${first.json.metadata.pagination.next}`);
    expect(next.json.data).toEqual([{ bookNr: 4 }, { bookNr: 2 }]);

    expect((await twins.get('/books/1?include=shelf&fields=id')).json.data).toEqual({
      id: 'c',
      shelf: { nr: 2, name: 'high' },
    });
    expect((await twins.get('/shelves?include=books&fields=name&fields[books]=id')).json.data).toEqual([
      { name: 'low', books: [{ id: 'x' }] },
      { name: 'high', books: [{ id: 'c' }] },
    ]);
    expect((await twins.get('/books/export?format=csv&filter[bookNr][lte]=2')).text).toBe(
      'bookNr,id,shelfId,copiesIds\r\n1,c,2,1 2\r\n2,d,,2\r\n',
    );
    expect((await twins.del('/books/batch?ids=2,3')).status).toBe(200);
    expect((await twins.del('/books/1')).status).toBe(200);
    expect((await twins.get('/books/count')).json.data).toEqual({ count: 2 });
    await twins.close();
  });
});

/** A line of an order, whose key refers to it. */
@Entity()
class Order {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @OneToMany(() => Line, ({ order }) => order)
  lines!: Relation<Line>[];
}

@Entity()
class Line {
  @PrimaryColumn({ type: 'int' })
  orderId!: number;

  @PrimaryColumn({ length: 20 })
  part!: string;

  @Column({ type: 'int', nullable: true })
  amount!: number | null;

  @ManyToOne(() => Order, ({ lines }) => lines)
  @JoinColumn({ name: 'orderId' })
  order!: Relation<Order>;

  @ManyToMany(() => Line)
  @JoinTable()
  spares!: Relation<Line>[];
}

describe.each(DATABASES)('a key of two columns on %s', (database) => {
  it('[4.6] [8.2] [7.5] serves every operation', async () => {
    const twins = await startTwins('fastify', {
      database,
      entities: [Order, Line],
      resources: [
        {
          entity: Line,
          endpoint: '/lines',
          ...EVERYTHING,
          searchableFields: ['part'],
          sortableFields: ['amount', 'part'],
          includableRelations: ['order', 'order.lines'],
          linkableRelations: ['spares'],
        },
        {
          entity: Order,
          endpoint: '/orders',
          ...EVERYTHING,
          searchableFields: ['name'],
          includableRelations: ['lines'],
        },
      ],
    });
    for (const name of ['a', 'b']) await twins.post('/orders', { name });
    const created = await twins.post('/lines', { orderId: 1, part: 'x,50%', amount: 3 });
    const record = { orderId: 1, part: 'x,50%', amount: 3, sparesIds: [] };
    const path = '/lines/1,x%2C50%25';
    expect([created.status, created.json.data, created.headers['location']]).toEqual([201, record, path]);
    const taken = await twins.post('/lines', { orderId: 1, part: 'x,50%' });
    expect([taken.status, taken.json.message]).toEqual([
      409,
      'Line cannot be created: the combination of orderId and part is already taken',
    ]);
    expect(wrongFields(await twins.post('/lines', { orderId: 1 }))).toEqual(['part']);
    expect(wrongFields(await twins.post('/lines', { orderId: 'x', part: 'y' }))).toEqual(['orderId']);
    expect((await twins.post('/lines', { orderId: 9, part: 'y' })).status).toBe(409);

    // The commas of the values, and of a text that is encoded as a whole.
    for (const each of [path, '/lines/1%2Cx%252C50%2525']) expect((await twins.get(each)).json.data).toEqual(record);
    expect((await twins.get('/lines/exists/1,x%2C50%25')).json.data).toEqual({ exists: true });
    expect((await twins.get('/lines/1,x')).json.message).toBe('Line with id 1,x not found');
    for (const wrong of ['1', '1,x,50%25', '1,2,3', 'a,x', ','])
      expect([wrong, (await twins.get(`/lines/${wrong}`)).status]).toEqual([wrong, 400]);
    expect((await twins.put(path, { ...record, amount: 4 })).json.data).toEqual({ ...record, amount: 4 });
    expect(wrongFields(await twins.put(path, { ...record, part: 'z' }))).toEqual(['part']);
    expect((await twins.put('/lines/1,new', { ...record, part: 'new' })).status).toBe(404);

    const items = [2, 1, 2].map((orderId, index) => ({ orderId, part: `p${index}`, sparesIds: ['1,x%2C50%25'] }));
    expect((await twins.post('/lines/batch', { items })).json.data.map((each: Line) => each.part)).toEqual([
      'p0',
      'p1',
      'p2',
    ]);
    const patches = {
      items: [
        { orderId: 2, part: 'p2', amount: 7 },
        { ...record, amount: 5 },
      ],
    };
    expect(
      (await twins.send('PATCH', '/lines/batch', { json: patches })).json.data.map((each: Line) => each.amount),
    ).toEqual([7, 5]);
    const same = await twins.send('PATCH', '/lines/batch', { json: { items: [record, record] } });
    expect(wrongFields(same)).toEqual(['items[1].orderId']);
    expect(
      (await twins.send('PATCH', '/lines/2,p2', { json: { sparesIds: ['2,p0', '1,p1'] } })).json.data.sparesIds,
    ).toEqual(['1,p1', '2,p0']);
    const unknown = await twins.send('PATCH', '/lines/2,p2', { json: { sparesIds: ['2,p9'] } });
    expect([unknown.status, unknown.json.message]).toEqual([
      409,
      'Line cannot be updated: sparesIds refers to Line records that do not exist: 2,p9',
    ]);

    const nameOf = ({ orderId, part }: Line): string => `${orderId}${part}`;
    expect((await twins.get('/lines?sort=-amount')).json.data.map(nameOf)).toEqual(['1p1', '2p0', '2p2', '1x,50%']);
    const pages: string[] = [];
    for (let after = ''; ;) {
      const { json } = await twins.get(`/lines?pagination=cursor&size=1&sort=amount&fields=orderId,part${after}`);
      pages.push(...json.data.map(nameOf));
      if (!json.metadata.pagination.hasNext) break;
      after = `&after=${json.metadata.pagination.next}`;
    }
    expect(pages).toEqual(['1x,50%', '2p2', '1p1', '2p0']);
    expect((await twins.get('/orders?include=lines&fields=name&fields[lines]=part')).json.data).toEqual([
      { name: 'a', lines: [{ part: 'p1' }, { part: 'x,50%' }] },
      { name: 'b', lines: [{ part: 'p0' }, { part: 'p2' }] },
    ]);
    expect((await twins.get('/lines/2,p0?include=order.lines&fields=part&fields[order.lines]=part')).json.data).toEqual(
      {
        part: 'p0',
        order: { id: 2, name: 'b', lines: [{ part: 'p0' }, { part: 'p2' }] },
      },
    );
    expect((await twins.get('/lines/export?format=csv&filter[part]=p2')).text).toBe(
      'orderId,part,amount,sparesIds\r\n2,p2,7,"1,p1 2,p0"\r\n',
    );
    expect((await twins.del('/lines/batch?ids=2,p2;1,x%2C50%25')).status).toBe(200);
    expect((await twins.del('/lines/batch?ids=1%2Cp1%3B2%2Cp9')).status).toBe(404);
    expect((await twins.del('/lines/2,p0')).status).toBe(200);
    expect((await twins.get('/lines?fields=part')).json.data).toEqual([{ part: 'p1' }]);
    await twins.close();
  });

  it('[7.5] a cursor goes on behind a position that is too long for a URL', async () => {
    @Entity()
    class Text {
      @PrimaryColumn({ type: 'int' }) a!: number;
      @PrimaryColumn({ length: 40 }) b!: string;
      @Column({ length: 600 }) text!: string;
    }
    const resources = [
      { entity: Text, endpoint: '/texts', enablePagination: 'cursor', sortableFields: ['text'] } as const,
    ];
    const twins = await startTwins('express', { database, entities: [Text], resources: [...resources] });
    for (const b of ['x', 'y,%', 'z']) await twins.post('/texts', { a: 1, b, text: 'long '.repeat(110) });
    let query = '?sort=text&size=1&fields=b';
    const found: unknown[] = [];
    for (let page = 0; page < 3; page += 1) {
      const { json } = await twins.get(`/texts${query}`);
      found.push(json.data[0].b);
      query = `?sort=text&size=1&fields=b&after=${json.metadata.pagination.next}`;
    }
    expect(found).toEqual(['x', 'y,%', 'z']);
    await twins.close();
  });
});

@Entity()
class Pair {
  @PrimaryColumn({ length: 20 }) a!: string;
  @PrimaryColumn({ length: 20 }) b!: string;
}

it.each(PLATFORMS)(
  '[4.7] overrides get a key of two columns as it was decoded, and reach its record (%s)',
  async (platform) => {
    @Controller()
    class Pairs extends CrudController({ entity: Pair, endpoint: '/pairs' }) {
      @Get(':id')
      override findById(@Param('id') id: string) {
        return super.findById(id);
      }
      @Post()
      override async create(body: JsonObject) {
        const { data } = await super.create(body);
        return { data: { ...data, extra: 1 } } as never;
      }
    }
    const service = await startCrud(platform, { entities: [Pair], resources: [Pairs], isDescribed: false });
    for (const [a, path] of [
      [',', '/pairs/%2C,b'],
      ['%41', '/pairs/%2541,b'],
      ['A', '/pairs/A,b'],
      ['ü/;', '/pairs/%C3%BC%2F%3B,b'],
    ] as const) {
      expect((await service.post('/pairs', { a, b: 'b' })).headers['location']).toBe(path);
      expect((await service.get(path)).json.data).toEqual({ a, b: 'b' });
    }
    await service.close();
  },
);

it.each(PLATFORMS)('[8.2] a batch deletes the records of keys as the query has them (%s)', async (platform) => {
  const resources = [{ entity: Pair, endpoint: '/pairs', enableBatch: true }] as const;
  const service = await startCrud(platform, { entities: [Pair], resources: [...resources], isDescribed: false });
  const items = ['a%41 x', 'aA x', 'c, d/e=f?', 'g+h'].map((a) => ({ a, b: 'b' }));
  expect((await service.post('/pairs/batch', { items })).status).toBe(201);
  const left = async (): Promise<string[]> => (await service.get('/pairs')).json.data.map(({ a }: Pair) => a);
  expect((await service.del('/pairs/batch?ids=a%2541+x,b')).status).toBe(200);
  expect(await left()).toEqual(['aA x', 'c, d/e=f?', 'g+h']);
  expect((await service.del('/pairs/batch?ids=c%2C+d/e=f?,b;g%2Bh,b')).status).toBe(200);
  expect(await left()).toEqual(['aA x']);
  await service.close();
});

@Entity()
class Chosen {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column({ length: 20 }) name!: string;
}

/** Nothing generates its key: neither the constant nor the listener. */
@Entity()
class Named {
  @PrimaryColumn({ type: 'varchar', length: 8 }) id = '';
  @Column({ length: 20 }) title!: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) slug!: string | null;
  @BeforeInsert() setSlug(): void {
    this.slug = this.title.toLowerCase();
  }
}

@Entity()
class Constant {
  @PrimaryColumn({ type: 'varchar', length: 20 }) id = 'new';
  @Column({ type: 'varchar', length: 20 }) title = '';
}

@Entity()
class Listening {
  @PrimaryColumn({ length: 20 }) id!: string;
  @Column({ length: 20 }) title!: string;
  @BeforeInsert() setId(): void {
    this.id ??= `made ${this.title}`;
  }
}

@Entity()
class Subscribed {
  @PrimaryColumn({ length: 20 }) id!: string;
  @Column({ length: 20 }) title!: string;
}

@Entity()
class Numbered {
  @PrimaryColumn({ type: 'int' }) id!: number;
  @CreateDateColumn() createdAt!: Date;
}

@Entity()
class Plain {
  @PrimaryColumn({ type: 'int' }) id!: number;
}

/** One property is the column and the relation. */
@Entity()
class Detail {
  @ManyToOne(() => Order)
  @JoinColumn({ name: 'id' })
  @PrimaryColumn({ type: 'int' })
  id!: Relation<Order>;
  @Column({ length: 20, default: 'x' }) text!: string;
}

it.each(DATABASES)('[4.6] a key may be a foreign key by one property (%s)', async (database) => {
  const resources = [Order, Detail].map((entity) => ({ entity, endpoint: `/${entity.name.toLowerCase()}` }));
  const twins = await startTwins('express', { database, entities: [Order, Line, Detail], resources });
  await twins.post('/order', { name: 'a' });
  expect((await twins.post('/detail', { id: 2 })).status).toBe(409);
  expect((await twins.post('/detail', { id: 1 })).json.data).toEqual({ id: 1, text: 'x' });
  expect((await twins.put('/detail/1', { id: 1, text: 'y' })).json.data).toEqual({ id: 1, text: 'y' });
  expect((await twins.get('/detail')).json.data).toEqual([{ id: 1, text: 'y' }]);
  expect((await twins.del('/detail/1')).status).toBe(200);
  await twins.close();
});

/** Only some databases return such a default for a new record. */
@Entity()
class Untold {
  @PrimaryColumn({ type: 'varchar', length: 40, default: () => 'lower(hex(randomblob(8)))' }) id!: string;
}

it('[4.6] clients choose a key that the database does not return', async () => {
  const twins = await startTwins('express', {
    entities: [Untold],
    resources: [{ entity: Untold, endpoint: '/untold' }],
  });
  expect((await twins.post('/untold', { id: 'a' })).json.data).toEqual({ id: 'a' });
  expect(wrongFields(await twins.post('/untold', {}))).toEqual(['id']);
  await twins.close();
});

describe.each(DATABASES)('keys that clients choose on %s', (database) => {
  const UUID = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

  it('[4.6] with `clientId: true` POST and batch take the key, or leave it to what generates it', async () => {
    const resources = [{ entity: Chosen, endpoint: '/chosen', clientId: true, enableBatch: true }];
    const twins = await startTwins('express', { database, entities: [Chosen], resources });
    const created = await twins.post('/chosen', { id: UUID.toUpperCase(), name: 'a' });
    expect([created.json.data, created.headers['location']]).toEqual([{ id: UUID, name: 'a' }, `/chosen/${UUID}`]);
    const taken = await twins.post('/chosen', { id: UUID, name: 'b' });
    expect([taken.status, taken.json.message]).toEqual([409, 'Chosen cannot be created: id is already taken']);
    expect(wrongFields(await twins.post('/chosen', { id: 'x', name: 'b' }))).toEqual(['id']);
    const other = UUID.replace('0190', '0191');
    const batch = await twins.post('/chosen/batch', { items: [{ id: other, name: 'c' }] });
    expect(batch.json.data).toEqual([{ id: other, name: 'c' }]);
    expect((await twins.put(`/chosen/${UUID.replace('0190', '0192')}`, { name: 'd' })).status).toBe(404);
    for (const service of [twins.compiled, twins.repository])
      expect((await service.post('/chosen', { name: 'e' })).json.data.id).toMatch(/^[\da-f-]{36}$/);
    await twins.close();
  });

  it('[4.6] is the default where nothing generates the key; what does still does', async () => {
    const entities = [Named, Constant, Listening, Plain];
    const resources = entities.map((entity) => ({ entity, endpoint: `/${entity.name.toLowerCase()}` }));
    const twins = await startTwins('fastify', { database, entities, resources });
    const named = await twins.post('/named', { id: 'a', title: 'A' });
    expect(named.json.data).toEqual({ id: 'a', title: 'A', slug: 'a' });
    expect((await twins.post('/named', { id: 'a', title: 'B' })).status).toBe(409);
    expect(wrongFields(await twins.post('/named', { title: 'C' }))).toEqual(['id']);
    expect(wrongFields(await twins.post('/named', { id: 'too long a key', title: 'C' }))).toEqual(['id']);
    expect(wrongFields(await twins.post('/constant', { title: 'C' }))).toEqual(['id']);
    expect((await twins.post('/constant', { id: 'c', title: 'C' })).json.data).toEqual({ id: 'c', title: 'C' });
    expect((await twins.post('/listening', { title: 'x' })).json.data.id).toBe('made x');
    expect((await twins.post('/listening', { id: 'own', title: 'x' })).json.data.id).toBe('own');
    expect((await twins.post('/plain', { id: 7 })).json.data).toEqual({ id: 7 });
    expect(wrongFields(await twins.post('/plain', {}))).toEqual(['id']);
    expect((await twins.put('/plain/8', { id: 8 })).status).toBe(404);
    await twins.close();
  });

  it.each([
    ['of the entity', () => Subscribed],
    ['of every entity', undefined],
  ] as const)('[4.6] a subscriber %s makes the key where the client sends none', async (_whose, listenTo) => {
    @EventSubscriber()
    class MakesKeys implements EntitySubscriberInterface {
      listenTo = listenTo as () => typeof Subscribed;
      beforeInsert({ entity }: InsertEvent<object>): void {
        if (entity instanceof Subscribed) entity.id ??= `made ${entity.title}`;
      }
    }
    const entities = [Subscribed, Plain, Numbered];
    const service = await startCrud('express', {
      database,
      entities,
      dataSource: { subscribers: [MakesKeys] },
      resources: entities.map((entity) => ({ entity, endpoint: `/${entity.name.toLowerCase()}`, enableBatch: true })),
    });
    expect((await service.post('/subscribed', { title: 'x' })).json.data).toEqual({ id: 'made x', title: 'x' });
    expect((await service.post('/subscribed', { id: 'own', title: 'x' })).json.data.id).toBe('own');
    const batch = await service.post('/subscribed/batch', { items: [{ title: 'y' }, { id: 'z', title: 'z' }] });
    expect(batch.json.data.map(({ id }: Subscribed) => id)).toEqual(['made y', 'z']);
    // SQLite would give such a record the next number.
    for (const path of ['/plain', '/numbered']) {
      expect(wrongFields(await service.post(path, {}))).toEqual(['id']);
      expect((await service.get(path)).json.data).toEqual([]);
      expect((await service.post(path, { id: 7 })).json.data).toMatchObject({ id: 7 });
    }
    await service.close();
  });
});

@Entity()
class Sale {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 10 }) town!: string;
  @Column({ type: 'int' }) price!: number;
}

/** As TypeORM's documentation has views: without a key. */
@ViewEntity({
  expression: (source) =>
    source.createQueryBuilder().select('s.town', 'town').addSelect('s.price', 'price').from(Sale, 's'),
})
class TownSale {
  @ViewColumn() town!: string;
  @Column({ type: 'int' }) price!: number;
}

@ViewEntity({
  expression: (source) => source.createQueryBuilder().select('s.id', 'nr').addSelect('s.town', 'town').from(Sale, 's'),
})
class SaleView {
  @PrimaryColumn() nr!: number;
  @ViewColumn() town!: string;
}

describe.each(DATABASES)('views on %s', (database) => {
  it('[8.9] views are read; one without a key has no single records and no writes', async () => {
    const service = await startCrud('express', {
      database,
      entities: [Sale, TownSale, SaleView, Plain],
      resources: [
        {
          entity: TownSale,
          endpoint: '/town-sales',
          enableCount: true,
          enableExport: true,
          enablePagination: true,
          aggregatableFields: ['town', 'price'],
          filterableFields: ['town', 'price'],
          sortableFields: ['town'],
        },
        { entity: SaleView, endpoint: '/sales', enableExists: true },
        { entity: Plain, endpoint: '/plain', operations: ['findAll', 'findById'] },
      ],
    });
    const sales = service.dataSource.getRepository(Sale);
    await sales.insert([
      { town: 'Ulm', price: 5 },
      { town: 'Ulm', price: 5 },
      { town: 'Bonn', price: 7 },
    ]);
    const [bonn, ulm] = [
      { town: 'Bonn', price: 7 },
      { town: 'Ulm', price: 5 },
    ];
    expect((await service.get('/town-sales?sort=-town')).json.data).toEqual([ulm, ulm, bonn]);
    expect((await service.get('/town-sales?size=1&page=2')).json.data).toEqual([ulm]);
    expect((await service.get('/town-sales/count?filter[price]=5')).json.data).toEqual({ count: 2 });
    expect((await service.get('/town-sales/aggregate?groupBy=town&sum=price')).json.data).toMatchObject([
      { groupBy: { town: 'Bonn' }, sum: { price: 7 } },
      { groupBy: { town: 'Ulm' }, sum: { price: 10 } },
    ]);
    await sales.insert(Array.from({ length: 40 }, () => ({ town: 'Ulm', price: 5 })));
    const lines = (await service.get('/town-sales/export?format=csv')).text.trim().split('\r\n');
    expect([lines.length, lines[1], lines.at(-1)]).toEqual([44, 'Bonn,7', 'Ulm,5']);
    for (const [method, path] of [
      ['GET', '1'],
      ['POST', ''],
      ['PUT', '1'],
      ['PATCH', '1'],
      ['DELETE', '1'],
    ] as const)
      expect([method, (await service.send(method, `/town-sales/${path}`, { json: {} })).status]).toEqual([method, 404]);

    expect((await service.get('/sales/3')).json.data).toEqual({ nr: 3, town: 'Bonn' });
    expect((await service.get('/sales/exists/3')).json.data).toEqual({ exists: true });
    expect((await service.get('/plain')).json.data).toEqual([]);
    expect((await service.post('/plain', { id: 1 })).status).toBe(404);
    await service.close();
  });
});

it.each([
  [
    { operations: ['findAll', 'findById'] },
    '`entity` of TownSale must be a view with a primary key, which findById needs, got one without.',
  ],
  [
    { enablePagination: 'cursor' },
    '`entity` of TownSale must be a view with a primary key, which enablePagination needs, got one without.',
  ],
  [{ enableExists: true }, '`enableExists` of TownSale must be used with exists in `operations`'],
] as const)('[4.8] a view without a key refuses to boot with %j', async (options, says) => {
  const resource = { entity: TownSale, endpoint: '/town-sales', ...options };
  const { message } = await crudError('express', { entities: [Sale, TownSale], resources: () => [resource as never] });
  expect(message).toContain(`CRUD option ${says}`);
});
