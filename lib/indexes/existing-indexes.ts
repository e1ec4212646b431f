/** The indexes that a table has: those that its entity declares, and those of the database. */
import type { DataSource, EntityMetadata } from 'typeorm';
import { escapePath } from '../crud/inspect.js';
import { isMysql, isPostgres, isSqlite } from '../entities/database-family.js';

/** The names of the columns of each index, in their order; `null` for an expression. */
export type Indexes = readonly (readonly (string | null)[])[];

const namesOf = (columns: readonly { readonly databaseName: string }[]): string[] =>
  columns.map(({ databaseName }) => databaseName);

/** Also those of constraints. MySQL and MariaDB create one for each foreign key. */
export function declaredIndexes(metadata: EntityMetadata, dataSource: DataSource): Indexes {
  const { indices, uniques, primaryColumns, foreignKeys } = metadata;
  const whole = indices.filter(({ where, isSpatial, isFulltext }) => where === undefined && !isSpatial && !isFulltext);
  const keys = isMysql(dataSource) ? foreignKeys : [];
  return [primaryColumns, ...[...whole, ...uniques, ...keys].map(({ columns }) => columns)].map(namesOf);
}

const POSTGRES =
  'SELECT i.indexrelid AS name, a.attname AS col FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid ' +
  `JOIN pg_am m ON m.oid = c.relam AND m.amname = 'btree' ` +
  'CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, place) ' +
  'LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum ' +
  'WHERE i.indrelid = to_regclass($1) AND i.indpred IS NULL AND i.indisvalid AND k.place <= i.indnkeyatts ' +
  'ORDER BY i.indexrelid, k.place';
const SQLITE =
  'SELECT l.name AS name, i.name AS col FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) i ' +
  'WHERE l.partial = 0 ORDER BY l.name, i.seqno';
const MYSQL =
  'SELECT index_name AS name, IF(sub_part IS NULL, column_name, NULL) AS col FROM information_schema.statistics ' +
  `WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND index_type = 'BTREE' ` +
  'ORDER BY index_name, seq_in_index';

/** Without partial indexes. */
export async function databaseIndexes({ tablePath, tableName, database }: EntityMetadata, dataSource: DataSource) {
  const rows: readonly { readonly name: unknown; readonly col: string | null }[] = isPostgres(dataSource)
    ? await dataSource.query(POSTGRES, [escapePath(tablePath, dataSource.driver)])
    : isMysql(dataSource)
      ? await dataSource.query(MYSQL, [database ?? null, tableName])
      : isSqlite(dataSource)
        ? await dataSource.query(SQLITE, [tableName])
        : [];
  const indexes = new Map<unknown, (string | null)[]>();
  for (const { name, col } of rows) indexes.set(name, [...(indexes.get(name) ?? []), col]);
  return [...indexes.values()];
}
