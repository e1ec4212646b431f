import { Exclude, Expose, Transform } from 'class-transformer';
import { BeforeInsert, Column, Entity, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Type } from '@nestjs/common';
import { DATABASES } from '../harness/databases.js';
import { crudError, type CrudService, type DataPath, startCrud, wrongFields } from './service.js';

@Entity()
class NoKey {
  @Column()
  name!: string;
}

class Numbered {
  @PrimaryColumn()
  nr!: number;
}

@Entity()
class EmbeddedKey {
  @Column(() => Numbered)
  key!: Numbered;
}

@Entity()
class Twofold {
  @PrimaryColumn()
  a!: number;

  @PrimaryColumn()
  b!: number;
}

/** Without properties for its foreign key. */
@Entity()
class RefersToTwofold {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Twofold)
  twofold!: Twofold;
}

@Entity()
class TextKey {
  @PrimaryColumn({ length: 20 })
  id!: string;

  @Column()
  name!: string;

  @BeforeInsert()
  setId(): void {
    this.id = `key-${this.name}`;
  }
}

@Entity()
class InitialisedKey {
  @PrimaryColumn({ type: 'varchar', length: 30 })
  id = `k${Math.random()}`;

  @Column()
  name!: string;
}

@Entity()
class UuidKey {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column()
  name!: string;
}

abstract class Base {
  @PrimaryGeneratedColumn({ name: 'pk_of_it' })
  id!: number;
}

@Entity()
class InheritedKey extends Base {
  @Column()
  name!: string;
}

it.each<[string, Type, RegExp[]]>([
  ['without a primary key', NoKey, [/NoKey/, /primary/i]],
  ['whose key lies in an embedded object', EmbeddedKey, [/EmbeddedKey/, /`key.nr`/]],
  ['whose foreign key of two columns has no properties', RefersToTwofold, [/`twofold`/, /twofoldA, twofoldB/]],
])('[4.8] an entity %s refuses to boot and says how to fix it', async (_what, entity, says) => {
  const { message } = await crudError('express', {
    entities: [Twofold, entity],
    resources: [{ entity, endpoint: '/api/records' }],
  });
  for (const what of says) expect(message).toMatch(what);
  expect(message).not.toMatch(/\n\s+at |SQLITE|QueryFailed/);
});

describe.each(DATABASES)('on %s', (database) => {
  @Entity()
  class BigKey {
    // SQLite generates keys of the type "integer" only, which has 64 bits there.
    @PrimaryGeneratedColumn('increment', { type: database === 'sqlite' ? 'integer' : 'bigint' })
    id!: string;

    @Column()
    name!: string;
  }

  const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  it.each<[string, Type, unknown, string]>([
    ['a text id set before the insert', TextKey, 'key-a', 'key-none'],
    ['a text id that the class initialises', InitialisedKey, expect.stringMatching(/^k0\./), 'none'],
    ['a UUID id', UuidKey, expect.stringMatching(UUID), '00000000-0000-4000-8000-000000000000'],
    ['a 64-bit id', BigKey, 1, '2'],
    ['an id of a base class and another column name', InheritedKey, 1, '2'],
  ])('[4.8] every operation works with %s', async (_what, entity, id, missing) => {
    const service = await startCrud('fastify', {
      database,
      entities: [entity],
      resources: [
        {
          entity,
          endpoint: '/api/records',
          enableSearch: true,
          enableExists: true,
          enablePagination: true,
          searchableFields: ['name'],
        },
      ],
    });
    const { status, json, headers } = await service.post('/api/records', { name: 'a' });
    expect([status, json.data]).toEqual([201, { id, name: 'a' }]);
    const own = json.data.id as string | number;
    const path = `/api/records/${own}`;
    expect(headers['location']).toBe(path);
    expect((await service.get(path)).json.data).toEqual({ id: own, name: 'a' });
    expect((await service.put(path, { id: own, name: 'b' })).json.data).toEqual({ id: own, name: 'b' });
    expect((await service.get('/api/records')).json.data).toEqual([{ id: own, name: 'b' }]);
    expect((await service.get('/api/records/search?q=B')).json.data).toEqual([{ id: own, name: 'b' }]);
    expect((await service.get(`/api/records/exists/${own}`)).json.data).toEqual({ exists: true });
    expect((await service.get(`/api/records/exists/${missing}`)).json.data).toEqual({ exists: false });
    expect((await service.get(`/api/records/${missing}`)).json.message).toBe(
      `${entity.name} with id ${missing} not found`,
    );
    expect((await service.put(`/api/records/${missing}`, { name: 'c' })).status).toBe(404);
    expect((await service.del(`/api/records/${missing}`)).status).toBe(404);
    expect((await service.del(path)).status).toBe(200);
    expect((await service.get('/api/records')).json.metadata.pagination.total).toBe(0);
    await service.close();
  });
});

it.each([
  ['a space', 'a b', 'a%20b'],
  ['a slash', 'a/b', 'a%2Fb'],
  ['a percent sign', '50%', '50%25'],
  ['other alphabets', 'ключ', encodeURIComponent('ключ')],
  ['a name of the prototype', '__proto__', '__proto__'],
])('[4.8] [4.1] escapes %s of a text id in the Location', async (_what, name, encoded) => {
  const resources = [{ entity: TextKey, endpoint: '/api/free' }];
  const service = await startCrud('express', { entities: [TextKey], resources });
  const { headers, json } = await service.post('/api/free', { name });
  expect([json.data.id, headers['location']]).toEqual([`key-${name}`, `/api/free/key-${encoded}`]);
  expect((await service.get(headers['location'] ?? '')).json.data).toEqual({ id: `key-${name}`, name });
  await service.close();
});

/** An accessor of the prototype, which a field of the class hides once its constructor has run. */
const reading =
  (seen: string): PropertyDecorator =>
  (prototype, name) => {
    Object.defineProperty(prototype, name, { configurable: true, get: () => seen });
  };

@Entity()
class Shadowing {
  @PrimaryGeneratedColumn()
  id!: number;

  @reading('of the prototype')
  @Column()
  name: string = '';
}

class Meta {
  @Column({ nullable: true })
  a!: string;
}

@Entity()
class Embedding {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column(() => Meta)
  meta: Meta = Object.assign(Object.create(null) as Meta, { a: 'x' });
}

it.each<[string, DataPath, Type, (text: string) => object]>([
  ['whose field hides an accessor', 'compiled', Shadowing, (name) => ({ name })],
  ['whose field hides an accessor', 'repository', Shadowing, (name) => ({ name })],
  ['whose embedded default has no prototype', 'repository', Embedding, (a) => ({ meta: { a } })],
])('[4.3] an entity %s is created and replaced (%s)', async (_, path, entity, of) => {
  const service = await startCrud('fastify', {
    entities: [entity],
    path,
    resources: [{ entity, endpoint: '/things' }],
  });
  expect((await service.post('/things', of('new'))).json.data).toMatchObject(of('new'));
  expect((await service.put('/things/1', of('changed'))).json.data).toMatchObject(of('changed'));
  expect((await service.get('/things/1')).json.data).toMatchObject(of('changed'));
  await service.close();
});

class Address {
  @Column({ default: 'Ulm' })
  city!: string;

  @Exclude()
  @Column({ default: 'canary' })
  hint!: string;
}

@Entity()
class Team {
  @PrimaryGeneratedColumn()
  id!: number;
}

/** Excluded columns hold a canary. */
@Entity()
class Account {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @Exclude()
  @Column({ default: 'canary' })
  secret!: string;

  @Exclude({ toPlainOnly: true })
  @Column({ default: 'canary' })
  plain!: string;

  @Exclude({ toClassOnly: true })
  @Column({ default: 'sent' })
  input!: string;

  @Transform(({ value }: { value: string }) => value.toUpperCase(), { toPlainOnly: true })
  @Expose({ name: 'renamed' })
  @Column({ default: 'sent' })
  transformed!: string;

  @Column(() => Address)
  address!: Address;

  @Exclude()
  @ManyToOne(() => Team)
  team!: Team | null;
}

@Exclude()
@Entity()
class Closed {
  @Expose()
  @PrimaryGeneratedColumn()
  id!: number;

  @Expose()
  @Transform(({ value }: { value: Date }) => value.toISOString(), { toPlainOnly: true })
  @Column({ type: 'varchar', default: 'sent' })
  first!: string;

  @Expose()
  @Column()
  name!: string;

  @Column({ default: 'canary' })
  hidden!: string;
}

const SEARCH = { enablePagination: true, enableSearch: true, searchableFields: ['name' as const] };

describe('@Exclude() of class-transformer', () => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('fastify', {
      entities: [Account, Team, Closed],
      resources: [Account, Closed].map((entity) => ({ entity, endpoint: `/${entity.name.toLowerCase()}`, ...SEARCH })),
    });
    await service.dataSource.getRepository(Team).insert({});
  });
  afterAll(() => service.close());

  it.each([
    ['account', { input: 'sent', transformed: 'sent', address: { city: 'Ulm' } }],
    ['closed', { first: 'sent' }],
  ])('[4.6] [9.3] never sends an excluded column of %s', async (path, sent) => {
    const record = { id: 1, name: 'a', ...sent };
    const answers = [
      await service.post(`/${path}`, { name: 'a', ...(path === 'account' && { teamId: 1 }) }),
      await service.put(`/${path}/1`, record),
      await service.get(`/${path}/1`),
    ];
    for (const { json, text } of answers) {
      expect(json.data).toEqual(record);
      expect(text).not.toContain('canary');
    }
    expect((await service.get(`/${path}`)).json.data).toEqual([record]);
    expect((await service.get(`/${path}/search?q=a`)).json.data).toEqual([record]);
  });

  it('[4.6] keeps an excluded column in a PUT that leaves it out', async () => {
    const { json } = await service.post('/account', { name: 'b', secret: 'own', teamId: 1 });
    await service.put(`/account/${json.data.id}`, { name: 'c' });
    const query = `SELECT secret, "teamId" FROM account WHERE name = 'c'`;
    expect(await service.dataSource.query(query)).toEqual([{ secret: 'own', teamId: 1 }]);
  });

  it('[9.3] has no excluded column among the names of a query', async () => {
    const reads = await startCrud('fastify', {
      entities: [Account, Team],
      resources: [
        {
          entity: Account,
          endpoint: '/account',
          filterableFields: true,
          sortableFields: ['name'],
          enableExport: true,
          aggregatableFields: ['name'],
          includableRelations: [],
        },
      ],
    });
    await reads.dataSource.getRepository(Team).insert({});
    await reads.post('/account', { name: 'a', teamId: 1, secret: 'canary' });
    for (const query of [
      '?filter[secret]=canary',
      '?filter[not][address.hint]=x',
      '?filter[teamId]=1',
      '?fields=secret',
      '?fields=address.hint',
      '/1?fields=teamId',
      '?sort=secret',
      '/aggregate?groupBy=secret',
      '/export?format=csv&fields=secret',
    ]) {
      const answer = await reads.get(`/account${query}`);
      expect(wrongFields(answer)).toHaveLength(1);
      expect(JSON.stringify(answer.json.errors).replaceAll(/"field":"[^"]*"|\\"[^"]*\\"/g, '')).not.toMatch(
        /secret|hint|teamId/,
      );
    }
    const { text } = await reads.get('/account/export?format=csv');
    expect(text).toBe('id,name,input,transformed,address.city\r\n1,a,sent,sent,Ulm\r\n');
    await reads.close();
  });

  it.each(['filterableFields', 'sortableFields', 'aggregatableFields'])(
    '[9.3] refuses to start with an excluded column in %s',
    async (option) => {
      const resource = { entity: Account, endpoint: '/account', [option]: ['secret' as never] };
      const { message } = await crudError('fastify', { entities: [Account, Team], resources: [resource] });
      expect(message).toMatch(
        new RegExp(`^CRUD option \`${option}\` of Account must be fields among .+, got "secret"`),
      );
    },
  );

  it('[4.5] refuses to start with an excluded column in searchableFields', async () => {
    const resource = {
      entity: Account,
      endpoint: '/account',
      enableSearch: true,
      searchableFields: ['secret' as never],
    };
    const { message } = await crudError('fastify', { entities: [Account, Team], resources: [resource] });
    expect(message).toMatch(/secret/);
  });
});

it('[4.3] a value for which a transformer fails, or that its text column cannot hold, is 400', async () => {
  @Entity('transformed_text')
  class Cat {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({
      type: 'varchar',
      nullable: true,
      transformer: { to: (value: string | null) => value?.toLowerCase() ?? null, from: (value: unknown) => value },
    })
    nick!: string | null;

    @Column('simple-array', { default: '' })
    tags!: string[];
  }
  const service = await startCrud('express', {
    entities: [Cat],
    resources: [{ entity: Cat, endpoint: '/cats', maxListSize: 5 }],
  });
  for (const [body, message] of [
    [{ nick: 5 }, 'must be a value that the column accepts, got 5'],
    [{ tags: ['\ud800x'] }, expect.stringMatching(/^must be an array of/)],
  ] as const) {
    const { status, json } = await service.post('/cats', body);
    expect([status, json.errors]).toEqual([400, [{ field: Object.keys(body)[0], message }]]);
  }
  expect((await service.post('/cats', { nick: 'TOM' })).json.data).toMatchObject({ id: 1, nick: 'tom' });
  await service.close();
});
