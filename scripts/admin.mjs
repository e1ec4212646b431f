// Uses the admin interface of `examples/admin` in Chromium, as `npm start` runs it there: it logs in, lists, filters,
// sorts, edits, meets a conflict, creates, deletes, restores, and looks at what a member of the staff does not see.
//
//     TEST_CHROMIUM=/usr/bin/chromium npm run test:admin
//
// TEST_SCREENSHOTS names a folder for a picture of each page, and README_PICTURE the file of the picture in README:
// `docs/images/admin.png`. ADMIN_COUNTS names a file for the counts.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { browserPath } from '../test/harness/browser.js';

const EXAMPLE = fileURLToPath(new URL('../examples/admin', import.meta.url));
const ADMIN = { email: 'boss@shop.example', password: 'the boss of the shop' };
const STAFF = { email: 'sam@shop.example', password: 'works in the shop' };
const { TEST_SCREENSHOTS: screenshots, README_PICTURE: picture, ADMIN_COUNTS: countsFile } = process.env;

if (!browserPath) throw new Error('TEST_CHROMIUM must be the path of Chromium, got nothing. Install Chromium.');
const npm = (...args) => execFileSync('npm', args, { cwd: EXAMPLE, stdio: ['ignore', 'ignore', 'inherit'] });
npm('ci', '--no-audit', '--no-fund', '--loglevel', 'error');
npm('run', 'prestart');
execFileSync('npx', ['tsc'], { cwd: EXAMPLE, stdio: 'inherit' });

const scratch = mkdtempSync(join(tmpdir(), 'declarest-admin-'));
if (screenshots) mkdirSync(screenshots, { recursive: true });
const [port, interfacePort] = [await freePort(), await freePort()];
const api = `http://localhost:${port}/api`;
const address = `http://localhost:${interfacePort}`;
const server = spawn(process.execPath, ['start.mjs'], {
  cwd: EXAMPLE,
  env: {
    ...process.env,
    PORT: port,
    INTERFACE_PORT: interfacePort,
    DATABASE: join(scratch, 'shop.db'),
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  },
  stdio: ['ignore', 'ignore', 'inherit'],
});

let passed = 0;
let failed = 0;
let page;
let browser;
try {
  await answers(`${api}/products`);
  await answers(address);
  const token = (await send('POST', '/auth/login', ADMIN)).data.token;
  const { data } = await send('POST', '/auth/register', STAFF);
  await send('PUT', `/admin/staff/${data.user.id}`, undefined, token);
  await send('POST', '/products/1/reviews', { stars: 4, text: 'Pours well' }, token);
  await send('POST', '/orders', { productId: 2, quantity: 3 }, token);

  browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });
  page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  page.setDefaultTimeout(20_000);
  const others = [];
  page.on('request', (request) => {
    if (!['localhost', ''].includes(new URL(request.url()).hostname)) others.push(request.url());
  });

  await step('refuses a wrong password', async () => {
    await page.goto(address);
    await logIn({ ...ADMIN, password: 'a wrong password' });
    await notified('Invalid credentials');
    await show('login');
  });
  await step('logs in and lists products with their categories', async () => {
    await logIn(ADMIN);
    await rowOf('Bread knife').getByText('Kitchen').waitFor();
    assert.equal(await rows().count(), 10);
    await page.getByText('1-10 of 12').waitFor();
    await show('products');
    if (picture) await page.screenshot({ path: picture, clip: { x: 0, y: 0, width: 1200, height: 560 } });
  });
  await step('sorts by price', async () => {
    await page.getByRole('columnheader', { name: 'Price' }).locator('span').first().click();
    await rows().first().getByText('Hemp twine').waitFor();
  });
  await step('filters by text, by category and by price', async () => {
    await page.getByPlaceholder('Search').fill('ceramic');
    await rowOf('Pepper mill').waitFor();
    await page.getByText('1-1 of 1').waitFor();
    await open('products', { filter: { price_gte: 30, categoryId: 3 } });
    await rowOf('Watering can').waitFor();
    assert.equal(await rows().count(), 1);
    await show('filtered');
  });
  await step('edits a product and shows its reviews', async () => {
    await page.goto(`${address}/#/products/1`);
    await page.getByText('Pours well').waitFor();
    await show('product');
    await input('price').fill('36');
    await save();
    await notified('Element updated');
    assert.equal((await send('GET', '/products/1')).data.price, 36);
  });
  await step('shows a conflict with another editor, and keeps the change of the other', async () => {
    await page.goto(`${address}/#/products/2`);
    await input('stock').waitFor();
    await send('PATCH', '/products/2', { price: 29 }, token);
    await input('price').fill('25');
    await save();
    await page.getByText(/changed by (somebody|someone) else/).waitFor();
    await show('conflict');
    assert.equal((await send('GET', '/products/2')).data.price, 29);
  });
  await step('shows the error of a field, and creates a product', async () => {
    await page.goto(`${address}/#/products/create`);
    await input('name').fill('Milk jug');
    await input('price').fill('-5');
    await input('stock').fill('3');
    await save();
    await page.locator('p.Mui-error').getByText('must not be less than 0').waitFor();
    await show('field-error');
    await input('price').fill('18.5');
    await save();
    await notified('Element created');
    await open('products', { filter: { q: 'Milk' } });
    await rowOf('Milk jug').waitFor();
  });
  await step('changes several products at once', async () => {
    await open('products', { filter: { categoryId: 2 } });
    await rowOf('Blue ink').getByRole('checkbox').check();
    await rowOf('Notebook').getByRole('checkbox').check();
    await show('bulk');
    await page.getByRole('button', { name: 'Set stock to 0' }).click();
    await confirm();
    await notified('2 elements updated');
    const { data: changed } = await send('GET', '/products?filter[name][in]=Blue%20ink,Notebook&sort=name');
    assert.deepEqual(
      changed.map(({ stock }) => stock),
      [0, 0],
    );
  });
  await step('deletes products, and restores one', async () => {
    await open('products', { filter: { q: 'Seed box' } });
    await rowOf('Seed box').getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Delete' }).click();
    await confirm();
    await notified('Element deleted');
    await open('products', { filter: { deleted: 'only' } });
    await rowOf('Seed box').waitFor();
    await show('deleted');
    await page.getByRole('button', { name: 'Restore' }).click();
    await notified('Restored');
    assert.equal((await send('GET', '/products?filter[name]=Seed%20box')).data.length, 1);
  });
  await step('deletes a review', async () => {
    await page.goto(`${address}/#/products/1`);
    await page.getByRole('row', { name: 'Pours well' }).getByRole('button', { name: 'Delete' }).click();
    await confirm();
    await page.getByText('None yet.').waitFor();
    assert.equal((await send('GET', '/products/1/reviews')).data.length, 0);
  });
  await step('lists categories and renames one', async () => {
    await open('categories');
    await rowOf('Garden').waitFor();
    await show('categories');
    await rowOf('Garden').click();
    await input('name').fill('Kitchen');
    await save();
    await page.locator('p.Mui-error').getByText('taken').waitFor();
    await show('category');
    await input('name').fill('Gardening');
    await save();
    await rowOf('Gardening').waitFor();
  });
  await step('lists orders with their customers', async () => {
    await open('orders');
    await page.getByRole('row', { name: 'Bread knife' }).getByText(ADMIN.email).waitFor();
    await show('orders');
  });
  await step('changes the role of a user', async () => {
    await open('users');
    await rowOf(STAFF.email).getByText('STAFF').waitFor();
    await show('users');
    await rowOf(STAFF.email).click();
    await page.getByLabel('Active').waitFor();
    await show('user');
    await page.getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: 'ADMIN' }).click();
    await save();
    await rowOf(STAFF.email).getByText('ADMIN').waitFor();
    await send('PATCH', `/users/${data.user.id}`, { role: 'STAFF' }, token);
  });
  await step('hides users, costs and deleted products from the staff', async () => {
    await page.evaluate(() => localStorage.clear());
    await page.goto(`${address}/#/login`);
    await page.reload();
    await logIn(STAFF);
    await rowOf('Bread knife').getByText('Kitchen').waitFor();
    assert.equal(await page.getByRole('menuitem', { name: 'Users' }).count(), 0);
    assert.equal(await page.getByRole('menuitem', { name: 'Orders' }).count(), 1);
    assert.equal(await page.getByRole('columnheader', { name: 'Cost' }).count(), 0);
    await show('staff');
    await page.goto(`${address}/#/products/3`);
    await input('stock').waitFor();
    assert.equal(await input('cost').count(), 0);
    await show('staff-product');
  });
  await step('asks for a login again when the token is not accepted any more', async () => {
    await page.evaluate(() => {
      for (const key of Object.keys(localStorage)) {
        const value = localStorage.getItem(key) ?? '';
        if (value.split('.').length === 3) localStorage.setItem(key, `${value.slice(0, -6)}AAAAAA`);
      }
    });
    await page.reload();
    await open('orders');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });
  await step('sends no request to another host', () => assert.deepEqual(others, []));
} catch (error) {
  failed += 1;
  console.error(error);
} finally {
  await browser?.close();
  const ended = once(server, 'exit');
  server.kill('SIGINT');
  await ended;
  rmSync(scratch, { recursive: true, force: true });
  if (countsFile) writeFileSync(countsFile, `${passed} ${failed}\n`);
}
console.log(`admin interface: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

/** A failed step ends the run, because each one starts from what the steps before it left. */
async function step(title, work) {
  try {
    await work();
  } catch (error) {
    console.log(`FAIL ${title}`);
    await show('failure');
    throw error;
  }
  passed += 1;
  console.log(`ok   ${title}`);
}

async function show(name) {
  if (!screenshots) return;
  // Notifications fade in.
  await setTimeout(400);
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

function rows() {
  return page.locator('table.RaDatagrid-table tbody tr');
}

function rowOf(text) {
  return rows().filter({ has: page.getByText(text, { exact: true }) });
}

async function open(resource, { filter = {} } = {}) {
  const query = new URLSearchParams({ filter: JSON.stringify(filter), page: 1, perPage: 10, displayedFilters: '{}' });
  await page.goto(`${address}/#/${resource}?${query}`);
}

async function logIn({ email, password }) {
  await page.locator('input[name=username]').fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

function input(source) {
  return page.locator(`input[name=${source}]`);
}

async function save() {
  await page.getByRole('button', { name: 'Save' }).click();
}

async function confirm() {
  await page.getByRole('button', { name: 'Confirm' }).click();
}

/** Waits for a notification, and closes it. */
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

async function answers(url) {
  for (;;) {
    try {
      return await fetch(url);
    } catch (error) {
      if (server.exitCode !== null) throw error;
      await setTimeout(100);
    }
  }
}

async function freePort() {
  const probe = createServer().listen(0);
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return String(port);
}
