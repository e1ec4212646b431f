/** Many-to-many relations whose other side does not name them, and a key and a relation of one property. */
import { Column, Entity, JoinColumn, JoinTable, ManyToMany, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import type { Answer } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { checkOf } from '../openapi/described.js';

@Entity('unnamed_books')
class Book {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ default: '' }) title!: string;
  /** Names no other side. */
  @ManyToMany(() => Reader) @JoinTable() readers!: Reader[];
}

@Entity('unnamed_readers')
class Reader {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ default: '' }) name!: string;
  @ManyToMany(() => Book, ({ readers }) => readers) books!: Book[];
  @ManyToOne(() => Book, { nullable: true })
  @JoinColumn({ name: 'bookId' })
  @Column({ type: 'int', nullable: true })
  bookId!: number | null;
}

describe.each(DATABASES)('relations on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('fastify', {
      database,
      entities: [Book, Reader],
      resources: [
        { entity: Book, endpoint: '/books', maxListSize: 10 },
        {
          entity: Reader,
          endpoint: '/readers',
          maxListSize: 10,
          includableRelations: ['books', 'bookId'],
          linkableRelations: ['books'],
          filterableFields: ['books.title'],
        },
      ],
    });
    await service.dataSource.getRepository(Book).insert([{ title: 'a' }, { title: 'b' }, { title: 'c' }]);
  });
  afterAll(() => service.close());

  const dataOf = ({ json }: Answer) => (json as { data: Record<string, unknown> }).data;

  it('[7.1] [7.4] [8.3] a side that the other one does not name is linked, included and found by the join table', async () => {
    const made = await service.post('/readers', { name: 'x', booksIds: [1, 2] });
    expect([made.status, dataOf(made)], made.text).toMatchObject([201, { booksIds: [1, 2] }]);
    const put = await service.put('/readers/1', { name: 'y', booksIds: [2, 3] });
    expect([put.status, dataOf(put)], put.text).toMatchObject([200, { booksIds: [2, 3] }]);
    const found = await service.get('/readers?filter[books.title]=c&include=books');
    expect(dataOf(found), found.text).toMatchObject([{ name: 'y', books: [{ title: 'b' }, { title: 'c' }] }]);
    expect(dataOf(await service.get('/readers?filter[books.title]=a'))).toEqual([]);
  });

  it('[7.4] the document describes both a key and the record that is included in its place', async () => {
    const check = await checkOf(service.app);
    const { id } = dataOf(await service.post('/readers', { bookId: 1 }));
    for (const [query, value] of [
      ['', 1],
      ['?include=bookId', { id: 1, title: 'a' }],
    ] as const) {
      const path = `/readers/${String(id)}${query}`;
      const answer = await service.get(path);
      expect(dataOf(answer)['bookId']).toEqual(value);
      check?.({ method: 'GET', path, json: undefined }, answer);
    }
  });
});

@Entity('short_codes')
class Code {
  @PrimaryGeneratedColumn() id!: number;
  @Column('char') code!: string;
}

(DATABASES.includes('postgres') ? it : it.skip)('[4.6] a char without a length takes one character', async () => {
  const service = await startCrud('express', {
    database: 'postgres',
    entities: [Code],
    resources: [{ entity: Code, endpoint: '/codes', maxListSize: 10 }],
  });
  try {
    expect((await service.post('/codes', { code: 'A' })).status).toBe(201);
    const wrong = await service.post('/codes', { code: 'AB' });
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('"field":"code"')]);
  } finally {
    await service.close();
  }
});
