/** Locks rows of which one must stay, such as the last ADMIN: of two changes at once, the second sees what the first has left. */
import type { EntityManager, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { ColumnMetadata } from '../entities/column-types.js';
import { isSqlite } from '../entities/database-family.js';
import type { ConnectionQueue } from './connections.js';

/**
 * @param query finds the rows, in the order of their ids
 * @param name a column of numbers, or of booleans, which a node of Galera changes in the first row, and changes back
 */
export async function lockRows<T extends ObjectLiteral>(
  connections: ConnectionQueue,
  manager: EntityManager,
  query: SelectQueryBuilder<T>,
  name: keyof T & string,
): Promise<T[]> {
  // SQLite has one connection, whose transactions wait for each other.
  if (!isSqlite(manager.connection)) query.setLock('pessimistic_write');
  const rows = await query.getMany();
  const { metadata } = query.expressionMap.mainAlias as { readonly metadata: ColumnMetadata['entityMetadata'] };
  const column = metadata.findColumnWithPropertyName(name) as ColumnMetadata;
  const changes = (sql: string): string[] =>
    column.type === 'boolean' ? [`NOT ${sql}`, `NOT ${sql}`] : [`${sql} + 1`, `${sql} - 1`];
  await connections.claim(manager, column, changes, rows[0] && metadata.primaryColumns[0]?.getEntityValue(rows[0]));
  return rows;
}
