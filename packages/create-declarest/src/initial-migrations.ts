// What `typeorm migration:generate` writes for the entities of the template, by database.

interface Statements {
  readonly CREATE_STATEMENTS: string;
  readonly DROP_STATEMENTS: string;
}

const lines = (statements: readonly string[]): string => statements.map((statement) => `\`${statement}\`,`).join('\n');

const DROP_STATEMENTS = lines(['DROP TABLE "declarest_auth_session"', 'DROP TABLE "users"', 'DROP TABLE "tasks"']);
const UNIQUE =
  'CONSTRAINT "UQ_97672ac88f789774dd47f7c8be3" UNIQUE ("email"), CONSTRAINT "UQ_fe0bb3f6520ee0469504521e710" UNIQUE ("username")';
const SESSION_INDEXES = [
  'CREATE INDEX "IDX_88d4cdf862b218371fc77491a7" ON "declarest_auth_session" ("userId")',
  'CREATE INDEX "IDX_321724000a8aed7d5e5610782e" ON "declarest_auth_session" ("expiresAt")',
];

export const SQLITE: Statements = {
  CREATE_STATEMENTS: lines([
    'CREATE TABLE "tasks" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "title" varchar(200) NOT NULL, "done" boolean NOT NULL DEFAULT (0))',
    `CREATE TABLE "users" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "email" varchar(254), "username" varchar(64), "password" varchar(255) NOT NULL, "role" varchar(64) NOT NULL DEFAULT ('USER'), "firstName" varchar(100), "lastName" varchar(100), "active" boolean NOT NULL DEFAULT (1), ${UNIQUE})`,
    'CREATE TABLE "declarest_auth_session" ("id" varchar(32) PRIMARY KEY NOT NULL, "userId" varchar(64) NOT NULL, "currentHash" varchar(64) NOT NULL, "previousHash" varchar(64), "rotatedAt" bigint, "createdAt" bigint NOT NULL, "lastUsedAt" bigint NOT NULL, "expiresAt" bigint NOT NULL, "userAgent" varchar(255), "address" varchar(45), "login" text)',
    ...SESSION_INDEXES,
  ]),
  DROP_STATEMENTS,
};

export const POSTGRES: Statements = {
  CREATE_STATEMENTS: lines([
    'CREATE TABLE "tasks" ("id" SERIAL NOT NULL, "title" character varying(200) NOT NULL, "done" boolean NOT NULL DEFAULT false, CONSTRAINT "PK_8d12ff38fcc62aaba2cab748772" PRIMARY KEY ("id"))',
    `CREATE TABLE "users" ("id" BIGSERIAL NOT NULL, "email" character varying(254), "username" character varying(64), "password" character varying(255) NOT NULL, "role" character varying(64) NOT NULL DEFAULT 'USER', "firstName" character varying(100), "lastName" character varying(100), "active" boolean NOT NULL DEFAULT true, ${UNIQUE}, CONSTRAINT "PK_a3ffb1c0c8416b9fc6f907b7433" PRIMARY KEY ("id"))`,
    'CREATE TABLE "declarest_auth_session" ("id" character varying(32) NOT NULL, "userId" character varying(64) NOT NULL, "currentHash" character varying(64) NOT NULL, "previousHash" character varying(64), "rotatedAt" bigint, "createdAt" bigint NOT NULL, "lastUsedAt" bigint NOT NULL, "expiresAt" bigint NOT NULL, "userAgent" character varying(255), "address" character varying(45), "login" text, CONSTRAINT "PK_d5c31d0e70d0cafc556c0556829" PRIMARY KEY ("id"))',
    ...SESSION_INDEXES,
  ]),
  DROP_STATEMENTS,
};
