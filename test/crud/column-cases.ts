import { Column, type ColumnOptions, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type DatabaseName, DATABASES } from '../harness/databases.js';

export interface ColumnCase {
  name: string;
  column: ColumnOptions;
  /** Sent, and read back the same; a pair is [sent, read]. */
  valid: (Pair | Plain)[];
  /** Each is a 400 that names the column. */
  wrong: unknown[];
  /** Only the database tells that it does not take these: a 400 that names no column. */
  refused?: unknown[];
  only?: DatabaseName[];
}
type Plain = string | number | boolean | object | null;
export class Pair {
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

/** Every kind of column that the database has, with what it takes and what it does not. */
export function columnsOf(database: DatabaseName): ColumnCase[] {
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
    {
      name: 'inet',
      column: { type: 'inet' },
      valid: ['10.0.0.1'],
      wrong: [5, {}],
      refused: ['x', '10.0.0.256', ''],
      only: ['postgres'],
    },
    {
      name: 'tsquery',
      column: { type: 'tsquery' },
      valid: ["'a' & !'b'"],
      wrong: [5, {}],
      refused: ['a &', ':', "'a", 'a b'],
      only: ['postgres'],
    },
    {
      name: 'tsvector',
      column: { type: 'tsvector' },
      valid: ["'a':1 'b':2"],
      wrong: [5, {}],
      refused: ["'a", "a':", '\\'],
      only: ['postgres'],
    },
    {
      name: 'hstore',
      column: { type: 'hstore', hstoreType: 'string' },
      valid: ['"a"=>"1"'],
      wrong: [5, {}],
      refused: ['a', 'a=>', 'a=>"', '=>'],
      only: ['postgres'],
    },
    {
      name: 'ltree',
      column: { type: 'ltree' },
      valid: ['top.science'],
      wrong: [5, {}],
      refused: ['a!', 'a.?'],
      only: ['postgres'],
    },
    {
      name: 'hstoreObject',
      column: { type: 'hstore', hstoreType: 'object' },
      valid: [{ a: '1', 'b "c"': null }, {}, { '': '\\' }],
      wrong: [5, 'a=>1', ['a'], { a: 1 }, { a: 'a\u0000' }, { 'a\u0000': 'a' }, JSON.parse('{"__proto__":"a"}')],
      only: ['postgres'],
    },
    {
      name: 'point',
      column: { type: 'point' },
      valid: [{ x: 1, y: -2.5 }, as('(1,2)', { x: 1, y: 2 })],
      wrong: [5, [1, 2], { x: 1 }, { x: 1, y: '2' }, { x: 1, y: 2, z: 3 }, {}],
      refused: ['x', ''],
      only: ['postgres'],
    },
    {
      name: 'circle',
      column: { type: 'circle' },
      valid: [{ x: 1, y: -2.5, radius: 3 }, as('<(1,2),3>', { x: 1, y: 2, radius: 3 })],
      wrong: [5, { x: 1, y: 2 }, { x: 1, y: 2, radius: null }],
      refused: ['x', { x: 1, y: 2, radius: -3 }],
      only: ['postgres'],
    },
    {
      name: 'interval',
      column: { type: 'interval' },
      valid: [
        { years: 1, months: 2, days: -3, hours: 4, minutes: 5, seconds: 6, milliseconds: 7.5 },
        {},
        as('PT90M', { hours: 1, minutes: 30 }),
        as({ minutes: 90 }, { hours: 1, minutes: 30 }),
      ],
      wrong: [5, [1], { weeks: 1 }, { days: '1' }],
      refused: ['x', '', { years: 1e300 }],
      only: ['postgres'],
    },
    {
      name: 'cube',
      column: { type: 'cube' },
      valid: [[1, 2.5, -3], [0]],
      wrong: ['(1,2)', 5, {}, ['1'], [null], Array.from({ length: 101 }, () => 1)],
      only: ['postgres'],
    },
    {
      name: 'numeric',
      column: { type: 'numeric' },
      valid: ['0.5', as(1e300, `1${'0'.repeat(300)}`), as(5e-324, `0.${'0'.repeat(323)}5`)],
      wrong: ['x', '', true, [], {}, '1e5'],
      only: ['postgres'],
    },
    { name: 'bit', column: { type: 'bit' }, valid: ['AQ==', 'AA=='], wrong: [5, true, '1'], only: ['mariadb'] },
    { name: 'mediumint', column: { type: 'mediumint' }, valid: [8388607], wrong: [8388608, '1'], only: ['mariadb'] },
  ];
  return cases.filter(({ only = DATABASES }) => only.includes(database));
}

/** An entity of exactly these columns. */
export function entityOf(columns: ColumnCase[]): new () => { id: number } {
  class Wide {
    id!: number;
  }
  PrimaryGeneratedColumn({ type: 'int' })(Wide.prototype, 'id');
  for (const { name, column } of columns) Column(column)(Wide.prototype, name);
  Entity()(Wide);
  return Wide;
}

export const sentOf = (value: unknown): unknown => (value instanceof Pair ? value.sent : value);
export const readOf = (value: unknown): unknown => (value instanceof Pair ? value.read : value);
