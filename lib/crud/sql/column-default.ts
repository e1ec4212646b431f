/** The default of a column as SQL, for an UPDATE that sets it again. */
import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { isSqlite } from '../../entities/database-family.js';

/** SQLite has no `DEFAULT` in an UPDATE. A text is hexadecimal, so that TypeORM finds no names in it. */
export function databaseDefault(column: ColumnMetadata, dataSource: DataSource): string {
  if (!isSqlite(dataSource)) return 'DEFAULT';
  const { default: value } = column;
  if (typeof value === 'string') return `CAST(x'${Buffer.from(value).toString('hex')}' AS TEXT)`;
  return dataSource.driver.normalizeDefault(column) ?? 'NULL';
}
