/** The data of every run: a SQLite database with 100,000 products, made once and kept; each contestant gets a copy. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';

export const ROWS = 100_000;
/** One name of 200 contains it. */
export const SEARCHED_WORD = 'walnut';
const MOST_FURTHER_RESOURCES = 499;

const folder = join(import.meta.dirname, 'data');
const template = join(folder, 'products.sqlite');
const copies = mkdtempSync(join(tmpdir(), 'declarest-bench-data-'));
process.on('exit', () => rmSync(copies, { recursive: true, force: true }));

const COLUMNS = `"id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "name" varchar(120) NOT NULL, "description" text NOT NULL, \
"price" float NOT NULL, "stock" integer NOT NULL, "active" boolean NOT NULL, "createdAt" datetime NOT NULL DEFAULT (datetime('now'))`;

function makeTable(database, name, rows) {
  database.exec(`CREATE TABLE "${name}" (${COLUMNS})`);
  const insert = database.prepare(`INSERT INTO "${name}" VALUES (?, ?, ?, ?, ?, 1, '2026-01-31 09:30:15')`);
  for (let id = 1; id <= rows; id += 1) {
    const wood = id % 200 === 0 ? SEARCHED_WORD : 'oak';
    const description = 'Oiled by hand, with room for six and a drawer on either side';
    insert.run(id, `${wood} table no. ${id}`, description, 10 + (id % 977) / 4, id % 100);
  }
}

export function makeData() {
  if (existsSync(template)) return;
  mkdirSync(folder, { recursive: true });
  const file = `${template}.part`;
  rmSync(file, { force: true });
  const database = new Database(file);
  database.transaction(() => {
    makeTable(database, 'products', ROWS);
    for (let index = 1; index <= MOST_FURTHER_RESOURCES; index += 1) makeTable(database, `items_${index}`, 1);
  })();
  database.close();
  renameSync(file, template);
}

/** @returns the path of a fresh copy */
export function copyData(name) {
  const file = join(copies, `${name}.sqlite`);
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
  copyFileSync(template, file);
  return file;
}
