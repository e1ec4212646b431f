import type { TypeOrmModuleOptions } from '@nestjs/typeorm';
import { DATABASE, POOL, POSTGRES } from '../settings.js';

const options: TypeOrmModuleOptions = POSTGRES
  ? { type: 'postgres', url: DATABASE, extra: { max: POOL } }
  : {
      type: 'better-sqlite3',
      database: DATABASE,
      enableWAL: true,
      // Without it H and every other would wait for the disk; it is what WAL is taken for.
      prepareDatabase: (database: { pragma(statement: string): void }) => database.pragma('synchronous = NORMAL'),
    };

/** The tables are there before a contestant starts. */
export const databaseOptions: TypeOrmModuleOptions = { ...options, autoLoadEntities: true };
