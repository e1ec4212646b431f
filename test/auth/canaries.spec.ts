/** Runs a session of valid, invalid and failing requests, and searches everything visible for secrets. */
import { inspect } from 'node:util';
import { ValidationPipe } from '@nestjs/common';
import { UserAccounts } from 'declarest';
import { DataSource } from 'typeorm';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { type Platform, PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { type Shop, startShop } from '../harness/shop.js';
import { claims, makeToken } from '../harness/tokens.js';

const SECRET = 'canary-secret-of-more-than-32-bytes-0123456789';
const PASSWORDS = {
  ann: 'canary-password-of-ann',
  bob: 'canary-password-of-bob',
  wrong: 'canary-password-that-is-wrong',
  next: 'canary-password-to-come',
  long: `canary-password-${'x'.repeat(80)}`,
  short: 'canaryP',
};
const HEADERS = { 'content-type': 'application/json' };

class Session {
  readonly answers: { what: string; answer: Answer; containsToken: boolean }[] = [];
  readonly thrown: unknown[] = [];
  readonly printed: string[] = [];
  readonly tokens: string[] = [];
  hashes: string[] = [];

  constructor(readonly shop: Shop) {}

  async send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const answer = await request(this.shop.url, method, path, options);
    const containsToken = method === 'POST' && /\/(register|login)$/.test(path) && answer.status < 300;
    if (containsToken) this.tokens.push(answer.json.data.token);
    this.answers.push({ what: `${method} ${path}`, answer, containsToken });
    return answer;
  }

  async catch(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => this.thrown.push(error));
  }

  /** Responses, except the token for the client that logged in, log lines, output and errors. */
  texts(): string[] {
    return [
      ...this.answers.map(({ what, answer: { headers, text, json }, containsToken }) => {
        const body = containsToken ? JSON.stringify({ ...json, data: { ...json.data, token: '' } }) : text;
        return `${what}: ${JSON.stringify(headers)} ${body}`;
      }),
      ...this.shop.logs,
      ...this.printed,
      ...this.thrown.map((error) => inspect(error, { depth: 8, showHidden: true })),
    ];
  }
}

const configure = (app: Shop['app']) =>
  void app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));

async function runSession(platform: Platform): Promise<Session> {
  const printed: string[] = [];
  const spies = [
    ...(['log', 'error', 'warn', 'info', 'debug', 'trace'] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation((...parts: unknown[]) => void printed.push(parts.join(' '))),
    ),
    ...[process.stdout, process.stderr].map((stream) =>
      vi.spyOn(stream, 'write').mockImplementation((chunk) => printed.push(String(chunk)) > 0),
    ),
  ];
  try {
    const session = new Session(await startShop(platform, { configure, auth: { jwtSecret: SECRET } }));
    await act(session);
    session.printed.push(...printed);
    return session;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

async function act(session: Session): Promise<void> {
  const { shop } = session;
  const accounts = shop.app.get(UserAccounts, { strict: false });
  const post = (path: string, json: unknown) => session.send('POST', `/api/auth/${path}`, { json });
  const ann = { email: 'ann@example.com', username: 'ann', password: PASSWORDS.ann };

  // Requests that succeed.
  const { user, token } = (await post('register', ann)).json.data;
  await post('login', ann);
  await session.send('GET', '/api/auth/me', { token });
  await accounts.create({ email: 'bob@example.com', password: PASSWORDS.bob, role: 'ADMIN' });
  const bob = (await post('login', { email: 'bob@example.com', password: PASSWORDS.bob })).json.data;
  await session.send('GET', '/api/admin/stats', { token: bob.token });

  // Requests that are refused.
  for (const password of [PASSWORDS.wrong, PASSWORDS.long, PASSWORDS.short, [PASSWORDS.wrong]])
    await post('login', { email: ann.email, password });
  for (const changed of [
    {},
    { email: 'new@example.com' },
    { password: PASSWORDS.short },
    { password: PASSWORDS.long },
    { password: [PASSWORDS.ann] },
    { role: 'ADMIN', email: 'new@example.com' },
    { email: { password: PASSWORDS.wrong } },
  ])
    await post('register', { ...ann, ...changed });

  // Bodies that cannot be read.
  for (const path of ['/api/auth/register', '/api/auth/login', '/api/auth/me']) {
    for (const body of [`{"password":"${PASSWORDS.ann}"`, PASSWORDS.ann, `["${PASSWORDS.ann}"]`])
      await session.send('POST', path, { body, headers: HEADERS });
    await session.send('POST', path, { body: `password=${PASSWORDS.ann}`, headers: { 'content-type': 'text/plain' } });
    const large = JSON.stringify({ password: PASSWORDS.ann, filler: 'x'.repeat(2_000_000) });
    await session.send('POST', path, { body: large, headers: HEADERS });
  }

  // Tokens that are refused.
  for (const bad of [`${token}x`, makeToken({ secret: SECRET, payload: claims({ exp: 1 }) })]) {
    session.tokens.push(bad);
    for (const path of ['/api/auth/me', '/api/admin/stats', '/api/products/1'])
      await session.send('DELETE', path, { token: bad });
    const headers = [`Authorization: Bearer ${bad}`, `Authorization: Bearer ${token}`];
    await rawTarget(shop.port, '/api/auth/me', { headers });
  }
  await session.send('GET', '/api/admin/stats', { token });
  await session.send('POST', '/api/categories', { token, json: { name: 5, password: PASSWORDS.wrong } });

  // Errors in the application's own code.
  await session.catch(accounts.create({ email: 'x', password: PASSWORDS.ann }));
  await session.catch(accounts.create({ email: ann.email, password: PASSWORDS.ann }));
  await session.catch(accounts.create({ email: 'c@example.com', password: PASSWORDS.short }));
  await session.catch(accounts.setPassword(user.id, PASSWORDS.long));
  await session.catch(accounts.setPassword(999_999, PASSWORDS.next));

  // A failing database: TypeORM's error contains the parameters of the query.
  const dataSource = shop.app.get(DataSource, { strict: false });
  const rows: { password: string }[] = await dataSource.query('SELECT password FROM "user"');
  session.hashes = rows.map(({ password }) => password);
  await dataSource.query('ALTER TABLE "user" RENAME TO "elsewhere"');
  await post('register', { ...ann, email: 'd@example.com', username: 'd' });
  await post('login', ann);
  await session.send('GET', '/api/auth/me', { token });
  await session.catch(accounts.create({ email: 'e@example.com', password: PASSWORDS.bob }));
}

describe.each(PLATFORMS)('a session on %s', (platform) => {
  let session: Session;
  beforeAll(async () => {
    session = await runSession(platform);
  });
  afterAll(() => session.shop.close());

  it('[2.1] covers every kind of answer, log line and error', () => {
    const statuses = new Set(session.answers.map(({ answer }) => answer.status));
    expect([...statuses].toSorted()).toEqual(expect.arrayContaining([200, 201, 400, 401, 403, 404, 413, 415, 500]));
    expect([session.thrown.length, session.hashes.length, session.tokens.length]).toEqual([6, 2, 5]);
    expect(session.shop.logs.some((line) => line.startsWith('error '))).toBe(true);
  });

  it('[2.1] shows no password, hash, jwtSecret or token of another client', () => {
    const forms = [SECRET, Buffer.from(SECRET).toString('base64'), Buffer.from(SECRET).toString('hex')];
    const signatures = session.tokens.map((token) => token.split('.')[2] ?? token);
    const texts = session.texts();
    for (const canary of [...Object.values(PASSWORDS), ...session.hashes, ...forms, ...session.tokens, ...signatures])
      expect([canary, texts.filter((text) => text.includes(canary))]).toEqual([canary, []]);
    expect(texts.filter((text) => /\$2[aby]\$\d\d\$/.test(text))).toEqual([]);
  });

  it('[2.5] returns to each client only a token of its own', () => {
    for (const { answer } of session.answers.filter(({ containsToken }) => containsToken)) {
      const { user, token } = answer.json.data;
      const payload = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
      expect([payload.sub, payload.email]).toEqual([String(user.id), user.email]);
    }
  });

  it('[2.3] answers a failing database with a 500 without internal details', () => {
    const failed = session.answers.filter(({ answer }) => answer.status === 500);
    expect(failed).toHaveLength(3);
    for (const { answer } of failed) expect(answer.json).toEqual({ success: false, message: 'Internal server error' });
  });
});
