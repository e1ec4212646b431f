/** The SQL of groups, sums, least and greatest values, and what their results mean. */
import type { DataSource } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { decimalNumber, float } from '../../entities/value-types.js';
import { BILLION, comparable, dialectOf } from './dialect.js';

/** What the records of a group have in common, and how the groups sort. */
export function groupSql(field: Field, column: string, dataSource: DataSource): string {
  const dialect = dialectOf(dataSource);
  return field.type.comparison === 'uuid' ? dialect.uuid(column) : comparable(dialect, field, column).ordered;
}

/** The value of a group, or the least or greatest one. */
export function extremeSql(which: 'MIN' | 'MAX', field: Field, column: string, dataSource: DataSource): string {
  const { comparison } = field.type;
  const dialect = dialectOf(dataSource);
  if (comparison === 'boolean') return dialect.sameBoolean(column);
  const value = `${which}(${groupSql(field, column, dataSource)})`;
  if (field.textRead) return field.textRead.select(value);
  return comparison === 'text' || comparison === 'label' ? dialect.asText(value) : value;
}

export const sumSql = (field: Field, column: string, dataSource: DataSource): string =>
  dialectOf(dataSource).sum(column, field);

/** Floats are rounded to the digits that do not depend on the order of the summands. */
const rounded = (value: number): number => Number(value.toPrecision(15));

/** @returns the sum as values of the column are sent */
export function readSum(raw: unknown, { type, column }: Field): unknown {
  if (raw == null) return null;
  const [billions = '', rest] = String(raw).split(' ');
  if (rest === undefined) return type === float || typeof raw === 'number' ? rounded(Number(raw)) : type.write(raw);
  const units = BigInt(billions) * BigInt(BILLION) + BigInt(rest);
  return type === decimalNumber ? Number(`${units}e-${column.scale}`) : type.write(String(units));
}

export const readAverage = (sum: unknown, count: unknown): number | null =>
  sum === null ? null : rounded(Number(sum) / Number(count));
