// The database connection, for the application and for TypeORM's command line.
import { AuthSession } from 'declarest'; // {{DATABASE_IMPORTS}}
import { DataSource, type DataSourceOptions } from 'typeorm';
import { database } from './environment.js';

export const databaseOptions: DataSourceOptions = {
  type: 'better-sqlite3', // {{DATABASE_TYPE}}
  database, // {{DATABASE_OPTIONS}}
  entities: [AuthSession, `${import.meta.dirname}/**/*.entity.js`],
  migrations: [`${import.meta.dirname}/migrations/*.js`],
  migrationsRun: true,
  synchronize: false,
};

export default new DataSource(databaseOptions);
