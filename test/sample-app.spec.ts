import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { type Child, type Ended, shell, startChild } from './child-process.js';
import { type Compiled, compile } from './compiled.js';
import { pathWithCurl } from './curl.js';
import { type Answer, request, type RequestOptions } from './harness/client.js';

type Environment = Readonly<Record<string, string>>;

const ADMIN = { ADMIN_EMAIL: 'Boss@shop.example', ADMIN_PASSWORD: 'the boss of the shop' };

let shop: Compiled;
let folder: string;

beforeAll(async () => {
  shop = await compile(['sample-app/main.ts']);
  folder = await mkdtemp(join(tmpdir(), 'declarest-sample-'));
}, 60_000);

afterAll(async () => {
  await shop.remove();
  await rm(folder, { recursive: true, force: true });
});

/** The built shop as a process, in the folder of this file and on any free port, with nothing else in its environment. */
const launch = (env: Environment = {}): Child =>
  startChild(process.execPath, [join(shop.directory, 'sample-app', 'main.js')], {
    cwd: folder,
    env: { PORT: '0', ...env },
  });

interface Shop {
  readonly child: Child;
  readonly url: string;
  readonly stdout: () => Promise<string>;
  ask(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  login(email: string, password: string): Promise<string>;
  /** Ends it by the signal, and tells how it ended. */
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
    stdout: async () => (await end()).stdout,
    ask,
    end,
    login: async (email, password) =>
      (await ask('POST', '/api/auth/login', { json: { email, password } })).json.data.token as string,
  };
}

const database = (name: string): string => join(folder, `${name}.db`);

describe('the first start', () => {
  it('prints the address and four curl lines that work as printed, one after the other', async () => {
    const running = await start({ DATABASE: database('curl') });
    const { stdout } = await (async () => {
      const [printed] = await running.child.says(/The shop is up at [\s\S]*/);
      const lines = printed.split('\n').filter((line) => /\bcurl /.test(line));
      expect(lines).toHaveLength(4);
      return shell(lines.join(`; printf '\\n'\n`), { cwd: folder, env: { PATH: pathWithCurl(folder) } });
    })();
    const [list = '', register = '', token = '', create = ''] = stdout.split('\n').filter((line) => line !== '');
    expect(JSON.parse(list).data).toHaveLength(12);
    expect(JSON.parse(register)).toMatchObject({ success: true, data: { user: { role: 'USER', active: true } } });
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(JSON.parse(create)).toMatchObject({
      success: true,
      message: 'Product created',
      data: { id: 13, categoryId: 1 },
    });
    expect((await running.end()).stderr).toBe('');
  });

  it('makes an administrator whose generated password is printed once, and works', async () => {
    const running = await start({ DATABASE: database('generated') });
    const [, email = '', password = ''] = await running.child.says(/administrator is (\S+) with the password (\S+)/);
    const token = await running.login(email, password);
    expect((await running.ask('GET', '/api/admin/overview', { token })).json).toEqual({
      administrator: email,
      users: 1,
      products: 12,
      orders: 0,
    });
    expect((await running.stdout()).split(password)).toHaveLength(2);
  });

  it('takes the administrator from the environment, and prints no password then', async () => {
    const running = await start({ DATABASE: database('given'), ...ADMIN });
    expect(await running.login('boss@shop.example', ADMIN.ADMIN_PASSWORD)).toEqual(expect.any(String));
    const { stdout, stderr } = await running.end();
    expect(stdout + stderr).not.toContain(ADMIN.ADMIN_PASSWORD);
  });

  it('creates the folder of the database, data/shop.db unless told otherwise, and keeps it in WAL mode', async () => {
    const running = await start({});
    await running.end();
    const file = await new DataSource({
      type: 'better-sqlite3',
      database: join(folder, 'data', 'shop.db'),
      fileMustExist: true,
    }).initialize();
    expect(await file.query('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(await file.query('SELECT count(*) AS products FROM products')).toEqual([{ products: 12 }]);
    await file.destroy();
  });
});

it('a second start prints no password and adds neither products nor users', async () => {
  const env = { DATABASE: database('twice'), ...ADMIN };
  await (await start(env)).end();
  const second = await start({ DATABASE: env.DATABASE });
  const token = await second.login('boss@shop.example', ADMIN.ADMIN_PASSWORD);
  expect((await second.ask('GET', '/api/admin/overview', { token })).json).toMatchObject({ users: 1, products: 12 });
  expect(await second.stdout()).not.toMatch(/password \S+ \(generated|The administrator is/);
});

describe('the shop that is up', () => {
  let running: Shop;
  let admin: string;
  let customer: string;

  beforeAll(async () => {
    running = await start({ DATABASE: database('rules'), SHOP_ORIGIN: 'https://front.example', ...ADMIN });
    admin = await running.login('boss@shop.example', ADMIN.ADMIN_PASSWORD);
    const registered = await running.ask('POST', '/api/auth/register', {
      json: { email: 'ann@shop.example', password: 'correct horse battery' },
    });
    customer = registered.json.data.token as string;
  });
  afterAll(() => running.end());

  it.each([
    '/api/products',
    '/api/products/1',
    '/api/products/search?q=TEA',
    '/api/products/exists/1',
    '/api/categories',
    '/api/categories/1',
  ])('[3.2] lets everybody read the catalogue: GET %s', async (path) => {
    expect((await running.ask('GET', path)).status).toBe(200);
  });

  it.each([
    ['POST', '/api/products'],
    ['PUT', '/api/products/1'],
    ['DELETE', '/api/products/1'],
    ['POST', '/api/categories'],
    ['GET', '/api/orders'],
    ['POST', '/api/orders'],
    ['GET', '/api/admin/overview'],
    ['GET', '/api/auth/me'],
  ])('[3.2] asks a stranger to log in: %s %s', async (method, path) => {
    const answer = await running.ask(method, path);
    expect([answer.status, answer.json]).toEqual([401, { error: 'Authentication required' }]);
  });

  it.each([
    ['DELETE', '/api/products/1'],
    ['DELETE', '/api/categories/1'],
    ['DELETE', '/api/orders/1'],
    ['GET', '/api/admin/overview'],
  ])("[3.2] keeps a customer from what is the administrator's: %s %s", async (method, path) => {
    const answer = await running.ask(method, path, { token: customer });
    expect([answer.status, answer.json]).toEqual([403, { error: 'Admin access required' }]);
  });

  it('[4.1] lets an administrator delete, and answers 409 while an order refers to the product', async () => {
    const order = await running.ask('POST', '/api/orders', { token: customer, json: { productId: 3, quantity: 2 } });
    expect(order.status).toBe(201);
    expect(order.json.data).toEqual({ id: 1, productId: 3, quantity: 2, placedAt: expect.any(String) });
    expect((await running.ask('DELETE', '/api/products/3', { token: admin })).status).toBe(409);
    expect((await running.ask('DELETE', '/api/orders/1', { token: admin })).status).toBe(200);
    expect((await running.ask('DELETE', '/api/products/3', { token: admin })).json).toMatchObject({
      success: true,
      data: null,
    });
    expect((await running.ask('GET', '/api/products/3')).status).toBe(404);
  });

  it('[4.7] says in the overridden update what a price was before it changed', async () => {
    const { data: product } = (await running.ask('GET', '/api/products/1')).json;
    const put = (json: object): Promise<Answer> => running.ask('PUT', '/api/products/1', { token: customer, json });
    expect((await put({ ...product, stock: 5 })).json.message).toBe('Product updated');
    expect((await put({ ...product, price: 36 })).json).toMatchObject({
      message: 'Product updated, price changed from 34.5 to 36',
      data: { price: 36 },
    });
    expect((await put({ ...product, price: -1 })).status).toBe(400);
  });

  it.each([
    '/api/products',
    '/api/products/1',
    '/api/products/search',
    '/api/categories',
    '/api/categories/1',
    '/api/orders',
    '/api/orders/1',
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
});

describe('the end', () => {
  it.each<NodeJS.Signals>(['SIGINT', 'SIGTERM'])(
    'comes clean with %s: exit code 0, and nothing on stderr',
    async (signal) => {
      const running = await start({ DATABASE: database(signal) });
      expect(await running.end(signal)).toMatchObject({ code: 0, signal: null, stderr: '' });
    },
  );

  it('does not wait for a browser that keeps its connection open', async () => {
    const running = await start({ DATABASE: database('keep-alive') });
    const kept = await fetch(`${running.url}/api/products`);
    await kept.text();
    expect(await running.end()).toMatchObject({ code: 0 });
  });
});

describe('a start in vain is one sentence on stderr and exit code 1', () => {
  const production = { NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(32), SHOP_ORIGIN: 'https://shop.example' };

  const rows: readonly [title: string, env: Environment, sentence: RegExp][] = [
    ['a PORT that is a word', { PORT: 'http' }, /^PORT: expected a whole number from 0 to 65535 .*, got "http"\.\n$/],
    ['a PORT out of range', { PORT: '65536' }, /^PORT: expected .*, got "65536"\.\n$/],
    ['a negative PORT', { PORT: '-1' }, /^PORT: expected .*, got "-1"\.\n$/],
    [
      'a SHOP_ORIGIN with a slash',
      { SHOP_ORIGIN: 'https://shop.example/' },
      /^SHOP_ORIGIN: expected an origin such as .*, got "https:\/\/shop\.example\/"\.\n$/,
    ],
    ['a SHOP_ORIGIN that is every origin', { SHOP_ORIGIN: '*' }, /^SHOP_ORIGIN: expected an origin .*, got "\*"\.\n$/],
    [
      'a JWT_SECRET that is short',
      { JWT_SECRET: 'canary-secret' },
      /^JWT_SECRET: expected at least 32 bytes, .*, got one of 13 bytes\.\n$/,
    ],
    [
      'a JWT_SECRET that is short in production',
      { ...production, JWT_SECRET: 'canary-secret' },
      /^JWT_SECRET: expected at least 32 bytes, .*, got one of 13 bytes\.\n$/,
    ],
    [
      'no JWT_SECRET in production',
      { ...production, JWT_SECRET: '' },
      /^JWT_SECRET is not set: with NODE_ENV=production it must be at least 32 bytes.*\.\n$/,
    ],
    [
      'no SHOP_ORIGIN in production',
      { ...production, SHOP_ORIGIN: '' },
      /^SHOP_ORIGIN is not set: with NODE_ENV=production .*\.\n$/,
    ],
    [
      'an ADMIN_EMAIL that is none',
      { ADMIN_EMAIL: 'boss' },
      /^ADMIN_EMAIL: expected an e-mail address, got "boss"\.\n$/,
    ],
    [
      'an ADMIN_PASSWORD that is short',
      { ADMIN_PASSWORD: 'canary' },
      /^ADMIN_PASSWORD: expected 8 characters to 72 bytes, got one of 6 bytes\.\n$/,
    ],
    [
      'an ADMIN_PASSWORD that bcrypt would cut',
      { ADMIN_PASSWORD: 'ä'.repeat(37) },
      /^ADMIN_PASSWORD: expected .*, got one of 74 bytes\.\n$/,
    ],
  ];

  let ends: readonly Promise<Ended>[];
  beforeAll(() => {
    // At once, since each takes its time to load.
    ends = rows.map(([, env]) => launch({ DATABASE: database('never'), ...env }).ended);
  });

  it.each(rows.map(([title, , sentence], index) => [title, index, sentence] as const))(
    'for %s',
    async (_title, index, sentence) => {
      const { code, stdout, stderr } = (await ends[index])!;
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(sentence);
      expect(stderr).not.toContain('canary');
    },
  );

  it('for an ADMIN_EMAIL that only the package finds to be none', async () => {
    const { code, stderr } = await launch({ DATABASE: database('dots'), ADMIN_EMAIL: 'boss@shop..example' }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^ADMIN_EMAIL: cannot create the administrator boss@shop\.\.example: email: expected [^\n]+\.\n$/,
    );
  });

  it('for a PORT in use', async () => {
    const other = createServer().listen(0);
    const { port } = other.address() as { port: number };
    const { code, stderr } = await launch({ DATABASE: database('never'), PORT: String(port) }).ended;
    other.close();
    expect([code, stderr]).toEqual([
      1,
      `PORT: cannot listen on ${port}: another program is using it; set PORT to another one.\n`,
    ]);
  });

  it.each<[title: string, prepare: () => Promise<string>]>([
    ['is a folder', async () => folder],
    [
      'lies below a file',
      async () => {
        await writeFile(join(folder, 'file'), 'text');
        return join(folder, 'file', 'shop.db');
      },
    ],
    [
      'is a file of another kind',
      async () => {
        await writeFile(database('notes'), 'These are notes, and no database. '.repeat(100));
        return database('notes');
      },
    ],
    // The administrator of the machine may write everywhere.
    ...(process.getuid?.() === 0
      ? []
      : [
          [
            'lies in a folder that is read-only',
            async () => {
              await mkdir(join(folder, 'closed'));
              await chmod(join(folder, 'closed'), 0o500);
              return join(folder, 'closed', 'shop.db');
            },
          ] as const satisfies [string, () => Promise<string>],
        ]),
  ])('for a DATABASE that %s', async (_title, prepare) => {
    const path = await prepare();
    const { code, stdout, stderr } = await launch({ DATABASE: path }).ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^DATABASE: cannot write to "[^\n]+": [^\n]+\.\n$/);
    expect(stderr).toContain(JSON.stringify(path));
  });
});
