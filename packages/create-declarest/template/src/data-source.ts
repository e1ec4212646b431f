// The database connection, for the application and for TypeORM's command line.
// {{DATABASE_IMPORTS}}
import { AuthSession } from 'declarest'; // {{ENTITY_IMPORTS}}
import { DataSource, type DataSourceOptions } from 'typeorm';
import { database } from './environment.js'; // {{DATABASE_URL_IMPORT}}

// {{CONNECTION}}
export const databaseOptions: DataSourceOptions = {
  type: 'better-sqlite3', // {{DATABASE_TYPE}}
  database, // {{DATABASE_OPTIONS}}
  entities: [AuthSession, `${import.meta.dirname}/**/*.entity.js`], // {{ENTITIES}}
  migrations: [`${import.meta.dirname}/migrations/*.js`], // {{MIGRATIONS}}
  migrationsRun: true,
  synchronize: false,
};

export default new DataSource(databaseOptions);
