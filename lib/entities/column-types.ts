/** The value type of each column: one table for the type names of all drivers. */
import type { DataSource, EntityMetadata } from 'typeorm';
import { BIG_INTEGERS } from './json-schema.js';
import * as calendar from './calendar-types.js';
import { comparedScale, decimal as decimalOf } from './decimals.js';
import * as types from './value-types.js';
import * as postgres from './postgres-types.js';
import { isMysql, isPostgres, isSqlite } from './database-family.js';
import type { Digits, Reading, ValueType } from './value-types.js';

export type ColumnMetadata = EntityMetadata['columns'][number];

type TypeOf = (column: ColumnMetadata, dataSource: DataSource) => ValueType;

/** SQLite stores every integer in 64 bits, but its driver reads 53 of them: see `textReadOf`. */
const integer =
  (bits: bigint): TypeOf =>
  (column, dataSource) => {
    if (column.unsigned === true) return types.unsigned(bits);
    if (!isSqlite(dataSource)) return types.signed(bits);
    if (bits === 64n) return types.signed(64n);
    if (!column.isPrimary) return types.safeInteger;
    // A property that is a number has one type in the document.
    const { schemas } = designOf(column) === Number ? types.safeInteger : types.signed(64n);
    return { ...types.signed(64n), schemas };
  };

const text: TypeOf = (column, dataSource) => {
  const length = Number(dataSource.driver.getColumnLength(column));
  return (isPostgres(dataSource) ? types.textWithoutNul : types.text)(length > 0 ? length : undefined);
};

const enumeration: TypeOf = (column, dataSource) => (column.enum ? types.oneOf(column.enum) : text(column, dataSource));

/** The digits of a decimal column. A scale without a precision is ignored, as TypeORM does. */
export function decimalDigits({ precision, scale }: ColumnMetadata, dataSource: DataSource): Digits {
  if (precision == null) return isMysql(dataSource) ? { precision: 10, scale: 0 } : {};
  return { precision, scale: scale ?? 0 };
}

/** SQLite stores a double. PostgreSQL has infinity where the column has no precision. */
const decimal: TypeOf = (column, dataSource) => {
  const digits = decimalDigits(column, dataSource);
  if (isSqlite(dataSource)) return decimalOf(digits, 15, [], {});
  if (isPostgres(dataSource)) return decimalOf(digits, Infinity, SPECIAL.slice(0, digits.precision ? 1 : 3), {});
  return decimalOf(digits, Infinity, [], { precision: 65, scale: comparedScale(digits) });
};
const SPECIAL = ['NaN', 'Infinity', '-Infinity'];

/** SQLite stores NaN as NULL, and MySQL neither. */
const postgresFloat = types.floatWith(new Map(SPECIAL.map((name) => [name, Number(name)])));
const sqliteFloat = types.floatWith(
  new Map([
    ['Infinity', '9e999'],
    ['-Infinity', '-9e999'],
  ]),
);
const float: TypeOf = (_column, dataSource) =>
  isPostgres(dataSource) ? postgresFloat : isSqlite(dataSource) ? sqliteFloat : types.float;

const comparedText: TypeOf = (column, dataSource) => ({ ...text(column, dataSource), comparison: 'text' });

/** Servers fill such a column up with spaces, or cut them off. Without a length, it has one character. */
const padded: TypeOf = (column, dataSource) => {
  if (isSqlite(dataSource)) return comparedText(column, dataSource);
  const isShort = !dataSource.driver.getColumnLength(column) && String(column.type) !== 'bpchar';
  const type = comparedText(isShort ? ({ ...column, length: '1' } as object as ColumnMetadata) : column, dataSource);
  const read = (value: unknown): Reading => type.read(withoutPadding(value));
  return { ...type, read, readText: read, write: withoutPadding, bound: withoutPadding };
};

function withoutPadding(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  let end = value.length;
  while (value[end - 1] === ' ') end -= 1;
  return value.slice(0, end);
}

/** Digits of the fraction of a second. SQLite stores the text. */
const digitsOf = ({ precision }: ColumnMetadata, dataSource: DataSource): number =>
  isSqlite(dataSource) ? 6 : (precision ?? (isMysql(dataSource) ? 0 : 6));

const opaque: TypeOf = (column, dataSource) => ({ ...text(column, dataSource), comparison: 'opaque' });

/** Type names separated by commas. Any other type is read as text, and not compared. */
const rows: readonly [typeOf: TypeOf, types: string][] = [
  [() => types.boolean, 'boolean, bool'],
  [padded, 'char, character, nchar, bpchar'],
  [comparedText, 'varchar, character varying, varying character, native character, nvarchar'],
  [comparedText, 'text, tinytext, mediumtext, longtext, clob'],
  [integer(8n), 'tinyint'],
  [integer(16n), 'smallint, int2, year'],
  [integer(24n), 'mediumint'],
  [integer(32n), 'int, integer, int4'],
  [integer(64n), 'bigint, int8, int64, unsigned big int'],
  [float, 'float, float4, float8, double, double precision, real'],
  [decimal, 'decimal, numeric, dec, fixed'],
  [(column, dataSource) => (isPostgres(dataSource) ? postgres.money : decimal(column, dataSource)), 'money'],
  [() => types.uuid, 'uuid'],
  [() => calendar.date, 'date'],
  [(column, source) => calendar.timeOf(digitsOf(column, source), source), 'time, time without time zone'],
  [
    (column, source) => calendar.dateTimeOf(digitsOf(column, source)),
    'datetime, timestamp, timestamptz, timestamp with time zone, timestamp without time zone',
  ],
  [() => types.bytes, 'blob, tinyblob, mediumblob, longblob, bytea, binary, varbinary, bytes'],
  [() => types.json, 'json, jsonb, simple-json'],
  [() => types.words, 'simple-array'],
  [enumeration, 'enum, simple-enum, set'],
  [(column, dataSource) => (isPostgres(dataSource) ? postgres.point : text(column, dataSource)), 'point'],
  [() => postgres.circle, 'circle'],
  [() => postgres.interval, 'interval'],
  [opaque, 'inet, cidr, macaddr, macaddr8, inet4, inet6, citext, ltree, bit varying, varbit, tsvector, tsquery'],
  [opaque, 'timetz, time with time zone, int4range, int8range, numrange, tsrange, tstzrange, daterange'],
  [() => postgres.cube, 'cube'],
  [(column, source) => (column.hstoreType === 'object' ? postgres.textsByKey : opaque(column, source)), 'hstore'],
  [(column, dataSource) => (isMysql(dataSource) ? types.bytes : postgres.bits(Number(column.length) || 1)), 'bit'],
];

const typeByName = new Map<unknown, TypeOf>([
  // Some drivers normalize it to `tinyint`.
  [Boolean, () => types.boolean],
  ...rows.flatMap(([typeOf, names]) => names.split(', ').map((name) => [name, typeOf] as const)),
]);

/** Integers of any size, which the entity holds as `bigint`. */
const bigIntegers = types.readerType(
  (value) => {
    const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value) || types.isText(value, /^-?\d{1,400}$/);
    return isInteger ? { value: BigInt(value as bigint) } : { expected: 'an integer, as a string beyond 53 bits' };
  },
  { write: types.safeNumber, comparison: 'exact number', schemas: BIG_INTEGERS },
);

/** What JSON can hold of a value of the application: no `bigint`. */
const plain = (value: unknown): unknown =>
  types.isExactJson(value)
    ? value
    : JSON.parse(
        JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? types.safeNumber(each) : each)),
      );

/** The type of a property with a transformer is known only from TypeScript's `design:type`. */
const typeByDesign = new Map<unknown, ValueType>([
  [String, { ...types.text(), comparison: 'text' }],
  [Number, types.float],
  [Boolean, types.boolean],
  [BigInt, bigIntegers],
  [Date, calendar.dateTime],
]);

/** What the transformers of a column make of a value of the entity. */
export const toDatabase = ({ transformer }: ColumnMetadata, value: unknown): unknown =>
  [transformer ?? []].flat().reduce<unknown>((held, each) => each.to(held), value);

export const ACCEPTED = 'a value that the column accepts';

/** Refuses the values for which the transformer of a column throws, or of which it makes no text of theirs. */
function acceptedBy(column: ColumnMetadata, type: ValueType): ValueType {
  const accept = (reading: Reading): Reading => {
    try {
      if (!('value' in reading)) return reading;
      const stored = toDatabase(column, reading.value);
      const isText = typeof reading.value !== 'object' || typeof stored !== 'string';
      if (isText || !stored.includes(String({}))) return reading;
    } catch {
      // The same answer.
    }
    return { expected: ACCEPTED };
  };
  return { ...type, read: (value) => accept(type.read(value)), readText: (text) => accept(type.readText(text)) };
}

/** Numbers, moments and booleans keep their order. Of other values, the database has only the transformed ones. */
function transformed(type: ValueType, { comparison: stored }: ValueType): ValueType {
  const isKept = type.comparison === stored ? stored !== 'text' : type === types.float && stored === 'exact number';
  const comparison = isKept ? type.comparison : stored && 'opaque';
  return { ...type, comparison, stored };
}

/** The type of numbers that drivers may read as text, such as sums. */
const exactNumber = (value: unknown): unknown => (String(Number(value)) === value ? Number(value) : value);

export function designOf({ embeddedMetadata, target: own, propertyName }: ColumnMetadata): unknown {
  const target = embeddedMetadata?.type ?? own;
  if (typeof target !== 'function') return undefined;
  return Reflect.getMetadata('design:type', target.prototype as object, propertyName);
}

/** @param viewType of a column of a view, as the database calls it */
export function valueTypeOf(column: ColumnMetadata, dataSource: DataSource, viewType?: string): ValueType {
  // TypeORM transforms foreign keys that the entity declares itself.
  const { relationMetadata, referencedColumn, transformer } = column;
  if (relationMetadata && referencedColumn && !transformer) return valueTypeOf(referencedColumn, dataSource);
  if (column.generationStrategy === 'uuid') return types.uuid;
  const typeOf = typeByName.get(column.type) ?? typeByName.get(dataSource.driver.normalizeType(column)) ?? text;
  const element = typeOf(column, dataSource);
  const stored = column.isArray || column.type === 'set' ? types.listOf(element) : element;
  // Its value is an expression, which conditions do not write.
  if (column.isVirtualProperty) return { ...stored, searchable: false, comparison: undefined };
  if (column.transformer) {
    const design = designOf(column);
    return acceptedBy(column, transformed(typeByDesign.get(design) ?? { ...types.json, write: plain }, stored));
  }
  // `@ViewColumn()` has no type.
  if (column.type) return stored;
  const type = designOf(column);
  const ofView = (viewType === 'date' ? calendar.date : typeByDesign.get(type)) ?? stored;
  if (ofView === types.float) return { ...ofView, write: exactNumber };
  if (ofView !== types.boolean && ofView !== calendar.dateTime) return ofView;
  const typed = { ...column, type } as object as ColumnMetadata;
  const hydrate = (value: unknown): unknown => dataSource.driver.prepareHydratedValue(value, typed);
  return { ...ofView, write: (value) => ofView.write(hydrate(value)) };
}
