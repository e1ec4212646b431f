/**
 * What the columns of users need of each database, and one decorator cannot say of all:
 *
 * - The id has 64 bits. SQLite has them in every `integer`, and refuses AUTOINCREMENT for any other type; PostgreSQL and
 *   MySQL need `bigint`.
 * - Usernames are exact. MySQL compares without regard to case and accents, unless the collation is binary.
 *
 * TypeORM lets no subclass declare a column anew. What it has is `useDataSource`, which it calls on classes that look
 * like its `BaseEntity` when the metadata is built and no table is made yet. test/auth/login.spec.ts tells when that changes.
 */
import type { DataSource } from 'typeorm';
import { isMysql, isSqlite } from '../entities/database-family.js';

// oxlint-disable-next-line typescript/no-extraneous-class -- TypeORM looks for these on the class of the entity
export abstract class UserColumns {
  /** @internal */
  static useDataSource(dataSource: DataSource): void {
    const { primaryColumns, columns } = dataSource.getMetadata(this);
    if (!isSqlite(dataSource)) {
      const all = dataSource.entityMetadatas.flatMap((metadata) => metadata.columns);
      // The columns by which other entities refer to users have the type of the key.
      for (const column of all)
        if (column === primaryColumns[0] || column.referencedColumn === primaryColumns[0]) column.type = 'bigint';
    }
    const username = columns.find(({ propertyName }) => propertyName === 'username');
    if (username && isMysql(dataSource)) Object.assign(username, { charset: 'utf8mb4', collation: 'utf8mb4_bin' });
  }

  /** @internal By these two TypeORM tells a `BaseEntity`. */
  static hasId(): void {}
  /** @internal */
  static save(): void {}
}
