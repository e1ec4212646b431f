import { inspect } from 'node:util';
import { jest } from '@jest/globals';
import { Catch, type ExceptionFilter, ValidationPipe, ConsoleLogger } from '@nestjs/common';
import { InvalidUserError, UserAccounts } from 'declarest';
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
const JSON_TYPE = { 'content-type': 'application/json' };

/** A session of everything a user and an attacker do, with what was sent, answered, logged and thrown. */
class Session {
  readonly answers: { what: string; answer: Answer; handsOut: boolean }[] = [];
  readonly thrown: unknown[] = [];
  readonly printed: string[] = [];
  readonly tokens: string[] = [];
  hashes: string[] = [];

  constructor(readonly shop: Shop) {}

  async send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const answer = await request(this.shop.url, method, path, options);
    const handsOut = method === 'POST' && /\/(register|login)$/.test(path) && answer.status < 300;
    if (handsOut) this.tokens.push(answer.json.data.token);
    this.answers.push({ what: `${method} ${path}`, answer, handsOut });
    return answer;
  }

  async keep(work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) => this.thrown.push(error));
  }

  /** Everything that somebody other than the one it is for can read. */
  texts(): string[] {
    return [
      ...this.answers.map(({ what, answer, handsOut }) => {
        const text = handsOut
          ? JSON.stringify({ ...answer.json, data: { ...answer.json.data, token: '' } })
          : answer.text;
        return `${what}: ${JSON.stringify(answer.headers)} ${text}`;
      }),
      ...this.shop.logs,
      ...this.printed,
      ...this.thrown.map((error) => inspect(error, { depth: 8, showHidden: true })),
    ];
  }
}

async function runSession(platform: Platform, options: Parameters<typeof startShop>[1] = {}): Promise<Session> {
  const printed: string[] = [];
  const spies = (['log', 'error', 'warn', 'info', 'debug', 'trace'] as const).map((name) =>
    jest
      .spyOn(console, name)
      .mockImplementation((...parts: unknown[]) => void printed.push(parts.map(String).join(' '))),
  );
  const streams = [process.stdout, process.stderr].map((stream) =>
    jest.spyOn(stream, 'write').mockImplementation((chunk) => {
      printed.push(String(chunk));
      return true;
    }),
  );
  try {
    const shop = await startShop(platform, { ...options, auth: { jwtSecret: SECRET, ...options.auth } });
    const session = new Session(shop);
    await act(session);
    session.printed.push(...printed);
    return session;
  } finally {
    for (const spy of [...spies, ...streams]) spy.mockRestore();
  }
}

async function act(session: Session): Promise<void> {
  const { shop } = session;
  const accounts = shop.app.get(UserAccounts, { strict: false });
  const post = (path: string, json: unknown) => session.send('POST', `/api/auth/${path}`, { json });
  const ann = { email: 'ann@example.com', username: 'ann', password: PASSWORDS.ann };

  // What succeeds.
  const { json } = await post('register', ann);
  await post('login', ann);
  const token: string = json.data.token;
  await session.send('GET', '/api/auth/me', { token });
  await accounts.create({ email: 'bob@example.com', password: PASSWORDS.bob, role: 'ADMIN' });
  const bob = (await post('login', { email: 'bob@example.com', password: PASSWORDS.bob })).json.data;
  await session.send('GET', '/api/admin/stats', { token: bob.token });
  await session.send('GET', '/api/categories', { token });

  // What the users refuse.
  for (const password of [PASSWORDS.wrong, PASSWORDS.long, PASSWORDS.short, [PASSWORDS.wrong], { p: PASSWORDS.wrong }])
    await post('login', { email: ann.email, password });
  for (const changed of [
    {},
    { email: 'x' },
    { email: 'new@example.com' },
    { password: PASSWORDS.short },
    { password: PASSWORDS.long },
    { password: [PASSWORDS.ann] },
    { role: 'ADMIN', email: 'new@example.com' },
    { email: { password: PASSWORDS.wrong } },
    { firstName: { password: PASSWORDS.wrong } },
  ])
    await post('register', { ...ann, ...changed });

  // What cannot be read.
  for (const path of ['register', 'login', 'me']) {
    const url = `/api/auth/${path}`;
    for (const body of [
      `{"password":"${PASSWORDS.ann}"`,
      `${PASSWORDS.ann}`,
      `"${PASSWORDS.ann}"`,
      `["${PASSWORDS.ann}"]`,
    ])
      await session.send('POST', url, { body, headers: JSON_TYPE });
    await session.send('POST', url, { body: `password=${PASSWORDS.ann}`, headers: { 'content-type': 'text/plain' } });
    const large = JSON.stringify({ password: PASSWORDS.ann, filler: 'x'.repeat(2_000_000) });
    await session.send('POST', url, { body: large, headers: JSON_TYPE });
  }

  // What the rules refuse.
  for (const bad of [
    `${token}x`,
    token.slice(0, -3),
    makeToken({ secret: SECRET, payload: claims({ exp: 1 }) }),
    `x${token}`,
  ]) {
    session.tokens.push(bad);
    for (const path of ['/api/auth/me', '/api/admin/stats', '/api/categories', '/api/products/1'])
      await session.send('DELETE', path, { token: bad });
    await session.send('GET', '/api/auth/me', { token: bad });
    await rawTarget(shop.port, '/api/auth/me', {
      headers: [`Authorization: Bearer ${bad}`, `Authorization: Bearer ${token}`],
    });
  }
  await session.send('GET', '/api/admin/stats', { token });
  await session.send('GET', `/api/nowhere?token=x`, { token });
  await session.send('POST', '/api/categories', { token, json: { name: 5, password: PASSWORDS.wrong } });

  // What the application's own code does wrong.
  await session.keep(() => accounts.create({ email: 'x', password: PASSWORDS.ann }));
  await session.keep(() => accounts.create({ email: ann.email, password: PASSWORDS.ann }));
  await session.keep(() => accounts.create({ email: 'c@example.com', password: PASSWORDS.short }));
  await session.keep(() => accounts.setPassword(json.data.user.id, PASSWORDS.long));
  await session.keep(() => accounts.setPassword(999_999, PASSWORDS.next));
  await session.keep(() => accounts.setPassword(json.data.user.id, PASSWORDS.next));

  // A database that fails below: what TypeORM throws then holds the parameters of the query.
  const dataSource = shop.app.get(DataSource, { strict: false });
  const rows: { password: string }[] = await dataSource.query('SELECT password FROM "user"');
  session.hashes = rows.map(({ password }) => password);
  expect(session.hashes).toHaveLength(2);
  await dataSource.query('ALTER TABLE "user" RENAME TO "elsewhere"');
  expect((await post('register', { ...ann, email: 'd@example.com', username: 'd' })).status).toBe(500);
  expect((await post('login', ann)).status).toBe(500);
  expect((await session.send('GET', '/api/auth/me', { token })).status).toBe(500);
  await session.keep(() => accounts.create({ email: 'e@example.com', password: PASSWORDS.bob }));
}

@Catch()
class OwnFilter implements ExceptionFilter {
  catch(error: unknown): never {
    throw error;
  }
}

describe.each(PLATFORMS)('on %s', (platform) => {
  describe.each([
    ['with login by e-mail', {}],
    [
      'with a ValidationPipe of the application',
      {
        configure: (app: Shop['app']) =>
          void app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true })),
      },
    ],
  ])('a whole session %s', (_, options) => {
    let session: Session;
    beforeAll(async () => {
      session = await runSession(platform, options);
    });
    afterAll(() => session.shop.close());

    it('[2.1] holds enough to look at', () => {
      const statuses = new Set(session.answers.map(({ answer }) => answer.status));
      expect([...statuses].toSorted()).toEqual(expect.arrayContaining([200, 201, 400, 401, 403, 404, 413, 415, 500]));
      expect(session.thrown.length).toBeGreaterThanOrEqual(5);
      expect(session.shop.logs.some((line) => line.startsWith('error '))).toBe(true);
      expect(session.tokens.length).toBeGreaterThanOrEqual(6);
    });

    it.each(Object.entries(PASSWORDS))(
      '[2.1] shows the password %s in no response, log line or error',
      (__, password) => {
        expect(session.texts().filter((text) => text.includes(password))).toEqual([]);
      },
    );

    it('[2.1] shows no hash in any response, log line or error', () => {
      for (const hash of session.hashes) expect(session.texts().filter((text) => text.includes(hash))).toEqual([]);
      expect(session.texts().filter((text) => /\$2[aby]\$\d\d\$/.test(text))).toEqual([]);
    });

    it('[1] shows the jwtSecret in no response, log line or error', () => {
      const forms = [SECRET, Buffer.from(SECRET).toString('base64'), Buffer.from(SECRET).toString('hex')];
      for (const form of forms) expect(session.texts().filter((text) => text.includes(form))).toEqual([]);
    });

    it('[2.5] shows a token to nobody but the one who registered or logged in', () => {
      for (const token of session.tokens) {
        const signature = token.split('.')[2] ?? token;
        expect(session.texts().filter((text) => text.includes(token) || text.includes(signature))).toEqual([]);
      }
    });

    it('[2.5] hands to each only a token of their own', () => {
      const handed = session.answers.filter(({ handsOut }) => handsOut);
      for (const { answer } of handed) {
        const { user, token } = answer.json.data;
        const payload = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
        expect([payload.sub, payload.email]).toEqual([String(user.id), user.email]);
      }
    });

    it('[2.3] answers a failing database with a 500 that says nothing about the inside', () => {
      const failed = session.answers.filter(({ answer }) => answer.status === 500);
      expect(failed).toHaveLength(3);
      for (const { answer } of failed) {
        expect(answer.json).toEqual({ success: false, message: expect.any(String) });
        expect(answer.text).not.toMatch(/user"|table|sql|typeorm|elsewhere|\.ts|\.js/i);
      }
    });
  });

  it('[2.1] Nest’s own logger at its loudest prints no password, hash, secret or token either', async () => {
    const session = await runSession(platform, {
      logger: new ConsoleLogger({ logLevels: ['verbose', 'debug', 'log', 'warn', 'error', 'fatal'], colors: false }),
    });
    expect(session.printed.join('\n')).toContain('Nest application successfully started');
    const printed = session.printed.join('\n');
    for (const canary of [...Object.values(PASSWORDS), ...session.hashes, SECRET, ...session.tokens])
      expect(printed).not.toContain(canary);
    expect(printed).not.toMatch(/\$2[aby]\$\d\d\$/);
    await session.shop.close();
  });

  it('[2.1] an InvalidUserError holds the names of the wrong fields and none of what was sent', async () => {
    const shop = await startShop(platform);
    const accounts = shop.app.get(UserAccounts, { strict: false });
    const error: unknown = await accounts
      .create({ email: 'canary e-mail', password: 'canary7', username: ' canary name' })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidUserError);
    const shown = inspect({ ...(error as object), message: (error as Error).message }, { depth: 8, showHidden: true });
    expect(shown).not.toContain('canary7');
    await shop.close();
  });

  it('[2.1] where a filter of the application throws on what it was given, answers and log still hold no hash', async () => {
    const shop = await startShop(platform, { configure: (app) => void app.useGlobalFilters(new OwnFilter()) });
    await shop.register('ann@example.com');
    await shop.app.get(DataSource, { strict: false }).query('ALTER TABLE "user" RENAME TO "elsewhere"');
    const json = { email: 'b@example.com', password: PASSWORDS.bob };
    const answer = await request(shop.url, 'POST', '/api/auth/register', { json });
    expect([answer.status, answer.json]).toEqual([500, { success: false, message: expect.any(String) }]);
    expect(shop.logs.join('\n')).not.toMatch(/canary|\$2b\$/);
    await shop.close();
  });
});
