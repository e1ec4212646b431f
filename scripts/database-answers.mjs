// Exits 0 when a database server at this URL lets us in: node scripts/database-answers.mjs postgres://user@127.0.0.1:5432/test
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';

const url = process.argv[2] ?? '';
try {
  if (url.startsWith('postgres')) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 3_000 });
    await client.connect();
    await client.end();
  } else {
    const connection = await createConnection({ uri: url, connectTimeout: 3_000 });
    await connection.end();
  }
} catch (error) {
  console.error(`${new URL(url).host} does not answer: ${error.code ?? error.message}`);
  process.exitCode = 1;
}
