/** The values of columns that are hard to keep: one row for each type, with the extremes that other programs store. */
import type { ColumnOptions } from 'typeorm';
import type { DatabaseName } from '../harness/databases.js';

export interface ExactColumn {
  /** With a dot, a column of an embedded entity. */
  readonly name: string;
  readonly column: ColumnOptions;
  /** SQL and what GET answers, in ascending order. All of them differ for the database. */
  readonly values: readonly (readonly [sql: string, answer: unknown])[];
  /** What cannot be stored exactly: 400 that names the column. */
  readonly refused?: readonly unknown[];
  /** What is stored and cannot be sent in a new record. */
  readonly readOnly?: readonly unknown[];
  /** False for a type without filters and sorts. */
  readonly isCompared?: false;
  /** False for a type of which only the database knows whether values are equal. */
  readonly isOrdered?: false;
  /** The whole value as text in SQL, where a cast loses digits. */
  readonly text?: (column: string) => string;
}

/** A number of JavaScript with more digits than a double keeps of every decimal. */
const LONG_NUMBER = Number('123456789123456.12345');
const digits = (each: string): readonly [string, string] => [each, each];

const decimals = (database: DatabaseName): ExactColumn[] => [
  {
    name: 'price',
    column: { type: 'decimal', precision: 10, scale: 2 },
    values: ['-99999999.99', '-0.01', '0.00', '1.10', '19.90', '100.00', '99999999.99'].map(digits),
    refused: [
      '1.005',
      '1.999',
      '0.001',
      1.005,
      '100000000',
      1e12,
      '9'.repeat(90),
      LONG_NUMBER,
      0.1 + 0.2,
      'NaN',
    ].filter((each) => database !== 'postgres' || each !== 'NaN'),
  },
  {
    name: 'whole',
    column: { type: 'decimal', precision: 12, scale: 0 },
    values: ['-999999999999', '0', '100', '999999999999'].map(digits),
    refused: ['0.5', 0.5, '1000000000000'],
  },
  ...(database === 'sqlite'
    ? [
        {
          name: 'wide',
          column: { type: 'decimal', precision: 30, scale: 5 } as const,
          values: [
            ['-1e20', '-100000000000000000000.00000'],
            ['1e-5', '0.00001'],
            ['123456789012.125', '123456789012.12500'],
          ] as const,
          refused: ['123456789123456.12345', '9007199254740993', LONG_NUMBER],
        },
        {
          name: 'free',
          column: { type: 'decimal' } as const,
          values: [
            ['-1.5', '-1.5'],
            ['1e-9', '0.000000001'],
            ['7', '7'],
            ['9007199254740993', '9007199254740993'],
          ] as const,
          readOnly: ['9007199254740993'],
        },
      ]
    : [
        {
          name: 'wide',
          column: { type: 'decimal', precision: 30, scale: 5 } as const,
          values: [
            `-${'9'.repeat(25)}.99999`,
            '0.00001',
            '123456789123456.12345',
            '9007199254740993.00001',
            `${'9'.repeat(25)}.99999`,
          ].map(digits),
          refused: [LONG_NUMBER, 9007199254740992, '0.000001', '1'.repeat(26)],
        },
        {
          name: 'huge',
          column: { type: 'decimal', precision: 65, scale: 0 } as const,
          values: [
            `-${'9'.repeat(65)}`,
            `1${'0'.repeat(39)}`,
            `1${'0'.repeat(38)}1`,
            `${'9'.repeat(64)}8`,
            '9'.repeat(65),
          ].map(digits),
          refused: ['1'.repeat(66), '0.5'],
        },
        {
          name: 'small',
          column: { type: 'decimal', precision: 38, scale: 30 } as const,
          values: [`0.${'0'.repeat(29)}1`, `99999999.${'9'.repeat(30)}`].map(digits),
          refused: [`0.${'0'.repeat(30)}1`],
        },
      ]),
];

const floats = ['-1.7976931348623157e+308', '-0.1', '5e-324', '0.1', '123456.78', '1.7976931348623157e+308'];
const double = (each: string): readonly [string, number] => [each, Number(each)];
const fourBytes = ['-0.1', '0.1', '99999.99', '123456.78', '1234567.5', '16777216'];
/** A `Date` has milliseconds. */
const FINE = ['2026-01-31T09:30:15.1234Z', '2026-01-31T09:30:15.123456Z', '2026-01-31T09:30:15.123000001Z'];
/** What a text may be taken for, in the order of code points. */
const TEXTS = [
  '',
  ' ',
  ' a',
  `'"%_;`,
  '-- x',
  '0',
  '1.0',
  'A',
  'a',
  'a ',
  'a,b\\c',
  'l\nm\tn',
  'null',
  'ä',
  '日本',
  '😀',
];
export const quoted = (text: string, database: DatabaseName): string =>
  `'${(database === 'mariadb' ? text.replaceAll('\\', '\\\\') : text).replaceAll("'", "''")}'`;
const texts = (database: DatabaseName, ...each: string[]) =>
  each.map((text) => [quoted(text, database), text] as const);
const sameTexts = (...each: string[]) => each.map((text) => [`'${text}'`, text] as const);

/** In each database: texts, bytes, and a column of an embedded entity. */
const everywhere = (database: DatabaseName): ExactColumn[] => [
  {
    name: 'inner.price',
    column: { type: 'decimal', precision: 10, scale: 2 },
    values: ['-0.01', '19.90'].map(digits),
    refused: ['1.005'],
  },
  { name: 'text', column: { type: 'text' }, values: texts(database, ...TEXTS), refused: [5, '\ud83d'] },
  {
    name: 'varchar',
    column: { type: 'varchar', length: 16 },
    values: texts(database, ...TEXTS),
    refused: ['x'.repeat(17), 5],
  },
  {
    name: 'char',
    column: { type: database === 'sqlite' ? 'character' : 'char', length: 4 },
    values: texts(database, '', 'A', 'a', 'a b', '日本語'),
    refused: ['x'.repeat(5)],
  },
  {
    name: 'uuid',
    column: { type: 'uuid' },
    values: sameTexts('0b6f1a52-6a0e-4f0e-9a55-0f6d1c9b7e21', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    refused: ['0b6f1a52', 'x'],
  },
  {
    name: 'bytes',
    column: { type: database === 'postgres' ? 'bytea' : 'blob' },
    isCompared: false,
    values: [
      [database === 'postgres' ? "'\\x'" : "X''", ''],
      [database === 'postgres' ? "'\\x00ff27'" : "X'00FF27'", 'AP8n'],
      [database === 'postgres' ? "'\\xefbfbd'" : "X'EFBFBD'", '77+9'],
    ],
    refused: ['AP8', 5],
  },
];

const array = (name: string, type: string, more: Omit<ExactColumn, 'name' | 'column' | 'isCompared'>): ExactColumn => ({
  name,
  column: { type: type as 'text', array: true },
  isCompared: false,
  ...more,
});
const arrays: readonly ExactColumn[] = [
  array('texts', 'text', {
    values: [
      [`'{}'`, []],
      [`ARRAY['', 'NULL', 'a,b', '"', '\\', '{}', ' ']`, ['', 'NULL', 'a,b', '"', '\\', '{}', ' ']],
      [`ARRAY['a', NULL]`, ['a', null]],
      [
        `'{{a,b},{c,d}}'`,
        [
          ['a', 'b'],
          ['c', 'd'],
        ],
      ],
    ],
    readOnly: [
      ['a', null],
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    refused: [['a', null], [5], 'a'],
  }),
  array('bigints', 'bigint', {
    values: [[`'{9007199254740993,-1}'`, ['9007199254740993', -1]]],
    refused: [[9007199254740992], ['x']],
  }),
  array('numerics', 'numeric', {
    values: [[`'{1.50,NaN,12345678901234567890.123}'`, ['1.50', 'NaN', '12345678901234567890.123']]],
    refused: [['x'], [LONG_NUMBER]],
  }),
  array('doubles', 'double precision', {
    values: [[`'{0.1,NaN,-Infinity,5e-324}'`, [0.1, 'NaN', '-Infinity', 5e-324]]],
    refused: [['x']],
  }),
  array('booleans', 'boolean', { values: [[`'{t,f}'`, [true, false]]], refused: [['t']] }),
  array('days', 'date', {
    values: [
      [`'{0001-01-01,9999-12-31}'`, ['0001-01-01', '9999-12-31']],
      [`'{infinity}'`, ['infinity']],
    ],
    readOnly: [['infinity']],
    refused: [['2026-02-30']],
  }),
  array('moments', 'timestamptz', {
    values: [
      [`'{2026-01-31 09:30:15.123+00}'`, ['2026-01-31T09:30:15.123Z']],
      [`'{2026-01-31 09:30:15.123456+00}'`, ['2026-01-31T09:30:15.123Z']],
    ],
    refused: [FINE],
  }),
  array('uuids', 'uuid', {
    values: [[`'{ffffffff-ffff-ffff-ffff-ffffffffffff}'`, ['ffffffff-ffff-ffff-ffff-ffffffffffff']]],
  }),
  array('documents', 'jsonb', {
    values: [[`ARRAY['{"a": 1.50}', 'null', '"x"']::jsonb[]`, [{ a: 1.5 }, null, 'x']]],
    readOnly: [[{ a: 1.5 }, null, 'x']],
  }),
];

const ancient: readonly (readonly [string, string])[] = [
  ["'0001-01-01 00:00:00.000'", '0001-01-01T00:00:00.000Z'],
  ["'0050-06-15 12:30:00.123'", '0050-06-15T12:30:00.123Z'],
  ["'0099-12-31 23:59:59.999'", '0099-12-31T23:59:59.999Z'],
  ["'0100-01-01 00:00:00.000'", '0100-01-01T00:00:00.000Z'],
  ["'2026-01-31 09:30:15.123'", '2026-01-31T09:30:15.123Z'],
];

const COLUMNS: Readonly<Record<DatabaseName, readonly ExactColumn[]>> = {
  sqlite: [
    {
      name: 'float',
      column: { type: 'real' },
      values: [['-9e999', '-Infinity'], ...floats.map(double), ['9e999', 'Infinity']],
      refused: ['NaN', 'x', '1'],
    },
    { name: 'moment', column: { type: 'datetime' }, values: ancient, refused: FINE },
    {
      // Forms in which other programs write. Sorts and cursors use the text, so that an index serves them.
      name: 'foreign',
      column: { type: 'datetime' },
      values: [
        ["'2026-01-30 09:30:15'", '2026-01-30T09:30:15.000Z'],
        ["'2026-01-31 09:30'", '2026-01-31T09:30:00.000Z'],
        ["'2026-01-31 09:30:15.123'", '2026-01-31T09:30:15.123Z'],
        ["'2026-01-31 09:30:16.123456'", '2026-01-31T09:30:16.123Z'],
        ["'2026-01-31T09:30:17'", '2026-01-31T09:30:17.000Z'],
        ["'2026-01-31T09:30:17.123999'", '2026-01-31T09:30:17.123Z'],
        ["'2026-01-31T09:30:18Z'", '2026-01-31T09:30:18.000Z'],
        ["'2026-01-31T09:30:19.123999+00:00'", '2026-01-31T09:30:19.123Z'],
        ["'2026-02-01T09:30:18.123Z'", '2026-02-01T09:30:18.123Z'],
        ["'2026-02-02T23:30:18+14:00'", '2026-02-02T09:30:18.000Z'],
        ["'2026-02-03 22:30:18-11:00'", '2026-02-04T09:30:18.000Z'],
      ],
    },
    {
      name: 'flag',
      column: { type: 'boolean' },
      values: [
        ['0', false],
        ['1', true],
      ],
    },
    {
      name: 'serial',
      column: { type: 'bigint' },
      values: [
        ['-9223372036854775807 - 1', '-9223372036854775808'],
        ['9007199254740991', 9007199254740991],
        ['9007199254740993', '9007199254740993'],
      ],
      refused: [9007199254740992],
    },
    {
      name: 'day',
      column: { type: 'date' },
      values: sameTexts('0001-01-01', '2026-01-31', '9999-12-31'),
      refused: ['2026-02-30'],
    },
    { name: 'time', column: { type: 'time' }, values: sameTexts('00:00', '09:30:15', '09:30:15.123456', '23:59:59') },
  ],
  postgres: [
    {
      name: 'double',
      column: { type: 'double precision' },
      values: [["'-Infinity'", '-Infinity'], ...floats.map(double), ["'Infinity'", 'Infinity'], ["'NaN'", 'NaN']],
      refused: ['nan', '1'],
    },
    {
      name: 'real',
      column: { type: 'real' },
      values: [["'-Infinity'", '-Infinity'], double('-3.4028235e+38'), ...fourBytes.map(double), ["'NaN'", 'NaN']],
    },
    {
      name: 'numeric',
      column: { type: 'numeric' },
      values: [
        ["'-Infinity'", '-Infinity'],
        ['1.50', '1.50'],
        ["'NaN'", 'NaN'],
      ],
    },
    {
      name: 'moment',
      column: { type: 'timestamptz' },
      refused: FINE,
      values: ancient.map(([sql, answer]) => [sql.replace(/'$/, "+00'"), answer]),
    },
    {
      name: 'serial',
      column: { type: 'bigint' },
      values: [
        ["'-9223372036854775808'", '-9223372036854775808'],
        ['9007199254740993', '9007199254740993'],
      ],
      refused: [9007199254740992],
    },
    {
      name: 'fine',
      column: { type: 'timestamptz' },
      values: [
        ["'2026-01-31 09:30:15.122999+00'", '2026-01-31T09:30:15.122Z'],
        ["'2026-01-31 09:30:15.123456+00'", '2026-01-31T09:30:15.123Z'],
        ["'9999-12-31 23:59:59.999999+00'", '9999-12-31T23:59:59.999Z'],
      ],
    },
    {
      name: 'unzoned',
      column: { type: 'timestamp' },
      values: [["'2026-01-31 09:30:15.123456'", '2026-01-31T09:30:15.123Z']],
    },
    {
      name: 'day',
      column: { type: 'date' },
      values: sameTexts('0001-01-01', '2026-01-31', '9999-12-31'),
      refused: ['2026-02-30'],
    },
    {
      name: 'time',
      column: { type: 'time' },
      values: sameTexts('00:00:00', '09:30:15', '09:30:15.123456', '24:00:00'),
    },
    {
      name: 'zonedTime',
      column: { type: 'timetz' },
      isOrdered: false,
      values: sameTexts('09:30:15+02', '09:30:15.123456-11'),
    },
    { name: 'one', column: { type: 'char' }, values: sameTexts('A', 'a', 'ä'), refused: ['ab'] },
    {
      name: 'bits',
      column: { type: 'bit', length: 8 },
      isOrdered: false,
      values: sameTexts('00000001', '10101010'),
      refused: ['1', '2', 5],
    },
    {
      name: 'varbits',
      column: { type: 'bit varying', length: 8 },
      isOrdered: false,
      values: sameTexts('', '0', '00', '1'),
    },
    {
      name: 'money',
      column: { type: 'money' },
      isOrdered: false,
      values: sameTexts('-$92,233,720,368,547,758.08', '-$0.01', '$1.50', '$92,233,720,368,547,758.07'),
    },
    {
      name: 'interval',
      column: { type: 'interval' },
      isCompared: false,
      values: [
        [
          "'1 year 2 mons -3 days 04:05:06.789'",
          { years: 1, months: 2, days: -3, hours: 4, minutes: 5, seconds: 6, milliseconds: 789 },
        ],
        ["'-00:00:00.000001'", { milliseconds: -0.001 }],
        ["'0'", {}],
        ["'25:00:00.123456'", { hours: 25, milliseconds: 123.456 }],
      ],
    },
    {
      name: 'address',
      column: { type: 'inet' },
      isOrdered: false,
      values: sameTexts('10.0.0.0/8', '10.0.0.1', '2001:db8::1'),
    },
    {
      name: 'span',
      column: { type: 'int8range' },
      isOrdered: false,
      values: sameTexts('empty', '[1,9007199254740993)', '(,)'),
    },
    {
      name: 'spaced',
      column: { type: 'json' },
      isCompared: false,
      values: [
        [`'{"b": 1.50,  "a": [1.0, 1e2, 0.12345678901234567890]}'`, { b: 1.5, a: [1, 100, 0.12345678901234568] }],
      ],
    },
    ...arrays,
  ],
  mariadb: [
    { name: 'double', column: { type: 'double' }, values: floats.map(double), refused: ['NaN', 'Infinity'] },
    {
      name: 'float',
      column: { type: 'float' },
      values: ['-3.4028234663852886e+38', ...fourBytes].map(double),
      refused: ['NaN', 'Infinity'],
      text: (column) => `CONCAT(${column} + 0e0)`,
    },
    { name: 'moment', column: { type: 'datetime', precision: 3 }, values: ancient, refused: FINE },
    {
      name: 'second',
      column: { type: 'datetime' },
      values: [["'2026-01-31 09:30:15'", '2026-01-31T09:30:15.000Z']],
      refused: [...FINE, '2026-01-31T09:30:15.5Z'],
    },
    {
      name: 'serial',
      column: { type: 'bigint' },
      values: [
        ['-9223372036854775808', '-9223372036854775808'],
        ['9007199254740993', '9007199254740993'],
      ],
      refused: [9007199254740992],
    },
    {
      name: 'positive',
      column: { type: 'bigint', unsigned: true },
      values: [
        ['0', 0],
        ['9007199254740993', '9007199254740993'],
        ['18446744073709551615', '18446744073709551615'],
      ],
      refused: [-1, '-9007199254740993', '18446744073709551616', 9007199254740992],
    },
    {
      name: 'positiveInt',
      column: { type: 'int', unsigned: true },
      values: [
        ['0', 0],
        ['4294967295', 4294967295],
      ],
      refused: [-1, 4294967296, 0.5],
    },
    {
      name: 'positiveTiny',
      column: { type: 'tinyint', unsigned: true },
      values: [
        ['0', 0],
        ['255', 255],
      ],
    },
    {
      name: 'positiveMedium',
      column: { type: 'mediumint', unsigned: true },
      values: [['16777215', 16777215]],
      refused: [-1, 16777216],
    },
    {
      name: 'positivePrice',
      column: { type: 'decimal', precision: 10, scale: 2, unsigned: true },
      values: ['0.00', '99999999.99'].map(digits),
      refused: ['-0.01', '1.005'],
    },
    {
      name: 'fine',
      column: { type: 'datetime', precision: 6 },
      values: [
        ["'2026-01-31 09:30:15.122999'", '2026-01-31T09:30:15.122Z'],
        ["'2026-01-31 09:30:15.123456'", '2026-01-31T09:30:15.123Z'],
        ["'9999-12-31 23:59:59.999999'", '9999-12-31T23:59:59.999Z'],
      ],
    },
    {
      name: 'stamp',
      column: { type: 'timestamp', precision: 6 },
      values: [["'2026-01-31 09:30:15.123456'", '2026-01-31T09:30:15.123Z']],
    },
    {
      name: 'day',
      column: { type: 'date' },
      values: sameTexts('0001-01-01', '2026-01-31', '9999-12-31'),
      refused: ['2026-02-30'],
    },
    {
      name: 'time',
      column: { type: 'time', precision: 6 },
      values: sameTexts('-838:59:59.000000', '09:30:15.123456', '100:30:00.000000'),
    },
    {
      name: 'year',
      column: { type: 'year' },
      values: [
        ['1901', 1901],
        ['2155', 2155],
      ],
    },
    {
      name: 'bits',
      column: { type: 'bit' },
      isCompared: false,
      values: [
        ["b'1'", 'AQ=='],
        ["b'0'", 'AA=='],
      ],
    },
    {
      name: 'fixed',
      column: { type: 'binary', length: 3 },
      isCompared: false,
      values: [
        ["X'00FF27'", 'AP8n'],
        ["X'00'", 'AAAA'],
      ],
    },
    {
      name: 'some',
      column: { type: 'varbinary', length: 3 },
      isCompared: false,
      values: [
        ["X''", ''],
        ["X'00FF27'", 'AP8n'],
        ["X'00'", 'AA=='],
      ],
      refused: ['AP8nAA=='],
    },
    {
      name: 'spaced',
      column: { type: 'json' },
      isCompared: false,
      values: [
        [`'{"b": 1.50,  "a": [1.0, 1e2, 0.12345678901234567890]}'`, { b: 1.5, a: [1, 100, 0.12345678901234568] }],
      ],
    },
    {
      name: 'labels',
      column: { type: 'set', enum: ['a', 'b', 'c'] },
      isCompared: false,
      values: [
        ["''", []],
        ["'a,c'", ['a', 'c']],
      ],
    },
  ],
};

/** A row of another program may have integers that JavaScript rounds: it is not written back. */
const json = (database: DatabaseName): ExactColumn => ({
  name: 'document',
  column: { type: database === 'sqlite' ? 'simple-json' : database === 'postgres' ? 'jsonb' : 'json' },
  isCompared: false,
  values: [
    ["'5.0'", 5],
    ["'null'", null],
    [`'{"a": [0.1, 9007199254740991], "b": {"c": "9007199254740993"}}'`, DOCUMENT],
  ].map(([sql, answer]) => [database === 'postgres' ? String(sql) : String(sql).replaceAll(/(?<=[:,]) /g, ''), answer]),
  refused: [
    { a: [{ b: Number('9007199254740993') }] },
    [-Number('750727362669608961')],
    Number('12345678901234567890'),
  ],
});
const DOCUMENT = { a: [0.1, 9007199254740991], b: { c: '9007199254740993' } };

export const columnsOf = (database: DatabaseName): readonly ExactColumn[] => [
  json(database),
  ...everywhere(database),
  ...decimals(database),
  ...COLUMNS[database],
];
