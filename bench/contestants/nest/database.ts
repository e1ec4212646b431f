import type { TypeOrmModuleOptions } from '@nestjs/typeorm';
import { DATABASE } from '../settings.js';

/** The tables exist before a contestant starts. */
export const databaseOptions: TypeOrmModuleOptions = {
  type: 'better-sqlite3',
  database: DATABASE,
  autoLoadEntities: true,
  enableWAL: true,
  // Otherwise every write waits for the disk, in every contestant.
  prepareDatabase: (database: { pragma(statement: string): void }) => database.pragma('synchronous = NORMAL'),
};
