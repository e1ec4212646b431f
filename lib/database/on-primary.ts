import type { DataSource, EntityManager } from 'typeorm';
import { databaseFailureOf } from '../entities/database-errors.js';
import type { Connections } from './connections.js';

/** Runs statements on the primary: a replica might not have a row yet. @throws DatabaseUnavailable (503) */
export function onPrimary<R>(
  { dataSource, connections }: { readonly dataSource: DataSource; readonly connections: Connections },
  work: (manager: EntityManager) => Promise<R>,
): Promise<R> {
  return connections.statement(async () => {
    const runner = dataSource.createQueryRunner('master');
    try {
      return await work(runner.manager);
    } catch (error) {
      throw databaseFailureOf(error) === 'unavailable' ? connections.unavailable(error, { cause: error }) : error;
    } finally {
      await runner.release();
    }
  });
}
