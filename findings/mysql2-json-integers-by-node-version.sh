#!/usr/bin/env bash
# mysql2 3.24.5 on Node 20.20.2 and 24.21.0; the server is that of mysql2 itself.
#
# Expected: a program reads the same value of a JSON column after an upgrade of Node alone. With the option
# `supportBigNumbers`, which TypeORM sets, an integer beyond 53 bits is rounded, or kept as text, by both.
# Seen: the JSON value {"n":9007199254740993} is {"n":9007199254740992} on Node 20, and {"n":"9007199254740993"} on Node 24,
# whose JSON.parse tells the text of a number. A program that changes another member and writes the document back stores
# another number with the one, and a text with the other. `jsonStrings` gives the text of the document with both.
# declarest reads the document as text (lib/entities/text-reads.ts), and refuses to write such a number back
# (test/exact/exact.spec.ts); docs/learn/generated-endpoints.md says it for PATCH.
#
# Fails if both read the same, or other values.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error mysql2@3.24.5 node20@npm:node@20.20.2 node24@npm:node@24.21.0 >/dev/null

cat >read.cjs <<'JS'
const mysql = require('mysql2');

const JSON_TYPE = 245;
const column = { catalog: 'def', schema: '', table: 't', orgTable: 't', name: 'document', orgName: 'document' };
const server = mysql.createServer();
server.on('connection', (connection) => {
  connection.serverHandshake({
    protocolVersion: 10,
    serverVersion: '8.0.0',
    connectionId: 1,
    statusFlags: 2,
    characterSet: 45,
    capabilityFlags: 0xffffff & ~2048,
  });
  connection.on('query', () =>
    connection.writeTextResult(
      [{ document: '{"n":9007199254740993}' }],
      [{ ...column, characterSet: 63, columnLength: 100, columnType: JSON_TYPE, flags: 0, decimals: 0 }],
    ),
  );
  connection.on('error', () => undefined);
});
const port = Number(process.argv[2]);
server.listen(port, '127.0.0.1', async () => {
  for (const name of ['supportBigNumbers', 'jsonStrings']) {
    const client = mysql.createConnection({ host: '127.0.0.1', port, user: 'root', [name]: true });
    const [[row]] = await client.promise().query('SELECT document FROM t');
    console.log(process.versions.node.split('.')[0], name, JSON.stringify(row.document));
    client.destroy();
  }
  process.exit(0);
});
JS

port=$(node -e 'const one = net.createServer().listen(0, () => { console.log(one.address().port); one.close(); })')
expected='20 supportBigNumbers {"n":9007199254740992}
20 jsonStrings "{\"n\":9007199254740993}"
24 supportBigNumbers {"n":"9007199254740993"}
24 jsonStrings "{\"n\":9007199254740993}"'
seen=$(for version in 20 24; do "node_modules/node$version/bin/node" read.cjs "$port" 2>/dev/null; done) # the client warns of the server's numbers of packets
echo "$seen"
[ "$seen" = "$expected" ]
