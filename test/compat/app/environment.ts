import type { TypeOrmModuleOptions } from '@nestjs/typeorm';

/** TypeORM 0.3 has a driver type, `sqlite`, that TypeORM 1 does not: it is told from outside. */
export const database = (): TypeOrmModuleOptions => ({
  type: process.env['DATABASE_TYPE'] as 'better-sqlite3',
  database: ':memory:',
  autoLoadEntities: true,
  synchronize: true,
});

/** Whether the application has what real ones have: prefix, versions, pipes, interceptors and filters of its own. */
export const furnished = process.env['FURNISHED'] === 'yes';

export const jwtSecret = process.env['JWT_SECRET'];
