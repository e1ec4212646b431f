// What every supported combination has to do, seen from outside: over HTTP, and in what a start prints.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { connect } from 'node:net';

export const SECRET = 'a secret of the compatibility run, long enough';
const PASSWORD = 'correct horse battery';
const ORIGIN = 'https://shop.example';

/**
 * @typedef {{ url: string, stop: () => Promise<void> }} Running
 * @typedef {{ token?: string, json?: unknown, body?: string, headers?: Record<string, string> }} Parts
 * @typedef {{ title: string, error?: string }} Result
 */

/**
 * @param {(env?: Record<string, string>) => Promise<Running>} start starts the application; rejects with what it printed when it refuses
 * @returns {Promise<Result[]>}
 */
export async function runSuite(start) {
  /** @type {Result[]} */
  const results = [];
  /** @param {string} title @param {() => Promise<unknown>} test */
  const check = async (title, test) => {
    try {
      await test();
      results.push({ title });
    } catch (error) {
      results.push({ title, error: error instanceof Error ? error.message : String(error) });
    }
  };
  await withApplication(start, {}, check, (url) => shop(url, check));
  await withApplication(start, { FURNISHED: 'yes' }, check, (url) => furnishedShop(url, check));
  await refusals(start, check);
  return results;
}

/**
 * @typedef {(title: string, test: () => Promise<unknown>) => Promise<void>} Check
 * @param {(env?: Record<string, string>) => Promise<Running>} start
 * @param {Record<string, string>} env
 * @param {Check} check
 * @param {(url: string) => Promise<void>} use
 */
async function withApplication(start, env, check, use) {
  /** @type {Running | undefined} */
  let app;
  await check(`starts ${JSON.stringify(env)}`, async () => (app = await start(env)));
  if (!app) return;
  await use(app.url);
  await app.stop();
}

/** @param {string} url @param {Check} check */
async function shop(url, check) {
  const { send, raw } = client(url);
  let user = '';
  let admin = '';

  // Users and tokens
  await check('registers', async () => {
    const { status, body, headers } = await send('POST /api/auth/register', {
      json: { email: ' Ann@Shop.example', password: PASSWORD, firstName: 'Ann', nickname: 'annie' },
    });
    equal(status, 201);
    const { id, ...rest } = body.data.user;
    equal(typeof id, 'number');
    equal(rest, {
      email: 'ann@shop.example',
      username: null,
      firstName: 'Ann',
      lastName: null,
      role: 'USER',
      active: true,
    });
    equal(headers.get('cache-control'), 'no-store');
    user = body.data.token;
  });
  await check('tokens hold exactly sub, email, roles, iat and exp', async () => {
    const [header, claims] = user
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(atob(part)));
    equal(header.alg, 'HS256');
    equal(Object.keys(claims).toSorted(), ['email', 'exp', 'iat', 'roles', 'sub']);
    equal([typeof claims.sub, claims.roles, claims.exp - claims.iat], ['string', ['USER'], 24 * 3600]);
  });
  await check('refuses a taken e-mail', async () => {
    const { status, body } = await send('POST /api/auth/register', {
      json: { email: 'ANN@shop.example', password: PASSWORD },
    });
    equal([status, body], [400, { success: false, message: 'User with email ann@shop.example already exists' }]);
  });
  await check('lets one of 20 parallel registrations win', async () => {
    const json = { email: 'race@shop.example', password: PASSWORD };
    const answers = await Promise.all(Array.from({ length: 20 }, () => send('POST /api/auth/register', { json })));
    equal(answers.filter(({ status }) => status === 201).length, 1);
    equal(answers.filter(({ status }) => status === 400).length, 19);
  });
  await check('names every wrong field of a registration', async () => {
    const { status, body } = await send('POST /api/auth/register', {
      json: { email: 'x', password: 'short', role: 'ADMIN', age: 3 },
    });
    equal(status, 400);
    for (const field of ['email', 'password', 'role', 'age']) assert.match(body.message, new RegExp(field));
  });
  await check('refuses a body that is not JSON in the shape of the endpoint', async () => {
    const { status, body } = await send('POST /api/auth/login', {
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    equal([status, body.success], [400, false]);
  });
  await check('logs in', async () => {
    const { status, body } = await send('POST /api/auth/login', {
      json: { email: 'BOSS@shop.example ', password: 'the boss of the shop' },
    });
    equal(
      [status, Object.keys(body.data.user), body.data.user.role],
      [200, ['id', 'email', 'username', 'role'], 'ADMIN'],
    );
    admin = body.data.token;
  });
  await check('answers an unknown user, a wrong password and an inactive user alike', async () => {
    const pairs = [
      ['no@shop.example', PASSWORD],
      ['ann@shop.example', 'not the password'],
      ['gone@shop.example', 'the boss of the shop'],
    ];
    for (const [email, password] of pairs) {
      const { status, body } = await send('POST /api/auth/login', { json: { email, password } });
      equal([status, body], [401, { success: false, message: 'Invalid credentials' }]);
    }
  });
  await check('tells who one is', async () => {
    const { status, body } = await send('GET /api/auth/me', { token: user });
    equal([status, body.success, body.data.user.email, 'message' in body], [200, true, 'ann@shop.example', false]);
  });
  await check('never sends a password', async () => {
    const answers = await Promise.all([
      send('GET /api/auth/me', { token: user }),
      send('POST /api/auth/login', { json: { email: 'ann@shop.example', password: PASSWORD } }),
    ]);
    for (const { text } of answers) assert.doesNotMatch(text, /password|\$2[aby]\$/);
  });

  // Rules
  await check('needs a token where a rule says so', async () => {
    const { status, body, headers } = await send('POST /api/products', { json: {} });
    equal([status, body], [401, { error: 'Authentication required' }]);
    equal(headers.get('www-authenticate'), 'Bearer');
  });
  await check('refuses forged and damaged tokens', async () => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { sub: '1', email: 'boss@shop.example', roles: ['ADMIN'], iat: now, exp: now + 60 };
    equal((await send('GET /api/admin/stats', { token: signed(claims) })).status, 200);
    const { exp, ...eternal } = claims;
    const forged = [
      signed(claims, { secret: 'another' }),
      signed(claims, { alg: 'HS512', hash: 'sha512' }),
      signed(claims, { alg: 'none' }).replace(/[^.]+$/, ''),
      signed({ ...claims, exp: now - 1 }),
      signed(eternal),
      signed({ ...claims, exp: String(exp) }),
      signed({ ...claims, roles: 'ADMIN' }),
      signed({ ...claims, sub: 1 }),
      'nonsense',
    ];
    for (const token of forged) {
      const { status, body, headers } = await send('GET /api/admin/stats', { token });
      equal([status, body], [401, { error: 'Authentication required' }]);
      assert.match(headers.get('www-authenticate') ?? '', /error="invalid_token"/);
    }
  });
  await check('refuses who lacks the role', async () => {
    const { status, body } = await send('GET /api/admin/stats', { token: user });
    equal([status, body], [403, { error: 'Admin access required' }]);
    equal((await send('GET /api/support', { token: admin })).body, {
      error: 'Support agent access required',
    });
  });
  await check('lets in who has it, and tells the handler who', async () => {
    const { status, body } = await send('GET /api/admin/stats', { token: admin });
    equal([status, body.seenBy.email, body.seenBy.roles], [200, 'boss@shop.example', ['ADMIN']]);
    equal(typeof body.seenBy.id, 'number');
  });
  await check('opens public endpoints, and ignores a bad token there', async () => {
    equal((await send('GET /')).body, { shop: 'open' });
    equal((await send('GET /api/greeting')).body, { user: null });
    equal((await send('GET /api/greeting', { token: 'nonsense' })).body, { user: null });
    equal((await send('GET /api/greeting', { token: user })).body.user.email, 'ann@shop.example');
  });
  await check('closes what no rule speaks of', async () => equal((await send('GET /reports')).status, 401));
  await check('knows no unknown path', async () => {
    equal((await send('GET /api/nowhere')).status, 404);
    equal((await send('GET /api/nowhere', { token: admin })).status, 404);
  });
  await check('governs HEAD as GET', async () => {
    equal((await send('HEAD /api/admin/stats')).status, 401);
    equal((await send('HEAD /api/products')).status, 200);
  });
  await check('opens nothing to another spelling of a URL', async () => {
    const spellings = [
      '/API/ADMIN/STATS',
      '/api/admin/stats/',
      '//api/admin/stats',
      '/api//admin/stats',
      '/api/admin/%73tats',
      '/api/admin%2fstats',
      '/api/admin%252fstats',
      '/api/x/../admin/stats',
      '/api/./admin/stats',
      '/api/admin/stats;x',
      String.raw`/api\admin\stats#`,
      `${url}/api/admin/stats`,
      '/api/products/../admin/stats',
      '/api/admin/stats%',
    ];
    for (const target of spellings) {
      const { status, text } = await raw(`GET ${target}`);
      assert.ok([400, 401, 404].includes(status), `${target}: ${status}`);
      assert.doesNotMatch(text, /seenBy/);
    }
  });
  await check('refuses two Authorization headers', async () => {
    const header = `Authorization: Bearer ${admin}`;
    equal((await raw('GET /api/admin/stats', [header])).status, 200);
    const { status } = await raw('GET /api/admin/stats', ['Authorization: Bearer nonsense', header]);
    assert.ok([400, 401].includes(status), String(status));
  });

  // Generated endpoints
  const product = { name: 'Lamp', price: 12.5, stock: 3 };
  /** @param {object} [fields] */
  const create = async (fields = {}) => {
    const { status, body, text } = await send('POST /api/products', { token: admin, json: { ...product, ...fields } });
    equal(status, 201, text);
    return body.data;
  };
  let categoryId = 0;
  await check('creates, in an envelope', async () => {
    const { status, body, headers } = await send('POST /api/categories', { token: user, json: { name: 'Kitchen' } });
    const { timestamp, ...rest } = body;
    categoryId = rest.data?.id;
    equal(
      [status, rest],
      [201, { success: true, message: 'Category created', data: { id: categoryId, name: 'Kitchen' } }],
    );
    assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/);
    equal(headers.get('location'), `/api/categories/${categoryId}`);
  });
  await check(
    'has the records of a further data source apart, also in a controller that is made for each request',
    async () => {
      const { status, body } = await send('GET /api/archived?page=1&size=5', { token: user });
      equal([status, body.data], [200, []]);
    },
  );
  await check('reads and writes every kind of column', async () => {
    const fields = {
      ...product,
      description: 'Ünïcode ☕',
      barcode: '9007199254740993',
      state: 'used',
      details: { tall: [1, null] },
      fragile: true,
      soldAt: '2026-01-31T09:30:00.000Z',
      categoryId,
    };
    const { id, createdAt, ...created } = await create(fields);
    equal(created, fields);
    assert.ok(Math.abs(Date.now() - Date.parse(createdAt)) < 24 * 3600_000, createdAt);
    equal((await send(`GET /api/products/${id}`)).body.data, { id, createdAt, ...created });
  });
  await check('gives defaults', async () => {
    const created = await create();
    equal(created, {
      id: created.id,
      createdAt: created.createdAt,
      ...product,
      description: null,
      barcode: null,
      state: 'new',
      details: null,
      fragile: false,
      soldAt: null,
      categoryId: null,
    });
  });
  await check('writes what it never sends', async () => {
    const created = await create({ supplier: 'secret' });
    equal('supplier' in created, false);
    assert.doesNotMatch((await send(`GET /api/products/${created.id}`)).text, /supplier/);
  });
  await check('reads a 64-bit integer as a number while it is safe', async () =>
    equal((await create({ barcode: 42 })).barcode, 42),
  );
  await check('names every wrong field of a record', async () => {
    const json = {
      name: 'L',
      price: 'cheap',
      stock: 1.5,
      state: 'broken',
      soldAt: 'yesterday',
      colour: 'red',
      id: 7,
      categoryId: 'x',
    };
    const { status, body } = await send('POST /api/products', { token: user, json });
    equal([status, body.success, body.message], [400, false, 'Product is not valid']);
    const fields = body.errors.map((/** @type {{ field: string }} */ { field }) => field);
    equal(fields.toSorted(), Object.keys(json).toSorted());
  });
  await check('answers 404 for a record that is not there, 400 for an id that is none', async () => {
    const { status, body } = await send('GET /api/products/99999');
    equal([status, body.success, body.message], [404, false, 'Product with id 99999 not found']);
    equal((await send('GET /api/products/abc')).status, 400);
    equal((await send('GET /api/tags/abc', { token: user })).status, 400);
  });
  await check('replaces', async () => {
    const { id, createdAt, ...created } = await create({ description: 'old', supplier: 'kept' });
    const { status, body } = await send(`PUT /api/products/${id}`, {
      token: user,
      json: { name: 'Torch', price: 1, stock: 2 },
    });
    equal([status, body.message], [200, 'Product updated']);
    equal(body.data, { ...created, id, createdAt, name: 'Torch', price: 1, stock: 2, description: null });
  });
  await check('takes back what a GET returned', async () => {
    const created = await create({ categoryId, barcode: '9007199254740993' });
    const { status, body } = await send(`PUT /api/products/${created.id}`, {
      token: user,
      json: { ...created, name: 'Torch' },
    });
    equal([status, body.data], [200, { ...created, name: 'Torch' }]);
  });
  await check('never creates by PUT', async () =>
    equal((await send('PUT /api/products/99999', { token: user, json: product })).status, 404),
  );
  await check('deletes, for administrators only', async () => {
    const { id } = await create();
    equal((await send(`DELETE /api/products/${id}`, { token: user })).status, 403);
    const { status, body } = await send(`DELETE /api/products/${id}`, { token: admin });
    equal([status, body.data, body.message], [200, null, 'Product deleted']);
    equal((await send(`GET /api/products/${id}`)).status, 404);
    equal((await send(`DELETE /api/products/${id}`, { token: admin })).status, 404);
  });
  await check('answers 409 for a taken unique value', async () => {
    equal((await send('POST /api/categories', { token: user, json: { name: 'Kitchen' } })).status, 409);
  });
  await check('answers 409 for broken references', async () => {
    equal((await send('POST /api/products', { token: user, json: { ...product, categoryId: 99999 } })).status, 409);
    await create({ categoryId });
    const { status, text } = await send(`DELETE /api/categories/${categoryId}`, { token: admin });
    equal(status, 409);
    assert.doesNotMatch(text, /SQLITE|constraint/i);
  });
  await check('tells what exists', async () => {
    const { id } = await create();
    equal((await send(`GET /api/products/exists/${id}`)).body.data, { exists: true });
    equal((await send('GET /api/products/exists/99999')).body.data, { exists: false });
  });
  await check('keeps string ids, and marks deletions', async () => {
    const { body } = await send('POST /api/tags', { token: user, json: { label: 'new' } });
    assert.match(body.data.id, /^[0-9a-f-]{36}$/);
    equal((await send(`GET /api/tags/${body.data.id.toUpperCase()}`, { token: user })).body.data, body.data);
    equal((await send(`DELETE /api/tags/${body.data.id}`, { token: user })).status, 200);
    equal((await send(`GET /api/tags/${body.data.id}`, { token: user })).status, 404);
    equal((await send(`DELETE /api/tags/${body.data.id}`, { token: user })).status, 404);
  });

  // Bodies
  await check('answers 400 for what is no JSON object', async () => {
    for (const body of ['{', '[]', '"text"', 'null', '']) {
      const answer = await send('POST /api/categories', {
        token: user,
        body,
        headers: { 'content-type': 'application/json' },
      });
      equal([answer.status, answer.body.success], [400, false], body);
    }
  });
  await check('answers 415 for another media type', async () => {
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded']) {
      const answer = await send('POST /api/categories', {
        token: user,
        body: 'name=x',
        headers: { 'content-type': type },
      });
      equal([answer.status, answer.body.success], [415, false], type);
    }
  });
  const tooLarge = (/** @type {string} */ token = '') => {
    const authorization = token === '' ? [] : [`Authorization: Bearer ${token}`];
    const headers = [
      'Content-Type: application/json',
      'Content-Length: 2000000',
      `Origin: ${ORIGIN}`,
      ...authorization,
    ];
    return raw('POST /api/products', headers, 'x'.repeat(2_000_000));
  };
  await check('answers 413 for a body that is too large', async () => {
    const { status, text } = await tooLarge(user);
    equal(status, 413);
    assert.match(text, /"success":false/);
  });
  await check('refuses before it speaks of the body', async () => {
    const broken = { body: '{', headers: { 'content-type': 'application/json' } };
    equal((await send('POST /api/categories', broken)).body, {
      error: 'Authentication required',
    });
    equal((await tooLarge()).status, 401);
  });
  await check('does not pollute prototypes', async () => {
    const headers = { 'content-type': 'application/json' };
    const { status } = await send('POST /api/categories', {
      token: user,
      body: '{"__proto__": {"name": "x"}, "name": "y"}',
      headers,
    });
    equal(status, 400);
  });

  // Lists
  await check('lists in pages', async () => {
    for (const name of ['Bath', 'Garden']) await send('POST /api/categories', { token: user, json: { name } });
    const { body } = await send('GET /api/categories?page=2&size=2', { token: user });
    equal(
      body.data.map((/** @type {{ name: string }} */ { name }) => name),
      ['Garden'],
    );
    equal(body.metadata, { pagination: { page: 2, size: 2, total: 3, totalPages: 2 } });
  });
  await check('clamps large pages and refuses wrong ones', async () => {
    equal((await send('GET /api/categories?size=1000', { token: user })).body.metadata.pagination.size, 100);
    for (const query of ['page=0', 'page=x', 'size=1.5', 'size=-1', 'limit=5'])
      equal((await send(`GET /api/categories?${query}`, { token: user })).status, 400, query);
  });
  await check('cuts an unpaged list at its bound', async () => {
    for (const label of ['a', 'b', 'c']) await send('POST /api/tags', { token: user, json: { label } });
    const { body } = await send('GET /api/tags', { token: user });
    equal([body.data.length, body.metadata], [2, { truncated: true }]);
  });
  await check('searches, whatever the case', async () => {
    await create({ name: '100% wool', description: 'a_b' });
    await create({ name: '100 wool', description: 'axb' });
    const found = async (/** @type {string} */ query) =>
      (await send(`GET /api/products/search?${query}`)).body.data?.length;
    equal(await found('name=WOOL'), 2);
    equal(await found('name=0%25'), 1);
    equal(await found('q=A_B'), 1);
    equal(await found('name=wool&description=axb'), 1);
    equal(await found('q=nothing'), 0);
  });
  await check('refuses a search for nothing', async () => {
    for (const query of ['', 'name=', 'price=1'])
      equal((await send(`GET /api/products/search?${query}`)).status, 400, query);
  });
  await check('overrides an operation', async () => {
    const { id } = await create({ name: 'Sold out', stock: 0 });
    const listed = (await send('GET /api/products?size=100')).body.data;
    equal(
      listed.some((/** @type {{ id: number }} */ each) => each.id === id),
      false,
    );
    equal((await send(`GET /api/products/${id}`)).body.data.stock, 0);
  });
  await check('injects into a controller of a module', async () =>
    equal((await send('GET /api/tags/greeting', { token: user })).body, { text: 'Good day' }),
  );

  // CORS
  const preflight = { headers: { origin: ORIGIN, 'access-control-request-method': 'DELETE' } };
  await check('answers a preflight before guards', async () => {
    for (const path of ['/api/products', '/api/products/7', '/api/auth/login']) {
      const { status, text, headers } = await send(`OPTIONS ${path}`, preflight);
      equal([status, text], [204, ''], path);
      equal(headers.get('access-control-allow-origin'), ORIGIN);
      equal(headers.get('access-control-allow-methods'), 'GET, POST, PUT, DELETE, OPTIONS, PATCH');
    }
  });
  await check('knows no preflight of paths outside the group, or without a route', async () => {
    for (const path of ['/api/categories', '/api/products/7/x', '/api/auth/nope']) {
      const { status, headers } = await send(`OPTIONS ${path}`, preflight);
      equal([status, headers.get('access-control-allow-origin')], [404, null], path);
    }
  });
  await check('sends the headers with answers and errors', async () => {
    const headers = { origin: ORIGIN, 'content-type': 'application/json' };
    const answers = {
      200: send('GET /api/products', { headers }),
      401: send('POST /api/products', { headers, body: '{' }),
      404: send('GET /api/products/99999', { headers }),
      400: send('POST /api/products', { headers, token: user, body: '{' }),
    };
    for (const [expected, answer] of Object.entries(answers)) {
      const { status, headers: sent } = await answer;
      equal([String(status), sent.get('access-control-allow-origin')], [expected, ORIGIN]);
    }
    assert.match((await tooLarge(user)).text, new RegExp(`^access-control-allow-origin: ${ORIGIN}\\r?$`, 'im'));
  });
}

/** @param {string} url @param {Check} check */
async function furnishedShop(url, check) {
  const { send } = client(url);
  let user = '';
  await check('[furnished] registers by username below prefix and base path', async () => {
    const { status, body, text } = await send('POST /srv/id/register', {
      json: { username: 'ann', password: PASSWORD },
    });
    equal(status, 201, text);
    equal([body.data.user.username, body.data.user.email], ['ann', null]);
    user = body.data.token;
    equal((await send('GET /srv/id/me', { token: user })).status, 200);
    // By a token: the application binds middleware to this path, which is governed as a mount on Express.
    equal((await send('POST /srv/api/auth/login', { token: user, json: {} })).status, 404);
  });
  await check('[furnished] refreshes, lists and ends sessions', async () => {
    const credentials = { json: { username: 'ann', password: PASSWORD } };
    const { token, refreshToken, expiresIn } = (await send('POST /srv/id/login', credentials)).body.data;
    equal(expiresIn, 900);
    const refreshed = await send('POST /srv/id/refresh', { json: { refreshToken } });
    equal(refreshed.status, 200, refreshed.text);
    equal(refreshed.body.data.refreshToken === refreshToken, false);
    const { body } = await send('GET /srv/id/sessions', { token });
    equal(body.data.map((/** @type {{ current: boolean }} */ each) => each.current).toSorted(), [false, true]);
    equal((await send('POST /srv/id/logout', { token })).status, 204);
    equal((await send('GET /srv/id/me', { token })).status, 401);
    const spent = await send('POST /srv/id/refresh', { json: { refreshToken: refreshed.body.data.refreshToken } });
    equal([spent.status, spent.body], [401, { success: false, message: 'Invalid refresh token' }]);
    equal((await send('GET /srv/id/me', { token: user })).status, 200);
  });
  await check('[furnished] changes the password, and administers users for ADMIN only', async () => {
    const changed = `${PASSWORD} 2`;
    equal(
      (await send('POST /srv/id/password', { token: user, json: { current: PASSWORD, new: changed } })).status,
      204,
    );
    equal((await send('POST /srv/id/login', { json: { username: 'ann', password: PASSWORD } })).status, 401);
    equal((await send('POST /srv/id/login', { json: { username: 'ann', password: changed } })).status, 200);
    equal((await send('GET /srv/id/users', { token: user })).status, 403);
    equal((await send('PATCH /srv/id/me', { token: user, json: { firstName: 'Ann' } })).status, 200);
  });
  await check('[furnished] delays guesses', async () => {
    const json = { username: 'somebody', password: 'wrong password' };
    const statuses = [];
    for (let tries = 0; tries < 4; tries += 1) statuses.push((await send('POST /srv/id/login', { json })).status);
    equal(statuses, [401, 401, 401, 429]);
  });
  await check('[furnished] keeps its shapes under a foreign filter', async () => {
    equal((await send('POST /srv/id/login', { json: { username: 'ann', password: 'wrong password' } })).body, {
      success: false,
      message: 'Invalid credentials',
    });
    equal((await send('GET /srv/api/categories')).body, {
      error: 'Authentication required',
    });
    equal((await send('GET /srv/api/products/99999')).body.message, 'Product with id 99999 not found');
    const broken = { token: user, body: '{', headers: { 'content-type': 'application/json' } };
    equal((await send('POST /srv/api/categories', broken)).body.success, false);
  });
  await check('[furnished] leaves the own routes theirs', async () => {
    equal((await send('POST /srv/api/parcels', { token: user, json: { weight: 40 } })).body, { problem: 400 });
    equal((await send('POST /srv/api/parcels', { token: user, json: { weight: 4, size: 4 } })).status, 400);
    equal((await send('POST /srv/api/parcels', { token: user, json: { weight: 4 } })).body, { sent: 4 });
  });
  await check('[furnished] writes under a ValidationPipe and a serializer', async () => {
    const { status, body } = await send('POST /srv/api/products', {
      token: user,
      json: { name: 'Lamp', price: 1.5, stock: 1, supplier: 'x' },
    });
    equal([status, body.data.price, 'supplier' in body.data], [201, 1.5, false]);
    equal((await send('GET /srv/api/products?page=1&size=5')).body.data.length, 1);
    equal((await send('GET /srv/api/products/search?q=lamp')).body.data.length, 1);
  });
  await check('[furnished] applies rules to versioned routes', async () => {
    equal((await send('GET /srv/v2/reports')).status, 401);
    equal((await send('GET /srv/v2/reports', { token: user })).status, 403);
    equal((await send('GET /srv/reports', { token: user })).status, 404);
  });
  await check('[furnished] answers preflights', async () => {
    const { status, headers } = await send('OPTIONS /srv/api/products/7', {
      headers: { origin: ORIGIN, 'access-control-request-method': 'PUT' },
    });
    equal([status, headers.get('access-control-allow-origin')], [204, ORIGIN]);
  });
}

/** @param {(env?: Record<string, string>) => Promise<Running>} start @param {Check} check */
async function refusals(start, check) {
  /** @type {[mistake: string, sentence: RegExp][]} */
  const mistakes = [
    ['an unknown option', /CRUD options of Category must be an object with only the options .* got "pages"/],
    ['no entity', /[Dd]ecorate the class with @Entity\(\)/],
    ['an unknown field', /searchableFields.*colour/],
    ['one endpoint twice', /\/api\/categories/],
    ['a path of the package', /\/api\/auth/],
    ['a malformed pattern', /\/api\/:id/],
    ['a contradiction', /either public or restricted/],
    ['request scope', /a singleton provider/],
    ['cors(undefined)', /The argument of cors\(\)/],
    ['rules without AuthModule', /imports AuthModule/],
  ];
  for (const [mistake, sentence] of mistakes)
    await check(`refuses to start with ${mistake}`, () => refuses(start, { MISTAKE: mistake }, sentence));
  await check('refuses to start in production with a short secret, and does not print it', async () => {
    const printed = await refuses(start, { NODE_ENV: 'production', JWT_SECRET: 'sh0rt' }, /jwtSecret/);
    assert.doesNotMatch(printed, /sh0rt/);
  });
  await check('refuses to start in production without a secret', () =>
    refuses(start, { NODE_ENV: 'production', JWT_SECRET: '' }, /jwtSecret/),
  );
  await check('starts without mistakes', async () => (await start({ MISTAKE: 'none' })).stop());
}

/** @param {(env?: Record<string, string>) => Promise<Running>} start @param {Record<string, string>} env @param {RegExp} sentence */
async function refuses(start, env, sentence) {
  const outcome = await start(env).catch((error) => /** @type {Error} */ (error));
  if (!(outcome instanceof Error)) {
    await outcome.stop();
    throw new Error('it started');
  }
  const refusal = /^refused: .*/m.exec(outcome.message)?.[0];
  assert.match(refusal ?? `printed: ${outcome.message}`, sentence);
  return outcome.message;
}

/** @param {unknown} actual @param {unknown} expected @param {string} [about] */
function equal(actual, expected, about = '') {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  // Of a record, the order of the fields says nothing.
  try {
    assert.deepEqual(actual, expected);
  } catch {
    throw new Error(`expected ${wanted}, got ${got} ${about}`.trim());
  }
}

/** @param {object} claims */
function signed(claims, { secret = SECRET, alg = 'HS256', hash = 'sha256' } = {}) {
  const part = (/** @type {object} */ value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg, typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`;
}

/** @param {string} url */
function client(url) {
  /** @param {string} target such as `GET /api/products` @param {Parts} [parts] */
  const send = async (target, { token, json, body, headers = {} } = {}) => {
    const [method = '', path = ''] = target.split(' ');
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: (json === undefined ? body : JSON.stringify(json)) ?? null,
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : {},
    };
  };
  /**
   * A body follows after a moment: a server that has answered by then, as Fastify does, has closed the connection.
   *
   * @param {string} line method and target, sent as they are
   * @param {string[]} [headers]
   * @param {string} [body]
   */
  const raw = (line, headers = [], body = '') =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      let text = '';
      socket.setTimeout(20_000, () => socket.destroy());
      socket.on('data', (bytes) => (text += bytes.toString('latin1')));
      // A server that has answered may close the connection while the body is sent.
      socket.on('error', (error) => text === '' && reject(error));
      socket.on('close', () => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text }));
      socket.write([`${line} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '\r\n'].join('\r\n'));
      if (body !== '') setTimeout(() => socket.writable && socket.write(body), 300);
    });
  return { send, raw };
}
