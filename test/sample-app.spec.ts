import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { DataSource } from 'typeorm';
import { readConfig } from '../sample-app/config.js';
import { type Child, shell, startChild } from './child-process.js';
import { type Compiled, compile } from './compiled.js';
import { pathWithCurl } from './curl.js';
import { type Answer, request, type RequestOptions } from './harness/client.js';
import { createDatabase, DATABASES } from './harness/databases.js';

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

  beforeAll(async () => {
    running = await start({ DATABASE: database('rules'), SHOP_ORIGIN: 'https://front.example', ...ADMIN });
  });

  it('prints the link that an administrator mails to a user, which leads to the front end', async () => {
    const token = await running.login('boss@shop.example', ADMIN.ADMIN_PASSWORD);
    const ann = { email: 'ann@shop.example', password: 'correct horse battery' };
    const { user } = (await running.ask('POST', '/api/auth/register', { json: ann })).json.data;
    expect((await running.ask('POST', `/api/auth/users/${user.id}/reset`, { token })).status).toBe(202);
    await running.child.says(/https:\/\/front\.example\/reset#token=\S+/);
  });

  it('sends the security headers of Nest, and does not say what it is made with', async () => {
    const { headers } = await running.ask('GET', '/api/products');
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect(headers).not.toHaveProperty('x-powered-by');
    // Its pages work over plain HTTP too.
    expect(headers['content-security-policy']).toContain("script-src 'self'");
    expect(headers['content-security-policy']).not.toContain('upgrade-insecure-requests');
  });

  it('never prints a password from the environment, and later starts create nothing', async () => {
    const first = await running.end();
    const second = await start({ DATABASE: database('rules') });
    const token = await second.login('boss@shop.example', ADMIN.ADMIN_PASSWORD);
    const overview = await second.ask('GET', '/api/admin/overview', { token });
    expect(overview.json).toMatchObject({ users: 2, products: 12 });
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
    [{ ...production, JWT_SECRET: '' }, /^JWT_SECRET must be .+ in production, got nothing\. /],
    [{ ...production, SHOP_ORIGIN: '' }, /^SHOP_ORIGIN must be an origin in production, got nothing\. /],
    [{ ...production, MAIL_URL: '' }, /^MAIL_URL must be an HTTP URL in production, got nothing\. /],
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

  it('names all variables that production lacks at once, each with what it must be', () => {
    expect(() => readConfig({ NODE_ENV: 'production', JWT_SECRET: '' })).toThrow(
      /^JWT_SECRET must be .+\nSHOP_ORIGIN must be an origin .+\nMAIL_URL must be an HTTP URL .+$/,
    );
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
