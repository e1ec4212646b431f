/** Plugins of accounts: each hook, what a plugin must not be able to do, and the example of docs/tasks/plugins.md. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Controller, ForbiddenException, Get, Injectable, UnauthorizedException } from '@nestjs/common';
import {
  AccessReport,
  administration,
  AuthEvents,
  type AuthOptions,
  AuthSession,
  CurrentUser,
  ErrorObserver,
  InvalidOptionError,
  mailedLinks,
  OneTimeToken,
  type Principal,
  SecurityConfig,
  sessions,
  UserAccounts,
} from 'declarest';
import { type AccountChange, accountEndpoint, type AuthPlugin, Logins, OneTimeTokens } from 'declarest/plugin';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { DataSource } from 'typeorm';
import { type Compiled, compile, REPOSITORY } from '../compiled.js';
import { blocksOf } from '../docs-blocks.js';
import { request } from '../harness/client.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { type AuthApp, bootAuth, expectFailure, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';
import { slowStatements } from './slow-statements.js';

const TEXT = { type: 'string' };

/** A key of a user in a header: `id ROLE ROLE`. */
const keys: AuthPlugin = {
  name: 'keys',
  authenticate(_services, { headers }) {
    const key = headers['x-key'];
    if (key === 'broken') throw new Error('the keys are away');
    if (typeof key !== 'string') return undefined;
    const [id = '', ...roles] = key.split(' ');
    // Only readers of the package may say that nothing has to be read from the database.
    const claimed = { isComplete: true };
    return Promise.resolve({ ...claimed, bearerWasSent: false, principal: { id, email: 'forged@example.com', roles } });
  },
};

/** Logs in the user with the id that is the code. `1` is the only user. */
const codes = (options: Partial<AuthPlugin> = {}): AuthPlugin => ({
  name: 'codes',
  endpoints: [
    accountEndpoint({
      name: 'useCode',
      route: 'POST code',
      access: 'public',
      summary: 'Log in by a code',
      texts: { code: TEXT },
      async run({ get }, { body: { code }, request: sent }) {
        if (code === 'wrong') throw new UnauthorizedException('Wrong code');
        return get(Logins).complete({ id: code }, sent);
      },
    }),
  ],
  ...options,
});

@Controller('rules')
class RuledController {
  @Get('user')
  user(@CurrentUser() user: Principal) {
    return { user };
  }
  @Get('admin')
  admin() {
    return {};
  }
  @Get('denied')
  denied() {
    return {};
  }
}

class Rules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/who');
    this.requireAuth('/rules/user');
    this.requireRole('ADMIN', '/rules/admin');
    this.denyAll('/rules/denied');
  }
}

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  let app: AuthApp;
  const start = async (auth: Partial<AuthOptions>, more: object = {}) =>
    (app = await startAuth(platform, { auth, ...more }));
  afterEach(() => app?.close());
  const accounts = () => app.app.get(UserAccounts, { strict: false });
  const create = (role = 'USER') => accounts().create({ email: uniqueEmail(), password: PASSWORD, role });
  const login = ({ email }: { email: string | null }) => app.post('/api/auth/login', { email, password: PASSWORD });
  const payloadOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

  it('a plugin of keys takes no token of the package, which other plugins check still', async () => {
    const all: AuthPlugin = {
      name: 'all',
      setup: (core) => core.identifyKeys(),
      authenticate: (_services, _request, { bearerWasSent, principal }) =>
        Promise.resolve({ bearerWasSent, ...(principal && { principal }) }),
    };
    await start({ plugins: [all, sessions({ revocation: 'immediate' })] });
    const { token } = await app.register({ email: uniqueEmail() });
    const userOf = async () => (await app.get('/who', { token })).json.user;
    expect(await userOf()).toMatchObject({ roles: ['USER'] });
    await app.post('/api/auth/logout-all', {}, { token });
    expect(await userOf()).toBeNull();
  });

  it('the application injects what a plugin provides', async () => {
    @Injectable()
    class Codes {
      readonly all = ['one'];
    }
    @Injectable()
    class Support {
      constructor(readonly codes: Codes) {}
    }
    await start({ plugins: [codes({ providers: [Codes] })] }, { providers: [Support] });
    expect(app.app.get(Support).codes.all).toEqual(['one']);
  });

  it('rules and roles decide about what a plugin authenticates', async () => {
    await start({ plugins: [keys], administration: true }, { controllers: [RuledController], providers: [Rules] });
    const [user, boss, gone] = [await create(), await create('ADMIN'), await create('ADMIN')];
    await accounts().setActive(gone.id, false);
    const statuses = (key?: string, headers = {}) =>
      Promise.all(
        ['/rules/user', '/rules/admin', '/rules/denied', '/api/auth/users', '/who'].map(
          async (path) => (await app.get(path, { headers: { ...(key && { 'x-key': key }), ...headers } })).status,
        ),
      );
    expect(await statuses()).toEqual([401, 401, 401, 401, 200]);
    expect(await statuses(`${user.id} USER`)).toEqual([200, 403, 403, 403, 200]);
    // A plugin raises no role: the stored one has the last word.
    expect(await statuses(`${user.id} ADMIN`)).toEqual([200, 403, 403, 403, 200]);
    expect(await statuses(`${boss.id} ADMIN`)).toEqual([200, 200, 403, 200, 200]);
    expect(await statuses(`${boss.id}`)).toEqual([200, 403, 403, 403, 200]);
    for (const id of [gone.id, 99]) expect(await statuses(`${id} ADMIN`)).toEqual([401, 401, 401, 401, 200]);
    expect(await statuses('broken')).toEqual([503, 503, 503, 503, 200]);
    // A bearer token decides, also one that is not valid.
    expect(await statuses(`${boss.id} ADMIN`, { authorization: 'Bearer x' })).toEqual([401, 401, 401, 401, 200]);
    const { token } = (await login(user)).json.data;
    expect(await statuses(`${boss.id} ADMIN`, { authorization: `Bearer ${token}` })).toEqual([200, 403, 403, 403, 200]);
    const seen = await app.get('/rules/user', { headers: { 'x-key': `${user.id} USER` } });
    expect(seen.json.user).toEqual({ id: user.id, email: user.email, roles: ['USER'] });
  });

  it('a plugin adds no claims: those of the option are the only ones', async () => {
    const tenants: AuthPlugin = {
      name: 'tenants',
      authenticate: () =>
        Promise.resolve({ bearerWasSent: false, principal: { id: 1, email: '', roles: [], tenantId: 7 } as Principal }),
    };
    const claims = ({ role }: { role: string }): object => (role === 'ADMIN' ? { tenantId: 1 } : {});
    await start({ plugins: [tenants], claims });
    const user = await create();
    expect((await app.get('/who')).json.user).toEqual({ id: user.id, email: user.email, roles: [] });
  });

  it('`complete` logs in an active user, with what all plugins issue', async () => {
    const asked: unknown[] = [];
    const asking: AuthPlugin = { name: 'asking', beforeLogin: (_services, { id }) => void asked.push(id) };
    await start({ plugins: [sessions(), codes(), asking] });
    const user = await create();
    const { status, json, headers } = await app.post('/api/auth/code', { code: String(user.id) });
    expect([status, headers['cache-control'], json.message]).toEqual([200, 'no-store', 'Login successful']);
    expect(json.data).toMatchObject({ user: { id: user.id }, refreshToken: expect.any(String), expiresIn: 900 });
    expect(payloadOf(json.data.token)).toMatchObject({ sub: String(user.id), sid: expect.any(String) });
    await accounts().setActive(user.id, false);
    for (const code of [String(user.id), '99'])
      expect(expectFailure(await app.post('/api/auth/code', { code }), 401)).toBe('Invalid credentials');
    expect(asked).toEqual([user.id]);
    expect(expectFailure(await app.post('/api/auth/code', { code: 1, x: 1 }))).toMatch(/code: .*; x: not accepted/);
  });

  it('a user who is deactivated while a plugin issues gets nothing', async () => {
    const slow: AuthPlugin = {
      name: 'slow',
      async issue({ users }, { id }) {
        await users.update(String(id), { active: false });
        return {};
      },
    };
    await start({ plugins: [sessions(), slow, codes()] });
    const user = await create();
    expect((await app.post('/api/auth/code', { code: String(user.id) })).status).toBe(401);
    expect(await app.app.get(DataSource).getRepository(AuthSession).count()).toBe(0);
  });

  it('the document has the status of an endpoint without further answers', async () => {
    await start({ plugins: [codes({ endpoints: codes().endpoints!.map((each) => ({ ...each, status: 202 })) })] });
    const { paths } = SwaggerModule.createDocument(app.app, new DocumentBuilder().build());
    expect(paths['/api/auth/code']?.post?.responses).toHaveProperty('202', { description: 'Done' });
    expect((await app.post('/api/auth/code', { code: 'wrong' })).status).toBe(401);
  });

  it('a challenge is a success, whatever it says', async () => {
    const asking = { name: 'asking', beforeLogin: () => ({ message: 'Wait', success: false }) };
    await start({ plugins: [asking] });
    expect((await login(await create())).json).toEqual({ success: true, message: 'Wait' });
  });

  it('the endpoint of a plugin is throttled by its own limits, or by the address', async () => {
    const refused: unknown[] = [];
    const limits = { useCode: () => ({ address: 2 }) };
    for (const [plugin, free] of [
      [codes({ limits }), 2],
      [codes(), 4],
    ] as const) {
      await start({ plugins: [plugin], throttle: { addressTries: 4 } });
      app.app.get(AuthEvents, { strict: false }).on('attempts.refused', ({ action }) => void refused.push(action));
      const statuses: number[] = [];
      for (let tries = 0; tries < 5; tries += 1)
        statuses.push((await app.post('/api/auth/code', { code: 'wrong' })).status);
      expect(statuses).toEqual(Array.from({ length: 5 }, (_, n) => (n < free ? 401 : 429)));
      if (free === 2) await app.close();
    }
    expect(refused).toEqual(Array(4).fill('useCode'));
  });

  it('`beforeLogin` answers a challenge in place of tokens, or refuses', async () => {
    let isRefused = false;
    const second: AuthPlugin = {
      name: 'second',
      beforeLogin(_services, _user, { isNew }) {
        if (isRefused) throw new ForbiddenException('Not today');
        return { message: isNew ? 'Wait' : 'Send the code', data: { challenge: 'c1' } };
      },
    };
    await start({ plugins: [sessions(), second] });
    const [ann, ben] = [uniqueEmail(), uniqueEmail()];
    const registered = await app.post('/api/auth/register', { email: ann, password: PASSWORD });
    expect([registered.status, Object.keys(registered.json.data)]).toEqual([201, ['user', 'challenge']]);
    const { json, status } = await login({ email: ann });
    expect([status, json]).toEqual([200, { success: true, message: 'Send the code', data: { challenge: 'c1' } }]);
    isRefused = true;
    expect(expectFailure(await login({ email: ann }), 403)).toBe('Not today');
    expect((await app.post('/api/auth/register', { email: ben, password: PASSWORD })).status).toBe(403);
    expect(await app.users().countBy({ email: ben })).toBe(0);
    expect(await app.app.get(DataSource).getRepository(AuthSession).count()).toBe(0);
  });

  it.each<[string, Partial<AuthPlugin>]>([
    ['beforeLogin', { beforeLogin: () => Promise.reject(new Error('away')) }],
    ['issue', { issue: () => Promise.reject(new Error('away')) }],
    ['issue of a token', { issue: () => ({ members: { token: 'forged' } }) }],
    ['header that HTTP does not allow', { issue: () => ({ headers: { 'X-Note': 'a\r\nb' } }) }],
    ['name of a header that HTTP does not allow', { issue: () => ({ headers: { 'X Note': 'a' } }) }],
  ])('a failing %s is 500 without a token or a session', async (_, hooks) => {
    await start({ plugins: [sessions(), { name: 'failing', ...hooks }] });
    const answer = await login(await create());
    expect(expectFailure(answer, 500)).toBe('Internal server error');
    const registered = await app.post('/api/auth/register', { email: uniqueEmail(), password: PASSWORD });
    expect(expectFailure(registered, 500)).toBe('Internal server error');
    expect(await app.app.get(DataSource).getRepository(AuthSession).count()).toBe(0);
  });

  it('`accountChanged` is awaited in order; an error of one is reported, and the change stays', async () => {
    const seen: string[] = [];
    let error: Error | undefined;
    const plugin = (name: string, fails = false): AuthPlugin => ({
      name,
      async accountChanged(_services, { name: change }: AccountChange) {
        await new Promise((later) => setTimeout(later, 5));
        seen.push(`${name} ${change}`);
        if (fails && error) throw error;
      },
    });
    const observed: unknown[] = [];
    class Observer extends ErrorObserver {
      onUnexpectedError(each: unknown) {
        observed.push(each);
      }
    }
    await start({ plugins: [plugin('a', true), plugin('b'), sessions()] }, { providers: [Observer] });
    app.app.get(AuthEvents, { strict: false }).on('password.changed', () => void seen.push('event'));
    const user = await create();
    const { token } = (await login(user)).json.data;
    error = new Error('away');
    const json = { current: PASSWORD, new: 'another password of mine' };
    expect((await request(app.url, 'POST', '/api/auth/password', { token, json })).status).toBe(500);
    expect(observed).toEqual([error]);
    expect(seen).toEqual(['a user.created', 'b user.created', 'a password.changed', 'b password.changed', 'event']);
    error = undefined;
    expect((await app.post('/api/auth/login', { email: user.email, password: json.new })).status).toBe(200);
    await accounts().setRole(user.id, 'ADMIN');
    expect(await accounts().endSessions(user.id)).toBe(2);
    expect(seen.slice(5)).toEqual(
      ['a', 'b'].map((name) => `${name} user.changed`).concat(['a user.loggedOut', 'b user.loggedOut']),
    );
  });
});

describe('startup', () => {
  it.each<[string, Partial<AuthOptions>, string]>([
    ['a feature twice', { sessions: true, plugins: [sessions()] }, 'the plugin sessions twice'],
    ['two plugins of one name', { plugins: [keys, { name: 'keys' }] }, 'the plugin keys twice'],
    ['a name of an endpoint twice', { plugins: [codes(), codes({ name: 'x' })] }, 'the endpoint useCode twice'],
    [
      'limits of the package',
      { plugins: [{ name: 'x', limits: { password: () => ({}) } }] },
      'the limits of password twice',
    ],
    ['no array', { plugins: keys as never }, 'plugins` must be an array of plugins'],
    ['a plugin without a name', { plugins: [{}] as never }, 'plugins` must be an array of plugins'],
    [
      'a wrong option of a plugin',
      {
        get plugins() {
          return [mailedLinks({ reset: 'yes' as never })];
        },
      },
      'mailedLinks.reset` must be true or false',
    ],
  ])('refuses %s', async (_, auth, part) => {
    let error: unknown;
    try {
      ({ error } = await bootAuth('express', { auth }));
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect((error as Error).message).toContain(part);
  });

  it.each<[string, object, string]>([
    [
      'a hook',
      { beforeLogin: 'ask' },
      '`plugins.codes.beforeLogin` must be a function, got "ask". Correct or remove it.',
    ],
    [
      'endpoints',
      { endpoints: {} },
      '`plugins.codes.endpoints` must be an array of endpoints, got an object. Correct or remove it.',
    ],
    ['a table', { tables: 'codes' }, '`plugins.codes.tables` must be an array'],
    ['an endpoint', { endpoints: [null] }, '`plugins.codes.endpoints` must be an array'],
  ])('refuses %s of a plugin that is none', async (_, plugin, part) => {
    const { error } = await bootAuth('express', { auth: { plugins: [codes(plugin)] } });
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect((error as Error).message).toContain(part);
  });

  it.each<[string, object, string]>([
    ['a name that Nest calls', { name: 'onModuleInit' }, 'name` must be a name such as "usePin"'],
    ['a name for which `await` waits', { name: 'then' }, 'name` must be a name such as "usePin"'],
    ['a name that hides its services', { name: 'services' }, 'name` must be a name such as "usePin"'],
    ['the name of a class', { name: 'constructor' }, 'name` must be a name such as "usePin"'],
    ['an unknown verb', { route: 'post code' }, 'route` must be a verb and a path such as "POST pins/:id"'],
    ['two spaces', { route: 'POST  code' }, 'route` must be a verb'],
    ['a space in the path', { route: 'POST code now' }, 'route` must be a verb'],
    ['no path', { route: 'POST' }, 'route` must be a verb'],
    ['a parameter with a pattern', { route: 'GET code/:id(\\d+)' }, 'route` must be a verb'],
    ['a parameter within a level', { route: 'GET code/a:id' }, 'route` must be a verb'],
    ['a wildcard', { route: 'GET /*path' }, 'route` must be a verb'],
    ['access of nobody', { access: { anyOf: [] } }, 'access` must be "public", "authenticated" or { anyOf'],
    ['misspelt access', { access: 'Public' }, 'access` must be "public", "authenticated" or { anyOf'],
    ['a status of a failure', { status: 999 }, 'status` must be an integer from 200 to 299, got 999.'],
    ['no run', { run: undefined }, 'run` must be a function, got undefined.'],
  ])('refuses an endpoint with %s', async (_, wrong, part) => {
    const endpoints = codes().endpoints!.map((each) => ({ ...each, ...wrong }));
    const { error } = await bootAuth('express', { auth: { plugins: [codes({ endpoints })] } });
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect((error as Error).message).toContain('AuthModule option `plugins.codes.');
    expect((error as Error).message).toContain(part);
  });

  it('refuses tokens for one use without their table', async () => {
    @Injectable()
    class Links {
      constructor(readonly tokens: OneTimeTokens) {}
    }
    const { error } = await bootAuth('express', { auth: { plugins: [{ name: 'links', providers: [Links] }] } });
    expect((error as Error).message).toContain('OneTimeTokens');
    const complete = { name: 'links', providers: [Links], tables: [OneTimeToken] };
    const app = await startAuth('express', { auth: { plugins: [complete] } });
    await app.close();
  });

  it('refuses a route that the package has, under another name', async () => {
    const [endpoint] = codes().endpoints!;
    const plugin = { name: 'x', endpoints: [{ ...endpoint!, name: 'other', route: 'POST login' as const }] };
    const { error } = await bootAuth('express', { auth: { plugins: [plugin] } });
    expect((error as Error).message).toContain('the route POST login twice');
  });

  it('the long form of a feature is the same as the option', async () => {
    const pathsOf = async (auth: Partial<AuthOptions>) => {
      const app = await startAuth('express', { auth });
      const { rows } = app.app.get(AccessReport, { strict: false });
      await app.close();
      return rows.map(({ method, path, access }) => `${method} ${path} ${access}`);
    };
    const short = { sessions: true, passwordReset: true, requireVerified: true, administration: true };
    const plugins = [sessions(), mailedLinks({ required: true }), administration()];
    expect(await pathsOf({ plugins })).toEqual(await pathsOf(short));
    expect(await pathsOf({ plugins: [administration()] })).not.toContain('POST /api/auth/users/:id/reset ADMIN');
  });
});

describe('the example of docs/tasks/plugins.md', () => {
  let compiled: Compiled;
  let block: { file: string; text: string };
  beforeAll(async () => {
    const path = 'docs/tasks/plugins.md';
    const page = { path, text: await readFile(join(REPOSITORY, path), 'utf8') };
    block = blocksOf(page).find(({ language }) => language === 'ts')!;
    compiled = await compile([], { [block.file]: block.text });
  });
  afterAll(() => compiled.remove());

  it('has at most 40 lines of code', () => {
    const lines = block.text.split('\n').map((line) => line.trim());
    expect(lines.filter((line) => line !== '' && !/^(import|\/)/.test(line)).length).toBeLessThanOrEqual(40);
  });

  it.each(ONE_PLATFORM)('logs in by a link once, until it expires (%s)', async (platform) => {
    const { magicLinks } = await import(join(compiled.directory, block.file.replace(/\.ts$/, '.js')));
    const mails: string[] = [];
    const send = async (_to: string, token: string) => void mails.push(token);
    const auth = { sessions: true, throttle: { mails: 3 }, plugins: [magicLinks(send)] };
    const running = await startAuth(platform, { auth });
    const { url, app, close } = running;
    const links = app.get(DataSource).getRepository(OneTimeToken);
    const email = 'ann@example.com';
    const accounts = app.get(UserAccounts, { strict: false });
    const { id } = await accounts.create({ email, password: PASSWORD });
    const post = (path: string, json: object) => request(url, 'POST', `/api/auth/magic-link${path}`, { json });
    const mailed = async () => {
      expect((await post('', { email })).status).toBe(202);
      for (let tries = 0; mails.length === 0 && tries < 300; tries += 1)
        await new Promise((later) => setTimeout(later, 10));
      return mails.pop()!;
    };
    const use = async (token: string) => (await post('/use', { token })).status;

    expect((await post('', { email: 'nobody@example.com' })).status).toBe(202);
    const first = await mailed();
    slowStatements(running);
    const answers = await Promise.all([post('/use', { token: first }), post('/use', { token: first })]);
    vi.restoreAllMocks();
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401]);
    const { data } = answers.find(({ status }) => status === 200)!.json;
    expect(data).toMatchObject({ user: { id, email }, token: expect.any(String), refreshToken: expect.any(String) });
    expect(await use(first)).toBe(401);
    const expired = await mailed();
    await links.update({ userId: String(id) }, { expiresAt: Date.now() - 1 });
    expect(await use(expired)).toBe(401);
    const outdated = await mailed();
    await accounts.setPassword(id, 'another password of mine');
    expect(await use(outdated)).toBe(401);
    expect((await post('', { email })).status).toBe(429);
    await close();
  });
});
