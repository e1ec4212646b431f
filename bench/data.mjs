/** The data of every run: 100,000 products in SQLite, 1,000,000 in PostgreSQL, made once and kept. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import bcrypt from 'bcrypt';
import Database from 'better-sqlite3';
import { DATA } from './paths.mjs';

export const ROWS = 100_000;
/** Rows that are there to be deleted. */
export const RESERVE_FROM = 10_000_000;
/** In one name of 200. */
export const SEARCHED_WORD = 'walnut';
export const USER = { email: 'ann@shop.example', password: 'correct horse battery' };
export const BCRYPT_ROUNDS = 10;
const MOST_FURTHER_RESOURCES = 499;

const template = join(DATA, 'shop.sqlite');
const folder = mkdtempSync(join(tmpdir(), 'declarest-bench-data-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const COLUMNS = `"name" varchar(120) NOT NULL, "description" text NOT NULL, "price" float NOT NULL, "stock" integer NOT NULL, \
"active" boolean NOT NULL, "createdAt" datetime NOT NULL DEFAULT (datetime('now'))`;
const INSERT = `INSERT INTO "products" ("id", "name", "description", "price", "stock", "active", "createdAt") \
VALUES (?, ?, ?, ?, ?, 1, '2026-01-31 09:30:15')`;

const row = (id) => [
  id,
  `${id % 200 === 0 ? SEARCHED_WORD : 'oak'} table no. ${id}`,
  'Oiled by hand, with room for six and a drawer on either side',
  10 + (id % 977) / 4,
  id % 100,
];

export function makeData() {
  if (existsSync(template)) return;
  mkdirSync(DATA, { recursive: true });
  const file = `${template}.part`;
  rmSync(file, { force: true });
  const database = new Database(file);
  database.exec(`CREATE TABLE "products" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, ${COLUMNS});
    CREATE TABLE "users" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "email" varchar(254) UNIQUE, "username" varchar(64) UNIQUE,
      "password" varchar(60) NOT NULL, "role" varchar(64) NOT NULL DEFAULT ('USER'), "firstName" varchar(100), "lastName" varchar(100),
      "active" boolean NOT NULL DEFAULT (1))`);
  const insert = database.prepare(INSERT);
  database.transaction(() => {
    for (let id = 1; id <= ROWS; id += 1) insert.run(...row(id));
    for (let index = 1; index <= MOST_FURTHER_RESOURCES; index += 1) {
      database.exec(`CREATE TABLE "items_${index}" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, ${COLUMNS})`);
      database.prepare(INSERT.replace('products', `items_${index}`)).run(...row(1));
    }
    database
      .prepare('INSERT INTO "users" ("email", "password") VALUES (?, ?)')
      .run(USER.email, bcrypt.hashSync(USER.password, BCRYPT_ROUNDS));
  })();
  database.close();
  renameSync(file, template);
}

/** A copy of its own for each contestant. */
export function copyOfData(name) {
  const file = join(folder, `${name}.sqlite`);
  copyFileSync(template, file);
  return file;
}

/** Puts back what a load deleted, while the contestant is idle. */
export function reserveRows(file, count) {
  const database = new Database(file);
  const insert = database.prepare(INSERT);
  database.transaction(() => {
    database.prepare('DELETE FROM "products" WHERE "id" >= ?').run(RESERVE_FROM);
    for (let index = 0; index < count; index += 1) insert.run(...row(RESERVE_FROM + index));
  })();
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}
