#!/usr/bin/env bash
# libsql 0.5.29 and better-sqlite3 13.2.0 on Node 24.
#
# Expected: a text with the character NUL comes back from the database as it was bound, as with better-sqlite3, whose
# interface libsql has.
# Seen: libsql stores all of `a\0b` (hex 610062), and reads "a". A program that reads a row and writes it back loses the
# rest of the text, without an error.
# declarest refuses to start with a driver that reads such a text otherwise (lib/database/server-modes.ts).
#
# Fails if libsql reads the whole text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 libsql@0.5.29 better-sqlite3@13.2.0
cat >run.cjs <<'JS'
const results = {};
for (const name of ['better-sqlite3', 'libsql']) {
  const database = new (require(name))(':memory:');
  database.exec('CREATE TABLE note (text TEXT)');
  database.prepare('INSERT INTO note VALUES (?)').run('a\0b');
  const [{ text, stored }] = database.prepare('SELECT text, hex(text) AS stored FROM note').all();
  results[name] = text;
  console.log(`${name}: stored ${stored}, read ${JSON.stringify(text)}`);
}
process.exit(results['better-sqlite3'] === 'a\0b' && results['libsql'] === 'a' ? 0 : 1);
JS
node_modules/node/bin/node run.cjs
