/** What applies to the related records of includes and relation filters: the resource of their entity. */
import { getRepositoryToken } from '@nestjs/typeorm';
import { CrudController, type CrudOptions, type CrudResource, type ScopeContext } from 'declarest';
import { as, type TestUser } from 'declarest/testing';
import {
  Column,
  DataSource,
  Entity,
  type QueryRunner,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
  Repository,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { DATABASES } from '../harness/databases.js';
import { crudError, startCrud, success, wrongFields, type CrudParts, type CrudService } from './service.js';

@Entity()
class Author {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @Column({ length: 20 }) email!: string;
  @Column() team!: number;
  @OneToMany('Book', 'author') books!: Relation<Book>[];
}

/** No resource can serve it: nothing generates its key. */
@Entity()
class Genre {
  @PrimaryColumn({ length: 10 }) code!: string;
  @Column({ length: 20 }) label!: string;
  @OneToMany('Book', 'genre') books!: Relation<Book>[];
}

@Entity()
class Book {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) title!: string;
  @ManyToOne(() => Author, ({ books }) => books, { nullable: true }) author!: Author | null;
  @ManyToOne(() => Genre, ({ books }) => books, { nullable: true }) genre!: Genre | null;
}

const ENTITIES = [Author, Genre, Book];
const user: TestUser = { sub: 1, roles: ['USER'] };
const editor: TestUser = { sub: 2, roles: ['EDITOR'] };

const books = (more: Partial<CrudOptions<Book>> = {}): CrudOptions<Book> => ({
  entity: Book,
  endpoint: '/books',
  maxListSize: 500,
  filterableFields: ['title', 'author.name', 'author.email', 'genre.label'],
  // The types know related entities by their `id`, which a genre has not.
  includableRelations: ['author', 'author.books', 'genre' as never, 'genre.books' as never],
  ...more,
});
const authors: CrudOptions<Author> = {
  entity: Author,
  endpoint: '/authors',
  maxListSize: 500,
  includableRelations: ['books'],
  scope: ({ user: caller }: ScopeContext) => ({ team: Number(caller?.id ?? 0) }),
  fieldPermissions: { email: { read: ['EDITOR'] } },
};

const running: CrudService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

/** Author 1 is of team 1, author 2 of team 2; both have a book, and the third one has none. */
async function start(resources: CrudResource[], more: Partial<CrudParts> = {}) {
  const service = await startCrud('express', {
    entities: ENTITIES,
    resources,
    imports: [authModule({ defaultAccess: 'public' })],
    ...more,
  });
  running.push(service);
  const of = <T extends object>(entity: new () => T) => service.dataSource.getRepository(entity) as Repository<never>;
  await of(Author).insert([
    { name: 'Ann', email: 'a@x', team: 1 },
    { name: 'Bob', email: 'b@x', team: 2 },
  ] as never);
  await of(Genre).insert([{ code: 'Ä b', label: 'Poems' }] as never);
  await of(Book).insert([
    { title: 'one', author: { id: 1 }, genre: { code: 'Ä b' } },
    { title: 'two', author: { id: 2 } },
    { title: 'three', author: { id: 1 } },
  ] as never);
  return { service, of: (caller?: TestUser) => as(service.app, caller) };
}

const data = ({ json }: { json: unknown }): unknown => (json as { data: unknown }).data;
const titles = (answer: { json: unknown }): string[] => (data(answer) as { title: string }[]).map(({ title }) => title);

const PATHS = DATABASES.flatMap((database) =>
  (['compiled', 'repository'] as const).map((path) => ({ database, path })),
);

describe.each(PATHS)('on $database, $path', (where) => {
  it('[7.4] [9.1] [9.5] an include shows what the scope and the fields of the related resource allow', async () => {
    const { of } = await start([books(), authors], where);
    expect(data(await of(user).get('/books?include=author&fields=title'))).toEqual([
      { title: 'one', author: { id: 1, name: 'Ann', team: 1 } },
      { title: 'two', author: null },
      { title: 'three', author: { id: 1, name: 'Ann', team: 1 } },
    ]);
    expect(data(await of(editor).get('/books/2?include=author&fields=title'))).toEqual({
      title: 'two',
      author: { id: 2, name: 'Bob', email: 'b@x', team: 2 },
    });
    expect(data(await of().get('/books/1?include=author.books&fields=title'))).toEqual({ title: 'one', author: null });
    expect(wrongFields(await of(user).get('/books?include=author&fields[author]=email'))).toEqual(['fields[author]']);
  });

  it('[7.1] [9.1] [9.5] a relation filter finds what the scope and the fields of the related resource allow', async () => {
    const { of } = await start([books(), authors], where);
    expect(titles(await of(user).get('/books?filter[author.name]=Ann'))).toEqual(['one', 'three']);
    expect(titles(await of(user).get('/books?filter[author.name]=Bob'))).toEqual([]);
    expect(titles(await of(user).get('/books?filter[not][author.name]=Bob'))).toEqual(['one', 'two', 'three']);
    expect(titles(await of(editor).get('/books?filter[or][0][author.email]=b@x'))).toEqual(['two']);
    const refused = (await of(user).get('/books?filter[author.email]=b@x')) as never;
    expect(wrongFields(refused)).toEqual(['filter[author.email]']);
    expect(JSON.stringify(refused)).not.toContain('title, author.name, author.email');
  });

  it('[9.3] who may not read the column of a relation cannot include it or filter by it', async () => {
    const { of } = await start([books({ fieldPermissions: { authorId: { read: ['EDITOR'] } } }), authors], where);
    expect(wrongFields(await of(user).get('/books?include=author'))).toEqual(['include']);
    expect(wrongFields(await of(user).get('/books?filter[author.name]=Ann'))).toEqual(['filter[author.name]']);
    expect(data(await of(editor).get('/books/2?include=author&fields[author]=name'))).toMatchObject({
      author: { name: 'Bob' },
    });
  });

  it('[9.3] below an included relation, neither can be done with a relation whose column the caller may not read', async () => {
    const resources = [
      books({ fieldPermissions: { genreId: { read: ['EDITOR'] } } as never }),
      { ...authors, includableRelations: ['books.genre' as never], filterableFields: ['books.genre.label' as never] },
    ];
    const { of } = await start(resources, where);
    expect(wrongFields(await of(user).get('/authors?include=books.genre'))).toEqual(['include']);
    const filtered = await of(user).get('/authors?filter[books.genre.label]=Poems');
    expect(wrongFields(filtered)).toEqual(['filter[books.genre.label]']);
    const editorOfTeam1 = { ...user, roles: ['EDITOR'] };
    expect(data(await of(editorOfTeam1).get('/authors?include=books.genre&fields=name'))).toMatchObject([
      { name: 'Ann', books: [{ genre: { label: 'Poems' } }, { genre: null }] },
    ]);
  });

  it('[9.3] nor can it be told from the other side of the relation', async () => {
    const hiding = books({ fieldPermissions: { authorId: { read: ['EDITOR'] } } });
    const from = { ...authors, filterableFields: ['name', 'books.title' as never] };
    const { of } = await start([hiding, from], where);
    expect(wrongFields(await of(user).get('/authors?include=books'))).toEqual(['include']);
    expect(wrongFields(await of(user).get('/authors?filter[books.title]=one'))).toEqual(['filter[books.title]']);
    const editorOfTeam1 = { ...user, roles: ['EDITOR'] };
    expect(data(await of(editorOfTeam1).get('/authors?filter[books.title]=one&include=books'))).toMatchObject([
      { name: 'Ann', books: [{ title: 'one' }, { title: 'three' }] },
    ]);
  });

  it('[7.4] an entity without a resource shows every readable column, whatever its key is', async () => {
    const { of } = await start([books()], where);
    expect(data(await of().get('/books/1?include=author,genre.books&fields=id&fields[genre.books]=title'))).toEqual({
      id: 1,
      author: { id: 1, name: 'Ann', email: 'a@x', team: 1 },
      genre: { code: 'Ä b', label: 'Poems', books: [{ title: 'one' }] },
    });
    expect(titles(await of().get('/books?filter[genre.label]=Poems'))).toEqual(['one']);
  });

  it('[9.5] of several resources on one entity, the declaration names one', async () => {
    class Everyone extends CrudController<Author>({ entity: Author, endpoint: '/everyone', maxListSize: 500 }) {}
    class Team extends CrudController<Author>(authors) {}
    const named = (controller: typeof Everyone): CrudOptions<Book> =>
      books({ includableRelations: [{ relation: 'author', controller: controller }] });
    const { of } = await start([named(Everyone), Everyone, Team], where);
    expect(data(await of(user).get('/books/2?include=author'))).toMatchObject({ author: { email: 'b@x' } });
    expect(titles(await of(user).get('/books?filter[author.name]=Bob'))).toEqual(['two']);
    const other = await start([named(Team), Everyone, Team], where);
    expect(data(await other.of(user).get('/books/2?include=author'))).toMatchObject({ author: null });
    expect(titles(await other.of(user).get('/books?filter[author.name]=Bob'))).toEqual([]);
  });
});

describe.each(DATABASES)('on %s', (database) => {
  it('[7.4] a repository that a provider replaces decides about related records too', async () => {
    class TeamRepository extends Repository<Author> {
      override createQueryBuilder(alias?: string, runner?: QueryRunner) {
        const query = super.createQueryBuilder(alias, runner);
        return alias === undefined ? query : query.where(`${alias}.team = 2`);
      }
    }
    class Authors extends CrudController<Author>({ entity: Author, endpoint: '/authors', maxListSize: 500 }) {}
    const { of } = await start([books()], {
      database,
      controllers: [Authors],
      providers: [
        {
          provide: getRepositoryToken(Author),
          inject: [DataSource],
          useFactory: ({ manager }: DataSource) => new TeamRepository(Author, manager),
        },
      ],
    });
    expect(data(await of().get('/books?include=author.books&fields=title&fields[author]=name'))).toEqual([
      { title: 'one', author: null },
      { title: 'two', author: { name: 'Bob', books: [expect.objectContaining({ title: 'two' })] } },
      { title: 'three', author: null },
    ]);
  });
});

describe('[7.4] [9.5] the service refuses to boot', () => {
  class Everyone extends CrudController<Author>({ entity: Author, endpoint: '/everyone', maxListSize: 500 }) {}
  class Nowhere extends CrudController<Author>({ entity: Author, endpoint: '/nowhere', maxListSize: 500 }) {}
  it.each<[string, Partial<CrudOptions<Book>>, string]>([
    [
      'where several resources serve the entity of an include',
      { includableRelations: ['author'], filterableFields: [] },
      'CRUD option `includableRelations` of Book must be relations to entities with one resource, got "author", for Author has several. Name the one that applies: includableRelations: [{ relation: "author", controller: … }].',
    ],
    [
      'where several resources serve the entity of a filter',
      { includableRelations: [], filterableFields: ['author.name'] },
      'CRUD option `filterableFields` of Book must be relations to entities with one resource, got "author", for Author has several. Name the one that applies: includableRelations: [{ relation: "author", controller: … }].',
    ],
    [
      'where the named controller is not registered',
      { includableRelations: [{ relation: 'author', controller: Nowhere }], filterableFields: [] },
      'CRUD option `includableRelations` of Book must be relations with a `controller` that is registered and serves Author, got `Nowhere`. Register it with CrudModule.forFeature, or name another controller of Author.',
    ],
    [
      'where an entity has no such relation',
      { includableRelations: ['autor' as never], filterableFields: [] },
      'CRUD option `includableRelations` of Book must be relations up to 3 deep, got "autor". Name relations among author, genre.',
    ],
    [
      'where a relation is deeper than three',
      { includableRelations: ['genre.books.genre.books' as never], filterableFields: [] },
      'CRUD option `includableRelations` of Book must be relations up to 3 deep, got "genre.books.genre.books". Name relations among author, genre.',
    ],
  ])('%s', async (_, options, message) => {
    const resources = [books(options), authors, Everyone];
    expect((await crudError('express', { entities: ENTITIES, resources })).message).toBe(message);
  });
});

it('[9.5] two applications in one process have resources of their own', async () => {
  const shared = books();
  const Books = CrudController<Book>(shared);
  const scoped = await start([Books, authors]);
  const open = await start([Books]);
  expect(data(await scoped.of().get('/books/1?include=author'))).toMatchObject({ author: null });
  expect(data(await open.of().get('/books/1?include=author'))).toMatchObject({ author: { name: 'Ann' } });
  expect((await scoped.service.get('/books/9')).status).toBe(404);
  expect((await open.service.get('/authors')).status).toBe(404);
  expect((await open.service.get('/books?include=genre&fields=title&filter[title]=two')).json).toEqual(
    success('Book list', [{ title: 'two', genre: null }], { truncated: false }),
  );
});
