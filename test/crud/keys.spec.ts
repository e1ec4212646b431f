/** Primary keys of other names, and those that clients choose. */
import {
  BeforeInsert,
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { wrongFields } from './service.js';
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
class Plain {
  @PrimaryColumn({ type: 'int' }) id!: number;
}

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
    expect((await twins.post('/constant', { id: '', title: 'C' })).json.data).toEqual({ id: '', title: 'C' });
    expect((await twins.post('/listening', { title: 'x' })).json.data.id).toBe('made x');
    expect((await twins.post('/listening', { id: 'own', title: 'x' })).json.data.id).toBe('own');
    expect((await twins.post('/plain', { id: 7 })).json.data).toEqual({ id: 7 });
    expect(wrongFields(await twins.post('/plain', {}))).toEqual(['id']);
    expect((await twins.put('/plain/8', { id: 8 })).status).toBe(404);
    await twins.close();
  });
});
