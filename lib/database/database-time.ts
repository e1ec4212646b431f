import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { isMysql, isPostgres, isSqlite } from '../entities/database-family.js';

/**
 * Returns the SQL of the present time of the database, in milliseconds since 1970. It is the same for all processes that
 * share the database, whose clocks may differ.
 */
export function databaseClock(dataSource: DataSource): () => string {
  if (isPostgres(dataSource)) return () => 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)';
  if (isMysql(dataSource)) return () => "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)";
  if (isSqlite(dataSource)) return () => "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";
  return () => String(Date.now());
}

/** A pooler that balances reads sends what calls a volatile function to the primary. A standby may be behind. */
export const readPrimary = <T extends ObjectLiteral>(query: SelectQueryBuilder<T>): SelectQueryBuilder<T> =>
  isPostgres(query.connection) ? query.andWhere('clock_timestamp() IS NOT NULL') : query;

const toNumber = (value: unknown): number | null => (value === null ? null : Number(value));

/** Milliseconds since 1970, so that processes with other time zones read the same time. Drivers read 64 bits as text. */
export const TIME = { type: 'bigint', transformer: { to: (value: unknown) => value, from: toNumber } } as const;
