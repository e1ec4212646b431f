import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { readConfig } from '../sample-app/config.js';
import { type Child, shell, startChild } from './child-process.js';
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

const database = (name: string): string => join(folder, `${name}.db`);

describe('the first start', () => {
  it('prints an administrator with a generated password and four requests that work as printed', async () => {
    // Without DATABASE, in data/shop.db.
    const running = await start({});
    const [printed, email = '', password = ''] = await running.child.says(
      /The shop is up at [\s\S]*\nAdministrator: (\S+)\nPassword: +(\S+) \(generated; it is not shown again\)\s+$/,
    );
    const lines = printed.split('\n').filter((line) => /\bcurl /.test(line));
    expect(lines).toHaveLength(4);
    const { stdout } = await shell(lines.join(`; printf '\\n'\n`), {
      cwd: folder,
      env: { PATH: pathWithCurl(folder) },
    });
    const [list = '', register = '', token = '', create = ''] = stdout.split('\n').filter((line) => line !== '');
    expect(JSON.parse(list).data).toHaveLength(12);
    expect(JSON.parse(register)).toMatchObject({ success: true, data: { user: { role: 'USER', active: true } } });
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(JSON.parse(create)).toMatchObject({ message: 'Product created', data: { id: 13, categoryId: 1 } });

    const overview = await running.ask('GET', '/api/admin/overview', { token: await running.login(email, password) });
    expect(overview.json).toEqual({ administrator: email, users: 2, products: 13, orders: 0 });
    const end = await running.end();
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout.split(password)).toHaveLength(2);

    const file = await new DataSource({
      type: 'better-sqlite3',
      database: join(folder, 'data', 'shop.db'),
      fileMustExist: true,
    }).initialize();
    expect(await file.query('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    await file.destroy();
  });

  it('never prints a password from the environment, and later starts create nothing', async () => {
    const env = { DATABASE: database('twice'), ...ADMIN };
    const first = await (await start(env)).end();
    const second = await start({ DATABASE: env.DATABASE });
    const token = await second.login('boss@shop.example', ADMIN.ADMIN_PASSWORD);
    const overview = await second.ask('GET', '/api/admin/overview', { token });
    expect(overview.json).toMatchObject({ users: 1, products: 12 });
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

describe('the running shop', () => {
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

  it.each<[method: string, path: string, anonymous: number, asCustomer: number]>([
    ['GET', '/api/products', 200, 200],
    ['GET', '/api/products/1', 200, 200],
    ['GET', '/api/products/search?q=TEA', 200, 200],
    ['GET', '/api/products/exists/1', 200, 200],
    ['GET', '/api/categories/1', 200, 200],
    ['PUT', '/api/products/1', 401, 400],
    ['POST', '/api/categories', 401, 400],
    ['GET', '/api/orders', 401, 200],
    ['DELETE', '/api/products/1', 401, 403],
    ['DELETE', '/api/orders/1', 401, 403],
    ['GET', '/api/admin/overview', 401, 403],
  ])(
    '[3.2] answers %s %s with %i without a token and with %i as a customer',
    async (method, path, anonymous, asCustomer) => {
      const json = method === 'GET' || method === 'DELETE' ? {} : { json: {} };
      expect((await running.ask(method, path, json)).status).toBe(anonymous);
      expect((await running.ask(method, path, { ...json, token: customer })).status).toBe(asCustomer);
    },
  );

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

  it('[4.7] returns the previous price in the message of the overridden update', async () => {
    const { data: product } = (await running.ask('GET', '/api/products/1')).json;
    const put = (json: object): Promise<Answer> => running.ask('PUT', '/api/products/1', { token: customer, json });
    expect((await put({ ...product, stock: 5 })).json.message).toBe('Product updated');
    expect((await put({ ...product, price: 36 })).json).toMatchObject({
      message: 'Product updated, price changed from 34.5 to 36',
      data: { price: 36 },
    });
    expect((await put({ ...product, price: -1 })).status).toBe(400);
  });

  it.each(['/api/products/1', '/api/categories', '/api/orders/1', '/api/auth/login'])(
    '[5] answers the preflight of the configured shop front for %s',
    async (path) => {
      const headers = { Origin: 'https://front.example', 'Access-Control-Request-Method': 'POST' };
      const answer = await running.ask('OPTIONS', path, { headers });
      expect([answer.status, answer.headers['access-control-allow-origin'], answer.text]).toEqual([
        204,
        'https://front.example',
        '',
      ]);
    },
  );

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

describe('the configuration', () => {
  const production = { NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(32), SHOP_ORIGIN: 'https://shop.example' };

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
    [{ ADMIN_EMAIL: 'boss' }, /^ADMIN_EMAIL must be an e-mail address, got "boss"\. /],
    [{ ADMIN_PASSWORD: 'canary' }, /^ADMIN_PASSWORD must be a text of .+, got a text of 6 bytes\. /],
    [{ ADMIN_PASSWORD: 'ä'.repeat(37) }, /^ADMIN_PASSWORD must be .+, got a text of 74 bytes\. /],
  ])('refuses %j in one sentence that shows no secret', (env, sentence) => {
    expect(() => readConfig(env)).toThrow(sentence);
    expect(() => readConfig(env)).not.toThrow(/canary|ä/);
  });

  it('has a default for every variable outside of production', () => {
    expect(readConfig({})).toEqual({
      port: 3000,
      database: 'data/shop.db',
      jwtSecret: undefined,
      shopOrigin: 'http://localhost:5173',
      adminEmail: 'admin@shop.example',
      adminPassword: undefined,
    });
    expect(readConfig(production)).toMatchObject({ jwtSecret: 'x'.repeat(32), shopOrigin: 'https://shop.example' });
  });
});

describe('a failed start prints one sentence on stderr and ends with exit code 1', () => {
  const sentenceOf = async (env: Environment): Promise<string> => {
    const { code, stdout, stderr } = await launch(env).ended;
    expect(code).toBe(1);
    expect(stdout).not.toContain('The shop is up');
    return stderr;
  };

  it('for an invalid variable', async () => {
    expect(await sentenceOf({ PORT: 'http' })).toMatch(/^PORT must be [^\n]+\.\n$/);
  });

  it('for an ADMIN_EMAIL that only declarest refuses', async () => {
    expect(await sentenceOf({ DATABASE: database('dots'), ADMIN_EMAIL: 'boss@shop..example' })).toMatch(
      /^ADMIN_EMAIL: cannot create the administrator boss@shop\.\.example: email[^\n]+\n$/,
    );
  });

  it('for a PORT in use', async () => {
    const other = createServer().listen(0);
    const { port } = other.address() as { port: number };
    expect(await sentenceOf({ DATABASE: database('never'), PORT: String(port) })).toBe(
      `PORT: cannot listen on ${port}: another program is using it. Set PORT to another one.\n`,
    );
    other.close();
  });

  it('for a DATABASE that is not a database', async () => {
    const path = database('notes');
    await writeFile(path, 'This is a text file. '.repeat(100));
    const stderr = await sentenceOf({ DATABASE: path });
    expect(stderr).toMatch(/^DATABASE: cannot write to "[^\n]+": [^\n]+\.\n$/);
    expect(stderr).toContain(JSON.stringify(path));
  });
});
