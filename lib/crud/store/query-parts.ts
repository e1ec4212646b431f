/** Adds conditions and sorts to the statements of TypeORM's query builder. */
import type { DataSource, EntityMetadata, InsertQueryBuilder, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { isPostgres, isSqlite } from '../../entities/database-family.js';
import { isEverything, type Condition, type SortKey } from '../sql/condition.js';
import { conditionSql, RECORD } from '../sql/condition-sql.js';
import { dialectOf, orderBy } from '../sql/dialect.js';

/** @param parameters the values by the names of the parameters, or what stands for them */
export function addCondition(
  query: SelectQueryBuilder<object>,
  condition: Condition,
  parameters: ObjectLiteral,
  dataSource: DataSource,
): SelectQueryBuilder<object> {
  // The condition says whether deleted records are wanted.
  query.withDeleted();
  if (isEverything(condition)) return query;
  return query.andWhere(conditionSql(condition, query.escape(RECORD), dataSource), parameters);
}

/** Names every column: otherwise TypeORM leaves out the generated keys of PostgreSQL, also where one is set. */
export const intoColumns = (query: InsertQueryBuilder<object>, { target, columns }: EntityMetadata) =>
  query.into<object>(
    target,
    columns.filter(({ isInsert }) => isInsert).map(({ propertyPath }) => propertyPath),
  );

export const addLock = (query: SelectQueryBuilder<object>, isLocked = false) =>
  isLocked ? query.setLock('pessimistic_write') : query;

export function addSort(
  query: SelectQueryBuilder<object>,
  sort: readonly SortKey[],
  dataSource: DataSource,
): SelectQueryBuilder<object> {
  const dialect = dialectOf(dataSource);
  for (const { field, descending } of sort) {
    const name = `${query.escape(RECORD)}.${query.escape(field.column.databaseName)}`;
    for (const [expression, direction] of orderBy(dialect, field, name, descending))
      query.addOrderBy(expression, direction);
  }
  return query;
}

/** Reads the key that the connection has generated last. */
export function lastKey(dataSource: DataSource): string {
  if (isSqlite(dataSource)) return 'SELECT CAST(last_insert_rowid() AS TEXT) AS found';
  if (!isPostgres(dataSource)) return 'SELECT CAST(LAST_INSERT_ID() AS CHAR) AS found';
  const sequence = 'pg_get_serial_sequence($1, $2)';
  // It fails where no key was taken.
  return `SELECT CAST(currval(${sequence}) AS TEXT) AS found WHERE pg_sequence_last_value(${sequence}) IS NOT NULL`;
}
