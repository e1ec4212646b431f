// What declarest promises in every company: three callers over generated endpoints, accounts, rules, ETags, owners and
// hidden fields, and hand-written routes beside them.
import assert from 'node:assert/strict';

const PASSWORD = 'correct horse battery';
const equal = assert.deepEqual;

/**
 * @param url of the application
 * @param callers the headers of `ann`, `bob` and `boss`; if absent, they log in to accounts of declarest
 * @param works a check that the neighbour takes part
 * @returns a promise of `{ title, error? }` for each check
 */
export async function runChecks(url, callers, works) {
  const results = [];
  const check = async (title, test) => {
    try {
      await test();
      results.push({ title });
    } catch (error) {
      results.push({ title, error: error.message.split('\n').slice(0, 12).join(' ') });
    }
  };
  /** `send('GET /api/products', { as: 'ann', json })` */
  const send = async (line, { as, json, body, headers } = {}) => {
    const [method, path] = line.split(' ');
    const response = await fetch(url + path, {
      method,
      headers: {
        ...((json ?? body) !== undefined && { 'content-type': 'application/json' }),
        ...(as && callers[as]),
        ...headers,
      },
      body: json === undefined ? body : JSON.stringify(json),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    let parsed;
    try {
      parsed = JSON.parse(text);
    } catch {}
    return { status: response.status, headers: response.headers, text, json: parsed };
  };
  const statusOf = async (line, options) => (await send(line, options)).status;
  const statuses = (line, json) => Promise.all([undefined, 'ann', 'boss'].map((as) => statusOf(line, { as, json })));
  const products = '/api/products';
  const hasAccounts = callers === undefined;

  if (hasAccounts) {
    callers = {};
    const login = (user, password) =>
      send('POST /api/auth/login', { json: { email: `${user}@shop.example`, password } });
    await check('logs in', async () => {
      for (const user of ['ann', 'bob', 'boss']) {
        const { status, json } = await login(user, PASSWORD);
        equal(status, 200);
        callers[user] = { authorization: `Bearer ${json.data.token}` };
      }
    });
    await check('refuses a wrong password with 401', async () => equal((await login('ann', 'wrong')).status, 401));
    await check('registers a user, and refuses a weak password in the envelope', async () => {
      const register = (password) => send('POST /api/auth/register', { json: { email: 'eve@shop.example', password } });
      const { status, json } = await register('short');
      equal([status, json.success], [400, false]);
      equal((await register(PASSWORD)).status, 201);
    });
    await check('shows each user their own profile at me, and no password', async () => {
      for (const user of ['ann', 'bob', 'ann']) {
        const { json, text } = await send('GET /api/auth/me', { as: user });
        equal(json.data.user.email, `${user}@shop.example`);
        assert.doesNotMatch(text, /password/i);
      }
      equal(await statusOf('GET /api/auth/me'), 401);
    });
  }
  await check('ignores a caller without a valid token', async () => {
    const headers = { authorization: 'Bearer abc.def.ghi' };
    equal(await statusOf('GET /api/notes', { headers }), 401);
  });
  await check('refuses anonymous writes with 401', async () =>
    equal(await statusOf(`POST ${products}`, { json: { name: 'Jug' } }), 401),
  );
  let tag;
  let path;
  await check('creates a record: 201, Location, ETag, envelope', async () => {
    const { status, headers, json } = await send(`POST ${products}`, { as: 'ann', json: { name: 'Jug', stock: 2 } });
    equal([status, json.success, json.data.name, json.data.stock], [201, true, 'Jug', 2]);
    path = new URL(headers.get('location'), url).pathname;
    equal(path, `${products}/${json.data.id}`);
    tag = headers.get('etag');
    assert.match(tag, /^"/);
  });
  await check('opens public routes to everybody', async () => {
    equal(await statuses(`GET ${products}`), [200, 200, 200]);
    equal(await statuses(`GET ${path}`), [200, 200, 200]);
  });
  await check('pages a list', async () => {
    const { json } = await send(`GET ${products}?size=1`);
    equal([json.data.length, json.metadata.pagination.total], [1, 1]);
  });
  await check('filters and searches', async () => {
    equal((await send(`GET ${products}?filter[stock][gt]=1`)).json.data.length, 1);
    equal((await send(`GET ${products}?filter[stock][gt]=2`)).json.data.length, 0);
    equal((await send(`GET ${products}/search?name=ju`)).json.data.length, 1);
  });
  await check('answers 304 to a matching If-None-Match', async () => {
    const headers = { 'if-none-match': tag, 'cache-control': 'no-cache' };
    equal(await statusOf(`GET ${path}`, { headers }), 304);
  });
  await check('refuses a stale If-Match with 412, and takes the right one', async () => {
    const patch = (stock, match) =>
      send(`PATCH ${path}`, { as: 'ann', json: { stock }, headers: { 'if-match': match } });
    equal((await patch(8, '"99"')).status, 412);
    const { status, headers } = await patch(3, tag);
    equal(status, 200);
    assert.notEqual(headers.get('etag'), tag);
    equal((await patch(9, tag)).status, 412);
  });
  await check('shows the record as last written', async () => {
    equal((await send(`GET ${path}`)).json.data.stock, 3);
    equal(await statusOf(`PUT ${path}`, { as: 'ann', json: { name: 'Can', stock: 4 } }), 200);
    const { headers, json } = await send(`GET ${path}`);
    equal([json.data.name, json.data.stock, headers.get('etag')], ['Can', 4, `"${json.data.version}"`]);
  });
  await check('hides a field by role, whoever asks first', async () => {
    for (const target of [path, products]) {
      const seen = [];
      for (const as of ['boss', undefined, 'ann', 'boss'])
        seen.push([(await send(`GET ${target}`, { as })).json.data].flat()[0].cost);
      equal(seen, [7, undefined, undefined, 7]);
    }
  });
  await check('refuses a filter by a hidden field', async () =>
    equal(await statusOf(`GET ${products}?filter[cost]=7`), 400),
  );
  await check('names wrong fields in the envelope', async () => {
    const { status, json } = await send(`POST ${products}`, { as: 'ann', json: { name: '', colour: 'red' } });
    equal([status, json.success], [400, false]);
    equal([...new Set(json.errors.map(({ field }) => field))].toSorted(), ['colour', 'name']);
  });
  await check('refuses a body that is not JSON in the envelope', async () => {
    const { status, json } = await send(`POST ${products}`, { as: 'ann', body: '{' });
    equal([status, json.success, typeof json.message], [400, false, 'string']);
  });
  await check('refuses a taken name with 409', async () =>
    equal(await statusOf(`POST ${products}`, { as: 'ann', json: { name: 'Can' } }), 409),
  );
  await check('answers 404 for an unknown record in the envelope', async () => {
    const { status, json } = await send(`GET ${products}/999`);
    equal([status, json.success], [404, false]);
  });
  await check('writes a batch completely or not at all', async () => {
    const batch = (...names) =>
      send(`POST ${products}/batch`, { as: 'ann', json: { items: names.map((name) => ({ name })) } });
    equal((await batch('Pan', 'Can')).status, 409);
    equal((await send(`GET ${products}?filter[name]=Pan`)).json.data.length, 0);
    equal((await batch('Pan', 'Pot')).status, 201);
  });
  await check('writes once for an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'cup-1' };
    const post = () => send(`POST ${products}`, { as: 'ann', json: { name: 'Cup' }, headers });
    const [first, second] = [await post(), await post()];
    equal([first.status, second.status, second.json.data.id], [201, 201, first.json.data.id]);
    equal(second.headers.get('idempotency-replayed'), 'true');
  });
  await check('exports lines', async () => {
    const { status, headers, text } = await send(`GET ${products}/export?format=ndjson`);
    equal([status, headers.get('content-type').split(';')[0]], [200, 'application/x-ndjson']);
    equal(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).name),
      ['Can', 'Pan', 'Pot', 'Cup'],
    );
  });
  await check('deletes for ADMIN only, hides the record and restores it', async () => {
    equal(await statuses(`DELETE ${path}`), [401, 403, 200]);
    equal(await statusOf(`GET ${path}`), 404);
    equal(await statusOf(`POST ${path}/restore`, { as: 'ann' }), 200);
    equal(await statusOf(`GET ${path}`), 200);
  });

  let note;
  await check('gives a record to its owner', async () => {
    const { status, json } = await send('POST /api/notes', { as: 'ann', json: { text: 'mine' } });
    equal(status, 201);
    note = `/api/notes/${json.data.id}`;
    const owner = json.data.ownerId;
    equal((await send('POST /api/notes', { as: 'ann', json: { text: 'more' } })).json.data.ownerId, owner);
    assert.notEqual((await send('POST /api/notes', { as: 'bob', json: { text: 'his' } })).json.data.ownerId, owner);
  });
  await check('shows owned records to the owner and ADMIN', async () => {
    const texts = async (as) => (await send('GET /api/notes', { as })).json.data.map(({ text }) => text);
    equal(await texts('ann'), ['mine', 'more']);
    equal(await texts('bob'), ['his']);
    equal(await texts('boss'), ['mine', 'more', 'his']);
    equal(await statusOf('GET /api/notes'), 401);
  });
  await check('hides a record from others: 404', async () => {
    equal(await statusOf(`GET ${note}`, { as: 'ann' }), 200);
    equal(await statusOf(`GET ${note}`, { as: 'bob' }), 404);
    equal(await statusOf(`PATCH ${note}`, { as: 'bob', json: { text: 'taken' } }), 404);
    equal(await statusOf(`DELETE ${note}`, { as: 'bob' }), 404);
  });
  await check('lets ADMIN change a record of somebody else', async () => {
    equal(await statusOf(`PATCH ${note}`, { as: 'boss', json: { text: 'checked' } }), 200);
    equal((await send(`GET ${note}`, { as: 'ann' })).json.data.text, 'checked');
  });
  await check('does not mix parallel callers', async () => {
    const lists = await Promise.all(
      Array.from({ length: 30 }, (_, index) => send('GET /api/notes', { as: index % 2 ? 'ann' : 'bob' })),
    );
    equal(
      lists.map(({ json }) => json.data.length),
      lists.map((_, index) => (index % 2 ? 2 : 1)),
    );
  });
  await check('applies rules to hand-written routes', async () => {
    equal(await statuses('GET /admin/report'), [401, 403, 200]);
    equal(await statuses('POST /api/parcels', { weight: 2 }), [401, 201, 201]);
    for (const path of ['/admin/report/', '/admin//report', '/ADMIN/report'])
      assert.ok((await statusOf(`GET ${path}`)) >= 401, `${path} is open`);
  });
  await check('gives hand-written routes the caller', async () => {
    equal((await send('GET /api/whoami', { as: 'ann' })).json.roles, ['USER']);
    equal((await send('GET /api/whoami', { as: 'boss' })).json.roles, ['ADMIN']);
  });
  await check('runs generated operations of a hand-written route as its caller', async () => {
    equal((await send('GET /api/my-notes', { as: 'bob' })).json.data.length, 1);
    equal((await send('GET /api/my-notes', { as: 'boss' })).json.data.length, 3);
  });
  if (works) await check('the neighbour takes part', () => works({ send, statuses, equal, assert, url }));
  return results;
}
