import { Injectable, Module, type Type } from '@nestjs/common';
import { AuthModule, AuthUser, DuplicateUserError, UserRepository, type LoginField, type UserFields } from 'declarest';
import { request } from '../harness/client.js';
import { bootError, PLATFORMS, type RunningApp, startApp } from '../harness/platforms.js';
import { claims, makeToken, TEST_SECRET } from '../harness/tokens.js';
import { expectFailure, PASSWORD, uniqueEmail, WhoController } from './auth-app.js';

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

describe.each(PLATFORMS)('a repositoryClass on %s', (platform) => {
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
