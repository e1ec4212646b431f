import { Column, type ColumnOptions, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { DatabaseName } from '../harness/databases.js';

export interface ColumnCase {
  name: string;
  column: ColumnOptions;
  /** Sent, and read back the same; a pair is [sent, read]. */
  valid: unknown[];
  /** Each is a 400 that names the column. */
  wrong: unknown[];
  /** Only the database refuses these: a 400 that names the column, where the database tells it. */
  refused?: unknown[];
}
class Pair {
  constructor(
    readonly sent: unknown,
    readonly read: unknown,
  ) {}
}
const as = (sent: unknown, read: unknown): Pair => new Pair(sent, read);
export const sentOf = (value: unknown): unknown => (value instanceof Pair ? value.sent : value);
export const readOf = (value: unknown): unknown => (value instanceof Pair ? value.read : value);

const NOT_NUMBERS = ['1', '', true, [1], {}];
const NOT_TEXTS = [5, false, ['a'], { a: 1 }];
const NOT_BIGINTS = ['9223372036854775808', '-9223372036854775809', 9007199254740992, 1.5, '1e3', '', '0x10', ['1']];
const BEYOND_DOUBLE = ['1e400', 'Infinity', '9'.repeat(350)];
const NOT_DATES = ['2023-02-29', '2026-02-30', '2026-13-01', '31.01.2026', '2026-1-1', '', 5, {}];
const NOT_DATE_TIMES = ['yesterday', '2026-02-30T00:00:00Z', '2026-01-31T25:00:00Z', '', true, 0, {}];

enum Level {
  LOW,
  HIGH,
}

/** Every kind of column that the database has, with values that it accepts and refuses. */
export function columnsOf(database: DatabaseName): ColumnCase[] {
  const [sqlite, postgres] = [database === 'sqlite', database === 'postgres'];
  const dateTime = postgres ? 'timestamp' : 'datetime';
  /** SQLite's integers have 64 bits, whatever they are called. */
  const beyond = (...values: unknown[]): unknown[] => (sqlite ? [] : values);
  const everywhere: ColumnCase[] = [
    {
      name: 'int',
      column: { type: 'int' },
      valid: [0, 2147483647, -2147483648],
      wrong: [...NOT_NUMBERS, 1.5, 1e21, 9007199254740992, ...beyond(2147483648, -2147483649)],
    },
    { name: 'small', column: { type: 'smallint' }, valid: [32767, -32768], wrong: [0.5, ...beyond(32768, -32769)] },
    {
      name: 'bigint',
      column: { type: 'bigint' },
      valid: [0, -9007199254740991, '9007199254740993', '9223372036854775807', '-9223372036854775808'],
      wrong: NOT_BIGINTS,
    },
    {
      name: 'float',
      column: { type: postgres ? 'double precision' : 'double' },
      valid: [0, -1.5, 1e21, 1.7976931348623157e308, 5e-324],
      wrong: [...NOT_NUMBERS, 'nan'],
    },
    { name: 'boolean', column: { type: 'boolean' }, valid: [true, false], wrong: ['true', 0, 1, '', []] },
    {
      name: 'varchar',
      column: { type: 'varchar', length: 10 },
      valid: ['', 'ä'.repeat(10), '😀'.repeat(10), 'null', '\'"\\%_;', 'tab\tnl\n'],
      wrong: [...NOT_TEXTS, 'a'.repeat(11), '😀'.repeat(11), 'a'.repeat(5000), '\ud83d'],
    },
    { name: 'text', column: { type: 'text' }, valid: ['', 'x'.repeat(60_000), '日本語', '{"a":1}'], wrong: NOT_TEXTS },
    { name: 'date', column: { type: 'date' }, valid: ['2024-02-29', '1970-01-01', '2100-06-15'], wrong: NOT_DATES },
    {
      name: 'time',
      column: { type: 'time' },
      valid: ['09:30:15', '23:59:59', ...(database === 'mariadb' ? ['24:00:01'] : [])],
      wrong: ['24:60:01', '9:5', '', 5],
    },
    {
      name: 'dateTime',
      column: { type: dateTime },
      valid: [
        '2024-02-29T23:59:59.000Z',
        as('2026-01-31T09:30:15Z', '2026-01-31T09:30:15.000Z'),
        as('2026-01-31T04:00:15-05:30', '2026-01-31T09:30:15.000Z'),
      ],
      wrong: NOT_DATE_TIMES,
    },
    {
      name: 'millis',
      column: { type: dateTime, precision: sqlite ? null : 3 },
      valid: ['2026-01-31T09:30:15.999Z'],
      wrong: ['x'],
    },
    {
      name: 'simpleJson',
      column: { type: 'simple-json' },
      valid: [{ a: { b: [1, null, 'x'] } }, [], 'text', '', '5', 'null', 0, false],
      wrong: [null],
    },
    {
      name: 'words',
      column: { type: 'simple-array' },
      valid: [['a', 'b'], []],
      wrong: ['a,b', {}, [1], [null], ['a,b'], ['']],
    },
    {
      name: 'color',
      column: { type: 'simple-enum', enum: ['red', 'green'] },
      valid: ['red'],
      wrong: ['RED', '', 5, ['red']],
    },
    {
      name: 'numericEnum',
      column: { type: 'simple-enum', enum: Level },
      valid: [Level.LOW, Level.HIGH],
      wrong: [3, 'MIDDLE'],
    },
    { name: 'nullableInt', column: { type: 'int', nullable: true }, valid: [null, 0], wrong: ['', 'null', false] },
    { name: 'nullableJson', column: { type: 'simple-json', nullable: true }, valid: [null, {}, false, ''], wrong: [] },
    { name: 'renamed', column: { type: 'varchar', name: 'Other name', length: 20 }, valid: ['a'], wrong: [5] },
    {
      name: 'bytes',
      column: { type: postgres ? 'bytea' : 'blob' },
      valid: ['', 'AAEC/w=='],
      wrong: ['***', 'a', 5, { type: 'Buffer', data: [1] }],
    },
    {
      name: 'amount',
      column: { type: 'decimal', precision: 10, scale: 2 },
      valid: [as(12.34, '12.34'), as(0, '0.00'), '-99999999.99'],
      wrong: ['abc', '', '1,5', '0x1', ' 1', ...BEYOND_DOUBLE, true, {}, 1e12, '9'.repeat(90), '1.005'],
    },
  ];
  const servers: ColumnCase[] = [
    { name: 'enum', column: { type: 'enum', enum: ['red', 'green'] }, valid: ['red'], wrong: ['blue', '', 5] },
    { name: 'json', column: { type: 'json' }, valid: [{ a: 1 }, [1], 'text', 5, true], wrong: [null] },
    {
      name: 'uuid',
      column: { type: 'uuid' },
      valid: ['0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'],
      wrong: ['', 5, '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5'],
    },
  ];
  const ofPostgres: ColumnCase[] = [
    { name: 'jsonb', column: { type: 'jsonb' }, valid: [{ a: 1 }, '5', false], wrong: [null] },
    {
      name: 'texts',
      column: { type: 'text', array: true },
      valid: [[], ['b,c', '{"}', '']],
      wrong: ['a', [1], [null]],
    },
    {
      name: 'ints',
      column: { type: 'int', array: true },
      valid: [[], [1, -2]],
      wrong: [['1'], [1.5], [2147483648], {}],
    },
    {
      name: 'timestamptz',
      column: { type: 'timestamptz' },
      valid: [as('2026-01-31T10:30:15+01:00', '2026-01-31T09:30:15.000Z')],
      wrong: ['x', 5],
    },
    { name: 'inet', column: { type: 'inet' }, valid: ['10.0.0.1'], wrong: [5], refused: ['x', '10.0.0.256', ''] },
    { name: 'tsquery', column: { type: 'tsquery' }, valid: ["'a' & !'b'"], wrong: [5], refused: ['a &', "'a"] },
    { name: 'tsvector', column: { type: 'tsvector' }, valid: ["'a':1 'b':2"], wrong: [5], refused: ["'a", '\\'] },
    { name: 'ltree', column: { type: 'ltree' }, valid: ['top.science'], wrong: [5], refused: ['a!'] },
    {
      name: 'hstore',
      column: { type: 'hstore', hstoreType: 'string' },
      valid: ['"a"=>"1"'],
      wrong: [5],
      refused: ['a', 'a=>"'],
    },
    {
      name: 'hstoreObject',
      column: { type: 'hstore', hstoreType: 'object' },
      valid: [{ a: '1', 'b "c"': null }, {}],
      wrong: [5, 'a=>1', { a: 1 }, { a: 'a\u0000' }, JSON.parse('{"__proto__":"a"}')],
    },
    {
      name: 'point',
      column: { type: 'point' },
      valid: [{ x: 1, y: -2.5 }, as('(1,2)', { x: 1, y: 2 })],
      wrong: [5, { x: 1 }, { x: 1, y: '2' }, { x: 1, y: 2, z: 3 }],
      refused: ['x'],
    },
    {
      name: 'circle',
      column: { type: 'circle' },
      valid: [{ x: 1, y: -2.5, radius: 3 }],
      wrong: [5, { x: 1, y: 2 }],
      refused: ['x', { x: 1, y: 2, radius: -3 }],
    },
    {
      name: 'interval',
      column: { type: 'interval' },
      valid: [{ years: 1, days: -3, milliseconds: 7.5 }, {}, as('PT90M', { hours: 1, minutes: 30 })],
      wrong: [5, { weeks: 1 }, { days: '1' }],
      refused: ['x', { years: 1e300 }],
    },
    { name: 'cube', column: { type: 'cube' }, valid: [[1, 2.5, -3]], wrong: ['(1,2)', ['1'], Array(101).fill(1)] },
    {
      name: 'numeric',
      column: { type: 'numeric' },
      valid: ['0.5', as(1e300, `1${'0'.repeat(300)}`)],
      wrong: ['x', '1e5'],
    },
  ];
  const unsigned: ColumnCase = {
    name: 'unsigned',
    column: { type: 'int', unsigned: true },
    valid: [0, 4294967295],
    wrong: [-1, 4294967296],
  };
  const ofMariadb: ColumnCase[] = [
    unsigned,
    {
      name: 'unsignedBig',
      column: { type: 'bigint', unsigned: true },
      valid: ['18446744073709551615'],
      wrong: [-1, '18446744073709551616'],
    },
    { name: 'tinyint', column: { type: 'tinyint' }, valid: [127, -128], wrong: [128, '1', true] },
    { name: 'set', column: { type: 'set', enum: ['a', 'b', 'c'] }, valid: [['a', 'c'], []], wrong: ['a', ['d'], [1]] },
    { name: 'bit', column: { type: 'bit' }, valid: ['AQ=='], wrong: [5, '1'] },
    { name: 'mediumint', column: { type: 'mediumint' }, valid: [8388607], wrong: [8388608] },
    // The driver or TypeORM would read the text as the number 5.
    { name: 'jsonText', column: { type: 'json' }, valid: ['text', '5', '"x"', '[1]'], wrong: [] },
  ];
  return [
    ...everywhere,
    ...(sqlite ? [] : servers),
    ...{ sqlite: [unsigned], postgres: ofPostgres, mariadb: ofMariadb }[database],
  ];
}

/** An entity of exactly these columns. */
export function entityOf(columns: Pick<ColumnCase, 'name' | 'column'>[]): new () => { id: number } {
  class Wide {
    id!: number;
  }
  PrimaryGeneratedColumn({ type: 'int' })(Wide.prototype, 'id');
  for (const { name, column } of columns) Column(column)(Wide.prototype, name);
  Entity()(Wide);
  return Wide;
}
