/** Included relations on each database, through compiled statements and through the repository. */
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  JoinColumn,
  PrimaryGeneratedColumn,
  type Relation,
} from 'typeorm';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { startCrud, success, wrongFields } from './service.js';
import { startTwins, type Twins } from './twins.js';

function declare(database: DatabaseName) {
  @Entity()
  class Author {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({ length: 20 })
    name!: string;

    @Column({ type: 'varchar', length: 20, select: false, nullable: true })
    secret!: string | null;

    @DeleteDateColumn()
    deletedAt!: Date | null;

    @OneToMany('Article', 'author')
    articles!: Relation<Article>[];

    @OneToOne('Profile', 'author')
    profile!: Relation<Profile> | null;
  }

  @Entity()
  class Profile {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({ length: 20 })
    motto!: string;

    @OneToOne(() => Author, ({ profile }) => profile)
    @JoinColumn()
    author!: Author;
  }

  @Entity()
  class Tag {
    @PrimaryGeneratedColumn('uuid')
    id!: string;

    @Column({ length: 20 })
    word!: string;

    @ManyToMany('Article', 'tags')
    articles!: Relation<Article>[];
  }

  @Entity()
  class Article {
    @PrimaryGeneratedColumn({ type: database === 'sqlite' ? 'integer' : 'bigint' } as never)
    id!: string;

    @Column({ length: 20 })
    title!: string;

    @ManyToOne(() => Author, ({ articles }) => articles, { nullable: true })
    author!: Author | null;

    @ManyToOne(() => Article, ({ answers }) => answers, { nullable: true })
    parent!: Relation<Article> | null;

    @OneToMany(() => Article, ({ parent }) => parent)
    answers!: Relation<Article>[];

    @ManyToMany(() => Tag, ({ articles }) => articles)
    @JoinTable()
    tags!: Tag[];
  }

  const resources = [
    {
      entity: Article,
      endpoint: '/articles',
      enablePagination: true,
      enableSearch: true,
      searchableFields: ['title'],
      filterableFields: ['title', 'author.name', 'tags.word', 'parent.author.name'],
      includableRelations: ['author', 'author.profile', 'tags', 'tags.articles.author', 'parent', 'answers'],
    },
    {
      entity: Author,
      endpoint: '/authors',
      maxListSize: 9000,
      includableRelations: ['articles', 'profile'],
      maxIncluded: 2,
    },
    { entity: Tag, endpoint: '/tags', maxListSize: 9000, includableRelations: ['articles'] },
  ] as const;

  return { entities: [Author, Profile, Tag, Article], resources: [...resources], Article };
}

const WIDE = '9007199254740993';
const TAGS = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];

async function fill(twins: Twins): Promise<void> {
  const { driver } = twins.compiled.dataSource;
  const insert = async (table: string, columns: string[], rows: unknown[][]): Promise<void> => {
    const names = columns.map((name) => driver.escape(name)).join(', ');
    const places = columns.map((_, index) => driver.createParameter('', index)).join(', ');
    const sql = `INSERT INTO ${driver.escape(table)} (${names}) VALUES (${places})`;
    for (const row of rows) await twins.query(sql, row);
  };
  await insert(
    'author',
    ['id', 'name', 'secret', 'deletedAt'],
    [
      [1, 'Ann', 'x', null],
      [2, 'Bob', null, null],
      [3, 'Gone', null, '2026-01-01 00:00:00'],
    ],
  );
  await insert('profile', ['id', 'motto', 'authorId'], [[1, 'Write', 1]]);
  await insert(
    'tag',
    ['id', 'word'],
    [
      [TAGS[1], 'blue'],
      [TAGS[0], 'red'],
    ],
  );
  await insert(
    'article',
    ['id', 'title', 'authorId', 'parentId'],
    [
      ['1', 'One', 1, null],
      ['2', 'Two', 1, '1'],
      ['3', 'Three', 3, '1'],
      ['4', 'Four', null, null],
      ['9007199254740992', 'Wide even', 1, null],
      [WIDE, 'Wide odd', 2, '9007199254740992'],
    ],
  );
  await insert(
    'article_tags_tag',
    ['articleId', 'tagId'],
    [
      ['1', TAGS[0]],
      ['1', TAGS[1]],
      ['2', TAGS[1]],
      [WIDE, TAGS[0]],
    ],
  );
}

describe.each(DATABASES)('[7.4] include on %s', (database) => {
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins('express', { database, ...declare(database) });
    await fill(twins);
  });
  afterAll(() => twins.close());

  const one = async (path: string): Promise<unknown> => {
    const { status, json } = await twins.get(path);
    expect([status, json.message]).toEqual([200, expect.anything()]);
    return json.data as unknown;
  };

  it('adds a to-one as an object or null', async () => {
    expect(await one('/articles/1?include=author')).toEqual({
      id: 1,
      title: 'One',
      authorId: 1,
      parentId: null,
      author: { id: 1, name: 'Ann' },
    });
    expect(await one('/articles/4?include=author,parent')).toMatchObject({ author: null, parent: null });
    expect(await one('/authors/1?include=profile')).toMatchObject({ profile: { id: 1, motto: 'Write', authorId: 1 } });
    expect(await one('/authors/2?include=profile')).toMatchObject({ profile: null });
  });

  it('[8.4] shows no soft-deleted record', async () => {
    expect(await one('/articles/3?include=author')).toMatchObject({ authorId: 3, author: null });
  });

  it('adds a to-many as an array in the order of the key, at most maxIncluded for each parent', async () => {
    expect(await one('/authors?include=articles&fields[articles]=title')).toEqual([
      { id: 1, name: 'Ann', articles: [{ title: 'One' }, { title: 'Two' }] },
      { id: 2, name: 'Bob', articles: [{ title: 'Wide odd' }] },
    ]);
    expect(await one('/tags?include=articles&fields[articles]=id')).toEqual([
      { id: TAGS[0], word: 'red', articles: [{ id: 1 }, { id: WIDE }] },
      { id: TAGS[1], word: 'blue', articles: [{ id: 1 }, { id: 2 }] },
    ]);
    expect(await one('/articles?include=tags&fields=title&fields[tags]=word')).toEqual([
      { title: 'One', tags: [{ word: 'red' }, { word: 'blue' }] },
      { title: 'Two', tags: [{ word: 'blue' }] },
      { title: 'Three', tags: [] },
      { title: 'Four', tags: [] },
      { title: 'Wide even', tags: [] },
      { title: 'Wide odd', tags: [{ word: 'red' }] },
    ]);
  });

  it('adds at most 100 records of a to-many by default', async () => {
    const { driver } = twins.compiled.dataSource;
    const names = ['id', 'title', 'authorId', 'parentId'].map((name) => driver.escape(name)).join(', ');
    const answers = Array.from({ length: 101 }, (_, index) => `(${1_000 + index}, 'answer', NULL, 4)`).join();
    await twins.query(`INSERT INTO ${driver.escape('article')} (${names}) VALUES ${answers}`);
    const { answers: included } = (await one('/articles/4?include=answers&fields[answers]=id')) as {
      answers: object[];
    };
    expect(included).toEqual(Array.from({ length: 100 }, (_, index) => ({ id: 1_000 + index })));
    await twins.query(`DELETE FROM ${driver.escape('article')} WHERE title = 'answer'`);
  });

  it('follows self relations, and keys beyond 53 bits exactly', async () => {
    expect(await one('/articles?include=parent,answers&fields=id&fields[parent]=id&fields[answers]=id')).toEqual([
      { id: 1, parent: null, answers: [{ id: 2 }, { id: 3 }] },
      { id: 2, parent: { id: 1 }, answers: [] },
      { id: 3, parent: { id: 1 }, answers: [] },
      { id: 4, parent: null, answers: [] },
      { id: '9007199254740992', parent: null, answers: [{ id: WIDE }] },
      { id: WIDE, parent: { id: '9007199254740992' }, answers: [] },
    ]);
  });

  it('follows relations of relations, and includes those on the way', async () => {
    const query = 'include=tags.articles.author&fields=title&fields[tags]=word&fields[tags.articles]=title';
    expect(await one(`/articles/2?${query}&fields[tags.articles.author]=name`)).toEqual({
      title: 'Two',
      tags: [
        {
          word: 'blue',
          articles: [
            { title: 'One', author: { name: 'Ann' } },
            { title: 'Two', author: { name: 'Ann' } },
          ],
        },
      ],
    });
    expect(await one('/articles/1?include=author.profile&fields=id')).toEqual({
      id: 1,
      author: { id: 1, name: 'Ann', profile: { id: 1, motto: 'Write', authorId: 1 } },
    });
  });

  it('works in searches, and for a page without records', async () => {
    const { json } = await twins.get('/articles/search?q=two&include=author&fields=title&fields[author]=name');
    expect(json.data).toEqual([{ title: 'Two', author: { name: 'Ann' } }]);
    expect(await one('/articles?include=author,tags&page=9')).toEqual([]);
  });

  it.each([
    ['include=', 'include', 'must name at least one relation'],
    ['include=autor', 'include', 'known ones are author, tags, parent, answers, author.profile'],
    ['include=author,', 'include', 'unknown relation ""'],
    ['include=author.articles', 'include', 'unknown relation "author.articles"'],
    ['fields[author]=name', 'fields[author]', 'unknown included relation'],
    ['include=author&fields[tags]=word', 'fields[tags]', 'known ones are author'],
    ['include=author&fields[author]=secret', 'fields[author]', 'known ones are id, name'],
    ['include=author&fields[author]=', 'fields[author]', 'must name at least one field'],
    ['include=author&include=', 'include', 'unknown relation ""'],
  ])('[7.2] [7.9] answers 400 for ?%s', async (query, field, message) => {
    for (const path of ['/articles', '/articles/1', '/articles/search']) {
      const answer = await twins.get(`${path}?q=x&${query}`.replace(/\?q=x&/, path.endsWith('search') ? '?q=x&' : '?'));
      expect(wrongFields(answer)).toEqual([field]);
      expect(answer.text).toContain(JSON.stringify(message).slice(1, -1));
    }
  });

  it('[7.4] takes repeated names as those separated by commas', async () => {
    const commas = await twins.get('/articles?include=author,tags&fields[author]=id,name');
    const repeated = await twins.get('/articles?include=author&include=tags&fields[author]=id&fields[author]=name');
    expect([repeated.status, repeated.json.data]).toEqual([200, commas.json.data]);
  });

  it('[7.1] a relation filter finds no soft-deleted record', async () => {
    const titles = async (filter: string): Promise<unknown> =>
      ((await one(`/articles?fields=title&filter${filter}`)) as { title: string }[]).map(({ title }) => title);
    expect(await titles('[author.name]=Ann')).toEqual(['One', 'Two', 'Wide even']);
    expect(await titles('[author.name]=Gone')).toEqual([]);
    expect(await titles('[not][author.name]=Gone')).toHaveLength(6);
    expect(await titles('[parent.author.name]=Ann')).toEqual(['Two', 'Three', 'Wide odd']);
  });
});

describe.each(PLATFORMS)('[7.4] include on %s', (platform) => {
  it('is an unknown parameter where no relation is declared', async () => {
    const { entities, Article } = declare('sqlite');
    const service = await startCrud(platform, {
      entities,
      resources: [{ entity: Article, endpoint: '/articles', enablePagination: true }],
    });
    expect(wrongFields(await service.get('/articles?include=author&fields[author]=id'))).toEqual([
      'fields[author]',
      'include',
    ]);
    expect((await service.get('/articles')).json).toEqual(success('Article list', [], expect.anything()));
    await service.close();
  });
});
