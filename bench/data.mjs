/**
 * The data of every run: a SQLite database with 100,000 products and 20,000 articles, made once and kept; each contestant
 * gets a copy, or a smaller database of such records on a server.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3-13';
import { createDatabase } from './database-servers.mjs';

const SQLITE_ROWS = { products: 100_000, articles: 20_000, authors: 200 };
/** A server takes long for totals and joins: with more rows, a round has too few requests. */
const SERVER_ROWS = { products: 10_000, articles: 2_000, authors: 20 };
/** The rows in the tables of a contestant. */
export const rowsOf = ({ database }) => (database === 'sqlite' ? SQLITE_ROWS : SERVER_ROWS);

const MOST_FURTHER_RESOURCES = 499;
export const COMMENTS_OF_EACH = 3;

const folder = join(import.meta.dirname, 'data');
const template = join(folder, 'products-and-articles.sqlite');
const copies = mkdtempSync(join(tmpdir(), 'declarest-bench-data-'));
process.on('exit', () => rmSync(copies, { recursive: true, force: true }));

const COLUMNS = `"id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "name" varchar(120) NOT NULL, "description" text NOT NULL, \
"price" float NOT NULL, "stock" integer NOT NULL, "active" boolean NOT NULL, "createdAt" datetime NOT NULL DEFAULT (datetime('now'))`;

function makeTable(database, name, rows) {
  database.exec(`CREATE TABLE "${name}" (${COLUMNS})`);
  const insert = database.prepare(`INSERT INTO "${name}" VALUES (?, ?, ?, ?, ?, 1, '2026-01-31 09:30:15')`);
  for (let id = 1; id <= rows; id += 1) {
    const description = 'Oiled by hand, with room for six and a drawer on either side';
    insert.run(id, `Oak table no. ${id}`, description, 10 + (id % 977) / 4, id % 100);
  }
}

const MINUTE = 60_000;
const FIRST_DAY = Date.parse('2020-01-01T00:00:00Z');
const sqlTime = (minutes) => new Date(FIRST_DAY + minutes * MINUTE).toISOString().replace('T', ' ').replace('Z', '');

/** One author of all wrote an article, every second one is published, and all belong to user 1. */
function makeArticles(database) {
  database.exec(`
    CREATE TABLE "authors" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "name" varchar(80) NOT NULL);
    CREATE TABLE "articles" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "title" varchar(120) NOT NULL,
      "status" varchar(20) NOT NULL, "views" integer NOT NULL, "publishedAt" datetime NOT NULL, "ownerId" integer NOT NULL,
      "authorId" integer NOT NULL REFERENCES "authors" ("id"));
    CREATE TABLE "comments" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "text" varchar(200) NOT NULL,
      "articleId" integer NOT NULL REFERENCES "articles" ("id"));
    CREATE INDEX "articles_author" ON "articles" ("authorId");
    CREATE INDEX "articles_owner" ON "articles" ("ownerId");
    CREATE INDEX "comments_article" ON "comments" ("articleId");`);
  const [author, article, comment] = [2, 7, 3].map((count, index) =>
    database.prepare(`INSERT INTO "${['authors', 'articles', 'comments'][index]}" VALUES (${Array(count).fill('?')})`),
  );
  const { articles, authors } = SQLITE_ROWS;
  for (let id = 1; id <= authors; id += 1) author.run(id, `Author no. ${id}`);
  for (let id = 1; id <= articles; id += 1) {
    const written = Math.floor(id / authors);
    article.run(
      id,
      `Article no. ${id}`,
      written % 2 ? 'draft' : 'published',
      written,
      sqlTime(id),
      1,
      1 + (id % authors),
    );
    for (let index = 1; index <= COMMENTS_OF_EACH; index += 1)
      comment.run(id * COMMENTS_OF_EACH + index, `Comment ${index} on article ${id}`, id);
  }
}

export function makeData() {
  if (existsSync(template)) return;
  mkdirSync(folder, { recursive: true });
  const file = `${template}.part`;
  rmSync(file, { force: true });
  const database = new Database(file);
  database.transaction(() => {
    makeTable(database, 'products', SQLITE_ROWS.products);
    makeArticles(database);
    for (let index = 1; index <= MOST_FURTHER_RESOURCES; index += 1) makeTable(database, `items_${index}`, 1);
  })();
  database.close();
  renameSync(file, template);
}

/** @returns the path of a fresh copy, or the URL of a fresh database */
export function makeDatabase({ database = 'sqlite' }, name) {
  if (database === 'sqlite') return copyData(name);
  return createDatabase(database, { ...SERVER_ROWS, commentsOfEach: COMMENTS_OF_EACH });
}

function copyData(name) {
  const file = join(copies, `${name}.sqlite`);
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
  copyFileSync(template, file);
  return file;
}
