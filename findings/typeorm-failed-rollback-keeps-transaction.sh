#!/usr/bin/env bash
# typeorm 1.1.1 with better-sqlite3 13.2.0 on Node 24.
#
# Expected: after `dataSource.transaction()` has rejected, the connection is outside of a transaction, so that a later
# `repository.insert()` is stored.
# Seen: where a subscriber's `beforeTransactionRollback` throws once, `transaction()` swallows that error, sends no ROLLBACK,
# and gives the connection back inside of the transaction. Ten later inserts resolve, and none is stored when the process
# ends.
# declarest ends its own transactions by hand then (lib/database/transactions.ts), and logs it.
#
# Fails if the inserts are stored.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
# typeorm names better-sqlite3 12 as its peer.
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps node@24.21.0 typeorm@1.1.1 better-sqlite3@13.2.0 reflect-metadata@0.2.2
cat >run.mjs <<'JS'
import 'reflect-metadata';
import { DataSource, EntitySchema } from 'typeorm';

const Row = new EntitySchema({
  name: 'row',
  columns: { id: { type: Number, primary: true, generated: true }, name: { type: String } },
});
const open = () =>
  new DataSource({ type: 'better-sqlite3', database: 'test.db', entities: [Row], synchronize: true }).initialize();

const dataSource = await open();
let throws = true;
dataSource.subscribers.push({
  beforeTransactionRollback() {
    if (throws) throw new Error('the tracer is down');
  },
});
const rows = dataSource.getRepository(Row);
await rows.insert({ name: 'before' });
await dataSource
  .transaction(async (manager) => {
    await manager.insert(Row, { name: 'refused' });
    throw new Error('refused');
  })
  .catch(({ message }) => console.log('transaction() rejects with:', message));
throws = false;
for (let index = 0; index < 10; index += 1) await rows.insert({ name: `later ${index}` });
console.log('seen by the same connection:', await rows.count());
await dataSource.destroy();
const other = await open();
const stored = (await other.getRepository(Row).find()).map(({ name }) => name);
console.log('stored:', stored.join());
process.exit(stored.join() === 'before' ? 0 : 1);
JS
node_modules/node/bin/node run.mjs
