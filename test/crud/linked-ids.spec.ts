/** Many-to-many relations that records have as arrays of ids. */
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
  type Relation,
} from 'typeorm';
import { CrudController } from 'declarest';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { crudError, failure, startCrud, wrongFields, type CrudService } from './service.js';
import { startTwins, type Twins } from './twins.js';

@Entity()
class Tag {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  word!: string;

  @Column({ default: false })
  hidden!: boolean;

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @ManyToMany('Article', 'tags')
  articles!: Relation<Article>[];
}

@Entity()
class Mark {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ length: 20 })
  word!: string;
}

@Entity()
class Article {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  title!: string;

  @VersionColumn()
  version!: number;

  @UpdateDateColumn({ select: false })
  updated!: Date;

  @ManyToMany(() => Tag, ({ articles }) => articles)
  @JoinTable()
  tags!: Tag[];

  @ManyToMany(() => Mark)
  @JoinTable()
  marks!: Mark[];
}

const ENTITIES = [Article, Tag, Mark];
const MARKS = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'] as const;
const RESOURCES = [
  {
    entity: Article,
    endpoint: '/articles',
    enableExport: true,
    maxListSize: 500,
    linkableRelations: ['tags', 'marks'],
    includableRelations: ['tags'],
  },
  {
    entity: Tag,
    endpoint: '/tags',
    maxListSize: 500,
    linkableRelations: ['articles'],
    scope: () => ({ hidden: false }),
  },
] as const;

const BOOLEANS: Readonly<Record<DatabaseName, [string, string]>> = {
  sqlite: ['0', '1'],
  mariadb: ['0', '1'],
  postgres: ['false', 'true'],
};

/** Tags 1 to 5; 4 is hidden by the scope, and 5 is deleted. */
async function fill(query: (sql: string) => Promise<unknown>, database: DatabaseName): Promise<void> {
  const [no, yes] = BOOLEANS[database];
  const quoted = database === 'mariadb' ? '`deletedAt`' : '"deletedAt"';
  for (const [word, hidden, deleted] of [
    ['one', no, 'NULL'],
    ['two', no, 'NULL'],
    ['three', no, 'NULL'],
    ['four', yes, 'NULL'],
    ['five', no, "'2026-01-01 00:00:00'"],
  ])
    await query(`INSERT INTO tag (word, hidden, ${quoted}) VALUES ('${word}', ${hidden}, ${deleted})`);
  for (const id of MARKS) await query(`INSERT INTO mark (id, word) VALUES ('${id}', 'm')`);
}

const junction = (database: DatabaseName): string => {
  const [article, tag] = ['articleId', 'tagId'].map((name) => (database === 'mariadb' ? name : `"${name}"`));
  return `INSERT INTO article_tags_tag (${article}, ${tag}) VALUES (1, 4)`;
};

describe.each(DATABASES)('[8.3] ids of many-to-many relations on %s', (database) => {
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins('express', { database, entities: ENTITIES, resources: [...RESOURCES] });
  });
  beforeEach(async () => {
    await twins.empty();
    await fill((sql) => twins.query(sql), database);
  });
  afterAll(() => twins.close());

  it('are written by POST and PUT, and read in order without duplicates', async () => {
    const made = await twins.post('/articles', { title: 'a', tagsIds: [3, 1, 3], marksIds: [MARKS[1], MARKS[0]] });
    const data = { id: 1, title: 'a', version: 1, tagsIds: [1, 3], marksIds: [...MARKS] };
    expect([made.status, made.json.data]).toEqual([201, data]);
    expect((await twins.get('/articles/1')).json.data).toEqual(data);
    const put = await twins.put('/articles/1', { title: 'a', tagsIds: [2, 3], marksIds: [MARKS[1]] });
    expect([put.status, put.json.data]).toEqual([200, { ...data, version: 2, tagsIds: [2, 3], marksIds: [MARKS[1]] }]);
    expect((await twins.get('/articles')).json.data).toEqual([put.json.data]);
    expect((await twins.get('/articles/1?fields=tagsIds')).json.data).toEqual({ tagsIds: [2, 3] });
    expect((await twins.get('/articles?fields=title')).json.data).toEqual([{ title: 'a' }]);
  });

  it('[7.8] are exported as lists have them', async () => {
    for (const body of [{ title: 'a', tagsIds: [3, 1], marksIds: [MARKS[1]] }, { title: 'b' }])
      await twins.post('/articles', body);
    const { data } = (await twins.get('/articles')).json;
    const exported = async (query: string): Promise<string> =>
      (await twins.compiled.get(`/articles/export?${query}`)).text;
    const lines = (data as object[]).map((record) => `${JSON.stringify(record)}\n`);
    expect(await exported('format=ndjson')).toBe(lines.join(''));
    expect(await exported('format=csv&fields=title,tagsIds')).toBe('title,tagsIds\r\na,1 3\r\nb,\r\n');
  });

  it('become empty where PUT leaves them out, and what a GET returned can be sent back', async () => {
    await twins.post('/articles', { title: 'a', tagsIds: [1], marksIds: [MARKS[0]] });
    const { data } = (await twins.get('/articles/1')).json;
    const same = await twins.put('/articles/1', data);
    expect([same.status, same.json.data]).toEqual([200, { ...data, version: 2 }]);
    expect((await twins.put('/articles/1', { title: 'b' })).json.data).toMatchObject({ tagsIds: [], marksIds: [] });
  });

  it('are kept by PATCH where they are absent, and replaced where they are sent', async () => {
    await twins.post('/articles', { title: 'a', tagsIds: [1, 2], marksIds: [MARKS[0]] });
    const patch = async (json: object): Promise<unknown> =>
      (await twins.send('PATCH', '/articles/1', { json })).json.data as unknown;
    const data = { id: 1, title: 'b', version: 2, tagsIds: [1, 2], marksIds: [MARKS[0]] };
    expect(await patch({ title: 'b' })).toEqual(data);
    expect(await patch({ tagsIds: [3] })).toEqual({ ...data, version: 3, tagsIds: [3] });
    expect(await patch({ tagsIds: [], title: 'c' })).toEqual({ ...data, version: 4, title: 'c', tagsIds: [] });
    const refused = await twins.send('PATCH', '/articles/1', { json: { title: 'd', marksIds: [], tagsIds: [1, 99] } });
    expect([refused.status, refused.json.message]).toEqual([409, expect.stringContaining('do not exist: 99')]);
    const stale = { headers: { 'if-match': '"3"' }, json: { tagsIds: [1] } };
    expect((await twins.send('PATCH', '/articles/1', stale)).status).toBe(412);
    expect((await twins.get('/articles/1')).json.data).toEqual({ ...data, version: 4, title: 'c', tagsIds: [] });
    expect(wrongFields(await twins.send('PATCH', '/articles/1', { json: { tagsIds: null } }))).toEqual(['tagsIds']);
  });

  it('[8.5] are part of the whole record, and an answer with includes has no ETag', async () => {
    const { headers } = await twins.post('/articles', { title: 'a', tagsIds: [1] });
    expect(headers['etag']).toBe('"1"');
    expect((await twins.get('/articles/1')).headers['etag']).toBe('"1"');
    for (const query of ['include=tags', 'fields=id,title,version,tagsIds,marksIds', 'include=tags&fields=id'])
      expect((await twins.get(`/articles/1?${query}`)).headers['etag']).not.toMatch(/^"/);
  });

  it('[7.9] are at most 100 of a request', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => index + 1_000);
    await twins.query(
      `INSERT INTO tag (id, word, hidden) VALUES ${ids.map((id) => `(${id}, 'w', ${BOOLEANS[database][0]})`).join()}`,
    );
    const made = await twins.post('/articles', { title: 'a', tagsIds: ids.slice(1) });
    expect([made.status, made.json.data.tagsIds]).toEqual([201, ids.slice(1)]);
    expect((await twins.post('/articles', { title: 'a', tagsIds: ids })).json.errors).toEqual([
      { field: 'tagsIds', message: 'must have at most 100 ids, got 101' },
    ]);
  });

  it('[7.9] of a record with more of them, which GET answered, can be put back and changed', async () => {
    const ids = Array.from({ length: 251 }, (_, index) => index + 1_000);
    await twins.query(
      `INSERT INTO tag (id, word, hidden) VALUES ${ids.map((id) => `(${id}, 'w', ${BOOLEANS[database][0]})`).join()}`,
    );
    await twins.post('/articles', { title: 'a' });
    for (const id of ids.slice(0, 150)) await twins.put(`/tags/${id}`, { word: 'w', articlesIds: [1] });
    const { data } = (await twins.get('/articles/1')).json;
    expect(data.tagsIds).toEqual(ids.slice(0, 150));
    expect((await twins.put('/articles/1', data)).json.data.tagsIds).toEqual(data.tagsIds);
    const fewer = { tagsIds: data.tagsIds.slice(1) };
    expect((await twins.send('PATCH', '/articles/1', { json: fewer })).json.data.tagsIds).toEqual(fewer.tagsIds);
    const more = { tagsIds: ids.slice(1, 250) };
    expect((await twins.send('PATCH', '/articles/1', { json: more })).json.data.tagsIds).toEqual(more.tagsIds);
    await twins.send('PATCH', '/articles/1', { json: fewer });
    const tooMany = await twins.send('PATCH', '/articles/1', { json: { tagsIds: ids.slice(1) } });
    expect([tooMany.status, tooMany.json.errors]).toEqual([
      400,
      [{ field: 'tagsIds', message: 'must have at most 100 new ids, got 101' }],
    ]);
    expect((await twins.get('/articles/1')).json.data.tagsIds).toEqual(fewer.tagsIds);
  });

  it('work from the inverse side too', async () => {
    await twins.post('/articles', { title: 'a' });
    await twins.post('/articles', { title: 'b' });
    expect((await twins.put('/tags/1', { word: 'one', articlesIds: [2, 1] })).json.data).toMatchObject({
      articlesIds: [1, 2],
    });
    expect((await twins.get('/articles/2')).json.data.tagsIds).toEqual([1]);
  });

  it('are 409 and change nothing where a record does not exist, is deleted or lies outside of the scope', async () => {
    await twins.post('/articles', { title: 'a', tagsIds: [1] });
    const answers = [
      await twins.put('/articles/1', { title: 'b', tagsIds: [2, 4] }),
      await twins.put('/articles/1', { title: 'b', tagsIds: [2, 5] }),
      await twins.put('/articles/1', { title: 'b', tagsIds: [99, 2, 98] }),
    ];
    expect(answers.map(({ status, json }) => [status, json])).toEqual(
      ['4', '5', '99, 98'].map((ids) => [
        409,
        failure(`Article cannot be updated: tagsIds refers to Tag records that do not exist: ${ids}`, {
          tagsIds: `refers to Tag records that do not exist: ${ids}`,
        }),
      ]),
    );
    expect(
      (await twins.post('/articles', { title: 'c', marksIds: ['00000000-0000-4000-8000-00000000000c'] })).status,
    ).toBe(409);
    expect((await twins.get('/articles')).json.data).toEqual([
      { id: 1, title: 'a', version: 1, tagsIds: [1], marksIds: [] },
    ]);
    expect((await twins.put('/articles/9', { title: 'b', tagsIds: [99] })).status).toBe(404);
  });

  it('hide records outside of the scope, and a write keeps the links to them', async () => {
    await twins.post('/articles', { title: 'a', tagsIds: [1] });
    await twins.query(junction(database));
    expect((await twins.get('/articles/1?include=tags&fields[tags]=id')).json.data).toMatchObject({
      tagsIds: [1],
      tags: [{ id: 1 }],
    });
    expect((await twins.put('/articles/1', { title: 'a', tagsIds: [2] })).json.data.tagsIds).toEqual([2]);
    for (const { dataSource } of [twins.compiled, twins.repository])
      expect(await dataSource.query('SELECT * FROM article_tags_tag')).toHaveLength(2);
  });

  it('[7.9] are 400 for a text, null, a wrong id, a record and more than 100 ids', async () => {
    const tooMany = Array.from({ length: 101 }, (_, index) => index + 1);
    for (const tagsIds of ['1', null, [1, 'x'], [null], [{ id: 1 }], tooMany]) {
      expect(wrongFields(await twins.post('/articles', { title: 'a', tagsIds }))).toEqual(['tagsIds']);
      expect(wrongFields(await twins.post('/articles', { tagsIds, titel: 'a' }))).toEqual([
        'tagsIds',
        'titel',
        'title',
      ]);
    }
    expect((await twins.get('/articles')).json.data).toEqual([]);
  });

  it('of parallel requests are those of one of them', async () => {
    await twins.post('/articles', { title: 'a' });
    const sets = [[1, 2], [2, 3], [3], [1, 2, 3], []];
    const { compiled } = twins;
    const puts = Array.from({ length: 20 }, (_, index) =>
      compiled.put('/articles/1', { title: 'a', tagsIds: sets[index % sets.length] }),
    );
    expect((await Promise.all(puts)).map(({ status }) => status)).toEqual(puts.map(() => 200));
    expect(sets).toContainEqual((await compiled.get('/articles/1')).json.data.tagsIds);
  });
});

describe.each(PLATFORMS)('[8.3] ids of many-to-many relations on %s', (platform) => {
  it('are named among the fields of a body and of a list', async () => {
    const service: CrudService = await startCrud(platform, { entities: ENTITIES, resources: [...RESOURCES] });
    expect((await service.post('/articles', { tags: [1], title: 'a' })).json.errors).toEqual([
      { field: 'tags', message: 'unknown field, expected one of title, tagsIds, marksIds' },
    ]);
    expect((await service.get('/articles?fields=tags')).json.errors).toEqual([
      { field: 'fields', message: 'unknown field "tags"; known ones are id, title, version, tagsIds, marksIds' },
    ]);
    await service.close();
  });
});

it('[8.3] only many-to-many relations can be linked', async () => {
  const declare = (linkableRelations: never[]): Promise<Error> =>
    crudError('express', {
      entities: ENTITIES,
      controllers: [CrudController({ entity: Article as never, endpoint: '/articles', linkableRelations })],
    });
  expect((await declare(['tag' as never])).message).toBe(
    'CRUD option `linkableRelations` of Article must be many-to-many relations, got "tag". Name relations among tags, marks.',
  );
});
