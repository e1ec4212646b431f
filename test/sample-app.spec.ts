import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import express from 'express';
import { DataSource } from 'typeorm';
import { readConfig } from '../sample-app/config.js';
import { type Child, shell, startChild } from './child-process.js';
import { type Compiled, compile } from './compiled.js';
import { pathWithCurl } from './curl.js';
import { type Answer, request, type RequestOptions } from './harness/client.js';
import { createDatabase, DATABASES } from './harness/databases.js';
import { refusal } from './harness/refusal.js';

type Environment = Readonly<Record<string, string>>;

const ADMIN = { ADMIN_EMAIL: 'Boss@shop.example', ADMIN_PASSWORD: 'the boss of the shop' };

let shop: Compiled;
let folder: string;

beforeAll(async () => {
  shop = await compile(['sample-app/main.ts']);
  folder = await mkdtemp(join(tmpdir(), 'declarest-sample-'));
});

afterAll(async () => {
  await shop.remove();
  await rm(folder, { recursive: true, force: true });
});

/** The compiled shop as a process on a free port, with nothing else in its environment. */
const launch = (env: Environment = {}): Child =>
  startChild(process.execPath, [join(shop.directory, 'sample-app', 'main.js')], {
    cwd: folder,
    env: { PORT: '0', ...env },
  });

interface Shop {
  readonly child: Child;
  readonly url: string;
  ask(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  login(email: string, password: string): Promise<string>;
  /** Sends the signal. @returns exit code and output */
  end(signal?: NodeJS.Signals): Child['ended'];
}

async function start(env: Environment): Promise<Shop> {
  const child = launch(env);
  const [, url = ''] = await child.says(/The shop is up at (\S+)[\s\S]*\n$/);
  const ask = (method: string, path: string, options?: RequestOptions): Promise<Answer> =>
    request(url, method, path, options);
  const end = (signal: NodeJS.Signals = 'SIGINT'): Child['ended'] => {
    child.signal(signal);
    return child.ended;
  };
  return {
    child,
    url,
    ask,
    end,
    login: async (email, password) =>
      (await ask('POST', '/api/auth/login', { json: { email, password } })).json.data.token as string,
  };
}

/** Waits until a check has the result, for what takes effect within 1 s. */
async function expectSoon<T>(check: () => Promise<T>, expected: T): Promise<void> {
  const end = Date.now() + 5000;
  while (Date.now() < end && (await check()) !== expected) await setTimeout(50);
  expect(await check()).toBe(expected);
}

const database = (name: string): string => join(folder, `${name}.db`);

describe('the first start', () => {
  it('prints an administrator with a generated password and five requests that work as printed', async () => {
    // Without DATABASE, in data/shop.db.
    const running = await start({});
    const [printed, email = '', password = ''] = await running.child.says(
      /The shop is up at [\s\S]*\nAdministrator: (\S+)\nPassword: +(\S+) \(generated; it is not shown again\)\s+$/,
    );
    const lines = printed.split('\n').filter((line) => /\bcurl /.test(line));
    expect(lines).toHaveLength(5);
    const { stdout } = await shell(lines.join(`; printf '\\n'\n`), {
      cwd: folder,
      env: { PATH: pathWithCurl(folder) },
    });
    const [filtered = '', token = '', review, patched = '', included = ''] = stdout
      .split('\n')
      .filter((line) => line !== '');
    expect(JSON.parse(filtered).data.map(({ name }: { name: string }) => name)).toEqual([
      'Pepper mill',
      'Bread knife',
      'Cutting board',
    ]);
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(review).toBe('1');
    const changed = { id: 1, stars: 4, text: 'It drips', productId: 1, authorId: 2 };
    expect(JSON.parse(patched)).toMatchObject({ message: 'Review updated', data: changed });
    expect(JSON.parse(included).data).toMatchObject({ category: { name: 'Kitchen' }, reviews: [changed] });

    const overview = await running.ask('GET', '/api/admin/overview', { token: await running.login(email, password) });
    expect(overview.json).toEqual({ administrator: email, users: 2, products: 12, orders: 0 });
    const end = await running.end();
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout.split(password)).toHaveLength(2);
    expect(end.stdout).not.toContain('WARN');

    const file = await new DataSource({
      type: 'better-sqlite3',
      database: join(folder, 'data', 'shop.db'),
      fileMustExist: true,
    }).initialize();
    expect(await file.query('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    await file.destroy();
  });
});

const SERVERS = DATABASES.filter((name) => name !== 'sqlite');
if (SERVERS.length > 0)
  it.each(SERVERS)('runs on %s, with the limits that its driver needs', async (name) => {
    const { options, drop } = await createDatabase(name);
    const { url } = options as { url: string };
    const running = await start({ DATABASE: url, ...ADMIN });
    const { status, json } = await running.ask('GET', '/api/products?filter[price][gte]=30&sort=price');
    expect([status, json.data.length]).toEqual([200, 3]);
    const { stdout, stderr } = await running.end();
    expect(stdout + stderr).toContain('The shop is up');
    expect(stdout + stderr).not.toContain('limit');
    await drop();
  });

describe('the running shop', () => {
  let running: Shop;
  let admin: string;
  let staff: string;
  let customer: string;

  beforeAll(async () => {
    running = await start({ DATABASE: database('rules'), SHOP_ORIGIN: 'https://front.example', ...ADMIN });
    admin = await running.login('boss@shop.example', ADMIN.ADMIN_PASSWORD);
    const register = async (email: string) =>
      (await running.ask('POST', '/api/auth/register', { json: { email, password: 'correct horse battery' } })).json
        .data;
    customer = (await register('ann@shop.example')).token as string;
    const { user } = await register('sam@shop.example');
    const hired = await running.ask('PUT', `/api/admin/staff/${user.id}`, { token: admin });
    expect(hired.json).toEqual({ email: 'sam@shop.example', role: 'STAFF' });
    staff = await running.login('sam@shop.example', 'correct horse battery');
  });

  it.each<[method: string, path: string, anonymous: number, asCustomer: number, asStaff: number]>([
    ['GET', '/api/products', 200, 200, 200],
    ['GET', '/api/products/1', 200, 200, 200],
    ['GET', '/api/products/search?q=TEA', 200, 200, 200],
    ['GET', '/api/products/exists/1', 200, 200, 200],
    ['GET', '/api/products/export?format=csv', 200, 200, 200],
    ['GET', '/api/products/1/reviews', 200, 200, 200],
    ['GET', '/api/categories/1', 200, 200, 200],
    ['POST', '/api/products', 401, 403, 400],
    ['PUT', '/api/products/1', 401, 403, 400],
    ['PATCH', '/api/products/1', 401, 403, 200],
    ['DELETE', '/api/products/99', 401, 403, 404],
    ['POST', '/api/products/batch', 401, 403, 400],
    ['PATCH', '/api/products/batch', 401, 403, 400],
    ['DELETE', '/api/products/batch?ids=99', 401, 403, 404],
    ['POST', '/api/products/1/restore', 401, 403, 403],
    ['POST', '/api/categories', 401, 403, 400],
    ['PATCH', '/api/categories/1', 401, 403, 200],
    ['DELETE', '/api/categories/99', 401, 403, 404],
    ['POST', '/api/products/1/reviews', 401, 400, 400],
    ['GET', '/api/orders', 401, 200, 200],
    ['POST', '/api/orders', 401, 400, 400],
    ['DELETE', '/api/orders/1', 401, 403, 403],
    ['GET', '/api/admin/overview', 401, 403, 403],
    ['PUT', '/api/admin/staff/1', 401, 403, 403],
    ['GET', '/api/users', 401, 403, 403],
    ['GET', '/api/auth/users', 401, 403, 403],
    ['PATCH', '/api/auth/users/1', 401, 403, 403],
    ['POST', '/api/auth/users/1/reset', 401, 403, 403],
    ['DELETE', '/api/auth/users/1/sessions', 401, 403, 403],
    ['GET', '/api/auth/sessions', 401, 200, 200],
  ])(
    '[3.2] answers %s %s with %i without a token, with %i as a customer and with %i as staff',
    async (method, path, anonymous, asCustomer, asStaff) => {
      const json = method === 'GET' || method === 'DELETE' ? {} : { json: {} };
      expect((await running.ask(method, path, json)).status).toBe(anonymous);
      expect((await running.ask(method, path, { ...json, token: customer })).status).toBe(asCustomer);
      expect((await running.ask(method, path, { ...json, token: staff })).status).toBe(asStaff);
    },
  );

  it('[7.1] filters products by price range and category, and sorts them', async () => {
    const list = await running.ask(
      'GET',
      '/api/products?filter[category.name]=Garden&filter[price][between]=4.9,20&sort=-price&fields=name,price',
    );
    expect(list.json.data).toEqual([
      { name: 'Seed box', price: 19.9 },
      { name: 'Hand trowel', price: 17.8 },
      { name: 'Hemp twine', price: 4.9 },
    ]);
  });

  it('[8.7] nests reviews below their product, and only their author or the staff changes them', async () => {
    const reviews = '/api/products/2/reviews';
    const { status, json } = await running.ask('POST', reviews, { token: staff, json: { stars: 5, text: 'Sharp' } });
    const review = { id: json.data.id as number, stars: 5, text: 'Sharp', productId: 2, authorId: 3 };
    expect([status, json.data]).toEqual([201, review]);
    const path = `${reviews}/${review.id}`;
    const refused = await running.ask('PATCH', path, { token: customer, json: { stars: 1 } });
    expect([refused.status, refused.json]).toEqual([403, refusal('Owner access required')]);
    expect((await running.ask('GET', `/api/products/3/reviews/${review.id}`)).status).toBe(404);
    const own = await running.ask('POST', reviews, { token: customer, json: { stars: 2, text: 'Blunt' } });
    const corrected = await running.ask('PATCH', own.headers['location']!, { token: customer, json: { stars: 3 } });
    expect(corrected.json.data).toMatchObject({ stars: 3, text: 'Blunt', authorId: 2 });
    const product = await running.ask('GET', '/api/products/2?include=category,reviews');
    expect(product.json.data).toMatchObject({
      category: { id: 1, name: 'Kitchen' },
      reviews: [review, corrected.json.data],
    });
    expect((await running.ask('DELETE', own.headers['location']!, { token: staff })).status).toBe(200);
  });

  it('[9.2] shows orders to their customer and to administrators only', async () => {
    const order = { productId: 2, quantity: 2 };
    const placed = await running.ask('POST', '/api/orders', { token: customer, json: order });
    expect([placed.status, placed.json.data]).toEqual([
      201,
      { ...order, id: 1, customerId: 2, placedAt: expect.any(String) },
    ]);
    const seenBy = async (token: string): Promise<unknown[]> => [
      (await running.ask('GET', '/api/orders', { token })).json.metadata.pagination.total,
      (await running.ask('GET', '/api/orders/1', { token })).status,
      (await running.ask('PATCH', '/api/orders/1', { token, json: { quantity: 3 } })).status,
    ];
    expect(await seenBy(customer)).toEqual([1, 200, 200]);
    expect(await seenBy(staff)).toEqual([0, 404, 404]);
    expect(await seenBy(admin)).toEqual([1, 200, 200]);
    const forged = await running.ask('POST', '/api/orders', { token: staff, json: { ...order, customerId: 2 } });
    expect(forged.status).toBe(400);
    expect((await running.ask('DELETE', '/api/orders/1', { token: admin })).status).toBe(200);
  });

  it('[8.6] places an order once, however often the request is sent', async () => {
    const place = (key: string, quantity: number): Promise<Answer> =>
      running.ask('POST', '/api/orders', {
        token: customer,
        headers: { 'Idempotency-Key': key },
        json: { productId: 4, quantity },
      });
    const count = async (): Promise<number> =>
      (await running.ask('GET', '/api/orders', { token: customer })).json.metadata.pagination.total as number;
    const before = await count();
    const first = await place('checkout-1', 1);
    expect([first.status, first.headers]).toEqual([
      201,
      expect.not.objectContaining({ 'idempotency-replayed': expect.anything() }),
    ]);
    const repeated = await place('checkout-1', 1);
    expect([repeated.status, repeated.json, repeated.headers]).toEqual([
      201,
      first.json,
      expect.objectContaining({ 'idempotency-replayed': 'true', location: first.headers['location'] }),
    ]);
    expect((await place('checkout-1', 2)).status).toBe(422);
    expect(await count()).toBe(before + 1);
    expect((await place('checkout-2', 1)).json.data.id).not.toBe(first.json.data.id);
    expect(await count()).toBe(before + 2);
  });

  it('[9.3] lets only administrators read and write the cost of a product', async () => {
    for (const token of [undefined, customer, staff]) {
      const options = token === undefined ? {} : { token };
      const paths = [
        '/api/products',
        '/api/products/4',
        '/api/products/export?format=ndjson',
        '/api/products/search?q=a',
      ];
      for (const path of paths) expect((await running.ask('GET', path, options)).text).not.toMatch(/cost/);
      for (const query of ['filter[cost][gt]=1', 'sort=cost', 'fields=cost'])
        expect((await running.ask('GET', `/api/products?${query}`, options)).status).toBe(400);
    }
    expect((await running.ask('PATCH', '/api/products/4', { token: staff, json: { cost: 1 } })).status).toBe(400);
    expect((await running.ask('GET', '/api/products/4', { token: admin })).json.data.cost).toBe(16.4);
    const changed = await running.ask('PATCH', '/api/products/4', { token: admin, json: { cost: 17 } });
    expect(changed.json.data.cost).toBe(17);
    const dear = await running.ask('GET', '/api/products?filter[cost][gte]=17&sort=cost', { token: admin });
    expect(dear.json.data.map(({ name }: { name: string }) => name)).toEqual(['Pepper mill', 'Watering can']);
    const { data } = (await running.ask('GET', '/api/products/4')).json;
    expect((await running.ask('PUT', '/api/products/4', { token: staff, json: data })).status).toBe(200);
    expect((await running.ask('GET', '/api/products/4', { token: admin })).json.data.cost).toBe(17);
  });

  it('[8.4] hides a deleted product, which an administrator restores', async () => {
    const ask = (method: string, path: string, token: string): Promise<Answer> => running.ask(method, path, { token });
    expect((await ask('DELETE', '/api/products/3', staff)).json).toMatchObject({ success: true, data: null });
    expect((await ask('GET', '/api/products/3', admin)).status).toBe(404);
    expect((await ask('GET', '/api/products?deleted=only', staff)).status).toBe(400);
    const hidden = await ask('GET', '/api/products?deleted=only', admin);
    expect(hidden.json.data).toEqual([
      expect.objectContaining({ id: 3, name: 'Cutting board', deletedAt: expect.any(String) }),
    ]);
    const ordered = { token: customer, json: { productId: 3, quantity: 1 } };
    expect((await running.ask('POST', '/api/orders', ordered)).status).toBe(409);
    expect((await ask('POST', '/api/products/3/restore', admin)).status).toBe(200);
    expect((await running.ask('GET', '/api/products/3')).json.data).not.toHaveProperty('deletedAt');
  });

  it('[7.8] exports the price list', async () => {
    const list = await running.ask(
      'GET',
      '/api/products/export?format=csv&fields=name,price&filter[category.name]=Stationery&sort=name',
    );
    expect(list.headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/csv/),
      'content-disposition': 'attachment; filename="products.csv"',
    });
    expect(list.text.trim().split(/\r?\n/)).toEqual([
      'name,price',
      'Blue ink,6.5',
      'Fountain pen,24',
      'Notebook,8.9',
      'Wax crayons,11.2',
    ]);
  });

  it('[8.2] changes several prices at once, or none', async () => {
    const change = (token: string, ...items: object[]): Promise<Answer> =>
      running.ask('PATCH', '/api/products/batch', { token, json: { items } });
    const prices = async (): Promise<unknown[]> => {
      const list = await running.ask('GET', '/api/products?filter[category.name]=Garden&sort=name&fields=price');
      return list.json.data.map(({ price }: { price: number }) => price);
    };
    const before = await prices();
    expect((await change(customer, { id: 9, price: 1 })).status).toBe(403);
    const wrong = await change(staff, { id: 11, price: 5.5 }, { id: 12, price: -1 });
    expect([wrong.status, wrong.json.errors]).toEqual([
      400,
      [{ field: 'items[1].price', message: expect.any(String) }],
    ]);
    expect(await prices()).toEqual(before);
    const changed = await change(staff, { id: 11, price: 5.5 }, { id: 12, price: 21 });
    expect([changed.status, changed.json.data]).toEqual([
      200,
      [expect.objectContaining({ id: 11, price: 5.5 }), expect.objectContaining({ id: 12, price: 21 })],
    ]);
    expect(changed.text).not.toMatch(/cost/);
    expect(await prices()).toEqual([17.8, 5.5, 21, 39]);
  });

  it('[8.5] refuses to overwrite a change of another editor', async () => {
    const read = await running.ask('GET', '/api/products/2');
    const patch = (price: number): Promise<Answer> =>
      running.ask('PATCH', '/api/products/2', {
        token: staff,
        json: { price },
        headers: { 'If-Match': read.headers['etag'] ?? '' },
      });
    expect([(await patch(28)).status, (await patch(29)).status]).toEqual([200, 412]);
  });

  it('[2.6] lets administrators see users without passwords', async () => {
    const { data: users } = (await running.ask('GET', '/api/users?filter[role]=ADMIN', { token: admin })).json;
    expect(users).toEqual([expect.objectContaining({ email: 'boss@shop.example', role: 'ADMIN', active: true })]);
    expect(users[0]).not.toHaveProperty('password');
  });

  it('lets administrators change users, mail them links and end their sessions, but not demote the last ADMIN', async () => {
    const ask = (method: string, path: string, json?: object): Promise<Answer> =>
      running.ask(method, `/api/auth/${path}`, { token: admin, ...(json && { json }) });
    const eve = { email: 'eve@shop.example', password: 'correct horse battery' };
    const { token, user } = (await running.ask('POST', '/api/auth/register', { json: eve })).json.data;
    const named = await ask('PATCH', `users/${user.id}`, { firstName: 'Eve' });
    expect(named.json.data.user).toMatchObject({ email: eve.email, firstName: 'Eve', role: 'USER', active: true });
    expect((await ask('GET', 'users?q=EVE&filter[active]=true')).json.data).toEqual([named.json.data.user]);
    expect((await ask('POST', `users/${user.id}/reset`)).status).toBe(202);
    // The link leads to the front end.
    await running.child.says(/https:\/\/front\.example\/reset#token=\S+/);
    expect((await ask('DELETE', `users/${user.id}/sessions`)).status).toBe(204);
    await expectSoon(async () => (await running.ask('GET', '/api/auth/me', { token })).status, 401);

    const [last] = (await ask('GET', 'users?filter[role]=ADMIN')).json.data;
    const demoted = await ask('PATCH', `users/${last.id}`, { role: 'USER' });
    expect([demoted.status, demoted.json.success]).toEqual([409, false]);
  });

  it('refreshes and ends a session', async () => {
    const post = (path: string, json: object): Promise<Answer> => running.ask('POST', `/api/auth/${path}`, { json });
    const login = await post('login', { email: 'ann@shop.example', password: 'correct horse battery' });
    const { refreshToken, expiresIn } = login.json.data;
    expect(expiresIn).toBe(900);
    const refreshed = await post('refresh', { refreshToken });
    const { token } = refreshed.json.data;
    const sessions = await running.ask('GET', '/api/auth/sessions', { token });
    expect(sessions.json.data.filter(({ current }: { current: boolean }) => current)).toHaveLength(1);
    expect((await running.ask('POST', '/api/auth/logout', { token })).status).toBe(204);
    expect((await post('refresh', { refreshToken: refreshed.json.data.refreshToken })).status).toBe(401);
  });

  it('[4.7] returns the previous price in the message of the overridden update', async () => {
    const { version, ...product } = (await running.ask('GET', '/api/products/1')).json.data;
    const put = (json: object): Promise<Answer> => running.ask('PUT', '/api/products/1', { token: staff, json });
    expect(version).toBe(1);
    expect((await put({ ...product, stock: 5 })).json.message).toBe('Product updated');
    expect((await put({ ...product, price: 36 })).json).toMatchObject({
      message: 'Product updated, price changed from 34.5 to 36',
      data: { price: 36 },
    });
    expect((await put({ ...product, price: -1 })).status).toBe(400);
  });

  it.each([
    '/api/products/1',
    '/api/categories',
    '/api/products/1/reviews',
    '/api/orders/1',
    '/api/users/1',
    '/api/auth/login',
  ])('[5] answers the preflight of the configured shop front for %s', async (path) => {
    const headers = { Origin: 'https://front.example', 'Access-Control-Request-Method': 'POST' };
    const answer = await running.ask('OPTIONS', path, { headers });
    expect([answer.status, answer.headers['access-control-allow-origin'], answer.text]).toEqual([
      204,
      'https://front.example',
      '',
    ]);
  });

  it('[5] answers no preflight for the admin area', async () => {
    const answer = await running.ask('OPTIONS', '/api/admin/overview', {
      headers: { Origin: 'https://front.example' },
    });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([404, undefined]);
  });

  it('sends the security headers of Nest, and does not say what it is made with', async () => {
    const { headers } = await running.ask('GET', '/api/products');
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect(headers).not.toHaveProperty('x-powered-by');
  });

  it('never prints a password from the environment, and later starts create nothing', async () => {
    const first = await running.end();
    const second = await start({ DATABASE: database('rules') });
    const token = await second.login('boss@shop.example', ADMIN.ADMIN_PASSWORD);
    const overview = await second.ask('GET', '/api/admin/overview', { token });
    expect(overview.json).toMatchObject({ users: 4, products: 12 });
    // A client that keeps its connection open does not delay the end.
    await (await fetch(`${second.url}/api/products`)).text();
    const end = await second.end('SIGTERM');
    expect(end).toMatchObject({ code: 0, signal: null, stderr: '' });
    for (const { stdout } of [first, end]) {
      expect(stdout).not.toContain(ADMIN.ADMIN_PASSWORD);
      expect(stdout).not.toContain('Password:');
    }
  });
});

describe('the configuration', () => {
  const production = {
    NODE_ENV: 'production',
    JWT_SECRET: 'x'.repeat(32),
    SHOP_ORIGIN: 'https://shop.example',
    MAIL_URL: 'https://mail.example/send',
  };

  it.each<[env: Environment, sentence: RegExp]>([
    [{ PORT: 'http' }, /^PORT must be a whole number from 0 to 65535, got "http"\. .+\.$/],
    [{ PORT: '65536' }, /^PORT must be .+, got "65536"\. /],
    [{ PORT: '-1' }, /^PORT must be .+, got "-1"\. /],
    [{ DATABASE: 'data/' }, /^DATABASE must be the path of a file, got "data\/"\. /],
    [{ SHOP_ORIGIN: 'https://shop.example/' }, /^SHOP_ORIGIN must be an origin, got "https:\/\/shop\.example\/"\. /],
    [{ SHOP_ORIGIN: '*' }, /^SHOP_ORIGIN must be an origin, got "\*"\. /],
    [{ JWT_SECRET: 'canary-secret' }, /^JWT_SECRET must be a text of at least 32 bytes, got a text of 13 bytes\. /],
    [{ ...production, JWT_SECRET: '' }, /^JWT_SECRET must be .+ when NODE_ENV is production, got nothing\. /],
    [{ ...production, SHOP_ORIGIN: '' }, /^SHOP_ORIGIN must be an origin when NODE_ENV is production, got nothing\. /],
    [{ ...production, MAIL_URL: '' }, /^MAIL_URL must be an HTTP URL when NODE_ENV is production, got nothing\. /],
    [{ MAIL_URL: 'smtp://canary' }, /^MAIL_URL must be an HTTP URL, got a text of 13 bytes\. /],
    [{ ADMIN_EMAIL: 'boss' }, /^ADMIN_EMAIL must be an e-mail address, got "boss"\. /],
    [{ ADMIN_PASSWORD: 'canary' }, /^ADMIN_PASSWORD must be a text of .+, got a text of 6 bytes\. /],
    [{ LOGIN_PLUGINS: 'yes' }, /^LOGIN_PLUGINS must be "on" or "off", got "yes"\. /],
    [{ TRUST_PROXY: 'nginx' }, /^TRUST_PROXY must be addresses of proxies, separated by commas, got "nginx"\. /],
    [{ TRUST_PROXY: '10.0.0.0/8,' }, /^TRUST_PROXY must be .+, got "10\.0\.0\.0\/8,"\. /],
    [{ TRUST_PROXY: '1' }, /^TRUST_PROXY must be .+, got "1"\. /],
    [{ ADMIN_PASSWORD: 'ä'.repeat(37) }, /^ADMIN_PASSWORD must be .+, got a text of 74 bytes\. /],
  ])('refuses %j in one sentence that shows no secret', (env, sentence) => {
    expect(() => readConfig(env)).toThrow(sentence);
    expect(() => readConfig(env)).not.toThrow(/canary|ä/);
  });

  it('takes addresses, networks and names of proxies', () => {
    const trustProxy = 'loopback, 10.0.0.0/8,2001:db8::1';
    expect(readConfig({ TRUST_PROXY: trustProxy }).trustProxy).toBe(trustProxy);
    expect(() => express().set('trust proxy', trustProxy)).not.toThrow();
  });

  it('has a default for every variable outside of production', () => {
    expect(readConfig({})).toEqual({
      port: 3000,
      database: 'data/shop.db',
      jwtSecret: undefined,
      shopOrigin: 'http://localhost:5173',
      mailUrl: undefined,
      adminEmail: 'admin@shop.example',
      adminPassword: undefined,
      loginPlugins: false,
      trustProxy: false,
    });
    expect(readConfig(production)).toMatchObject({ jwtSecret: 'x'.repeat(32), shopOrigin: 'https://shop.example' });
  });
});

describe('a failed start prints one sentence on stderr and ends with exit code 1', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  /** In the process of the test: `main.ts` checks these variables before it creates the application. */
  async function sentenceOf(env: Environment): Promise<string> {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    const log = vi.spyOn(console, 'log');
    const error = vi.spyOn(console, 'error').mockReturnValue();
    vi.resetModules();
    await import('../sample-app/main.js');
    expect([exit.mock.calls, log.mock.calls]).toEqual([[[1]], []]);
    return error.mock.calls.join('\n');
  }

  it('for an ADMIN_EMAIL that only declarest refuses', async () => {
    const child = launch({ DATABASE: database('dots'), ADMIN_EMAIL: 'boss@shop..example' });
    const { code, stdout, stderr } = await child.ended;
    expect(code).toBe(1);
    expect(stdout).not.toContain('The shop is up');
    expect(stderr).toMatch(/^ADMIN_EMAIL: cannot create the administrator boss@shop\.\.example: email[^\n]+\n$/);
  });

  it('for an invalid variable', async () => {
    expect(await sentenceOf({ PORT: 'http' })).toMatch(/^PORT must be [^\n]+\.$/);
  });

  it('for a PORT in use', async () => {
    const other = createServer().listen(0);
    const { port } = other.address() as { port: number };
    expect(await sentenceOf({ DATABASE: database('never'), PORT: String(port) })).toBe(
      `PORT: cannot listen on ${port}: another program is using it. Set PORT to another one.`,
    );
    other.close();
  });

  it('for a DATABASE that is not a database', async () => {
    const path = database('notes');
    await writeFile(path, 'This is a text file. '.repeat(100));
    const sentence = await sentenceOf({ PORT: '0', DATABASE: path });
    expect(sentence).toMatch(/^DATABASE: cannot write to "[^\n]+": [^\n]+\.$/);
    expect(sentence).toContain(JSON.stringify(path));
  });
});
