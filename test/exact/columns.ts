/** The values of columns that are hard to keep: one row for each type, with the extremes that other programs store. */
import type { ColumnOptions } from 'typeorm';
import type { DatabaseName } from '../harness/databases.js';

export interface ExactColumn {
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
  ],
};

/** A row of another program may have integers that JavaScript rounds: it is not written back. */
const json = (database: DatabaseName): ExactColumn => ({
  name: 'document',
  column: { type: database === 'sqlite' ? 'simple-json' : database === 'postgres' ? 'jsonb' : 'json' },
  isCompared: false,
  values: [[`'{"a": [0.1, 9007199254740991], "b": {"c": "9007199254740993"}}'`, DOCUMENT]].map(([sql, answer]) => [
    database === 'postgres' ? String(sql) : String(sql).replaceAll(/(?<=[:,]) /g, ''),
    answer,
  ]),
  refused: [
    { a: [{ b: Number('9007199254740993') }] },
    [-Number('750727362669608961')],
    Number('12345678901234567890'),
  ],
});
const DOCUMENT = { a: [0.1, 9007199254740991], b: { c: '9007199254740993' } };

export const columnsOf = (database: DatabaseName): readonly ExactColumn[] => [
  json(database),
  ...decimals(database),
  ...COLUMNS[database],
];
