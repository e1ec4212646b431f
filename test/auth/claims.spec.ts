/** `claims`, secrets that are replaced, `issuer` and `audience`. */
import {
  AuthModule,
  AuthSession,
  AuthUser,
  CrudController,
  CrudModule,
  CurrentUser,
  type Principal,
  runAs,
  type ScopeContext,
  SecurityConfig,
} from 'declarest';
import { Controller, Get } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { as as clientOf } from 'declarest/testing';
import { Column, DataSource, DeleteDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type Answer, request } from '../harness/client.js';
import { createDatabase, type DatabaseName, DATABASES } from '../harness/databases.js';
import { linesOf, ONE_PLATFORM, type RunningApp, startApp } from '../harness/platforms.js';
import { claims, makeToken, TEST_SECRET } from '../harness/tokens.js';
import { AUTH, bootAuth, expectFailure, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';

@Entity('member')
class Member extends AuthUser {
  @Column({ type: 'integer', nullable: true }) tenantId!: number | null;
}

/** A table of its own, whose users are hidden instead of deleted. */
@Entity('removable')
class Removable extends AuthUser {
  @DeleteDateColumn() deletedAt!: Date | null;
}

const cyclic = (): object => {
  const made: Record<string, unknown> = {};
  return Object.assign(made, { made });
};

interface Claims {
  tenantId: number | null;
}

@Entity()
class Invoice {
  @PrimaryGeneratedColumn() id!: number;
  @Column() text!: string;
  @Column('integer') tenantId!: number;
}

@Entity()
class Report {
  @PrimaryGeneratedColumn() id!: number;
  @Column() text!: string;
  @Column('integer') tenantId!: number;
}

class Invoices extends CrudController({
  entity: Invoice,
  endpoint: '/api/invoices',
  owner: { field: 'tenantId', claim: 'tenantId', reads: true, except: ['ADMIN'] },
}) {}

class Reports extends CrudController({
  entity: Report,
  endpoint: '/api/reports',
  scope: ({ user }: ScopeContext<Claims>) => (user?.tenantId == null ? false : { tenantId: user.tenantId }),
}) {}

@Controller('seen')
class SeenController {
  @Get()
  seen(@CurrentUser() user: Principal<Claims>) {
    const tenant: number | null = user.tenantId;
    return { tenant, user };
  }
}

class Rules extends SecurityConfig {
  configure(): void {
    this.requireAuth('/**');
    this.publicEndpoints('/api/auth/**');
  }
}

const payloadOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  describe.each(DATABASES)('two tenants on %s', (database) => {
    let running: RunningApp;
    let drop: () => Promise<void>;
    let tokens: Record<'ann' | 'ben' | 'boss' | 'none', string>;
    beforeAll(async () => {
      const created = await createDatabase(database);
      drop = () => created.drop();
      running = await startApp(platform, {
        imports: [
          TypeOrmModule.forRoot(created.options),
          AuthModule.forRoot<Member, Claims>({
            ...AUTH,
            userClass: Member,
            sessions: true,
            registrationFields: ['tenantId'],
            claims: ({ tenantId }) => ({ tenantId }),
          }),
          CrudModule.forFeature(Invoices, Reports),
        ],
        controllers: [SeenController],
        providers: [Rules],
      });
      const register = async (tenantId: number | null): Promise<string> => {
        const json = { email: uniqueEmail(), password: PASSWORD, ...(tenantId !== null && { tenantId }) };
        return (await request(running.url, 'POST', '/api/auth/register', { json })).json.data.token as string;
      };
      const boss = makeToken({ payload: claims({ sub: '99', roles: ['ADMIN'] }) });
      tokens = { ann: await register(1), ben: await register(2), none: await register(null), boss };
    });
    afterAll(async () => {
      await running.close();
      await drop();
    });
    const as =
      (who: keyof typeof tokens) =>
      (method: string, path: string, json?: unknown): Promise<Answer> =>
        request(running.url, method, path, { token: tokens[who], ...(json !== undefined && { json }) });

    it('puts claims into the token and request.user, and not into me', async () => {
      expect(payloadOf(tokens.ann)).toMatchObject({ tenantId: 1, roles: ['USER'] });
      const { json } = await as('ann')('GET', '/seen');
      expect(json).toEqual({
        tenant: 1,
        user: { id: expect.anything(), email: expect.any(String), roles: ['USER'], tenantId: 1 },
      });
      const me = await as('ann')('GET', '/api/auth/me');
      expect(Object.keys(me.json.data.user)).not.toContain('tenantId');
    });

    it('an owner by claim keeps tenants apart, and fills the column', async () => {
      const created = await as('ann')('POST', '/api/invoices', { text: 'Oats' });
      expect([created.status, created.json.data.tenantId]).toEqual([201, 1]);
      const path = `/api/invoices/${created.json.data.id}`;
      expect((await as('ben')('GET', path)).status).toBe(404);
      expect((await as('ben')('PATCH', path, { text: 'Mine' })).status).toBe(404);
      expect((await as('ben')('DELETE', path)).status).toBe(404);
      expect((await as('ann')('POST', '/api/invoices', { text: 'Rye', tenantId: 2 })).status).toBe(400);
      expect((await as('ben')('GET', '/api/invoices')).json.data).toEqual([]);
      expect((await as('ann')('GET', '/api/invoices')).json.data).toHaveLength(1);
    });

    it('a user without the claim owns nothing, and a role that is not bound sends the column', async () => {
      expect((await as('none')('GET', '/api/invoices')).json.data).toEqual([]);
      expect((await as('none')('POST', '/api/invoices', { text: 'Rye' })).status).toBe(403);
      expect((await as('boss')('POST', '/api/invoices', { text: 'Rye' })).status).toBe(400);
      const created = await as('boss')('POST', '/api/invoices', { text: 'Rye', tenantId: 2 });
      expect([created.status, created.json.data.tenantId]).toEqual([201, 2]);
      expect((await as('ben')('GET', '/api/invoices')).json.data).toMatchObject([{ text: 'Rye' }]);
    });

    it('a test sends requests as a user with claims', async () => {
      const client = clientOf(running.app, { roles: ['USER'], claims: { tenantId: 3 } });
      expect((await client.get('/seen')).json.tenant).toBe(3);
    });

    it('a scope by claim keeps tenants apart', async () => {
      const reports = running.app.get(Reports, { strict: false });
      await runAs({ id: 1, tenantId: 1 }, () => reports.create({ text: 'Sales', tenantId: 1 }));
      expect((await as('ann')('GET', '/api/reports')).json.data).toMatchObject([{ text: 'Sales' }]);
      expect((await as('ben')('GET', '/api/reports')).json.data).toEqual([]);
      expect((await as('none')('GET', '/api/reports')).json.data).toEqual([]);
      expect((await as('ben')('POST', '/api/reports', { text: 'Sales', tenantId: 1 })).status).toBe(403);
    });
  });

  it('a token’s further claims do not count without the option', async () => {
    const app = await startAuth(platform);
    const token = makeToken({ payload: claims({ tenantId: 7, isAdmin: true }) });
    expect((await app.get('/who', { token })).json.user).toEqual({ id: 1, email: 'ann@example.com', roles: ['USER'] });
    await app.close();
  });

  it.each<[string, () => unknown]>([
    ['a reserved name', () => ({ roles: ['ADMIN'] })],
    ['what only a second factor says', () => ({ amr: ['mfa'] })],
    ['the name of an id', () => ({ id: 1 })],
    ['no object', () => 'tenant'],
    ['nothing', () => undefined],
    [
      'an error',
      () => {
        throw new Error('the directory is away');
      },
    ],
    ['a promise that fails', () => Promise.reject(new Error('the directory is away'))],
  ])('claims that return %s are logged, and the login is 500', async (_, make) => {
    let claimsOf: () => unknown = () => ({});
    const app = await startAuth(platform, { auth: { claims: (() => claimsOf()) as never } });
    const email = uniqueEmail();
    await app.register({ email });
    claimsOf = make;
    const answer = await app.post('/api/auth/login', { email, password: PASSWORD });
    expect(expectFailure(answer, 500)).toBe('Internal server error');
    const [line = ''] = linesOf(app.logs, 'error').filter((each) => each.includes('/api/auth/login'));
    expect(line).toMatch(/claims|directory/);
    expect(line).not.toContain(PASSWORD);
    await app.close();
  });

  it.each<[string, () => unknown, expected: RegExp, databases: readonly DatabaseName[]]>([
    ['a BigInt', () => ({ tenant: 1n }), /values that JSON can hold.*BigInt/, DATABASES],
    ['a cycle', () => cyclic(), /values that JSON can hold.*circular/, ['sqlite']],
    ['a `toJSON` that fails', () => ({ tenant: { toJSON: () => 1n } }), /values that JSON can hold/, ['sqlite']],
    ['a `toJSON` of its own', () => ({ toJSON: () => ({ tenant: 1 }) }), /without `toJSON`/, ['sqlite']],
    ['20 kB', () => ({ groups: 'x'.repeat(20_000) }), /at most 4096 bytes of JSON, got 20013/, ['sqlite']],
    ['letters of several bytes', () => ({ groups: 'ü'.repeat(2_100) }), /of JSON, got 4213/, ['sqlite']],
    ['an error', () => Promise.reject(new Error('the directory is away')), /directory/, ['sqlite']],
  ])('claims with %s spend no token, start no session and store no user', async (_, make, expected, databases) => {
    for (const database of databases) {
      let claimsOf: () => unknown = () => ({ groups: 'x'.repeat(4_000) });
      const auth = { userClass: Removable, claims: (() => claimsOf()) as never, sessions: true };
      const app = await startAuth(platform, { auth, database });
      const [ann, ben] = [{ email: uniqueEmail() }, { email: uniqueEmail() }];
      const { refreshToken } = (await app.register(ann)) as unknown as { refreshToken: string };
      const post = async (action: string, json: object) =>
        (await app.post(`/api/auth/${action}`, { password: PASSWORD, ...json })).status;
      const refresh = async () => (await app.post('/api/auth/refresh', { refreshToken })).status;
      claimsOf = make;
      expect([await refresh(), await post('login', ann), await post('register', ben)]).toEqual([500, 500, 500]);
      expect(linesOf(app.logs, 'error').filter((line) => expected.test(line))).toHaveLength(3);
      const source = app.app.get(DataSource, { strict: false });
      expect(await source.getRepository(Removable).count({ withDeleted: true })).toBe(1);
      expect(await source.getRepository(AuthSession).find()).toMatchObject([{ previousHash: null }]);
      claimsOf = () => ({});
      expect([await refresh(), await post('login', ann), await post('register', ben)]).toEqual([200, 200, 201]);
      await app.close();
    }
  });

  it('a refresh gives the role that the user has after `claims`; a login that fails by it starts no session', async () => {
    let work = (): Promise<unknown> => Promise.resolve();
    const app = await startAuth(platform, { auth: { claims: () => work().then(() => ({})), sessions: true } });
    const email = uniqueEmail();
    const { refreshToken, user } = (await app.register({ email })) as unknown as {
      refreshToken: string;
      user: { id: number };
    };
    work = () => app.users().update({ id: user.id }, { role: 'EDITOR' });
    const { json } = await app.post('/api/auth/refresh', { refreshToken });
    expect(payloadOf(json.data.token).roles).toEqual(['EDITOR']);
    work = () => app.users().update({ id: user.id }, { active: false });
    expect((await app.post('/api/auth/refresh', { refreshToken: json.data.refreshToken })).status).toBe(401);
    await app.users().update({ id: user.id }, { active: true });
    work = () => Promise.reject(new Error('the directory is away'));
    expect((await app.post('/api/auth/login', { email, password: PASSWORD })).status).toBe(500);
    expect(await app.app.get(DataSource, { strict: false }).getRepository(AuthSession).count()).toBe(0);
    await app.close();
  });

  it('a claim may have the name of any member of objects', async () => {
    const own = JSON.parse('{"constructor":1,"toString":"a","hasOwnProperty":true,"__proto__":{"x":1}}') as object;
    const app = await startAuth(platform, { auth: { claims: () => own } });
    const { token } = await app.register({ email: uniqueEmail() });
    expect(Object.entries(payloadOf(token))).toEqual(expect.arrayContaining(Object.entries(own)));
    expect((await app.get('/api/auth/me', { token })).status).toBe(200);
    await app.close();
  });

  it('a replaced secret still verifies, and no longer signs', async () => {
    const secrets = ['a-new-secret-of-more-than-32-bytes-0123456789', TEST_SECRET];
    const app = await startAuth(platform, { auth: { jwtSecret: secrets, sessions: true } });
    const { token, user } = await app.register({ email: uniqueEmail() });
    const payload = claims({ sub: String(user['id']) });
    const status = async (each: string) => (await app.get('/api/auth/me', { token: each })).status;
    expect(await status(makeToken({ payload }))).toBe(200);
    expect(await status(makeToken({ payload, secret: secrets[0] as string }))).toBe(200);
    expect(await status(makeToken({ payload, secret: 'another-secret-of-more-than-32-bytes-01234' }))).toBe(401);
    expect(await status(token)).toBe(200);
    const [head, body] = token.split('.');
    expect(
      makeToken({
        header: JSON.parse(Buffer.from(head ?? '', 'base64url').toString()),
        payload: payloadOf(token),
        secret: secrets[0] as string,
      }),
    ).toBe(token);
    expect(body).toBeDefined();
    await app.close();
  });

  it('a session goes on after its secret was replaced', async () => {
    const database = await createDatabase();
    const start = (jwtSecret: string | string[]) =>
      startAuth(platform, { auth: { jwtSecret, sessions: true }, dataSource: { ...database.options } as never });
    const [before, after] = [TEST_SECRET, 'a-new-secret-of-more-than-32-bytes-0123456789'];
    const first = await start(before);
    const { refreshToken } = (await first.register({ email: uniqueEmail() })) as unknown as { refreshToken: string };
    await first.close();
    const second = await start([after, before]);
    const refreshed = await second.post('/api/auth/refresh', { refreshToken });
    expect(refreshed.status).toBe(200);
    expect((await second.post('/api/auth/refresh', { refreshToken })).json.data.refreshToken).toBe(
      refreshed.json.data.refreshToken,
    );
    await second.close();
    const third = await start(after);
    expect((await third.post('/api/auth/refresh', { refreshToken })).status).toBe(401);
    expect((await third.post('/api/auth/refresh', { refreshToken: refreshed.json.data.refreshToken })).status).toBe(
      200,
    );
    await third.close();
    await database.drop();
  });

  it('issuer and audience are signed and checked', async () => {
    const [issuer, audience] = ['https://shop.example', 'https://api.shop.example'];
    const app = await startAuth(platform, { auth: { issuer, audience } });
    const { token, user } = await app.register({ email: uniqueEmail() });
    expect(payloadOf(token)).toMatchObject({ iss: issuer, aud: audience });
    const status = async (changed: object) => {
      const payload = claims({ sub: String(user['id']), iss: issuer, aud: audience, ...changed });
      return (await app.get('/api/auth/me', { token: makeToken({ payload }) })).status;
    };
    expect([await status({}), await status({ aud: ['x', audience] })]).toEqual([200, 200]);
    for (const changed of [{ iss: undefined }, { aud: undefined }, { iss: 'x' }, { aud: 'x' }, { aud: ['x'] }])
      expect([changed, await status(changed)]).toEqual([changed, 401]);
    await app.close();
  });

  it.each<[string, object, string]>([
    [
      'no secret in an array',
      { jwtSecret: [] },
      'jwtSecret` must be a string, or an array of strings, got an empty array',
    ],
    ['a number in an array', { jwtSecret: [TEST_SECRET, 7] }, 'jwtSecret[1]` must be a string'],
    ['an empty issuer', { issuer: ' ' }, '`issuer` must be a string'],
    ['claims as an object', { claims: {} }, '`claims` must be a function'],
  ])('refuses %s at startup', async (_, auth, message) => {
    const { error } = await bootAuth(platform, { auth });
    expect(String(error)).toContain(message);
  });
});

it('the types refuse a reserved name, and know the user', () => {
  const options = { ...AUTH, userClass: Member };
  // @ts-expect-error `roles` is reserved
  const reserved = () => AuthModule.forRoot<Member, { roles: string[] }>({ ...options, claims: () => ({ roles: [] }) });
  // @ts-expect-error the user has no such column
  const unknown = () => AuthModule.forRoot({ ...options, claims: (user: Member) => ({ tenant: user.tenant }) });
  // @ts-expect-error the claims are of another type
  const other = () => AuthModule.forRoot<Member, Claims>({ ...options, claims: () => ({ tenantId: 'one' }) });
  expect([reserved, unknown, other].map((each) => typeof each())).toEqual(['object', 'object', 'object']);
});
