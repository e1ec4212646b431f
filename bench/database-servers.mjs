/**
 * Databases on servers of PostgreSQL and MariaDB: each contestant gets a database, which is created before it starts and
 * dropped when the benchmark ends. Run as a script, this file drops the databases that its input names.
 */
import { spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';

export const SERVERS = {
  postgres: {
    title: 'PostgreSQL',
    variable: 'BENCH_POSTGRES_URL',
    url: process.env.BENCH_POSTGRES_URL ?? process.env.TEST_POSTGRES_URL,
    type: 'postgres',
    quote: '"',
    divide: '/',
    numbers: (count) => `generate_series(1, ${count}) AS numbers(n)`,
    minutes: "n * INTERVAL '1 minute'",
    version: 'SHOW server_version',
    analyze: () => 'VACUUM ANALYZE',
    drop: (name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
  },
  mariadb: {
    title: 'MariaDB',
    variable: 'BENCH_MYSQL_URL',
    url: process.env.BENCH_MYSQL_URL ?? process.env.TEST_MYSQL_URL,
    type: 'mariadb',
    quote: '`',
    divide: 'DIV',
    numbers: (count) => `(SELECT seq AS n FROM seq_1_to_${count}) AS numbers`,
    minutes: 'INTERVAL n MINUTE',
    version: 'SELECT VERSION() AS server_version',
    analyze: (tables) => `ANALYZE TABLE ${tables.join(', ')}`,
    drop: (name) => `DROP DATABASE IF EXISTS ${name}`,
  },
};

/** The databases of this run, each as the key of its server and its name. */
const created = [];

/** @returns the URL of a new database with the data; its tables are those that TypeORM creates for the entities */
export async function createDatabase(key, { products, articles, authors, commentsOfEach }) {
  const { type, quote, divide, numbers, minutes, analyze } = SERVERS[key];
  const { entities } = await import('./dist/0/nest/entities.js');
  const url = await createEmptyDatabase(key);
  const { DataSource } = await import('typeorm');
  const dataSource = new DataSource({ type, url, entities, synchronize: true });
  await dataSource.initialize();
  const column = (each) => quote + each + quote;
  const insert = (table, columns, count, values) =>
    `INSERT INTO ${table} (${columns.map(column).join(', ')}) SELECT ${values.join(', ')} FROM ${numbers(count)} ORDER BY n`;
  const index = (table, name) => `CREATE INDEX ${table}_${name} ON ${table} (${column(name)})`;
  const statements = [
    insert('products', ['name', 'description', 'price', 'stock', 'active', 'createdAt'], products, [
      "CONCAT('Oak table no. ', n)",
      "'Oiled by hand, with room for six and a drawer on either side'",
      '10 + (n % 977) / 4.0',
      'n % 100',
      'TRUE',
      "TIMESTAMP '2026-01-31 09:30:15'",
    ]),
    insert('authors', ['name'], authors, ["CONCAT('Author no. ', n)"]),
    insert('articles', ['title', 'status', 'views', 'publishedAt', 'ownerId', 'authorId'], articles, [
      "CONCAT('Article no. ', n)",
      `CASE WHEN (n ${divide} ${authors}) % 2 = 1 THEN 'draft' ELSE 'published' END`,
      `n ${divide} ${authors}`,
      `TIMESTAMP '2020-01-01 00:00:00' + ${minutes}`,
      '1',
      `1 + n % ${authors}`,
    ]),
    insert('comments', ['text', 'articleId'], articles * commentsOfEach, [
      `CONCAT('Comment ', 1 + (n - 1) % ${commentsOfEach}, ' on article ', 1 + (n - 1) ${divide} ${commentsOfEach})`,
      `1 + (n - 1) ${divide} ${commentsOfEach}`,
    ]),
    index('articles', 'authorId'),
    index('articles', 'ownerId'),
    index('comments', 'articleId'),
    analyze(['products', 'authors', 'articles', 'comments']),
  ];
  for (const statement of statements) await dataSource.query(statement);
  await dataSource.destroy();
  return url;
}

/** @returns the URL of a new database, which is dropped at the exit of the process */
export async function createEmptyDatabase(key) {
  const name = `declarest_bench_${process.pid}_${created.length}`;
  created.push([key, name]);
  await query(key, [`CREATE DATABASE ${name}`]);
  return Object.assign(new URL(SERVERS[key].url), { pathname: name }).href;
}

/** Runs at the exit of the process, so it waits for a process that drops them. */
export function dropDatabases() {
  if (created.length === 0) return;
  const { status } = spawnSync(process.execPath, [import.meta.filename], {
    input: JSON.stringify(created.splice(0)),
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  if (status !== 0) console.error('Databases with names that start with declarest_bench_ were not dropped.');
}

/** @returns the versions of the servers of these databases, by their titles */
export async function serverVersions(databases) {
  const versions = {};
  for (const [key, { title, version }] of Object.entries(SERVERS)) {
    if (!databases.has(key)) continue;
    const [row] = await query(key, [version]);
    versions[title] = row.server_version.split(/[ -]/, 1)[0];
  }
  return versions;
}

/** @returns the rows of the last statement */
async function query(key, statements) {
  const { type, url } = SERVERS[key];
  const { DataSource } = await import('typeorm');
  const dataSource = await new DataSource({ type, url }).initialize();
  let rows;
  for (const statement of statements) rows = await dataSource.query(statement);
  await dataSource.destroy();
  return rows;
}

if (process.argv[1] === import.meta.filename) {
  const databases = JSON.parse(await text(process.stdin));
  for (const [key, { drop }] of Object.entries(SERVERS)) {
    const names = databases.filter(([server]) => server === key).map(([, name]) => name);
    if (names.length > 0) await query(key, names.map(drop));
  }
}
