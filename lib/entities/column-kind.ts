/** Which kind of values a column has: one table for the type names of all drivers. */
import type { DataSource, EntityMetadata } from 'typeorm';
import * as kinds from './value-kinds.js';
import * as postgres from './postgres-kinds.js';
import { isMysql, isPostgres, isSqlite } from './database-family.js';
import type { ValueKind } from './value-kinds.js';

export type ColumnMetadata = EntityMetadata['columns'][number];

type KindOf = (column: ColumnMetadata, dataSource: DataSource) => ValueKind;

/** SQLite stores every integer in 64 bits, but its driver reads 53 of them: see `losesDigits`. */
const integer =
  (bits: bigint): KindOf =>
  (column, dataSource) => {
    if (column.unsigned === true) return kinds.unsigned(bits);
    if (!isSqlite(dataSource)) return kinds.signed(bits);
    return bits === 64n || column.isPrimary ? kinds.signed(64n) : kinds.safeInteger;
  };

const text: KindOf = (column, dataSource) => {
  const length = Number(dataSource.driver.getColumnLength(column));
  return (isPostgres(dataSource) ? kinds.textWithoutNul : kinds.text)(length > 0 ? length : undefined);
};

const enumeration: KindOf = (column, dataSource) => (column.enum ? kinds.oneOf(column.enum) : text(column, dataSource));

/** Type names separated by commas. Any other type is read as text. */
const rows: readonly [kind: KindOf, types: string, constructor?: unknown][] = [
  [() => kinds.boolean, 'boolean, bool', Boolean],
  [integer(8n), 'tinyint'],
  [integer(16n), 'smallint, int2, year'],
  [integer(24n), 'mediumint'],
  [integer(32n), 'int, integer, int4', Number],
  [integer(64n), 'bigint, int8, int64, unsigned big int'],
  [() => kinds.float, 'float, float4, float8, double, double precision, real'],
  [() => kinds.decimal, 'decimal, numeric, dec, fixed, number, smallmoney'],
  [(_column, dataSource) => (isPostgres(dataSource) ? postgres.money : kinds.decimal), 'money'],
  [() => kinds.uuid, 'uuid, uniqueidentifier'],
  [() => kinds.date, 'date'],
  [() => kinds.time, 'time, time without time zone'],
  [() => kinds.dateTime, 'datetime, datetime2, smalldatetime, timestamp, timestamptz', Date],
  [() => kinds.dateTime, 'timestamp with time zone, timestamp without time zone, timestamp with local time zone'],
  [() => kinds.bytes, 'blob, tinyblob, mediumblob, longblob, bytea, binary, varbinary, image, bytes'],
  [(_column, dataSource) => (isMysql(dataSource) ? kinds.jsonReadTwice : kinds.json), 'json'],
  [() => kinds.json, 'jsonb, simple-json'],
  [() => kinds.words, 'simple-array'],
  [enumeration, 'enum, simple-enum, set'],
  [(column, dataSource) => (isPostgres(dataSource) ? postgres.point : text(column, dataSource)), 'point'],
  [() => postgres.circle, 'circle'],
  [() => postgres.interval, 'interval'],
  [() => postgres.cube, 'cube'],
  [(column, dataSource) => (column.hstoreType === 'object' ? postgres.textsByKey : text(column, dataSource)), 'hstore'],
  [(column, dataSource) => (isMysql(dataSource) ? kinds.bytes : text(column, dataSource)), 'bit'],
];

const kindByType = new Map<unknown, KindOf>(
  rows.flatMap(([kind, types, constructor]) =>
    [...types.split(', '), constructor].map((type) => [type, kind] as const),
  ),
);
kindByType.delete(undefined);

/** The type of a property with a transformer is known only from TypeScript's `design:type`. */
const kindByDesign = new Map<unknown, ValueKind>([
  [String, kinds.text()],
  [Number, kinds.float],
  [Boolean, kinds.boolean],
  [Date, kinds.dateTime],
]);

export function kindOf(column: ColumnMetadata, dataSource: DataSource): ValueKind {
  if (column.relationMetadata && column.referencedColumn) return kindOf(column.referencedColumn, dataSource);
  if (column.generationStrategy === 'uuid') return kinds.uuid;
  if (column.transformer) {
    const target = column.embeddedMetadata?.type ?? column.target;
    const design: unknown =
      typeof target === 'function'
        ? Reflect.getMetadata('design:type', target.prototype as object, column.propertyName)
        : undefined;
    return kindByDesign.get(design) ?? kinds.json;
  }
  const kind = kindByType.get(column.type) ?? kindByType.get(dataSource.driver.normalizeType(column)) ?? text;
  const element = kind(column, dataSource);
  return column.isArray || column.type === 'set' ? kinds.listOf(element) : element;
}

const WIDE_INTEGERS = new Set<unknown>(['bigint', 'int8', 'unsigned big int']);
const INTEGER_KEYS = new Set<unknown>([Number, 'int', 'integer']);

/** Whether SQLite's driver rounds the column's integers beyond 53 bits unless they are selected as text. */
export function losesDigits(column: ColumnMetadata, dataSource: DataSource): boolean {
  const stored = column.referencedColumn ?? column;
  return (
    isSqlite(dataSource) &&
    !stored.transformer &&
    (WIDE_INTEGERS.has(stored.type) || (stored.isPrimary && INTEGER_KEYS.has(stored.type)))
  );
}
