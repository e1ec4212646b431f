/** Runs `aggregate`: one statement, which groups, counts and sums. */
import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { decimalNumber, float } from '../../entities/value-types.js';
import type { Aggregation } from '../query/aggregate-query.js';
import type { AggregateRow } from '../declare/record-types.js';
import type { RawRow } from '../sql/statement.js';
import { BILLION, comparable, dialectOf } from '../sql/dialect.js';
import { compileRead } from './row-projection.js';

type Part = keyof Aggregation;
const PARTS: readonly Part[] = ['groupBy', 'sum', 'avg', 'min', 'max'];

/** @param query with its condition @param limit how many groups at most */
export async function aggregateRows<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  aggregation: Aggregation,
  limit: number,
  dataSource: DataSource,
): Promise<AggregateRow[]> {
  const nameOf = ({ column }: Field): string => `${query.escape(query.alias)}.${query.escape(column.databaseName)}`;
  const columns = PARTS.flatMap((part) =>
    aggregation[part].map((field, place) => ({ part, field, name: nameOf(field), alias: `${part}${place}` })),
  );
  query.select('COUNT(*)', 'found');
  for (const { part, field, name, alias } of columns) {
    query.addSelect(partSql(part, field, name, dataSource), alias);
    if (part === 'avg') query.addSelect(`COUNT(${name})`, `${alias}values`);
    if (part !== 'groupBy') continue;
    const group = groupSql(field, name, dataSource);
    query.addGroupBy(group);
    // NULL comes last on every database.
    if (field.nullable) query.addOrderBy(`CASE WHEN COUNT(${name}) = 0 THEN 1 ELSE 0 END`, 'ASC');
    query.addOrderBy(group, 'ASC');
  }
  const rows = await query.limit(limit).getRawMany<RawRow>();
  return rows.map((row) => {
    const values = (part: Part): [string, unknown][] =>
      columns
        .filter((column) => column.part === part)
        .map(({ field, alias }) => {
          const raw = row[alias];
          if (part === 'sum') return [field.name, readSum(raw, field)];
          if (part === 'avg') return [field.name, readAverage(readSum(raw, field), row[`${alias}values`])];
          return [field.name, compileRead(field, dataSource)(raw)];
        });
    const object = (...parts: Part[]): Partial<Record<Part, object>> =>
      Object.fromEntries(
        parts.flatMap((part) => (aggregation[part].length > 0 ? [[part, Object.fromEntries(values(part))]] : [])),
      );
    return { ...object('groupBy'), count: Number(row['found']), ...object('sum', 'avg', 'min', 'max') } as AggregateRow;
  });
}

/** The SQL of the value that the records of a group share, and by which groups sort. */
function groupSql(field: Field, column: string, dataSource: DataSource): string {
  const dialect = dialectOf(dataSource);
  if (field.type.comparison === 'moment') return dialect.millisecond(column, field);
  return field.type.comparison === 'uuid' ? dialect.uuid(column) : comparable(dialect, field, column).ordered;
}

/** All values of a group are the same, so that it is the least one. */
function partSql(part: Part, field: Field, column: string, dataSource: DataSource): string {
  const { comparison } = field.type;
  const dialect = dialectOf(dataSource);
  if (part === 'sum' || part === 'avg') return dialect.sum(column, field);
  if (comparison === 'boolean') return dialect.sameBoolean(column);
  const value = `${part === 'max' ? 'MAX' : 'MIN'}(${groupSql(field, column, dataSource)})`;
  if (field.textRead) return field.textRead.select(value);
  return comparison === 'text' || comparison === 'label' ? dialect.asText(value) : value;
}

/** Floats are rounded to the digits that do not depend on the order of the summands. */
const rounded = (value: number): number => Number(value.toPrecision(15));

/** @returns the sum as values of the column are sent */
function readSum(raw: unknown, { type, column }: Field): unknown {
  if (raw == null) return null;
  const [billions = '', rest] = String(raw).split(' ');
  if (rest === undefined) return type === float || typeof raw === 'number' ? rounded(Number(raw)) : type.write(raw);
  const units = BigInt(billions) * BigInt(BILLION) + BigInt(rest);
  return type === decimalNumber ? Number(`${units}e-${column.scale}`) : type.write(String(units));
}

const readAverage = (sum: unknown, count: unknown): number | null =>
  sum === null ? null : rounded(Number(sum) / Number(count));
