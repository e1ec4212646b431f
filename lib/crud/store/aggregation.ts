/** Runs `aggregate`: one statement, which groups, counts and sums. */
import type { DataSource, SelectQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { isFloat } from '../../entities/value-types.js';
import type { Aggregation } from '../query/aggregate-query.js';
import type { AggregateRow } from '../declare/record-types.js';
import type { RawRow } from '../sql/statement.js';
import { BILLION, comparable, dialectOf } from '../sql/dialect.js';
import { compileRead } from './row-projection.js';

type Aggregate = keyof Aggregation;
const AGGREGATES: readonly Aggregate[] = ['groupBy', 'sum', 'avg', 'min', 'max'];

/** @param query with its condition, and a limit of groups */
export async function aggregateRows(query: SelectQueryBuilder<object>, asked: Aggregation, dataSource: DataSource) {
  const nameOf = ({ column }: Field): string => `${query.escape(query.alias)}.${query.escape(column.databaseName)}`;
  const columns = AGGREGATES.flatMap((part) =>
    asked[part].map((field, place) => ({ part, field, name: nameOf(field), alias: `${part}${place}` })),
  );
  query.select('COUNT(*)', 'found');
  for (const { part, field, name, alias } of columns) {
    query.addSelect(aggregateSql(part, field, name, dataSource), alias);
    if (part === 'avg') query.addSelect(`COUNT(${name})`, `${alias}values`);
    if (part !== 'groupBy') continue;
    const group = groupSql(field, name, dataSource);
    query.addGroupBy(group);
    // NULL comes last on every database.
    if (field.nullable) query.addOrderBy(`CASE WHEN COUNT(${name}) = 0 THEN 1 ELSE 0 END`, 'ASC');
    query.addOrderBy(group, 'ASC');
  }
  const rows = await query.getRawMany<RawRow>();
  return rows.map((row) => {
    const values = (part: Aggregate): [string, unknown][] =>
      columns
        .filter((column) => column.part === part)
        .map(({ field, alias }) => {
          const raw = row[alias];
          if (part === 'sum') return [field.name, readSum(raw, field)];
          if (part === 'avg') return [field.name, readAverage(readSum(raw, field), row[`${alias}values`], field)];
          return [field.name, compileRead(field, dataSource)(raw)];
        });
    const object = (...parts: Aggregate[]): Partial<Record<Aggregate, object>> =>
      Object.fromEntries(
        parts.flatMap((part) => (asked[part].length > 0 ? [[part, Object.fromEntries(values(part))]] : [])),
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
function aggregateSql(part: Aggregate, field: Field, column: string, dataSource: DataSource): string {
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
function readSum(raw: unknown, { type, type: { digits } }: Field): unknown {
  if (raw == null) return null;
  const parts = String(raw).split(' ');
  if (parts.length === 1) return type.write(isFloat(type) || typeof raw === 'number' ? rounded(Number(raw)) : raw);
  const [whole = 0n, fraction = 0n] = [0, 2].map(
    (at) => BigInt(parts[at] ?? 0) * BigInt(BILLION) + BigInt(parts[at + 1] ?? 0),
  );
  const scale = digits?.scale ?? 0;
  return type.write(`${whole * 10n ** BigInt(scale) + fraction}${digits ? `e-${scale}` : ''}`);
}

/** The average of decimals has the digits of the column, and is rounded half away from zero. */
function readAverage(sum: unknown, count: unknown, { type, type: { digits } }: Field): unknown {
  const [sign = '', ...units] =
    /^(-?)(\d+)\.?(\d*)$/.exec(digits?.scale === undefined ? '' : String(sum))?.slice(1) ?? [];
  if (sum === null || Number.isNaN(Number(sum))) return sum;
  if (units.length === 0) return type.write(rounded(Number(sum) / Number(count)));
  const values = BigInt(Number(count));
  return type.write(`${sign}${(2n * BigInt(units.join('')) + values) / (2n * values)}e-${digits?.scale ?? 0}`);
}
