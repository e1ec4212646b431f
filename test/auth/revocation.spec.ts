/** `sessions: { revocation: 'immediate' }`: an access token ends with its session, on every instance. */
import { setTimeout as delay } from 'node:timers/promises';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Authenticated, CrudController, CurrentUser, type Principal, Public, UserAccounts } from 'declarest';
import { AccountTables, ServiceUnavailable } from 'declarest/plugin';
import { io } from 'socket.io-client';
import { as } from 'declarest/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule, AuthModule, SecurityConfig } from 'declarest';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { request } from '../harness/client.js';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { linesOf, ONE_PLATFORM, startApp, type RunningApp } from '../harness/platforms.js';
import { refusal } from '../harness/refusal.js';
import { claims, makeToken } from '../harness/tokens.js';
import { AUTH, PASSWORD, startAuth, uniqueEmail, WhoController } from './auth-app.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column() text!: string;
}

class Notes extends CrudController({ entity: Note, endpoint: '/api/notes' }) {}

class Rules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/who');
    this.requireAuth('/api/**');
  }
}

describe.each(DATABASES)('immediate revocation on %s', (database) => {
  describe.each(ONE_PLATFORM)('on %s', (platform) => {
    /** Two instances of one application. */
    let apps: [RunningApp, RunningApp];
    let drop: () => Promise<void>;
    beforeAll(async () => {
      const created = await createDatabase(database);
      drop = () => created.drop();
      const start = () =>
        startApp(platform, {
          imports: [
            TypeOrmModule.forRoot({ ...created.options, logging: false }),
            AuthModule.forRoot({ ...AUTH, sessions: { revocation: 'immediate' } }),
            CrudModule.forFeature(Notes),
          ],
          controllers: [WhoController],
          providers: [Rules],
        });
      apps = [await start(), await start()];
    });
    afterAll(async () => {
      await Promise.all(apps.map(({ close }) => close()));
      await drop();
    });

    const register = async () => {
      const email = uniqueEmail();
      const { json } = await request(apps[0].url, 'POST', '/api/auth/register', {
        json: { email, password: PASSWORD },
      });
      return { ...json.data, email } as { token: string; refreshToken: string; user: { id: number }; email: string };
    };
    const statuses = (token: string, path = '/api/notes') =>
      Promise.all(apps.map(async ({ url }) => (await request(url, 'GET', path, { token })).status));
    const accounts = () => apps[0].app.get(UserAccounts, { strict: false });

    it.each<[string, (session: { token: string; user: { id: number } }) => Promise<unknown>]>([
      ['logout', ({ token }) => request(apps[0].url, 'POST', '/api/auth/logout', { token })],
      ['deactivation', ({ user }) => accounts().setActive(user.id, false)],
      ['another role', ({ user }) => accounts().setRole(user.id, 'EDITOR')],
      [
        'another role, written to the table',
        ({ user }) =>
          apps[1].app.get(DataSource).query(`UPDATE ${quoted('user')} SET role = 'BOSS' WHERE id = ${user.id}`),
      ],
      [
        'the end of the user',
        ({ user }) => apps[1].app.get(DataSource).query(`DELETE FROM ${quoted('user')} WHERE id = ${user.id}`),
      ],
    ])('after %s, the token is refused on each instance at once', async (_, end) => {
      const [session, other] = [await register(), await register()];
      expect(await statuses(session.token)).toEqual([200, 200]);
      await end(session);
      expect(await statuses(session.token)).toEqual([401, 401]);
      const answer = await request(apps[1].url, 'GET', '/api/notes', { token: session.token });
      expect([answer.json, answer.headers['www-authenticate']]).toEqual([
        refusal('Authentication required'),
        'Bearer error="invalid_token"',
      ]);
      // A bad token on a public path is ignored.
      const who = await request(apps[1].url, 'GET', '/who', { token: session.token });
      expect([who.status, who.json]).toEqual([200, { user: null }]);
      expect(await statuses(other.token)).toEqual([200, 200]);
    });

    const quoted = (name: string): string => (database === 'mariadb' ? `\`${name}\`` : `"${name}"`);

    it('after a change of the role, a refresh gives a token with the new one', async () => {
      const session = await register();
      expect(await statuses(session.token)).toEqual([200, 200]);
      await accounts().setRole(session.user.id, 'EDITOR');
      const { refreshToken } = session;
      const { json } = await request(apps[1].url, 'POST', '/api/auth/refresh', { json: { refreshToken } });
      const who = await request(apps[1].url, 'GET', '/who', { token: json.data.token });
      expect(who.json.user).toMatchObject({ roles: ['EDITOR'] });
    });

    it('a token without a session, or with another user’s session, is refused', async () => {
      const [ann, ben] = [await register(), await register()];
      const { sid } = JSON.parse(Buffer.from(ann.token.split('.')[1] ?? '', 'base64url').toString()) as { sid: string };
      for (const changed of [{}, { sid: 'x' }, { sid }, { sid: '0'.repeat(32) }]) {
        const token = makeToken({ payload: claims({ sub: String(ben.user.id), ...changed }) });
        expect([changed, await statuses(token)]).toEqual([changed, [401, 401]]);
      }
      const own = makeToken({ payload: claims({ sub: String(ann.user.id), sid }) });
      expect(await statuses(own)).toEqual([200, 200]);
    });

    it('a test may still send requests as any user', async () => {
      const client = as(apps[0].app, { roles: ['ADMIN'], sub: 77 });
      expect((await client.get('/api/notes')).status).toBe(200);
      expect((await client.get('/who')).json.user).toMatchObject({ id: 77, roles: ['ADMIN'] });
    });
  });

  it('reads the session by one statement, and not for requests without a token', async () => {
    const { options, drop } = await createDatabase(database);
    const statements: string[] = [];
    const logger = { logQuery: (sql: string) => statements.push(sql) };
    for (const name of ['logQueryError', 'logQuerySlow', 'logSchemaBuild', 'logMigration', 'log'])
      Object.assign(logger, { [name]: () => undefined });
    const { url, close } = await startApp('fastify', {
      imports: [
        TypeOrmModule.forRoot({ ...options, logging: ['query'], logger: logger as never }),
        AuthModule.forRoot({ ...AUTH, sessions: { revocation: 'immediate' } }),
      ],
      controllers: [WhoController],
    });
    const sent = { json: { email: uniqueEmail(), password: PASSWORD } };
    const { token } = (await request(url, 'POST', '/api/auth/register', sent)).json.data;
    statements.length = 0;
    await request(url, 'GET', '/who', { token });
    await request(url, 'GET', '/who');
    expect(statements.filter((sql) => sql.includes('declarest_auth_session'))).toHaveLength(1);
    await close();
    await drop();
  });
});

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  it('messages of one connection at the same time all have the user, while the session is read', async () => {
    /** Another guard of the application: other messages arrive between the decision and the handler. */
    const slow = { canActivate: () => delay(10).then(() => true) };
    @UseGuards(slow)
    @WebSocketGateway()
    class Gateway {
      @Authenticated()
      @SubscribeMessage('who')
      async who(@CurrentUser() user?: Principal) {
        return user?.id;
      }
      @Public()
      @SubscribeMessage('open')
      async open(@CurrentUser() user?: Principal) {
        return user?.id ?? null;
      }
    }
    const app = await startAuth(platform, { auth: { sessions: { revocation: 'immediate' } }, providers: [Gateway] });
    const { token, user } = await app.register({ email: uniqueEmail() });
    const tables = app.app.get(AccountTables, { strict: false });
    const read = tables.read.bind(tables);
    let calls = 0;
    // Every other look-up takes longer.
    vi.spyOn(tables, 'read').mockImplementation(async (...args) => {
      await delay((calls += 1) % 2 === 0 ? 20 : 5);
      return read(...args);
    });
    const socket = io(app.url, { forceNew: true, reconnection: false, auth: { token } });
    const send = (event: string) => new Promise((resolve) => socket.emit(event, {}, resolve));
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => delay(n).then(() => send(n % 3 === 0 ? 'open' : 'who'))),
    );
    expect(answers).toEqual(Array(60).fill(user['id']));
    socket.disconnect();
    vi.restoreAllMocks();
    await app.close();
  });

  it('a session that cannot be read is a 503 and a line in the log', async () => {
    const app = await startAuth(platform, { auth: { sessions: { revocation: 'immediate' } } });
    const { token } = await app.register({ email: uniqueEmail() });
    await app.users().query('DROP TABLE declarest_auth_session');
    expect((await app.get('/api/auth/me', { token })).status).toBe(503);
    const [line] = linesOf(app.logs, 'error');
    expect(line).toContain('The session of a token could not be read.');
    await app.close();
  });
});

describe.each(ONE_PLATFORM)('without the database, on %s', (platform) => {
  it('no token counts, also at a route that needs no database', async () => {
    @Authenticated()
    @Controller()
    class ClockController {
      @Get('clock')
      read() {
        return { now: 0 };
      }
    }
    const app = await startAuth(platform, {
      auth: { sessions: { revocation: 'immediate' } },
      controllers: [ClockController],
    });
    const { token } = await app.register({ email: uniqueEmail() });
    const failures = [new ServiceUnavailable('away', 5), new Error('another failure')];
    for (const failure of failures) {
      vi.spyOn(app.app.get(AccountTables, { strict: false }), 'read').mockRejectedValue(failure);
      const refused = await app.get('/clock', { token });
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
      expect((await app.get('/who', { token })).json).toEqual({ user: null });
      vi.restoreAllMocks();
    }
    expect((await app.get('/clock', { token })).json).toEqual({ now: 0 });
    await app.close();
  });

  it('a protected request is 503 with Retry-After, in the shape of the route', async () => {
    const { options, drop } = await createDatabase();
    const { url, app, close } = await startApp(platform, {
      imports: [
        TypeOrmModule.forRoot(options),
        AuthModule.forRoot({ ...AUTH, sessions: { revocation: 'immediate' } }),
        CrudModule.forFeature(Notes),
      ],
      controllers: [WhoController],
      providers: [Rules],
    });
    const sent = { json: { email: uniqueEmail(), password: PASSWORD } };
    const { token } = (await request(url, 'POST', '/api/auth/register', sent)).json.data;
    await app.get(DataSource).destroy();
    for (const path of ['/api/notes', '/api/auth/me', '/api/auth/sessions']) {
      const answer = await request(url, 'GET', path, { token });
      expect([path, answer.status, answer.headers['retry-after']]).toEqual([path, 503, '5']);
      expect(answer.json).toMatchObject({ message: 'The database is temporarily unavailable, try again' });
    }
    expect((await request(url, 'GET', '/api/notes')).status).toBe(401);
    expect((await request(url, 'GET', '/who', { token })).json).toEqual({ user: null });
    await close();
    await drop();
  });
});
