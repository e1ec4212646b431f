/** With TypeORM's query cache switched on for every statement, generated reads and reads of accounts are current. */
import type { Type } from '@nestjs/common';
import { AuthModule, AuthUser, type CrudResource, UserAccounts } from 'declarest';
import {
  AfterLoad,
  BeforeRecover,
  BeforeRemove,
  BeforeSoftRemove,
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeParent,
  type Relation,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { TEST_SECRET } from '../harness/tokens.js';
import { type CrudService, crudError, startCrud } from './service.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  title!: string;

  @Column('simple-json')
  data!: object;
}

@Entity()
class HeardNote extends Note {
  @AfterLoad()
  @BeforeRemove()
  hear(): void {}
}

@Entity()
class Member extends AuthUser {}

describe.each(DATABASES)('the query cache of a data source on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    const resourceOf = (entity: Type<Note>, endpoint: string) => ({
      entity,
      endpoint,
      enablePagination: true,
      enableCount: true,
      enableExists: true,
      enableSearch: true,
      searchableFields: ['title' as const],
      aggregatableFields: ['title' as const],
    });
    service = await startCrud('express', {
      database,
      // A minute is longer than the test.
      dataSource: { cache: { alwaysEnabled: true, duration: 60_000 } },
      resources: [resourceOf(Note, '/notes'), resourceOf(HeardNote, '/heard')],
      imports: [
        AuthModule.forRoot({
          userClass: Member,
          loginMethod: 'EMAIL',
          jwtSecret: TEST_SECRET,
          bcryptRounds: 4,
          sessions: true,
          defaultAccess: 'public',
          administration: true,
        }),
      ],
    });
  });
  afterAll(() => service.close());

  it.each(['/notes', '/heard'])('is not used by %s', async (endpoint) => {
    const { json: made } = await service.post(endpoint, { title: 'a', data: { kept: 1 } });
    const path = `${endpoint}/${made.data.id}`;
    for (const data of [{ first: 1 }, { second: 2 }]) await service.send('PATCH', path, { json: { data } });
    expect((await service.get(path)).json.data.data).toEqual({ kept: 1, first: 1, second: 2 });
    const replaced = await service.put(path, { title: 'b', data: {} });
    expect(replaced.json.data).toEqual({ id: made.data.id, title: 'b', data: {} });
    const reads = async () => {
      const parts = ['', '?count=capped', '/count', '/aggregate?groupBy=title', '/search?title=b'];
      const answers = [...parts, `/exists/${made.data.id}`];
      const [list, capped, count, groups, found, exists] = await Promise.all(
        answers.map((each) => service.get(endpoint + each)),
      );
      return [
        list?.json.metadata.pagination.total,
        capped?.json.metadata.pagination.total,
        count?.json.data.count,
        groups?.json.data.length,
        found?.json.data.length,
        exists?.json.data.exists,
        (await service.get(path)).status,
      ];
    };
    expect(await reads()).toEqual([1, 1, 1, 1, 1, true, 200]);
    expect((await service.del(path)).status).toBe(200);
    expect(await reads()).toEqual([0, 0, 0, 0, 0, false, 404]);
  });

  it('is not used by accounts', async () => {
    const accounts = service.app.get(UserAccounts, { strict: false });
    const member = await accounts.create({ email: 'ann@example.com', password: 'a long password' });
    const login = () => service.post('/api/auth/login', { email: 'ann@example.com', password: 'a long password' });
    const { json } = await login();
    const { token } = json.data;
    const me = () => service.send('GET', '/api/auth/me', { token });
    expect((await me()).status).toBe(200);
    const sessions = async () => (await service.send('GET', '/api/auth/sessions', { token })).json.data.length;
    expect(await sessions()).toBe(1);
    await login();
    expect(await sessions()).toBe(2);
    await accounts.setActive(String(member.id), false);
    expect([(await me()).status, (await login()).status]).toEqual([401, 401]);
    await accounts.setActive(String(member.id), true);
    expect((await login()).status).toBe(200);
  });
});

@Entity()
@Tree('materialized-path')
class Path {
  @PrimaryColumn({ length: 20 })
  id!: string;

  @TreeParent()
  parent!: Relation<Path> | null;

  @TreeChildren()
  children!: Relation<Path>[];
}

@Entity()
@Tree('closure-table')
class Closure {
  @PrimaryColumn({ length: 20 })
  id!: string;

  @TreeParent()
  parent!: Relation<Closure> | null;

  @TreeChildren()
  children!: Relation<Closure>[];
}

@Entity()
@Tree('nested-set')
class NestedSet {
  @PrimaryColumn({ length: 20 })
  id!: string;

  @TreeParent()
  parent!: Relation<NestedSet> | null;

  @TreeChildren()
  children!: Relation<NestedSet>[];
}

@Entity()
@Tree('nested-set')
class HeardSet {
  @PrimaryColumn({ length: 20 })
  id!: string;

  @TreeParent()
  parent!: Relation<HeardSet> | null;

  @TreeChildren()
  children!: Relation<HeardSet>[];

  @BeforeRemove()
  hear(): void {}
}

@Entity()
class Label {
  @PrimaryGeneratedColumn()
  id!: number;
}

/** TypeORM reads the record and its links before it calls these listeners. */
@Entity()
class HeardLinks {
  @PrimaryColumn({ length: 20 })
  id!: string;

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @ManyToMany(() => Label)
  @JoinTable()
  labels!: Label[];

  @BeforeRemove()
  @BeforeSoftRemove()
  @BeforeRecover()
  hear(): void {}
}

const cached = { cache: { alwaysEnabled: true, duration: 60_000 } };

describe.each(DATABASES)('[issue 11] trees with the query cache on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    const once = { parentId: { write: 'once' as const } };
    service = await startCrud('express', {
      database,
      dataSource: cached,
      entities: [Path, Closure, NestedSet, Label, HeardLinks],
      resources: [
        { entity: Path, endpoint: '/path' },
        { entity: Closure, endpoint: '/closure' },
        { entity: NestedSet, endpoint: '/set', fieldPermissions: once },
        { entity: Label, endpoint: '/labels' },
        { entity: HeardLinks, endpoint: '/heard', linkableRelations: ['labels'], enableRestore: true },
      ] as CrudResource[],
    });
  });
  afterAll(() => service.close());

  const create = async (endpoint: string, id: string, parentId: string | null = null) =>
    (await service.post(endpoint, { id, parentId })).status;
  const move = async (endpoint: string, id: string, parentId: string | null) => {
    const { status, json } = await service.send('PATCH', `${endpoint}/${id}`, { json: { parentId } });
    return status === 200 ? (json.data.parentId as string | null) : status;
  };
  const rows = async (table: string, columns: readonly string[]): Promise<string[]> => {
    const [from, ...names] = [table, ...columns].map((name) => service.dataSource.driver.escape(name));
    const found: object[] = await service.dataSource.query(`SELECT ${names.join()} FROM ${from}`);
    return found.map((row) => Object.values(row).join(' ')).toSorted();
  };

  it.each(['/path', '/closure'])('moves at %s are decided by the tables', async (endpoint) => {
    for (const [id, parent] of [['a'], ['b', 'a'], ['d', 'a'], ['e', 'a']] as const)
      expect(await create(endpoint, id, parent)).toBe(201);
    const moves = [
      ['e', 'b', 'b'],
      ['b', 'd', 'd'],
      ['d', 'b', 409],
      ['b', null, null],
      ['b', 'd', 'd'],
      ['b', 'a', 'a'],
      ['d', 'b', 'b'],
      ['b', 'e', 409],
      ['d', 'a', 'a'],
      ['b', 'd', 'd'],
      ['a', 'e', 409],
    ] as const;
    for (const [id, parent, expected] of moves)
      expect([id, parent, await move(endpoint, id, parent)]).toEqual([id, parent, expected]);
    expect(await create(endpoint, 'f', 'b')).toBe(201);
    if (endpoint === '/path')
      expect(await rows('path', ['mpath'])).toEqual(['a.', 'a.d.', 'a.d.b.', 'a.d.b.e.', 'a.d.b.f.']);
    else
      expect(await rows('closure_closure', ['id_ancestor', 'id_descendant'])).toEqual(
        ['aa', 'ab', 'ad', 'ae', 'af', 'bb', 'be', 'bf', 'db', 'dd', 'de', 'df', 'ee', 'ff'].map((pair) =>
          [...pair].join(' '),
        ),
      );
  });

  it('nodes of a nested set get their place by the table', async () => {
    for (const [id, parent] of [['a'], ['b', 'a'], ['c', 'a'], ['d', 'b'], ['e', 'b']] as const)
      expect(await create('/set', id, parent)).toBe(201);
    expect((await service.del('/set/d')).status).toBe(200);
    // The same id again, at another place.
    expect(await create('/set', 'd', 'c')).toBe(201);
    expect((await service.del('/set/d')).status).toBe(200);
    expect(await rows('nested_set', ['id', 'nsleft', 'nsright'])).toEqual(['a 1 8', 'b 2 5', 'c 6 7', 'e 3 4']);
  });

  it('a nested set whose listeners TypeORM calls refuses to start', async () => {
    const operations = ['findAll', 'create', 'delete'];
    const resources = [{ entity: HeardSet, endpoint: '/set', operations }] as CrudResource[];
    const { message } = await crudError('express', { database, dataSource: cached, entities: [HeardSet], resources });
    expect(message).toContain('must be an array without delete and deleteMany');
    expect(message).toContain('query cache');
    await (await startCrud('express', { database, entities: [HeardSet], resources })).close();
  });

  it('a record with listeners is hidden, restored and deleted by the tables', async () => {
    for (let count = 0; count < 3; count += 1) await service.post('/labels', {});
    const status = async (method: string, path: string) => (await service.send(method, `/heard/x${path}`)).status;
    for (const labelsIds of [[1], [2, 3], []]) {
      expect((await service.post('/heard', { id: 'x', labelsIds })).status).toBe(201);
      for (let count = 0; count < 2; count += 1) {
        expect([await status('DELETE', ''), await status('GET', '')]).toEqual([200, 404]);
        expect([await status('POST', '/restore'), await status('GET', '')]).toEqual([200, 200]);
      }
      expect((await service.get('/heard/x')).json.data.labelsIds).toEqual(labelsIds);
      await service.dataSource.query('DELETE FROM heard_links');
    }
  });
});
