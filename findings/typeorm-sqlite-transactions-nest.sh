#!/usr/bin/env bash
# typeorm 1.1.1 with better-sqlite3 13.2.0 on Node 24.
#
# Expected: of two `dataSource.transaction()` of two requests at the same time, the second one waits, or fails as busy.
# Seen: all callers share one query runner. The second transaction begins as a savepoint inside of the first one, so its
# "commit" releases the savepoint: `transaction()` resolves, and the rollback of the first one removes its rows. A plain
# `repository.insert()` of a third request goes the same way.
# declarest lets its own transactions wait for each other (lib/database/connections.ts); those that an application opens
# beside them behave as here, as docs/tasks/overriding.md says.
#
# Fails if the rows of the second transaction are stored.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
# typeorm names better-sqlite3 12 as its peer.
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps node@24.21.0 typeorm@1.1.1 better-sqlite3@13.2.0 reflect-metadata@0.2.2
cat >run.mjs <<'JS'
import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { DataSource, EntitySchema } from 'typeorm';

const Row = new EntitySchema({
  name: 'row',
  columns: { id: { type: Number, primary: true, generated: true }, name: { type: String } },
});
const dataSource = await new DataSource({
  type: 'better-sqlite3',
  database: 'test.db',
  entities: [Row],
  synchronize: true,
}).initialize();
const rows = dataSource.getRepository(Row);

const first = dataSource.transaction(async (manager) => {
  await manager.insert(Row, { name: 'first' });
  await wait(200);
  throw new Error('refused');
});
await wait(50);
await dataSource.transaction((manager) => manager.insert(Row, { name: 'second' }));
console.log('the second transaction has committed');
await rows.insert({ name: 'third' });
console.log('the third request has inserted');
await first.catch(({ message }) => console.log('the first transaction rejects with:', message));
const stored = (await rows.find()).map(({ name }) => name);
console.log('stored:', JSON.stringify(stored));
process.exit(stored.length === 0 ? 0 : 1);
JS
node_modules/node/bin/node run.mjs
