/** What went wrong in libraries of this kind, each as a test named after it. */
import { BeforeInsert, Column, Entity, ManyToOne, OneToMany, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

@Entity()
class Author {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  name!: string;

  @Column({ length: 80, select: false, default: 'hash-canary' })
  passwordHash!: string;

  @Column({ default: 'USER', update: false, insert: false, length: 10 })
  role!: string;

  @OneToMany(() => Book, (book) => book.author)
  books!: Book[];
}

@Entity()
class Book {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  title!: string;

  @Column({ default: false })
  done!: boolean;

  @Column({ type: 'varchar', length: 40, nullable: true })
  note!: string | null;

  @ManyToOne(() => Author, (author) => author.books, { nullable: true, eager: true, cascade: true })
  author!: Author | null;
}

@Entity()
class Page {
  @PrimaryColumn({ length: 40 })
  id!: string;

  @Column({ length: 40 })
  text!: string;

  @BeforeInsert()
  setId(): void {
    this.id ??= this.text;
  }
}

describe.each(DATABASES)('on %s', (database) => {
  describe.each(PLATFORMS)('and %s', (platform) => {
    let service: CrudService;
    let ann: number;
    beforeAll(async () => {
      service = await startCrud(platform, {
        database,
        resources: [
          {
            entity: Author,
            endpoint: '/api/authors',
            enableSearch: true,
            enableExists: true,
            enablePagination: true,
            searchableFields: ['name'],
          },
          {
            entity: Book,
            endpoint: '/api/books',
            enableSearch: true,
            enablePagination: true,
            searchableFields: ['title', 'note'],
          },
          { entity: Page, endpoint: '/api/pages' },
        ],
      });
      ann = (await service.post('/api/authors', { name: 'Ann' })).json.data.id;
    });
    afterAll(() => service.close());

    const count = async (path: string): Promise<number> =>
      (await service.get(`${path}?page=1`)).json.metadata.pagination.total as number;

    it('[4.6] nestjsx#461: a POST with the id of a record does not overwrite it', async () => {
      const { id } = (await service.post('/api/books', { title: 'First' })).json.data as { id: number };
      const before = await count('/api/books');
      expect(wrongFields(await service.post('/api/books', { id, title: 'Taken over' }))).toEqual(['id']);
      expect((await service.get(`/api/books/${id}`)).json.data.title).toBe('First');
      expect(await count('/api/books')).toBe(before);
      await service.post('/api/pages', { text: 'home' });
      expect(wrongFields(await service.post('/api/pages', { id: 'home', text: 'taken over' }))).toEqual(['id']);
      expect((await service.get('/api/pages/home')).json.data.text).toBe('home');
    });

    it('[4.6] nestjsx#534, nestjsx#538: a PUT of a missing record does not create it', async () => {
      const before = await count('/api/books');
      expect((await service.put('/api/books/555555', { title: 'Made up' })).status).toBe(404);
      expect((await service.put('/api/books/555555', { id: 555555, title: 'Made up' })).status).toBe(404);
      expect((await service.put('/api/pages/nowhere', { text: 'x' })).status).toBe(404);
      expect(await count('/api/books')).toBe(before);
    });

    it.each(['passwordHash', 'password_hash', 'author.passwordHash', 'record.passwordHash', 'Author.passwordHash'])(
      '[4.5] strapi#11869, CVE-2023-22894: the hidden column %s cannot be searched, sorted or filtered by',
      async (name) => {
        for (const query of [`${name}=h`, `name=Ann&${name}=h`, `sort=${name}`, `order=${name}`, `filter[${name}]=h`]) {
          expect((await service.get(`/api/authors/search?${query}`)).status).toBe(400);
          expect((await service.get(`/api/authors?${query}`)).status).toBe(400);
        }
        const { json } = await service.get('/api/authors/search?q=canary');
        expect(json.data).toEqual([]);
      },
    );

    it('[4.6] TypeORM#12501: a hidden column does not leave in the answer to the POST or PUT that wrote it', async () => {
      const created = await service.post('/api/authors', { name: 'Hid', passwordHash: 'hash-canary-2' });
      const updated = await service.put(`/api/authors/${created.json.data.id}`, {
        name: 'Hid',
        passwordHash: 'hash-canary-3',
      });
      for (const { status, text } of [created, updated]) {
        expect(status).toBeLessThan(300);
        expect(text).not.toMatch(/canary|passwordHash/);
      }
    });

    it.each(['role', 'books', 'roles', 'isAdmin', 'verified'])(
      '[4.6] CVE-2026-44166, mass assignment: %s cannot be set by a client that creates a record',
      async (name) => {
        const value = name === 'books' ? [{ title: 'x' }] : 'ADMIN';
        expect(wrongFields(await service.post('/api/authors', { name: 'Eve', [name]: value }))).toEqual([name]);
        expect(wrongFields(await service.put(`/api/authors/${ann}`, { name: 'Eve', [name]: value }))).toEqual([name]);
        expect((await service.get(`/api/authors/${ann}`)).json.data).toEqual({ id: ann, name: 'Ann', role: 'USER' });
      },
    );

    it.each([{ author: { name: 'New' } }, { author: { id: 1, name: 'Renamed' } }, { author: [] }, { author: null }])(
      '[4.6] SDR#945, DRF#395: a nested object writes no other record: %j',
      async (fields) => {
        const before = await count('/api/authors');
        expect(wrongFields(await service.post('/api/books', { title: 'Nested', ...fields }))).toEqual(['author']);
        expect(await count('/api/authors')).toBe(before);
        expect((await service.get(`/api/authors/${ann}`)).json.data.name).toBe('Ann');
      },
    );

    it('[4.6] zenstack#814: an eager relation brings no columns of its target', async () => {
      const { json, text } = await service.post('/api/books', { title: 'Eager', authorId: ann });
      expect(json.data).toEqual({ id: json.data.id, title: 'Eager', done: false, note: null, authorId: ann });
      const list = await service.get('/api/books?size=100');
      for (const each of [text, list.text]) expect(each).not.toMatch(/passwordHash|canary|"author"/);
    });

    it.each([
      "name' OR '1'='1",
      'name;DROP TABLE author',
      '(CASE WHEN 1=1 THEN name ELSE id END)',
      'name DESC, (SELECT 1)',
      'record.name',
      'Author.name',
      '1=1)--',
    ])('[4.5] nestjsx#849, nestjs-paginate#460, feathers GHSA: the parameter name %p is no SQL', async (name) => {
      const query = new URLSearchParams([[name, 'a']]).toString();
      for (const path of [
        `/api/authors/search?${query}`,
        `/api/authors/search?name=Ann&${query}`,
        `/api/authors?${query}`,
      ])
        expect(wrongFields(await service.get(path))).toEqual([name]);
      expect((await service.get(`/api/authors/${ann}`)).status).toBe(200);
    });
  });
});
