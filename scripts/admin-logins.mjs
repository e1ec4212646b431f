// Logs in on the login page of `AdminFor`, as `ra-data-declarest/static` has it, in Chromium: at a provider of OpenID Connect,
// by a passkey, by both with a second factor, and above the form of a session that has ended.
//
//     TEST_CHROMIUM=/usr/bin/chromium npm run test:admin-for
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { Provider } from 'oidc-provider';
import { generate } from 'otplib';
import { chromium } from 'playwright-core';

import { browserPath } from '../test/harness/browser.js';
import { SQLITE_PACKAGE } from '../test/harness/sqlite.js';
import { freePort } from './free-port.mjs';
import { checkPage, settle, watchConsole } from './pages.mjs';
import { counts, step } from './steps.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = fileURLToPath(new URL('../packages/ra-data-declarest/static', import.meta.url));
const BOSS = { email: 'boss@notes.example', password: 'the boss of all the notes' };
const ANN = 'ann@notes.example';
const CLIENT = { clientId: 'notes', clientSecret: 'a secret of the notes' };
const AT_COMPANY = 'Sign in with the company';

if (!browserPath) throw new Error('TEST_CHROMIUM must be the path of Chromium, got nothing. Install Chromium.');
const quiet = { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] };
execFileSync('npm', ['run', 'build:admin', '--workspace', 'ra-data-declarest'], quiet);
execFileSync('npx', ['tsc', '-p', 'test/admin-for'], quiet);

const origin = `http://localhost:${await freePort()}`;
const provider = await startProvider(`${origin}/admin/login/company/`);
const { startLogins } = await import('../test/admin-for/dist/logins-service.js');
const driver = createRequire(import.meta.url)(SQLITE_PACKAGE);
const settings = { issuer: provider.issuer, ...CLIENT };
const service = await startLogins({ driver, origin, folder: FOLDER, provider: settings, user: BOSS });
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });
const context = await browser.newContext();
const page = await context.newPage();
// Ends a step that hangs, and none on a slow machine.
page.setDefaultTimeout(60_000);
const messages = [];
watchConsole(page, messages);
try {
  await useLogins();
} finally {
  await browser.close();
  await service.close();
  await provider.close();
}
console.log(`Logins of AdminFor: ${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 ? 1 : 0;

async function useLogins() {
  await step('offers what the service has', async () => {
    await openLogin();
    await button(AT_COMPANY).waitFor();
    await button('Sign in with a passkey').waitFor();
    await check('login');
  });
  await step('sends a link to a new password', async () => {
    await button('Forgot your password?').click();
    await input('email').fill('no address');
    await button('Send a link').click();
    await page.getByText('Must be a valid email').waitFor();
    await check('forgotten');
    await input('email').fill(BOSS.email);
    await input('email').press('Enter');
    await notified('If this address has an account, a mail with a link to a new password is on its way.');
    await input('password').waitFor();
    const [{ kind, to, link }] = service.mails;
    assert.deepEqual([kind, to, link.startsWith(`${origin}/account/reset#token=`)], ['reset', BOSS.email, true]);
  });
  await step('says that a login at the provider failed', async () => {
    await button(AT_COMPANY).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await notified('The login at the provider failed');
    await button(AT_COMPANY).waitFor();
    assert.equal(new URL(page.url()).search, '');
  });
  await step('logs in at the provider', async () => {
    await button(AT_COMPANY).click();
    await page.locator('input[name=login]').fill('ann');
    await page.locator('input[name=password]').fill('any');
    await button('Sign-in').click();
    await button('Continue').click();
    await home();
    assert.equal(new URL(page.url()).search, '');
    await page.reload();
    await home();
    await button(ANN).waitFor();
  });
  const { id, title } = (await send('POST', '/notes', { title: 'First' }, await tokenOfPage())).data;
  await step('keeps what is typed, while the user logs in at the provider in another tab', async () => {
    await page.goto(`${origin}/admin/#/notes/${id}`);
    await input('title').fill('Typed');
    await endSessions();
    await button('Save').click();
    const dialog = page.getByRole('dialog');
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      dialog.getByRole('button', { name: AT_COMPANY }).click(),
    ]);
    await dialog.waitFor({ state: 'detached' });
    await tab.getByRole('menuitem', { name: 'Notes' }).waitFor();
    await tab.close();
    assert.equal(await input('title').inputValue(), 'Typed');
    await button('Save').click();
    await page.waitForURL(/#\/notes(\?.*)?$/);
    assert.notEqual((await send('GET', `/notes/${id}`, undefined, await tokenOfPage())).data.title, title);
  });
  await step('asks for a second factor after the login at the provider', async () => {
    const token = await tokenOfPage();
    const enrol = await send('POST', '/auth/mfa/enrol', {}, token);
    const secret = new URL(enrol.data.uri).searchParams.get('secret');
    const { data } = await send('POST', '/auth/mfa/confirm', { code: await generate({ secret }) }, token);
    await openLogin();
    await button(AT_COMPANY).click();
    await input('code').fill(data.recoveryCodes[0]);
    await button('Sign in').click();
    await home();
    await send('POST', '/auth/mfa/disable', { code: data.recoveryCodes[1] }, await tokenOfPage());
  });
  await step('logs in by a passkey, also as a second factor, and above a form', async () => {
    const session = await context.newCDPSession(page);
    await session.send('WebAuthn.enable');
    const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true };
    const authenticator = { ...options, isUserVerified: true, automaticPresenceSimulation: true };
    await session.send('WebAuthn.addVirtualAuthenticator', { options: authenticator });
    await openLogin();
    await logIn(BOSS);
    await home();
    await addPasskey();
    await openLogin();
    await button('Sign in with a passkey').click();
    await home();
    await button(BOSS.email).waitFor();
    await openLogin();
    await logIn(BOSS);
    await button('Use a passkey').click();
    await home();
    await page.goto(`${origin}/admin/#/notes/${id}`);
    await input('title').fill('By a passkey');
    await endSessions();
    await button('Save').click();
    const dialog = page.getByRole('dialog');
    await check('log-in-again');
    await dialog.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await input('title').inputValue(), 'By a passkey');
  });
  await step('offers a password alone, where the service tells nothing', async () => {
    await page.route('**/admin/logins.json', (route) => route.fulfill({ status: 404 }));
    await openLogin();
    await button('Sign in').waitFor();
    assert.equal(
      await page
        .getByRole('button')
        .filter({ hasText: /with|Forgot/ })
        .count(),
      0,
    );
    await logIn(BOSS);
    await button('Use a passkey').waitFor();
  });
  await step('leaves the console silent', () => assert.deepEqual(messages, []));
}

/** Its pages ask for any login name, and for consent. */
async function startProvider(redirectUri) {
  const server = createServer((request, response) => callback(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const client = { client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, redirect_uris: [redirectUri] };
  const { warn, info } = console;
  // It warns of what only production needs.
  Object.assign(console, { warn: () => undefined, info: () => undefined });
  const callback = new Provider(issuer, {
    clients: [{ ...client, token_endpoint_auth_method: 'client_secret_post' }],
    claims: { email: ['email', 'email_verified'] },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@notes.example`, email_verified: true }),
    }),
    cookies: { keys: ['of this script'] },
  }).callback();
  Object.assign(console, { warn, info });
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { issuer, close };
}

/** Opens the login page without a login. */
async function openLogin() {
  await page.goto(`${origin}/admin/`);
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await input('username').waitFor();
}

async function logIn({ email, password }) {
  await input('username').fill(email);
  await input('password').fill(password);
  await button('Sign in').click();
}

async function tokenOfPage() {
  const key = `declarest:${origin}/api`;
  return page.evaluate((name) => JSON.parse(localStorage.getItem(name)).token, key);
}

/** Ends the sessions of the user as another device would. */
async function endSessions() {
  const token = await tokenOfPage();
  const { id } = (await send('GET', '/auth/me', undefined, token)).data.user;
  await send('DELETE', `/auth/users/${id}/sessions`, undefined, token);
}

async function addPasskey() {
  const token = await tokenOfPage();
  const { data } = await send('POST', '/auth/passkeys/options', { password: BOSS.password }, token);
  const credential = await page.evaluate(async (options) => {
    const publicKey = globalThis.PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await navigator.credentials.create({ publicKey })).toJSON();
  }, data);
  await send('POST', '/auth/passkeys', { name: 'Laptop', credential }, token);
}

function button(name) {
  return page.getByRole('button', { name, exact: true });
}

function input(source) {
  return page.locator(`input[name="${source}"]`);
}

/** Waits for the first page behind a login. */
async function home() {
  await page.getByRole('menuitem', { name: 'Notes' }).waitFor();
}

async function notified(text) {
  await page.locator('.MuiSnackbar-root').getByText(text).waitFor();
}

async function check(name) {
  await settle(page);
  await checkPage(page, name);
}

async function send(method, path, json, token) {
  const answer = await fetch(`${origin}/api${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(json && { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  assert(answer.ok, `${method} ${path} answered ${answer.status} ${text}`);
  return text && JSON.parse(text);
}
