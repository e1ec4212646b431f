import {
  Body,
  Controller,
  Get,
  Injectable,
  Logger,
  Module,
  type OnApplicationBootstrap,
  Post,
  type Type,
} from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import bcrypt from 'bcrypt';
import {
  AuthModule,
  AuthUser,
  CurrentUser,
  DuplicateUserError,
  InvalidUserError,
  type LoginField,
  type NewUser,
  type Principal,
  UserAccounts,
  type UserFields,
  UserRepository,
} from 'declarest';
import { AfterLoad, Column, DataSource, Entity } from 'typeorm';
import { BUSY_CASES, makeBusy, SERVER_DATABASES, startProxy } from '../harness/busy-databases.js';
import { type Answer, request } from '../harness/client.js';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { bootError, ONE_PLATFORM, type RunningApp, startApp } from '../harness/platforms.js';
import { startShop, User } from '../harness/shop.js';
import { claims, makeToken, TEST_SECRET } from '../harness/tokens.js';
import {
  AUTH,
  type AuthApp,
  expectFailure,
  PASSWORD,
  startAuth,
  unique,
  uniqueEmail,
  WhoController,
} from './auth-app.js';

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
  vi.restoreAllMocks();
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
      const hash = vi.spyOn(bcrypt, 'hash');
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

    it.each(ONE_PLATFORM)("[1] README's FirstAdministrator survives a second start on %s", async (platform) => {
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

describe.each(ONE_PLATFORM)('on %s', (platform) => {
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

describe('a repositoryClass', () => {
  /** Not an entity: no database knows it. */
  class StoredUser extends AuthUser {
    override role = 'USER';
    override active = true;
  }

  /** The port as the contract defines it, and nothing more. */
  @Injectable()
  class MemoryUsers extends UserRepository {
    static last: MemoryUsers;
    readonly rows: AuthUser[] = [];
    readonly calls: string[] = [];
    constructor() {
      super();
      MemoryUsers.last = this;
    }
    async findById(id: string): Promise<AuthUser | null> {
      this.calls.push(`findById ${id}`);
      return this.rows.find((row) => String(row.id) === id) ?? null;
    }
    async findByLogin(field: LoginField, value: string): Promise<AuthUser | null> {
      this.calls.push(`findByLogin ${field} ${value}`);
      return this.rows.find((row) => row[field] === value) ?? null;
    }
    async create(fields: UserFields): Promise<AuthUser> {
      for (const field of ['email', 'username'] as const)
        if (fields[field] != null && this.rows.some((row) => row[field] === fields[field]))
          throw new DuplicateUserError(field, fields[field]);
      const user = Object.assign(new StoredUser(), fields, { id: this.rows.length + 1 });
      this.rows.push(user);
      return user;
    }
    async update(id: string, fields: UserFields): Promise<AuthUser | null> {
      const user = this.rows.find((row) => String(row.id) === id);
      return user ? Object.assign(user, fields) : null;
    }
  }

  const options = (repositoryClass: Type<UserRepository>) => ({
    userClass: StoredUser,
    repositoryClass,
    jwtSecret: TEST_SECRET,
    bcryptRounds: 4,
  });

  describe.each(ONE_PLATFORM)('on %s', (platform) => {
    let running: RunningApp;
    const start = async (repositoryClass: Type<UserRepository>): Promise<void> => {
      running = await startApp(platform, {
        imports: [AuthModule.forRoot(options(repositoryClass))],
        controllers: [WhoController],
      });
    };
    afterEach(() => running.close());
    const post = (path: string, json: unknown) => request(running.url, 'POST', `/api/auth/${path}`, { json });
    const get = (path: string, token: string) => request(running.url, 'GET', path, { token });

    it('[1] serves register, login and me without a database, and receives values in their stored form', async () => {
      await start(MemoryUsers);
      const email = uniqueEmail();
      const registered = await post('register', {
        email: ` ${email.toUpperCase()}`,
        password: PASSWORD,
        firstName: 'Ann',
      });
      const profile = { id: 1, email, username: null, firstName: 'Ann', lastName: null, role: 'USER', active: true };
      expect([registered.status, registered.json.data.user]).toEqual([201, profile]);
      const [row] = MemoryUsers.last.rows;
      expect(row).toMatchObject({ email, role: 'USER', active: true, password: expect.stringMatching(/^\$2b\$04\$/) });
      expectFailure(await post('register', { email, password: PASSWORD }));

      const login = await post('login', { email: email.toUpperCase(), password: PASSWORD });
      expect([login.status, login.json.data.user]).toEqual([200, { id: 1, email, username: null, role: 'USER' }]);
      expect((await post('login', { email, password: 'not the password' })).status).toBe(401);
      expect((await post('login', { email: 'nobody@example.com', password: PASSWORD })).status).toBe(401);
      expect((await get('/api/auth/me', login.json.data.token)).json.data.user).toEqual(profile);
      expect(MemoryUsers.last.calls).toEqual(expect.arrayContaining([`findByLogin email ${email}`, 'findById 1']));
      row!.active = false;
      expect((await get('/api/auth/me', login.json.data.token)).status).toBe(401);
      expect((await get('/api/auth/me', makeToken({ payload: claims({ sub: '999' }) }))).status).toBe(401);
    });

    it('[1] may use text ids, which stay text in responses, tokens and CurrentUser', async () => {
      const id = '5f0c9d6e-0b1a-4c3d-8e2f-7a6b5c4d3e2f';
      @Injectable()
      class TextIds extends MemoryUsers {
        override async create(fields: UserFields): Promise<AuthUser> {
          return Object.assign(await super.create(fields), { id });
        }
      }
      await start(TextIds);
      const { user, token } = (await post('register', { email: uniqueEmail(), password: PASSWORD })).json.data;
      expect([user.id, (await get('/who', token)).json.user.id]).toEqual([id, id]);
      expect((await get('/api/auth/me', token)).json.data.user).toEqual(user);
    });

    it('[1] that fails leads to a 500 without internal details', async () => {
      @Injectable()
      class BrokenUsers extends MemoryUsers {
        override create(): Promise<AuthUser> {
          return Promise.reject(new Error('inside: db.internal:5432'));
        }
        override findByLogin(): Promise<AuthUser | null> {
          throw new Error('inside: db.internal:5432');
        }
      }
      await start(BrokenUsers);
      for (const path of ['register', 'login'])
        expect(expectFailure(await post(path, { email: uniqueEmail(), password: PASSWORD }), 500)).not.toContain(
          'inside',
        );
    });

    it.each(['id', 'role', 'active'])('[2.3] does not allow %s in registrationFields', async (field) => {
      const auth = AuthModule.forRoot({ ...options(MemoryUsers), registrationFields: [field] });
      expect(await bootError(platform, { imports: [auth] })).toMatchObject({
        message: expect.stringMatching(
          new RegExp(`^AuthModule option .registrationFields. must be names of columns .*, got "${field}"`),
        ),
      });
    });

    it('[1] may inject providers of imported modules', async () => {
      @Injectable()
      class Settings {
        readonly firstId = 100;
      }
      @Module({ providers: [Settings], exports: [Settings] })
      class SettingsModule {}
      @Injectable()
      class NumberedUsers extends MemoryUsers {
        constructor(private readonly settings: Settings) {
          super();
        }
        override async create(fields: UserFields): Promise<AuthUser> {
          return Object.assign(await super.create(fields), { id: this.settings.firstId });
        }
      }
      const { userClass, repositoryClass, ...settings } = options(NumberedUsers);
      const imports = [SettingsModule];
      const module = AuthModule.forRootAsync({ userClass, repositoryClass, imports, useFactory: () => settings });
      running = await startApp(platform, { imports: [module] });
      expect((await post('register', { email: uniqueEmail(), password: PASSWORD })).json.data.user.id).toBe(100);
    });
  });
});

/** The database is busy, down, or fails in another way while users register and log in. */
describe('database errors', () => {
  const LOGIN = '/api/auth/login';
  const REGISTER = '/api/auth/register';

  @Entity()
  class Unreadable extends AuthUser {
    @AfterLoad()
    fail(): void {
      throw new Error('cannot be read');
    }
  }

  /** Every endpoint, for a known and an unknown user, one after another: a pool may have one connection. */
  async function sendAll(app: AuthApp, email: string, token: string): Promise<Answer[]> {
    return [
      await app.post(LOGIN, { email, password: PASSWORD }),
      await app.post(LOGIN, { email: 'nobody@example.com', password: PASSWORD }),
      await app.post(REGISTER, { email: 'new@example.com', password: PASSWORD }),
      await app.get('/api/auth/me', { token }),
    ];
  }

  function expectUnavailable(answers: Answer[]): void {
    for (const answer of answers) {
      expect(expectFailure(answer, 503)).toMatch(/^The database is .+, try again$/);
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    }
  }

  const cases = ONE_PLATFORM.flatMap((platform) =>
    BUSY_CASES.map((each) => [platform, each.database, each.what, each] as const),
  );

  it.each(cases)(
    '[2.3] on %s a busy database (%s: %s) is 503 with Retry-After',
    async (platform, database, _, busy) => {
      const app = await startAuth(platform, { database, dataSource: { extra: busy.extra } as never });
      const email = uniqueEmail();
      const { token } = await app.register({ email });
      const release = await makeBusy(app.app.get(DataSource, { strict: false }), User, busy);
      expectUnavailable(await sendAll(app, email, token));
      await release();
      expect((await sendAll(app, email, token)).map(({ status }) => status)).toEqual([200, 401, 201, 200]);
      await app.close();
    },
  );

  describe.each(ONE_PLATFORM)('on %s', (platform) => {
    for (const database of SERVER_DATABASES)
      it(`[2.3] while ${database} is down every endpoint is 503 with Retry-After, and works again afterwards`, async () => {
        const proxy = await startProxy(database);
        const app = await startAuth(platform, { database });
        const email = uniqueEmail();
        const { token } = await app.register({ email });
        await proxy.stop();
        // The first round meets ended connections, the second one refused connections.
        for (let round = 0; round < 2; round += 1) expectUnavailable(await sendAll(app, email, token));
        await proxy.start();
        expect((await sendAll(app, email, token)).map(({ status }) => status)).toEqual([200, 401, 201, 200]);
        await app.close();
        await proxy.remove();
      });

    it('[2.3] any other failure is logged once, and is a 500 without details', async () => {
      const app = await startAuth(platform, { auth: { userClass: Unreadable } });
      const logged = vi.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
      const answer = await app.post(REGISTER, { email: uniqueEmail(), password: PASSWORD });
      expect(expectFailure(answer, 500)).toBe('Internal server error');
      expect(logged).toHaveBeenCalledTimes(1);
      logged.mockRestore();
      await app.close();
    });
  });

  (DATABASES.includes('postgres') ? it : it.skip).each(ONE_PLATFORM)(
    '[2.3] on %s a registration that is stored is 201, even if reading it back finds the pool full',
    async (platform) => {
      const extra = { max: 1, connectionTimeoutMillis: 1_000 };
      const app = await startAuth(platform, { database: 'postgres', dataSource: { extra } as never });
      const dataSource = app.app.get(DataSource, { strict: false });
      const { master } = dataSource.driver as unknown as { master: { waitingCount: number } };
      const runner = dataSource.createQueryRunner();
      await runner.query('SELECT 1');
      const email = uniqueEmail();
      const registering = app.post(REGISTER, { email, password: PASSWORD });
      // The insert waits for the connection; the long query below gets it before the user is read back.
      while (master.waitingCount === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const long = dataSource.query('SELECT pg_sleep(1.5)');
      await runner.release();
      const { status, json } = await registering;
      const user = { id: 1, email, username: null, firstName: null, lastName: null, role: 'USER', active: true };
      expect([status, json.data?.user]).toEqual([201, user]);
      await long;
      await app.close();
    },
  );
});
