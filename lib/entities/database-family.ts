/** Databases that several drivers of TypeORM connect to. */
import type { DataSource } from 'typeorm';

const SQLITE: readonly string[] = ['better-sqlite3', 'sqlite', 'sqljs', 'libsql'];
const MYSQL: readonly string[] = ['mysql', 'mariadb', 'aurora-mysql'];
const POSTGRES: readonly string[] = ['postgres', 'aurora-postgres', 'cockroachdb'];

export const isSqlite = ({ options }: DataSource): boolean => SQLITE.includes(options.type);
export const isMysql = ({ options }: DataSource): boolean => MYSQL.includes(options.type);
export const isPostgres = ({ options }: DataSource): boolean => POSTGRES.includes(options.type);
