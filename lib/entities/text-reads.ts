/** Columns that are selected as text, because the driver or TypeORM would change their values. One row for each kind. */
import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from './column-types.js';
import { isMysql, isPostgres, isSqlite } from './database-family.js';

export interface TextRead {
  select(sql: string): string;
  read(selected: unknown): unknown;
}

const nameOf = (column: ColumnMetadata, { driver }: DataSource): string => driver.normalizeType(column);

const READ_ARRAYS =
  /^(smallint|integer|real|double precision|boolean|bytea|jsonb?|point|interval|timestamp (with|without) time zone)$/;

type Applies = (column: ColumnMetadata, name: string) => boolean;
const ROWS: readonly [on: (dataSource: DataSource) => boolean, cast: string, applies: Applies][] = [
  // The database stores 64 bits, but the driver reads 53.
  [
    isSqlite,
    'TEXT',
    ({ isPrimary }, name) => /^(bigint|int8|unsigned big int)$/.test(name) || (isPrimary && name === 'integer'),
  ],
  // `decimalNumbers` and `supportBigNumbers` round numbers; TypeORM reads dates in another zone than the driver.
  [isMysql, 'CHAR', (_, name) => /^(bigint|decimal|date)$/.test(name)],
  // A global type parser, such as that of `parseInt8`, rounds numbers and makes moments of dates.
  [isPostgres, 'TEXT', ({ isArray }, name) => !isArray && /^(bigint|numeric|date)$/.test(name)],
  // The driver rounds arrays of `numeric`, and TypeORM splits those of enums at commas.
  [isPostgres, 'TEXT[]', ({ isArray }, name) => isArray && !READ_ARRAYS.test(name)],
];

export function textReadOf(column: ColumnMetadata, dataSource: DataSource): TextRead | undefined {
  if (column.relationMetadata && column.referencedColumn) return textReadOf(column.referencedColumn, dataSource);
  const row = ROWS.find(([on, , applies]) => on(dataSource) && applies(column, nameOf(column, dataSource)));
  if (!row || column.transformer) return undefined;
  const element = elementOf(column);
  const hydrate = (text: unknown): unknown => dataSource.driver.prepareHydratedValue(text, element);
  return {
    select: (sql) => `CAST(${sql} AS ${row[1]})`,
    read: (selected) => (Array.isArray(selected) ? selected.map(hydrate) : selected),
  };
}

const elementOf = (column: ColumnMetadata): ColumnMetadata => ({ ...column, isArray: false }) as ColumnMetadata;

/** From the value of the entity to what the driver binds. TypeORM persists an array of JSON as one JSON. */
export function persist(value: unknown, column: ColumnMetadata, dataSource: DataSource): unknown {
  const { driver } = dataSource;
  if (!Array.isArray(value) || !column.isArray || column.transformer || !isPostgres(dataSource))
    return driver.preparePersistentValue(value, column);
  const element = elementOf(column);
  return value.map((each: unknown) => driver.preparePersistentValue(each, element) as unknown);
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
