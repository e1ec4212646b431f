/** The option `operations`, and hooks of a subclass: `beforeCreate` and the others. */
import { ConflictException, Delete, ForbiddenException, Get, HttpCode, Patch, Post } from '@nestjs/common';
import {
  CrudController,
  type CrudOptions,
  type CrudRecord,
  type GeneratedHooks,
  type HookContext,
  type HookValues,
  type JsonObject,
  type ListQuery,
} from 'declarest';
import { as, type TestUser } from 'declarest/testing';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { PLATFORMS, type Platform } from '../harness/platforms.js';
import { type CrudService, failure, startCrud, wrongFields } from './service.js';

@Entity()
class Tag {
  @PrimaryGeneratedColumn() id!: number;
}

@Entity()
class Article {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) title!: string;
  @Column({ type: 'varchar', length: 20, nullable: true, unique: true }) slug!: string | null;
  @Column({ type: 'varchar', length: 20, default: 'none' }) secret!: string;
  @Column({ type: 'int', nullable: true }) ownerId!: number | null;
  @Column({ nullable: true }) at!: Date;
  @Column({ type: 'simple-json', nullable: true }) meta!: unknown;
  @ManyToMany(() => Tag) @JoinTable() tags!: Tag[];
  @VersionColumn() version!: number;
}

@Entity()
class Entry {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 60 }) text!: string;
}

@Entity()
class Removable {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) text!: string;
  @DeleteDateColumn() deletedAt!: Date | null;
}

const ann: TestUser = { sub: 7, roles: ['USER'] };
const AT = '2026-01-31T09:30:00.000Z';

let running: CrudService | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

interface Where {
  database?: DatabaseName;
  platform?: Platform;
}

async function start(
  { database = 'sqlite', platform = 'express' }: Where,
  hooks: GeneratedHooks<Article>,
  options: Partial<CrudOptions<Article>> = {},
) {
  class Articles extends CrudController<Article>({
    entity: Article,
    endpoint: '/articles',
    linkableRelations: ['tags'],
    fields: { secret: { write: 'never' } },
    owner: { field: 'ownerId', except: ['ADMIN'] },
    ...options,
  }) {}
  Object.assign(Articles.prototype, hooks);
  const service = await startCrud(platform, {
    database,
    entities: [Article, Entry, Tag],
    resources: [Articles, { entity: Entry, endpoint: '/entries' }],
    imports: [authModule({ defaultAccess: 'public' })],
  });
  running = service;
  const { dataSource } = service;
  await dataSource.getRepository(Tag).save([{}, {}]);
  return {
    service,
    client: as(service.app, ann),
    articles: () => dataSource.getRepository(Article).find({ order: { id: 'ASC' } }),
    entries: async () => (await dataSource.getRepository(Entry).find({ order: { id: 'ASC' } })).map(({ text }) => text),
    insert: () => dataSource.getRepository(Article).insert({ title: 'old', ownerId: 7, meta: { a: 1, b: 2 } }),
  };
}

const note = ({ manager }: HookContext, text: string): Promise<unknown> => manager.insert(Entry, { text });

const PLACES = DATABASES.flatMap((database, index) => ({
  database,
  // Each platform on some database: the other specs run all pairs.
  platform: PLATFORMS[index % PLATFORMS.length]!,
}));

describe.each(PLACES)('on $database and $platform', (where) => {
  it('[8.9] beforeCreate gets checked values with their types, and writes what it returns', async () => {
    const seen: unknown[] = [];
    const { client, articles } = await start(where, {
      beforeCreate(values, { user, request }) {
        seen.push({ ...values }, user?.id, request?.method);
        return { ...values, slug: `s-${values.title}`, secret: 'set', tagsIds: [...(values.tagsIds ?? []), 2] };
      },
    });
    const { status, json } = await client.post('/articles', { title: 'a', at: AT, tagsIds: [1] });
    expect(status).toBe(201);
    expect(json.data).toMatchObject({ title: 'a', slug: 's-a', secret: 'set', ownerId: 7, at: AT, tagsIds: [1, 2] });
    expect(seen).toEqual([{ title: 'a', at: new Date(AT), ownerId: 7, tagsIds: [1] }, 7, 'POST']);
    // The body is checked before the hook, and what the hook returns after it.
    expect(wrongFields(await client.post('/articles', { title: 'a', secret: 'x' }))).toEqual(['secret']);
    expect(wrongFields(await client.post('/articles', { title: 'nineteen characters' }))).toEqual(['slug']);
    expect([seen.length, (await articles()).length]).toEqual([6, 1]);
  });

  it('[8.9] beforeUpdate serves PUT and PATCH, after the checks of the record and the body', async () => {
    const seen: unknown[] = [];
    const { client, insert, articles } = await start(where, {
      beforeUpdate(id, values) {
        seen.push([id, { ...values }]);
        return { ...values, secret: 'hooked' };
      },
    });
    await insert();
    const put = await client.put('/articles/1', { title: 'new', meta: { c: 3 } });
    expect(put.json.data).toMatchObject({ title: 'new', secret: 'hooked', ownerId: 7, meta: { c: 3 }, version: 2 });
    const patch = await client.patch('/articles/1', { meta: { d: 4, c: null } });
    expect(patch.json.data).toMatchObject({ title: 'new', meta: { d: 4 }, tagsIds: [], version: 3 });
    const put1 = { title: 'new', slug: null, at: null, meta: { c: 3 }, tagsIds: [] };
    expect(seen).toEqual([
      [1, put1],
      [1, { meta: { d: 4 } }],
    ]);
    const refused = [
      await client.put('/articles/9', { title: 'x' }),
      await client.patch('/articles/1', { title: 1 }),
      await client.request('PATCH', '/articles/1', { json: { title: 'x' }, headers: { 'if-match': '"1"' } }),
      await as(running!.app, { sub: 8, roles: ['USER'] }).patch('/articles/1', { title: 'x' }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([404, 400, 412, 403]);
    expect([seen.length, (await articles())[0]!.title]).toEqual([2, 'new']);
  });

  it.each<[string, Error, number, object]>([
    ['an HttpException', new ConflictException('Not today'), 409, failure('Not today')],
    ['another error', new TypeError('a detail'), 500, failure('Internal server error')],
  ])('[8.9] %s in a before hook rolls back what the hook wrote', async (_, error, status, body) => {
    const refuse = async (context: HookContext) => {
      await note(context, 'before');
      throw error;
    };
    const { client, insert, articles, entries } = await start(where, {
      beforeCreate: (_values, context) => refuse(context),
      beforeUpdate: (_id, _values, context) => refuse(context),
      beforeDelete: (_id, context) => refuse(context),
      afterCreate: (_record, context) => void note(context, 'after'),
    });
    await insert();
    const before = await articles();
    for (const answer of [
      await client.post('/articles', { title: 'a' }),
      await client.put('/articles/1', { title: 'a' }),
      await client.patch('/articles/1', { title: 'a' }),
      await client.delete('/articles/1'),
    ])
      expect([answer.status, answer.json]).toEqual([status, body]);
    expect([await articles(), await entries()]).toEqual([before, []]);
  });

  it('[8.9] after hooks see committed records, and their errors do not change the response', async () => {
    const seen: unknown[] = [];
    const count = async () => (await running!.dataSource.getRepository(Article).count()) as unknown;
    const { client, service } = await start(where, {
      async beforeCreate(_values, context) {
        await note(context, 'created');
      },
      async afterCreate({ id, title }, { manager, user }) {
        seen.push(['created', id, title, user?.id, await count(), await manager.count(Entry)]);
        throw new Error('too late');
      },
      async afterUpdate({ id, title }) {
        seen.push(['updated', id, title]);
        throw new Error('too late');
      },
      async afterDelete(id) {
        seen.push(['deleted', id, await count()]);
        throw new Error('too late');
      },
    });
    expect((await client.post('/articles', { title: 'a' })).status).toBe(201);
    expect((await client.put('/articles/1', { title: 'b' })).status).toBe(200);
    expect((await client.patch('/articles/1', { title: 'c' })).status).toBe(200);
    expect((await client.delete('/articles/1')).status).toBe(200);
    expect(seen).toEqual([
      ['created', 1, 'a', 7, 1, 1],
      ['updated', 1, 'b'],
      ['updated', 1, 'c'],
      ['deleted', 1, 0],
    ]);
    expect(service.logs.filter((line) => / of Article failed/.test(line))).toHaveLength(4);
    seen.length = 0;
    await client.delete('/articles/1');
    await client.post('/articles', {});
    expect(seen).toEqual([]);
  });

  it('[8.9] an operation that a hook calls joins the transaction, with its own hooks', async () => {
    const seen: string[] = [];
    class Entries extends CrudController({ entity: Entry, endpoint: '/entries' }) {
      override afterCreate({ text }: CrudRecord<Entry>): void {
        seen.push(`after ${text}`);
      }
    }
    class Articles extends CrudController({ entity: Article, endpoint: '/articles' }) {
      override async beforeCreate({ title }: HookValues<Article>) {
        await running!.app.get(Entries, { strict: false }).create({ text: title! });
        seen.push(`before ${title}`);
        if (title === 'refused') throw new ForbiddenException();
      }
    }
    running = await startCrud(where.platform, {
      database: where.database,
      entities: [Article, Entry, Tag],
      resources: [Articles, Entries],
    });
    expect((await running.post('/articles', { title: 'refused' })).status).toBe(403);
    expect((await running.post('/articles', { title: 'made' })).status).toBe(201);
    expect(seen).toEqual(['before refused', 'before made', 'after made']);
    expect((await running.get('/entries')).json.data).toMatchObject([{ text: 'made' }]);
  });

  it('[8.9] hooks of concurrent requests stay in their own transactions', async () => {
    const { client, articles, entries } = await start(where, {
      async beforeCreate({ title }, context) {
        await note(context, title!);
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (Number(title) % 2 === 1) throw new ConflictException();
      },
    });
    const titles = Array.from({ length: 20 }, (_, index) => String(index));
    const answers = await Promise.all(titles.map((title) => client.post('/articles', { title })));
    const even = titles.filter((title) => Number(title) % 2 === 0).toSorted();
    expect(answers.map(({ status }) => status)).toEqual(titles.map((title) => (Number(title) % 2 === 0 ? 201 : 409)));
    expect((await entries()).toSorted()).toEqual(even);
    expect((await articles()).map(({ title }) => title).toSorted()).toEqual(even);
  });
});

it('[8.9] hooks run for an overridden operation through super, and outside of requests', async () => {
  const seen: unknown[] = [];
  class Articles extends CrudController({ entity: Article, endpoint: '/articles' }) {
    @Post()
    override create(body: JsonObject) {
      return super.create({ ...body, slug: 'by the override' });
    }
    override beforeCreate(values: HookValues<Article>, { user, request }: HookContext) {
      seen.push([values.slug, user, request?.method]);
    }
  }
  running = await startCrud('express', { entities: [Article, Tag], resources: [Articles] });
  expect((await running.post('/articles', { title: 'a' })).status).toBe(201);
  await expect(running.app.get(Articles).create({ title: 'b' })).rejects.toThrow(/slug is already taken/);
  expect(seen).toEqual([
    ['by the override', undefined, 'POST'],
    ['by the override', undefined, undefined],
  ]);
});

it('[8.9] a hook may return what the path fixes, but nothing else in its place', async () => {
  let slug = 'a';
  const { client, articles } = await start(
    {},
    { beforeCreate: (values) => ({ ...values, slug }) },
    { endpoint: '/slugs/:slug/articles' },
  );
  expect((await client.post('/slugs/a/articles', { title: 'a' })).json.data.slug).toBe('a');
  slug = 'b';
  expect(wrongFields(await client.post('/slugs/c/articles', { title: 'a' }))).toEqual(['slug']);
  expect(await articles()).toHaveLength(1);
});

it('[8.9] a hook may give a record another owner', async () => {
  const { client } = await start(
    {},
    { beforeCreate: (values) => ({ ...values, ownerId: 8 }), beforeUpdate: () => ({ ownerId: 9 }) },
  );
  expect((await client.post('/articles', { title: 'a' })).json.data.ownerId).toBe(8);
  const admin = as(running!.app, { roles: ['ADMIN'] });
  expect((await admin.patch('/articles/1', { title: 'b' })).json.data).toMatchObject({ title: 'a', ownerId: 9 });
});

it.each(PLATFORMS)('[8.9] operations generates only the named routes on %s', async (platform) => {
  class Entries extends CrudController({
    entity: Entry,
    endpoint: '/entries',
    enableSearch: true,
    searchableFields: ['text'],
    operations: ['findById', 'create'],
  }) {}
  running = await startCrud(platform, { entities: [Entry], resources: [Entries] });
  const { send, logs } = running;
  const json = { text: 'a' };
  const statuses = [
    await send('POST', '/entries', { json }),
    await send('GET', '/entries/1'),
    await send('GET', '/entries'),
    await send('GET', '/entries/search?text=a'),
    await send('PUT', '/entries/1', { json }),
    await send('PATCH', '/entries/1', { json }),
    await send('DELETE', '/entries/1'),
  ].map(({ status }) => status);
  // Without the route, `search` is read as an id.
  expect(statuses).toEqual([201, 200, 404, 400, 404, 404, 404]);
  expect(logs.filter((line) => line.includes('Unpaginated'))).toEqual([]);
});

it.each(PLATFORMS)('[4.7] [8.9] every operation on several records can be overridden on %s', async (platform) => {
  const own = <R extends object>(answer: R) => ({ ...answer, message: 'own' });
  class Overridden extends CrudController({
    entity: Removable,
    endpoint: '/removables',
    enableSearch: true,
    searchableFields: ['text'],
    enableExists: true,
    enableCount: true,
    enableBatch: true,
    enableRestore: true,
    aggregatableFields: ['text'],
  }) {
    @Get('search') override async search(query: ListQuery) {
      return own(await super.search(query));
    }
    @Get('exists/:id') override async exists(id: string) {
      return own(await super.exists(id));
    }
    @Get('count') override async count(query: ListQuery) {
      return own(await super.count(query));
    }
    @Get('aggregate') override async aggregate(query: ListQuery) {
      return own(await super.aggregate(query));
    }
    @Post('batch') override async createMany(body: JsonObject, query?: ListQuery) {
      return own(await super.createMany(body, query));
    }
    @Patch('batch') override async patchMany(body: JsonObject, query?: ListQuery) {
      return own(await super.patchMany(body, query));
    }
    @Delete('batch') override async deleteMany(query: ListQuery) {
      return own(await super.deleteMany(query));
    }
    @Post(':id/restore') @HttpCode(200) override async restore(id: string) {
      return own(await super.restore(id));
    }
  }
  running = await startCrud(platform, { entities: [Removable], resources: [Overridden] });
  for (const [method, path, status, json] of [
    ['POST', '/batch', 201, { items: [{ text: 'a' }, { text: 'b' }] }],
    ['PATCH', '/batch', 200, { items: [{ id: 1, text: 'c' }] }],
    ['GET', '/search?text=c', 200],
    ['GET', '/exists/1', 200],
    ['GET', '/count', 200],
    ['GET', '/aggregate?groupBy=text', 200],
    ['DELETE', '/batch?ids=1', 200],
    ['POST', '/1/restore', 200],
  ] as const) {
    const answer = await running.send(method, `/removables${path}`, json ? { json } : {});
    expect([method, path, answer.status, answer.json.message]).toEqual([method, path, status, 'own']);
  }
});
