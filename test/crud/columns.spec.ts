import { Column, type ColumnOptions, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type DatabaseName, DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

interface ColumnCase {
  name: string;
  column: ColumnOptions;
  /** Sent, and read back the same; a pair is [sent, read]. */
  valid: (Pair | Plain)[];
  /** Each is a 400 that names the column. */
  wrong: unknown[];
  only?: DatabaseName[];
}
type Plain = string | number | boolean | object | null;
class Pair {
  constructor(
    readonly sent: unknown,
    readonly read: unknown,
  ) {}
}
const as = (sent: unknown, read: unknown): Pair => new Pair(sent, read);

const NO_NUMBERS = ['1', '', 'abc', true, [], [1], {}, '1e400'];
const NO_TEXTS = [5, 0, true, false, [], ['a'], {}, { a: 1 }];

enum Level {
  LOW,
  MIDDLE,
  HIGH,
}

function columnsOf(database: DatabaseName): ColumnCase[] {
  const sqlite = database === 'sqlite';
  const postgres = database === 'postgres';
  const dateTime = postgres ? 'timestamp' : 'datetime';
  const cases: ColumnCase[] = [
    {
      name: 'int',
      column: { type: 'int' },
      valid: [0, 1, -1, 2147483647, -2147483648],
      wrong: [...NO_NUMBERS, 1.5, 1e21, 9007199254740992, ...(sqlite ? [] : [2147483648, -2147483649])],
    },
    {
      name: 'smallint',
      column: { type: 'smallint' },
      valid: [0, 32767, -32768],
      wrong: [...NO_NUMBERS, 0.5, ...(sqlite ? [] : [32768, -32769])],
    },
    {
      name: 'bigint',
      column: { type: 'bigint' },
      valid: [
        0,
        -1,
        9007199254740991,
        -9007199254740991,
        '9007199254740992',
        '9007199254740993',
        '-9007199254740993',
        '9223372036854775807',
        '-9223372036854775808',
      ],
      wrong: [
        '9223372036854775808',
        '-9223372036854775809',
        9007199254740992,
        1e20,
        1.5,
        '1.5',
        '1e3',
        '',
        ' 1',
        '0x10',
        '9007199254740993n',
        'abc',
        true,
        [],
        {},
        ['1'],
      ],
    },
    {
      name: 'float',
      column: { type: sqlite || database === 'mariadb' ? 'double' : 'double precision' },
      valid: [0, 1, -1.5, 0.1, 1e21, 1e-7, 123456789.123456, 1.7976931348623157e308, 5e-324],
      wrong: [...NO_NUMBERS, '1.5', 'NaN', 'Infinity'],
    },
    {
      name: 'boolean',
      column: { type: 'boolean' },
      valid: [true, false],
      wrong: ['true', 'false', 0, 1, '', [], {}, 'on'],
    },
    {
      name: 'varchar',
      column: { type: 'varchar', length: 10 },
      valid: ['', 'a', ' ', 'a'.repeat(10), 'ä'.repeat(10), '😀'.repeat(10), 'null', '0', '\'"\\%_;', 'tab\tnl\n'],
      wrong: [...NO_TEXTS, 'a'.repeat(11), '😀'.repeat(11), 'a'.repeat(5000)],
    },
    {
      name: 'char',
      column: { type: 'varchar', length: 1 },
      valid: ['a', 'ü', '😀'],
      wrong: [...NO_TEXTS, 'ab'],
    },
    {
      name: 'text',
      column: { type: 'text' },
      valid: ['', 'a', 'x'.repeat(60_000), '日本語', '{"a":1}', '<b>&amp;</b>'],
      wrong: NO_TEXTS,
    },
    {
      name: 'date',
      column: { type: 'date' },
      valid: ['2026-01-31', '2024-02-29', '1970-01-01', '1999-12-31', '2100-06-15'],
      wrong: [
        '2023-02-29',
        '2026-02-30',
        '2026-13-01',
        '2026-00-10',
        '31.01.2026',
        '2026-1-1',
        '',
        'today',
        5,
        true,
        [],
        {},
      ],
    },
    {
      name: 'time',
      column: { type: 'time' },
      valid: ['09:30:15', '00:00:00', '23:59:59'],
      wrong: ['24:00:01', '25:00:00', '12:60:00', '9:5', 'noon', '', 5, true, [], {}],
    },
    {
      name: 'dateTime',
      column: { type: dateTime },
      valid: [
        '2026-01-31T09:30:15.000Z',
        '1970-01-01T00:00:00.000Z',
        '2024-02-29T23:59:59.000Z',
        as('2026-01-31T09:30:15Z', '2026-01-31T09:30:15.000Z'),
        as('2026-01-31T10:30:15+01:00', '2026-01-31T09:30:15.000Z'),
        as('2026-01-31T04:00:15-05:30', '2026-01-31T09:30:15.000Z'),
        // The two hours around a change of the clocks, of which one has no local name in some zones.
        '2026-03-29T01:30:00.000Z',
        '2026-10-25T00:30:00.000Z',
        '2026-10-25T01:30:00.000Z',
      ],
      wrong: [
        'yesterday',
        '2026-02-30T00:00:00Z',
        '2026-01-31T25:00:00Z',
        '2026-13-01T00:00:00Z',
        '31.01.2026 09:30',
        '',
        true,
        [],
        {},
      ],
    },
    {
      name: 'millis',
      column: { type: dateTime, precision: sqlite ? null : 3 },
      valid: ['2026-01-31T09:30:15.123Z', '2026-01-31T09:30:15.999Z'],
      wrong: ['x'],
    },
    {
      name: 'simpleJson',
      column: { type: 'simple-json' },
      valid: [{}, { a: { b: [1, null, 'x'] } }, [], [1, 2], 'text', '', '5', 'null', '{"a":1}', 5, 0, true, false],
      wrong: [null],
    },
    {
      name: 'simpleArray',
      column: { type: 'simple-array' },
      valid: [['a', 'b'], ['a'], []],
      wrong: ['a,b', 'a', {}, 5, true, [1], [null], [['a']], [{}]],
    },
    {
      name: 'simpleEnum',
      column: { type: 'simple-enum', enum: ['red', 'green'] },
      valid: ['red', 'green'],
      wrong: ['blue', 'RED', '', 5, true, ['red'], {}, 'red,green'],
    },
    {
      name: 'numericEnum',
      column: { type: 'simple-enum', enum: Level },
      valid: [Level.LOW, Level.HIGH],
      wrong: [3, -1, 'MEDIUM', true, [], {}],
    },
    {
      name: 'nullableInt',
      column: { type: 'int', nullable: true },
      valid: [null, 0, 7],
      wrong: ['', 'null', false],
    },
    {
      name: 'nullableText',
      column: { type: 'varchar', length: 20, nullable: true },
      valid: [null, '', 'null'],
      wrong: [0, false, []],
    },
    {
      name: 'nullableDateTime',
      column: { type: dateTime, nullable: true },
      valid: [null, '2026-01-31T09:30:15.000Z'],
      wrong: ['', 'never', 0],
    },
    {
      name: 'nullableJson',
      column: { type: 'simple-json', nullable: true },
      valid: [null, {}, [], false, 0, ''],
      wrong: [],
    },
    {
      name: 'nullableBoolean',
      column: { type: 'boolean', nullable: true },
      valid: [null, false, true],
      wrong: ['null', 0],
    },
    {
      name: 'renamed',
      column: { type: 'varchar', name: 'Other name', length: 20 },
      valid: ['a'],
      wrong: [5],
    },
    {
      name: 'bytes',
      column: { type: postgres ? 'bytea' : 'blob' },
      valid: ['', 'AAEC/w==', 'aGVsbG8='],
      wrong: ['***', 'a', 5, true, [], { type: 'Buffer', data: [1] }],
    },
    {
      name: 'enum',
      column: { type: 'enum', enum: ['red', 'green'] },
      valid: ['red'],
      wrong: ['blue', '', 5],
      only: ['postgres', 'mariadb'],
    },
    {
      name: 'json',
      column: { type: 'json' },
      valid: [{ a: 1 }, [1], 'text', 5, true],
      wrong: [null],
      only: ['postgres', 'mariadb'],
    },
    {
      name: 'jsonb',
      column: { type: 'jsonb' },
      valid: [{ a: 1 }, [], 'text', '5', 5, false],
      wrong: [null],
      only: ['postgres'],
    },
    {
      name: 'uuid',
      column: { type: 'uuid' },
      valid: ['0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'],
      wrong: ['', 'abc', 5, '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5', {}],
      only: ['postgres', 'mariadb'],
    },
    {
      name: 'textArray',
      column: { type: 'text', array: true },
      valid: [[], ['a', 'b,c', '{"}', 'null', '']],
      wrong: ['a', '{a}', [1], [null], {}],
      only: ['postgres'],
    },
    {
      name: 'intArray',
      column: { type: 'int', array: true },
      valid: [[], [1, -2]],
      wrong: ['1', ['1'], [1.5], [2147483648], {}],
      only: ['postgres'],
    },
    {
      name: 'timestamptz',
      column: { type: 'timestamptz' },
      valid: ['2026-01-31T09:30:15.123Z', as('2026-01-31T10:30:15+01:00', '2026-01-31T09:30:15.000Z')],
      wrong: ['x', 5],
      only: ['postgres'],
    },
    {
      name: 'unsigned',
      column: { type: 'int', unsigned: true },
      valid: [0, 4294967295],
      wrong: [-1, 4294967296],
      only: ['mariadb'],
    },
    {
      name: 'unsignedBig',
      column: { type: 'bigint', unsigned: true },
      valid: [0, '18446744073709551615'],
      wrong: [-1, '18446744073709551616'],
      only: ['mariadb'],
    },
    {
      name: 'tinyint',
      column: { type: 'tinyint' },
      valid: [0, 1, 127, -128],
      wrong: [128, '1', true],
      only: ['mariadb'],
    },
    {
      name: 'set',
      column: { type: 'set', enum: ['a', 'b', 'c'] },
      valid: [['a'], ['a', 'c'], []],
      wrong: ['a', ['d'], [1], {}],
      only: ['mariadb'],
    },
    { name: 'inet', column: { type: 'inet' }, valid: ['10.0.0.1'], wrong: [5, {}], only: ['postgres'] },
    { name: 'mediumint', column: { type: 'mediumint' }, valid: [8388607], wrong: [8388608, '1'], only: ['mariadb'] },
  ];
  return cases.filter(({ only = DATABASES }) => only.includes(database));
}

/** An entity of exactly these columns. */
function entityOf(columns: ColumnCase[]): new () => { id: number } {
  class Wide {
    id!: number;
  }
  PrimaryGeneratedColumn({ type: 'int' })(Wide.prototype, 'id');
  for (const { name, column } of columns) Column(column)(Wide.prototype, name);
  Entity()(Wide);
  return Wide;
}

const sentOf = (value: unknown): unknown => (value instanceof Pair ? value.sent : value);
const readOf = (value: unknown): unknown => (value instanceof Pair ? value.read : value);
const short = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 40);

describe.each(DATABASES)('on %s', (database) => {
  const columns = columnsOf(database);
  const Wide = entityOf(columns);
  const body = Object.fromEntries(columns.map(({ name, valid }) => [name, sentOf(valid[0])]));
  const record = Object.fromEntries(columns.map(({ name, valid }) => [name, readOf(valid[0])]));

  // What a column takes is a matter of the database, not of the platform.
  const platforms = database === 'sqlite' ? PLATFORMS : PLATFORMS.slice(database === 'postgres' ? 0 : 1).slice(0, 1);
  describe.each(platforms)('and %s', (platform) => {
    let service: CrudService;
    let id: number;
    beforeAll(async () => {
      service = await startCrud(platform, {
        database,
        entities: [Wide],
        resources: [{ entity: Wide, endpoint: '/api/wide', maxListSize: 10 }],
      });
      const { status, json, text } = await service.post('/api/wide', body);
      if (status !== 201) throw new Error(text);
      id = json.data.id;
    });
    afterAll(() => service.close());

    it('[4.6] a record of every type of column reads back as it was written', async () => {
      expect((await service.get(`/api/wide/${id}`)).json.data).toEqual({ id, ...record });
      expect((await service.get('/api/wide')).json.data).toEqual([{ id, ...record }]);
    });

    it('[4.6] what GET returned can be PUT back as it is', async () => {
      const read = (await service.get(`/api/wide/${id}`)).json.data;
      const { status, json } = await service.put(`/api/wide/${id}`, read);
      expect([status, json.data]).toEqual([200, read]);
      expect((await service.get(`/api/wide/${id}`)).json.data).toEqual(read);
    });

    const valid = columns.flatMap(({ name, valid: values }) =>
      values.map((value) => [name, short(sentOf(value)), value] as const),
    );
    it.each(valid)('[4.6] %s takes %s, and gives it back', async (name, _text, value) => {
      const created = await service.post('/api/wide', { ...body, [name]: sentOf(value) });
      const expected = { ...record, [name]: readOf(value), id: expect.any(Number) as unknown };
      expect([created.status, created.json.data]).toEqual([201, expected]);
      const path = created.headers['location'] ?? '';
      expect((await service.get(path)).json.data).toEqual(created.json.data);
      await service.put(path, body);
      const updated = await service.put(path, { ...body, [name]: sentOf(value) });
      expect([updated.status, updated.json.data]).toEqual([200, created.json.data]);
      const again = await service.put(path, updated.json.data);
      expect([again.status, again.json.data]).toEqual([200, created.json.data]);
    });

    const wrong = columns.flatMap(({ name, wrong: values, column }) =>
      [...values, ...(column.nullable ? [] : [null])].map((value) => [name, short(value), value] as const),
    );
    it.each(wrong)(
      '[4.6] %s does not take %s: 400 on create and update, and nothing changes',
      async (name, _text, value) => {
        expect(wrongFields(await service.post('/api/wide', { ...body, [name]: value }))).toEqual([name]);
        expect(wrongFields(await service.put(`/api/wide/${id}`, { ...body, [name]: value }))).toEqual([name]);
        expect((await service.get(`/api/wide/${id}`)).json.data).toEqual({ id, ...record });
      },
    );

    it('[4.6] every wrong field is named at once', async () => {
      const bad = columns.filter(({ column }) => !column.nullable);
      const all = { ...body, ...Object.fromEntries(bad.map(({ name }) => [name, null])) };
      expect(wrongFields(await service.post('/api/wide', all))).toEqual(bad.map(({ name }) => name).toSorted());
    });

    it('[4.6] every required field that is missing is named at once', async () => {
      const required = columns.filter(({ column }) => !column.nullable).map(({ name }) => name);
      expect(wrongFields(await service.post('/api/wide', {}))).toEqual(required.toSorted());
      expect(wrongFields(await service.put(`/api/wide/${id}`, {}))).toEqual(required.toSorted());
    });

    it.each(columns.filter(({ column }) => column.nullable).map(({ name }) => name))(
      '[4.6] %s, which may be null, becomes null when a PUT leaves it out',
      async (name) => {
        const path = (await service.post('/api/wide', body)).headers['location'] ?? '';
        const { valid: values } = columns.find((column) => column.name === name)!;
        await service.put(path, { ...body, [name]: sentOf(values.at(-1)) });
        const { [name]: _left, ...rest } = body;
        const { status, json } = await service.put(path, rest);
        expect([status, json.data]).toEqual([200, { ...record, id: expect.any(Number), [name]: null }]);
      },
    );
  });

  describe('of columns that hold a decimal', () => {
    const Amount = entityOf([
      { name: 'amount', column: { type: 'decimal', precision: 10, scale: 2 }, valid: [], wrong: [] },
      { name: 'real', column: { type: database === 'mariadb' ? 'float' : 'real' }, valid: [], wrong: [] },
    ]);
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud('express', {
        database,
        entities: [Amount],
        resources: [{ entity: Amount, endpoint: '/api/amounts' }],
      });
    });
    afterAll(() => service.close());

    it.each([12.34, 0, -0.5, 99999999.99, '12.34', '-99999999.99'])('[4.6] %p round-trips', async (amount) => {
      const created = await service.post('/api/amounts', { amount, real: 0.5 });
      expect(created.status).toBe(201);
      expect(Number(created.json.data.amount)).toBe(Number(amount));
      const { id } = created.json.data;
      const again = await service.put(`/api/amounts/${id}`, created.json.data);
      expect([again.status, again.json.data]).toEqual([200, created.json.data]);
    });

    it.each(['abc', '', '1,5', '0x1', 'NaN', 'Infinity', ' 1', true, [], {}, null])(
      '[4.6] %p is 400',
      async (amount) => {
        expect(wrongFields(await service.post('/api/amounts', { amount, real: 1 }))).toEqual(['amount']);
      },
    );

    it.each([1e12, 1e300, '9'.repeat(90)])('[4.6] %p, which no such column holds, is never 500', async (amount) => {
      const { status } = await service.post('/api/amounts', { amount, real: 1 });
      if (database === 'sqlite') expect(status).toBeLessThan(500);
      else expect(status).toBe(400);
    });

    it('[4.6] a number that single precision does not hold is never 500', async () => {
      expect((await service.post('/api/amounts', { amount: 1, real: 1e300 })).status).toBeLessThan(500);
    });
  });

  it.each(['5', 'null', 'true', '{"a":1}', '"x"', '[1]', ''])(
    '[4.6] the text %p in a JSON column is refused or read back as it was, never changed',
    async (value) => {
      const Json = entityOf([
        { name: 'value', column: { type: database === 'sqlite' ? 'simple-json' : 'json' }, valid: [], wrong: [] },
      ]);
      const service = await startCrud('express', {
        database,
        entities: [Json],
        resources: [{ entity: Json, endpoint: '/api/json' }],
      });
      const answer = await service.post('/api/json', { value });
      if (answer.status === 400) expect(wrongFields(answer)).toEqual(['value']);
      else expect([answer.status, answer.json.data.value]).toEqual([201, value]);
      await service.close();
    },
  );

  it.each([
    ['a comma in a word', ['a,b']],
    ['one empty word', ['']],
    ['an empty word among others', ['a', '']],
  ])('[4.6] a simple-array with %s is refused or read back as it was, never changed', async (_what, words) => {
    const Words = entityOf([{ name: 'words', column: { type: 'simple-array' }, valid: [], wrong: [] }]);
    const service = await startCrud('express', {
      database,
      entities: [Words],
      resources: [{ entity: Words, endpoint: '/api/words' }],
    });
    const answer = await service.post('/api/words', { words });
    if (answer.status === 400) expect(wrongFields(answer)).toEqual(['words']);
    else expect([answer.status, answer.json.data.words]).toEqual([201, words]);
    await service.close();
  });
});
