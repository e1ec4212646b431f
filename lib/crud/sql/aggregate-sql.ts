/** The SQL of sums, least and greatest values on each database, so that all of them give the same results. */
import type { DataSource } from 'typeorm';
import { isMysql, isPostgres } from '../../entities/database-family.js';
import type { Field } from '../../entities/entity-schema.js';
import { decimal, float } from '../../entities/value-types.js';
import { comparable, dialectOf } from './dialect.js';

interface AggregateDialect {
  /** A text of a value that sorts as text. */
  asText(ordered: string): string;
  uuid(column: string): string;
  /** Of booleans, which are all equal in a group. */
  sameBoolean(column: string): string;
  /** Digits that `readSum` reads. */
  sum(column: string, field: Field): string;
}

const same = (sql: string): string => sql;

const postgres: AggregateDialect = {
  asText: same,
  uuid: (column) => `CAST(${column} AS text)`,
  sameBoolean: (column) => `BOOL_AND(${column})`,
  sum: (column, { type }) => `SUM(CAST(${column} AS ${type === float ? 'double precision' : 'numeric'}))`,
};

const mysql: AggregateDialect = {
  asText: (ordered) => `CONVERT(${ordered} USING utf8mb4)`,
  uuid: (column) => `CONVERT(${column} USING utf8mb4)`,
  sameBoolean: (column) => `MIN(${column})`,
  // `FLOAT` has 4 bytes: its text has the digits that are sent.
  sum: (column, field) => `SUM(${field.column.type === 'float' ? `(CONCAT(${column}) + 0e0)` : column})`,
};

/** SQLite's own sum of integers fails beyond 64 bits: the billions and the rest are summed. */
const BILLION = 1_000_000_000;
const sqlite: AggregateDialect = {
  asText: same,
  uuid: same,
  sameBoolean: (column) => `MIN(${column})`,
  sum(column, { type, column: { scale } }) {
    if (type === float || (type === decimal && scale == null)) return `SUM(${column})`;
    const units = type === decimal ? `CAST(ROUND(${column} * 1e${scale}) AS INTEGER)` : column;
    const [billions, rest] = ['/', '%'].map((operator) => `CAST(SUM(${units} ${operator} ${BILLION}) AS TEXT)`);
    return `${billions} || ' ' || ${rest}`;
  },
};

const aggregatesOf = (dataSource: DataSource): AggregateDialect =>
  isPostgres(dataSource) ? postgres : isMysql(dataSource) ? mysql : sqlite;

/** What the records of a group have in common, and how the groups sort. */
export function groupSql(field: Field, column: string, dataSource: DataSource): string {
  return field.type.comparison === 'uuid'
    ? aggregatesOf(dataSource).uuid(column)
    : comparable(dialectOf(dataSource), field, column).ordered;
}

/** The value of a group, or the least or greatest one. */
export function extremeSql(which: 'MIN' | 'MAX', field: Field, column: string, dataSource: DataSource): string {
  const { comparison } = field.type;
  const { asText, sameBoolean } = aggregatesOf(dataSource);
  if (comparison === 'boolean') return sameBoolean(column);
  const value = `${which}(${groupSql(field, column, dataSource)})`;
  if (field.readsAsText) return `CAST(${value} AS TEXT)`;
  return comparison === 'text' || comparison === 'label' ? asText(value) : value;
}

export const sumSql = (field: Field, column: string, dataSource: DataSource): string =>
  aggregatesOf(dataSource).sum(column, field);

/** Floats are rounded to the digits that do not depend on the order of the summands. */
const rounded = (value: number): number => Number(value.toPrecision(15));

/** @returns the sum as values of the column are sent */
export function readSum(raw: unknown, { type, column }: Field): unknown {
  if (raw == null) return null;
  const [billions = '', rest] = String(raw).split(' ');
  if (rest === undefined) return type === float || typeof raw === 'number' ? rounded(Number(raw)) : type.write(raw);
  const units = BigInt(billions) * BigInt(BILLION) + BigInt(rest);
  return type === decimal ? Number(`${units}e-${column.scale}`) : type.write(String(units));
}

export const readAverage = (sum: unknown, count: unknown): number | null =>
  sum === null ? null : rounded(Number(sum) / Number(count));
