import type { TypeOrmModuleOptions } from '@nestjs/typeorm';
import Database from 'better-sqlite3-13';
import { DATABASE } from '../settings.js';

/** The tables exist before a contestant starts. */
export const databaseOptions: TypeOrmModuleOptions = optionsOf(DATABASE);

function optionsOf(database: string): TypeOrmModuleOptions {
  if (database.startsWith('postgres:')) return { type: 'postgres', url: database, autoLoadEntities: true };
  if (database.startsWith('mysql:')) return { type: 'mariadb', url: database, timezone: 'Z', autoLoadEntities: true };
  return {
    type: 'better-sqlite3',
    // TypeORM would load the package by its own name.
    driver: Database,
    database,
    autoLoadEntities: true,
    enableWAL: true,
    // Otherwise every write waits for the disk, in every contestant.
    prepareDatabase: (database: { pragma(statement: string): void }) => database.pragma('synchronous = NORMAL'),
  };
}
