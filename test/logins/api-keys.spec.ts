/** API keys: their endpoints, what they open and never open, and what rules say about them. */
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  AccessReport,
  accessEndpoint,
  administration,
  Authenticated,
  type AuthOptions,
  CrudModule,
  CurrentUser,
  InvalidOptionError,
  mailedLinks,
  type Principal,
  Roles,
  SecurityConfig,
  sessions,
  UserAccounts,
} from 'declarest';
import { ApiKey, apiKeys } from 'declarest-logins/api-keys';
import { accountEndpoint, AccountTables, type AuthPlugin, ServiceUnavailable } from 'declarest/plugin';
import { io } from 'socket.io-client';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type AuthApp, type AuthAppOptions, bootAuth, expectFailure, PASSWORD, startAuth } from '../auth/auth-app.js';
import { beforeStatement } from '../auth/slow-statements.js';
import { request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { refusal } from '../harness/refusal.js';
import { User } from '../harness/shop.js';
import { StatementLog } from '../harness/statement-log.js';
import { createKey, KEY, keyOf, logIn, type Owner, statusOf } from './keyed-app.js';

@Entity('keyed_note')
class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column() text!: string;
  @Column({ default: 0 }) price!: number;
}

@Controller('code')
class CodeController {
  @Get('any')
  any(@CurrentUser() user: Principal) {
    return { user };
  }
  @Authenticated({ by: ['key'] })
  @Post('import')
  @HttpCode(200)
  import() {
    return {};
  }
  @Authenticated({ by: ['login'] })
  @Get('payout')
  payout() {
    return {};
  }
  @Authenticated({ by: ['key', 'login'] })
  @Get('both')
  both() {
    return {};
  }
  @Roles('ADMIN')
  @Get('admin')
  admin() {
    return {};
  }
  @Get('rule/key')
  byRule() {
    return {};
  }
  @Get('rule/login')
  byLogin() {
    return {};
  }
  @Get('rule/admin-key')
  byBoth() {
    return {};
  }
}

class Rules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/who', '/api/auth/own/opened');
    this.requireAuth('/code/**', '/api/notes/**', '/api/auth/me');
    this.requireRole('KEY', '/code/rule/key');
    this.requireRole('LOGIN', '/code/rule/login');
    this.requireAllRoles(['ADMIN', 'KEY'], '/code/rule/admin-key');
  }
}

/** Endpoints of another plugin, which do not look at the user. */
const own: AuthPlugin = {
  name: 'own',
  endpoints: [
    accountEndpoint({ name: 'ownStatus', route: 'GET own/status', summary: 'Own', run: () => ({}) }),
    accountEndpoint({ name: 'ownOpened', route: 'GET own/opened', summary: 'Own', run: () => ({}) }),
    accountEndpoint({
      name: 'ownPublic',
      route: 'GET own/public',
      access: 'public',
      limit: false,
      summary: 'Own',
      run: (_services, { user }) => ({ id: user().id }),
    }),
  ],
};

const PLUGINS = [sessions(), mailedLinks(), administration(), accessEndpoint(), own, apiKeys()];

const KEYED: AuthAppOptions = {
  auth: { plugins: PLUGINS, roleHierarchy: { ADMIN: ['EDITOR'] }, throttle: false },
  imports: [
    CrudModule.forFeature({
      entity: Note,
      endpoint: '/api/notes',
      fieldPermissions: { price: { read: ['LOGIN'], write: ['EDITOR'] } },
    }),
  ],
  controllers: [CodeController],
  providers: [Rules],
};

/** With a right checksum. */
const UNKNOWN_KEY = `dk_${'0'.repeat(43)}2CZclj`;

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  let app: AuthApp;
  const accounts = () => app.app.get(UserAccounts, { strict: false });
  const table = () => app.app.get(DataSource).getRepository(ApiKey);
  const list = async ({ token }: Owner) => (await app.get('/api/auth/keys', { token })).json.data;

  describe('with every plugin', () => {
    beforeAll(async () => {
      app = await startAuth(platform, KEYED);
    });
    afterAll(() => app.close());

    it('is created, listed without the key, and deleted', async () => {
      const [ann, ben] = [await logIn(app), await logIn(app)];
      const created = await createKey(app, ann, { expiresAt: '2999-01-31T09:30:00+01:00' });
      expect([created.status, created.headers['cache-control']]).toEqual([201, 'no-store']);
      const { key, ...view } = created.json.data;
      expect(created.json).toEqual({ success: true, message: 'Key created', data: { ...view, key } });
      expect(key).toMatch(KEY);
      expect(view).toEqual({
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        name: 'backup',
        prefix: key.slice(0, 11),
        roles: ['USER'],
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        lastUsedAt: null,
        expiresAt: '2999-01-31T08:30:00.000Z',
      });
      expect(await list(ann)).toEqual([view]);
      expect(await list(ben)).toEqual([]);
      expect(JSON.stringify(await table().find())).not.toContain(key.slice(11));
      expect(await statusOf(app, key, '/code/any')).toBe(200);
      for (const id of [view.id, '7', '0'.repeat(32), key])
        expect((await request(app.url, 'DELETE', `/api/auth/keys/${id}`, { token: ben.token })).status).toBe(404);
      const remove = () => request(app.url, 'DELETE', `/api/auth/keys/${view.id}`, { token: ann.token });
      expect([(await remove()).status, (await remove()).status]).toEqual([204, 404]);
      expect(await statusOf(app, key, '/code/any')).toBe(401);
    });

    it.each<[string, object, string]>([
      ['no name', { name: undefined }, 'name: required'],
      ['an empty name', { name: '' }, 'name: expected 1 to 64 characters'],
      ['a long name', { name: 'x'.repeat(65) }, 'name: expected 1 to 64 characters'],
      ['a name with a control character', { name: 'a\u0000b' }, 'name: expected'],
      ['a name that is not well-formed', { name: '\ud800' }, 'name: expected'],
      ['a number as name', { name: 7 }, 'name: expected'],
      ['a role that the user lacks', { roles: ['ADMIN'] }, 'roles: expected an array of roles of the user (USER)'],
      ['the role of keys', { roles: ['KEY'] }, 'roles: expected'],
      ['the role of logins', { roles: ['LOGIN'] }, 'roles: expected'],
      ['roles that are no array', { roles: 'USER' }, 'roles: expected'],
      ['roles that are no texts', { roles: [['USER']] }, 'roles: expected'],
      ['the past', { expiresAt: '2020-01-31T09:30:00Z' }, 'expiresAt: expected a date-time in the future'],
      ['a time without a zone', { expiresAt: '2999-01-31T09:30:00' }, 'expiresAt: expected'],
      ['30 February', { expiresAt: '2999-02-30T09:30:00Z' }, 'expiresAt: expected'],
      ['a number as time', { expiresAt: 99999999999999 }, 'expiresAt: expected'],
      ['an unknown field', { scopes: ['all'] }, 'scopes: not accepted here, expected only name, roles, expiresAt'],
    ])('refuses %s', async (_, body, message) => {
      const ann = await logIn(app);
      expect(expectFailure(await createKey(app, ann, body))).toContain(message);
      expect(await list(ann)).toEqual([]);
    });

    it('refuses a body that is no JSON object, and requests without a login', async () => {
      const { token } = await logIn(app);
      const post = (options: object) => request(app.url, 'POST', '/api/auth/keys', options);
      expect((await post({ token })).status).toBe(400);
      expect((await post({ token, json: ['a'] })).status).toBe(400);
      expect((await post({ token, body: '{', headers: { 'content-type': 'application/json' } })).status).toBe(400);
      expect((await post({ token, body: 'name=a', headers: { 'content-type': 'text/plain' } })).status).toBe(415);
      expect((await post({ json: { name: 'a' } })).status).toBe(401);
      expect((await app.get('/api/auth/keys')).status).toBe(401);
    });

    it('opens no account endpoint, of whichever plugin', async () => {
      const boss = await logIn(app, 'ADMIN');
      const key = await keyOf(app, boss);
      const { rows } = app.app.get(AccessReport, { strict: false });
      const ofAccounts = rows.filter(({ path }) => path.startsWith('/api/auth/'));
      const closed = ofAccounts.filter(({ access }) => access !== 'public');
      const names = closed.map(({ method, path }) => `${method} ${path.slice('/api/auth/'.length)}`);
      for (const name of [
        'GET me',
        'PATCH me',
        'DELETE me',
        'GET keys',
        'POST keys',
        'DELETE keys/:id',
        'GET users',
        'GET own/status',
      ])
        expect(names).toContain(name);
      expect(closed.filter(({ access }) => !/\bLOGIN$/.test(access))).toEqual([]);
      for (const { method, path } of closed) {
        const answer = await request(app.url, method, path.replace(':id', '1'), { token: key, json: { name: 'more' } });
        expect([path, answer.status, answer.json]).toEqual([path, 403, refusal('Login access required')]);
      }
      // What is public does not look at the key, apart from `access`; `user()` knows none.
      expect((await app.get('/api/auth/own/public', { token: key })).json).toEqual(refusal('Login access required'));
      expect((await app.get('/api/auth/own/public', { token: boss.token })).json).toEqual({ id: boss.id });
      expect((await app.post('/api/auth/logout', {}, { token: key })).status).toBe(403);
      const json = { email: boss.email, password: PASSWORD };
      expect((await app.post('/api/auth/login', json, { token: key })).status).toBe(200);
      expect(await list(boss)).toHaveLength(1);
    });

    it('is no session, and cannot be refreshed', async () => {
      const key = await keyOf(app, await logIn(app));
      expect((await app.post('/api/auth/refresh', { refreshToken: key })).status).toBe(401);
      expect((await app.post('/api/auth/logout', { refreshToken: key })).status).toBe(401);
      expect(await statusOf(app, key, '/code/any')).toBe(200);
    });

    it('rules by URL and decorators ask for a key, or refuse it', async () => {
      const boss = await logIn(app, 'ADMIN');
      const credentials = [boss.token, await keyOf(app, boss), await keyOf(app, boss, { roles: [] })];
      const statuses = async (path: string, method?: string) =>
        Promise.all(credentials.map((token) => statusOf(app, token, path, method)));
      expect(await statuses('/code/any')).toEqual([200, 200, 200]);
      expect(await statuses('/code/any', 'HEAD')).toEqual([200, 200, 200]);
      expect(await statuses('/code/import', 'POST')).toEqual([403, 200, 200]);
      expect(await statuses('/code/payout')).toEqual([200, 403, 403]);
      expect(await statuses('/code/both')).toEqual([200, 200, 200]);
      expect(await statuses('/code/admin')).toEqual([200, 200, 403]);
      expect(await statuses('/code/rule/key')).toEqual([403, 200, 200]);
      expect(await statuses('/code/rule/login')).toEqual([200, 403, 403]);
      expect(await statuses('/code/rule/admin-key')).toEqual([403, 200, 403]);
      const refused = await Promise.all([
        request(app.url, 'POST', '/code/import', { token: boss.token }),
        app.get('/code/payout', { token: credentials[1]! }),
      ]);
      expect(refused.map(({ json }) => json)).toEqual([
        refusal('Key access required'),
        refusal('Login access required'),
      ]);
      const seen = await app.get('/code/any', { token: credentials[1]! });
      expect(seen.json.user).toEqual({ id: boss.id, email: boss.email, roles: ['ADMIN', 'KEY'] });
    });

    it('field permissions and the access endpoint know keys', async () => {
      const boss = await logIn(app, 'ADMIN');
      const key = await keyOf(app, boss);
      const created = await request(app.url, 'POST', '/api/notes', { token: key, json: { text: 'a', price: 5 } });
      expect([created.status, Object.keys(created.json.data)]).toEqual([201, ['id', 'text']]);
      const { id } = created.json.data;
      expect((await app.get(`/api/notes/${id}`, { token: boss.token })).json.data).toEqual({ id, text: 'a', price: 5 });
      const readable = async (token: string) => {
        const { authenticated, resources } = (await app.get('/api/auth/access', { token })).json.data;
        return [authenticated, resources[0].read];
      };
      expect(await readable(boss.token)).toEqual([true, ['id', 'text', 'price']]);
      expect(await readable(key)).toEqual([true, ['id', 'text']]);
    });

    it('has at most the roles of its user at the time of use', async () => {
      const boss = await logIn(app, 'ADMIN');
      const keys = [await keyOf(app, boss), await keyOf(app, boss, { roles: ['EDITOR', 'EDITOR', 'USER'] })];
      const rolesOf = async () =>
        Promise.all(keys.map(async (token) => (await app.get('/who', { token })).json.user.roles));
      expect(await rolesOf()).toEqual([
        ['ADMIN', 'KEY'],
        ['EDITOR', 'USER', 'KEY'],
      ]);
      await accounts().setRole(boss.id, 'EDITOR');
      expect(await rolesOf()).toEqual([['KEY'], ['EDITOR', 'USER', 'KEY']]);
      expect(await statusOf(app, keys[0]!, '/code/admin')).toBe(403);
      await accounts().setRole(boss.id, 'USER');
      expect(await rolesOf()).toEqual([['KEY'], ['USER', 'KEY']]);
      const late = await keyOf(app, boss);
      await accounts().setRole(boss.id, 'ADMIN');
      expect(await rolesOf()).toEqual([
        ['ADMIN', 'KEY'],
        ['EDITOR', 'USER', 'KEY'],
      ]);
      // A promotion of the user promotes no key.
      expect((await app.get('/who', { token: late })).json.user.roles).toEqual(['USER', 'KEY']);
    });

    it('no user may have the role of keys or of logins', async () => {
      const [boss, user] = [await logIn(app, 'ADMIN'), await logIn(app)];
      for (const role of ['KEY', 'LOGIN', 'key']) {
        await expect(accounts().setRole(user.id, role)).rejects.toThrow(/^role: expected/);
        const answer = await request(app.url, 'PATCH', `/api/auth/users/${user.id}`, {
          token: boss.token,
          json: { role },
        });
        expect(answer.status).toBe(400);
      }
    });

    it('ends with its user, and not with a password or sessions', async () => {
      const [ann, ben] = [await logIn(app), await logIn(app)];
      const [key, other] = [await keyOf(app, ann), await keyOf(app, ben)];
      const status = (token = key) => statusOf(app, token, '/code/any');
      expect((await app.post('/api/auth/logout-all', {}, { token: ann.token })).status).toBe(204);
      await accounts().setPassword(ann.id, 'another password of mine');
      await accounts().endSessions(ann.id);
      expect(await status()).toBe(200);
      await accounts().setActive(ann.id, false);
      expect(await status()).toBe(401);
      await accounts().setActive(ann.id, true);
      expect(await status()).toBe(401);
      expect(await table().countBy({ userId: String(ann.id) })).toBe(0);
      const json = { password: PASSWORD };
      expect((await request(app.url, 'DELETE', '/api/auth/me', { token: ben.token, json })).status).toBe(204);
      expect([await status(other), await table().countBy({ userId: String(ben.id) })]).toEqual([401, 0]);
    });

    it('ends with a user who was removed or deactivated without the package', async () => {
      for (const change of [{ active: false }, undefined]) {
        const ann = await logIn(app);
        const key = await keyOf(app, ann);
        if (change) await app.users().update(ann.id, change);
        else await app.users().delete(ann.id);
        const answer = await app.get('/code/any', { token: key });
        expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"']);
        expect((await app.get('/who', { token: key })).json).toEqual({ user: null });
      }
    });

    it('expires by the clock of the database, and frees its place', async () => {
      const ann = await logIn(app);
      const key = await keyOf(app, ann, { expiresAt: new Date(Date.now() + 60_000).toISOString() });
      expect(await statusOf(app, key, '/code/any')).toBe(200);
      await table().update({ userId: String(ann.id) }, { expiresAt: Date.now() - 1000 });
      expect([await statusOf(app, key, '/code/any'), await list(ann)]).toEqual([401, []]);
      await keyOf(app, ann);
      expect(await table().countBy({ userId: String(ann.id) })).toBe(1);
    });

    it('writes its last use after the answer, at most once a minute', async () => {
      const ann = await logIn(app);
      const key = await keyOf(app, ann);
      const used = async () => (await table().findOneByOrFail({ userId: String(ann.id) })).lastUsedAt;
      const becomes = (check: (time: number | null) => boolean) =>
        vi.waitFor(async () => expect(check(await used())).toBe(true));
      await statusOf(app, key, '/code/any');
      await becomes((time) => time !== null && Math.abs(time - Date.now()) < 30_000);
      for (const [age, isWritten] of [
        [50_000, false],
        [61_000, true],
      ] as const) {
        const before = Date.now() - age;
        await table().update({ userId: String(ann.id) }, { lastUsedAt: before });
        await Promise.all([statusOf(app, key, '/code/any'), statusOf(app, key, '/code/any')]);
        if (isWritten) await becomes((time) => time !== before);
        else {
          await new Promise((later) => setTimeout(later, 50));
          expect(await used()).toBe(before);
        }
      }
    });

    it('what is no key, or not alone, authenticates nobody', async () => {
      const ann = await logIn(app);
      const key = await keyOf(app, ann);
      const statuses = await Promise.all(
        [UNKNOWN_KEY, `${key}x`, key.slice(3), key.toLowerCase(), `${key}.${key}`, `dk_${'x'.repeat(49)}`].map(
          (token) => statusOf(app, token, '/code/any'),
        ),
      );
      expect(statuses).toEqual(Array(6).fill(401));
      const sent = (headers: Record<string, string>, path = '/code/any') => app.get(path, { headers });
      expect((await sent({ authorization: `Basic ${key}` })).status).toBe(401);
      expect((await sent({ authorization: key })).status).toBe(401);
      expect((await sent({ 'x-api-key': key })).status).toBe(401);
      expect((await sent({}, `/code/any?token=${key}`)).status).toBe(401);
      expect((await sent({ authorization: `bearer ${key}` })).status).toBe(200);
      const both = [`Bearer ${key}`, `Bearer ${ann.token}`];
      for (const authorization of [both, both.toReversed()])
        expect((await sent({ authorization } as never)).status).toBe(401);
    });

    it('at most 50 keys, also of 60 requests at once', async () => {
      const ann = await logIn(app);
      const answers = await Promise.all(Array.from({ length: 60 }, () => createKey(app, ann)));
      const refused = answers.filter(({ status }) => status !== 201);
      expect(refused).toHaveLength(10);
      expect(new Set(refused.map((each) => expectFailure(each, 409)))).toEqual(
        new Set(['A user has at most 50 keys. Delete one first']),
      );
      const keys = await list(ann);
      expect(keys).toHaveLength(50);
      await request(app.url, 'DELETE', `/api/auth/keys/${keys[7].id}`, { token: ann.token });
      expect([(await createKey(app, ann)).status, (await createKey(app, ann)).status]).toEqual([201, 409]);
    });

    it('a token whose session has ended makes no key', async () => {
      const ann = await logIn(app);
      await app.post('/api/auth/logout-all', {}, { token: ann.token });
      expect((await app.get('/who', { token: ann.token })).json.user).not.toBeNull();
      expect((await createKey(app, ann)).status).toBe(401);
      const ben = await logIn(app);
      await accounts().setActive(ben.id, false);
      await accounts().setActive(ben.id, true);
      expect((await createKey(app, ben)).status).toBe(401);
    });

    it('no key stays whose session ends before it is stored', async () => {
      const ann = await logIn(app);
      beforeStatement(app, /^INSERT INTO "declarest_api_key"\(/, () => accounts().endSessions(ann.id));
      const { status } = await createKey(app, ann);
      vi.restoreAllMocks();
      expect([status, await table().countBy({ userId: String(ann.id) })]).toEqual([401, 0]);
    });
  });

  it('what cannot be a key needs no query of keys, and logs never show one', async () => {
    const logger = new StatementLog();
    app = await startAuth(platform, { ...KEYED, dataSource: { logger } as never });
    const ann = await logIn(app);
    const key = await keyOf(app, ann);
    logger.take();
    const wrong = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x');
    expect([await statusOf(app, wrong, '/code/any'), logger.take()]).toEqual([401, []]);
    for (const id of ['7', '%00', key]) {
      const { status } = await request(app.url, 'DELETE', `/api/auth/keys/${id}`, { token: ann.token });
      const ofKeys = logger.take().filter(([sql]) => !sql.includes('declarest_auth_session'));
      expect([id, status, ofKeys]).toEqual([id, 404, []]);
    }
    expect(await statusOf(app, key, '/code/any')).toBe(200);
    await vi.waitFor(async () => expect((await list(ann))[0].lastUsedAt).not.toBeNull());
    const ofUse = logger.take();
    expect(await statusOf(app, key, '/code/any')).toBe(200);
    await new Promise((later) => setTimeout(later, 50));
    // The key and its user, whose last use was written just before.
    expect(logger.take().map(([sql]) => sql.slice(0, 6))).toEqual(['SELECT', 'SELECT']);
    const { id } = (await list(ann))[0];
    await request(app.url, 'DELETE', `/api/auth/keys/${id}`, { token: ann.token });
    await statusOf(app, key, '/code/any');
    vi.spyOn(app.app.get(AccountTables, { strict: false }), 'read').mockRejectedValue(new Error('away'));
    const away = await app.get('/code/any', { token: key });
    expect([away.status, away.headers['retry-after']]).toEqual([503, '5']);
    expect((await app.get('/who', { token: key })).json).toEqual({ user: null });
    vi.restoreAllMocks();
    const shown = JSON.stringify([ofUse, logger.take(), app.logs]);
    for (const secret of [key, key.slice(11), wrong]) expect(shown).not.toContain(secret);
    await app.close();
  });

  it('with immediate revocation and claims, is as good as a token', async () => {
    app = await startAuth(platform, {
      auth: {
        plugins: [sessions({ revocation: 'immediate' }), apiKeys()],
        claims: ({ id }) => ({ tenantId: `t${id}` }),
      },
      controllers: [CodeController],
      providers: [Rules],
    });
    const ann = await logIn(app);
    const key = await keyOf(app, ann);
    await app.post('/api/auth/logout', {}, { token: ann.token });
    const { user } = (await app.get('/code/any', { token: key })).json;
    expect(user).toEqual({ id: ann.id, email: ann.email, roles: ['USER', 'KEY'], tenantId: `t${ann.id}` });
    await app.close();
  });

  it('without a hierarchy and without sessions, keys are the same', async () => {
    app = await startAuth(platform, { ...KEYED, auth: { plugins: [apiKeys(), own] } });
    const boss = await logIn(app, 'ADMIN');
    const key = await keyOf(app, boss);
    const statuses = await Promise.all(
      ['/code/any', '/code/admin', '/code/payout', '/code/rule/key', '/api/auth/me', '/api/auth/own/status'].map(
        (path) => statusOf(app, key, path),
      ),
    );
    expect(statuses).toEqual([200, 200, 403, 200, 403, 403]);
    await app.close();
  });

  it('a key writes roles of users only with the role for it, as its user has it now', async () => {
    const ADMINS = { write: ['ADMIN'] };
    const users = CrudModule.forFeature({
      entity: User,
      endpoint: '/api/members',
      operations: ['findAll', 'findById', 'patch'],
      fieldPermissions: { role: ADMINS },
    });
    app = await startAuth(platform, {
      auth: { plugins: [apiKeys()], defaultAccess: 'authenticated' },
      imports: [users],
    });
    const [boss, ann] = [await logIn(app, 'ADMIN'), await logIn(app)];
    const keys = [await keyOf(app, boss), await keyOf(app, boss, { roles: [] })];
    const promote = (token: string, role: string) =>
      request(app.url, 'PATCH', `/api/members/${ann.id}`, { token, json: { role } });
    expect((await promote(keys[1]!, 'EDITOR')).status).toBe(400);
    expect((await promote(keys[0]!, 'KEY')).status).toBe(400);
    expect((await promote(keys[0]!, 'EDITOR')).status).toBe(200);
    await accounts().setRole(boss.id, 'USER');
    expect((await promote(keys[0]!, 'ADMIN')).status).toBe(400);
    expect((await app.row({ id: ann.id })).role).toBe('EDITOR');
    await app.close();
  });

  it('the default access takes keys, and a gateway knows them', async () => {
    @WebSocketGateway()
    class Gateway {
      @Authenticated({ by: ['key'] })
      @SubscribeMessage('import')
      import(@CurrentUser() user: Principal) {
        return user.roles;
      }
      @Authenticated({ by: ['login'] })
      @SubscribeMessage('payout')
      payout() {
        return 'done';
      }
    }
    app = await startAuth(platform, {
      auth: { plugins: [apiKeys()], defaultAccess: 'authenticated' },
      controllers: [CodeController],
      providers: [Gateway],
    });
    const ann = await logIn(app);
    const key = await keyOf(app, ann);
    expect(await statusOf(app, key, '/code/rule/login')).toBe(200);
    const ask = async (token: string, event: string) => {
      const socket = io(app.url, { forceNew: true, reconnection: false, auth: { token } });
      const answer = await new Promise((resolve) => {
        socket.emit(event, {}, resolve);
        socket.on('exception', ({ message }: { message: string }) => resolve(message));
      });
      socket.disconnect();
      return answer;
    };
    expect(await ask(key, 'import')).toEqual(['USER', 'KEY']);
    expect(await ask(key, 'payout')).toBe('Login access required');
    expect(await ask(ann.token, 'payout')).toBe('done');
    expect(await ask(ann.token, 'import')).toBe('Key access required');
    await app.close();
  });

  it('a database that is away while a key is read is 503, and logins by password go on', async () => {
    app = await startAuth(platform, KEYED);
    const key = await keyOf(app, await logIn(app));
    const read = vi.spyOn(app.app.get(AccountTables, { strict: false }), 'read');
    read.mockRejectedValue(new ServiceUnavailable('away', 5));
    expect(await statusOf(app, key, '/code/any')).toBe(503);
    vi.restoreAllMocks();
    expect(await statusOf(app, key, '/code/any')).toBe(200);
    await app.close();
  });
});

describe('startup', () => {
  it.each<[string, Partial<AuthOptions>, string]>([
    ['the plugin twice', { plugins: [apiKeys(), apiKeys()] }, 'the plugin apiKeys twice'],
    [
      'a hierarchy that gives keys a role',
      { plugins: [apiKeys()], roleHierarchy: { KEY: ['ADMIN'] } },
      'AuthModule option `roleHierarchy` must be without KEY and LOGIN',
    ],
    ['a hierarchy that makes users keys', { plugins: [apiKeys()], roleHierarchy: { ADMIN: ['KEY'] } }, 'got "KEY". '],
    ['a hierarchy with logins', { plugins: [apiKeys()], roleHierarchy: { ADMIN: ['LOGIN'] } }, 'got "LOGIN". '],
  ])('refuses %s', async (_, auth, part) => {
    const { error } = await bootAuth('express', { auth });
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect((error as Error).message).toContain(part);
    expect((error as Error).message).toMatch(/^[^\n]+ must be [^\n]+, got [^\n]+\. [A-Z][^\n]{10,}\.$/);
  });

  it('says which table is missing', async () => {
    const { error } = await bootAuth('express', { auth: { plugins: [apiKeys()] }, dataSource: { synchronize: false } });
    expect((error as Error).message).toContain('table declarest_api_key of ApiKey');
  });

  it.each([[[]], ['token'], [null], [['token']], [['key', 'cookie']], [['constructor']]])(
    'refuses @Authenticated({ by: %j })',
    (by) => {
      expect(() => Authenticated({ by } as never)).toThrow(
        /^The arguments of @Authenticated must be "key" or "login", got .+\. Write for example @Authenticated\({ by: \["key"\] }\)\.$/,
      );
    },
  );

  it('refuses another member of @Authenticated, which would require nothing', () => {
    expect(() => Authenticated({ buy: ['key'] } as never)).toThrow(
      /^The argument of @Authenticated must be an object with/,
    );
  });

  it('without the plugin, KEY and LOGIN are roles as others', async () => {
    const app = await startAuth('express', {
      auth: { roleHierarchy: { KEY: ['LOGIN'] } },
      controllers: [CodeController],
      providers: [Rules],
    });
    const [key, login] = [await logIn(app, 'KEY'), await logIn(app, 'LOGIN')];
    const statuses = ({ token }: Owner) =>
      Promise.all(['/code/rule/key', '/code/rule/login', '/api/auth/me'].map((path) => statusOf(app, token, path)));
    expect(await statuses(key)).toEqual([200, 200, 200]);
    expect(await statuses(login)).toEqual([403, 200, 200]);
    await app.close();
  });
});

describe.each(DATABASES)('on %s', (database) => {
  it('keeps, finds, limits and ends keys', async () => {
    const app = await startAuth('fastify', { ...KEYED, database });
    const boss = await logIn(app, 'ADMIN');
    const key = await keyOf(app, boss, { roles: ['EDITOR'], expiresAt: '2999-01-31T09:30:00Z' });
    expect((await app.get('/who', { token: key })).json.user.roles).toEqual(['EDITOR', 'KEY']);
    const { json } = await app.get('/api/auth/keys', { token: boss.token });
    expect(json.data).toMatchObject([{ roles: ['EDITOR'], expiresAt: '2999-01-31T09:30:00.000Z' }]);
    await app.app.get(UserAccounts, { strict: false }).setActive(boss.id, false);
    expect(await statusOf(app, key, '/code/any')).toBe(401);
    await app.close();
  });
});
