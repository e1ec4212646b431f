// Writes `src/access.json`: the access rules of the shop, from its OpenAPI document, so that the interface shows what a user may do.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'shop-admin-'));
const file = join(folder, 'openapi.json');
const args = ['openapi', at('../../sample-app/dist/access.js'), '--out', file];
execFileSync(process.execPath, [at('../../dist/cli/declarest.js'), ...args], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
const { paths } = JSON.parse(readFileSync(file, 'utf8'));
rmSync(folder, { recursive: true });
const reduce = (item) =>
  Object.fromEntries(
    Object.entries(item).map(([method, operation]) => [method, { 'x-access': operation['x-access'] }]),
  );
const reduced = Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, reduce(item)]));
writeFileSync(at('src/access.json'), `${JSON.stringify({ paths: reduced }, null, 2)}\n`);
