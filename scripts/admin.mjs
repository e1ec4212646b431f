// Uses the admin interface of `examples/admin` in Chromium, as `npm start` runs it there: it logs in, lists, filters,
// sorts, edits, meets a conflict, creates, deletes, restores, administers users and sessions, compares what each role
// sees, ends sessions under a form, lets lists fail, uses the keyboard, and logs in by a second factor and by a
// passkey. Each page is checked with axe in both themes, for its width at 390 pixels, and for messages in the console.
//
//     TEST_CHROMIUM=/usr/bin/chromium npm run test:admin
//
// TEST_SCREENSHOTS names a folder for a picture of each page, and README_PICTURE the file of the picture in README:
// `docs/images/admin.png`. ADMIN_COUNTS names a file for the counts.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { generate } from 'otplib';
import { chromium } from 'playwright-core';

import { browserPath, PASSKEY_DEVICE } from '../test/harness/browser.js';
import { freePort } from './free-port.mjs';
import { answers, checkPage, settle, watchConsole } from './pages.mjs';

const EXAMPLE = fileURLToPath(new URL('../examples/admin', import.meta.url));
const ADMIN = { email: 'boss@shop.example', password: 'the boss of the shop' };
const STAFF = { email: 'sam@shop.example', password: 'works in the shop' };
/** `npm start` creates this user, and `staff@shop.example`. */
const USER = { email: 'user@shop.example', password: ADMIN.password };
/** Has a second factor, passkeys and keys. */
const FAY = { email: 'fay@shop.example', password: 'has several ways in' };
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

/** What the pages write to the console. */
const messages = [];
const PAGES = [
  'products',
  'products/1',
  'products/1/show',
  'products/create',
  'categories',
  'categories/1',
  'categories/create',
  'orders',
  'users',
  'users/1',
  'users/create',
  'sessions',
  'keys',
  'keys/create',
  'forgot',
];

let fay;
/** Of the authenticator app. */
let secret;
let recoveryCodes;
let passed = 0;
let failed = 0;
let page;
let browser;
try {
  await answers(`${api}/products`, server);
  await answers(address, server);
  await printed(/Press Ctrl-C to stop both/);
  const token = (await send('POST', '/auth/login', ADMIN)).data.token;
  const { data } = await send('POST', '/auth/register', STAFF);
  await send('PUT', `/admin/staff/${data.user.id}`, undefined, token);
  await send('POST', '/products/1/reviews', { stars: 4, text: 'Pours well' }, token);
  await send('POST', '/orders', { productId: 2, quantity: 3 }, token);

  browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });
  // A context of its own may have several tabs.
  page = await (await browser.newContext({ viewport: { width: 1200, height: 800 } })).newPage();
  // Ends a step that hangs, and none on a slow machine.
  page.setDefaultTimeout(60_000);
  const others = [];
  watchConsole(page, messages);
  page.on('request', (request) => {
    if (!['localhost', ''].includes(new URL(request.url()).hostname)) others.push(request.url());
  });

  await step('prints how to use the shop last, and no warning', async () => {
    const block = output.slice(output.lastIndexOf('\n\n')).trim().split('\n');
    assert(block.length <= 12, block.join('\n'));
    const texts = [address, `http://localhost:${port}/docs`, ADMIN.email, 'staff@shop.example', USER.email];
    for (const text of texts)
      assert(
        block.some((line) => line.includes(text)),
        text,
      );
    assert.equal(block.filter((line) => /\bcurl /.test(line)).length, 3);
    assert.doesNotMatch(output, /WARN/);
    const commands = block.filter((line) => /\bcurl /.test(line)).join('\n');
    const answered = execFileSync('sh', ['-c', commands], { stdio: ['ignore', 'pipe', 'ignore'] });
    assert.equal(String(answered).match(/"success":true/g)?.length, 2);
  });
  await step('refuses a wrong password', async () => {
    await page.goto(address);
    await logIn({ ...ADMIN, password: 'a wrong password' });
    await notified('Invalid credentials');
    await show('login');
  });
  await step('logs in and lists products with their categories, which takes two requests', async () => {
    const sent = [];
    const note = (request) => sent.push(`${request.method()} ${request.url().replace(api, '')}`);
    page.on('request', note);
    await logIn(ADMIN);
    await rowOf('Bread knife').getByText('Kitchen').waitFor();
    page.off('request', note);
    // Two further requests read the user and the rights.
    const ofRecords = sent.filter((line) => /^GET \/(?!auth\/)/.test(line));
    assert.equal(ofRecords.length, 2, sent.join());
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
  await step('keeps what is typed while the record is read again', async () => {
    // The form shows the record of the list until its own read is answered.
    const path = /\/api\/products\/2\b/;
    let answer;
    const released = new Promise((resolve) => (answer = resolve));
    await page.route(path, async (route) => {
      const response = await route.fetch();
      const { data: knife, ...rest } = await response.json();
      await released;
      await route.fulfill({ response, json: { ...rest, data: { ...knife, stock: 77 } } });
    });
    await open('products', { filter: { q: 'knife' } });
    await rowOf('Bread knife').waitFor();
    await page.goto(`${address}/#/products/2`);
    await input('price').fill('26');
    answer();
    await page.waitForFunction(() => document.querySelector('input[name=stock]').value === '77');
    assert.equal(await input('price').inputValue(), '26');
    // It is off while the form has no change.
    assert(await page.getByRole('button', { name: 'Save' }).isEnabled());
    await page.unroute(path);
  });
  await step('shows a conflict with another editor, and keeps the change of the other', async () => {
    await open('products');
    await rowOf('Bread knife').waitFor();
    // Not the answer with its reviews, which may come first.
    const read = page.waitForResponse(/\/products\/2$/);
    await page.goto(`${address}/#/products/2`);
    await read;
    await send('PATCH', '/products/2', { price: 29 }, token);
    await input('price').fill('25');
    await save();
    const row = (name) => page.getByRole('dialog').getByRole('row', { name });
    await row('Price').getByText('25', { exact: true }).waitFor();
    await row('Price').getByText('29', { exact: true }).waitFor();
    await check('conflict');
    assert.equal((await send('GET', '/products/2')).data.price, 29);
    await page.getByRole('button', { name: 'Back to the form' }).click();
    assert.equal(await input('price').inputValue(), '25');
    assert.equal((await send('GET', '/products/2')).data.price, 29);
  });
  await step('saves the chosen value of each field of a conflict', async () => {
    await input('stock').fill('31');
    await send('PATCH', '/products/2', { stock: 40, description: 'Sharpened' }, token);
    await save();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('row', { name: 'Description' }).getByText('Sharpened').waitFor();
    await dialog.getByLabel('Stock: the saved value 40').check();
    await page.getByRole('button', { name: 'Save these values' }).click();
    await notified('Element updated');
    const { price, stock, description } = (await send('GET', '/products/2')).data;
    assert.deepEqual([price, stock, description], [25, 40, 'Sharpened']);
  });
  await step('shows that somebody else has deleted the record of a form', async () => {
    const { data: spoon } = await send('POST', '/products', { name: 'Spoon', price: 3, stock: 1 }, token);
    await page.goto(`${address}/#/products/${spoon.id}`);
    await input('price').fill('4');
    await request('DELETE', `/products/${spoon.id}`, undefined, token);
    await save();
    await page.getByText(/with id \d+ not found|deleted by somebody else/).waitFor();
    assert.equal(await input('price').inputValue(), '4');
  });
  await step('shows the error of a field, and creates a product', async () => {
    await page.goto(`${address}/#/products/create`);
    await input('name').fill('Milk jug');
    await input('price').fill('-5');
    await input('stock').fill('3');
    await save();
    await page.locator('p.Mui-error').getByText('must not be less than 0').waitFor();
    await notified('Product is not valid: price must not be less than 0');
    await check('field-error');
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
    await rowOf('Seed box').getByRole('button', { name: 'Restore' }).click();
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
    assert.equal(await rows().count(), 4);
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
    await page.getByText('loses what is not saved there').waitFor();
    await check('end-sessions');
    assert.equal(await statusOf('POST', '/auth/refresh', { refreshToken: 'none' }), 401);
    await confirm();
    await notified('All sessions of the user have ended');
    assert.equal(await statusOf('POST', '/auth/refresh', { refreshToken }), 401);
  });
  await step('mails a link that sets a new password once', async () => {
    await page.getByRole('button', { name: 'Mail a password link' }).click();
    await notified('A mail was sent');
    const [link] = await printed(/http:\S+\/reset#token=[\w-]+/);
    assert(link.startsWith(address), link);
    const mail = await browser.newPage();
    await mail.goto(link);
    assert.equal(mail.url(), `${address}/reset`);
    await mail.getByLabel('New password').fill('short');
    await mail.getByRole('button', { name: 'Set password' }).click();
    await mail.locator('p.Mui-error').getByText('expected at least 8 characters').waitFor();
    await mail.getByLabel('New password').fill('sells in the shop');
    await mail.getByRole('button', { name: 'Set password' }).click();
    await mail.getByText('Password set').waitFor();
    for (const [name, spent] of Object.entries({ spent: link, missing: `${address}/reset` })) {
      await mail.goto('about:blank');
      await mail.goto(spent);
      await mail.getByText(name === 'spent' ? 'This link is not valid, or was used before' : 'has no link').waitFor();
      assert.equal(await mail.getByLabel('New password').count(), 0);
      if (screenshots) await mail.screenshot({ path: join(screenshots, `reset-${name}.png`) });
    }
    await mail.close();
    STAFF.password = 'sells in the shop';
    await send('POST', '/auth/login', STAFF);
  });
  await step('invites a user, who chooses a password by a mailed link', async () => {
    await open('users');
    await page.getByRole('link', { name: 'Create' }).click();
    await input('email').fill(STAFF.email);
    await save();
    await page.locator('p.Mui-error').getByText(`User with email ${STAFF.email} already exists`).waitFor();
    await input('email').fill('new@shop.example');
    await input('firstName').fill('Nina');
    await choose('Role', 'STAFF');
    await check('invite');
    output = '';
    await save();
    await rowOf('new@shop.example').getByText('STAFF').waitFor();
    const [link] = await printed(/http:\S+\/reset#token=[\w-]+/);
    const mail = await browser.newPage();
    await mail.goto(link);
    await mail.getByLabel('New password').fill('chosen by Nina');
    await mail.getByRole('button', { name: 'Set password' }).click();
    await mail.getByText('Password set').waitFor();
    await mail.close();
    const { data: nina } = await send('POST', '/auth/login', { email: 'new@shop.example', password: 'chosen by Nina' });
    assert.equal(nina.user.role, 'STAFF');
  });
  await step('mails a link to a user who forgot the password, and confirms an address', async () => {
    const other = await (await browser.newContext()).newPage();
    watchConsole(other, messages);
    output = '';
    await other.goto(address);
    await other.getByRole('link', { name: 'Forgot password?' }).click();
    await other.getByLabel('Email').fill(USER.email);
    await other.getByRole('button', { name: 'Mail me a link' }).click();
    await other.getByText('a mail with a link is on its way').waitFor();
    await printed(/http:\S+\/reset#token=[\w-]+/);
    const { token: own } = (await send('POST', '/auth/login', USER)).data;
    output = '';
    await request('POST', '/auth/verify/resend', { email: USER.email }, own);
    const [link] = await printed(/http:\S+\/verify#token=[\w-]+/);
    await other.goto('about:blank');
    await other.goto(link);
    await other.getByRole('button', { name: 'Confirm' }).click();
    await other.getByText('The address is confirmed').waitFor();
    await other.context().close();
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
    await logInAnew(STAFF);
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
    await page.locator('p.Mui-error').getByText('Invalid credentials').waitFor();
    await page.getByLabel('Current password').fill(STAFF.password);
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.locator('p.Mui-error').getByText('expected at least 8 characters').waitFor();
    await check('password-error');
    await page.getByLabel('New password').fill('owns the shop');
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
  await step('keeps a form whose session has ended, asks for a login beside it, and saves then', async () => {
    await page.goto(`${address}/#/products/3`);
    await input('price').fill('19.75');
    assert.equal(await statusOf('DELETE', `/auth/users/${data.user.id}/sessions`, undefined, token), 204);
    await setTimeout(1100);
    await save();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Your session has ended').waitFor();
    assert.equal(await page.getByText('Element updated').count(), 0);
    await notified('the change is not saved');
    await check('session-ended');
    await dialog.getByLabel('Email').fill(STAFF.email);
    await dialog.getByLabel('Password').fill('a wrong password');
    await dialog.getByRole('button', { name: 'Log in' }).click();
    await dialog.getByText('Invalid credentials').waitFor();
    await dialog.getByLabel('Password').fill(STAFF.password);
    await dialog.getByRole('button', { name: 'Log in' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await input('price').inputValue(), '19.75');
    assert.equal((await send('GET', '/products/3')).data.price, 22.9);
    await save();
    await notified('Element updated');
    await rows().first().waitFor();
    assert.equal((await send('GET', '/products/3')).data.price, 19.75);
  });
  await step('keeps a form whose session has ended, and saves it after a login in another tab', async () => {
    await page.goto(`${address}/#/products/3`);
    await input('price').fill('22.5');
    await statusOf('DELETE', `/auth/users/${data.user.id}/sessions`, undefined, token);
    await setTimeout(1100);
    await save();
    await page.getByRole('dialog').getByText('Your session has ended').waitFor();
    const tab = await page.context().newPage();
    await tab.goto(address);
    const other = tab.getByRole('dialog');
    await other.getByLabel('Email').fill(STAFF.email);
    await other.getByLabel('Password').fill(STAFF.password);
    await other.getByRole('button', { name: 'Log in' }).click();
    await other.waitFor({ state: 'detached' });
    await tab.close();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await input('price').inputValue(), '22.5');
    await save();
    await notified('Element updated');
    await rows().first().waitFor();
    assert.equal((await send('GET', '/products/3')).data.price, 22.5);
  });
  await step('says why a list fails, and tries again', async () => {
    for (const answer of [403, 429, 500, 503, 'abort']) {
      const path = '**/api/products?*';
      const body = { success: false, message: `Refused with ${answer}` };
      await page.route(path, (route) =>
        answer === 'abort'
          ? route.abort()
          : route.fulfill({ status: answer, json: body, headers: { 'access-control-allow-origin': address } }),
      );
      await open('categories');
      await rowOf('Kitchen').waitFor();
      await page.getByRole('menuitem', { name: 'Products' }).click();
      await page.reload();
      const alert = page.getByRole('alert').filter({ hasText: 'The list cannot be shown' });
      await alert.getByText(answer === 'abort' ? 'There is no answer from' : `Refused with ${answer}`).waitFor();
      assert.equal(await page.getByText(/\d+-\d+ of \d+|No .*found|No results/).count(), 0);
      if (answer === 503) await check('failed-list');
      await page.unroute(path);
      await alert.getByRole('button', { name: 'Try again' }).click();
      await rows().first().waitFor();
    }
  });
  await step('says that a row is deleted, and stays', async () => {
    const { data: fork } = await send('POST', '/products', { name: 'Fork', price: 3, stock: 1 }, token);
    await open('products', { filter: { q: 'Fork' } });
    await rowOf('Fork').waitFor();
    await request('DELETE', `/products/${fork.id}`, undefined, token);
    await rowOf('Fork').getByText('3', { exact: true }).click();
    await notified('This record was deleted by somebody else.');
    await rowOf('Fork').waitFor({ state: 'detached' });
    assert.match(page.url(), /products\?.*Fork/);
  });
  await step('works by keyboard alone', async () => {
    await open('products');
    await rowOf('Blue ink').waitFor();
    const reached = [];
    for (let count = 0; count < 60 && reached.at(-1) !== 'Blue ink'; count += 1) {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate(() => document.activeElement?.textContent || document.activeElement?.ariaLabel));
    }
    assert.equal(reached.at(-1), 'Blue ink', reached.join());
    assert(!reached.includes('Set stock to 0'), reached.join());
    await page.keyboard.press('Enter');
    await input('price').waitFor();
    await input('price').focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('6.75');
    await page.keyboard.press('Enter');
    await notified('Element updated');
    assert.equal((await send('GET', '/products?filter[name]=Blue%20ink')).data[0].price, 6.75);
  });
  await step('shows a user only what the rules allow', async () => {
    const own = (await send('POST', '/auth/login', USER)).data.token;
    await send('POST', '/products/1/reviews', { stars: 5, text: 'Mine' }, own);
    await send('POST', '/products/1/reviews', { stars: 2, text: 'Of the boss' }, token);
    await logInAnew(USER);
    await rowOf('Bread knife').getByText('Kitchen').waitFor();
    assert.equal(await page.getByRole('checkbox').count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Create' }).count(), 0);
    await check('user-products');
    await open('products', { filter: { q: 'Teapot' } });
    await page.getByRole('link', { name: 'Teapot' }).click();
    await page.getByText('Mine').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
    const deleteOf = (text) => page.getByRole('row', { name: text }).getByRole('button', { name: 'Delete' });
    await deleteOf('Mine').waitFor();
    assert.equal(await deleteOf('Of the boss').count(), 0);
    await check('user-product');
    await deleteOf('Mine').click();
    await confirm();
    await page.getByText('Mine').waitFor({ state: 'detached' });
    await open('categories');
    await rowOf('Kitchen').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Create' }).count(), 0);
  });
  await step('sets up a second factor', async () => {
    fay = (await send('POST', '/auth/register', FAY)).data.user;
    await logInAnew(FAY);
    await rows().first().waitFor();
    await page.getByRole('menuitem', { name: 'Account' }).click();
    await page.getByRole('button', { name: 'Set up' }).click();
    const dialog = page.getByRole('dialog');
    const link = await dialog.getByRole('link').getAttribute('href');
    assert.match(link, /^otpauth:\/\/totp\/Shop:fay%40shop\.example\?/);
    secret = new URL(link).searchParams.get('secret');
    await dialog.getByText(secret).waitFor();
    await dialog.getByLabel('Code').fill('000000');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByText('This code is not valid').waitFor();
    await checkBothWidths('second-factor');
    await dialog.getByLabel('Code').fill(await codeOfApp(0));
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByText('Your recovery codes').waitFor();
    recoveryCodes = (await dialog.locator('pre').textContent()).split('\n');
    assert.equal(recoveryCodes.length, 10);
    await checkBothWidths('recovery-codes');
    await dialog.getByRole('button', { name: 'Log in again' }).click();
    await input('email').waitFor();
  });
  await step('logs in with a second factor', async () => {
    await logIn(FAY);
    await input('code').fill('000000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await notified('This code is not valid');
    await checkBothWidths('login-code');
    assert.equal(await page.evaluate(() => localStorage.length), 0);
    await input('code').fill(await codeOfApp(1));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await rows().first().waitFor();
  });
  await step('asks for the second factor beside a page whose session has ended', async () => {
    assert.equal(await statusOf('DELETE', `/auth/users/${fay.id}/sessions`, undefined, token), 204);
    await setTimeout(1100);
    await page.getByRole('menuitem', { name: 'API keys' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email').fill(FAY.email);
    await dialog.getByLabel('Password').fill(FAY.password);
    await dialog.getByRole('button', { name: 'Log in' }).click();
    await dialog.getByLabel('Code').fill(recoveryCodes[0]);
    await checkBothWidths('session-ended-code');
    await dialog.getByRole('button', { name: 'Log in' }).click();
    await dialog.waitFor({ state: 'detached' });
  });
  await step('switches the second factor off', async () => {
    await page.getByRole('menuitem', { name: 'Account' }).click();
    await page.getByRole('button', { name: 'Switch off' }).click();
    await page.getByRole('dialog').getByLabel('Code').fill(recoveryCodes[1]);
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
    await input('email').waitFor();
    assert.equal(typeof (await send('POST', '/auth/login', FAY)).data.token, 'string');
  });
  await step('adds a passkey, renames it, logs in by it, and removes it', async () => {
    const devices = await page.context().newCDPSession(page);
    await devices.send('WebAuthn.enable');
    await devices.send('WebAuthn.addVirtualAuthenticator', { options: PASSKEY_DEVICE });
    await logInAnew(FAY);
    await rows().first().waitFor();
    await page.getByRole('menuitem', { name: 'Account' }).click();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Laptop');
    await dialog.getByLabel('Current password').fill('a wrong password');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('Invalid credentials').waitFor();
    await checkBothWidths('add-passkey');
    await dialog.getByLabel('Current password').fill(FAY.password);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Laptop', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    await dialog.getByLabel('Name').fill('Old laptop');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await page.getByText('Old laptop', { exact: true }).waitFor();
    await checkBothWidths('passkeys');
    await page.evaluate(() => localStorage.clear());
    await page.goto(`${address}/#/login`);
    await page.reload();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await rows().first().waitFor();
    await page.getByRole('menuitem', { name: 'Account' }).click();
    await page.getByText('Last use:').waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    // Without a password, the passkey itself confirms.
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Old laptop', { exact: true }).waitFor({ state: 'detached' });
    await devices.detach();
  });
  await step('creates an API key, shows it once, and deletes it', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
    await page.getByRole('menuitem', { name: 'API keys' }).click();
    await page.getByRole('link', { name: 'Create' }).click();
    await input('name').fill('backup');
    await page.locator('input[name=expiresAt]').fill('2099-01-31T09:30');
    await save();
    const key = await page.getByLabel('Key', { exact: true }).inputValue();
    assert.match(key, /^dk_[0-9A-Za-z]{49}$/);
    await checkBothWidths('new-key');
    await page.getByRole('button', { name: 'Copy' }).click();
    await notified('Copied');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), key);
    assert.equal(await statusOf('GET', '/orders', undefined, key), 200);
    await page.getByRole('button', { name: 'Done' }).click();
    await rowOf('backup').getByText(key.slice(0, 11)).waitFor();
    assert.equal(await page.getByText(key).count(), 0);
    await checkBothWidths('keys-of-fay');
    await rowOf('backup').getByRole('button', { name: 'Delete' }).click();
    await confirm();
    await rowOf('backup').waitFor({ state: 'detached' });
    assert.equal(await statusOf('GET', '/orders', undefined, key), 401);
  });
  await send('POST', '/products/2/reviews', { stars: 4, text: 'Cuts well' }, token);
  for (const [role, user, expected] of [
    [
      'USER',
      USER,
      {
        menu: 'Products, Categories, Orders, Account, API keys',
        products: 'q, Add filter, Export, Name, Category, Price, Stock',
        product: 'Stars, Text',
        categories: 'Export, Id, Name',
        orders: 'Export, Id, Product, Quantity, Placed at',
      },
    ],
    [
      'STAFF',
      STAFF,
      {
        menu: 'Products, Categories, Orders, Account, API keys',
        products: 'q, Add filter, Create, Export, Set stock to 0, Delete, Name, Category, Price, Stock',
        product: 'Show, name, description, categoryId, price, stock, Save, Delete, Stars, Text, Delete',
        categories: 'Create, Export, Id, Name',
        orders: 'Export, Id, Product, Quantity, Placed at',
      },
    ],
    [
      'ADMIN',
      ADMIN,
      {
        menu: 'Products, Categories, Orders, Users, Account, API keys',
        products: 'q, Add filter, Create, Export, Set stock to 0, Delete, Name, Category, Price, Cost, Stock',
        product: 'Show, name, description, categoryId, price, cost, stock, Save, Delete, Stars, Text, Delete',
        categories: 'Create, Export, Id, Name',
        orders: 'Export, Id, Product, Quantity, Customer, Placed at',
      },
    ],
  ])
    await step(`shows ${role} the menu entries, columns, inputs and buttons that the server allows`, async () => {
      const { token: own } = (await send('POST', '/auth/login', user)).data;
      await send('POST', '/orders', { productId: 2, quantity: 1 }, own);
      await logInAnew(user);
      // A page that is opened before the login is answered logs out.
      await rows().first().waitFor();
      assert.deepEqual(await partsOfShop(role), expected);
    });
  // Colours depend on the theme, and the layout on the width: two passes have both of each.
  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ])
    await step(`passes axe on every page, fits, and leaves the console silent: ${scheme}, ${width} px`, async () => {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: scheme });
      await page.evaluate(() => localStorage.clear());
      messages.length = 0;
      await page.goto('about:blank');
      await page.goto(`${address}/#/login`);
      await input('email').waitFor();
      await check(`login-${scheme}-${width}`);
      await logIn(ADMIN);
      await rows().first().waitFor();
      for (const path of PAGES) {
        await page.goto(`${address}/#/${path}`);
        await page.waitForLoadState('networkidle');
        await page.waitForFunction(() => !document.querySelector('[role=progressbar]'));
        await check(`${path.replace('/', '-')}-${scheme}-${width}`);
      }
      for (const path of ['reset', 'verify', 'verify#token=none']) {
        await page.goto('about:blank');
        await page.goto(`${address}/${path}`);
        await page.getByRole('heading').first().waitFor();
        await check(`${path.replace('#token=', '-')}-${scheme}-${width}`);
      }
      assert.deepEqual(messages, []);
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

/** Looks for violations of accessibility, and for a page that is wider than the window. */
async function check(name) {
  await show(name);
  await checkPage(page, name);
}

/** At both widths. */
async function checkBothWidths(name) {
  await check(name);
  await page.setViewportSize({ width: 390, height: 800 });
  await check(`${name}-390`);
  await page.setViewportSize({ width: 1200, height: 800 });
}

/** @param steps of 30 s from now: each code logs in once */
function codeOfApp(steps) {
  return generate({ secret, epoch: Math.floor(Date.now() / 1000) + 30 * steps });
}

async function logInAnew(user) {
  await page.evaluate(() => localStorage.clear());
  await page.goto(`${address}/#/login`);
  await page.reload();
  await logIn(user);
}

async function show(name) {
  await settle(page);
  if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

/** The names of menu entries, columns, inputs and buttons. */
async function partsOfShop(role) {
  const read = async (name) => {
    await check(`${name}-${role}`);
    const parts = await page.locator('#main-content').locator('th, .MuiButton-root, form [name]').all();
    const names = await Promise.all(parts.map(async (part) => (await part.getAttribute('name')) ?? part.textContent()));
    return names.filter((text) => text !== '').join(', ');
  };
  await open('products', { filter: { q: 'Bread' } });
  await rowOf('Bread knife').getByText('Kitchen').waitFor();
  const menu = (await page.getByRole('menuitem').allTextContents()).join(', ');
  const products = await read('products');
  await rowOf('Bread knife').getByText('Bread knife').click();
  await page.getByText('Cuts well').waitFor();
  const product = await read('product');
  await open('categories');
  await rowOf('Kitchen').waitFor();
  const categories = await read('categories');
  await open('orders');
  await page.getByRole('row', { name: 'Bread knife' }).first().waitFor();
  return { menu, products, product, categories, orders: await read('orders') };
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
  // The page before stays until the code of this one is loaded.
  const title = resource[0].toUpperCase() + resource.slice(1);
  await page.locator('#react-admin-title').getByText(title, { exact: true }).waitFor();
}

async function logIn({ email, password }) {
  await page.locator('input[name=email]').fill(email);
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
