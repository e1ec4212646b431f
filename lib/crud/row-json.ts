/**
 * From a row of the driver to the JSON of its record, without the record between. A column whose values are plain is
 * written at once; any other, and any value that is not what its column declares, as its reading is written.
 */
import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from '../entities/column-types.js';
import { isSqlite } from '../entities/database-family.js';
import type { RawRow } from './statement.js';

export interface ReadColumn {
  readonly name: string;
  /** Under which the row holds it. */
  readonly alias: string;
  readonly column: ColumnMetadata;
  /** From what the row holds to what the record does. */
  readonly read: (raw: unknown) => unknown;
}

interface Plain {
  /** The JSON of what a row holds; `undefined` where that is not certain. */
  readonly json: (raw: unknown) => string | undefined;
  /** As drivers name them; those that are met most. */
  readonly types: readonly string[];
  readonly isOf?: (dataSource: DataSource) => boolean;
  /** What a row may hold: at boot it is seen that TypeORM reads these as this table does, or the table is left alone. */
  readonly samples: readonly unknown[];
}

const CANONICAL = /^(?:0|-?[1-9]\d{0,14})$/;
const wholeNumber = (raw: unknown): string | undefined => {
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? `${raw}` : undefined;
  return typeof raw === 'string' && CANONICAL.test(raw) ? raw : undefined;
};

/** As SQLite keeps a moment, in UTC; the 29th of February is left to `Date`. */
const MOMENT =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?$/;
const moment = (raw: unknown): string | undefined =>
  typeof raw === 'string' && MOMENT.test(raw)
    ? `"${raw.slice(0, 10)}T${raw.slice(11)}${raw.length === 19 ? '.000' : ''}Z"`
    : undefined;

const rows: readonly Plain[] = [
  {
    json: (raw) => (typeof raw === 'string' ? JSON.stringify(raw) : undefined),
    types: ['varchar', 'character varying', 'text', 'char', 'character', 'nvarchar', 'longtext', 'mediumtext'],
    samples: ['', 'a "b"', '5', 'true', '[1]', '2026-01-31'],
  },
  {
    json: wholeNumber,
    types: ['integer', 'int', 'int4', 'smallint', 'int2', 'mediumint', 'tinyint', 'bigint', 'int8'],
    samples: [0, 7, -7, 9_007_199_254_740_991, '0', '-7', '123456789012345'],
  },
  {
    json: (raw) => (typeof raw === 'number' && Number.isFinite(raw) ? `${raw}` : undefined),
    types: ['real', 'float', 'float4', 'float8', 'double', 'double precision', 'decimal', 'numeric'],
    samples: [0, 1.5, -2e-7, 1e21],
  },
  {
    json: (raw) => (raw === 1 || raw === true ? 'true' : raw === 0 || raw === false ? 'false' : undefined),
    types: ['boolean', 'bool', 'tinyint'],
    samples: [true, false, 1, 0],
  },
  {
    json: moment,
    types: ['datetime'],
    isOf: isSqlite,
    samples: ['2026-01-31 09:30:15', '2026-07-31 23:59:59.999', '0001-01-01 00:00:00'],
  },
  {
    json: (raw) => (raw instanceof Date && !Number.isNaN(raw.getTime()) ? `"${raw.toISOString()}"` : undefined),
    types: ['timestamp without time zone', 'timestamp with time zone', 'timestamp', 'timestamptz', 'datetime'],
    isOf: (dataSource) => !isSqlite(dataSource),
    samples: [new Date(0), new Date('2026-01-31T09:30:15.123Z'), new Date('-000001-01-01T00:00:00Z')],
  },
];

/**
 * `undefined` where the record's class writes itself, two columns have one name, or the reading of a column can fail:
 * that is to fail where the application's filters still hear of it, and not when the answer is written.
 */
export function compileJson(
  columns: readonly ReadColumn[],
  prototype: object,
  dataSource: DataSource,
): ((row: RawRow) => string) | undefined {
  const order = Object.keys(Object.fromEntries(columns.map(({ name }) => [name, null])));
  if (order.length < columns.length || 'toJSON' in prototype || columns.some(canFail)) return undefined;
  const members = order.map((name, index) => {
    const column = columns.find((each) => each.name === name) as ReadColumn;
    return {
      alias: column.alias,
      label: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
      json: jsonOf(column, dataSource),
    };
  });
  return (row) => {
    let text = '';
    for (const { alias, label, json } of members) text += label + json(row[alias]);
    return `${text}}`;
  };
}

/** As that of JSON which is kept as text. */
function canFail({ read }: ReadColumn): boolean {
  try {
    read('{');
    return false;
  } catch {
    return true;
  }
}

function jsonOf({ column, read }: ReadColumn, dataSource: DataSource): (raw: unknown) => string {
  const written = (raw: unknown): string => JSON.stringify(read(raw));
  const type = dataSource.driver.normalizeType(column);
  const holds = ({ json, samples }: Plain): boolean => {
    try {
      return samples.every((sample) => json(sample) === written(sample));
    } catch {
      return false;
    }
  };
  // Which of an enumeration's values are read as numbers, samples cannot tell.
  const plain = rows.find(
    (row) => row.types.includes(type) && column.enum === undefined && (row.isOf?.(dataSource) ?? true) && holds(row),
  );
  return plain ? (raw) => plain.json(raw) ?? written(raw) : written;
}
