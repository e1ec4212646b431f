/** Creates the indexes of searches at startup where `synchronize` is on, and checks that they exist where it is off. */
import { Logger } from '@nestjs/common';
import { InvalidOptionError } from '../../options/invalid-option.js';
import type { Resource } from '../plan/resource.js';

const logger = new Logger('CrudModule');

/** @throws InvalidOptionError where the index is missing, or cannot be created */
export async function prepareSearchIndex({ searchIndex, options, database }: Resource<object>): Promise<void> {
  const { dataSource } = database;
  const option = `CRUD option \`searchIndex\` of ${options.entity.name}`;
  if (!options.searchIndex) return;
  if (!searchIndex) {
    logger.warn(`${option} has no effect on ${dataSource.options.type}: searches read the whole table.`);
    return;
  }
  if (dataSource.options.synchronize === true) {
    try {
      for (const statement of searchIndex.statements) await dataSource.query(statement);
    } catch (cause) {
      const got = cause instanceof Error ? JSON.stringify(cause.message) : 'an error';
      const advice = 'let an administrator run CREATE EXTENSION pg_trgm on PostgreSQL; SQLite needs FTS5';
      throw new InvalidOptionError(option, 'used where the database can create the index', got, advice);
    }
    return;
  }
  const found = (await dataSource.query(searchIndex.lookup)) as readonly unknown[];
  if (found.length >= searchIndex.names.length) return;
  const advice = 'run `npx declarest schema <app module>` and put its statements into a migration';
  throw new InvalidOptionError(option, 'used with its index in the database', 'none', advice);
}
