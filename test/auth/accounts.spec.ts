import { inspect } from 'node:util';
import { Controller, Get, Injectable, Module, type OnApplicationBootstrap } from '@nestjs/common';
import bcrypt from 'bcrypt';
import {
  AuthModule,
  AuthUser,
  CurrentUser,
  DuplicateUserError,
  InvalidUserError,
  LoginMethod,
  type LoginField,
  type Principal,
  UserAccounts,
  type UserFields,
  UserRepository,
} from 'declarest';
import { Column, Entity } from 'typeorm';
import { request } from '../harness/client.js';
import { PLATFORMS, type RunningApp, startApp } from '../harness/platforms.js';
import { startShop } from '../harness/shop.js';
import { claims, makeToken, TEST_SECRET } from '../harness/tokens.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, unique, uniqueEmail, WhoController } from './auth-app.js';

@Entity()
class Member extends AuthUser {
  @Column('varchar', { length: 20, nullable: true })
  nickname!: string | null;
}

async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('It was expected to fail, but it did not.');
}

it('[1] LoginMethod has the two methods, which are the plain strings', () => {
  expect(LoginMethod).toEqual({ EMAIL: 'EMAIL', USERNAME: 'USERNAME' });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  describe('UserAccounts', () => {
    let app: AuthApp;
    let accounts: UserAccounts;
    beforeAll(async () => {
      app = await startAuth(platform, { auth: { userClass: Member } });
      accounts = app.app.get(UserAccounts, { strict: false });
    });
    afterAll(() => app.close());
    const login = async (email: string, password = PASSWORD) =>
      (await app.post('/api/auth/login', { email, password })).status;

    it('[1] create makes a user with a role, who logs in', async () => {
      const email = uniqueEmail();
      await accounts.create({ email, password: PASSWORD, role: 'SUPPORT_AGENT', firstName: 'Sue' });
      const { status, json } = await app.post('/api/auth/login', { email, password: PASSWORD });
      expect([status, json.data.user.role]).toEqual([200, 'SUPPORT_AGENT']);
      const me = await app.get('/api/auth/me', { token: json.data.token });
      expect(me.json.data.user).toMatchObject({ firstName: 'Sue', role: 'SUPPORT_AGENT', active: true });
    });

    it('[1] create without a role makes a USER', async () => {
      const email = uniqueEmail();
      await accounts.create({ email, password: PASSWORD });
      expect(await app.row({ email })).toMatchObject({ role: 'USER', active: true });
    });

    it('[1] create hands over the stored user, with its id', async () => {
      const email = uniqueEmail();
      const user = await accounts.create({ email: ` ${email.toUpperCase()}`, password: PASSWORD, role: 'ADMIN' });
      expect(user).toMatchObject({ id: expect.any(Number), email, role: 'ADMIN', active: true, username: null });
      expect(JSON.stringify(user)).not.toContain(PASSWORD);
    });

    it('[1] create hashes as register does', async () => {
      const email = uniqueEmail();
      await accounts.create({ email, password: PASSWORD });
      const { password } = (await app.row({ email })) as { password: string };
      expect(password).toMatch(/^\$2b\$04\$/);
      expect(await bcrypt.compare(PASSWORD, password)).toBe(true);
    });

    it('[1] create may make an inactive user, who cannot log in', async () => {
      const email = uniqueEmail();
      await accounts.create({ email, password: PASSWORD, active: false });
      expect(await login(email)).toBe(401);
    });

    it("[1] create takes columns of the application's own", async () => {
      const email = uniqueEmail();
      await accounts.create({ email, password: PASSWORD, nickname: 'Sue' });
      expect(await app.row({ email })).toMatchObject({ nickname: 'Sue' });
    });

    it.each<[string, Record<string, unknown>, string[]]>([
      ['no e-mail', { email: undefined }, ['email']],
      ['what is no e-mail', { email: 'no address' }, ['email']],
      ['a password of 7 characters', { password: '1234567' }, ['password']],
      ['a password of 73 bytes', { password: 'p'.repeat(73) }, ['password']],
      ['no password', { password: undefined }, ['password']],
      ['a username with a space in front', { username: ' ann' }, ['username']],
      ['a name of 101 characters', { lastName: 'n'.repeat(101) }, ['lastName']],
      ['an empty role', { role: '' }, ['role']],
      ['a role that is no string', { role: 5 }, ['role']],
      ['an active that is no boolean', { active: 'yes' }, ['active']],
      ['an id', { id: 7 }, ['id']],
      ['several wrong fields', { email: 'x', password: 'y', firstName: 5 }, ['email', 'password', 'firstName']],
    ])('[1] create makes the same checks: %s is refused, naming each field', async (_, changed, fields) => {
      const before = await app.users().count();
      const wrong = { email: uniqueEmail(), password: PASSWORD, ...changed } as never;
      const error = await errorOf(() => accounts.create(wrong));
      expect(error).toBeInstanceOf(InvalidUserError);
      for (const field of fields) expect((error as Error).message).toContain(field);
      expect(await app.users().count()).toBe(before);
    });

    it('[1] an error of create repeats no password', async () => {
      const error = await errorOf(() => accounts.create({ email: 'x', password: 'pässwrd' }));
      expect(inspect(error, { showHidden: true })).not.toContain('pässwrd');
    });

    it.each([
      ['email', () => ({ email: uniqueEmail(), username: unique('ann') })],
      ['username', () => ({ email: uniqueEmail(), username: unique('bob') })],
    ] as const)('[1] create refuses a taken %s by a DuplicateUserError that names the field', async (field, make) => {
      const taken = make();
      await accounts.create({ ...taken, password: PASSWORD });
      const other = { ...make(), [field]: taken[field] };
      const error = await errorOf(() => accounts.create({ ...other, password: PASSWORD }));
      expect(error).toBeInstanceOf(DuplicateUserError);
      expect(error).toMatchObject({ field, message: `User with ${field} ${taken[field]} already exists` });
    });

    it('[1] setPassword changes what logs in', async () => {
      const email = uniqueEmail();
      const { id } = await accounts.create({ email, password: PASSWORD });
      await accounts.setPassword(id, 'another password');
      expect([await login(email), await login(email, 'another password')]).toEqual([401, 200]);
      expect((await app.row({ email }))['password']).toMatch(/^\$2b\$04\$/);
    });

    it.each(['1234567', 'p'.repeat(73), 'ä'.repeat(37), '', undefined, null, 12_345_678])(
      '[1] setPassword makes the same checks: %j is refused, and the old one stays',
      async (password) => {
        const email = uniqueEmail();
        const { id } = await accounts.create({ email, password: PASSWORD });
        const error = await errorOf(() => accounts.setPassword(id, password as string));
        expect(error).toBeInstanceOf(InvalidUserError);
        expect((error as Error).message).toContain('password');
        expect(await login(email)).toBe(200);
      },
    );

    it('[1] setRole gives another role to the next token', async () => {
      const email = uniqueEmail();
      const { id } = await accounts.create({ email, password: PASSWORD });
      await accounts.setRole(id, 'ADMIN');
      const { json } = await app.post('/api/auth/login', { email, password: PASSWORD });
      expect(json.data.user.role).toBe('ADMIN');
      const { user } = (await app.get('/who', { token: json.data.token })).json;
      expect(user.roles).toEqual(['ADMIN']);
    });

    it.each(['', ' ', undefined, null, 5, ['ADMIN']])('[1] setRole refuses %j', async (role) => {
      const { id } = await accounts.create({ email: uniqueEmail(), password: PASSWORD });
      const error = await errorOf(() => accounts.setRole(id, role as string));
      expect(error).toBeInstanceOf(InvalidUserError);
      expect((error as Error).message).toContain('role');
    });

    it('[1] setActive(false) keeps a user from logging in, setActive(true) lets them in again', async () => {
      const email = uniqueEmail();
      const { id } = await accounts.create({ email, password: PASSWORD });
      await accounts.setActive(id, false);
      expect(await login(email)).toBe(401);
      await accounts.setActive(id, true);
      expect(await login(email)).toBe(200);
    });

    it.each(['false', 0, undefined, null])('[1] setActive refuses %j', async (active) => {
      const email = uniqueEmail();
      const { id } = await accounts.create({ email, password: PASSWORD });
      expect(await errorOf(() => accounts.setActive(id, active as never))).toBeInstanceOf(InvalidUserError);
      expect(await login(email)).toBe(200);
    });

    it.each([999_999, '999999', 'abc', '', -1])(
      '[1] a change to the user %j, whom nobody knows, is an error',
      async (id) => {
        for (const change of [
          () => accounts.setRole(id, 'ADMIN'),
          () => accounts.setActive(id, false),
          () => accounts.setPassword(id, PASSWORD),
        ])
          expect(await errorOf(change)).toBeInstanceOf(Error);
      },
    );

    it('[1] an id may be given as the string of a token', async () => {
      const email = uniqueEmail();
      const { id } = await accounts.create({ email, password: PASSWORD });
      await accounts.setRole(String(id), 'ADMIN');
      expect(await app.row({ email })).toMatchObject({ role: 'ADMIN' });
    });

    it('[1] a change leaves every other user and field as it was', async () => {
      const [ann, bob] = [uniqueEmail(), uniqueEmail()];
      await accounts.create({ email: bob, password: PASSWORD });
      const { id } = await accounts.create({ email: ann, password: PASSWORD, firstName: 'Ann', nickname: 'A' });
      const before = [await app.row({ email: ann }), await app.row({ email: bob })] as const;
      await accounts.setRole(id, 'ADMIN');
      expect(await app.row({ email: ann })).toEqual({ ...before[0], role: 'ADMIN' });
      expect(await app.row({ email: bob })).toEqual(before[1]);
    });
  });

  it('[1] UserAccounts is injectable everywhere: a first ADMIN made at boot logs in and reaches what asks for ADMIN', async () => {
    @Injectable()
    class FirstAdmin implements OnApplicationBootstrap {
      constructor(private readonly accounts: UserAccounts) {}
      async onApplicationBootstrap(): Promise<void> {
        await this.accounts.create({ email: 'root@example.com', password: PASSWORD, role: 'ADMIN' });
      }
    }
    @Module({ providers: [FirstAdmin] })
    class AdminModule {}
    const shop = await startShop(platform, { imports: [AdminModule] });
    const json = { email: 'root@example.com', password: PASSWORD };
    const login = await request(shop.url, 'POST', '/api/auth/login', { json });
    expect([login.status, login.json.data.user.role]).toEqual([200, 'ADMIN']);
    const stats = await request(shop.url, 'GET', '/api/admin/stats', { token: login.json.data.token });
    expect([stats.status, stats.json]).toEqual([200, { seenBy: 'root@example.com' }]);
    const token = await shop.register();
    expect((await request(shop.url, 'GET', '/api/admin/stats', { token })).status).toBe(403);
    await shop.close();
  });

  describe('CurrentUser', () => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform);
    });
    afterAll(() => app.close());
    const who = async (token?: string) => (await app.get('/who', token === undefined ? {} : { token })).json.user;

    it('[1] is { id, email, roles } of the token, and nothing more', async () => {
      const { token, user } = await app.register({ email: 'ann@example.com', username: 'ann' });
      expect(await who(token)).toEqual({ id: user['id'], email: 'ann@example.com', roles: ['USER'] });
      expect(await who(makeToken({ payload: claims({ sub: '7', email: 'a@b.de', roles: ['A', 'B'], x: 1 }) }))).toEqual(
        {
          id: 7,
          email: 'a@b.de',
          roles: ['A', 'B'],
        },
      );
    });

    it('[1] is undefined where no token was sent', async () => {
      expect(await who()).toBeNull();
    });

    it.each([
      ['signed with another secret', () => makeToken({ secret: 'x'.repeat(40) })],
      ['expired', () => makeToken({ payload: claims({ exp: 1 }) })],
      ['unsigned', () => makeToken({ alg: 'none' })],
      ['no token at all', () => 'x'],
    ])('[1] is undefined on a public path where the token is %s', async (_, token) => {
      const answer = await app.get('/who', { token: token() });
      expect([answer.status, answer.json]).toEqual([200, { user: null }]);
    });

    it('[1] has an id of type number where the primary key is one', async () => {
      expect((await who(makeToken({ payload: claims({ sub: '42' }) }))).id).toBe(42);
    });
  });

  describe('a repositoryClass', () => {
    /** No entity: nothing of it is known to a database. */
    class StoredUser extends AuthUser {
      override role = 'USER';
      override active = true;
    }

    const stores: MemoryUsers[] = [];
    /** What the contract says of the port, and not a line more. */
    @Injectable()
    class MemoryUsers extends UserRepository {
      readonly rows: AuthUser[] = [];
      readonly calls: unknown[][] = [];
      constructor() {
        super();
        stores.push(this);
      }
      async findById(id: string): Promise<AuthUser | null> {
        this.calls.push(['findById', id]);
        return this.rows.find((row) => String(row.id) === id) ?? null;
      }
      async findByLogin(field: LoginField, value: string): Promise<AuthUser | null> {
        this.calls.push(['findByLogin', field, value]);
        return this.rows.find((row) => row[field] === value) ?? null;
      }
      async create(fields: UserFields): Promise<AuthUser> {
        this.calls.push(['create', fields]);
        for (const field of ['email', 'username'] as const)
          if (fields[field] != null && this.rows.some((row) => row[field] === fields[field]))
            throw new DuplicateUserError(field, fields[field]);
        const user = Object.assign(new StoredUser(), fields, { id: this.rows.length + 1 });
        this.rows.push(user);
        return user;
      }
      async update(id: string, fields: UserFields): Promise<AuthUser | null> {
        this.calls.push(['update', id, fields]);
        const user = this.rows.find((row) => String(row.id) === id);
        return user ? Object.assign(user, fields) : null;
      }
    }

    let app: RunningApp;
    let store: MemoryUsers;
    beforeAll(async () => {
      app = await startApp(platform, {
        imports: [
          AuthModule.forRoot({
            userClass: StoredUser,
            repositoryClass: MemoryUsers,
            jwtSecret: TEST_SECRET,
            bcryptRounds: 4,
          }),
        ],
        controllers: [WhoController],
      });
      store = stores.at(-1)!;
    });
    afterAll(() => app.close());
    const post = (path: string, json: unknown) => request(app.url, 'POST', `/api/auth/${path}`, { json });

    it('[1] serves register, login and me end to end, without a table or a database', async () => {
      const email = uniqueEmail();
      const registered = await post('register', {
        email: ` ${email.toUpperCase()}`,
        password: PASSWORD,
        firstName: 'Ann',
      });
      expect(registered.status).toBe(201);
      const user = {
        id: expect.any(Number),
        email,
        username: null,
        firstName: 'Ann',
        lastName: null,
        role: 'USER',
        active: true,
      };
      expect(registered.json.data.user).toEqual(user);
      const login = await post('login', { email, password: PASSWORD });
      expect(login.json.data.user).toEqual({ id: expect.any(Number), email, username: null, role: 'USER' });
      const me = await request(app.url, 'GET', '/api/auth/me', { token: login.json.data.token });
      expect([me.status, me.json]).toEqual([200, { success: true, data: { user } }]);
    });

    it('[1] is asked by findById with the id as a string, and by findByLogin with field and stored form', async () => {
      const email = uniqueEmail();
      await post('register', { email, password: PASSWORD });
      const { json } = await post('login', { email: ` ${email.toUpperCase()} `, password: PASSWORD });
      await request(app.url, 'GET', '/api/auth/me', { token: json.data.token });
      expect(store.calls).toContainEqual(['findByLogin', 'email', email]);
      expect(store.calls).toContainEqual(['findById', String(json.data.user.id)]);
    });

    it('[1] is given a hash to create, never a password', async () => {
      const email = uniqueEmail();
      await post('register', { email, password: PASSWORD });
      const [, fields] = store.calls.findLast(([name]) => name === 'create') as [string, UserFields];
      expect(fields).toMatchObject({ email, password: expect.stringMatching(/^\$2b\$04\$.{53}$/) });
      expect(JSON.stringify(store.calls)).not.toContain(PASSWORD);
    });

    it.each(['email', 'username'] as const)(
      '[1] says by a DuplicateUserError which field is taken: %s is then the 400 of the contract',
      async (field) => {
        const taken = { email: uniqueEmail(), username: unique('ann') };
        await post('register', { ...taken, password: PASSWORD });
        const other = { email: uniqueEmail(), username: unique('bob'), [field]: taken[field] };
        const { status, json } = await post('register', { ...other, password: PASSWORD });
        expect([status, json]).toEqual([
          400,
          { success: false, message: `User with ${field} ${taken[field]} already exists` },
        ]);
      },
    );

    it('[1] wins on its own word alone: of 20 parallel registrations one is 201', async () => {
      const email = uniqueEmail();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => post('register', { email, password: PASSWORD })),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(19);
    });

    it('[1] is what UserAccounts works on', async () => {
      const accounts = app.app.get(UserAccounts, { strict: false });
      const email = uniqueEmail();
      const { id } = await accounts.create({ email, password: PASSWORD, role: 'ADMIN' });
      await accounts.setPassword(id, 'another password');
      expect((await post('login', { email, password: PASSWORD })).status).toBe(401);
      const { status, json } = await post('login', { email, password: 'another password' });
      expect([status, json.data.user.role]).toEqual([200, 'ADMIN']);
      await accounts.setActive(id, false);
      expect((await post('login', { email, password: 'another password' })).status).toBe(401);
      expect(store.calls).toContainEqual(['update', String(id), { active: false }]);
      expect(await errorOf(() => accounts.setActive('4711', true))).toBeInstanceOf(Error);
    });

    it('[1] whose user is gone or inactive makes me a 401', async () => {
      const { json } = await post('register', { email: uniqueEmail(), password: PASSWORD });
      const row = store.rows.find(({ id }) => id === json.data.user.id)!;
      const me = async () => (await request(app.url, 'GET', '/api/auth/me', { token: json.data.token })).status;
      expect(await me()).toBe(200);
      row.active = false;
      expect(await me()).toBe(401);
      row.active = true;
      row.id = 4711;
      expect(await me()).toBe(401);
    });

    it('[1] that hands over the hash with every user puts it into no answer', async () => {
      const email = uniqueEmail();
      const registered = await post('register', { email, password: PASSWORD });
      const login = await post('login', { email, password: PASSWORD });
      const me = await request(app.url, 'GET', '/api/auth/me', { token: login.json.data.token });
      for (const { text } of [registered, login, me]) expect(text).not.toMatch(/\$2b\$|password/);
    });

    it('[1] that does not fill in defaults is given them: a new user is an active USER', async () => {
      @Injectable()
      class PlainUsers extends MemoryUsers {
        override async create(fields: UserFields): Promise<AuthUser> {
          const user = { ...fields, id: this.rows.length + 1 } as unknown as AuthUser;
          this.rows.push(user);
          return user;
        }
      }
      const plain = await startApp(platform, {
        imports: [
          AuthModule.forRoot({
            userClass: StoredUser,
            repositoryClass: PlainUsers,
            jwtSecret: TEST_SECRET,
            bcryptRounds: 4,
          }),
        ],
      });
      const json = { email: uniqueEmail(), password: PASSWORD };
      const registered = await request(plain.url, 'POST', '/api/auth/register', { json });
      expect(registered.json.data.user).toMatchObject({ role: 'USER', active: true });
      expect((await request(plain.url, 'POST', '/api/auth/login', { json })).status).toBe(200);
      await plain.close();
    });

    it('[1] may keep users under keys of text: the id is text in answers, token and CurrentUser', async () => {
      @Injectable()
      class TextKeys extends MemoryUsers {
        override async create(fields: UserFields): Promise<AuthUser> {
          return Object.assign(await super.create(fields), { id: '5f0c9d6e-0b1a-4c3d-8e2f-7a6b5c4d3e2f' });
        }
      }
      const texts = await startApp(platform, {
        imports: [
          AuthModule.forRoot({
            userClass: StoredUser,
            repositoryClass: TextKeys,
            jwtSecret: TEST_SECRET,
            bcryptRounds: 4,
          }),
        ],
        controllers: [WhoController],
      });
      const json = { email: uniqueEmail(), password: PASSWORD };
      const { user, token } = (await request(texts.url, 'POST', '/api/auth/register', { json })).json.data;
      expect(user.id).toBe('5f0c9d6e-0b1a-4c3d-8e2f-7a6b5c4d3e2f');
      expect((await request(texts.url, 'GET', '/who', { token })).json.user.id).toBe(user.id);
      expect((await request(texts.url, 'GET', '/api/auth/me', { token })).json.data.user).toEqual(user);
      await texts.close();
    });

    it('[1] that fails is a 500 which says nothing about the inside', async () => {
      @Injectable()
      class BrokenUsers extends MemoryUsers {
        override create(): Promise<AuthUser> {
          return Promise.reject(new Error('the inside: db.internal:5432'));
        }
        override findByLogin(): Promise<AuthUser | null> {
          throw new Error('the inside: db.internal:5432');
        }
      }
      const broken = await startApp(platform, {
        imports: [
          AuthModule.forRoot({
            userClass: StoredUser,
            repositoryClass: BrokenUsers,
            jwtSecret: TEST_SECRET,
            bcryptRounds: 4,
          }),
        ],
      });
      for (const path of ['register', 'login']) {
        const json = { email: uniqueEmail(), password: PASSWORD };
        const answer = await request(broken.url, 'POST', `/api/auth/${path}`, { json });
        expect(expectFailure(answer, 500)).not.toContain('inside');
      }
      await broken.close();
    });

    it('[1] may inject what its application provides', async () => {
      @Injectable()
      class Settings {
        readonly first = 100;
      }
      @Module({ providers: [Settings], exports: [Settings] })
      class SettingsModule {}
      @Injectable()
      class NumberedUsers extends MemoryUsers {
        constructor(private readonly settings: Settings) {
          super();
        }
        override async create(fields: UserFields): Promise<AuthUser> {
          return Object.assign(await super.create(fields), { id: this.settings.first });
        }
      }
      const numbered = await startApp(platform, {
        imports: [
          AuthModule.forRootAsync({
            userClass: StoredUser,
            repositoryClass: NumberedUsers,
            imports: [SettingsModule],
            useFactory: () => ({ jwtSecret: TEST_SECRET, bcryptRounds: 4 }),
          }),
        ],
      });
      const json = { email: uniqueEmail(), password: PASSWORD };
      expect((await request(numbered.url, 'POST', '/api/auth/register', { json })).json.data.user.id).toBe(100);
      await numbered.close();
    });
  });

  it('[1] CurrentUser gives the id of the token also where the rules ask for one', async () => {
    @Controller('api/mine')
    class MineController {
      @Get()
      mine(@CurrentUser() user: Principal) {
        return { type: typeof user.id, user };
      }
    }
    const shop = await startShop(platform, { controllers: [MineController] });
    const token = await shop.register('ann@example.com');
    const { json } = await request(shop.url, 'GET', '/api/mine', { token });
    expect(json).toEqual({ type: 'number', user: { id: 1, email: 'ann@example.com', roles: ['USER'] } });
    await shop.close();
  });
});
