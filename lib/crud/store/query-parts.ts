/** Adds conditions and sorts to the statements of TypeORM's query builder and repositories. */
import { Raw } from 'typeorm';
import type { DataSource, EntityMetadata, FindOptionsWhere, InsertQueryBuilder } from 'typeorm';
import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { isPostgres, isSqlite } from '../../entities/database-family.js';
import { boundValues, isEverything, type Condition, type SortKey } from '../sql/condition.js';
import { conditionSql, parametersOf, RECORD } from '../sql/condition-sql.js';
import { dialectOf, orderBy } from '../sql/dialect.js';
import { OPERATORS } from '../sql/operators.js';

/** @param parameters the values by the names of the parameters, or what stands for them */
export function addCondition<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  condition: Condition,
  parameters: ObjectLiteral,
  dataSource: DataSource,
): SelectQueryBuilder<T> {
  // The condition says whether deleted records are wanted.
  query.withDeleted();
  if (isEverything(condition)) return query;
  return query.andWhere(conditionSql(condition, query.escape(RECORD), dataSource), parameters);
}

/** Names every column: otherwise TypeORM leaves out the generated keys of PostgreSQL, also where one is set. */
export const intoColumns = <T extends ObjectLiteral>(
  query: InsertQueryBuilder<T>,
  { target, columns }: EntityMetadata,
) =>
  query.into<T>(
    target,
    columns.filter(({ isInsert }) => isInsert).map(({ propertyPath }) => propertyPath),
  );

export const addLock = <T extends ObjectLiteral>(query: SelectQueryBuilder<T>, isLocked = false) =>
  isLocked ? query.setLock('pessimistic_write') : query;

export function addSort<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  sort: readonly SortKey[],
  dataSource: DataSource,
): SelectQueryBuilder<T> {
  const dialect = dialectOf(dataSource);
  for (const { field, descending } of sort) {
    const name = `${query.escape(RECORD)}.${query.escape(field.column.databaseName)}`;
    for (const [expression, direction] of orderBy(dialect, field, name, descending))
      query.addOrderBy(expression, direction);
  }
  return query;
}

/** The condition for methods of a repository: of the record with a key, or of any. */
export function whereOf<T>(
  condition: Condition,
  dataSource: DataSource,
  { tableName, primaryColumns }: EntityMetadata,
): FindOptionsWhere<T> {
  if (isEverything(condition)) return {};
  // A plain value, where it is enough, can be read by a repository that an application wrote.
  const parts = condition.kind === 'and' ? condition.parts : [condition];
  const values = parts.flatMap((each) =>
    each.kind === 'compare' && each.operator === OPERATORS.eq && each.field.column.isPrimary
      ? [[each.field.property, each.values[0]] as const]
      : [],
  );
  if (values.length === parts.length && new Set(values.map(([name]) => name)).size === primaryColumns.length)
    return Object.fromEntries(values) as FindOptionsWhere<T>;
  const parameters = parametersOf(boundValues(condition, dataSource));
  const { driver } = dataSource;
  // TypeORM gives `Product.id` in a SELECT, and `id` in an UPDATE or DELETE.
  const owner = (id: string): string => driver.escape(id.includes('.') ? id.slice(0, id.indexOf('.')) : tableName);
  const matches = Raw((id) => conditionSql(condition, owner(id), dataSource), parameters);
  return { [primaryColumns[0]?.propertyName ?? '']: matches } as unknown as FindOptionsWhere<T>;
}

/** Reads the key that the connection has generated last. */
export function lastKey(dataSource: DataSource): string {
  if (isSqlite(dataSource)) return 'SELECT CAST(last_insert_rowid() AS TEXT) AS found';
  if (!isPostgres(dataSource)) return 'SELECT CAST(LAST_INSERT_ID() AS CHAR) AS found';
  const sequence = 'pg_get_serial_sequence($1, $2)';
  // It fails where no key was taken.
  return `SELECT CAST(currval(${sequence}) AS TEXT) AS found WHERE pg_sequence_last_value(${sequence}) IS NOT NULL`;
}
