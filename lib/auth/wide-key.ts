/**
 * The id of a user has 64 bits. SQLite has them in every `integer`, and refuses AUTOINCREMENT for any other type;
 * PostgreSQL and MySQL need `bigint`. TypeORM has no column type that is the one here and the other there, and lets no
 * subclass declare a column anew. What it has is `useDataSource`, which it calls on classes that look like its
 * `BaseEntity` when the metadata is built and no table is made yet. test/auth/login.spec.ts tells when that changes.
 */
import type { DataSource } from 'typeorm';
import { isSqlite } from '../schema/sqlite.js';

export abstract class WideKey {
  /** @internal */
  static useDataSource(dataSource: DataSource): void {
    if (isSqlite(dataSource)) return;
    const [key] = dataSource.getMetadata(this).primaryColumns;
    const columns = dataSource.entityMetadatas.flatMap((metadata) => metadata.columns);
    // The columns by which other entities refer to users have the type of the key.
    for (const column of columns) if (column === key || column.referencedColumn === key) column.type = 'bigint';
  }

  /** @internal By these two TypeORM tells a `BaseEntity`. */
  static hasId(): void {}
  /** @internal */
  static save(): void {}
}
