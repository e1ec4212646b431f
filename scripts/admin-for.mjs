// Uses the interface that `AdminFor` shows of the sample shop, in Chromium: it logs in, lists, filters, sorts, creates,
// edits, follows references, deletes, and looks at what other users do not see. Each page is checked with axe, for its
// width at 390 pixels, and for messages in the console.
//
//     TEST_CHROMIUM=/usr/bin/chromium npm run test:admin-for
//
// TEST_SCREENSHOTS names a folder for a picture of each page, and README_PICTURE the file of the picture in README:
// `docs/images/admin-for.png`. ADMIN_FOR_COUNTS names a file for the counts.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { generate } from 'otplib';
import { chromium } from 'playwright-core';
import sharp from 'sharp';

import { browserPath } from '../test/harness/browser.js';
import { SQLITE_PACKAGE } from '../test/harness/sqlite.js';
import { freePort } from './free-port.mjs';
import { answers, checkPage, settle, watchConsole } from './pages.mjs';
import { ADMIN, withShop } from './sample-shop.mjs';

const FOLDER = fileURLToPath(new URL('../packages/ra-data-declarest/admin', import.meta.url));
const BOSS = { email: ADMIN.ADMIN_EMAIL, password: ADMIN.ADMIN_PASSWORD };
const STAFF = { email: 'sam@shop.example', password: 'works in the shop' };
const USER = { email: 'una@shop.example', password: 'buys in the shop' };
const WRITER = { email: 'wim@shop.example', password: 'writes for the shop' };
const PDF = Buffer.from(`%PDF-1.4\n${'x'.repeat(200)}\n%%EOF`);
const { TEST_SCREENSHOTS: screenshots, README_PICTURE: picture, ADMIN_FOR_COUNTS: countsFile } = process.env;
/** Paths, and what shows that their page is there: the page before does not have it. */
const PAGES = {
  '': 'text=Products',
  products: 'text=Bread knife',
  'products/1': 'text=Reviews',
  'products/1/show': 'text=Teapot',
  'products/create': 'text=Save',
  categories: 'text=Garden',
  orders: 'text=Bread knife',
  'orders/create': 'text=Save',
};
const PICTURE = 'img[alt="lamp.png"]';
const PAGES_OF_ARTICLES = {
  '': 'text=Tags',
  articles: PICTURE,
  'auth/users': `text=${BOSS.email}`,
  'articles/1': PICTURE,
  'auth/users/1': 'text=Revoke',
  'articles/1/show': PICTURE,
};

/**
 * Where this script changes the hash, the router in development says that it cannot ask about unsaved changes. Checkboxes and
 * switches of react-admin 5.15 get properties that those of MUI 9 pass on to the page.
 */
const OF_LIBRARIES =
  /blocker on a POP navigation|React does not recognize .* (inputProps inputprops|inputRef inputref)$/;

if (!browserPath) throw new Error('TEST_CHROMIUM must be the path of Chromium, got nothing. Install Chromium.');
const inFolder = (command, ...args) =>
  execFileSync(command, args, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'inherit'] });
inFolder('npm', 'ci', '--no-audit', '--no-fund', '--loglevel', 'error');
inFolder('npx', 'tsc');
execFileSync('npx', ['tsc', '-p', 'test/admin-for'], { stdio: ['ignore', 'ignore', 'inherit'] });

const scratch = mkdtempSync(join(tmpdir(), 'declarest-admin-for-'));
if (screenshots) mkdirSync(screenshots, { recursive: true });
const port = await freePort();
const address = `http://localhost:${port}/test-page/index.html`;

/** What the pages write to the console. */
const messages = [];
/** The requests of the page to the shop, and to other hosts. */
const requests = [];
const others = [];
let passed = 0;
let failed = 0;
let api;
let page;
try {
  process.env.LOGIN_PLUGINS = 'on';
  await withShop(scratch, (shop) => withInterface(shop, useInterface));
  const { startService } = await import('../test/admin-for/dist/service.js');
  const service = await startService(createRequire(import.meta.url)(SQLITE_PACKAGE), BOSS);
  await withInterface(service.url, useArticles).finally(() => service.close());
} catch (error) {
  failed += 1;
  console.error(error);
} finally {
  rmSync(scratch, { recursive: true, force: true });
  if (countsFile) writeFileSync(countsFile, `${passed} ${failed}\n`);
}
console.log(`AdminFor: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

/** Shows the interface of the service at the url in Chromium. */
async function withInterface(url, use) {
  api = `${url}/api`;
  const server = spawn(process.execPath, ['node_modules/vite/bin/vite.js', '--port', port, '--strictPort'], {
    cwd: FOLDER,
    env: { ...process.env, SHOP_URL: url },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    await answers(address, server);
    const context = await browser.newContext({
      viewport: { width: 1200, height: 800 },
      timezoneId: 'America/New_York',
    });
    page = await context.newPage();
    // Ends a step that hangs, and none on a slow machine.
    page.setDefaultTimeout(60_000);
    watch();
    await use();
  } finally {
    await browser.close();
    const ended = once(server, 'exit');
    server.kill('SIGINT');
    await ended;
  }
}

async function useInterface() {
  const { token } = (await send('POST', '/auth/login', BOSS)).data;
  const { data: sam } = await send('POST', '/auth/register', STAFF);
  await send('PUT', `/admin/staff/${sam.user.id}`, undefined, token);
  await send('POST', '/auth/register', USER);
  await send('POST', '/products/1/reviews', { stars: 4, text: 'Pours well' }, token);
  await send('POST', '/orders', { productId: 2, quantity: 3 }, token);

  await step('refuses a wrong password', async () => {
    await page.goto(address);
    await logIn({ ...BOSS, password: 'a wrong password' });
    await notified('Invalid credentials');
    await page.getByRole('heading', { name: 'Shop' }).waitFor();
    await check('login');
  });
  await step('shows the first list with two requests after the login', async () => {
    await open('products');
    await page.reload();
    await input('username').waitFor();
    requests.length = 0;
    await logIn(BOSS);
    await rowOf('Bread knife').waitFor();
    // What the user may do with the records of the list is asked after it.
    const first = ['POST /api/auth/login', 'GET /admin/resources.json', 'GET /api/products'];
    assert.deepEqual(requests.slice(0, 3), first);
    await rowOf('Bread knife').getByText('Kitchen').waitFor();
    assert.equal(await rows().count(), 10);
    if (picture) await page.screenshot({ path: picture, clip: { x: 0, y: 0, width: 1200, height: 560 } });
  });
  await step('lists each resource that the user may read', async () => {
    const names = await page.getByRole('menu').getByRole('menuitem').allTextContents();
    for (const name of ['Products', 'Orders', 'Users', 'Categories']) assert(names.includes(name), names.join());
  });
  await step('has a first page with the number of records of each', async () => {
    await page.getByRole('menuitem', { name: 'Dashboard' }).click();
    const { total } = (await send('GET', '/products?size=1')).metadata.pagination;
    await page.getByRole('listitem').filter({ hasText: 'Products' }).getByText(`${total}`, { exact: true }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Products' }).click();
    await rowOf('Bread knife').waitFor();
  });
  await step('sorts by a column', async () => {
    await page.getByRole('columnheader', { name: 'Price' }).locator('span').first().click();
    await rows().first().getByText('Hemp twine').waitFor();
  });
  await step('opens a record of a list by the keyboard', async () => {
    await open('products', { filter: { q: 'Bread knife' } });
    await rowOf('Bread knife').waitFor();
    const stop = rowOf('Bread knife').getByRole('link', { name: 'Bread knife' });
    await rowOf('Bread knife').getByRole('checkbox').focus();
    for (let stops = 0; stops < 5 && !(await isFocused(stop)); stops += 1) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/products\/2$/);
  });
  await step('says why records are not read, and reads them again', async () => {
    const refuse = (route) => route.fulfill({ status: 503, json: { error: 'The shop takes a break' } });
    const failure = page.getByRole('alert');
    const again = failure.getByRole('button', { name: 'Try again' });
    await page.route('**/api/categories?*', refuse);
    await open('categories');
    await failure.getByText('The shop takes a break').waitFor();
    assert.equal(await page.getByText('1-10 of').count(), 0);
    await check('failed');
    await page.unroute('**/api/categories?*');
    await again.click();
    await rowOf('Garden').waitFor();
    await page.context().setOffline(true);
    await page.getByRole('menuitem', { name: 'Orders' }).click();
    await page.getByRole('status').getByText('This device is offline').waitFor();
    await page.context().setOffline(false);
    await rows().getByText('Bread knife').waitFor();
    await page.route('**/api/products/4', refuse);
    await page.goto(`${address}#/products/4`);
    await failure.getByText('The shop takes a break').waitFor();
    await page.unroute('**/api/products/4');
    await again.click();
    await input('stock').waitFor();
  });
  await step('searches, and filters by text, bounds and a reference', async () => {
    await open('products');
    await page.getByPlaceholder('Search').fill('ceramic');
    await rowOf('Pepper mill').waitFor();
    await page.getByText('1-1 of 1').waitFor();
    await open('products');
    await addFilter('Name contains');
    await input('name_icontains').fill('KNIFE');
    await rowOf('Bread knife').waitFor();
    await page.getByText('1-1 of 1').waitFor();
    await open('products');
    await addFilter('Price from');
    await input('price_gte').fill('30');
    await page.getByText('1-3 of 3').waitFor();
    await addFilter('Category');
    await page.getByRole('combobox', { name: 'Category' }).fill('Gard');
    await page.getByRole('option', { name: 'Garden' }).click();
    await page.getByText('1-1 of 1').waitFor();
    await rowOf('Watering can').waitFor();
    await check('filtered');
  });
  await step('shows the error of a field, and creates a product', async () => {
    await open('products');
    await page.getByRole('link', { name: 'Create' }).click();
    await input('price').fill('-5');
    await save();
    await page.locator('p.Mui-error').getByText('Required').first().waitFor();
    await input('name').fill('Milk jug');
    await input('stock').fill('3');
    await save();
    await page.locator('p.Mui-error').getByText('must not be less than 0').waitFor();
    await check('field-error');
    await input('price').fill('18.5');
    await page.getByRole('combobox', { name: 'Category' }).click();
    await page.getByRole('option', { name: 'Kitchen' }).click();
    await save();
    await notified('Milk jug is created');
    await page.waitForURL(/#\/products\/\d+$/);
    const [jug] = (await send('GET', '/products?filter[name]=Milk%20jug')).data;
    assert.deepEqual([jug.price, jug.stock, jug.categoryId], [18.5, 3, 1]);
  });
  await step('shows both versions after a conflict, and saves the chosen values', async () => {
    await page.goto(`${address}#/products/5`);
    await input('name').fill('My notebook');
    await input('price').fill('11');
    await page.getByRole('textbox', { name: 'Description' }).fill('Ruled');
    const theirs = { name: 'Their notebook', price: 12, stock: 77 };
    await send('PATCH', '/products/5', theirs, token);
    await save();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Stock stays as they changed it: 77').waitFor();
    await dialog.getByText('Description is yours: Ruled').waitFor();
    await check('conflict');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    const question = page.waitForEvent('dialog', { timeout: 5000 }).then((each) => each.dismiss());
    await page.evaluate(() => void (window.location.hash = '#/orders'));
    await question;
    assert.equal(await input('name').inputValue(), 'My notebook');
    await save();
    await dialog.waitFor();
    assert.equal(await dialog.getByRole('radio').count(), 4);
    await dialog.getByRole('radio', { name: 'Theirs: Their notebook' }).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await notified('Their notebook is saved');
    await page.waitForURL(/#\/products(\?.*)?$/);
    const { name, price, stock, description } = (await send('GET', '/products/5')).data;
    assert.deepEqual([name, price, stock, description], ['Their notebook', 11, 77, 'Ruled']);
    await send('PATCH', '/products/5', { name: 'Notebook', price: 8, stock: 40 }, token);
  });
  await step('edits a product, shows its reviews, and goes back to the filtered list', async () => {
    await open('products', { filter: { q: 'Teapot' } });
    await rowOf('Teapot').getByText('Teapot').click();
    await page.getByText('Pours well').waitFor();
    await input('price').fill('36');
    await save();
    await notified('Teapot is saved');
    await page.waitForURL(/#\/products\?/);
    assert.equal((await send('GET', '/products/1')).data.price, 36);
    await page.getByText('1-1 of 1').waitFor();
  });
  await step('opens whole lists from the menu and from the first page', async () => {
    const search = page.getByPlaceholder('Search');
    const whole = async () => {
      await page.getByText('1-10 of 13').waitFor();
      assert.equal(await search.inputValue(), '');
    };
    await openFromMenu('Products');
    await whole();
    await search.fill('Teapot');
    await page.getByText('1-1 of 1').waitFor();
    await rowOf('Teapot').getByText('Teapot').click();
    await page.getByText('Pours well').waitFor();
    await page.goBack();
    await page.getByText('1-1 of 1').waitFor();
    await openFromMenu('Dashboard');
    await page.getByRole('main').getByRole('link', { name: 'Products' }).click();
    await whole();
    await page.getByRole('columnheader', { name: 'Price' }).locator('span').first().click();
    await page.getByRole('button', { name: 'Go to next page' }).click();
    await page.getByText('11-13 of 13').waitFor();
    await openFromMenu('Products');
    await whole();
    await rowOf('Teapot').waitFor();
  });
  await step('keeps what is typed: offline, at the end of a session, and when the page is left', async () => {
    await page.goto(`${address}#/products/3`);
    await input('name').fill('Typed');
    await page.context().setOffline(true);
    await save();
    await notified('There is no answer');
    // What the page reads again when it is online would open the dialog above Save.
    const ended = { status: 401, json: { error: 'The session has ended' } };
    await page.route('**/api/**', (route) =>
      route.request().method() === 'GET' ? route.fallback() : route.fulfill(ended),
    );
    await page.context().setOffline(false);
    await save();
    await page.getByText('Your session has ended. Log in again to go on.').waitFor();
    await check('log-in-again');
    const dialog = page.getByRole('dialog');
    assert(await isFocused(input('username')));
    await page.mouse.click(10, 400);
    const otherTab = await page.context().newPage();
    await otherTab.goto(new URL('main.tsx', address).href);
    await otherTab.evaluate(() => localStorage.setItem('item', 'of another script'));
    // It would close meanwhile.
    await setTimeout(700);
    assert.equal(await dialog.count(), 1);
    const { token: newToken } = (await send('POST', '/auth/login', BOSS)).data;
    await otherTab.evaluate((text) => localStorage.setItem('declarest:/api', text), newToken);
    await dialog.waitFor({ state: 'detached' });
    await otherTab.close();
    await save();
    await dialog.waitFor();
    await page.unroute('**/api/**');
    await input('username').fill(BOSS.email);
    await input('password').fill(BOSS.password);
    await input('password').press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await input('stock').fill('-1');
    await save();
    await page.locator('p.Mui-error').getByText('must not be less than 0').waitFor();
    const leave = async (answer) => {
      const question = page.waitForEvent('dialog').then(answer);
      await page.getByRole('menuitem', { name: 'Orders' }).click();
      await question;
    };
    await leave((dialog) => dialog.dismiss());
    // react-admin handles the answer after the dialog.
    await setTimeout(700);
    assert.equal(await input('name').inputValue(), 'Typed');
    await leave((dialog) => dialog.accept());
    await rows().getByText('Bread knife').waitFor();
    assert.notEqual((await send('GET', '/products/3')).data.name, 'Typed');
  });
  await step('exports every record: from the service, and page by page', async () => {
    const { data: before } = await send('GET', '/products?size=100');
    const many = Array.from({ length: 130 }, (_, index) => ({ name: `Bead ${index}`, price: 1, stock: 1 }));
    for (const items of [many.slice(0, 65), many.slice(65)]) await send('POST', '/products/batch', { items }, token);
    const exported = async () => {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export' }).click();
      assert.equal((await download).suggestedFilename(), 'products.csv');
      return (
        readFileSync(await (await download).path(), 'utf8')
          .trim()
          .split(/\r?\n/).length - 1
      );
    };
    await open('products');
    await rows().first().waitFor();
    requests.length = 0;
    assert.equal(await exported(), before.length + 130);
    assert.deepEqual(requests, ['GET /api/products/export']);
    await notified('The export is saved as products.csv');
    await open('products', { filter: { q: 'Bead' } });
    await page.getByText('1-10 of 130').waitFor();
    await page.route(/search\?.*page=2/, async (route) => {
      await page.getByText('Exporting: 100 / 130').waitFor();
      await route.continue();
    });
    assert.equal(await exported(), 130);
    await notified('130 records exported');
    await page.getByRole('button', { name: 'Export', exact: true }).waitFor();
    await page.unroute(/search\?.*page=2/);
    for (const _ of [1, 2]) {
      const { data: beads } = await send('GET', '/products?size=100&filter[name][startsWith]=Bead');
      const ids = beads.map(({ id }) => id);
      await send('DELETE', `/products/batch?ids=${ids.join()}`, undefined, token);
    }
  });
  await step('follows references in both directions, and filters by days', async () => {
    const linkTo = (name) => page.getByRole('main').getByRole('link', { name, exact: true });
    await open('orders');
    await rows().first().getByRole('link', { name: 'Bread knife' }).click();
    await page.getByText('Serrated, 24 cm').waitFor();
    await linkTo('Orders').click();
    await page.getByText('1-1 of 1').waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'Product' }).inputValue(), 'Bread knife');
    await page.goto(`${address}#/products/1/show`);
    await linkTo('Orders').click();
    await page.getByText('No Orders found using the current filters').waitFor();
    await open('products', { filter: { q: 'Teapot' } });
    await rowOf('Teapot').getByRole('link', { name: 'Kitchen' }).click();
    await page.getByText('Kitchen', { exact: true }).waitFor();
    assert.match(page.url(), /#\/categories\/1\/show$/);
    await linkTo('Products').click();
    await page.getByText('1-5 of 5').waitFor();
    await open('orders');
    await addFilter('Placed at up to');
    await input('placedAt_lte').fill('2020-03-08');
    await page.getByText('No Orders found using the current filters').waitFor();
    const today = await page.evaluate(() => new Date().toLocaleDateString('sv'));
    await input('placedAt_lte').fill(today);
    await addFilter('Placed at from');
    await input('placedAt_gte').fill(today);
    await page.waitForURL(/%22placedAt_gte%22%3A%22/);
    await page.getByText('1-1 of 1').waitFor();
    await page.reload();
    await page.getByText('1-1 of 1').waitFor();
    assert.deepEqual(await Promise.all(['placedAt_gte', 'placedAt_lte'].map((name) => input(name).inputValue())), [
      today,
      today,
    ]);
    await input('placedAt_gte').fill('2099-01-01');
    await page.getByText('No Orders found using the current filters').waitFor();
  });
  await step('deletes several records at once', async () => {
    await open('products', { filter: { q: 'Milk jug' } });
    await rowOf('Milk jug').getByRole('checkbox').check();
    await open('products', { filter: { price_lte: 6 } });
    await rowOf('Hemp twine').getByRole('checkbox').check();
    await page.getByText('2 items selected').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await notified('2 elements deleted');
    assert.equal((await send('GET', '/products?filter[name][in]=Milk%20jug,Hemp%20twine')).data.length, 0);
  });
  await step('deletes a review below its product', async () => {
    await page.goto(`${address}#/products/1`);
    await page.getByRole('row', { name: 'Pours well' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Pours well').waitFor({ state: 'detached' });
    assert.equal((await send('GET', '/products/1/reviews')).data.length, 0);
  });
  await step('pages through the reviews of a product', async () => {
    for (let stars = 0; stars < 26; stars += 1)
      await send('POST', '/products/3/reviews', { stars: (stars % 5) + 1, text: `Review ${stars}` }, token);
    await page.goto(`${address}#/products/3`);
    await page.getByText('1-25 of 26').waitFor();
    await page.getByRole('button', { name: 'Go to next page' }).click();
    await page.getByText('26-26 of 26').waitFor();
    // The rows follow their numbers.
    await rows().nth(1).waitFor({ state: 'detached' });
    assert.equal(await rows().count(), 1);
  });
  await step('shows the error of a text that is not JSON, and sends the value', async () => {
    await page.route('**/admin/resources.json', async (route) => {
      const described = await (await route.fetch()).json();
      const { fields } = described.resources.find(({ name }) => name === 'products');
      fields.find(({ name }) => name === 'description').kind = 'json';
      await route.fulfill({ json: described });
    });
    await page.goto(`${address}#/products/2`);
    await page.reload();
    const area = page.locator('textarea[name=description]');
    assert.equal(await area.inputValue(), '"Serrated, 24 cm"');
    await area.fill('{"blade": 24');
    await save();
    await page.locator('p.Mui-error').getByText('This is not JSON').waitFor();
    await area.fill('{"blade": 24}');
    const [sent] = await Promise.all([page.waitForRequest((request) => request.method() === 'PATCH'), save()]);
    assert.deepEqual(sent.postDataJSON(), { description: { blade: 24 } });
    await page.locator('p.Mui-error').getByText('must be text').waitFor();
    await page.unroute('**/admin/resources.json');
    await page.reload();
  });
  await step('shows a component of the application in place of a list', async () => {
    await open('users');
    await page.getByText('The people of the shop').waitFor();
    await rowOf(STAFF.email).waitFor();
    assert.equal(await page.getByRole('columnheader').count(), 1);
  });
  await step('hides costs and users from the staff', async () => {
    await logInAnew(STAFF);
    await openFromMenu('Products');
    await rowOf('Bread knife').waitFor();
    assert.equal(await page.getByRole('menuitem', { name: 'Users' }).count(), 0);
    assert.equal(await page.getByRole('columnheader', { name: 'Cost' }).count(), 0);
    await page.goto(`${address}#/products/3`);
    await input('stock').waitFor();
    assert.equal(await input('cost').count(), 0);
  });
  await step('shows a customer what the rules allow', async () => {
    await logInAnew(USER);
    await openFromMenu('Products');
    await rowOf('Bread knife').waitFor();
    assert.equal(await page.getByRole('checkbox').count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Create' }).count(), 0);
    await rowOf('Bread knife').getByText('27', { exact: true }).click();
    await page.getByText('Serrated, 24 cm').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
    await open('orders');
    await page.getByText('No Orders yet').waitFor();
  });
  await step('tells a user who may not read the description, and lets the user log out', async () => {
    await logInAnew(BOSS);
    await openFromMenu('Products');
    await rowOf('Bread knife').waitFor();
    await page.getByRole('button', { name: BOSS.email }).click();
    await page.getByRole('menuitem', { name: 'Logout' }).click();
    const body = { error: 'ADMIN access required' };
    await page.route('**/admin/resources.json', (route) => route.fulfill({ status: 403, json: body }));
    await logIn(USER);
    await page.getByText('This user may not use the interface.').waitFor();
    assert.equal(await page.getByRole('menuitem').count(), 0);
    await check('refused');
    await page.unroute('**/admin/resources.json');
    await page.getByRole('button', { name: 'Logout' }).click();
    await logIn(BOSS);
    await openFromMenu('Products');
    await rowOf('Bread knife').waitFor();
  });
  await step('asks for the code of a second factor', async () => {
    const { token } = (await send('POST', '/auth/login', STAFF)).data;
    const enrol = await send('POST', '/auth/mfa/enrol', { password: STAFF.password }, token);
    const secret = new URL(enrol.data.uri).searchParams.get('secret');
    const { data } = await send('POST', '/auth/mfa/confirm', { code: await generate({ secret }) }, token);
    await logInAnew(STAFF);
    await input('code').fill('000000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This code is not valid').waitFor();
    await check('code');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await logIn(STAFF);
    await input('code').fill(data.recoveryCodes[0]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await openFromMenu('Products');
    await rowOf('Bread knife').waitFor();
    await logInAnew(BOSS);
    await openFromMenu('Products');
    await rowOf('Bread knife').waitFor();
  });
  await checkPages(PAGES);
  await step('sends no request to another host', () => assert.deepEqual(others, []));
}

async function useArticles() {
  const { token } = (await send('POST', '/auth/login', BOSS)).data;
  const article = async (id) => (await send('GET', `/articles/${id}`, undefined, token)).data;
  await page.goto(address);
  await logIn(BOSS);
  await openFromMenu('Articles');
  await rowOf('First').waitFor();

  await step('leaves a boolean empty, and empties it and a choice', async () => {
    await page.getByRole('link', { name: 'Create' }).click();
    await input('title').fill('Fourth');
    assert.equal(await page.getByRole('combobox', { name: 'Featured' }).textContent(), 'Unknown');
    await save();
    await notified('Fourth is created');
    assert.equal((await article(4)).featured, null);
    await page.goto(`${address}#/articles/1`);
    await page.getByRole('combobox', { name: 'Featured' }).click();
    await page.getByRole('option', { name: 'Unknown' }).click();
    await page.getByRole('combobox', { name: 'State' }).click();
    await page.getByRole('listbox').getByText('None').click();
    const chosen = ['Featured', 'State'].map((name) => page.getByRole('combobox', { name }).textContent());
    assert.deepEqual(await Promise.all(chosen), ['Unknown', 'None']);
    await check('emptied');
    await save();
    await notified('First is saved');
    const { featured, state } = await article(1);
    assert.deepEqual([featured, state], [null, null]);
    await open('articles');
    await addFilter('Featured is empty');
    await page.getByRole('combobox', { name: 'Featured is empty' }).click();
    await page.getByRole('option', { name: 'No' }).click();
    await page.getByText('1-1 of 1').waitFor();
    await rowOf('Third').waitFor();
  });
  await step('names a resource in words, and a record without a text by its key', async () => {
    await openFromMenu('Stock levels');
    await page.getByRole('link', { name: '1', exact: true }).click();
    await page.getByRole('heading', { name: 'Stock levels 1' }).waitFor();
    await page.getByRole('link', { name: 'Show' }).click();
    await page.getByRole('link', { name: 'Edit' }).waitFor();
    await page.getByText('Counts').waitFor();
    assert.equal(await page.getByText('null').count(), 0);
  });
  await step('shows amounts in their currency, and filters by the bounds of a decimal', async () => {
    await open('articles');
    const price = rowOf('First').getByRole('cell', { name: '€5.25', exact: true });
    assert.equal(await price.evaluate((cell) => getComputedStyle(cell).textAlign), 'right');
    await addFilter('Price from');
    await input('price_gte').fill('5.30');
    await page.getByText('1-1 of 1').waitFor();
    await rowOf('Second').waitFor();
  });
  await step('links records by a search among many, and shows their names', async () => {
    await page.goto(`${address}#/articles/1`);
    const tags = page.getByRole('combobox', { name: 'Tags' });
    await page.getByText('EUR', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'T-1', exact: true }).waitFor();
    await tags.fill('Tag 4711');
    await page.getByRole('option', { name: 'T-4711' }).click();
    await check('chips');
    await save();
    await notified('First is saved');
    assert.deepEqual((await article(1)).tagsIds, [1, 2, 4711]);
    await open('articles');
    await rowOf('First').getByText('T-4711').waitFor();
    await addFilter('Tags');
    await page.getByRole('combobox', { name: 'Tags' }).fill('Tag 4711');
    await page.getByRole('option', { name: 'T-4711' }).click();
    await page.getByText('1-1 of 1').waitFor();
  });
  await step('sorts by the name of a related record', async () => {
    await open('articles');
    await page.getByRole('columnheader', { name: 'Section' }).locator('span').first().click();
    const second = rows().filter({ hasText: 'Culture' });
    await second.locator('~ tr').filter({ hasText: 'Sport' }).waitFor();
  });
  await step('says which field of a new record is taken, and keeps what is typed', async () => {
    await page.goto(`${address}#/tags/create`);
    await input('name').fill('The same code');
    await input('code').fill('T-1');
    await save();
    await page.locator('p.Mui-error').getByText('is already taken').waitFor();
    assert.equal(await input('name').inputValue(), 'The same code');
    await input('code').fill('T-0');
    await save();
    await notified('T-0 is created');
  });
  await step('calls an operation of the application with what it takes', async () => {
    await page.goto(`${address}#/articles/1`);
    await page.getByRole('button', { name: 'Publish' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByText('Required').waitFor();
    await dialog.getByText('First', { exact: true }).waitFor();
    await input('place').fill('Ulm');
    await input('copies').fill('7');
    await check('publish');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await notified('Article 1: 7 copies for Ulm');
    await dialog.waitFor({ state: 'detached' });
    await open('articles');
    await page.getByRole('button', { name: 'Renumber' }).click();
    await dialog.getByText('Articles', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await notified('The articles are renumbered');
    await dialog.waitFor({ state: 'detached' });
  });
  await step('shows cards where a table does not fit', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await open('articles');
    // The menu of the wide window would cover the page.
    await page.evaluate(() => localStorage.removeItem('RaStore.sidebar.open'));
    await page.reload();
    await page.getByRole('button', { name: 'Sort' }).click();
    await page.getByRole('menuitem', { name: 'Title ascending' }).click();
    await page.getByRole('article').first().filter({ hasText: 'First' }).waitFor();
    await page.getByRole('button', { name: 'Sort' }).click();
    await page.getByRole('menuitem', { name: 'Title descending' }).click();
    await page.getByRole('article').first().filter({ hasText: 'Third' }).waitFor();
    // What is empty is not shown.
    assert.equal(await page.getByRole('article').first().getByText('Price').count(), 0);
    await page.getByRole('article').filter({ hasText: 'T-4711' }).getByRole('link', { name: 'First' }).click();
    await page.waitForURL(/#\/articles\/1$/);
    await page.setViewportSize({ width: 1200, height: 800 });
  });
  await step('shows deleted records, restores one, and deletes one for good', async () => {
    await send('DELETE', '/articles/2', undefined, token);
    await send('DELETE', '/articles/3', undefined, token);
    await open('articles');
    await rowOf('First').waitFor();
    assert.equal(await page.getByText(/^(Version|Deleted at)$/).count(), 0);
    await addFilter('Deleted records');
    await page.getByRole('combobox', { name: 'Deleted records' }).click();
    await page.getByRole('option', { name: 'Only these' }).click();
    await page.getByText('1-2 of 2').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Second' }).count(), 0);
    await check('deleted');
    await rowOf('Second').getByRole('button', { name: 'Restore' }).click();
    await notified('Second is restored');
    await page.getByText('1-1 of 1').waitFor();
    assert.equal((await article(2)).title, 'Second');
    await rowOf('Third').getByRole('button', { name: 'Delete for good' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('No Articles found').waitFor();
    const { data } = await send('GET', '/articles?deleted=only', undefined, token);
    assert.deepEqual(data, []);
  });
  await step('stores a picture, shows it, replaces it, refuses other files, and removes it', async () => {
    await page.goto(`${address}#/articles/1`);
    await input('title').fill('With a picture');
    await choose('Choose photo', 'lamp.png', await png(60, 40));
    assert.equal(await widthOf('lamp.png'), 60);
    await choose('Replace photo', 'desk.png', await png(30, 20));
    assert.equal(await widthOf('desk.png'), 30);
    await choose('Replace photo', 'prices.pdf', PDF);
    await page.getByRole('alert').getByText('must be image/png or image/jpeg, got application/pdf').waitFor();
    await check('file-refused');
    await choose('Replace photo', 'large.png', Buffer.concat([await png(30, 20), Buffer.alloc(20_000)]));
    await page.getByRole('alert').getByText('must have at most 20000 bytes').waitFor();
    await save();
    await notified('With a picture is saved');
    await page.waitForURL(/#\/articles(\?.*)?$/);
    await open('articles');
    const { title, photo } = await article(1);
    assert.deepEqual([title, photo.type, photo.name], ['With a picture', 'image/png', 'desk.png']);
    const { height } = await rowOf('With a picture').getByRole('img', { name: 'desk.png' }).boundingBox();
    assert.equal(height, 48);
    await page.goto(`${address}#/articles/1/show`);
    assert.equal(await widthOf('desk.png'), 30);
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await page.route('**/articles/1/photo*', (route) => held.then(() => route.continue()));
    await page.goto(`${address}#/articles/1`);
    const remove = page.getByRole('button', { name: 'Remove photo' });
    const { y } = await remove.boundingBox();
    release();
    await widthOf('desk.png');
    assert.equal((await remove.boundingBox()).y, y);
    await page.unroute('**/articles/1/photo*');
    await remove.click();
    await notified('The photo is removed');
    await page.getByRole('button', { name: 'Choose photo' }).waitFor();
    assert.equal(await page.getByRole('img', { name: 'desk.png' }).count(), 0);
    assert.equal((await article(1)).photo, null);
  });
  await step('downloads a file that is no image', async () => {
    await choose('Choose sheet', 'prices.pdf', PDF);
    await page.getByRole('button', { name: 'Remove sheet' }).waitFor();
    await page.goto(`${address}#/articles/1/show`);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'prices.pdf (1 kB)' }).click();
    assert.equal((await download).suggestedFilename(), 'prices.pdf');
    assert.deepEqual(readFileSync(await (await download).path()), PDF);
  });
  await step('finds a user of the accounts, ends its session, and changes it', async () => {
    const { refreshToken, user } = (await send('POST', '/auth/register', WRITER)).data;
    await openFromMenu('Users');
    await page.getByPlaceholder('Search').fill('wim@');
    await page.getByText('1-1 of 1').waitFor();
    await rowOf(WRITER.email).getByRole('link', { name: WRITER.email }).click();
    const session = page.getByRole('row').filter({ hasText: 'User agent: node' });
    await session.getByRole('button', { name: 'Revoke' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByText('required').waitFor();
    await dialog.getByText(WRITER.email).waitFor();
    await check('revoke');
    await input('password').fill('a wrong password');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await notified('Invalid credentials');
    await input('password').fill(BOSS.password);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.waitFor({ state: 'detached' });
    await session.waitFor({ state: 'detached' });
    await assert.rejects(send('POST', '/auth/refresh', { refreshToken }), /answered 401/);
    await send('POST', '/auth/login', WRITER);
    await page.getByRole('button', { name: 'End all sessions of a user' }).click();
    await dialog.getByText('End all sessions of a user').waitFor();
    await dialog.getByText(WRITER.email).waitFor();
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await notified('End all sessions of a user: done');
    await dialog.waitFor({ state: 'detached' });
    const waysIn = await send('GET', `/auth/users/${user.id}/ways-in`, undefined, token);
    assert.deepEqual(waysIn.data, []);
    const suggested = () => input('role').evaluate(({ list }) => Array.from(list.options, ({ value }) => value));
    assert.deepEqual(await suggested(), ['ADMIN', 'USER']);
    await page.getByText('For example ADMIN, USER').waitFor();
    await input('role').fill('');
    await save();
    await page.locator('p.Mui-error').getByText('required').waitFor();
    await input('role').fill('WRITER');
    await page.getByRole('switch', { name: 'Active' }).uncheck();
    await save();
    await notified(`${WRITER.email} is saved`);
    await page.waitForURL(/#\/auth\/users(\?.*)?$/);
    const [{ role, active }] = (await send('GET', '/auth/users?q=wim', undefined, token)).data;
    assert.deepEqual([role, active], ['WRITER', false]);
    await open('auth/users');
    await page.getByText('1-2 of 2').waitFor();
    await addFilter('Active');
    await page.getByRole('combobox', { name: 'Active' }).click();
    await page.getByRole('option', { name: 'Yes' }).click();
    await rowOf(WRITER.email).waitFor({ state: 'detached' });
    await rowOf(BOSS.email).waitFor();
    await addFilter('Role');
    await input('role').fill('WRITER');
    await page.getByText('No Users found using the current filters').waitFor();
    assert.deepEqual(await suggested(), ['ADMIN', 'USER']);
    await send('PATCH', `/auth/users/${user.id}`, { active: true }, token);
  });
  await step('hides users and operations from who may not list or call them', async () => {
    await logInAnew(WRITER);
    await openFromMenu('Articles');
    await rowOf('With a picture').getByRole('link', { name: 'With a picture' }).click();
    await page.getByRole('link', { name: 'Show' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Publish' }).count(), 0);
    await openFromMenu('Articles');
    await rowOf('With a picture').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Renumber' }).count(), 0);
    assert.equal(await page.getByRole('menuitem', { name: 'Users' }).count(), 0);
    await logInAnew(BOSS);
    await openFromMenu('Users');
    await rowOf(WRITER.email).waitFor();
  });
  await page.goto(`${address}#/articles/1`);
  await choose('Choose photo', 'lamp.png', await png(60, 40));
  await widthOf('lamp.png');
  await checkPages(PAGES_OF_ARTICLES);
}

async function checkPages(pages) {
  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ])
    await step(`passes axe on every page, fits, and leaves the console silent: ${scheme}, ${width} px`, async () => {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: scheme });
      messages.length = 0;
      for (const [path, shown] of Object.entries(pages)) {
        await page.goto(`${address}#/${path}`);
        await page.locator('main').locator(shown).first().waitFor();
        await check(`${path.replaceAll('/', '-') || 'home'}-${scheme}-${width}`);
      }
      await page.locator('.skip-nav-button').focus();
      await check(`skip-${scheme}-${width}`);
      assert.deepEqual(
        messages.filter((message) => !OF_LIBRARIES.test(message)),
        [],
      );
    });
}

/** A failed step ends the run, because each one starts from what the steps before it left. */
async function step(title, work) {
  try {
    await work();
  } catch (error) {
    console.log(`FAIL ${title}`);
    if (screenshots) await page.screenshot({ path: join(screenshots, 'failure.png') });
    throw error;
  }
  passed += 1;
  console.log(`ok   ${title}`);
}

function watch() {
  watchConsole(page, messages);
  page.on('request', (request) => {
    const { hostname, pathname } = new URL(request.url());
    if (!['localhost', ''].includes(hostname)) others.push(request.url());
    if (/^\/(api|admin)\//.test(pathname)) requests.push(`${request.method()} ${pathname}`);
  });
}

/** Looks for violations of accessibility, and for a page that is wider than the window. */
async function check(name) {
  await settle(page);
  if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`) });
  await checkPage(page, name);
  const empty = page.locator('button:visible:not(:has(svg, input))').filter({ hasNotText: /\S/ });
  const shown = await empty.evaluateAll((buttons) =>
    buttons.filter((each) => getComputedStyle(each, '::before').content === 'none').map(({ outerHTML }) => outerHTML),
  );
  assert.deepEqual(shown, [], `${name} has buttons that show nothing`);
}

/** Chooses a file by a button of the page. */
async function choose(button, name, buffer) {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: button }).click();
  await (await chooser).setFiles({ name, mimeType: '', buffer });
}

function png(width, height) {
  return sharp({ create: { width, height, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
}

/** The width of an image, once the page has read it. */
async function widthOf(name) {
  const image = page.getByRole('img', { name });
  await image.waitFor();
  assert.match(await image.getAttribute('src'), /^data:image/);
  return image.evaluate(async (each) => {
    await each.decode();
    return each.naturalWidth;
  });
}

async function logInAnew(user) {
  await page.evaluate(() => localStorage.clear());
  await page.goto(`${address}#/login`);
  await page.reload();
  await logIn(user);
}

/** Opens a list from the first page, behind a login. */
async function openFromMenu(name) {
  await page.getByRole('menuitem', { name }).click();
}

async function logIn({ email, password }) {
  await input('username').fill(email);
  await input('password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

function rows() {
  return page.locator('table.RaDatagrid-table tbody tr');
}

function rowOf(text) {
  return rows().filter({ has: page.getByText(text, { exact: true }) });
}

function isFocused(element) {
  return element.evaluate((each) => each === document.activeElement);
}

function input(source) {
  return page.locator(`input[name="${source}"]`);
}

async function open(resource, { filter = {} } = {}) {
  const query = new URLSearchParams({ filter: JSON.stringify(filter), page: 1, perPage: 10, displayedFilters: '{}' });
  await page.goto(`${address}#/${resource}?${query}`);
}

async function addFilter(label) {
  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByRole('menuitemcheckbox', { name: label, exact: true }).click();
}

async function save() {
  await page.getByRole('button', { name: 'Save' }).click();
}

async function notified(text) {
  await page.locator('.RaNotification-error, .MuiSnackbar-root').getByText(text).waitFor();
}

async function send(method, path, json, token) {
  const answer = await fetch(`${api}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(json && { body: JSON.stringify(json) }),
  });
  const body = await answer.json();
  assert(answer.ok, `${method} ${path} answered ${answer.status} ${JSON.stringify(body)}`);
  return body;
}
