/** Columns that are selected as text, because the driver or TypeORM would change their values. One row for each kind. */
import type { DataSource } from 'typeorm';
import { decimalDigits, toDatabase, type ColumnMetadata } from './column-types.js';
import { decimalText } from './decimals.js';
import { isMysql, isPostgres, isSqlite } from './database-family.js';
import { safeNumber, unchanged } from './value-types.js';

export interface TextRead {
  select(sql: string): string;
  read(selected: unknown): unknown;
}

const nameOf = (column: ColumnMetadata, { driver }: DataSource): string => driver.normalizeType(column);

const READ_ARRAYS =
  /^(smallint|integer|real|double precision|boolean|bytea|jsonb?|point|interval|timestamp (with|without) time zone)$/;

type Applies = (column: Pick<ColumnMetadata, 'isPrimary' | 'isArray' | 'precision'>, name: string) => boolean;
type Read = (selected: unknown, column: ColumnMetadata, dataSource: DataSource) => unknown;
/** A cast, or the SQL of the value with a function that reads it. */
const ROWS: readonly [
  on: (dataSource: DataSource) => boolean,
  select: string | ((sql: string) => string),
  applies: Applies,
  read?: Read,
][] = [
  // The database stores 64 bits, but the driver reads 53.
  [
    isSqlite,
    'TEXT',
    ({ isPrimary }, name) => /^(bigint|int8|unsigned big int)$/.test(name) || (isPrimary && name === 'integer'),
  ],
  // A CAST would round a REAL, and the driver an integer.
  [
    isSqlite,
    (sql) => `CASE typeof(${sql}) WHEN 'integer' THEN CAST(${sql} AS TEXT) ELSE ${sql} END`,
    (_, name) => /^(decimal|numeric|dec|fixed)$/.test(name),
    (value, column, source) => decimalText(value, decimalDigits(column, source).scale),
  ],
  // `decimalNumbers` and `supportBigNumbers` round numbers; TypeORM reads dates in another zone than the driver.
  [isMysql, 'CHAR', (_, name) => /^(bigint|decimal|date)$/.test(name)],
  // As text, a FLOAT has 6 digits.
  [
    isMysql,
    (sql) => `(${sql} + 0e0)`,
    ({ precision }, name) => name === 'float' && !(Number(precision) > 24),
    shortest,
  ],
  // The driver takes the years before 100 for those of the last century.
  [isMysql, 'CHAR', (_, name) => name === 'datetime', momentOf],
  // The driver makes texts of integers beyond 53 bits, and TypeORM parses a text once more.
  [isMysql, 'CHAR', (_, name) => name === 'json', (text) => JSON.parse(String(text))],
  // TypeORM takes a moment for local time where its fraction has not three digits.
  [isSqlite, (sql) => `(${sql})`, (_, name) => name === 'datetime', withMilliseconds],
  // The driver reads infinity as the empty interval.
  [isPostgres, 'TEXT', ({ isArray }, name) => !isArray && name === 'interval', intervalOf],
  // A global type parser, such as that of `parseInt8`, rounds numbers and makes moments of dates.
  [isPostgres, 'TEXT', ({ isArray }, name) => !isArray && /^(bigint|numeric|date)$/.test(name)],
  // The driver rounds arrays of `numeric`, and TypeORM splits those of enums at commas.
  [isPostgres, 'TEXT[]', ({ isArray }, name) => isArray && !READ_ARRAYS.test(name)],
];

/** The largest number of 4 bytes: servers refuse what is rounded to it from above. */
const MOST = 3.4028234663852886e38;
/** The fewest digits that a number of 4 bytes needs, as PostgreSQL writes it. */
function shortest(value: unknown): unknown {
  const candidates = [6, 7, 8, 9].map((digits) => Number(Number(value).toPrecision(digits)));
  return candidates.find((each) => Math.fround(each) === value && Math.abs(each) <= MOST) ?? value;
}

function momentOf(text: unknown, _column: ColumnMetadata, { options }: DataSource): unknown {
  const { timezone = 'local' } = options as { timezone?: string };
  return new Date(`${String(text).replace(' ', 'T')}${timezone === 'local' ? '' : timezone}`);
}

function withMilliseconds(value: unknown, column: ColumnMetadata, { driver }: DataSource): unknown {
  const cut = (_: string, digits: string): string => `.${digits.slice(0, 3).padEnd(3, '0')}`;
  return driver.prepareHydratedValue(typeof value === 'string' ? value.replace(/\.(\d+)/, cut) : value, column);
}

const INTERVAL = 1186;
function intervalOf(text: unknown, _column: ColumnMetadata, { driver }: DataSource): unknown {
  const { postgres } = driver as object as {
    postgres: { types: { getTypeParser(oid: number): (text: unknown) => unknown } };
  };
  return /^-?infinity$/.test(String(text)) ? text : postgres.types.getTypeParser(INTERVAL)(text);
}

/** Whether the driver reads 64 bits as a number by default, or by an option of TypeORM. */
function readsNumbers(dataSource: DataSource): boolean {
  const options = dataSource.options as {
    parseInt8?: boolean;
    supportBigNumbers?: boolean;
    bigNumberStrings?: boolean;
  };
  const { parseInt8, supportBigNumbers, bigNumberStrings } = options;
  return isSqlite(dataSource) || parseInt8 === true || supportBigNumbers === false || bigNumberStrings === false;
}

/** Columns of SQLite's views have no types: the value decides. */
const exactInteger = (sql: string): string =>
  `CASE WHEN typeof(${sql}) = 'integer' AND abs(${sql} / 2) >= ${2 ** 52} THEN CAST(${sql} AS TEXT) ELSE ${sql} END`;

/** @param viewType of a column of a view, as the database calls it */
export function textReadOf(column: ColumnMetadata, dataSource: DataSource, viewType?: string): TextRead | undefined {
  const { relationMetadata, referencedColumn, transformer } = column;
  // TypeORM does not transform foreign keys that the entity does not declare.
  if (relationMetadata && referencedColumn && !transformer)
    return textReadOf(withoutTransformer(referencedColumn), dataSource);
  const [name = '', list] = (viewType ?? nameOf(column, dataSource)).split('[');
  const isArray = column.isArray || list !== undefined;
  const row = ROWS.find(([on, , applies]) => on(dataSource) && applies({ ...column, isArray }, name));
  const isUntyped = !column.type && isSqlite(dataSource);
  if (!row && !isUntyped) return undefined;
  const element = withoutTransformer(column, false);
  const hydrate = (text: unknown): unknown => dataSource.driver.prepareHydratedValue(text, element);
  const toNumber: Read = /int/.test(name) && readsNumbers(dataSource) ? safeNumber : unchanged;
  const [, select = exactInteger, , read = toNumber] = row ?? [];
  const transformers = [column.transformer ?? []].flat();
  return {
    select: (sql) => (typeof select === 'string' ? `CAST(${sql} AS ${select})` : select(sql)),
    read(selected) {
      const held = Array.isArray(selected) ? selected.map(hydrate) : selected;
      const exact = held === selected && held !== null ? read(held, element, dataSource) : held;
      return transformers.reduceRight<unknown>((value, each) => each.from(value), exact);
    },
  };
}

const withoutTransformer = (column: ColumnMetadata, isArray = column.isArray): ColumnMetadata =>
  ({ ...column, isArray, transformer: undefined }) as object as ColumnMetadata;

/** From the value of the entity to what the driver binds. TypeORM persists an array of JSON as one JSON. */
export function persist(value: unknown, column: ColumnMetadata, dataSource: DataSource): unknown {
  const { driver } = dataSource;
  if (!Array.isArray(value) || !column.isArray || !isPostgres(dataSource))
    return driver.preparePersistentValue(value, column);
  const element = withoutTransformer(column, false);
  const stored = toDatabase(column, value);
  if (!Array.isArray(stored)) return driver.preparePersistentValue(value, column);
  return stored.map((each: unknown) => driver.preparePersistentValue(each, element) as unknown);
}

/** SQL instead of an array that TypeORM cannot persist. Texts are hexadecimal, so that it finds no names in them. */
export function arraySql(value: unknown, column: ColumnMetadata, dataSource: DataSource): (() => string) | undefined {
  const name = nameOf(column, dataSource);
  const elements = /^(jsonb?|ltree|hstore|point|circle)$/.test(name) ? persist(value, column, dataSource) : undefined;
  if (!column.isArray || !Array.isArray(elements)) return undefined;
  const texts = elements.map(
    (each) => `convert_from(decode('${Buffer.from(String(each)).toString('hex')}', 'hex'), 'UTF8')`,
  );
  return () => `CAST(ARRAY[${texts.join(', ')}]::text[] AS ${name}[])`;
}
