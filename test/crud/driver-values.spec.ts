/** Values that a driver or TypeORM would round, move or garble are read back as they were written. */
import { Logger } from '@nestjs/common';
import { types as pgTypes } from 'pg';
import {
  AfterLoad,
  BeforeInsert,
  BeforeRecover,
  BeforeRemove,
  BeforeSoftRemove,
  Column,
  DeleteDateColumn,
  Entity,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeParent,
  type Relation,
  type ValueTransformer,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import type { CrudResource } from 'declarest';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { entityOf, type ColumnCase } from './column-cases.js';
import { type CrudService, type DataPath, failure, startCrud } from './service.js';

const PATHS: readonly DataPath[] = ['compiled', 'repository'];

@Entity()
class Account {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: string;

  @Column('bigint')
  units!: string;

  @Column('decimal', { precision: 30, scale: 10 })
  amount!: string;

  @Column('date')
  day!: string;
}

/** A transformer gets what TypeORM documents for the type: texts, and no rounded or moved value. */
const SAME: ValueTransformer = { to: (value: unknown) => value, from: (value: unknown) => value };

@Entity()
class Converted {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('bigint', { transformer: SAME })
  units!: string;

  @Column('decimal', { precision: 30, scale: 10, transformer: [SAME, SAME] })
  amount!: string;

  @Column('date', { transformer: SAME })
  day!: string;
}

const ACCOUNT = { units: '9007199254740993', amount: '12345678901234567890.1234567891', day: '2026-03-29' };

const COLUMNS = ['units', 'amount', 'day'] as const;

/** What an application may set for its data source, or for the driver as a whole. */
const SETTINGS: readonly [what: string, database: DatabaseName, dataSource: object, parsers?: readonly number[]][] = [
  ['parseInt8', 'postgres', { parseInt8: true }],
  ['global type parsers', 'postgres', {}, [20, 1700, 1082]],
  ['a timezone far in the east', 'mariadb', { timezone: '+14:00' }],
  ['a timezone far in the west', 'mariadb', { timezone: '-11:00' }],
  ['numbers of JavaScript', 'mariadb', { supportBigNumbers: false, extra: { decimalNumbers: true } }],
];

const CASES = SETTINGS.filter(([, database]) => DATABASES.includes(database));

if (CASES.length > 0)
  describe.each(CASES)('with %s on %s', (_what, database, dataSource, parsers = []) => {
    it.each([
      ['compiled', Account],
      ['repository', Account],
      ['repository', Converted],
    ] as const)('[4.6] numbers and dates are exact, %s, %o', async (path, entity) => {
      const restore = useNumbers(parsers);
      const service = await startCrud('express', {
        database,
        path,
        entities: [entity],
        dataSource,
        resources: [{ entity, endpoint: '/accounts', aggregatableFields: entity === Account ? COLUMNS : [] }],
      });
      try {
        const made = await service.post('/accounts', ACCOUNT);
        expect([made.status, made.json.data]).toEqual([201, { id: 1, ...ACCOUNT }]);
        for (let again = 0; again < 2; again += 1) {
          const { json } = await service.get('/accounts/1');
          expect(json.data).toEqual({ id: 1, ...ACCOUNT });
          expect((await service.put('/accounts/1', json.data)).json.data).toEqual({ id: 1, ...ACCOUNT });
        }
        if (entity === Converted) return;
        const { json } = await service.get('/accounts/aggregate?groupBy=day&sum=units,amount&max=units,amount,day');
        const { units, amount, day } = ACCOUNT;
        expect(json.data).toEqual([
          { groupBy: { day }, count: 1, sum: { units, amount }, max: { units, amount, day } },
        ]);
      } finally {
        restore();
        await service.close();
      }
    });
  });

/** Its listeners run for removed records too. */
function ledgerOf(database: DatabaseName) {
  @Entity()
  class Ledger {
    @PrimaryGeneratedColumn({ type: database === 'sqlite' ? 'integer' : 'bigint' })
    id!: string;

    @Column({ length: 20 })
    name!: string;

    @BeforeInsert()
    @BeforeRemove()
    listen(): void {}
  }
  return Ledger;
}

const NEXT_KEY: Readonly<Record<DatabaseName, string>> = {
  sqlite: "INSERT INTO ledger (id, name) VALUES (9007199254740992, 'first')",
  postgres: "SELECT setval(pg_get_serial_sequence('ledger', 'id'), 9007199254740992)",
  mariadb: 'ALTER TABLE ledger AUTO_INCREMENT = 9007199254740993',
};
const DEFAULTS = DATABASES.map((each): (typeof SETTINGS)[number] => ['defaults', each, {}]);

describe.each([...CASES, ...DEFAULTS])(
  'generated keys beyond 53 bits with %s on %s',
  (...[, database, dataSource, parsers]) => {
    it.each(PATHS)('[4.2] are exact, and no other record is removed, %s', async (path) => {
      const restore = useNumbers(parsers);
      const entity = ledgerOf(database);
      const service = await startCrud('express', {
        database,
        path,
        entities: [entity],
        dataSource,
        resources: [{ entity, endpoint: '/ledger', enableBatch: true, maxListSize: 9, sortableFields: ['name'] }],
      });
      try {
        await service.dataSource.query(NEXT_KEY[database]);
        const [a, b, c, d] = ['3', '4', '5', '6'].map((digit) => `900719925474099${digit}`);
        for (const [id, name] of [
          [a, 'a'],
          [b, 'b'],
        ] as const) {
          const made = await service.post('/ledger', { name });
          expect([made.status, made.json]).toMatchObject([201, { data: { id, name } }]);
          expect(made.headers['location']).toBe(`/ledger/${id}`);
        }
        const batch = await service.post('/ledger/batch', { items: [{ name: 'c' }, { name: 'd' }] });
        expect(batch.json.data).toEqual([
          { id: c, name: 'c' },
          { id: d, name: 'd' },
        ]);
        for (const id of [a, c]) expect((await service.del(`/ledger/${id}`)).status).toBe(200);
        const left = (await service.get('/ledger?sort=name')).json.data.map(({ id }: { id: unknown }) => id);
        expect(left.slice(0, 2)).toEqual([b, d]);
      } finally {
        restore();
        await service.close();
      }
    });

    it.each(PATHS)('[4.6] are exact where clients send them, %s', async (path) => {
      const restore = useNumbers(parsers);
      const entity = ledgerOf(database);
      const resources = [{ entity, endpoint: '/ledger', enableBatch: true, clientId: true }];
      const service = await startCrud('express', { database, path, entities: [entity], dataSource, resources });
      try {
        const [a, b, c] = ['3', '4', '5'].map((digit) => ({ id: `900719925474099${digit}`, name: digit }));
        for (const sent of [a, b]) {
          expect((await service.post('/ledger', sent)).json.data).toEqual(sent);
          expect((await service.get(`/ledger/${sent?.id}`)).json.data).toEqual(sent);
        }
        expect((await service.post('/ledger/batch', { items: [c] })).json.data).toEqual([c]);
        if (database === 'postgres') await service.dataSource.query(NEXT_KEY.postgres.replace('0992', '0995'));
        const { data } = (await service.post('/ledger', { name: 'made' })).json;
        expect(data.id).toBe('9007199254740996');
      } finally {
        restore();
        await service.close();
      }
    });
  },
);

/** Parsers of the driver that round. @returns what restores them */
function useNumbers(oids: readonly number[] = []): () => void {
  const known = oids.map((oid) => [oid, pgTypes.getTypeParser(oid)] as const);
  for (const oid of oids) pgTypes.setTypeParser(oid, (text) => (oid === 1082 ? new Date(text) : Number(text)));
  return () => {
    for (const [oid, parser] of known) pgTypes.setTypeParser(oid, parser);
  };
}

const SAID = { ...ACCOUNT, at: '2026-03-29T01:30:00.000Z', isOpen: true, few: 5 };

/** `@ViewColumn()` has no type, and a view may compute its columns. */
describe.each([...CASES, ...DEFAULTS])('views with %s on %s', (...[, database, dataSource, parsers]) => {
  it.each([undefined, SAME])('[4.6] have the values of the table, transformer %o', async (transformer) => {
    const [isLite, isPostgres] = [database === 'sqlite', database === 'postgres'];
    @Entity()
    class Fact {
      @PrimaryGeneratedColumn() id!: number;
      @Column('bigint') units!: string;
      @Column(isLite ? { type: 'text' } : { type: 'decimal', precision: 30, scale: 10 }) amount!: string;
      @Column('date') day!: string;
      @Column(isPostgres ? 'timestamptz' : 'datetime') at!: Date;
      @Column() isOpen!: boolean;
      @Column('bigint') few!: number;
    }
    const names = ['units', 'amount', 'day', 'at', 'isOpen', 'few'];
    @ViewEntity({
      name: 'facts',
      materialized: isPostgres && transformer !== undefined,
      expression: (source) =>
        source
          .createQueryBuilder()
          .select('f.id', 'id')
          .addSelect('MAX(f.units)', 'total')
          .addSelect('f.day', 'also')
          .addSelect(names.map((name) => `f.${name} AS ${source.driver.escape(name)}`))
          .from(Fact, 'f')
          .groupBy('f.id'),
    })
    class FactView {
      @PrimaryColumn() id!: number;
      @ViewColumn(transformer ? { transformer } : {}) units!: string;
      @ViewColumn() total!: number;
      @ViewColumn() amount!: string;
      @ViewColumn(transformer ? { transformer } : {}) day!: string;
      @ViewColumn() also!: Date;
      @ViewColumn() at!: Date;
      @ViewColumn() isOpen!: boolean;
      @ViewColumn() few!: number;
    }
    const restore = useNumbers(parsers);
    const service = await startCrud('express', {
      database,
      entities: [Fact, FactView],
      dataSource,
      resources: [
        { entity: Fact, endpoint: '/facts' },
        { entity: FactView, endpoint: '/view', maxListSize: 5, filterableFields: transformer ? [] : ['day', 'units'] },
      ],
      isDescribed: false,
    });
    try {
      expect((await service.post('/facts', SAID)).status).toBe(201);
      if (isPostgres && transformer) await service.dataSource.query('REFRESH MATERIALIZED VIEW facts');
      const record = { id: 1, ...SAID, total: SAID.units, also: isLite ? `${SAID.day}T00:00:00.000Z` : SAID.day };
      expect((await service.get('/view')).json.data).toEqual([record]);
      if (transformer) return;
      for (const filter of ['filter[day]=2026-03-29', `filter[units]=${SAID.units}`])
        expect((await service.get(`/view?${filter}`)).json.data).toEqual([record]);
    } finally {
      restore();
      await service.close();
    }
  });
});

(DATABASES.includes('sqlite') ? it : it.skip)('[4.6] a transformer on SQLite gets integers exactly', async () => {
  @Entity()
  class Counter {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column('bigint', { transformer: SAME })
    units!: string | number;
  }
  const resources = [{ entity: Counter, endpoint: '/counters' }];
  const service = await startCrud('express', { database: 'sqlite', entities: [Counter], resources });
  for (const units of ['9007199254740993', '-9223372036854775808']) {
    const { json } = await service.post('/counters', { units });
    expect((await service.put(`/counters/${json.data.id}`, json.data)).json.data).toMatchObject({ units });
  }
  await service.dataSource.query('UPDATE counter SET units = 5');
  expect((await service.get('/counters/1')).json.data).toEqual({ id: 1, units: 5 });
  await service.close();
});

const LABELS = ['a,b', 'say "x"', 'back\\slash', '', 'null', '{}', 'plain'];
const ARRAYS: readonly Pick<ColumnCase, 'name' | 'column' | 'valid'>[] = [
  { name: 'bigints', column: { type: 'bigint', array: true }, valid: [['9007199254740993', 1], []] },
  { name: 'numerics', column: { type: 'numeric', array: true }, valid: [['12345678901234567890.123', '1.50'], []] },
  { name: 'dates', column: { type: 'date', array: true }, valid: [['2026-03-29', '2024-02-29'], []] },
  { name: 'labels', column: { type: 'enum', enum: LABELS, array: true }, valid: [LABELS, ['a,b'], []] },
  { name: 'levels', column: { type: 'enum', enum: [1, 2], array: true }, valid: [[2, 1], []] },
  { name: 'words', column: { type: 'text', array: true }, valid: [LABELS, []] },
  { name: 'moments', column: { type: 'timestamptz', array: true }, valid: [['2026-03-29T01:30:00.000Z'], []] },
  { name: 'floats', column: { type: 'float8', array: true }, valid: [[0.1, -1e300], []] },
  { name: 'jsons', column: { type: 'json', array: true }, valid: [[{ a: [1, 'b,"c'] }, 'text', 5, [true]], []] },
  { name: 'jsonbs', column: { type: 'jsonb', array: true }, valid: [[{ a: [1, 'b,"c'] }, 'text', 5, [true]], []] },
  { name: 'paths', column: { type: 'ltree', array: true }, valid: [['a.b', 'c'], []] },
  { name: 'names', column: { type: 'citext', array: true }, valid: [['A,b', '"'], []] },
  { name: 'maps', column: { type: 'hstore', hstoreType: 'object', array: true }, valid: [[{ a: '1,"' }, {}], []] },
];

/** A transformer gets all integers of 64 bits as text. */
const CONVERTED = ARRAYS.map(({ name, column, valid }) => ({
  name,
  column: { ...column, transformer: SAME },
  valid: name === 'bigints' ? [['9007199254740993', '1']] : valid,
}));

(DATABASES.includes('postgres') ? describe : describe.skip).each([
  ['compiled', 'plain', ARRAYS],
  ['repository', 'plain', ARRAYS],
  ['repository', 'transformed', CONVERTED],
] as const)('arrays on postgres, %s, %s', (path, _which, columns) => {
  const Lists = entityOf([...columns]);
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('express', {
      database: 'postgres',
      path,
      entities: [Lists],
      resources: [{ entity: Lists, endpoint: '/lists' }],
    });
  });
  afterAll(() => service.close());

  it.each(columns.map((each) => [each.name, each] as const))(
    '[4.6] %s are read as they are written',
    async (name, { valid }) => {
      const empty = Object.fromEntries(ARRAYS.map((each) => [each.name, []]));
      for (const value of valid) {
        const made = await service.post('/lists', { ...empty, [name]: value });
        expect([made.status, made.json]).toMatchObject([201, { data: { ...empty, [name]: value } }]);
        const path = `/lists/${made.json.data.id}`;
        const again = await service.put(path, (await service.get(path)).json.data);
        expect([again.status, again.json.data]).toEqual([200, made.json.data]);
      }
    },
  );
});

/** A listener that masks what it loads. In-place changes of an array count too. */
@Entity()
class Masked {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('bigint')
  units!: string | number;

  @Column('decimal', { precision: 12, scale: 2 })
  amount!: string | number;

  @Column('date')
  day!: string;

  @AfterLoad()
  mask(): void {
    this.units = 0;
    this.amount = '0.00';
    this.day = '2000-01-01';
  }
}

describe.each(DATABASES)('values that a listener changes on %s', (database) => {
  it('[4.6] are sent as the listener leaves them', async () => {
    const Listed = database === 'postgres' ? withDays() : Masked;
    const service = await startCrud('express', {
      database,
      entities: [Listed],
      resources: [{ entity: Listed, endpoint: '/masked' }],
      // The listener's text is no number of SQLite.
      isDescribed: false,
    });
    const sent = { units: '9007199254740993', amount: '12345.67', day: '2026-01-31' };
    const { status, json } = await service.post(
      '/masked',
      Listed === Masked ? sent : { ...sent, days: ['2026-01-31'] },
    );
    const days = Listed === Masked ? {} : { days: [] };
    expect([status, json.data]).toEqual([201, { id: 1, units: 0, amount: '0.00', day: '2000-01-01', ...days }]);
    await service.close();
  });
});

function withDays(): typeof Masked {
  class MaskedDays extends Masked {
    days!: Date[];
    override mask(): void {
      super.mask();
      this.days.length = 0;
    }
  }
  Column('date', { array: true })(MaskedDays.prototype, 'days');
  Entity()(MaskedDays);
  return MaskedDays;
}

@Entity()
class Setting {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @Column('simple-json', { name: 'raw_value', nullable: true })
  value!: unknown;
}

@Entity()
class Removed {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('simple-json', { nullable: true })
  value!: unknown;

  @BeforeRemove()
  hear(): void {}
}

@Entity()
class Hidden {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('simple-json', { nullable: true })
  value!: unknown;

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @BeforeSoftRemove()
  @BeforeRecover()
  hear(): void {}
}

@Entity()
@Tree('closure-table')
class Closure {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('simple-json', { nullable: true })
  value!: unknown;

  @TreeParent()
  parent!: Relation<Closure> | null;

  @TreeChildren()
  children!: Relation<Closure>[];
}

@Entity()
@Tree('nested-set')
class NestedSet {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('simple-json', { nullable: true })
  value!: unknown;

  @TreeParent()
  parent!: Relation<NestedSet> | null;

  @TreeChildren()
  children!: Relation<NestedSet>[];
}

describe.each(DATABASES)('malformed JSON on %s', (database) => {
  it.each(PATHS)('[4.6] is null in its record, and does not fail others, %s', async (path) => {
    const service = await startCrud('express', {
      database,
      path,
      entities: [Setting],
      resources: [{ entity: Setting, endpoint: '/settings', maxListSize: 5, enableExport: true }],
    });
    const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    try {
      for (const name of ['a', 'b', 'c']) await service.post('/settings', { name, value: { name } });
      const { driver } = service.dataSource;
      const names = ['setting', 'raw_value', 'id'].map((name) => driver.escape(name));
      await service.dataSource.query(`UPDATE ${names[0]} SET ${names[1]} = '{"a":' WHERE ${names[2]} = 2`);
      const records = ['a', 'b', 'c'].map((name, index) => ({
        id: index + 1,
        name,
        value: name === 'b' ? null : { name },
      }));
      expect((await service.get('/settings')).json.data).toEqual(records);
      expect(
        (await service.get('/settings/export?format=ndjson')).text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toEqual(records);
      const patched = await service.send('PATCH', '/settings/2', { json: { name: 'B' } });
      // Subscribers get the stored entity, which TypeORM cannot read.
      const isHeard = path === 'repository';
      expect([patched.status, patched.json.data]).toEqual(
        isHeard ? [409, undefined] : [200, { id: 2, name: 'B', value: null }],
      );
      warn.mockClear();
      expect((await service.get('/settings?fields=value')).json.data[1]).toEqual({ value: null });
      expect(warn.mock.calls).toEqual([['Malformed JSON is read as null: setting.raw_value of the record 2']]);
    } finally {
      warn.mockRestore();
      await service.close();
    }
  });

  it('[4.3] [issue 11] is 409 where TypeORM needs it for listeners, and otherwise written and deleted', async () => {
    const once = { fieldPermissions: { parentId: { write: 'once' } } };
    const service = await startCrud('express', {
      database,
      entities: [Removed, Hidden, Closure, NestedSet],
      resources: [
        { entity: Removed, endpoint: '/removed', enableBatch: true },
        { entity: Hidden, endpoint: '/hidden', enableBatch: true, enableRestore: true },
        { entity: Closure, endpoint: '/closure' },
        { entity: NestedSet, endpoint: '/set', ...once },
      ] as CrudResource[],
    });
    const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    try {
      const spoil = (table: string) => service.dataSource.query(`UPDATE ${table} SET value = '{"a":' WHERE id = 2`);
      for (const endpoint of ['/removed', '/hidden', '/closure', '/set']) {
        await service.post(endpoint, { value: {} });
        await service.post(endpoint, { value: {}, ...(endpoint === '/set' && { parentId: 1 }) });
      }
      for (const table of ['removed', 'hidden', 'closure', 'nested_set']) await spoil(table);
      const send = async (method: string, path: string, json?: object) => {
        const answer = await service.send(method, path, json && { json });
        return [answer.status, answer.json] as const;
      };
      const refused = (name: string) => [409, failure(`${name} was not changed: its stored JSON is malformed`)];
      expect(await send('DELETE', '/removed/2')).toEqual(refused('Removed'));
      expect(await send('DELETE', '/removed/batch?ids=1,2')).toEqual(refused('Removed'));
      expect(await send('DELETE', '/hidden/2')).toEqual(refused('Hidden'));
      expect(await send('DELETE', '/hidden/batch?ids=1,2')).toEqual(refused('Hidden'));
      expect((await send('DELETE', '/removed/batch?ids=1'))[0]).toBe(200);
      await service.dataSource.query(
        'UPDATE hidden SET "deletedAt" = CURRENT_TIMESTAMP'.replaceAll('"', database === 'mariadb' ? '`' : '"'),
      );
      expect(await send('POST', '/hidden/2/restore')).toEqual(refused('Hidden'));
      const moved = await send('PATCH', '/closure/2', { parentId: 1 });
      expect([moved[0], moved[1].data]).toEqual([200, { id: 2, value: null, parentId: 1 }]);
      expect((await send('PATCH', '/closure/1', { parentId: 2 }))[0]).toBe(409);
      expect((await send('PUT', '/removed/2', { value: {} }))[0]).toBe(200);
      for (const path of ['/removed/2', '/closure/2', '/set/2']) expect((await send('DELETE', path))[0]).toBe(200);
    } finally {
      warn.mockRestore();
      await service.close();
    }
  });
});
