// Makes typed clients of the sample shop's OpenAPI document with openapi-typescript, @hey-api/openapi-ts, orval and
// swagger-typescript-api, checks their types, and uses each against a running shop: it logs in, filters, sorts, includes,
// creates, patches, and reads the error of a field. declarest-client does so with the types of openapi-typescript, writes
// and exports many records, and its `can` takes their names. The recipes of its README are checked and used likewise.
//
//     npm run test:client
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { ADMIN, withShop } from './sample-shop.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'test', 'typed-client');
const GENERATED = join(FOLDER, 'generated');
const STA = join(GENERATED, 'swagger-typescript-api');
const DOCUMENT = join(ROOT, 'sample-app', 'dist', 'openapi.json');

const run = promisify(execFile);
const bin = async (name, ...args) => {
  try {
    await run(join(FOLDER, 'node_modules', '.bin', name), args, { cwd: FOLDER });
  } catch (cause) {
    throw new Error(`${name} ${args.join(' ')}\n${cause.stdout}${cause.stderr}`, { cause });
  }
};

const compiled = (name) => import(pathToFileURL(join(FOLDER, 'out', `${name}.js`)).href);

const npm = ['ci', '--no-audit', '--no-fund', '--loglevel', 'error', '--prefer-offline'];
execFileSync('npm', npm, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'inherit'] });
const declarest = ['dist/cli/declarest.js', 'openapi', 'sample-app/dist/access.js', '--out', DOCUMENT];
execFileSync(process.execPath, declarest, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
rmSync(GENERATED, { recursive: true, force: true });
await Promise.all([
  bin('openapi-typescript', DOCUMENT, '--output', join(GENERATED, 'shop.d.ts')),
  bin('openapi-ts'),
  bin('orval', '--config', 'orval.config.mjs'),
  bin('swagger-typescript-api', 'generate', '--path', DOCUMENT, '--output', STA, '--name', 'shop.ts'),
]);
await Promise.all([
  bin('tsc', '--project', 'tsconfig.json'),
  bin('tsc', '--project', 'tsconfig.recipes.json'),
  bin('tsc', '--project', 'tsconfig.loose.json').catch((cause) => {
    const { message } = cause;
    // orval spreads one answer over the other in mocks of operations with two, which are batches: 201 and 207.
    const errors = message.split('\n').filter((line) => /^\S+\(\d+,\d+\): error/.test(line));
    const isOfBatch = (line) => /^generated\/orval\/shop\.faker\.ts.*MultiStatusResponse'/.test(line);
    if (errors.length === 0 || !errors.every(isOfBatch)) throw cause;
  }),
]);

const login = { email: ADMIN.ADMIN_EMAIL, password: ADMIN.ADMIN_PASSWORD };
const data = mkdtempSync(join(tmpdir(), 'declarest-client-'));
try {
  await withShop(data, async (url) => {
    for (const name of ['declarest-client', 'openapi-fetch', 'hey-api', 'swagger-typescript-api', 'orval']) {
      const steps = await (await compiled(name)).useShop(url, login);
      assert.deepEqual(
        [name, ...steps],
        [
          name,
          'logged in: string',
          'page of 5: Watering can 39 Garden, Teapot 34.5 Kitchen, Pepper mill 31 Kitchen',
          'created: 201, number',
          'patched: Product updated, price changed from 12.5 to 13',
          'refused: 400, must be a number, got "cheap"',
        ],
      );
    }
    const moved = await (await compiled('declarest-client')).moveRecords(url, login);
    assert.deepEqual(moved, ['Bed,Sofa', 'price 900 900', 'null', 'function']);
    assert.deepEqual(await (await compiled('can')).useShop(url, login), [
      'before the login: true,false,false,false without cost',
      'ADMIN: true,true,true,true with cost',
      'no such name: false,false,false',
    ]);
    const used = await (await compiled('recipes/recipes')).useShop(url, login);
    // The clients before have each created a milk jug.
    const expected = ['3 of 17: Blue ink, Bread knife, Cutting board', 'saved: 1', 'refused: 412'];
    assert.deepEqual(used, { 'TanStack Query': expected, SWR: expected, Angular: expected });
    console.log('The typed clients of the shop, can() and the recipes compile, and work.');
  });
} finally {
  rmSync(data, { recursive: true, force: true });
}
