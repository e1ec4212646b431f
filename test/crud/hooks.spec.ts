import { ConflictException, Delete, ForbiddenException, Get, HttpCode, Patch, Post } from '@nestjs/common';
import {
  IsEmail,
  IsIn,
  IsInt,
  IsOptional,
  Length,
  Matches,
  Max,
  Min,
  MinLength,
  Validate,
  ValidateNested,
  type ValidationArguments,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
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
  AfterInsert,
  AfterLoad,
  AfterRemove,
  AfterSoftRemove,
  AfterUpdate,
  BeforeInsert,
  BeforeRemove,
  BeforeSoftRemove,
  BeforeUpdate,
  Column,
  DeleteDateColumn,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  type InsertEvent,
  JoinTable,
  ManyToMany,
  PrimaryGeneratedColumn,
  type RemoveEvent,
  type UpdateEvent,
  VersionColumn,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { type DatabaseName, DATABASES } from '../harness/databases.js';
import { type Platform, PLATFORMS } from '../harness/platforms.js';
import { type CrudService, failure, startCrud, wrongFields } from './service.js';

const calls: string[] = [];

/** Changes what it looks at. */
@ValidatorConstraint()
class Tidies implements ValidatorConstraintInterface {
  validate(name: unknown, { object }: ValidationArguments): boolean {
    Object.assign(object, { name: String(name).trim(), by: 'Tidies' });
    return true;
  }
}

@Entity()
class Tidied {
  @PrimaryGeneratedColumn()
  id!: number;

  @Validate(Tidies)
  @Column({ length: 20 })
  name!: string;

  @Column({ type: 'varchar', length: 20, nullable: true })
  by!: string | null;
}

@Entity()
class Listened {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  title!: string;

  @Column({ type: 'varchar', length: 40, nullable: true })
  slug!: string | null;

  @Column({ type: 'varchar', length: 40, nullable: true, select: false })
  hash!: string | null;

  @BeforeInsert()
  beforeInsert(): void {
    calls.push(`beforeInsert ${this.title}`);
    this.slug = `in-${this.title}`;
    if (this.hash) this.hash = `hash of ${this.hash}`;
  }
  @AfterInsert()
  afterInsert(): void {
    calls.push(`afterInsert ${this.id}`);
  }
  @BeforeUpdate()
  beforeUpdate(): void {
    calls.push(`beforeUpdate ${this.title}`);
    this.slug = `up-${this.title}`;
  }
  @AfterUpdate()
  afterUpdate(): void {
    calls.push('afterUpdate');
  }
  @AfterLoad()
  afterLoad(): void {
    calls.push('afterLoad');
  }
  @BeforeRemove()
  beforeRemove(): void {
    calls.push(`beforeRemove ${this.title}`);
  }
  @AfterRemove()
  afterRemove(): void {
    calls.push('afterRemove');
  }
}

@Entity()
class SoftListened {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  title!: string;

  @DeleteDateColumn()
  gone!: Date | null;

  @BeforeSoftRemove()
  beforeSoftRemove(): void {
    calls.push(`beforeSoftRemove ${this.title}`);
  }
  @AfterSoftRemove()
  afterSoftRemove(): void {
    calls.push('afterSoftRemove');
  }
}

@Entity()
class Subscribed {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  title!: string;
}

@EventSubscriber()
class Subscriber implements EntitySubscriberInterface<Subscribed> {
  listenTo() {
    return Subscribed;
  }
  beforeInsert({ entity }: InsertEvent<Subscribed>): void {
    calls.push(`subscriber beforeInsert ${entity.title}`);
  }
  afterInsert({ entity }: InsertEvent<Subscribed>): void {
    calls.push(`subscriber afterInsert ${entity.title}`);
  }
  beforeUpdate({ entity }: UpdateEvent<Subscribed>): void {
    calls.push(`subscriber beforeUpdate ${entity?.['title']}`);
  }
  afterUpdate({ entity }: UpdateEvent<Subscribed>): void {
    calls.push(`subscriber afterUpdate ${entity?.['title']}`);
  }
  beforeRemove(_event: RemoveEvent<Subscribed>): void {
    calls.push('subscriber beforeRemove');
  }
  afterLoad(entity: Subscribed): void {
    calls.push(`subscriber afterLoad ${entity.title}`);
  }
}

@Entity()
class Computed {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  first!: string;

  initials?: string;

  @AfterLoad()
  compute(): void {
    this.initials = this.first.charAt(0);
    this.first = this.first.trim();
  }
}

class Home {
  @Column({ length: 40, default: '' })
  @Length(2, 40)
  city!: string;
}

@Entity()
class Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 60 })
  @IsEmail({}, { message: 'must be an address' })
  email!: string;

  @Column()
  @IsInt()
  @Min(18)
  @Max(99)
  age!: number;

  @Column({ type: 'varchar', length: 20, nullable: true })
  @IsOptional()
  @Matches(/^\+\d+$/)
  phone!: string | null;

  @Column({ length: 10, default: 'basic' })
  @IsIn(['basic', 'gold'])
  plan!: string;

  @Column({ length: 60, select: false })
  @MinLength(8)
  password!: string;

  @Column(() => Home)
  @ValidateNested()
  home!: Home;
}

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('fastify', {
      database,
      dataSource: { subscribers: [Subscriber] },
      resources: [
        { entity: Listened, endpoint: '/api/listened' },
        { entity: SoftListened, endpoint: '/api/soft' },
        { entity: Subscribed, endpoint: '/api/subscribed' },
        { entity: Computed, endpoint: '/api/computed' },
        { entity: Member, endpoint: '/api/members' },
      ],
    });
  });
  beforeEach(() => {
    calls.length = 0;
  });
  afterAll(() => service.close());

  it('[4.6] listeners of the entity run on create, and what they set is stored', async () => {
    const { json } = await service.post('/api/listened', { title: 'a', hash: 'plain' });
    expect(json.data).toEqual({ id: json.data.id, title: 'a', slug: 'in-a' });
    expect(calls).toEqual(expect.arrayContaining(['beforeInsert a', `afterInsert ${json.data.id}`]));
    const [row] = await service.dataSource
      .getRepository(Listened)
      .createQueryBuilder('r')
      .select('r.hash', 'hash')
      .where('r.id = :id', { id: json.data.id })
      .getRawMany<{ hash: string }>();
    expect(row?.hash).toBe('hash of plain');
  });

  it('[4.6] listeners of the entity run on update, and what they set is stored', async () => {
    const { id } = (await service.post('/api/listened', { title: 'a' })).json.data as { id: number };
    calls.length = 0;
    const { json } = await service.put(`/api/listened/${id}`, { title: 'b' });
    expect(json.data).toEqual({ id, title: 'b', slug: 'up-b' });
    expect((await service.get(`/api/listened/${id}`)).json.data.slug).toBe('up-b');
    expect(calls).toEqual(expect.arrayContaining(['beforeUpdate b', 'afterUpdate']));
    expect(calls).not.toContain('beforeInsert b');
  });

  it('[4.6] listeners of the entity run on delete', async () => {
    const { id } = (await service.post('/api/listened', { title: 'a' })).json.data as { id: number };
    calls.length = 0;
    expect((await service.del(`/api/listened/${id}`)).status).toBe(200);
    expect(calls).toEqual(expect.arrayContaining(['beforeRemove a', 'afterRemove']));
    expect((await service.get(`/api/listened/${id}`)).status).toBe(404);
    expect((await service.del(`/api/listened/${id}`)).status).toBe(404);
  });

  it('[4.6] listeners of a soft removal run on delete', async () => {
    const { id } = (await service.post('/api/soft', { title: 'a' })).json.data as { id: number };
    expect((await service.del(`/api/soft/${id}`)).status).toBe(200);
    expect(calls).toEqual(['beforeSoftRemove a', 'afterSoftRemove']);
    expect((await service.get(`/api/soft/${id}`)).status).toBe(404);
  });

  it('[4.6] listeners after the load run on every read', async () => {
    const { id } = (await service.post('/api/listened', { title: 'a' })).json.data as { id: number };
    for (const path of [`/api/listened/${id}`, '/api/listened']) {
      calls.length = 0;
      await service.get(path);
      expect(calls).toContain('afterLoad');
    }
  });

  it('[4.6] what a listener after the load changes of a column is read', async () => {
    const { id } = (await service.post('/api/computed', { first: ' Ann ' })).json.data as { id: number };
    expect((await service.get(`/api/computed/${id}`)).json.data).toEqual({ id, first: 'Ann' });
  });

  it('[4.6] subscribers are told', async () => {
    const { id } = (await service.post('/api/subscribed', { title: 'a' })).json.data as { id: number };
    expect(calls).toEqual(expect.arrayContaining(['subscriber beforeInsert a', 'subscriber afterInsert a']));
    calls.length = 0;
    await service.put(`/api/subscribed/${id}`, { title: 'b' });
    expect(calls).toEqual(expect.arrayContaining(['subscriber beforeUpdate b', 'subscriber afterUpdate b']));
    calls.length = 0;
    await service.get(`/api/subscribed/${id}`);
    expect(calls).toEqual(['subscriber afterLoad b']);
    calls.length = 0;
    await service.del(`/api/subscribed/${id}`);
    expect(calls).toContain('subscriber beforeRemove');
  });

  it('[4.6] no listener runs for a record that is refused', async () => {
    await service.post('/api/listened', { title: 5 });
    await service.put('/api/listened/999999', { title: 'a' });
    expect(calls.filter((call) => !call.includes('Load'))).toEqual([]);
  });

  const member = { email: 'ann@example.com', age: 30, password: 'long enough', home: { city: 'Ulm' } };
  const created = async (): Promise<number> => (await service.post('/api/members', member)).json.data.id;

  it.each<[object, string[]]>([
    [{ email: 'nonsense' }, ['email']],
    [{ age: 17 }, ['age']],
    [{ age: 100 }, ['age']],
    [{ phone: '0731' }, ['phone']],
    [{ plan: 'silver' }, ['plan']],
    [{ password: 'short' }, ['password']],
    [{ home: { city: 'U' } }, ['home.city']],
    [{ email: 'x', age: 1, plan: 'x', phone: 'x' }, ['age', 'email', 'phone', 'plan']],
    // What the columns refuse and what the decorators refuse, in one answer.
    [{ email: 5, age: 1 }, ['age', 'email']],
    [{ colour: 'red', age: 1 }, ['age', 'colour']],
  ])('[4.6] class-validator decorators of the entity apply: %j', async (fields, names) => {
    expect(wrongFields(await service.post('/api/members', { ...member, ...fields }))).toEqual(names);
    const id = await created();
    expect(wrongFields(await service.put(`/api/members/${id}`, { ...member, ...fields }))).toEqual(names);
    expect((await service.get(`/api/members/${id}`)).json.data).toMatchObject({ email: 'ann@example.com', age: 30 });
  });

  it('[4.6] the message of a decorator is the message of its field', async () => {
    const { json } = await service.post('/api/members', { ...member, email: 'nonsense' });
    expect(json.errors).toEqual([{ field: 'email', message: 'must be an address' }]);
  });

  it('[4.6] decorators take what they allow, and optional fields may be left out', async () => {
    const { status, json } = await service.post('/api/members', { ...member, phone: '+49731' });
    expect([status, json.data]).toEqual([
      201,
      { id: json.data.id, email: member.email, age: 30, phone: '+49731', plan: 'basic', home: { city: 'Ulm' } },
    ]);
    const again = await service.put(`/api/members/${json.data.id}`, member);
    expect([again.status, again.json.data.phone]).toEqual([200, null]);
  });

  it('[4.6] decorators of a hidden column do not stand in the way of a PUT that leaves it out', async () => {
    const id = await created();
    const { password: _password, ...rest } = member;
    expect((await service.put(`/api/members/${id}`, rest)).status).toBe(200);
    const read = (await service.get(`/api/members/${id}`)).json.data;
    expect((await service.put(`/api/members/${id}`, read)).status).toBe(200);
    expect(wrongFields(await service.post('/api/members', rest))).toEqual(['password']);
  });

  it('[4.6] a value that a decorator of a hidden column refuses is not in the answer', async () => {
    const { text } = await service.post('/api/members', { ...member, password: 'canary' });
    expect(text).not.toContain('canary');
  });
});

describe.each(DATABASES)('on %s', (database) => {
  it.each(['compiled', 'repository'] as const)(
    '[4.6] what a class-validator constraint makes of an entity is what is stored, on the path %s',
    async (path) => {
      const service = await startCrud('express', {
        database,
        path,
        entities: [Tidied],
        resources: [{ entity: Tidied, endpoint: '/api/tidied' }],
      });
      const answers = [
        await service.post('/api/tidied', { name: ' a ' }),
        await service.put('/api/tidied/1', { name: ' b ', by: 'me' }),
        await service.put('/api/tidied/1', { name: ' c ' }),
        await service.get('/api/tidied/1'),
      ];
      expect(answers.map(({ json }) => json.data)).toEqual(
        ['a', 'b', 'c', 'c'].map((name) => ({ id: 1, name, by: 'Tidies' })),
      );
      await service.close();
    },
  );
});

/** The option `operations`, and hooks of a subclass: `beforeCreate` and the others. */
describe('hooks of operations', () => {
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
      fieldPermissions: { secret: { write: 'never' } },
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
      entries: async () =>
        (await dataSource.getRepository(Entry).find({ order: { id: 'ASC' } })).map(({ text }) => text),
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
        isDescribed: false,
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
    expect((await admin.patch('/articles/1', { title: 'b' })).json.data).toMatchObject({ title: 'b', ownerId: 9 });
  });

  it('[8.9] what a hook returns is merged over the values, and `undefined` counts as not sent', async () => {
    const { client } = await start(
      {},
      { beforeCreate: () => ({ slug: 'set' }), beforeUpdate: () => ({ title: undefined, slug: 'new' }) },
    );
    expect((await client.post('/articles', { title: 'a' })).json.data).toMatchObject({ title: 'a', slug: 'set' });
    const patched = await client.patch('/articles/1', { title: 'b' });
    expect(patched.json.data).toMatchObject({ title: 'a', slug: 'new' });
  });

  it.each(PLATFORMS)('[8.9] operations generates only the named routes on %s', async (platform) => {
    class Entries extends CrudController({
      entity: Entry,
      endpoint: '/entries',
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
    expect(statuses).toEqual([201, 200, 404, 404, 404, 404, 404]);
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
});
