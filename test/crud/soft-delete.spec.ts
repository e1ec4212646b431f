/** Soft deletion on each database, through both data paths, and who reaches deleted records. */
import type { ExecutionContext, Provider } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  AfterRecover,
  BeforeRecover,
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  type Relation,
  VersionColumn,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { crudError, failure, startCrud, success, wrongFields } from './service.js';
import { startTwins, type Twins } from './twins.js';

@Entity()
class Shelf {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @OneToMany('Book', 'shelf')
  books!: Relation<Book>[];

  @DeleteDateColumn()
  removedAt!: Date | null;
}

@Entity()
class Book {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  title!: string;

  @ManyToOne(() => Shelf, ({ books }) => books, { nullable: true })
  shelf!: Shelf | null;

  @ManyToMany(() => Shelf)
  @JoinTable({ name: 'book_display' })
  displays!: Shelf[];

  @VersionColumn()
  version!: number;

  @DeleteDateColumn()
  deletedAt!: Date | null;
}

const calls: string[] = [];

@Entity()
class Heard {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @BeforeRecover()
  before(): void {
    calls.push(`before ${this.name}`);
  }

  @AfterRecover()
  after(): void {
    calls.push(`after ${this.name}`);
  }
}

@Entity()
class Plain {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;
}

/** In the place of authentication: the header names the role. */
const ROLES: Provider = {
  provide: APP_GUARD,
  useValue: {
    canActivate: (context: ExecutionContext) => {
      const request = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: object }>();
      const role = request.headers['x-role'];
      if (role) request.user = { id: 1, email: '', roles: [role] };
      return true;
    },
  },
};
const ADMIN = { headers: { 'x-role': 'ADMIN' } };
const EDITOR = { headers: { 'x-role': 'EDITOR' } };

describe.each(DATABASES)('on %s', (database) => {
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins('express', {
      database,
      entities: [Book, Shelf],
      providers: [ROLES],
      resources: [
        {
          entity: Book,
          endpoint: '/api/books',
          enableExists: true,
          enableSearch: true,
          enablePagination: true,
          enableRestore: true,
          searchableFields: ['title'],
          filterableFields: ['title', 'shelf.name', 'displays.name', 'shelf.books.title', 'deletedAt'],
          sortableFields: ['deletedAt'],
          deletedRoles: ['ADMIN'],
          enableCount: true,
          enableExport: true,
          aggregatableFields: ['version'],
        },
        { entity: Shelf, endpoint: '/api/shelves', filterableFields: ['books.title'] },
      ],
    });
  });
  beforeEach(async () => {
    await twins.empty();
    for (const name of ['top', 'low']) await twins.post('/api/shelves', { name });
    for (const title of ['one', 'two', 'three']) await twins.post('/api/books', { title, shelfId: 1 });
    await twins.query('INSERT INTO book_display VALUES (1, 2)');
    expect((await twins.del('/api/books/2')).json).toEqual(success('Book deleted', null));
  });
  afterAll(() => twins.close());

  const ids = async (path: string, options?: object): Promise<number[]> => {
    const { status, json } = await twins.send('GET', path, options);
    expect([status, json.errors]).toEqual([200, undefined]);
    return json.data.map(({ id }: { id: number }) => id);
  };

  it('[8.4] hides a deleted record everywhere, and keeps its row', async () => {
    expect(await ids('/api/books')).toEqual([1, 3]);
    expect((await twins.get('/api/books')).json.metadata.pagination.total).toBe(2);
    expect(await ids('/api/books/search?title=two')).toEqual([]);
    expect((await twins.get('/api/books/exists/2')).json.data).toEqual({ exists: false });
    const missing = failure('Book with id 2 not found');
    for (const [method, json] of [['GET'], ['PUT', { title: 'x' }], ['PATCH', { title: 'x' }], ['DELETE']] as const)
      expect((await twins.send(method, '/api/books/2', json && { json })).json).toEqual(missing);
    expect(await twins.compiled.dataSource.getRepository(Book).count({ withDeleted: true })).toBe(3);
  });

  it('[8.4] hides deleted related records in relation filters', async () => {
    expect(await ids('/api/shelves?filter[books.title]=two')).toEqual([]);
    expect(await ids('/api/shelves?filter[books.title]=one')).toEqual([1]);
    expect(await ids('/api/books?filter[shelf.books.title]=two')).toEqual([]);
    expect(await ids('/api/books?filter[displays.name]=low')).toEqual([1]);
    await twins.del('/api/shelves/1');
    await twins.del('/api/shelves/2');
    for (const path of ['shelf.name]=top', 'shelf.name][ne]=x', 'displays.name]=low', 'shelf.books.title]=one'])
      expect(await ids(`/api/books?filter[${path}`)).toEqual([]);
    expect(await ids('/api/books?filter[not][shelf.name]=top')).toEqual([1, 3]);
  });

  it('[8.4] restores a record, once and again', async () => {
    const restore = (id: number | string) => twins.send('POST', `/api/books/${id}/restore`);
    const restored = await restore(2);
    const data = { id: 2, title: 'two', shelfId: 1, version: 3 };
    expect([restored.status, restored.json]).toEqual([200, success('Book restored', data)]);
    const again = await restore(2);
    expect([again.status, again.json.data]).toEqual([200, data]);
    expect(await ids('/api/books')).toEqual([1, 2, 3]);
    expect((await restore(99)).json).toEqual(failure('Book with id 99 not found'));
    expect(wrongFields(await restore('x'))).toEqual(['id']);
  });

  it('[8.4] answers deleted=with and deleted=only to the deletedRoles, with the date', async () => {
    const dated = (await twins.compiled.send('GET', '/api/books?deleted=with', ADMIN)).json;
    expect(dated.data.map(({ deletedAt }: Book) => deletedAt)).toEqual([null, expect.stringMatching(/^\d{4}-/), null]);
    for (const service of [twins.compiled, twins.repository]) {
      const { json } = await service.send('GET', '/api/books?deleted=only&fields=id,deletedAt', ADMIN);
      expect(json).toMatchObject({
        data: [{ id: 2, deletedAt: expect.any(String) }],
        metadata: { pagination: { total: 1 } },
      });
    }
    expect(await ids('/api/books/search?q=t&deleted=only&fields=id', ADMIN)).toEqual([2]);
    expect(
      await ids('/api/books?fields=id&filter[deletedAt][isNull]=false&deleted=with&sort=-deletedAt', ADMIN),
    ).toEqual([2]);
  });

  it('[8.4] [7.7] [7.8] hides deleted records from counts, aggregates and exports, unless deleted is sent', async () => {
    const read = async (query: string, options?: object): Promise<unknown[]> => [
      (await twins.send('GET', `/api/books/count?${query}`, options)).json.data.count,
      (await twins.send('GET', `/api/books/aggregate?${query}`, options)).json.data[0].count,
      (await twins.send('GET', `/api/books/export?format=csv&fields=id&${query}`, options)).text,
    ];
    expect(await read('')).toEqual([2, 2, 'id\r\n1\r\n3\r\n']);
    expect(await read('', ADMIN)).toEqual([2, 2, 'id\r\n1\r\n3\r\n']);
    expect(await read('deleted=with', ADMIN)).toEqual([3, 3, 'id\r\n1\r\n2\r\n3\r\n']);
    expect(await read('deleted=only', ADMIN)).toEqual([1, 1, 'id\r\n2\r\n']);
    for (const path of ['count?', 'aggregate?', 'export?format=csv&'])
      for (const [sent, options] of [
        ['deleted=with', EDITOR],
        ['deleted=all', ADMIN],
      ] as const)
        expect(wrongFields(await twins.send('GET', `/api/books/${path}${sent}`, options))).toEqual(['deleted']);
  });

  it('[8.4] never sends the date where deleted is not sent', async () => {
    const record = { id: 1, title: 'one', shelfId: 1, version: 1 };
    expect((await twins.send('GET', '/api/books', ADMIN)).json.data[0]).toEqual(record);
    expect((await twins.send('GET', '/api/books/1', ADMIN)).json.data).toEqual(record);
    expect((await twins.send('POST', '/api/books/1/restore', ADMIN)).json.data).toEqual(record);
    expect(wrongFields(await twins.send('GET', '/api/books/1?fields=deletedAt', ADMIN))).toEqual(['fields']);
    expect(wrongFields(await twins.send('GET', '/api/books?fields=deletedAt', ADMIN))).toEqual(['fields']);
    const put = { ...ADMIN, json: { ...record, title: 'new' } };
    expect((await twins.send('PUT', '/api/books/1', put)).json.data).toEqual({ ...record, title: 'new', version: 2 });
  });

  it('[8.4] purges a record, also a hidden one', async () => {
    for (const id of [1, 2])
      expect((await twins.send('DELETE', `/api/books/${id}?purge=true`, ADMIN)).status).toBe(200);
    expect((await twins.send('DELETE', '/api/books/3?purge=false', ADMIN)).status).toBe(200);
    for (const service of [twins.compiled, twins.repository])
      expect((await service.dataSource.getRepository(Book).find({ withDeleted: true })).map(({ id }) => id)).toEqual([
        3,
      ]);
    expect((await twins.send('DELETE', '/api/books/1?purge=true', ADMIN)).status).toBe(404);
    expect((await twins.send('DELETE', '/api/books/3', ADMIN)).status).toBe(404);
    expect(wrongFields(await twins.send('DELETE', '/api/books/3?purge=yes', ADMIN))).toEqual(['purge']);
  });

  it.each([
    ['nobody', {}],
    ['another role', EDITOR],
  ])('[8.4] deleted, purge and the date are unknown names to %s', async (_who, options) => {
    const refused = async (method: string, path: string): Promise<string[]> => {
      const answer = await twins.send(method, path, options);
      expect(answer.text).not.toMatch(/deletedAt,|, deletedAt|deleted,|, deleted"/);
      return wrongFields(answer);
    };
    expect(await refused('GET', '/api/books?deleted=with')).toEqual(['deleted']);
    expect(await refused('GET', '/api/books/search?q=t&deleted=only')).toEqual(['deleted']);
    expect(await refused('GET', '/api/books?filter[deletedAt][isNull]=true')).toEqual(['filter[deletedAt][isNull]']);
    expect(await refused('GET', '/api/books?sort=deletedAt')).toEqual(['sort']);
    expect(await refused('DELETE', '/api/books/1?purge=true')).toEqual(['purge']);
    expect(await refused('DELETE', '/api/books/99?purge=true')).toEqual(['purge']);
    expect(await ids('/api/books')).toEqual([1, 3]);
  });
});

describe.each(DATABASES)('listeners on %s', (database) => {
  it('[8.4] of recovery are called for a hidden record only', async () => {
    const service = await startCrud('express', {
      database,
      entities: [Heard],
      resources: [{ entity: Heard, endpoint: '/api/heard', enableRestore: true }],
    });
    await service.post('/api/heard', { name: 'a' });
    const restore = (id: number) => service.send('POST', `/api/heard/${id}/restore`);
    calls.length = 0;
    expect((await restore(1)).status).toBe(200);
    expect((await restore(9)).status).toBe(404);
    expect(calls).toEqual([]);
    await service.del('/api/heard/1');
    expect((await restore(1)).json.data).toEqual({ id: 1, name: 'a' });
    expect(calls).toEqual(['before a', 'after a']);
    expect((await service.get('/api/heard/1')).status).toBe(200);
    await service.close();
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  it('[8.4] returns 400 for an unknown parameter of DELETE, and 404 for restore without enableRestore', async () => {
    const service = await startCrud(platform, {
      entities: [Plain, Heard],
      resources: [
        { entity: Plain, endpoint: '/api/plain' },
        { entity: Heard, endpoint: '/api/heard' },
      ],
    });
    for (const endpoint of ['plain', 'heard']) {
      await service.post(`/api/${endpoint}`, { name: 'a' });
      expect(wrongFields(await service.del(`/api/${endpoint}/1?purge=true&x=1`))).toEqual(['purge', 'x']);
      expect((await service.get(`/api/${endpoint}/1`)).status).toBe(200);
      expect((await service.send('POST', `/api/${endpoint}/1/restore`)).status).toBe(404);
    }
    await service.close();
  });

  it.each([
    ['enableRestore', { enableRestore: true }],
    ['deletedRoles', { deletedRoles: ['ADMIN'] }],
  ])('[8.4] refuses %s for an entity without a delete date', async (option, options) => {
    const { message } = await crudError(platform, {
      entities: [Plain],
      resources: [{ entity: Plain, endpoint: '/api/plain', ...options }],
    });
    expect(message).toBe(
      `CRUD option \`${option}\` needs a @DeleteDateColumn() on Plain. Declare the column or remove the option.`,
    );
  });
});
