#!/usr/bin/env bash
# typeorm 1.1.1 with sql.js 1.14.1 on Node 24.
#
# Expected: `from()` takes a function that returns a query builder, of which its type asks no more; what it returns becomes
# a subquery in parentheses.
# Seen: only the builder that the function is given has parentheses. Another one of the same data source is written without
# them, so that the SQL is no statement: `FROM SELECT 1 AS "found" FROM …`. Its parameters are taken over all the same.
# declarest counts up to a bound in this way (lib/crud/store/reader.ts).
#
# Fails if such a builder gets parentheses.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 typeorm@1.1.1 sql.js@1.14.1 reflect-metadata@0.2.2
cat >run.mjs <<'JS'
import 'reflect-metadata';
import { DataSource, EntitySchema } from 'typeorm';

const Mark = new EntitySchema({ name: 'mark', columns: { id: { type: Number, primary: true }, value: { type: Number } } });
const source = await new DataSource({ type: 'sqljs', entities: [Mark], synchronize: true }).initialize();
await source.getRepository(Mark).insert([1, 2, 3].map((id) => ({ id, value: id })));

const narrow = (builder) => builder.select('1', 'found').from(Mark, 'mark').where('mark.value > :least', { least: 1 });
const count = async (from) => {
  const query = source.createQueryBuilder().select('COUNT(*)', 'n').from(from, 'narrowed');
  const answer = await query.getRawOne().then(
    ({ n }) => `${n} rows`,
    (error) => error.message,
  );
  return `${/FROM \(?/.exec(query.getQuery())[0].trim()} … with ${JSON.stringify(query.getParameters())}: ${answer}`;
};
const lines = [
  `given: ${await count((given) => narrow(given))}`,
  `other: ${await count(() => narrow(source.createQueryBuilder()))}`,
];
console.log(lines.join('\n'));
const seen = ['given: FROM ( … with {"least":1}: 2 rows', 'other: FROM … with {"least":1}: near "SELECT": syntax error'];
process.exit(JSON.stringify(lines) === JSON.stringify(seen) ? 0 : 1);
JS
node_modules/node/bin/node run.mjs
