/** Many-to-one references to records that the caller may not see. */
import { CrudController, type CrudOptions, type CrudResource, type ScopeContext } from 'declarest';
import { as, type TestUser } from 'declarest/testing';
import { Column, type DataSource, DeleteDateColumn, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { DATABASES } from '../harness/databases.js';
import type { Platform } from '../harness/platforms.js';
import { type CrudParts, type CrudService, failure, startCrud } from './service.js';

@Entity()
class Author {
  @PrimaryGeneratedColumn() id!: number;
  @Column() team!: number;
  @Column({ type: 'int', nullable: true }) accountId!: number | null;
  @DeleteDateColumn() deletedAt!: Date | null;
}

@Entity()
class Book {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20, unique: true }) title!: string;
  @Column({ type: 'int', nullable: true }) rank!: number | null;
  @ManyToOne(() => Author, { nullable: true }) author!: Author | null;
}

const user: TestUser = { sub: 1, roles: ['USER'] };
const admin: TestUser = { sub: 9, roles: ['ADMIN'] };

const ownTeam = ({ user: caller }: ScopeContext) =>
  caller?.roles.includes('ADMIN') ? true : { team: Number(caller?.id ?? 0) };
const authors: CrudOptions<Author> = { entity: Author, endpoint: '/authors', maxListSize: 100, scope: ownTeam };
const books: CrudOptions<Book> = { entity: Book, endpoint: '/books', maxListSize: 100 };

const running: CrudService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

const [MINE, OTHERS, DELETED, MISSING] = [1, 2, 3, 99];

/** Book 1 is by an author whom only an administrator sees. */
async function start(
  resources: CrudResource[],
  { platform = 'express', ...more }: Partial<CrudParts> & { platform?: Platform } = {},
) {
  const imports = [authModule({ defaultAccess: 'public' })];
  const service = await startCrud(platform, { entities: [Author, Book], resources, imports, ...more });
  running.push(service);
  const { dataSource } = service;
  await dataSource.getRepository(Author).insert([
    { team: 1, accountId: 1 },
    { team: 2, accountId: 2 },
    { team: 1, accountId: 1, deletedAt: new Date() },
  ]);
  await dataSource.getRepository(Book).insert([{ title: 'one', author: { id: OTHERS } }]);
  const rows = (): Promise<unknown[]> => dataSource.query('SELECT * FROM book ORDER BY id');
  return { rows, service, of: (caller?: TestUser) => as(service.app, caller) };
}

const refusal = (operation: string): unknown => ({
  status: 409,
  json: failure(`Book cannot be ${operation}d: authorId refers to a record that does not exist`),
});

const WHERE = DATABASES.flatMap((database) => [
  { database, platform: 'express', path: 'compiled' } as const,
  { database, platform: 'fastify', path: 'repository' } as const,
]);

describe.each(WHERE)('on $database and $platform, $path', (where) => {
  it('[9.4] a written reference to a hidden record is refused as one to a record that does not exist', async () => {
    const { of, rows } = await start([books, authors], where);
    const before = await rows();
    const { post, put, patch } = of(user);
    for (const authorId of [OTHERS, DELETED, MISSING]) {
      // A taken title makes no difference.
      for (const title of ['two', 'one'])
        expect(await post('/books', { title, authorId })).toMatchObject(refusal('create') as object);
      if (authorId === OTHERS) continue;
      expect(await put('/books/1', { title: 'one', authorId })).toMatchObject(refusal('update') as object);
      expect(await patch('/books/1', { authorId })).toMatchObject(refusal('update') as object);
    }
    expect(await patch('/books/7', { authorId: OTHERS })).toMatchObject({ status: 404 });
    expect(await patch('/books/1', { authorId: OTHERS, rank: 'x' })).toMatchObject({ status: 400 });
    expect(await rows()).toEqual(before);
    expect(await patch('/books/1', { authorId: MINE })).toMatchObject({
      status: 200,
      json: { data: { authorId: MINE } },
    });
    expect(await patch('/books/1', { authorId: OTHERS })).toMatchObject(refusal('update') as object);
    expect(await of(admin).patch('/books/1', { authorId: OTHERS })).toMatchObject({ status: 200 });
    expect(await patch('/books/1', { authorId: null })).toMatchObject({
      status: 200,
      json: { data: { authorId: null } },
    });
  });

  it('[9.4] an unchanged reference to a hidden record is accepted, as GET returned it', async () => {
    const { of } = await start([books, authors], where);
    const { get, put, patch } = of(user);
    const { data } = (await get('/books/1')).json as { data: object };
    expect(await put('/books/1', { ...data, rank: 1 })).toMatchObject({
      status: 200,
      json: { data: { ...data, rank: 1 } },
    });
    expect(await patch('/books/1', { authorId: OTHERS, rank: 2 })).toMatchObject({ status: 200 });
  });

  it('[9.4] a reference that the caller cannot read is not told by sending it unchanged', async () => {
    const fields = { authorId: { read: ['ADMIN'] } } as const;
    const { of } = await start([{ ...books, fieldPermissions: fields }, authors], where);
    const { patch } = of(user);
    expect(await patch('/books/1', { authorId: OTHERS })).toMatchObject(refusal('update') as object);
    expect(await patch('/books/1', { authorId: MISSING })).toMatchObject(refusal('update') as object);
  });

  it('[9.4] an owner who alone reads a record alone can refer to it', async () => {
    const owned: CrudOptions<Author> = {
      entity: Author,
      endpoint: '/authors',
      maxListSize: 100,
      owner: { field: 'accountId', reads: true },
    };
    const { of } = await start([books, owned], where);
    expect(await of(user).post('/books', { title: 'two', authorId: OTHERS })).toMatchObject(
      refusal('create') as object,
    );
    expect(await of(user).post('/books', { title: 'two', authorId: MINE })).toMatchObject({ status: 201 });
  });

  it('[8.7] [9.4] below a parent that the caller does not see there is nothing, as below none', async () => {
    const nested = { ...books, endpoint: '/authors/:authorId/books', enableExists: true, enableCount: true };
    const { of, rows, service } = await start([nested, authors], where);
    const hidden = await service.dataSource.getRepository(Book).save({ title: 'hidden', author: { id: DELETED } });
    const before = await rows();
    const { get, post, put, patch, delete: del } = of(user);
    for (const [authorId, id] of [
      [OTHERS, 1],
      [DELETED, hidden.id],
      [MISSING, 1],
    ]) {
      const below = `/authors/${authorId}/books`;
      expect((await get(below)).json).toMatchObject({ data: [] });
      expect((await get(`${below}/count`)).json).toMatchObject({ data: { count: 0 } });
      expect((await get(`${below}/exists/${id}`)).json).toMatchObject({ data: { exists: false } });
      for (const answer of [
        await get(`${below}/${id}`),
        await put(`${below}/${id}`, { title: 'three' }),
        await patch(`${below}/${id}`, { title: 'three' }),
        await del(`${below}/${id}`),
      ])
        expect(answer).toMatchObject({ status: 404, json: failure(`Book with id ${id} not found`) });
      expect(await post(below, { title: 'two' })).toMatchObject(refusal('create') as object);
    }
    expect(await rows()).toEqual(before);
    expect((await of(admin).get(`/authors/${OTHERS}/books`)).json).toMatchObject({ data: [{ id: 1 }] });
    expect(await post(`/authors/${MINE}/books`, { title: 'two' })).toMatchObject({ status: 201 });
    expect((await get(`/authors/${MINE}/books`)).json).toMatchObject({ data: [{ title: 'two' }] });
  });

  it('[9.1] a related scope that queries the database does not run inside the transaction of a write', async () => {
    const queried: { database?: DataSource } = {};
    const scope = async (): Promise<{ team: number }> => {
      await queried.database?.query('SELECT 1');
      return { team: 1 };
    };
    const scoped: CrudOptions<Book> = { ...books, scope: () => ({ rank: 1 }) };
    const { of, service } = await start([scoped, { ...authors, scope }], where);
    queried.database = service.dataSource;
    // Each request would hold a connection and wait for another one, and none would ever be answered.
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        of(user).post('/books', { title: `book ${index}`, rank: 1, authorId: MINE }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  });
});

it('[9.4] without a resource of the author, only deleted ones are refused', async () => {
  const { of } = await start([books]);
  expect(await of(user).post('/books', { title: 'two', authorId: DELETED })).toMatchObject(refusal('create') as object);
  expect(await of(user).post('/books', { title: 'two', authorId: OTHERS })).toMatchObject({ status: 201 });
});

it('[9.5] of several resources on the author, one that shows the record is enough, or the named one decides', async () => {
  const others: CrudOptions<Author> = { ...authors, endpoint: '/others', scope: () => ({ team: 2 }) };
  const several = await start([books, authors, others]);
  expect(await several.of(user).post('/books', { title: 'two', authorId: OTHERS })).toMatchObject({ status: 201 });
  expect(await several.of(user).post('/books', { title: 'three', authorId: DELETED })).toMatchObject(
    refusal('create') as object,
  );
  class Team extends CrudController<Author>(authors) {}
  const named = await start([
    { ...books, includableRelations: [{ relation: 'author', controller: Team }] },
    Team,
    others,
  ]);
  expect(await named.of(user).post('/books', { title: 'two', authorId: OTHERS })).toMatchObject(
    refusal('create') as object,
  );
});

it('[9.4] the owner that the server sets is not looked up', async () => {
  const hidden: CrudOptions<Author> = { ...authors, scope: () => false };
  const { of } = await start([{ ...books, owner: 'authorId' }, hidden]);
  expect(await of(user).post('/books', { title: 'two' })).toMatchObject({
    status: 201,
    json: { data: { authorId: 1 } },
  });
  expect((await of(user).post('/books', { title: 'two', authorId: 1 })).json).toMatchObject({
    errors: [{ field: 'authorId', message: 'you may not write this field' }],
  });
});
