// Creates applications with the packed create-declarest, in an empty folder, as a new user does: it installs, starts,
// tests and checks each of them, on both platforms, and on SQLite and PostgreSQL. Those on Fastify have every login, and one
// has both databases: PostgreSQL in production.
//
//     TEST_POSTGRES_URL=postgres://postgres@127.0.0.1:5432/test TEST_CHROMIUM=/usr/bin/chromium npm run test:create
//
// With TEST_CHROMIUM, an administrator and a user open the interface at `/admin` in production.
// CREATE_COUNTS names a file for the counts, and CREATE_ONLY some of the applications: express-sqlite,fastify-sqlite+postgres.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Provider } from 'oidc-provider';
import { Client } from 'pg';
import { chromium } from 'playwright-core';

import { browserPath } from '../test/harness/browser.js';
import { freePort } from './free-port.mjs';
import { watchConsole } from './pages.mjs';
import { counts, step } from './steps.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { TEST_POSTGRES_URL: postgres, CREATE_COUNTS: countsFile, CREATE_ONLY: only } = process.env;
const USER = { email: 'ann@example.com', password: 'correct horse battery' };
const ADMIN = { email: 'boss@example.com', password: 'staple of the stable' };
const FRONT_END = 'https://app.example.com';
const ADMIN_ORIGIN = 'https://admin.example.com';
const LOGINS = ['password', 'passkey', 'second-factor', 'google', 'github', 'entra', 'keycloak'];
/** What production must set for them. Keycloak is a server on loopback. */
const CLIENTS = Object.fromEntries(
  ['GOOGLE', 'GITHUB', 'ENTRA', 'KEYCLOAK'].flatMap((name) => [
    [`${name}_CLIENT_ID`, 'my-client'],
    [`${name}_CLIENT_SECRET`, 'a secret of the client'],
  ]),
);
const VARIANTS = [
  { platform: 'express', database: 'sqlite' },
  { platform: 'express', database: 'postgres' },
  { platform: 'fastify', database: 'sqlite' },
  { platform: 'fastify', database: 'sqlite+postgres' },
]
  .filter(({ database }) => postgres || database === 'sqlite')
  .filter(({ platform, database }) => !only || only.split(',').includes(`${platform}-${database}`));

const scratch = mkdtempSync(join(tmpdir(), 'declarest-create-'));
try {
  const packages = { declarest: `file:${pack([])}` };
  for (const name of ['declarest-client', 'declarest-logins', 'ra-data-declarest'])
    packages[name] = `file:${pack(['--workspace', name])}`;
  const initializer = pack(['--workspace', 'create-declarest']);
  for (const variant of VARIANTS) await tryVariant(variant, packages, initializer);
  if (!postgres) console.log('PostgreSQL was left out: set TEST_POSTGRES_URL.');
} finally {
  rmSync(scratch, { recursive: true, force: true });
  if (countsFile) writeFileSync(countsFile, `${counts.passed} ${counts.failed}\n`);
}
console.log(`applications: ${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 ? 1 : 0;

/** @returns the path of the tarball */
function pack(workspace) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch, ...workspace];
  const [{ filename }] = Object.values(JSON.parse(execFileSync('npm', args, { cwd: ROOT })));
  return join(scratch, filename);
}

async function tryVariant({ platform, database }, packages, initializer) {
  const name = `my-${platform}-${database.replace('+', '-')}`;
  const folder = join(scratch, name);
  const databases = database.includes('postgres') ? [`create_${process.pid}`, `create_${process.pid}_test`] : [];
  const logins = platform === 'fastify' ? LOGINS : [];
  const keycloak = logins.length > 0 ? await startKeycloak() : undefined;
  const urls = databases.map((each) => Object.assign(new URL(postgres), { pathname: `/${each}` }).href);
  const env = {
    ...process.env,
    ...(urls.length > 0 && { DATABASE_URL: urls[0], TEST_DATABASE_URL: urls[1] }),
    ...(keycloak && {
      ...CLIENTS,
      ENTRA_TENANT: 'my-tenant',
      KEYCLOAK_ISSUER: keycloak.issuer,
      FRONT_END_ORIGIN: FRONT_END,
      ADMIN_ORIGIN,
      PASSKEY_DOMAIN: 'example.com',
    }),
    // npm passes its own settings on to programs that it starts.
    npm_config_loglevel: 'error',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  };
  const run = (command, args, cwd = folder, input = '', more = {}) => {
    try {
      return execFileSync(command, args, {
        cwd,
        env: { ...env, ...more },
        input,
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'inherit'],
      });
    } catch (error) {
      console.error(error.stdout);
      throw error;
    }
  };

  await step(`${name}: starts in production and answers a request with a token`, async () => {
    for (const each of databases) await onPostgres(`CREATE DATABASE ${each}`);
    const start = performance.now();
    const options = [
      '--platform',
      platform,
      '--database',
      database,
      ...(keycloak ? ['--login', LOGINS.join(',')] : []),
    ];
    const said = run(
      'npm',
      ['exec', '--yes', '--package', initializer, '--', 'create-declarest', name, ...options],
      scratch,
    );
    assert.match(said, new RegExp(`cd ${name}\n  npm install`));
    const file = join(folder, 'package.json');
    const content = JSON.parse(readFileSync(file, 'utf8'));
    const own = ['declarest', ...(keycloak ? ['declarest-logins'] : []), 'ra-data-declarest'];
    for (const name of own) assert.match(content.dependencies[name], /^\^\d/);
    for (const name of [...own, 'declarest-client']) content.dependencies[name] = packages[name];
    writeFileSync(file, JSON.stringify(content));
    run('npm', ['install']);
    run('npm', ['run', 'build']);
    await withService(folder, env, useEndpoints);
    if (keycloak) await withService(folder, env, (send) => useLogins(send, keycloak.issuer));
    console.log(`     ${Math.round((performance.now() - start) / 1000)} s from the first command to that answer`);
  });
  await step(`${name}: serves the interface of an administrator at /admin`, async () => {
    const create = ['declarest', 'user', 'create', 'dist/app.module.js', '--login', ADMIN.email, '--role', 'ADMIN'];
    run('npx', create, folder, `${ADMIN.password}\n`);
    await withService(folder, env, useFiles);
    if (browserPath) await withService(folder, env, useInterface);
  });
  // On SQLite where there are both databases.
  const development = { DATABASE_URL: '', TEST_DATABASE_URL: '' };
  const settings = database === 'sqlite+postgres' ? [{}, development] : [{}];
  await step(`${name}: passes its workflow, with and without a document in the repository`, () => {
    for (const more of settings) assert.match(run('npm', ['test'], folder, '', more), /^. pass 4\n. fail 0$/m);
    assert.match(run('npm', ['run', 'access:check']), /Access is the same as in access\.json\./);
    assert.match(run('npx', ['declarest', 'access', 'dist/app.module.js']), /\/api\/tasks\/:id/);
    run('git', ['init', '--quiet']);
    assert.throws(() => run('npm', ['run', 'openapi:check']));
    run('git', ['add', 'openapi.json']);
    run('npm', ['run', 'openapi:check']);
  });
  await step(`${name}: adds seeds for development, and needs no further migration`, () => {
    const check = ['migration:generate', 'src/migrations/None', '--dataSource', 'dist/data-source.js', '--check'];
    for (const more of settings) {
      assert.match(run('npm', ['run', 'seed'], folder, '', more), /^Created user@example\.com with the role USER /m);
      assert.match(run('npx', ['typeorm', ...check], folder, '', more), /No changes/);
    }
    if (database === 'sqlite+postgres')
      assert.throws(
        () => run('npm', ['run', 'migration:generate', 'None']),
        ({ stdout }) => stdout.split('No changes').length === 3,
      );
  });
  await keycloak?.close();
  for (const each of databases) await onPostgres(`DROP DATABASE IF EXISTS ${each} WITH (FORCE)`);
}

/** Starts the service as in production, and calls `use` with what sends requests, its address, and the lines of its log. */
async function withService(folder, env, use) {
  const port = await freePort();
  const app = spawn(process.execPath, ['dist/main.js'], {
    cwd: folder,
    env: { ...env, NODE_ENV: 'production', PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const log = [];
  createInterface({ input: app.stdout }).on('line', (line) => log.push(line));
  const url = `http://127.0.0.1:${port}`;
  const send = async (method, path, json, token) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    for (;;) {
      try {
        const options = { method, headers, ...(json && { body: JSON.stringify(json) }) };
        return await fetch(`${url}${path}`, options);
      } catch (error) {
        if (app.exitCode !== null || app.signalCode !== null) throw error;
        await setTimeout(100);
      }
    }
  };
  try {
    await send('GET', '/');
    await use(send, url, log);
  } finally {
    const ended = once(app, 'exit');
    app.kill('SIGTERM');
    await ended;
  }
}

async function useEndpoints(send, url, log) {
  for (const path of ['/livez', '/readyz']) assert.equal((await send('GET', path)).status, 200);
  const registered = await send('POST', '/api/auth/register', USER);
  assert.equal(registered.status, 201);
  const { data } = await registered.json();
  const refreshed = await send('POST', '/api/auth/refresh', { refreshToken: data.refreshToken });
  assert.equal(refreshed.status, 200);
  assert.equal((await send('GET', '/api/auth/users', undefined, data.token)).status, 403);
  assert.equal((await send('GET', '/api/tasks')).status, 401);
  assert.equal((await send('GET', '/api/tasks', undefined, data.token)).status, 200);
  const created = await send('POST', '/api/tasks?key=zebra', { title: 'Try it' }, data.token);
  assert.equal(created.status, 201);
  const forwarded = await fetch(`${url}/livez`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
  for (const path of ['/docs', '/docs-json']) {
    assert.equal((await send('GET', path)).status, 401);
    assert.equal((await send('GET', path, undefined, data.token)).status, 403);
  }
  while (!log.some((line) => line.includes('"GET /docs-json"'))) await setTimeout(100);
  const lines = log.map((line) => JSON.parse(line));
  const { status, requestId } = lines.find(({ message }) => message === 'POST /api/tasks');
  assert.deepEqual([status, requestId], [201, created.headers.get('x-request-id')]);
  // What the code of a request logs has its id too.
  const warning = lines.find(({ message }) => message.startsWith('A request has the header x-forwarded-for'));
  assert.equal(warning.requestId, forwarded.headers.get('x-request-id'));
  assert(!log.some((line) => ['zebra', 'Try it', USER.password, data.token].some((each) => line.includes(each))));
}

async function useLogins(send, issuer) {
  const begin = async (path, json, token) => (await (await send('POST', `/api/auth/${path}`, json, token)).json()).data;
  const options = await begin('passkeys/register/options', { email: 'ben@example.com' });
  assert.equal(options.rp.id, 'example.com');
  assert.match((await begin('mfa/enrol', { password: USER.password }, await tokenOf(send, USER))).uri, /^otpauth:/);
  assert.match((await begin('oidc/github', {})).url, /^https:\/\/github\.com\/login\/oauth\/authorize\?/);
  const { url } = await begin('oidc/keycloak', {});
  assert.equal(new URL(url).searchParams.get('redirect_uri'), `${FRONT_END}/login/keycloak`);
  // The provider knows the client and its redirect URI, and asks the user to log in.
  const shown = await fetch(url, { redirect: 'manual' });
  assert.match(shown.headers.get('location'), /^\/interaction\//);
  assert(url.startsWith(issuer));
  const redirectUri = `${ADMIN_ORIGIN}/admin/login/keycloak/`;
  const ofAdmin = await begin('oidc/keycloak', { redirectUri });
  assert.equal(new URL(ofAdmin.url).searchParams.get('redirect_uri'), redirectUri);
  const page = await send('GET', `${new URL(redirectUri).pathname}?code=1&state=2`);
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  const offered = await (await send('GET', '/admin/logins.json')).json();
  assert.deepEqual([offered.passkeys, offered.providers.keycloak], [true, 'Keycloak']);
}

/** An OpenID Connect server that knows the client of the service. */
async function startKeycloak() {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const client = {
    client_id: CLIENTS.KEYCLOAK_CLIENT_ID,
    client_secret: CLIENTS.KEYCLOAK_CLIENT_SECRET,
    redirect_uris: [`${FRONT_END}/login/keycloak`],
  };
  const server = new Provider(issuer, { clients: [client], cookies: { keys: ['of this test'] } }).listen(port);
  await once(server, 'listening');
  return { issuer, close: () => new Promise((resolve) => server.close(resolve)) };
}

async function tokenOf(send, user) {
  return (await (await send('POST', '/api/auth/login', user)).json()).data.token;
}

/** The files are public, and the description that they read is not. */
async function useFiles(send) {
  const opened = await send('GET', '/admin');
  assert.deepEqual([opened.status, new URL(opened.url).pathname], [200, '/admin/']);
  const docs = await send('GET', '/docs', undefined, await tokenOf(send, ADMIN));
  assert.equal(docs.status, 200);
  for (const { headers } of [opened, docs]) {
    const policy = headers.get('content-security-policy');
    assert.match(policy, /script-src 'self'/);
    assert.match(policy, /img-src 'self' data:/);
    assert.doesNotMatch(policy, /upgrade-insecure-requests/);
  }
  const [, script] = /<script [^>]*src="\.\/([^"]+)"/.exec(await opened.text());
  const sent = await send('GET', `/admin/${script}`);
  assert.equal(sent.status, 200);
  assert.match(sent.headers.get('content-type'), /^(text|application)\/javascript/);
  assert.equal((await send('GET', '/admin/resources.json')).status, 401);
  assert.equal((await send('GET', '/admin/resources.json', undefined, await tokenOf(send, USER))).status, 403);
  const described = await send('GET', '/admin/resources.json', undefined, await tokenOf(send, ADMIN));
  assert((await described.json()).resources.some(({ name }) => name === 'tasks'));
  assert.equal(sent.headers.get('cache-control'), 'private, max-age=31536000, immutable');
  for (const { headers } of [opened, described]) assert.equal(headers.get('cache-control'), 'private, no-cache');
  for (const { headers } of [sent, described]) {
    assert.equal(headers.get('content-encoding'), 'gzip');
    assert.match(headers.get('etag'), /^W\/"[\w-]+"$/);
  }
}

async function useInterface(_send, url) {
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    const messages = [];
    watchConsole(page, messages);
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) messages.push(request.url());
    });
    const logIn = async ({ email, password }) => {
      await page.goto(`${url}/admin`);
      await page.locator('input[name=username]').fill(email);
      await page.locator('input[name=password]').fill(password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    };
    await logIn(USER);
    await page.getByText('This user may not use the interface.').waitFor();
    await page.getByRole('button', { name: 'Logout' }).click();
    await logIn(ADMIN);
    await page.getByRole('menuitem', { name: 'Tasks' }).click();
    await page.getByRole('row').getByText('Try it').waitFor();
    await page.getByRole('menuitem', { name: 'Users' }).click();
    await page.getByRole('row').getByText(USER.email).waitFor();
    assert.deepEqual(messages, []);
  } finally {
    await browser.close();
  }
}

async function onPostgres(sql) {
  const client = new Client({ connectionString: postgres });
  await client.connect();
  await client.query(sql);
  await client.end();
}
