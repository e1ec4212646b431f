// Makes clients of two OpenAPI documents by the generators of scripts/generators/tools.mjs, and compiles them: of the
// sample shop, and of the service in test/generators, which has what generators have misread. Answers of both services
// must pass the schemas of zod unchanged, and requests to the second service must pass Prism.
//
//     npm run test:generators
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { checkOf, TOOLS, tsconfigOf } from './generators/tools.mjs';
import { sendRequests, withPrism } from './generators/prism.mjs';
import { emptyFolder, run } from './packed.mjs';
import { withShop } from './sample-shop.mjs';
import { counts, step } from './steps.mjs';
import { SQLITE_PACKAGE } from '../test/harness/sqlite.js';

/** The packages of kubb have one version. */
const KUBB = '4.39.3';
const VERSIONS = {
  '@hey-api/openapi-ts': '0.99.0',
  '@kubb/cli': KUBB,
  '@kubb/core': KUBB,
  '@kubb/plugin-client': KUBB,
  '@kubb/plugin-oas': KUBB,
  '@kubb/plugin-ts': KUBB,
  '@kubb/plugin-zod': KUBB,
  '@stoplight/prism-cli': '5.16.0',
  orval: '8.38.0',
  'swagger-typescript-api': '13.13.0',
  typescript: '5.9.3',
  zod: '4.6.7',
};

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BOSS = { email: 'boss@service.example', password: 'the boss of the service' };
const PRODUCT = { name: 'Lamp', price: '12.50' };

const folder = emptyFolder();
const bin = (name) => join(folder, 'node_modules', '.bin', name);
const documentOf = (name) => join(folder, name, 'openapi.json');
/** The module that was compiled of a file of a tool. */
const compiled = (name, tool, file) => import(pathToFileURL(join(folder, name, 'out', tool, `${file}.js`)).href);

const own = { type: 'module', private: true, dependencies: VERSIONS };
writeFileSync(join(folder, 'package.json'), JSON.stringify(own));
run('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error', '--prefer-offline'], folder);
execFileSync('npx', ['tsc', '-p', 'test/generators'], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
const { startService } = await import('../test/generators/dist/service.js');

mkdirSync(join(folder, 'shop'));
const declarest = ['dist/cli/declarest.js', 'openapi', 'sample-app/dist/access.js', '--out', documentOf('shop')];
run(process.execPath, declarest, ROOT);
await makeClients('shop');
await withShop(emptyFolder(), async (url) => {
  const response = await fetch(`${url}/api/products?include=category&size=5`);
  await assertAccepts('shop', await response.json());
});

const service = await startService(createRequire(import.meta.url)(SQLITE_PACKAGE), BOSS);
try {
  mkdirSync(join(folder, 'service'));
  writeFileSync(documentOf('service'), JSON.stringify(service.document));
  await makeClients('service', checkOf);
  await withPrism(bin('prism'), documentOf('service'), service.url, async (url) => {
    await assertAccepts('service', await sendRequests(url, BOSS, PRODUCT, step));
  });
  await step('orval zod sets the default of 64 bits', async () => {
    const { CreateProductBody } = await compiled('service', 'orval', 'zod');
    assert.equal(CreateProductBody.parse(PRODUCT).stock, 0);
  });
} finally {
  await service.close();
}
console.log(`generators: ${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 ? 1 : 0;

/** @param check makes a source of what must hold of the types in a file */
async function makeClients(name, check) {
  const cwd = join(folder, name);
  for (const [tool, { config, command, types }] of Object.entries(TOOLS)) {
    await step(`${tool} reads the document of the ${name}, and its code compiles`, () => {
      if (config) writeFileSync(join(cwd, config[0]), config[1]);
      run(bin(command[0]), command.slice(1), cwd);
      if (check) writeFileSync(join(cwd, tool, 'check.ts'), check(types));
      writeFileSync(join(cwd, tool, 'tsconfig.json'), JSON.stringify(tsconfigOf(tool)));
      run(bin('tsc'), ['--project', tool], cwd);
    });
  }
}

/** The schemas of zod leave an answer to a list of products as it is. */
async function assertAccepts(name, answer) {
  await step(`hey-api zod parses an answer of the ${name}`, async () => {
    const { zListProductsResponse } = await compiled(name, 'hey-api', 'zod.gen');
    assert.deepEqual(zListProductsResponse.parse(answer), answer);
  });
  await step(`orval zod parses an answer of the ${name}`, async () => {
    const { ListProductsResponse } = await compiled(name, 'orval', 'zod');
    assert.deepEqual(ListProductsResponse.parse(answer), answer);
  });
}
