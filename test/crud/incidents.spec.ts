/** What went wrong in libraries of this kind, each as a test named after it. */
import { Patch, Post } from '@nestjs/common';
import { IsEmail, IsNotEmpty, MaxLength } from 'class-validator';
import { CrudController, type CrudOptions, type JsonObject, type ScopeContext } from 'declarest';
import { as, type Answer, type Client, type TestUser } from 'declarest/testing';
import {
  BeforeInsert,
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
  Unique,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { type Platform, PLATFORMS } from '../harness/platforms.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

const data = ({ json }: Answer): unknown => (json as { data: unknown }).data;

describe('open endpoints', () => {
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
    let service: CrudService;
    let ann: number;
    beforeAll(async () => {
      service = await startCrud('fastify', {
        database,
        entities: [Author, Book, Page],
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
      // Its key may be sent, because only a listener makes it.
      expect((await service.post('/api/pages', { id: 'home', text: 'taken over' })).status).toBe(409);
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
    ])('[4.5] nestjsx#849, nestjs-paginate#460, feathers GHSA: the parameter name %o is no SQL', async (name) => {
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

describe('endpoints with scopes, filters and includes', () => {
  @Entity()
  class Author {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ length: 40 }) name!: string;
    @Column({ length: 40 }) email!: string;
    @Column({ length: 40, select: false, default: 'hash-canary' }) passwordHash!: string;
    @Column() team!: number;
    @OneToMany(() => Book, ({ author }) => author) books!: Relation<Book>[];
  }

  @Entity()
  class Tag {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ length: 40 }) label!: string;
    @ManyToMany('Book', 'tags') books!: Relation<Book>[];
  }

  @Entity()
  class Book {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ length: 40 }) title!: string;
    @Column({ default: false }) done!: boolean;
    @Column({ type: 'int', nullable: true }) rank!: number | null;
    @Column({ type: 'varchar', length: 40, nullable: true }) note!: string | null;
    @Column({ type: 'simple-json', nullable: true }) meta!: object | null;
    @Column() team!: number;
    @DeleteDateColumn() deletedAt!: Date | null;
    @ManyToOne(() => Author, ({ books }) => books, { nullable: true }) author!: Author | null;
    @ManyToMany(() => Tag, ({ books }) => books) @JoinTable() tags!: Tag[];
  }

  const user: TestUser = { sub: 1, roles: ['USER'] };
  const ownTeam = ({ user: caller }: ScopeContext) => ({ team: Number(caller?.id ?? 0) });

  const books: CrudOptions<Book> = {
    entity: Book,
    endpoint: '/books',
    scope: ownTeam,
    enablePagination: true,
    enableSearch: true,
    enableCount: true,
    enableRestore: true,
    deletedRoles: ['ADMIN'],
    searchableFields: ['title'],
    filterableFields: [
      'id',
      'title',
      'done',
      'rank',
      'note',
      'author.name',
      'author.email',
      'tags.label',
      'author.books.title',
    ],
    sortableFields: ['title', 'rank'],
    includableRelations: ['author', 'tags', 'author.books', 'tags.books'],
    linkableRelations: ['tags'],
  };
  const authors: CrudOptions<Author> = {
    entity: Author,
    endpoint: '/authors',
    scope: ownTeam,
    enablePagination: true,
    filterableFields: ['name', 'email', 'books.title'],
    sortableFields: ['name', 'email'],
    includableRelations: ['books'],
    fieldPermissions: { email: { read: ['ADMIN'] } },
  };
  const tags: CrudOptions<Tag> = {
    entity: Tag,
    endpoint: '/tags',
    enablePagination: true,
    includableRelations: ['books'],
  };

  const [ONE, TWO, THREE, OTHERS] = [1, 2, 3, 4];

  async function fill({ dataSource }: CrudService): Promise<void> {
    await dataSource.getRepository(Author).insert([
      { name: 'Ann', email: 'ann@x', team: 1 },
      { name: 'Bob', email: 'bob@x', team: 2 },
    ]);
    const [red, blue] = await dataSource.getRepository(Tag).save([{ label: 'red' }, { label: 'blue' }]);
    const [ann, bob] = [{ id: 1 }, { id: 2 }] as Author[];
    await dataSource.getRepository(Book).save([
      { title: '100%', done: false, rank: 0, team: 1, author: ann!, tags: [red!, blue!], meta: { a: { b: 1, c: 2 } } },
      { title: 'a_b', done: true, rank: 1, team: 1, author: bob!, tags: [red!] },
      { title: 'axb', done: false, rank: null, note: 'n', team: 1, author: null, tags: [] },
      { title: 'theirs', done: false, rank: 5, team: 2, author: ann!, tags: [blue!] },
    ]);
  }

  const titlesOf = (answer: Answer): string[] => {
    if (answer.status !== 200) throw new Error(answer.text);
    return (data(answer) as { title: string }[]).map(({ title }) => title);
  };

  async function startBooks(platform: Platform, database: DatabaseName): Promise<CrudService> {
    const service = await startCrud(platform, {
      database,
      entities: [Author, Tag, Book],
      resources: [books, authors, tags],
      imports: [authModule({ defaultAccess: 'public' })],
    });
    await fill(service);
    return service;
  }

  describe.each(DATABASES)('on %s', (database) => {
    let service: CrudService;
    let client: Client;
    beforeAll(async () => {
      service = await startBooks('fastify', database);
      client = as(service.app, user);
    });
    afterAll(() => service.close());

    const get = (path: string): Promise<Answer> => client.get(path);
    const list = async (query: string): Promise<string[]> => titlesOf(await get(`/books?${query}`));
    const rows = (): Promise<unknown> => service.dataSource.query('SELECT * FROM book ORDER BY id');

    it.each([
      'title;DROP TABLE book',
      'title,(SELECT 1)',
      '(CASE WHEN 1=1 THEN title ELSE id END)',
      'title DESC',
      'record.title',
      'author.passwordHash',
      "title'",
      'id',
      '__proto__',
      'constructor',
    ])('[7.2] nestjsx#849, DRF ordering: sort=%s is no SQL and no other column', async (sort) => {
      expect(wrongFields(await get(`/books?${new URLSearchParams({ sort })}`))).toEqual(['sort']);
    });

    it.each([
      'author.passwordHash',
      'author.team',
      'passwordHash',
      'team',
      'record.title',
      'title) OR (1=1',
      'title = title --',
      '__proto__',
      'constructor.prototype',
      'hasOwnProperty',
    ])(
      '[7.1] dataui dotted names, zenstack#1644, strapi#11869: filter[%s] is no SQL and no other column',
      async (name) => {
        for (const parameter of [`filter[${name}]`, `filter[or][0][${name}]`, `filter[${name}][ne]`])
          expect(wrongFields(await get(`/books?${new URLSearchParams({ [parameter]: '1' })}`))).toEqual([parameter]);
      },
    );

    it('[7.1] a filter on an excluded column finds nothing out', async () => {
      for (const query of ['filter[email]=ann@x', 'filter[email][ne]=x', 'sort=email', 'filter[not][email]=x'])
        expect((await get(`/authors?${query}`)).status).toBe(400);
      expect((await get('/books?filter[author.email]=ann@x')).status).toBe(400);
    });

    it('[7.1] feathers#404: groups do not escape the scope', async () => {
      for (const query of [
        'filter[or][0][title]=theirs&filter[or][1][rank]=5',
        'filter[not][title]=x&filter[or][0][id]=4',
        'filter[or][0][id][gt]=0&filter[or][1][id]=4',
        'filter[and][0][or][0][title]=theirs&filter[and][0][or][1][id][gte]=1',
      ])
        expect(await list(query)).not.toContain('theirs');
      expect((await get('/books/count?filter[or][0][id]=4&filter[or][1][id]=1')).json).toMatchObject({
        data: { count: 1 },
      });
    });

    it('[7.1] nestjs-query#320, #355: relation filters find nothing through records of others, at any depth', async () => {
      expect(await list('filter[author.name]=Bob')).toEqual([]);
      expect(await list('filter[author.books.title]=theirs')).toEqual([]);
      expect(titlesOf(await get('/authors?filter[books.title]=theirs'))).toEqual([]);
      expect(await list('filter[not][author.name]=Bob')).toEqual(['100%', 'a_b', 'axb']);
    });

    it('[7.4] nestjs-query cda8127, zenstack#814: an include applies the policy of its own resource', async () => {
      const included = data(
        await get('/books?include=author,author.books,tags.books&fields=title&fields[tags]=label'),
      ) as {
        author: unknown;
        tags: { books: { title: string }[] }[];
      }[];
      expect(included.map(({ author }) => author)).toEqual([
        expect.objectContaining({ name: 'Ann', books: [expect.objectContaining({ title: '100%' })] }),
        null,
        null,
      ]);
      expect(JSON.stringify(included)).not.toMatch(/theirs|@x|canary/);
      expect(JSON.stringify(data(await get('/tags?include=books')))).not.toContain('theirs');
    });

    it('[7.4] nestjs-paginate#1105, #1029: a filter on a relation does not trim what is included', async () => {
      const [book] = data(await get('/books?filter[tags.label]=blue&include=tags&fields[tags]=label')) as object[];
      expect(book).toMatchObject({ title: '100%', tags: [{ label: 'red' }, { label: 'blue' }] });
    });

    it('[4.4] nestjsx#777, nestjs-paginate#559, doug-martin#954: joins change neither the size nor the total of a page', async () => {
      const query =
        'filter[or][0][tags.label][in]=red,blue&filter[or][1][author.name]=Ann&include=tags,author.books&sort=title';
      const page = async (number: number): Promise<Answer> => get(`/books?${query}&size=1&page=${number}`);
      const [first, second, third] = [await page(1), await page(2), await page(3)];
      expect([first, second, third].map(titlesOf)).toEqual([['100%'], ['a_b'], []]);
      expect(first.json).toMatchObject({ metadata: { pagination: { total: 2, totalPages: 2 } } });
    });

    it('[8.1] nestjsx#538, #734: PUT, PATCH and DELETE of the record of another caller change nothing', async () => {
      const before = await rows();
      for (const answer of [
        await client.put(`/books/${OTHERS}`, { title: 'mine', team: 1, tagsIds: [] }),
        await client.put(`/books/${OTHERS}`, { id: OTHERS, title: 'mine', team: 1 }),
        await client.patch(`/books/${OTHERS}`, { team: 1 }),
        await client.delete(`/books/${OTHERS}`),
        await client.post(`/books/${OTHERS}/restore`),
      ])
        expect(answer.status).toBe(404);
      for (const team of [2, 0]) expect((await client.post('/books', { title: 'x', team })).status).toBe(403);
      expect((await client.patch(`/books/${ONE}`, { team: 2 })).status).toBe(403);
      expect(wrongFields(await client.post('/books', { id: OTHERS, title: 'x', team: 1 }))).toEqual(['id']);
      expect(await rows()).toEqual(before);
    });

    it('[8.1] SDR#724, SDR#1294, SDR#709: PATCH clears with null, merges objects and keeps collections', async () => {
      const patched = async (json: object): Promise<unknown> => data(await client.patch(`/books/${ONE}`, json));
      expect(await patched({ note: 'x' })).toMatchObject({ note: 'x', rank: 0, done: false, tagsIds: [1, 2] });
      expect(await patched({ note: null })).toMatchObject({ note: null, title: '100%', tagsIds: [1, 2] });
      expect(await patched({ meta: { a: { b: null } } })).toMatchObject({ meta: { a: { c: 2 } } });
      expect(await patched({ meta: { a: { b: 1 } } })).toMatchObject({ meta: { a: { b: 1, c: 2 } } });
      expect(wrongFields(await client.patch(`/books/${ONE}`, { title: null }))).toEqual(['title']);
    });

    it.each<[query: string, found: string[]]>([
      ['filter[title][contains]=%25', ['100%']],
      ['filter[title][icontains]=_', ['a_b']],
      ['filter[title][startsWith]=a_', ['a_b']],
      ['filter[title][endsWith]=%25', ['100%']],
      ['filter[title][icontains]=!', []],
      ['filter[title][contains]=%5C', []],
    ])('[7.1] nestjs-paginate, dataui: wildcards are literal in %s', async (query, found) => {
      expect(await list(query)).toEqual(found);
      const text = new URLSearchParams(query).values().next().value!;
      expect(titlesOf(await get(`/books/search?${new URLSearchParams({ q: text })}`))).toEqual(
        found.length > 0 && text.startsWith('a') ? ['a_b'] : found,
      );
    });

    it('[8.4] dataui#47, nestjsx#803: callers do not choose to see deleted records', async () => {
      await client.delete(`/books/${THREE}`);
      for (const query of ['deleted=with', 'deleted=only', 'includeDeleted=1', 'filter[deletedAt][isNull]=false'])
        expect((await get(`/books?${query}`)).status).toBe(400);
      expect(await list('')).not.toContain('axb');
      expect((await client.patch(`/books/${THREE}`, { rank: 3 })).status).toBe(404);
      expect((await client.delete(`/books/${THREE}?purge=true`)).status).toBe(400);
      expect((await client.post(`/books/${THREE}/restore`)).status).toBe(200);
    });

    it('[7.9] nestjs-paginate#1139, strapi#16172: a misspelt parameter is not ignored', async () => {
      for (const query of [
        'filters[done]=true',
        'filter[done][equals]=true',
        'limit=5',
        'orderBy=title',
        'join=author',
        's={}',
      ])
        expect((await get(`/books?${query}`)).status).toBe(400);
    });
  });

  describe.each(PLATFORMS)('on %s', (platform) => {
    let service: CrudService;
    let client: Client;
    beforeAll(async () => {
      service = await startBooks(platform, 'sqlite');
      client = as(service.app, user);
    });
    afterAll(() => service.close());

    const get = (path: string): Promise<Answer> => client.get(path);
    const list = async (query: string): Promise<string[]> => titlesOf(await get(`/books?${query}`));
    const rows = (): Promise<unknown> => service.dataSource.query('SELECT * FROM book ORDER BY id');

    it.each<[query: string, found: string[]]>([
      ['filter[done]=false', ['100%', 'axb']],
      ['filter[rank]=0', ['100%']],
      ['filter[rank][lt]=0', []],
      ['filter[note]=', []],
      ['filter[note][isNull]=false', ['axb']],
    ])('[7.1] nestjs-query REST, nestjsx#722: %s is not dropped as falsy, on either platform', async (query, found) => {
      expect(await list(query)).toEqual(found);
    });

    it('[8.2] feathers#1283, #1879, PostgREST#4352: no request changes records that it does not name', async () => {
      const before = await rows();
      for (const method of ['DELETE', 'PATCH', 'PUT'])
        for (const path of ['/books', '/books/', '/books?filter[id]=1', '/books/null', '/books/*', '/books/1,2']) {
          const { status } = await client.request(method, path, { json: { title: 'x', team: 1 } });
          expect([method, path, status === 404 || status === 400 || status === 405]).toEqual([method, path, true]);
        }
      for (const query of ['filter[title]=x', 'limit=1', 'purge=true', 'author.name=Bob'])
        expect((await client.delete(`/books/${ONE}?${query}`)).status).toBe(400);
      expect(await rows()).toEqual(before);
    });

    it('[8.1] CVE-2017-8046: the path of a JSON Patch is not evaluated', async () => {
      const json = [{ op: 'replace', path: 'T(java.lang.Runtime)/title', value: 'x' }];
      const headers = { 'content-type': 'application/json-patch+json' };
      expect((await client.request('PATCH', `/books/${ONE}`, { json, headers })).status).toBe(415);
      expect((await client.request('PATCH', `/books/${ONE}`, { json })).status).toBe(400);
    });

    it.each(['__proto__', 'constructor', 'prototype'])(
      '[7.9] CVE-2022-24999, qs: %s in a name reaches no prototype',
      async (name) => {
        for (const parameter of [
          `filter[${name}][polluted]`,
          `filter[title][${name}]`,
          `filter[or][${name}][title]`,
          `${name}[polluted]`,
          name,
          `fields[${name}]`,
        ])
          expect((await get(`/books?${new URLSearchParams({ [parameter]: '1' })}`)).status).toBe(400);
        const body = `{"title":"x","team":1,"${name}":{"polluted":1},"meta":{"${name}":{"polluted":1}}}`;
        expect((await client.request('POST', '/books', { json: JSON.parse(body) as object })).status).toBe(400);
        const meta = JSON.parse(`{"${name}":{"polluted":1}}`) as object;
        // Fastify's parser refuses some of these names.
        expect((await client.patch(`/books/${TWO}`, { meta })).status).toBeLessThan(401);
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      },
    );

    it.each([
      'filter[title][]=x',
      'filter[title][0]=x',
      'filter[title]=x&filter[title]=y',
      'page[]=1',
      'sort[]=title',
      'filter[]=x',
      'filter=x',
    ])('[7.1] CVE-2025-15284, qs: %s is no array', async (query) => {
      expect((await get(`/books?${query}`)).status).toBe(400);
    });
  });
});

describe('validation, overridden operations and batches', () => {
  @Entity()
  class Team {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ length: 40 }) name!: string;
  }

  @Entity()
  @Unique(['name', 'room'])
  class Member {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ length: 40 }) @IsNotEmpty() @MaxLength(10) name!: string;
    @Column({ length: 40 }) @IsEmail() email!: string;
    @Column() room!: number;
    @Column({ type: 'int' }) ownerId!: number;
    @ManyToOne(() => Team, { nullable: true }) team!: Team | null;
  }

  const options = {
    entity: Member,
    endpoint: '/members',
    owner: { field: 'ownerId', reads: true },
    enableBatch: true,
    includableRelations: ['team'],
    filterableFields: ['name', 'team.name'],
    fieldPermissions: { teamId: { read: 'never' } },
  } as const satisfies CrudOptions<Member>;

  class MembersController extends CrudController(options) {
    @Post()
    override create(body: JsonObject) {
      return super.create({ ...body, room: body['room'] ?? 1 });
    }

    @Patch(':id')
    override patch(id: string, body: JsonObject) {
      return super.patch(id, body);
    }
  }

  const [ANN, BOB, THEIRS] = [1, 2, 3];

  async function startMembers(platform: Platform, database: DatabaseName): Promise<CrudService> {
    const service = await startCrud(platform, {
      database,
      entities: [Team, Member],
      resources: [MembersController, { entity: Team, endpoint: '/teams' }],
      imports: [authModule({ defaultAccess: 'public' })],
    });
    await service.dataSource.getRepository(Team).insert({ name: 'Red' });
    await service.dataSource.getRepository(Member).insert([
      { name: 'Ann', email: 'ann@x.org', room: 1, ownerId: 1, team: { id: 1 } },
      { name: 'Bob', email: 'bob@x.org', room: 1, ownerId: 1 },
      { name: 'Theirs', email: 'their@x.org', room: 2, ownerId: 2 },
    ]);
    return service;
  }

  describe.each(DATABASES)('on %s', (database) => {
    let service: CrudService;
    let client: Client;
    beforeAll(async () => {
      service = await startMembers('fastify', database);
      client = as(service.app, { sub: 1, roles: ['USER'] });
    });
    afterAll(() => service.close());

    const rows = (): Promise<unknown> => service.dataSource.query('SELECT * FROM member ORDER BY id');

    it('[8.1] nestjsx#384, #423: PATCH checks what is sent, PUT the whole record', async () => {
      const patched = await client.patch(`/members/${ANN}`, { name: 'Anna' });
      expect(data(patched)).toMatchObject({ name: 'Anna', email: 'ann@x.org' });
      expect(wrongFields(await client.patch(`/members/${ANN}`, { name: '' }))).toEqual(['name']);
      expect(wrongFields(await client.patch(`/members/${ANN}`, { email: 'none' }))).toEqual(['email']);
      expect(wrongFields(await client.put(`/members/${ANN}`, { name: 'Ann' }))).toEqual(['email', 'room']);
      await client.patch(`/members/${ANN}`, { name: 'Ann' });
    });

    it('[8.2] nestjsx#244: each item of a batch is checked as a single record is', async () => {
      const before = await rows();
      const both = (item: object) => client.patch('/members/batch', { items: [{ id: ANN, name: 'x' }, item] });
      expect((await both({ id: THEIRS, name: 'mine' })).status).toBe(404);
      expect(wrongFields(await both({ id: BOB, email: 'none' }))).toEqual(['items[1].email']);
      expect(wrongFields(await both({ id: BOB, ownerId: 2 }))).toEqual(['items[1].ownerId']);
      expect(wrongFields(await both({ name: 'all' }))).toEqual(['items[1].id']);
      expect((await client.delete(`/members/batch?ids=${ANN},${THEIRS}`)).status).toBe(404);
      expect((await client.delete('/members/batch')).status).toBe(400);
      expect((await client.delete('/members/batch?filter[name]=Ann')).status).toBe(400);
      expect(await rows()).toEqual(before);
    });

    it('[8.1] DRF#2026: PATCH of one column of a unique pair is 409', async () => {
      const before = await rows();
      expect((await client.patch(`/members/${BOB}`, { name: 'Ann' })).status).toBe(409);
      expect((await client.patch('/members/batch', { items: [{ id: BOB, name: 'Ann' }] })).status).toBe(409);
      expect(await rows()).toEqual(before);
      expect((await client.patch(`/members/${BOB}`, { name: 'Ann', room: 9 })).status).toBe(200);
      expect((await client.patch(`/members/${BOB}`, { name: 'Bob', room: 1 })).status).toBe(200);
    });

    it('[9.3] remult#876: a reference that the caller cannot read does not show in answers', async () => {
      const answers = await Promise.all(
        ['/members', `/members/${ANN}`].map(async (path) => (await client.get(path)).text),
      );
      for (const text of [...answers, (await client.patch(`/members/${ANN}`, { teamId: 1 })).text])
        expect(text).not.toContain('teamId');
      expect((await client.get('/members?fields=teamId')).status).toBe(400);
      for (const query of ['include=team', 'filter[team.name]=Red'])
        expect([query, (await client.get(`/members?${query}`)).status]).toEqual([query, 400]);
    });
  });

  describe.each(PLATFORMS)('on %s', (platform) => {
    let service: CrudService;
    let client: Client;
    beforeAll(async () => {
      service = await startMembers(platform, 'sqlite');
      client = as(service.app, { sub: 1, roles: ['USER'] });
    });
    afterAll(() => service.close());

    const rows = (): Promise<unknown> => service.dataSource.query('SELECT * FROM member ORDER BY id');

    it('[8.9] nestjsx#590, #576, #414: overridden operations keep validation and owner', async () => {
      const before = await rows();
      expect(wrongFields(await client.post('/members', { name: '', email: 'none' }))).toEqual(['email', 'name']);
      expect(wrongFields(await client.post('/members', { name: 'x', email: 'x@x.org', ownerId: 2 }))).toEqual([
        'ownerId',
      ]);
      expect(wrongFields(await client.patch(`/members/${ANN}`, { email: 'none', admin: true }))).toEqual([
        'admin',
        'email',
      ]);
      expect((await client.patch(`/members/${THEIRS}`, { name: 'mine' })).status).toBe(404);
      expect(await rows()).toEqual(before);
    });

    it('[4.6] CVE-2024-21520: markup in a record is answered as JSON that no browser takes for a page', async () => {
      const name = '<b>1</b>';
      const created = await client.post('/members', { name, email: 'b@x.org', room: 3 });
      expect(data(created)).toMatchObject({ name });
      const { id } = data(created) as { id: number };
      for (const path of ['/members', `/members/${id}`, `/members/${encodeURIComponent(name)}`]) {
        const { headers } = await client.request('GET', path, { headers: { accept: 'text/html' } });
        expect(headers['content-type']).toMatch(/^application\/json/);
      }
      expect((await client.delete(`/members/${id}`)).status).toBe(200);
    });
  });
});
