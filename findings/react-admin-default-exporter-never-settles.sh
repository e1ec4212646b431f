#!/usr/bin/env bash
# ra-core 5.15.4 with jsonexport 3.2.0 on Node 24.
#
# Expected: the promise that `defaultExporter` returns (the type `Exporter` allows void or Promise<void>) resolves once the
# file is offered for download.
# Seen: the file is offered, and the promise stays pending when the process has nothing left to do. `defaultExporter` gives
# `jsonExport()` a callback, and jsonexport settles the promise that it returns only where it has none. A program that waits
# for the exporter, to say that the file is saved or to enable a button again, waits for ever without an error.
# declarest does not wait for it (packages/ra-data-declarest/admin/src/export-button.tsx).
#
# Fails if the promise settles, or no file is offered.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 ra-core@5.15.4 jsonexport@3.2.0 react@19.3.1 react-dom@19.3.1
cat >run.cjs <<'JS'
const { defaultExporter } = require('ra-core');
const jsonExport = require('jsonexport');

const offered = [];
const link = {
  style: {},
  setAttribute: (name, value) => (link[name] = value),
  click: () => offered.push(link.download),
};
globalThis.window = globalThis;
globalThis.document = { createElement: () => link, body: { appendChild: () => undefined } };

const states = {};
const watch = (name, promise) => {
  states[name] = promise instanceof Promise ? 'pending' : 'no promise';
  promise.then(
    () => (states[name] = 'resolved'),
    () => (states[name] = 'rejected'),
  );
};
watch('defaultExporter', defaultExporter([{ id: 1 }], undefined, undefined, 'notes'));
watch('jsonexport without a callback', jsonExport([{ id: 1 }]));

process.on('beforeExit', () => {
  const seen = JSON.stringify({ offered, ...states });
  console.log(seen);
  process.exit(
    seen === '{"offered":["notes.csv"],"defaultExporter":"pending","jsonexport without a callback":"resolved"}' ? 0 : 1,
  );
});
JS
node_modules/node/bin/node run.cjs
