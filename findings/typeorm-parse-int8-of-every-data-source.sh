#!/usr/bin/env bash
# typeorm 1.1.1 with pg 8.23.1 on Node 24; PostgreSQL is PGlite 0.5.14 behind pglite-socket 0.2.17.
#
# Expected: `parseInt8` is an option of one data source, as `schema` and `poolSize` are: another one, which does not set it,
# reads a bigint as text before and after.
# Seen: TypeORM sets it on the defaults of pg when it creates the pool, so that the first data source reads its bigints
# as rounded numbers from then on, and goes on so when the second one is closed.
# declarest reads bigints as text by its statements (lib/entities/text-reads.ts), and keeps the keys that were sent
# (test/crud/driver-values.spec.ts); docs/tasks/databases.md says it for the application's own queries.
#
# Fails if the first data source still reads texts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 typeorm@1.1.1 pg@8.23.1 reflect-metadata@0.2.2 \
  @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17
cat >run.mjs <<'JS'
import 'reflect-metadata';
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { DataSource } from 'typeorm';

const db = await PGlite.create();
const server = new PGLiteSocketServer({ db, port: 0, host: '127.0.0.1', maxConnections: 4 });
const listening = new Promise((resolve) => server.addEventListener('listening', ({ detail }) => resolve(detail)));
await server.start();
const { port } = await listening;
const names = { username: 'postgres', password: 'postgres', database: 'postgres' };
const common = { type: 'postgres', host: '127.0.0.1', port, ...names, poolSize: 1, installExtensions: false };
const open = (options) => new DataSource({ ...common, ...options }).initialize();
const read = async (dataSource) => (await dataSource.query('SELECT 9007199254740993::bigint AS id'))[0].id;

const first = await open({});
console.log('first, alone:', await read(first));
const second = await open({ parseInt8: true });
console.log('second, with parseInt8:', await read(second));
await second.destroy();
const after = await read(first);
console.log('first, when the second one is closed:', after);
process.exit(typeof after === 'number' ? 0 : 1);
JS
node_modules/node/bin/node run.mjs
