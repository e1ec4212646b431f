/** Scope, owner, field permissions and path parameters: what a caller may see and change. */
import { Get, Injectable } from '@nestjs/common';
import {
  CrudController,
  CrudModule,
  type CrudOptions,
  type ListQuery,
  useScope,
  type ScopeContext,
  type RowScope,
} from 'declarest';
import { as, type TestUser } from 'declarest/testing';
import {
  Column,
  DeleteDateColumn,
  Entity,
  In,
  IsNull,
  LessThan,
  Like,
  ManyToOne,
  MoreThan,
  Not,
  OneToMany,
  Or,
  PrimaryGeneratedColumn,
  Raw,
  type Relation,
  VersionColumn,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { StatementLog } from '../harness/statement-log.js';
import { crudError, type CrudService, failure, naming, startCrud, wrongFields } from './service.js';
import { refusal } from '../harness/refusal.js';

@Entity()
class Team {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @OneToMany('Doc', 'team') docs!: Relation<Doc>[];
  @DeleteDateColumn() deletedAt!: Date | null;
}

@Entity()
class Doc {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) title!: string;
  @Column({ type: 'varchar', length: 20, default: 'open' }) status!: string;
  @Column({ type: 'int', nullable: true }) rank!: number | null;
  @Column({ type: 'varchar', length: 20, nullable: true }) notes!: string | null;
  @Column({ type: 'varchar', length: 20, nullable: true, unique: true }) slug!: string | null;
  @ManyToOne(() => Team, ({ docs }) => docs, { nullable: true }) team!: Team | null;
  @Column({ type: 'int', nullable: true }) ownerId!: number | null;
  @VersionColumn() version!: number;
  @DeleteDateColumn() deletedAt!: Date | null;
}

const ann: TestUser = { sub: 1, roles: ['USER'] };
const bob: TestUser = { sub: 2, roles: ['USER'] };
const admin: TestUser = { sub: 9, roles: ['ADMIN'] };
const editor: TestUser = { sub: 3, roles: ['EDITOR'] };

const PATHS = DATABASES.flatMap((database) =>
  (['compiled', 'repository'] as const).map((path) => ({ database, path })),
);
type Where = (typeof PATHS)[number];

const running: CrudService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

/** Three documents: of team 1, of team 2, and of none. */
async function start(options: Partial<CrudOptions<Doc>>, where: Partial<Where> = {}, more: object = {}) {
  const resource = {
    entity: Doc,
    endpoint: '/docs',
    enableSearch: true,
    enableExists: true,
    searchableFields: ['title', 'notes'],
    filterableFields: true,
    sortableFields: ['title', 'notes'],
    aggregatableFields: ['rank', 'notes'],
    enableCount: true,
    enableExport: true,
    enableRestore: true,
    ...options,
  } satisfies CrudOptions<Doc>;
  const service = await startCrud('express', {
    ...where,
    entities: [Doc, Team],
    resources: [resource],
    imports: [authModule({ defaultAccess: 'public', roleHierarchy: { ADMIN: ['EDITOR'] } })],
    ...more,
  });
  running.push(service);
  const teams = service.dataSource.getRepository(Team);
  await teams.save([{ name: 'red' }, { name: 'blue' }]);
  await service.dataSource.getRepository(Doc).insert([
    { title: 'one', rank: 1, notes: 'n1', team: { id: 1 }, ownerId: 1 },
    { title: 'two', rank: 2, notes: 'n2', slug: 's2', team: { id: 2 }, ownerId: 2 },
    { title: 'three', rank: null, notes: null, team: null, ownerId: null },
  ]);
  const rows = (): Promise<unknown[]> => service.dataSource.query('SELECT * FROM doc ORDER BY id');
  const of = (user?: TestUser) => as(service.app, user);
  const exported = async (user: TestUser, fields = 'title', endpoint = '/docs'): Promise<string> =>
    (await of(user).get(`${endpoint}/export?format=csv&fields=${fields}`)).text;
  return { service, rows, of, exported };
}

const titles = ({ json }: { json: unknown }): string[] =>
  (json as { data: { title: string }[] }).data.map(({ title }) => title);
const statusOf = ({ status }: { status: number }): number => status;

const ownTeam = ({ user }: ScopeContext) =>
  user?.roles.includes('ADMIN') ? true : user ? { team: { id: Number(user.id) } } : false;

describe.each(PATHS)('on $database, $path', (where) => {
  it('[9.1] a record outside of the scope does not exist for any operation', async () => {
    const { of, rows, exported } = await start({ scope: ownTeam }, where);
    const before = await rows();
    const { get, post, put, patch, delete: del, request } = of(ann);
    expect(titles(await get('/docs'))).toEqual(['one']);
    expect(titles(await get('/docs?filter[or][0][title]=two&filter[or][1][title]=one'))).toEqual(['one']);
    expect(titles(await get('/docs/search?q=o'))).toEqual(['one']);
    expect((await get('/docs/exists/1')).json).toMatchObject({ data: { exists: true } });
    expect((await get('/docs/exists/2')).json).toMatchObject({ data: { exists: false } });
    const missing = failure('Doc with id 2 not found');
    expect((await get('/docs/2')).json).toEqual(missing);
    expect((await put('/docs/2', { title: 'x', teamId: 1 })).json).toEqual(missing);
    // 404 comes before what is wrong with a body.
    expect((await put('/docs/2', { colour: 1 })).json).toEqual(missing);
    expect((await patch('/docs/2', { title: 'x' })).json).toEqual(missing);
    expect((await patch('/docs/2', { colour: 1 })).json).toEqual(missing);
    expect((await del('/docs/2')).json).toEqual(missing);
    expect((await post('/docs/2/restore')).json).toEqual(missing);
    expect(statusOf(await request('HEAD', '/docs/2'))).toBe(404);
    expect((await get('/docs/count')).json).toMatchObject({ data: { count: 1 } });
    expect((await get('/docs/aggregate?sum=rank')).json).toMatchObject({ data: [{ count: 1, sum: { rank: 1 } }] });
    expect((await get('/docs/aggregate?groupBy=rank')).json).toMatchObject({ data: [{ groupBy: { rank: 1 } }] });
    expect(await exported(ann)).toBe('title\r\none\r\n');
    expect(await rows()).toEqual(before);
    expect(await exported(admin)).toBe('title\r\none\r\ntwo\r\nthree\r\n');
    expect(titles(await of(admin).get('/docs'))).toEqual(['one', 'two', 'three']);
    expect(titles(await of().get('/docs'))).toEqual([]);
  });

  it('[9.1] a scope is part of every statement', async () => {
    const logger = new StatementLog();
    const scope = () => ({ rank: Raw((column) => `${column} > -7`) });
    const { of } = await start({ scope, enableBatch: true }, where, { dataSource: { logger } });
    logger.take();
    const { get, put, patch, delete: del } = of(ann);
    for (const path of ['', '/1', '/exists/1', '/count', '/aggregate', '/search?q=o', '/export?format=csv'])
      expect(statusOf(await get(`/docs${path}`))).toBe(200);
    expect(statusOf(await put('/docs/1', { title: 'x', rank: 1 }))).toBe(200);
    expect(statusOf(await patch('/docs/1', { title: 'y' }))).toBe(200);
    expect(statusOf(await patch('/docs/batch', { items: [{ id: 1, title: 'z' }] }))).toBe(200);
    expect(statusOf(await del('/docs/batch?ids=1'))).toBe(200);
    expect(statusOf(await del('/docs/2'))).toBe(200);
    const isScoped = (sql: string): boolean => sql.includes('> -7');
    const logged = logger.take().map(([sql]) => sql);
    const statements = logged.filter((sql) => /^(SELECT|UPDATE|DELETE)/.test(sql));
    expect(statements.filter(isScoped).length).toBeGreaterThan(12);
    if (where.path === 'compiled') expect(statements.filter((sql) => !isScoped(sql))).toEqual([]);
    // Subscribers get the whole record, which is read by its key once the scope has found and locked it.
    let isLocked = false;
    for (const sql of logged) {
      if (/^(BEGIN|START|COMMIT)/.test(sql)) isLocked = false;
      if (isScoped(sql)) isLocked = true;
      else if (statements.includes(sql)) expect([isLocked, sql]).toEqual([true, sql]);
    }
  });

  it('[9.1] [9.4] scopes with lists of other lengths share no statement', async () => {
    const lists = { 1: { mine: [1, 2], shared: [3] }, 2: { mine: [1], shared: [2, 3] } };
    const scope = ({ user }: ScopeContext) => ({
      id: Raw((column) => `${column} IN (:...mine) OR (${column} IN (:...shared) AND 1 = 0)`, lists[user!.id as 1]),
    });
    const { of } = await start({ scope }, where);
    for (const user of [ann, bob, ann, bob]) {
      const seen = user === ann ? [200, ['one', 'two']] : [404, ['one']];
      const { status } = await of(user).patch('/docs/2', { rank: 3 });
      expect([status, titles(await of(user).get('/docs'))]).toEqual(seen);
    }
  });

  it('[9.1] Like in a scope compares letters exactly, and a backslash escapes', async () => {
    let pattern = '';
    const { of, service } = await start({ scope: () => ({ title: Like(pattern) }) }, where);
    const names = ['ABx', 'abx', 'A_x', 'A\\x', 'A*x', 'AÄx', 'A[b]'];
    await service.dataSource.getRepository(Doc).insert(names.map((title) => ({ title })));
    for (const [like, found] of [
      ['AB%', ['ABx']],
      ['A\\_x', ['A_x']],
      ['A\\\\%', ['A\\x']],
      ['A_x', ['ABx', 'A_x', 'A\\x', 'A*x', 'AÄx']],
      ['A*%', ['A*x']],
      ['A[b]', ['A[b]']],
    ] as const) {
      pattern = like;
      expect([like, titles(await of(ann).get('/docs'))]).toEqual([like, found]);
    }
  });

  it('[9.1] a restored record that would lie outside of the scope is 403, and stays hidden', async () => {
    const scope = ({ operation }: ScopeContext) => (operation === 'restore' ? { deletedAt: Not(IsNull()) } : true);
    const { of, rows } = await start({ scope }, where);
    await of(ann).delete('/docs/1');
    const before = await rows();
    expect(statusOf(await of(ann).post('/docs/1/restore'))).toBe(403);
    expect(await rows()).toEqual(before);
  });

  it('[8.7] [9.2] the path names the owner of a new record, who must be the caller', async () => {
    const owner = { field: 'ownerId', except: ['ADMIN'] } as const;
    const { of, rows } = await start({ endpoint: '/users/:ownerId/docs', owner, enableBatch: true }, where);
    const before = await rows();
    for (const path of ['/users/2/docs', '/users/2/docs/batch']) {
      const json = path.endsWith('batch') ? { items: [{ title: 'x' }] } : { title: 'x' };
      expect((await of(ann).post(path, json)).json).toEqual(refusal('Owner access required'));
      expect(statusOf(await of().post(path, json))).toBe(401);
    }
    expect(await rows()).toEqual(before);
    expect((await of(ann).post('/users/1/docs', { title: 'x' })).json).toMatchObject({ data: { ownerId: 1 } });
    for (const body of [{ title: 'y' }, { title: 'z', ownerId: 2 }])
      expect((await of(admin).post('/users/2/docs', body)).json).toMatchObject({ data: { ownerId: 2 } });
  });

  it('[9.1] a unique value of a record outside of the scope is told as taken', async () => {
    const { of } = await start({ scope: ownTeam }, where);
    const { status, json } = await of(ann).post('/docs', { title: 'x', slug: 's2', teamId: 1 });
    expect([status, json]).toEqual([
      409,
      failure('Doc cannot be created: slug is already taken', { slug: 'is already taken' }),
    ]);
  });

  it('[9.1] refuses in the order of a wrong id, 404, 403, 428 or 412, a wrong body', async () => {
    const { of } = await start({ owner: 'ownerId', requireIfMatch: true }, where);
    const status = async (id: unknown, headers = {}): Promise<number> =>
      statusOf(await of(ann).request('PATCH', `/docs/${String(id)}`, { headers, json: { colour: 1 } }));
    expect([await status('x'), await status(77), await status(2), await status(1)]).toEqual([400, 404, 403, 428]);
    expect([await status(1, { 'if-match': '"9"' }), await status(1, { 'if-match': '"1"' })]).toEqual([412, 400]);
  });

  it('[9.1] a record that would lie outside of the scope is 403, and nothing is written', async () => {
    const { of, rows } = await start({ scope: ownTeam }, where);
    const before = await rows();
    const { post, put, patch } = of(ann);
    for (const refused of [
      await patch('/docs/1', { teamId: 2 }),
      await patch('/docs/1', { teamId: null, title: 'moved' }),
      await post('/docs', { title: 'new', teamId: 2 }),
      await post('/docs', { title: 'new' }),
      await put('/docs/1', { title: 'moved', teamId: 2 }),
      await of().post('/docs', { title: 'new' }),
    ])
      expect([refused.status, refused.json]).toEqual([403, refusal('Access denied')]);
    expect(await rows()).toEqual(before);
    expect(statusOf(await post('/docs', { title: 'new', teamId: 1 }))).toBe(201);
    expect(statusOf(await put('/docs/1', { title: 'kept', teamId: 1 }))).toBe(200);
    expect(statusOf(await patch('/docs/1', { title: 'patched' }))).toBe(200);
  });

  it('[9.1] a related record that is deleted puts no record into a scope', async () => {
    const { service, of } = await start({ scope: () => ({ team: { name: 'red' } }) }, where);
    await service.dataSource.getRepository(Team).softDelete(1);
    expect(titles(await of().get('/docs'))).toEqual([]);
  });

  it('[9.2] only the owner changes a record, and creation sets the owner', async () => {
    const { of, rows } = await start({ owner: 'ownerId' }, where);
    const refused = [403, refusal('Owner access required')];
    const answer = ({ status, json }: { status: number; json?: unknown }) => [status, json];
    const before = await rows();
    expect(answer(await of(ann).put('/docs/2', { title: 'x' }))).toEqual(refused);
    expect(answer(await of(ann).put('/docs/2', { colour: 'x' }))).toEqual(refused);
    expect(answer(await of(ann).put('/docs/3', { title: 'x' }))).toEqual(refused);
    expect(answer(await of().put('/docs/3', { title: 'x' }))).toEqual(refused);
    expect(answer(await of(ann).patch('/docs/2', { title: 'x' }))).toEqual(refused);
    expect(answer(await of(ann).patch('/docs/2', {}))).toEqual(refused);
    expect(answer(await of(ann).delete('/docs/2'))).toEqual(refused);
    expect(answer(await of(ann).post('/docs/2/restore'))).toEqual(refused);
    // 403 comes before 412, and 412 before what is wrong with a body.
    const stale = { headers: { 'if-match': '"9"' }, json: { colour: 'x' } };
    expect(statusOf(await of(ann).request('PATCH', '/docs/2', stale))).toBe(403);
    expect(statusOf(await of(bob).request('PATCH', '/docs/2', stale))).toBe(412);
    expect(statusOf(await of(ann).request('PATCH', '/docs/77', stale))).toBe(404);
    expect(statusOf(await of(ann).request('PATCH', '/docs/x', stale))).toBe(400);
    expect(statusOf(await of(ann).delete('/docs/77'))).toBe(404);
    expect(answer(await of().post('/docs', { title: 'x' }))).toEqual([401, refusal('Authentication required')]);
    expect(answer(await of().post('/docs', { colour: 'x' }))[0]).toBe(401);
    expect(wrongFields(await of(ann).post('/docs', { title: 'x', ownerId: 2 }))).toEqual(['ownerId']);
    expect(await rows()).toEqual(before);
    expect((await of(bob).post('/docs', { title: 'mine' })).json).toMatchObject({ data: { id: 4, ownerId: 2 } });
    const mine = (await of(bob).get('/docs/4')).json as { data: object };
    expect(statusOf(await of(bob).put('/docs/4', { ...mine.data, title: 'again' }))).toBe(200);
    expect(wrongFields(await of(bob).put('/docs/4', { title: 'x', ownerId: 1 }))).toEqual(['ownerId']);
    expect((await of(bob).get('/docs/4')).json).toMatchObject({ data: { title: 'again', ownerId: 2 } });
    expect(wrongFields(await of(bob).patch('/docs/4', { ownerId: 1 }))).toEqual(['ownerId']);
    expect((await of(bob).patch('/docs/4', { title: 'once more' })).json).toMatchObject({ data: { ownerId: 2 } });
    expect(statusOf(await of(bob).delete('/docs/4'))).toBe(200);
    expect(titles(await of(ann).get('/docs'))).toEqual(['one', 'two', 'three']);
    expect(answer(await of(ann).post('/docs/4/restore'))).toEqual(refused);
    expect(titles(await of(ann).get('/docs'))).toEqual(['one', 'two', 'three']);
    expect(statusOf(await of(bob).post('/docs/4/restore'))).toBe(200);
    expect(titles(await of(ann).get('/docs'))).toEqual(['one', 'two', 'three', 'once more']);
  });

  it('[9.2] with reads, others do not see the record, and excepted roles are not bound', async () => {
    const { of } = await start({ owner: { field: 'ownerId', reads: true, except: ['EDITOR'] } }, where);
    expect(titles(await of(ann).get('/docs'))).toEqual(['one']);
    expect(titles(await of().get('/docs'))).toEqual([]);
    for (const answer of [
      await of(ann).get('/docs/2'),
      await of(ann).put('/docs/2', {}),
      await of(ann).patch('/docs/2', {}),
      await of(ann).delete('/docs/2'),
      await of(ann).post('/docs/2/restore'),
    ])
      expect(answer.json).toEqual(failure('Doc with id 2 not found'));
    expect((await of(ann).get('/docs/exists/2')).json).toMatchObject({ data: { exists: false } });
    expect((await of(ann).get('/docs/count')).json).toMatchObject({ data: { count: 1 } });
    // ADMIN includes EDITOR.
    expect(titles(await of(admin).get('/docs'))).toEqual(['one', 'two', 'three']);
    expect(statusOf(await of(admin).put('/docs/2', { title: 'x', ownerId: 1 }))).toBe(200);
    expect(titles(await of(ann).get('/docs'))).toEqual(['one', 'x']);
    expect((await of(admin).post('/docs', { title: 'a', ownerId: 2 })).json).toMatchObject({ data: { ownerId: 2 } });
    expect((await of(admin).post('/docs', { title: 'b' })).json).toMatchObject({ data: { ownerId: 9 } });
  });

  it('[7.3] [9.3] what a caller may not read is an unknown name everywhere', async () => {
    const { of, service, exported } = await start(
      { fieldPermissions: { notes: { read: ['EDITOR'] } }, defaultSort: '-notes,title' },
      where,
    );
    const { get, post, put } = of(ann);
    for (const answer of [
      await get('/docs'),
      await get('/docs/1'),
      await get('/docs/search?q=n'),
      await post('/docs', { title: 'a', notes: 'n9' }),
    ])
      expect(JSON.stringify(answer.json)).not.toMatch(/notes|"n\d"/);
    for (const path of [
      '/docs?filter[notes]=n1',
      '/docs?filter[notes][isNull]=true',
      '/docs?filter[not][notes]=n1',
      '/docs?sort=notes',
      '/docs?fields=notes',
      '/docs/1?fields=notes',
      '/docs/search?notes=n1',
      '/docs/count?filter[notes]=n1',
      '/docs/aggregate?groupBy=notes',
      '/docs/aggregate?min=notes',
      '/docs/export?format=csv&fields=notes',
      '/docs/export?format=csv&sort=notes',
    ]) {
      const answer = await get(path);
      expect(answer.status).toBe(400);
      expect(
        JSON.stringify({ ...answer.json, fields: undefined }).replaceAll(/"field":"[^"]*"|\\"notes\\"/g, ''),
      ).not.toContain('notes');
    }
    expect(await exported(ann, 'id,title,rank')).toMatch(/^id,title,rank\r\n/);
    expect((await service.send('GET', '/docs/export?format=csv')).text.split('\r\n')[0]).not.toContain('notes');
    // The order of an export is the default one, without what the caller may not read.
    expect(await exported(ann)).toBe('title\r\na\r\none\r\nthree\r\ntwo\r\n');
    expect(titles(await get('/docs'))).toEqual(['a', 'one', 'three', 'two']);
    expect(titles(await get('/docs/search?q=n1'))).toEqual([]);
    expect(titles(await of(editor).get('/docs'))).toEqual(['three', 'a', 'two', 'one']);
    expect(titles(await of(editor).get('/docs/search?q=n1'))).toEqual(['one']);
    // Not sent, it keeps its value; it may still be written.
    expect(statusOf(await put('/docs/1', { title: 'one' }))).toBe(200);
    expect((await of(admin).get('/docs/1')).json).toMatchObject({ data: { notes: 'n1' } });
  });

  it('[9.3] what a caller may not write is 400, unless it is unchanged', async () => {
    const { of } = await start(
      {
        fieldPermissions: {
          notes: { write: ['EDITOR'] },
          slug: { write: 'once' },
          rank: { write: 'never' },
          ownerId: { read: 'never', write: 'never' },
        },
      },
      where,
    );
    const { post, put, get } = of(ann);
    expect(wrongFields(await post('/docs', { title: 'a', notes: 'x', rank: 1, ownerId: 1 }))).toEqual([
      'notes',
      'ownerId',
      'rank',
    ]);
    const { json } = await post('/docs', { title: 'a', slug: 'once' });
    expect(json).toMatchObject({ data: { id: 4, slug: 'once', rank: null } });
    expect(json).not.toHaveProperty('data.ownerId');
    expect(wrongFields(await put('/docs/4', { title: 'a', slug: 'twice', notes: 'x', rank: 2 }))).toEqual([
      'notes',
      'rank',
      'slug',
    ]);
    const one = (await get('/docs/1')).json as { data: object };
    expect(statusOf(await put('/docs/1', { ...one.data, title: 'one!' }))).toBe(200);
    expect(statusOf(await put('/docs/1', { title: 'one!' }))).toBe(200);
    expect((await get('/docs/1')).json).toMatchObject({ data: { notes: 'n1', rank: 1, slug: null } });
    expect(statusOf(await of(editor).put('/docs/1', { title: 'one', notes: 'x' }))).toBe(200);
    const hidden = (await put('/docs/1', { title: 'x', ownerId: 5 })).json as { errors: { message: string }[] };
    expect(hidden.errors[0]!.message).toBe('unknown field, expected one of title, status, teamId');
  });

  it('[9.3] a conflict names no field that the caller does not know', async () => {
    const { of } = await start({ fieldPermissions: { slug: { read: ['EDITOR'], write: ['EDITOR'] } } }, where);
    const taken = { title: 'x', slug: 's2' };
    expect((await of(editor).post('/docs', taken)).json).toEqual(
      failure('Doc cannot be created: slug is already taken', { slug: 'is already taken' }),
    );
    expect(wrongFields(await of(ann).post('/docs', taken))).toEqual(['slug']);
  });

  it('[8.7] a path parameter filters every operation, and fills what is written', async () => {
    const { of, service, exported } = await start({ endpoint: '/teams/:teamId/docs' }, where);
    const { get, post, put, patch, delete: del } = of(ann);
    expect(titles(await get('/teams/1/docs'))).toEqual(['one']);
    expect(titles(await get('/teams/77/docs'))).toEqual([]);
    expect(titles(await get('/teams/2/docs/search?q=o'))).toEqual(['two']);
    expect((await get('/teams/1/docs/exists/2')).json).toMatchObject({ data: { exists: false } });
    const missing = failure('Doc with id 2 not found');
    expect((await get('/teams/1/docs/2')).json).toEqual(missing);
    expect((await put('/teams/1/docs/2', { title: 'x' })).json).toEqual(missing);
    expect((await patch('/teams/1/docs/2', { title: 'x' })).json).toEqual(missing);
    expect((await del('/teams/1/docs/2')).json).toEqual(missing);
    expect((await post('/teams/1/docs/2/restore')).json).toEqual(missing);
    expect((await get('/teams/1/docs/count')).json).toMatchObject({ data: { count: 1 } });
    expect((await get('/teams/2/docs/aggregate?sum=rank')).json).toMatchObject({
      data: [{ count: 1, sum: { rank: 2 } }],
    });
    expect(await exported(ann, 'title', '/teams/2/docs')).toBe('title\r\ntwo\r\n');
    for (const path of ['/teams/x/docs', '/teams/1.5/docs/1', '/teams/%20/docs'])
      expect((await get(path)).json).toEqual(failure('No Doc exists at this path'));
    const created = await service.send('POST', '/teams/1/docs', { json: { title: 'new' } });
    expect([created.headers['location'], created.json.data.teamId]).toEqual(['/teams/1/docs/4', 1]);
    expect(statusOf(await post('/teams/1/docs', { title: 'same', teamId: 1 }))).toBe(201);
    expect((await post('/teams/1/docs', { title: 'x', teamId: 2 })).json).toMatchObject({
      errors: [{ field: 'teamId', message: 'must be 1 as in the path, or nothing' }],
    });
    expect(wrongFields(await put('/teams/1/docs/4', { title: 'x', teamId: null }))).toEqual(['teamId']);
    expect((await put('/teams/1/docs/4', { title: 'put' })).json).toMatchObject({ data: { title: 'put', teamId: 1 } });
    expect((await patch('/teams/1/docs/4', { title: 'p', teamId: 1 })).json).toMatchObject({ data: { teamId: 1 } });
    expect(wrongFields(await patch('/teams/1/docs/4', { teamId: 2 }))).toEqual(['teamId']);
    expect(statusOf(await post('/teams/77/docs', { title: 'x' }))).toBe(409);
    expect((await post('/teams/77/docs', { title: 'x' })).json).toEqual(
      failure('Doc cannot be created: teamId refers to a record that does not exist', {
        teamId: 'refers to a record that does not exist',
      }),
    );
  });
});

type DocScope = Extract<RowScope<Doc>, (...given: never) => unknown>;

describe.each(PATHS)('the scopes that may be declared, on $database, $path', (where) => {
  let docs: Awaited<ReturnType<typeof start>>;
  let scope: DocScope = () => true;
  beforeAll(async () => {
    docs = await start({ scope: (context) => scope(context) }, where);
    // It stays open for every case.
    running.length = 0;
  });
  afterAll(() => docs.service.close());

  it.each<[string, DocScope, string[]]>([
    ['values', () => ({ status: 'open', title: 'two' }), ['two']],
    ['alternatives', () => [{ title: 'one' }, { title: 'three' }], ['one', 'three']],
    ['In', () => ({ title: In(['one', 'two']) }), ['one', 'two']],
    ['In of none', () => ({ title: In([]) }), []],
    ['MoreThan and LessThan', () => [{ rank: MoreThan(1) }, { rank: LessThan(2) }], ['one', 'two']],
    ['Not, as in SQL', () => ({ rank: Not(1) }), ['two']],
    ['IsNull', () => ({ team: IsNull(), rank: IsNull() }), ['three']],
    ['Not(IsNull())', () => ({ notes: Not(IsNull()) }), ['one', 'two']],
    ['Like', () => ({ title: Like('t%') }), ['two', 'three']],
    ['Or', () => ({ rank: Or(MoreThan(1), IsNull()) }), ['two', 'three']],
    ['Raw', () => ({ rank: Raw((column) => `${column} >= :least AND ${column} < 100`, { least: 2 }) }), ['two']],
    ['a related record', () => ({ team: { name: 'red' } }), ['one']],
    ['the key of a related record', () => ({ team: { id: 2 } }), ['two']],
    ['a foreign key of related records', () => ({ team: { docs: { teamId: 1 } } }), ['one']],
    ['alternatives of a related record', () => ({ team: [{ name: 'red' }, { docs: { teamId: 2 } }] }), ['one', 'two']],
    ['a promise', async () => ({ title: 'one' }), ['one']],
    ['nothing', () => ({}), ['one', 'two', 'three']],
  ])('[9.1] a scope may have %s', async (_what, current, expected) => {
    scope = current;
    expect(titles(await docs.of(ann).get('/docs?sort=-title&filter[title][ne]=')).toSorted()).toEqual(
      expected.toSorted(),
    );
  });
});

describe('the user of a scope', () => {
  it.each(PLATFORMS)(
    '[9.1] on %s, is that of the request where an override calls super, and nobody outside of one',
    async (platform) => {
      const seen: unknown[] = [];
      class DocsController extends CrudController({
        entity: Doc,
        endpoint: '/docs',
        scope: async ({ user, operation }) => {
          seen.push([user?.id, operation]);
          await new Promise((done) => setTimeout(done, user?.id === 1 ? 20 : 1));
          return user ? { ownerId: Number(user.id) } : true;
        },
      }) {
        @Get()
        override async findAll(query: ListQuery) {
          await new Promise((done) => setTimeout(done, 5));
          return super.findAll(query);
        }
      }
      const service = await startCrud(platform, {
        entities: [Doc, Team],
        resources: [DocsController],
        imports: [authModule({ defaultAccess: 'public' })],
      });
      running.push(service);
      await service.dataSource.getRepository(Doc).insert([
        { title: 'one', ownerId: 1 },
        { title: 'two', ownerId: 2 },
      ]);
      const lists = await Promise.all([ann, bob, ann, bob].map((user) => as(service.app, user).get('/docs')));
      expect(lists.map(titles)).toEqual([['one'], ['two'], ['one'], ['two']]);
      expect(seen).toContainEqual([2, 'findAll']);
      const posted = await as(service.app, bob).post('/docs', { title: 'x', ownerId: 1 });
      expect(posted.status).toBe(403);
      expect(seen).toContainEqual([2, 'create']);
      const controller = service.app.get(DocsController, { strict: false });
      expect((await controller.findAll({})).data).toHaveLength(2);
      expect(seen.at(-1)).toEqual([undefined, 'findAll']);
    },
  );

  it.each<[string, DocScope]>([
    [
      'throws',
      () => {
        throw new Error('inner detail');
      },
    ],
    ['has no value', () => ({ ownerId: undefined as never })],
    ['has null', () => ({ ownerId: null as never })],
    ['names a field that the entity lacks', () => ({ colour: 'red' }) as never],
    ['returns nothing', () => undefined as never],
    ['returns a text', () => 'true' as never],
  ])('[9.1] a scope that %s refuses with 500, without detail', async (_what, scope) => {
    const { of, rows } = await start({ scope });
    const before = await rows();
    for (const answer of [
      await of(ann).get('/docs'),
      await of(ann).get('/docs/1'),
      await of(ann).post('/docs', { title: 'x' }),
      await of(ann).delete('/docs/1'),
    ])
      expect([answer.status, answer.json]).toEqual([500, failure('Internal server error')]);
    expect(await rows()).toEqual(before);
  });

  it('[8.9] [9.1] a scope is told the name of each operation', async () => {
    const seen: string[] = [];
    const { of } = await start({ enableBatch: true, scope: ({ operation }) => seen.push(operation) > 0 });
    for (const [operation, method, path, json] of [
      ['findAll', 'GET', ''],
      ['findById', 'GET', '/1'],
      ['search', 'GET', '/search?q=o'],
      ['exists', 'GET', '/exists/1'],
      ['count', 'GET', '/count'],
      ['aggregate', 'GET', '/aggregate'],
      ['export', 'GET', '/export?format=csv'],
      ['create', 'POST', '', { title: 'x' }],
      ['update', 'PUT', '/1', { title: 'x' }],
      ['patch', 'PATCH', '/1', { title: 'x' }],
      ['createMany', 'POST', '/batch', { items: [{ title: 'x' }] }],
      ['patchMany', 'PATCH', '/batch', { items: [{ id: 1 }] }],
      ['delete', 'DELETE', '/1'],
      ['restore', 'POST', '/1/restore'],
      ['deleteMany', 'DELETE', '/batch?ids=1'],
    ] as const) {
      seen.length = 0;
      const { status } = await of(ann).request(method, `/docs${path}`, json ? { json } : {});
      expect([operation, status < 300, [...new Set(seen)]]).toEqual([operation, true, [operation]]);
    }
  });

  it('[9.1] a provider decides with what is injected into it', async () => {
    @Injectable()
    class Titles {
      readonly visible = ['two'];
    }
    @Injectable()
    class DocScope {
      constructor(private readonly titles: Titles) {}
      async scope() {
        return { title: In(this.titles.visible) };
      }
    }
    Reflect.defineMetadata('design:paramtypes', [Titles], DocScope);
    const { of } = await start({ scope: useScope(DocScope) }, {}, { providers: [Titles, DocScope] });
    expect(titles(await of().get('/docs'))).toEqual(['two']);
  });
});

it.each(DATABASES)('[8.7] [9.3] values are the same however they are written, on %s', async (database) => {
  @Entity()
  class Sale {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ type: 'decimal', precision: 10, scale: 2 }) price!: string;
    @Column({ type: 'decimal', precision: 10, scale: 2, nullable: true }) fee!: string | null;
    @Column({ type: database === 'postgres' ? 'timestamp' : 'datetime', nullable: true }) at!: Date | null;
    @Column({ length: 20, default: '' }) text!: string;
  }
  const service = await startCrud('express', {
    database,
    entities: [Sale],
    resources: [
      {
        entity: Sale,
        endpoint: '/prices/:price/sales',
        fieldPermissions: { fee: { write: 'once' }, at: { write: 'once' } },
      },
    ],
  });
  running.push(service);
  const sale = { fee: '2.50', at: '2026-01-31T09:30:00Z', price: 1.5 };
  expect((await service.post('/prices/1.5/sales', sale)).status).toBe(201);
  const { data } = (await service.get('/prices/1.50/sales/1')).json;
  for (const same of [
    data,
    { ...sale, price: '1.50' },
    { ...sale, fee: 2.5, price: '1.5', at: '2026-01-31T10:30:00+01:00' },
  ])
    expect((await service.put('/prices/1.5/sales/1', { ...same, text: 'put' })).json.data).toEqual({
      ...data,
      text: 'put',
    });
  for (const other of [{ price: '1.51' }, { price: 'x' }, { fee: 2.51 }, { fee: null }, { at: '2026-01-31T09:30:01Z' }])
    expect(wrongFields(await service.put('/prices/1.5/sales/1', { ...sale, ...other }))).toEqual(Object.keys(other));
});

describe('wrong declarations', () => {
  class Nowhere {
    scope(): boolean {
      return true;
    }
  }
  const anything = (value: unknown): never => value as never;

  it.each<[string, Partial<CrudOptions<Doc>>, string]>([
    [
      '[9.1] a scope that is no function',
      { scope: anything({ id: 1 }) },
      '`scope` of Doc must be a function or useScope',
    ],
    [
      '[9.1] a scope that no module provides',
      { scope: useScope(Nowhere) },
      'must be useScope(…) of a provider of the application, got `Nowhere`',
    ],
    [
      '[8.7] [9.3] a path by a field that somebody may not read',
      { endpoint: '/teams/:teamId/docs', fieldPermissions: { teamId: { read: ['ADMIN'] } } as never },
      'CRUD option `endpoint` of Doc must be a path with parameters that every caller may read, got :teamId. Leave `read` of teamId out of fieldPermissions.',
    ],
    ['[9.2] an owner that the entity lacks', { owner: anything('authorId') }, '`owner` of Doc must be fields among'],
    [
      '[9.2] an owner with an unknown detail',
      { owner: anything({ field: 'ownerId', read: true }) },
      '`owner` of Doc must be the name of a field',
    ],
    [
      '[9.3] permissions of a field that the entity lacks',
      { fieldPermissions: anything({ colour: {} }) },
      '`fieldPermissions` of Doc must be fields among',
    ],
    [
      '[9.3] a permission that is neither a word nor roles',
      { fieldPermissions: anything({ title: { read: 'once' } }) },
      '`fieldPermissions.title` of Doc must be { read, write }, each "never" or an array of at least one role, and "once" for write, got {"read":"once"}',
    ],
    [
      '[8.7] a parameter that the entity lacks',
      { endpoint: '/shops/:shopId/docs' },
      '`endpoint` of Doc must be a path whose parameters are fields among',
    ],
    ['[8.7] a parameter of the primary key', { endpoint: '/docs/:id' }, 'got :id'],
    ['[8.7] a parameter inside a level', { endpoint: '/teams/team-:teamId/docs' }, 'must be a path such as'],
    ['[8.7] a parameter twice', { endpoint: '/teams/:teamId/:teamId' }, 'must be a path such as'],
  ])('%s refuses to boot', async (_what, options, says) => {
    const resource = { entity: Doc, endpoint: '/docs', ...options } as CrudOptions;
    const { message } = await crudError('express', { entities: [Doc, Team], resources: () => [resource] });
    expect(message).toEqual(naming(says));
  });

  it('[9.1] [9.2] [9.3] the names of fields are checked by TypeScript', () => {
    // @ts-expect-error -- no such field
    CrudController({ entity: Doc, endpoint: '/docs', owner: 'ownerID' });
    // @ts-expect-error -- no such field
    CrudController({ entity: Doc, endpoint: '/docs', fieldPermissions: { colour: { read: 'never' } } });
    // @ts-expect-error -- no such field
    CrudController({ entity: Doc, endpoint: '/docs', scope: () => ({ colour: 'red' }) });
    // As messages and pages say it, whatever type the ids of users have.
    CrudController({ entity: Doc, endpoint: '/docs', scope: ({ user }) => ({ ownerId: user?.id ?? 0 }) });
    CrudController({ entity: Doc, endpoint: '/docs', scope: ({ user }) => ({ teamId: user?.id ?? 0 }) });
    CrudController({ entity: Doc, endpoint: '/docs', scope: ({ user }) => ({ slug: user?.id ?? '' }) });
    // @ts-expect-error -- no such field
    expect(() => CrudModule.forFeature({ entity: Doc, endpoint: '/docs', owner: 'ownerID' })).not.toThrow();
  });
});
