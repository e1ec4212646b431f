// Uses the admin interface of `examples/admin` in Chromium, as `npm start` runs it there: it logs in, lists, filters,
// sorts, edits, meets a conflict, creates, deletes, restores, administers users and sessions, and looks at what a member
// of the staff does not see.
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
  stdio: ['ignore', 'pipe', 'inherit'],
});
let output = '';
server.stdout.setEncoding('utf8').on('data', (text) => (output += text));

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
    // The form goes back to the list.
    await rows().first().waitFor();
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
  await step('finds users by text, role and active', async () => {
    await open('users');
    await rowOf(STAFF.email).getByText('STAFF').waitFor();
    assert.equal(await rows().count(), 2);
    await show('users');
    await page.getByPlaceholder('Search').fill('SAM@');
    await rowOf(ADMIN.email).waitFor({ state: 'detached' });
    assert.equal(await rows().count(), 1);
    await open('users', { filter: { role: 'ADMIN', active: true } });
    await rowOf(ADMIN.email).waitFor();
    assert.equal(await rows().count(), 1);
    await open('users', { filter: { active: false } });
    await page.getByText('No Users found').waitFor();
  });
  await step('changes the role and the name of a user', async () => {
    await open('users');
    await rowOf(STAFF.email).click();
    await page.getByLabel('Active').waitFor();
    await show('user');
    await input('firstName').fill('Sam');
    await choose('Role', 'ADMIN');
    await save();
    await rowOf(STAFF.email).getByText('ADMIN').waitFor();
    await rowOf(STAFF.email).getByText('Sam', { exact: true }).waitFor();
    await send('PATCH', `/auth/users/${data.user.id}`, { role: 'STAFF' }, token);
  });
  await step('shows why the last ADMIN keeps the role', async () => {
    await page.goto(`${address}/#/users/1`);
    await page.locator(`input[value="${ADMIN.email}"]`).waitFor();
    await choose('Role', 'USER');
    await save();
    await notified('This is the last active user with the role ADMIN');
    await show('last-admin');
    assert.equal((await send('GET', '/users/1', undefined, token)).data.role, 'ADMIN');
  });
  await step('ends the sessions of a user', async () => {
    const { refreshToken } = (await send('POST', '/auth/login', STAFF)).data;
    await page.goto(`${address}/#/users/${data.user.id}`);
    await page.getByRole('button', { name: 'End sessions' }).click();
    await notified('All sessions of the user have ended');
    assert.equal(await statusOf('POST', '/auth/refresh', { refreshToken }), 401);
  });
  await step('mails a link that sets a new password once', async () => {
    await page.getByRole('button', { name: 'Mail a password link' }).click();
    await notified('A mail was sent');
    const [link] = await printed(/http:\S+\/reset#token=[\w-]+/);
    assert(link.startsWith(address), link);
    for (const password of ['sells in the shop', 'steals in the shop']) {
      const mail = await browser.newPage();
      await mail.goto(link);
      assert.equal(mail.url(), `${address}/reset`);
      await mail.getByLabel('New password').fill(password);
      await mail.getByRole('button', { name: 'Set password' }).click();
      const isFirst = password === 'sells in the shop';
      await mail.getByText(isFirst ? 'Password set' : 'This link is not valid, or was used before').waitFor();
      if (screenshots) await mail.screenshot({ path: join(screenshots, isFirst ? 'reset.png' : 'reset-twice.png') });
      await mail.close();
    }
    STAFF.password = 'sells in the shop';
    await send('POST', '/auth/login', STAFF);
  });
  await step('lists own sessions, and ends another one', async () => {
    const { refreshToken } = (await send('POST', '/auth/login', ADMIN, undefined, { 'user-agent': 'phone' })).data;
    await page.getByRole('menuitem', { name: 'Account' }).click();
    await rowOf('phone').waitFor();
    const own = rows().filter({ has: page.getByLabel('Yes') });
    assert.equal(await own.count(), 1);
    assert.equal(await own.getByRole('button').count(), 0);
    await show('account');
    await rowOf('phone').getByRole('button', { name: 'End' }).click();
    await confirm();
    await rowOf('phone').waitFor({ state: 'detached' });
    assert.equal(await statusOf('POST', '/auth/refresh', { refreshToken }), 401);
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
  await step('changes the own password, which ends the other sessions', async () => {
    const { refreshToken } = (await send('POST', '/auth/login', STAFF)).data;
    await page.goto(`${address}/#/sessions`);
    await page.getByLabel('New password').fill('owns the shop');
    await page.getByLabel('Current password').fill('a wrong password');
    await page.getByRole('button', { name: 'Change password' }).click();
    await notified('Invalid credentials');
    await page.getByLabel('Current password').fill(STAFF.password);
    await page.getByRole('button', { name: 'Change password' }).click();
    await notified('Password changed');
    await show('password');
    await page.waitForFunction(() => document.querySelectorAll('table.RaDatagrid-table tbody tr').length === 1);
    assert.equal(await statusOf('POST', '/auth/refresh', { refreshToken }), 401);
    STAFF.password = 'owns the shop';
    await send('POST', '/auth/login', STAFF);
  });
  await step('replaces a token that is not accepted', async () => {
    const before = await storedLogin();
    await page.evaluate(
      ([key, login]) => localStorage.setItem(key, login),
      [before.key, JSON.stringify({ ...before.login, token: `${before.login.token.slice(0, -6)}AAAAAA` })],
    );
    await page.reload();
    await rows().first().waitFor();
    const { login } = await storedLogin();
    assert.notEqual(login.session.refreshToken, before.login.session.refreshToken);
  });
  await step('asks for a login again when an administrator has ended the session', async () => {
    assert.equal(await statusOf('DELETE', `/auth/users/${data.user.id}/sessions`, undefined, token), 204);
    await setTimeout(1100);
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

async function choose(label, option) {
  await page.getByRole('combobox', { name: label }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

/** The login that the interface stores. */
async function storedLogin() {
  const [key, text] = await page.evaluate(() =>
    Object.entries(localStorage).find(([, text]) => text.startsWith('{"token"')),
  );
  return { key, login: JSON.parse(text) };
}

/** Waits for a text of the server's log. */
async function printed(what) {
  for (let tries = 0; tries < 100; tries += 1) {
    const found = what.exec(output);
    if (found) return found;
    await setTimeout(100);
  }
  throw new Error(`The server did not print ${what}`);
}

function request(method, path, json, token, headers) {
  return fetch(`${api}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }), ...headers },
    ...(json && { body: JSON.stringify(json) }),
  });
}

async function statusOf(method, path, json, token) {
  return (await request(method, path, json, token)).status;
}

async function send(method, path, json, token, headers) {
  const answer = await request(method, path, json, token, headers);
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
