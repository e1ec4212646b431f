import {
  Check,
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import { type DatabaseName, DATABASES } from '../harness/databases.js';
import { seeded } from '../access/random.js';
import { columnsOf, entityOf, sentOf } from './column-cases.js';
import { startTwins, type Twins } from './twins.js';

@Entity()
class Person {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30, unique: true })
  name!: string;

  @OneToMany('Note', 'owner')
  notes!: Promise<Relation<Note>[]>;
}

@Entity()
class Tag {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ length: 30 })
  name!: string;
}

/** Of the widest key that the database generates. */
function accountOf(database: DatabaseName) {
  @Entity()
  class Account {
    @PrimaryGeneratedColumn({ type: database === 'sqlite' ? 'integer' : 'bigint' })
    id!: string;

    @Column({ type: 'bigint', nullable: true })
    balance!: string | null;

    @ManyToOne('Account', { nullable: true })
    parent!: Relation<Account> | null;
  }
  return Account;
}

/** Of a key that the database gives, where it tells of it. */
function settingOf(database: DatabaseName) {
  @Entity()
  class Setting {
    @PrimaryColumn({ type: 'varchar', length: 20, default: 'the one' })
    id = database === 'sqlite' ? 'the one' : undefined;

    @Column({ length: 20 })
    value!: string;
  }
  return Setting;
}

abstract class Dated {
  @CreateDateColumn()
  created!: Date;

  @UpdateDateColumn()
  updated!: Date;

  @DeleteDateColumn()
  deleted!: Date | null;

  @VersionColumn()
  version!: number;
}

@Entity()
@Check('rating < 100')
class Note extends Dated {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ name: 'the_title', length: 20, unique: true })
  title!: string;

  @Column({ type: 'text', nullable: true })
  body!: string | null;

  @Column({ default: 3 })
  rating!: number;

  @Column({ type: 'simple-enum', enum: ['draft', 'public'], default: 'draft' })
  status!: string;

  @Column({ type: 'varchar', length: 20, nullable: true, default: 'no title' })
  mood!: string | null;

  @Column({ type: 'int' })
  views = 7;

  @Column({ default: () => 'CURRENT_TIMESTAMP' })
  published!: Date;

  @Column({ type: 'varchar', length: 50, nullable: true, select: false })
  secret!: string | null;

  @Column({ length: 50, select: false, default: 'token-canary' })
  token!: string;

  @Column({ length: 20, update: false, default: 'fixed' })
  locked!: string;

  @Column({ type: 'varchar', length: 20, nullable: true, insert: false })
  later!: string | null;

  @ManyToOne(() => Person, (person) => person.notes, { nullable: false })
  owner!: Promise<Person>;

  @ManyToOne(() => Tag, { nullable: true })
  tag!: Tag | null;

  @ManyToOne('Note', { nullable: true, onDelete: 'CASCADE' })
  parent!: Relation<Note> | null;

  @Column({ type: 'int', nullable: true })
  editorId!: number | null;

  @ManyToOne(() => Person, { nullable: true })
  @JoinColumn({ name: 'editorId' })
  editor!: Person | null;
}

const resourcesOf = (database: DatabaseName) => [
  { entity: Person, endpoint: '/api/people', enableSearch: true, searchableFields: ['name'] },
  { entity: Tag, endpoint: '/api/tags', enableExists: true, enableSearch: true, searchableFields: ['id', 'name'] },
  { entity: accountOf(database), endpoint: '/api/accounts', enableExists: true, maxListSize: 3 },
  { entity: settingOf(database), endpoint: '/api/settings', enableExists: true },
  {
    entity: Note,
    endpoint: '/api/notes',
    enableExists: true,
    enablePagination: true,
    enableSearch: true,
    searchableFields: ['title', 'body', 'rating', 'status', 'ownerId', 'editorId'],
  },
];

const ODD_IDS = ['0', '-1', '1.5', '%00', '9223372036854775807', "'"];
const ODD_VALUES = [null, 0, 1.5, 1e21, '', '\u0000', '\ud800', true, [], {}, 'ä😀'];
const ODD_QUERIES = ['page=0', 'page=x', 'size=0', 'size=1000', 'page=1&page=2', 'x=1', 'q=', 'title=', '__proto__=1'];

describe.each(DATABASES)('on %s', (database) => {
  const resources = resourcesOf(database);
  describe('with every operation', () => {
    let twins: Twins;
    beforeAll(async () => {
      twins = await startTwins('express', {
        // JSON rounds ids beyond 53 bits.
        isDescribed: (path) => !path.startsWith('/api/accounts/'),
        database,
        entities: resources.map(({ entity }) => entity),
        resources,
      });
    });
    afterAll(() => twins.close());

    it('[4.6] the two run on two paths', () => {
      for (const [service, path] of [
        [twins.compiled, / compiled$/],
        [twins.repository, /^\S+ \S+ \w+: (\S+ )+through the repository/],
      ] as const) {
        const lines = service.logs.filter((line) => line.startsWith('debug') && /: read/.test(line));
        expect(lines).toHaveLength(resources.length);
        for (const line of lines) expect(line).toMatch(path);
      }
    });

    it('[4.1] every operation, and every refusal', async () => {
      for (const name of ['Ann', 'Bob', 'Ann', 'x'.repeat(31), null, 5]) await twins.post('/api/people', { name });
      await twins.post('/api/tags', { name: 'red' });
      const tag = (at: (locations: readonly string[]) => string) => at;
      const red = tag((all) => all.find((each) => each.startsWith('/api/tags/'))!);
      for (const path of [red, tag((all) => red(all).toUpperCase().replace('/API/TAGS', '/api/tags'))]) {
        await twins.get(path);
        await twins.put(path, { name: 'green' });
      }
      await twins.get(tag((all) => red(all).replace('tags/', 'tags/exists/')));
      for (const query of ['name=EE', 'q=-', 'id=-', 'name=%25', 'name=_', 'name=ee&q=gr'])
        await twins.get(`/api/tags/search?${query}`);

      const valid = { title: 'one', ownerId: 1 };
      const bodies = [
        valid,
        valid,
        { ...valid, title: 'two', body: null, rating: 5, status: 'public', mood: null, views: 0 },
        { ...valid, title: 'three', secret: 's', token: 't', locked: 'l', parentId: 1, editorId: 2 },
        { ...valid, title: 'four', published: '2026-01-31T09:30:15Z' },
        { ...valid, title: 'five', ownerId: 99 },
        { ...valid, title: 'six', parentId: 99 },
        { ...valid, title: 'seven', rating: 100 },
        { ...valid, title: 'eight', later: 'x' },
        { ...valid, title: 'nine', editorId: 99 },
        { ...valid, title: 'ten', tagId: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' },
        { ...valid, id: 4, title: 'eleven', created: null, version: 1, deleted: null },
        { title: 'twelve' },
        {},
        { titel: 'x', owner: { id: 1 } },
      ];
      for (const body of bodies) await twins.post('/api/notes', body);
      for (const query of ['', '?page=2&size=1', '?size=1000', '?page=99'].concat(
        ODD_QUERIES.map((each) => `?${each}`),
      ))
        await twins.get(`/api/notes${query}`);
      const searches = ['title=T', 'q=o', 'rating=5', 'status=PUB', 'ownerId=1', 'editorId=2', 'title=w&q=5', 'body=x'];
      for (const query of [...searches, ...ODD_QUERIES, 'title=o&page=2&size=1', 'token=t'])
        await twins.get(`/api/notes/search?${query}`);
      for (const body of bodies) for (const id of [1, 3, 99]) await twins.put(`/api/notes/${id}`, body);
      for (const id of [1, 2, 3, 99]) {
        const { json } = await twins.compiled.get(`/api/notes/${id}`);
        for (const body of [
          json.data ?? {},
          { ...json.data, deleted: '2026-01-31T09:30:15.000Z' },
          { ...valid, locked: 'fixed' },
          { ...valid, locked: 'other' },
        ])
          // The times of the two are not the same.
          await twins.put(`/api/notes/${id}`, { ...body, created: undefined, updated: undefined });
      }
      for (const id of [...ODD_IDS, '1', '99'])
        for (const endpoint of ['notes', 'tags', 'accounts', 'settings', 'people']) {
          await twins.get(`/api/${endpoint}/${id}`);
          await twins.get(`/api/${endpoint}/exists/${id}`);
          await twins.put(`/api/${endpoint}/${id}`, { value: 'x' });
          if (id !== '1') await twins.del(`/api/${endpoint}/${id}`);
        }
      await twins.del('/api/people/1');
      for (const id of [3, 3, 1]) await twins.del(`/api/notes/${id}`);
      for (const id of [3, 1]) {
        await twins.get(`/api/notes/${id}`);
        await twins.get(`/api/notes/exists/${id}`);
        await twins.put(`/api/notes/${id}`, { ...valid, title: 'gone' });
        await twins.put(`/api/notes/${id}`, {});
      }
      await twins.get('/api/notes');
      await twins.get('/api/people');
    });

    it('[4.6] keys of 64 bits, and keys that are text', async () => {
      for (const balance of [null, 1, '9007199254740993', '-9223372036854775808', 2 ** 53, 'x'])
        await twins.post('/api/accounts', { balance });
      await twins.query(
        database === 'mariadb'
          ? "INSERT INTO account (id, balance) VALUES ('9007199254740993', 1), ('9007199254740992', 2)"
          : `INSERT INTO account (id, balance) VALUES (9007199254740993, 1), (9007199254740992, 2)`,
      );
      await twins.post('/api/accounts', { balance: 3, parentId: '9007199254740993' });
      await twins.post('/api/accounts', { parentId: '9007199254740999' });
      await twins.get('/api/accounts');
      for (const id of ['1', '9007199254740992', '9007199254740993', '9007199254740994']) {
        await twins.get(`/api/accounts/${id}`);
        await twins.put(`/api/accounts/${id}`, { id, balance: 5, parentId: 1 });
        await twins.put(`/api/accounts/${id}`, { id: Number(id), balance: 5 });
        await twins.get(`/api/accounts/exists/${id}`);
      }
      for (const id of ['9007199254740992', '9007199254740993']) await twins.del(`/api/accounts/${id}`);
      await twins.get('/api/accounts');

      for (const value of ['a', 'b']) await twins.post('/api/settings', { value });
      for (const id of ['the%20one', 'the one', 'THE%20ONE', 'the%20one%20']) {
        await twins.get(`/api/settings/${encodeURI(decodeURI(id))}`);
        await twins.put(`/api/settings/${encodeURI(decodeURI(id))}`, { value: id.slice(0, 20) });
      }
      await twins.del('/api/settings/the%20one');
      await twins.del('/api/settings/the%20one');
    });

    it('[4.6] a hundred requests at random', async () => {
      const random = seeded(20261121);
      const names = ['title', 'body', 'rating', 'status', 'mood', 'views', 'secret', 'token', 'locked', 'later'];
      const others = ['ownerId', 'tagId', 'parentId', 'editorId', 'editor', 'id', 'version', 'deleted', 'nothing'];
      const plain: Record<string, readonly unknown[]> = {
        title: Array.from({ length: 12 }, (_, index) => `t${index}`),
        body: ['', 'some text', null],
        rating: [1, 99, 100, -5],
        status: ['draft', 'public'],
        ownerId: [1, 2, 2, 2, 99],
        parentId: [1, 2, 5, null],
        editorId: [1, 2, null],
      };
      const body = (): object =>
        Object.fromEntries([
          ['title', random.of(plain['title']!)],
          ['ownerId', 2],
          ...random
            .shuffled([...names, ...others])
            .slice(0, random.below(7))
            .map((name) => [name, random.of(random.below(6) === 0 ? ODD_VALUES : (plain[name] ?? ['x', null]))]),
        ]);
      const id = (): string => (random.below(8) === 0 ? random.of(ODD_IDS) : `${1 + random.below(25)}`);
      for (let round = 0; round < 100; round += 1)
        await random.of([
          () => twins.post('/api/notes', body()),
          () => twins.post('/api/notes', body()),
          () => twins.put(`/api/notes/${id()}`, body()),
          () => twins.put(`/api/notes/${id()}`, body()),
          () => twins.get(`/api/notes/${id()}`),
          () => twins.get(`/api/notes/exists/${id()}`),
          () => twins.get(`/api/notes?page=${random.below(5)}&size=${random.below(8)}`),
          () => twins.get(`/api/notes/search?${random.of(['q', 'title', 'status', 'rating', 'x'])}=${random.below(9)}`),
          () => twins.del(`/api/notes/${id()}`),
        ])();
    });
  });

  describe('with every kind of column', () => {
    const columns = columnsOf(database);
    const Wide = entityOf(columns);
    const body = Object.fromEntries(columns.map(({ name, valid }) => [name, sentOf(valid[0])]));
    let twins: Twins;
    beforeAll(async () => {
      twins = await startTwins('express', {
        database,
        entities: [Wide],
        resources: [{ entity: Wide, endpoint: '/api/wide' }],
      });
      await twins.post('/api/wide', body);
    });
    afterAll(() => twins.close());

    it.each(columns)('[4.6] $name', async ({ name, valid, wrong, refused = [] }) => {
      for (const value of [...valid.map(sentOf), ...wrong.slice(0, 2), ...refused, null, '']) {
        const made = await twins.post('/api/wide', { ...body, [name]: value });
        await twins.put(made.headers['location'] ?? '/api/wide/1', { ...body, [name]: value });
      }
      const { [name]: _absent, ...rest } = body;
      await twins.post('/api/wide', rest);
      await twins.put('/api/wide/1', rest);
      await twins.get('/api/wide');
    });
  });
});

/** SQLite takes any value in any column. */
describe('[4.6] a value of another type than declared, in a table of SQLite', () => {
  const columns = columnsOf('sqlite');
  const Wide = entityOf(columns);
  const values = ["'text'", "'{'", "'2026-01-31'", '7', '-1.5', '9223372036854775807', "x'00ff'", 'NULL'];
  const searchableFields = ['varchar', 'int', 'numericEnum'];
  let twins: Twins;
  let rows = 0;
  beforeAll(async () => {
    // What TypeORM cannot read is a 500 on both paths.
    twins = await startTwins(
      'express',
      {
        entities: [Wide],
        resources: [{ entity: Wide, endpoint: '/api/wide', enableSearch: true, searchableFields }],
        isDescribed: false,
      },
      true,
    );
    await twins.query('ALTER TABLE wide RENAME TO strict_wide');
    const [table] = await twins.compiled.dataSource.query<{ sql: string }[]>(
      "SELECT sql FROM sqlite_master WHERE name = 'strict_wide'",
    );
    const loose = table!.sql.replaceAll(/NOT NULL|CHECK ?\((?:[^()]|\([^()]*\))*\)/g, '');
    await twins.query(loose.replace('strict_wide', 'wide'));
  });
  afterAll(() => twins.close());

  it.each(columns)('[4.6] $name', async ({ name, column }) => {
    for (const value of values) {
      await twins.query(`INSERT INTO wide ("${column.name ?? name}") VALUES (${value})`);
      const { json } = await twins.get(`/api/wide/${(rows += 1)}`);
      // A record with malformed JSON is changed without listeners only.
      const isMalformed = name.endsWith('Json') && value !== 'NULL' && json?.data?.[name] === null;
      if (json?.data && !isMalformed) await twins.put(`/api/wide/${rows}`, json.data);
      for (const query of ['q=e', 'varchar=5', 'int=t', 'numericEnum=0']) await twins.get(`/api/wide/search?${query}`);
    }
    await twins.get('/api/wide');
    await twins.query('DELETE FROM wide');
  });
});
