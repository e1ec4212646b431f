/** A database of its own on the server of TEST_POSTGRES_URL, made once and kept. */
import { Client } from 'pg';
import { SEARCHED_WORD } from './data.mjs';

const ROWS = 1_000_000;
const DATABASE = 'declarest_bench';

const TABLES = `
  CREATE TABLE products (id serial PRIMARY KEY, name varchar(120) NOT NULL, description text NOT NULL,
    price double precision NOT NULL, stock integer NOT NULL, active boolean NOT NULL, "createdAt" timestamp NOT NULL DEFAULT now());
  CREATE TABLE users (id bigserial PRIMARY KEY, email varchar(254) UNIQUE, username varchar(64) UNIQUE, password varchar(60) NOT NULL,
    role varchar(64) NOT NULL DEFAULT 'USER', "firstName" varchar(100), "lastName" varchar(100), active boolean NOT NULL DEFAULT true);
  INSERT INTO products (name, description, price, stock, active, "createdAt")
    SELECT CASE WHEN id % 200 = 0 THEN '${SEARCHED_WORD}' ELSE 'oak' END || ' table no. ' || id,
      'Oiled by hand, with room for six and a drawer on either side', 10 + (id % 977) / 4.0, id % 100, true, '2026-01-31 09:30:15'
    FROM generate_series(1, ${ROWS}) AS id`;

/** @returns the URL of the database, and the version of the server */
export async function preparePostgres(serverUrl) {
  const url = new URL(serverUrl);
  url.pathname = DATABASE;
  await connected(serverUrl, async (server) => {
    const { rowCount } = await server.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await server.query(`CREATE DATABASE ${DATABASE}`);
    // As in SQLite, where WAL with synchronous=NORMAL does not wait for the disk either.
    await server.query(`ALTER DATABASE ${DATABASE} SET synchronous_commit = off`);
  });
  return connected(url.href, async (database) => {
    const { rowCount } = await database.query(`SELECT 1 FROM information_schema.tables WHERE table_name = 'products'`);
    if (rowCount === 0) await database.query(`BEGIN; ${TABLES}; COMMIT`);
    // What earlier runs have created.
    await database.query(`DELETE FROM products WHERE id > ${ROWS}`);
    await database.query('VACUUM ANALYZE products');
    const { rows } = await database.query('SHOW server_version');
    return { url: url.href, version: rows[0].server_version.split(' ')[0] };
  });
}

async function connected(connectionString, use) {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
