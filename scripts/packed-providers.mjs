// Packs the client and the providers for front ends, installs them in an empty folder as an application does, checks the types of a file
// that uses them, and runs it against the sample shop.
//
//     npm run test:packages
import assert from 'node:assert/strict';

import { emptyFolder, installAndCompile, packWorkspace, run } from './packed.mjs';
import { ADMIN, withShop } from './sample-shop.mjs';

const PACKAGES = ['declarest-client', 'ra-data-declarest', 'refine-declarest'];

const USE = `
import { createClient } from 'declarest-client';
import * as admin from 'ra-data-declarest';
import * as refine from 'refine-declarest';

export async function useShop(url: string, email: string, password: string): Promise<unknown[]> {
  await admin.authProvider(url).login({ username: email, password });
  const { data, total } = await admin.dataProvider(url).getList('products', {
    pagination: { page: 1, perPage: 2 },
    sort: { field: 'price', order: 'DESC' },
    filter: { price_lt: 30 },
  });
  const loggedIn = await refine.authProvider(url).login({ email, password });
  const listed = await refine.dataProvider(url).getList({
    resource: 'users',
    pagination: { currentPage: 1, pageSize: 5, mode: 'server' },
    filters: [{ field: 'role', operator: 'eq', value: 'ADMIN' }],
  });
  const [user] = listed.data;
  const client = createClient(url);
  await client.login({ email, password });
  const path = 'products/:productId/reviews';
  const reviews = await client.request<{ data: unknown[] }>('GET', path, { params: { productId: 1 } });
  await client.logout();
  const used = [reviews.data.length, await client.claims()];
  return [data.map(({ name }) => String(name)), total, loggedIn.success, user?.['email'], listed.total, ...used];
}
`;

const folder = emptyFolder();
const tarballs = PACKAGES.map((name) => packWorkspace(name, folder));
// An application of react-admin has ra-core, which a service with the static interface does not install.
installAndCompile(folder, ['ra-core@5', ...tarballs], USE, {
  compilerOptions: { lib: ['ES2023', 'DOM'], types: [] },
});

await withShop(folder, (url) => {
  const call = `console.log(JSON.stringify(await (await import('./use.js')).useShop(...process.argv.slice(1))))`;
  const args = [`${url}/api`, ADMIN.ADMIN_EMAIL, ADMIN.ADMIN_PASSWORD];
  const used = JSON.parse(run(process.execPath, ['--input-type=module', '--eval', call, ...args], folder));
  assert.deepEqual(used, [['Bread knife', 'Fountain pen'], 9, true, ADMIN.ADMIN_EMAIL, 1, 0, null]);
  console.log(`${PACKAGES.join(', ')} work as installed from their tarballs.`);
});
