/** Users in a table of the application's own: the columns with secrets are no fields of any resource of that table. */
import { Injectable, type Type } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  AuthModule,
  AuthUser,
  CrudModule,
  type CrudOptions,
  type LoginField,
  UserAccounts,
  UserRepository,
} from 'declarest';
import { Column, DataSource, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn, type Repository } from 'typeorm';
import { request } from '../harness/client.js';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { bootError, linesOf, ONE_PLATFORM, startApp } from '../harness/platforms.js';
import { AUTH, PASSWORD } from './auth-app.js';

class Person extends AuthUser {}

class Keys {
  @Column({ type: 'varchar', nullable: true }) resetToken!: string | null;
}

@Entity('account')
class Account {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', length: 200, unique: true }) email!: string;
  @Column({ type: 'varchar', length: 200, name: 'pw', nullable: true }) passwordHash!: string | null;
  @Column({ type: 'varchar', length: 60, default: 'USER' }) role!: string;
  @Column(() => Keys) keys!: Keys;
  @Column({ type: 'int', default: 0 }) tokenCount!: number;
}

/** Another class of the same table. */
@Entity('account', { synchronize: false })
class Author {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', length: 200 }) email!: string;
  @Column({ type: 'varchar', length: 200, name: 'pw', nullable: true }) digest!: string | null;
}

/** Its hash and its secret have names that say nothing, or are numbers. */
@Entity('login')
class Login {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', length: 200 }) email!: string;
  @Column({ type: 'varchar', length: 200 }) digest!: string;
  @Column({ type: 'int', default: 123456 }) otp!: number;
  @Column({ type: 'int', default: 0 }) tokens!: number;
}

@Entity('log_entry')
class LogEntry {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => Login) writer!: Login;
}

@Injectable()
class PrivateLogins extends UserRepository {
  readonly #logins: Repository<Login>;
  constructor(@InjectRepository(Login) logins: Repository<Login>) {
    super();
    this.#logins = logins;
  }
  async findById(id: string): Promise<AuthUser | null> {
    return this.findByLogin('email', id);
  }
  async findByLogin(_: LoginField, email: string): Promise<AuthUser | null> {
    const found = await this.#logins.findOneBy({ email });
    return found && Object.assign(new Person(), { ...found, password: found.digest });
  }
  create(): Promise<AuthUser> {
    return Promise.reject(new Error('not in this test'));
  }
  update(): Promise<AuthUser | null> {
    return Promise.resolve(null);
  }
}

@Injectable()
class VisibleLogins extends PrivateLogins {
  constructor(@InjectRepository(Login) readonly logins: Repository<Login>) {
    super(logins);
  }
}

@Injectable()
class NamedLogins extends VisibleLogins {
  static override readonly hiddenColumns = ['digest'];
}

@Injectable()
class NoHash extends PrivateLogins {
  static override readonly hiddenColumns = [];
}

@Entity('article')
class Article {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', length: 50 }) title!: string;
  @Column({ type: 'varchar', nullable: true }) otpSecret!: string | null;
  @ManyToOne(() => Account) writer!: Account;
  @ManyToOne(() => Author, { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'writerId' })
  author!: Author;
}

@Injectable()
class Accounts extends UserRepository {
  constructor(@InjectRepository(Account) private readonly accounts: Repository<Account>) {
    super();
  }
  private async toUser(account: Promise<Account | null>): Promise<AuthUser | null> {
    const found = await account;
    if (!found) return null;
    const { id, email, role, passwordHash } = found;
    const none = { username: null, firstName: null, lastName: null, active: true };
    return Object.assign(new Person(), { id, email, role, password: passwordHash ?? '', ...none });
  }
  findById(id: string) {
    return this.toUser(this.accounts.findOneBy({ id: Number(id) }));
  }
  findByLogin(_field: LoginField, value: string) {
    return this.toUser(this.accounts.findOneBy({ email: value }));
  }
  async create({ email, role, password }: Partial<AuthUser>) {
    const account = await this.accounts.save({
      email: email ?? '',
      role: role ?? 'USER',
      passwordHash: password ?? '',
    });
    return (await this.findById(String(account.id))) as AuthUser;
  }
  async update(id: string, { password, role }: Partial<AuthUser>) {
    await this.accounts.update(Number(id), { ...(password && { passwordHash: password }), ...(role && { role }) });
    return this.findById(id);
  }
}

/** Says which columns. */
@Injectable()
class NamedAccounts extends Accounts {
  static override readonly hiddenColumns = ['passwordHash', 'keys.resetToken'];
}

const ARTICLES = { entity: Article, endpoint: '/api/articles', includableRelations: ['writer', 'author'] } as const;
const ACCOUNTS = {
  entity: Account,
  endpoint: '/api/accounts',
  filterableFields: true,
  sortableFields: ['email'],
  enableExport: true,
} as const;

async function start(
  database: (typeof DATABASES)[number],
  repositoryClass: Type<UserRepository>,
  resources: readonly unknown[],
) {
  const { options, drop } = await createDatabase(database);
  const root = {
    imports: [
      TypeOrmModule.forRoot(options),
      TypeOrmModule.forFeature([Author]),
      AuthModule.forRootAsync({
        userClass: Person,
        repositoryClass,
        imports: [TypeOrmModule.forFeature([Account, Login])],
        useFactory: () => ({ jwtSecret: AUTH.jwtSecret, bcryptRounds: 4 }),
      }),
      CrudModule.forFeature(...(resources as CrudOptions<object>[])),
    ],
  };
  return { root, onClose: drop };
}

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  describe.each(DATABASES)('on %s', (database) => {
    it.each<[string, Type<UserRepository>, readonly string[]]>([
      ['found by its name', Accounts, ['keys.resetToken']],
      ['named by the class', NamedAccounts, []],
    ])('a hash %s is in no answer, and no parameter or body names it', async (_, repositoryClass, shown) => {
      const { root, onClose } = await start(database, repositoryClass, [ARTICLES, ACCOUNTS as never]);
      const { url, app, logs, close } = await startApp(platform, root, { onClose });
      const email = 'ann@shop.example';
      const send = (method: string, path: string, json?: unknown) =>
        request(url, method, path, json === undefined ? {} : { json });
      const registered = await send('POST', '/api/auth/register', { email, password: PASSWORD });
      expect(registered.status).toBe(201);
      expect((await send('POST', '/api/auth/login', { email, password: PASSWORD })).status).toBe(200);
      const source = app.get(DataSource);
      const { id } = registered.json.data.user as { id: number };
      await source.getRepository(Account).update(id, { keys: { resetToken: 'reset-canary' } });
      await source.getRepository(Article).insert({ title: 'News', writer: { id } });
      const answers = [
        await send('GET', '/api/accounts'),
        await send('GET', `/api/accounts/${id}`),
        await send('GET', '/api/accounts/export?format=csv'),
        await send('GET', '/api/articles?include=writer,author'),
        await send('PATCH', `/api/accounts/${id}`, { email }),
      ];
      for (const { status, text } of answers) {
        expect([status, text]).toEqual([200, expect.not.stringContaining('$2b$')]);
        expect(text).not.toMatch(/passwordHash|digest/);
        expect(text.includes('reset-canary')).toBe(shown.length > 0);
      }
      for (const query of ['filter[passwordHash][startsWith]=$2', 'sort=passwordHash', 'fields=passwordHash'])
        expect([query, (await send('GET', `/api/accounts?${query}`)).status]).toEqual([query, 400]);
      for (const [method, path] of [
        ['POST', '/api/accounts'],
        ['PUT', `/api/accounts/${id}`],
        ['PATCH', `/api/accounts/${id}`],
      ] as const)
        expect([method, (await send(method, path, { email: 'eve@shop.example', passwordHash: 'x' })).text]).toEqual([
          method,
          expect.stringContaining('passwordHash'),
        ]);
      expect((await send('POST', '/api/auth/login', { email, password: PASSWORD })).status).toBe(200);
      const names = ['Article.otpSecret', ...shown.map((name) => `Account.${name}`)];
      expect(linesOf(logs, 'warn').filter((line) => line.includes('called like secrets'))).toEqual([
        expect.stringContaining(`that clients read: ${names.join(', ')}. Give them`),
      ]);
      await close();
    });
  });

  it.each(DATABASES)(
    'a table of users without a column that is called like a hash is one warning, on %s',
    async (database) => {
      const unhidden = async (repositoryClass: Type<UserRepository>, resources: readonly unknown[]) => {
        const { root, onClose } = await start(database, repositoryClass, resources);
        const { logs, close } = await startApp(platform, root, { onClose });
        await close();
        return linesOf(logs, 'warn').filter((line) => /no column is hidden|like secrets/.test(line));
      };
      const sentence = (name: string, entity: string): unknown =>
        expect.stringContaining(
          `Entities with users of which no column is hidden, and that clients read: ${entity}. ` +
            `Name the columns of ${name} with hashes in \`static hiddenColumns\`.`,
        );
      const secrets = expect.stringContaining('that clients read: Login.otp. Give them');
      const logins = { entity: Login, endpoint: '/api/logins', maxListSize: 9 };
      const logs = { entity: LogEntry, endpoint: '/api/log', maxListSize: 9 };
      const included = { ...logs, includableRelations: ['writer'] };
      // By the columns of the table, where the repository is private; else by the repository.
      expect(await unhidden(PrivateLogins, [logins])).toEqual([secrets, sentence('PrivateLogins', 'Login')]);
      expect(await unhidden(PrivateLogins, [included])).toEqual([secrets, sentence('PrivateLogins', 'Login')]);
      expect(await unhidden(VisibleLogins, [included])).toEqual([secrets, sentence('VisibleLogins', 'Login')]);
      expect(await unhidden(PrivateLogins, [logs])).toEqual([]);
      expect(await unhidden(NamedLogins, [logins])).toEqual([secrets]);
      expect(await unhidden(NoHash, [logins])).toEqual([secrets]);
    },
  );

  it.each(DATABASES)('who has another role writes as with that one, on %s', async (database) => {
    const admins = { write: ['ADMIN'] } as const;
    const resource = { ...ACCOUNTS, fieldPermissions: { role: admins, tokenCount: admins } };
    const { root, onClose } = await start(database, Accounts, [resource]);
    const { url, app, close } = await startApp(platform, root, { onClose });
    const accounts = app.get(UserAccounts, { strict: false });
    const email = 'ann@shop.example';
    const { id } = await accounts.create({ email, password: PASSWORD, role: 'ADMIN' });
    const { token } = (await request(url, 'POST', '/api/auth/login', { json: { email, password: PASSWORD } })).json
      .data;
    const patch = async (json: object) => (await request(url, 'PATCH', `/api/accounts/${id}`, { token, json })).status;
    expect(await patch({ tokenCount: 1 })).toBe(200);
    await accounts.setRole(id, 'USER');
    expect(await patch({ role: 'ADMIN' })).toBe(400);
    await close();
  });

  it('a filter through a relation does not reach it', async () => {
    for (const field of ['writer.passwordHash', 'author.digest']) {
      const resource = { ...ARTICLES, filterableFields: [field] };
      const { root, onClose } = await start('sqlite', Accounts, [resource]);
      expect(String(await bootError(platform, root, { onClose }))).toContain(field);
    }
  });

  it.each<[string, Type<UserRepository>, string]>([
    [
      'a name that is no column',
      class extends Accounts {
        static override readonly hiddenColumns = ['hash'];
      },
      'hiddenColumns must be names of columns of an entity whose repository is a property of the instance, got hash',
    ],
  ])('refuses %s', async (_, repositoryClass, message) => {
    const { root, onClose } = await start('sqlite', repositoryClass, [ARTICLES]);
    expect(String(await bootError(platform, root, { onClose }))).toContain(message);
  });
});
