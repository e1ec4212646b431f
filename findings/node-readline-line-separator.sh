#!/usr/bin/env bash
# node 24.21.0, module node:readline and FileHandle.readLines() of node:fs/promises.
#
# Expected: `readline` emits a line at `\n`, `\r` or `\r\n`, as its documentation says, so that each line of an NDJSON file
# is one JSON text: JSON may contain U+2028 and U+2029 without an escape, and JSON.stringify() writes them so.
# Seen: both also end a line at U+2028 and at U+2029, within a string, so that neither half is JSON.
# declarest therefore splits files itself (lib/crud/import/file-records.ts; a test in test/crud/imports.spec.ts).
#
# Fails if lines no longer end there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0
cat >run.mjs <<'JS'
import { createReadStream } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const records = [{ text: 'one\u2028two' }, { text: 'three\u2029four' }];
await writeFile('records.ndjson', records.map((record) => `${JSON.stringify(record)}\n`).join(''));
const isJson = (line) => {
  try {
    return JSON.parse(line) !== undefined;
  } catch {
    return false;
  }
};
const counted = async (lines) => {
  const all = [];
  for await (const line of lines) all.push(line);
  return `${all.length} lines, ${all.filter(isJson).length} of them JSON`;
};
const lines = [
  `readline: ${await counted(createInterface({ input: createReadStream('records.ndjson'), crlfDelay: Infinity }))}`,
  `readLines: ${await counted((await open('records.ndjson')).readLines())}`,
];
console.log(lines.join('\n'));
const seen = ['readline: 4 lines, 0 of them JSON', 'readLines: 4 lines, 0 of them JSON'];
process.exit(JSON.stringify(lines) === JSON.stringify(seen) ? 0 : 1);
JS
node_modules/node/bin/node run.mjs
