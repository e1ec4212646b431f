import { jest } from '@jest/globals';
import { Body, Controller, Get, Injectable, Module, type OnApplicationBootstrap, Post } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import bcrypt from 'bcrypt';
import { AuthModule, AuthUser, CurrentUser, DuplicateUserError, InvalidUserError, UserAccounts } from 'declarest';
import type { NewUser, Principal } from 'declarest';
import { Column, Entity } from 'typeorm';
import { request } from '../harness/client.js';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { PLATFORMS, startApp } from '../harness/platforms.js';
import { startShop } from '../harness/shop.js';
import { claims, makeToken } from '../harness/tokens.js';
import { AUTH, type AuthApp, PASSWORD, startAuth, unique, uniqueEmail } from './auth-app.js';

@Entity()
class Member extends AuthUser {
  @Column('varchar', { length: 20, nullable: true })
  nickname!: string | null;
}

/** README's example. */
@Injectable()
class FirstAdministrator implements OnApplicationBootstrap {
  constructor(private readonly accounts: UserAccounts) {}
  async onApplicationBootstrap(): Promise<void> {
    await this.accounts.ensure({ email: 'admin@shop.example', password: PASSWORD, role: 'ADMIN' });
  }
}

const accountsOf = (app: AuthApp): UserAccounts => app.app.get(UserAccounts, { strict: false });

afterEach(() => {
  jest.restoreAllMocks();
});

describe('UserAccounts', () => {
  let app: AuthApp;
  let accounts: UserAccounts;
  beforeAll(async () => {
    app = await startAuth('express', { auth: { userClass: Member } });
    accounts = accountsOf(app);
  });
  afterAll(() => app.close());
  const login = async (email: string, password = PASSWORD) =>
    (await app.post('/api/auth/login', { email, password })).status;

  it('[1] create stores a user with role, active and own columns, and returns it without the password', async () => {
    const email = uniqueEmail();
    const user = await accounts.create({
      email: ` ${email.toUpperCase()}`,
      password: PASSWORD,
      role: 'SUPPORT_AGENT',
      nickname: 'Sue',
    });
    expect(user).toMatchObject({ id: expect.any(Number), email, role: 'SUPPORT_AGENT', active: true, username: null });
    expect(user.password).toBeUndefined();
    const row = await app.row({ email });
    expect(row).toMatchObject({
      role: 'SUPPORT_AGENT',
      nickname: 'Sue',
      password: expect.stringMatching(/^\$2b\$04\$/),
    });
    expect(await login(email)).toBe(200);
  });

  it('[1] create defaults to the role USER, and may create an inactive user, who cannot log in', async () => {
    const email = uniqueEmail();
    await accounts.create({ email, password: PASSWORD, active: false });
    expect(await app.row({ email })).toMatchObject({ role: 'USER', active: false });
    expect(await login(email)).toBe(401);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['no e-mail', { email: undefined }, ['email']],
    ['a password of 73 bytes', { password: 'p'.repeat(73) }, ['password']],
    ['an empty role', { role: '' }, ['role']],
    ['a role with a lone surrogate', { role: 'ADMIN\ud800' }, ['role']],
    ['an active that is not a boolean', { active: 'yes' }, ['active']],
    ['an id', { id: 7 }, ['id']],
    ['several invalid fields', { email: 'x', password: 'y', firstName: 5 }, ['email', 'password', 'firstName']],
  ])('[1] create refuses %s with an InvalidUserError that names each field', async (_, changed, fields) => {
    const before = await app.users().count();
    const creation = accounts.create({ email: uniqueEmail(), password: PASSWORD, ...changed } as never);
    const error = await creation.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidUserError);
    expect((error as InvalidUserError).problems.map((problem) => problem.split(':')[0]).toSorted()).toEqual(
      fields.toSorted(),
    );
    expect(await app.users().count()).toBe(before);
  });

  it.each(['email', 'username'] as const)('[1] create throws a DuplicateUserError for a taken %s', async (field) => {
    const make = (): NewUser => ({ email: uniqueEmail(), username: unique('ann'), password: PASSWORD });
    const taken = make();
    await accounts.create(taken);
    const error = await accounts.create({ ...make(), [field]: taken[field] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DuplicateUserError);
    const message = `User with ${field} ${taken[field]} already exists`;
    expect(error).toMatchObject({ name: 'DuplicateUserError', field, value: taken[field], message });
  });

  it('[1] setPassword, setRole and setActive change one field of one user', async () => {
    const [email, other] = [uniqueEmail(), uniqueEmail()];
    await accounts.create({ email: other, password: PASSWORD });
    const { id } = await accounts.create({ email, password: PASSWORD, firstName: 'Ann', nickname: 'A' });
    const [before, otherBefore] = [await app.row({ email }), await app.row({ email: other })];
    expect(await accounts.setRole(String(id), 'ADMIN')).toMatchObject({ id, role: 'ADMIN' });
    expect(await app.row({ email })).toEqual({ ...before, role: 'ADMIN' });
    await accounts.setActive(id, false);
    expect(await login(email)).toBe(401);
    await accounts.setActive(id, true);
    await accounts.setPassword(id, 'another password');
    expect([await login(email), await login(email, 'another password')]).toEqual([401, 200]);
    expect(await app.row({ email: other })).toEqual(otherBefore);
  });

  it.each<[string, (id: number) => Promise<unknown>]>([
    ['setPassword with 7 characters', (id) => accounts.setPassword(id, '1234567')],
    ['setPassword with 73 bytes', (id) => accounts.setPassword(id, 'p'.repeat(73))],
    ['setPassword with a lone surrogate', (id) => accounts.setPassword(id, `${PASSWORD}\ud800`)],
    ['setPassword without a password', (id) => accounts.setPassword(id, undefined as never)],
    ['setRole with an empty role', (id) => accounts.setRole(id, '')],
    ['setRole with an array', (id) => accounts.setRole(id, ['ADMIN'] as never)],
    ['setActive with text', (id) => accounts.setActive(id, 'false' as never)],
    ['setActive with null', (id) => accounts.setActive(id, null as never)],
    ['setRole for an unknown id', () => accounts.setRole(999_999, 'ADMIN')],
    ['setActive for text that is not an id', () => accounts.setActive('abc', false)],
    ['setPassword for an unknown id', () => accounts.setPassword(-1, PASSWORD)],
  ])('[1] %s throws an InvalidUserError and changes nothing', async (_, change) => {
    const email = uniqueEmail();
    const { id } = await accounts.create({ email, password: PASSWORD });
    const before = await app.row({ email });
    await expect(change(id)).rejects.toBeInstanceOf(InvalidUserError);
    expect(await app.row({ email })).toEqual(before);
  });

  describe('ensure', () => {
    it('[1] creates a user whose login field is free', async () => {
      const email = uniqueEmail();
      expect(await accounts.ensure({ email, password: PASSWORD, role: 'ADMIN' })).toMatchObject({
        email,
        role: 'ADMIN',
      });
      expect(await login(email)).toBe(200);
    });

    it('[1] returns a user that exists, without its hash, and changes nothing', async () => {
      const email = uniqueEmail();
      const { id } = await accounts.create({ email, password: PASSWORD, firstName: 'Ann', active: false });
      const before = await app.row({ email });
      const hash = jest.spyOn(bcrypt, 'hash');
      const user = await accounts.ensure({
        email: ` ${email.toUpperCase()} `,
        password: 'another password',
        role: 'ADMIN',
        firstName: 'Eve',
      });
      expect(user).toMatchObject({ id, email, role: 'USER', firstName: 'Ann', active: false });
      expect(user.password).toBeUndefined();
      expect(await app.row({ email })).toEqual(before);
      expect(hash).not.toHaveBeenCalled();
    });

    it('[1] refuses invalid fields, and another unique value that is taken', async () => {
      const username = unique('bob');
      await accounts.create({ email: uniqueEmail(), username, password: PASSWORD });
      await expect(accounts.ensure({ email: 'no address', password: PASSWORD })).rejects.toThrow(InvalidUserError);
      await expect(accounts.ensure({ password: PASSWORD })).rejects.toThrow(/email: required/);
      await expect(accounts.ensure({ email: 'bad', password: 'x', role: '' })).rejects.toThrow(
        /email: .*password: .*role: /,
      );
      await expect(accounts.ensure({ email: uniqueEmail(), password: 'short' })).rejects.toThrow(InvalidUserError);
      const user = { email: uniqueEmail(), username, password: PASSWORD };
      await expect(accounts.ensure(user)).rejects.toMatchObject({ field: 'username' });
    });

    it.each(DATABASES)('[1] of 10 parallel calls one creates the user, and all return it (%s)', async (database) => {
      const racing = await startAuth('express', { database, auth: { loginMethod: 'USERNAME' } });
      const user = { username: 'root', email: 'root@example.com', password: PASSWORD };
      const results = await Promise.all(Array.from({ length: 10 }, () => accountsOf(racing).ensure(user)));
      expect(new Set(results.map(({ id }) => id)).size).toBe(1);
      expect(await racing.users().count()).toBe(1);
      await racing.close();
    });

    it.each(PLATFORMS)("[1] README's FirstAdministrator survives a second start on %s", async (platform) => {
      const database = await createDatabase();
      const root = {
        imports: [TypeOrmModule.forRoot(database.options), AuthModule.forRoot(AUTH)],
        providers: [FirstAdministrator],
      };
      for (const start of ['first', 'second']) {
        const running = await startApp(platform, root);
        const json = { email: 'admin@shop.example', password: PASSWORD };
        const answer = await request(running.url, 'POST', '/api/auth/login', { json });
        expect([start, answer.status, answer.json.data?.user.role]).toEqual([start, 200, 'ADMIN']);
        await running.close();
      }
      await database.drop();
    });
  });
});

@Controller('members')
class MembersController {
  constructor(private readonly accounts: UserAccounts) {}
  @Post()
  create(@Body() body: NewUser) {
    return this.accounts.create(body);
  }
}

@Controller('api/mine')
class MineController {
  @Get()
  mine(@CurrentUser() user: Principal) {
    return { user };
  }
}

describe.each(PLATFORMS)('on %s', (platform) => {
  it("[1] errors of UserAccounts thrown by the application's own controller are 400", async () => {
    const app = await startAuth(platform, { controllers: [MembersController] });
    const body = { email: 'ann@example.com', password: PASSWORD };
    expect((await app.post('/members', body)).status).toBe(201);
    const taken = await app.post('/members', body);
    expect([taken.status, taken.json.message]).toEqual([400, 'User with email ann@example.com already exists']);
    const invalid = await app.post('/members', { email: 'x', password: 'y' });
    expect([invalid.status, invalid.json.message]).toEqual([400, expect.stringMatching(/email: .*; password: /)]);
    await app.close();
  });

  it('[1] UserAccounts is injectable in every module, and an ADMIN that it created passes role rules', async () => {
    @Module({ providers: [FirstAdministrator] })
    class AdminModule {}
    const shop = await startShop(platform, { imports: [AdminModule], controllers: [MineController] });
    const json = { email: 'admin@shop.example', password: PASSWORD };
    const login = await request(shop.url, 'POST', '/api/auth/login', { json });
    const stats = await request(shop.url, 'GET', '/api/admin/stats', { token: login.json.data.token });
    expect([stats.status, stats.json]).toEqual([200, { seenBy: 'admin@shop.example' }]);
    const token = await shop.register('ann@example.com');
    expect((await request(shop.url, 'GET', '/api/admin/stats', { token })).status).toBe(403);
    const mine = await request(shop.url, 'GET', '/api/mine', { token });
    expect(mine.json.user).toEqual({ id: 2, email: 'ann@example.com', roles: ['USER'] });
    await shop.close();
  });

  it('[1] CurrentUser is { id, email, roles } of the token on a public route, undefined without a valid token', async () => {
    const app = await startAuth(platform);
    const who = async (token?: string) => (await app.get('/who', token === undefined ? {} : { token })).json.user;
    const own = claims({ sub: '7', email: 'a@b.de', roles: ['A', 'B'], tenant: 1 });
    expect(await who(makeToken({ payload: own }))).toEqual({ id: 7, email: 'a@b.de', roles: ['A', 'B'] });
    expect(await who()).toBeNull();
    for (const bad of [
      makeToken({ secret: 'x'.repeat(40) }),
      makeToken({ payload: claims({ exp: 1 }) }),
      makeToken({ alg: 'none' }),
      'x',
    ])
      expect(await who(bad)).toBeNull();
    await app.close();
  });
});
