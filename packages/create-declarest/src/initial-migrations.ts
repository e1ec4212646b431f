// What `typeorm migration:generate` writes for the entities of the application, by database.
import { postgresTable, sqliteTable, type Table } from './tables.js';
import type { Database } from './variants.js';

interface Statements {
  readonly CREATE_STATEMENTS: string;
  readonly DROP_STATEMENTS: string;
}

const lines = (statements: readonly string[]): string => statements.map((statement) => `\`${statement}\`,`).join('\n');

const UNIQUE =
  'CONSTRAINT "UQ_97672ac88f789774dd47f7c8be3" UNIQUE ("email"), CONSTRAINT "UQ_fe0bb3f6520ee0469504521e710" UNIQUE ("username")';

const SQLITE = [
  'CREATE TABLE "tasks" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "title" varchar(200) NOT NULL, "done" boolean NOT NULL DEFAULT (0))',
  `CREATE TABLE "users" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "email" varchar(254), "username" varchar(64), "password" varchar(255) NOT NULL, "role" varchar(64) NOT NULL DEFAULT ('USER'), "firstName" varchar(100), "lastName" varchar(100), "active" boolean NOT NULL DEFAULT (1), ${UNIQUE})`,
];

const POSTGRES = [
  'CREATE TABLE "tasks" ("id" SERIAL NOT NULL, "title" character varying(200) NOT NULL, "done" boolean NOT NULL DEFAULT false, CONSTRAINT "PK_8d12ff38fcc62aaba2cab748772" PRIMARY KEY ("id"))',
  `CREATE TABLE "users" ("id" BIGSERIAL NOT NULL, "email" character varying(254), "username" character varying(64), "password" character varying(255) NOT NULL, "role" character varying(64) NOT NULL DEFAULT 'USER', "firstName" character varying(100), "lastName" character varying(100), "active" boolean NOT NULL DEFAULT true, ${UNIQUE}, CONSTRAINT "PK_a3ffb1c0c8416b9fc6f907b7433" PRIMARY KEY ("id"))`,
];

const statements = (
  own: readonly string[],
  tables: readonly Table[],
  create: (table: Table) => string[],
): Statements => ({
  CREATE_STATEMENTS: lines([...own, ...tables.flatMap(create)]),
  DROP_STATEMENTS: lines(
    ['tasks', 'users', ...tables.map(({ name }) => name)].toReversed().map((name) => `DROP TABLE "${name}"`),
  ),
});

/** @param tables those of declarest */
type Migration = (tables: readonly Table[]) => Statements;

const onSqlite: Migration = (tables) => statements(SQLITE, tables, sqliteTable);
const onPostgres: Migration = (tables) => statements(POSTGRES, tables, postgresTable);

/** By the folder below `src/migrations`. */
export const MIGRATIONS: Readonly<Record<Database, Readonly<Record<string, Migration>>>> = {
  sqlite: { '': onSqlite },
  postgres: { '': onPostgres },
  'sqlite+postgres': { 'sqlite/': onSqlite, 'postgres/': onPostgres },
};
