// Makes a typed client of the sample shop's OpenAPI document with openapi-typescript, checks its types, and uses it
// against the running shop: it logs in, refreshes, pages, filters, includes, creates, and reads the error of a field.
//
//     npm run test:client
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { ADMIN, withShop } from './sample-shop.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'test', 'typed-client');
const DOCUMENT = join(ROOT, 'sample-app', 'dist', 'openapi.json');

const run = (command, args, cwd = FOLDER) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });

run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel', 'error']);
run(process.execPath, ['dist/cli/declarest.js', 'openapi', 'sample-app/dist/access.js', '--out', DOCUMENT], ROOT);
run('npx', ['openapi-typescript', DOCUMENT, '--output', 'shop.d.ts']);
run('npx', ['tsc', '--project', 'tsconfig.json']);

const data = mkdtempSync(join(tmpdir(), 'declarest-client-'));
try {
  await withShop(data, async (url) => {
    const { useShop } = await import(pathToFileURL(join(FOLDER, 'out', 'client.js')).href);
    const steps = await useShop(url, ADMIN.ADMIN_EMAIL, ADMIN.ADMIN_PASSWORD);
    assert.deepEqual(steps, [
      'logged in: string, 900',
      'page: 2 of 6, true, string',
      'created: 201, number',
      'refused: 400, must be a number, got "cheap"',
      'read: 200',
      `administrators: 1, ${ADMIN.ADMIN_EMAIL}`,
    ]);
    console.log('The typed client of the shop compiles, and works.');
  });
} finally {
  rmSync(data, { recursive: true, force: true });
}
