/** The SQL that statements set on columns in the place of a value. */
import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { isMysql, isSqlite } from '../../entities/database-family.js';
import type { Field } from '../../entities/entity-schema.js';
import { dialectOf } from './dialect.js';

export type SqlByColumn = readonly [ColumnMetadata, () => string];

/** The default of a column, for an UPDATE that sets it again. */
export function databaseDefault(column: ColumnMetadata, dataSource: DataSource): string {
  if (!isSqlite(dataSource)) return 'DEFAULT';
  const { default: value } = column;
  // SQLite has no `DEFAULT` in an UPDATE. A text is hexadecimal, so that TypeORM finds no names in it.
  if (typeof value === 'string') return `CAST(x'${Buffer.from(value).toString('hex')}' AS TEXT)`;
  return dataSource.driver.normalizeDefault(column) ?? 'NULL';
}

/** The present time with the digits of a column. TypeORM sets whole seconds in an UPDATE, which is before other times. */
export const presentOf =
  ({ precision }: ColumnMetadata) =>
  (): string =>
    `CURRENT_TIMESTAMP(${precision ?? 0})`;

/** What a statement that changes or restores a record sets beside its values. */
export function renewedColumns({ updateDateColumn }: EntityMetadata, dataSource: DataSource): SqlByColumn[] {
  return updateDateColumn && isMysql(dataSource) ? [[updateDateColumn, presentOf(updateDateColumn)]] : [];
}

/** Keeps what clients do not see of a moment that they send unchanged: its microseconds, or the form of another program. */
export function keptMoment(field: Field, parameter: () => string, dataSource: DataSource): () => string {
  const column = dataSource.driver.escape(field.column.databaseName);
  const seen = field.type.comparison === 'moment' ? dialectOf(dataSource).millisecond(column, field) : column;
  return seen === column
    ? parameter
    : () => `CASE WHEN ${seen} = ${parameter()} THEN ${column} ELSE ${parameter()} END`;
}
