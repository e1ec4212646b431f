/** The options of accounts at startup: each wrong one is a sentence. */
import { AuthModule, type AuthOptions, AuthSession, InvalidOptionError, UserRepository } from 'declarest';
import { passkeys } from 'declarest-logins/passkeys';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { createDatabase } from '../harness/databases.js';
import { linesOf, startApp } from '../harness/platforms.js';
import { User } from '../harness/shop.js';
import { AUTH, bootAuth, startAuth } from './auth-app.js';
import { Mailbox } from './mailbox.js';

const errorOf = async (auth: Record<string, unknown>): Promise<Error> =>
  (await bootAuth('express', { auth: auth as Partial<AuthOptions> })).error as Error;

const SENTENCE = /^[^\n]+ must be [^\n]+, got [^\n]+\. [A-Z][^\n]{10,}\.$/;

afterEach(() => {
  process.env['NODE_ENV'] = 'test';
});

describe('options of accounts', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['sessions as a text', { sessions: 'on' }, 'sessions` must be an object of options'],
    ['an unknown option of sessions', { sessions: { days: 1 } }, '"days"'],
    [
      'minutes of zero',
      { sessions: { accessTokenMinutes: 0 } },
      'sessions.accessTokenMinutes` must be a positive number',
    ],
    ['minutes as a text', { sessions: { accessTokenMinutes: '15' } }, 'got "15"'],
    [
      'days without an end',
      { sessions: { refreshTokenDays: Infinity } },
      'sessions.refreshTokenDays` must be a positive number',
    ],
    [
      'another revocation',
      { sessions: { revocation: true } },
      'sessions.revocation` must be "expiry" or "immediate", got true',
    ],
    [
      'a maximum of no session',
      { sessions: { maxSessions: 0 } },
      'sessions.maxSessions` must be an integer of at least 1, got 0. Set for example 5.',
    ],
    [
      'absolute days of zero',
      { sessions: { absoluteDays: 0 } },
      'sessions.absoluteDays` must be a positive number of days, at most 36500, got 0',
    ],
    ['passwordReset as a text', { passwordReset: 'yes' }, 'passwordReset` must be true or false'],
    ['requireVerified as a number', { requireVerified: 1 }, 'requireVerified` must be true or false'],
    ['administration as a role', { administration: 'ADMIN' }, 'administration` must be true or false'],
    [
      'a class as mailer',
      { mailer: Mailbox },
      'mailer` must be a provider such as { useClass: ShopMailer }, got `Mailbox`',
    ],
    ['links without a scheme', { accountLinks: 'shop.example' }, 'accountLinks` must be an absolute http or https URL'],
    ['links of another scheme', { accountLinks: 'javascript:alert(1)' }, 'accountLinks` must be'],
    ['links with a query', { accountLinks: 'https://shop.example/?a=1' }, 'without ? and #'],
    ['a policy as a number', { passwordPolicy: 12 }, 'passwordPolicy` must be an object of options'],
    [
      'a short length',
      { passwordPolicy: { minLength: 6 } },
      'passwordPolicy.minLength` must be an integer from 8 to 72, got 6',
    ],
    ['a check that is no function', { passwordPolicy: { check: /x/ } }, 'passwordPolicy.check` must be a function'],
    ['common as a list', { passwordPolicy: { common: ['x'] } }, 'passwordPolicy.common` must be true or false'],
    [
      'a hasher without verify',
      { passwordHasher: { hash: () => '' } },
      'passwordHasher` must be an object with hash, verify and needsRehash',
    ],
  ])('refuses %s', async (_, auth, part) => {
    const error = await errorOf(auth);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.message).toContain(part);
  });

  it.each(['passwordReset', 'requireVerified'])(
    'production refuses %s without a mailer, and without links',
    async (option) => {
      process.env['NODE_ENV'] = 'production';
      const { message } = await errorOf({ [option]: true });
      expect(message).toMatch(SENTENCE);
      expect(message).toContain(`${option}\` must be used with a mailer in production, got none. Set \`mailer\``);
      const links = await errorOf({ [option]: true, mailer: { useClass: Mailbox } });
      expect(links.message).toContain(`${option}\` must be used with \`accountLinks\` in production, got none.`);
      expect(
        await errorOf({ [option]: true, mailer: { useClass: Mailbox }, accountLinks: 'https://a.example' }),
      ).toBeUndefined();
    },
  );

  it('forRootAsync takes the options that decide about routes beside the factory', async () => {
    const { options, drop } = await createDatabase();
    const { url, logs, close } = await startApp('express', {
      imports: [
        TypeOrmModule.forRoot(options),
        AuthModule.forRootAsync({
          userClass: User,
          sessions: { accessTokenMinutes: 5 },
          passwordReset: true,
          administration: true,
          throttle: { tries: 5 },
          mailer: { useClass: Mailbox },
          useFactory: () => ({
            jwtSecret: AUTH.jwtSecret,
            bcryptRounds: 4,
            claims: () => ({ plan: 'free' }),
            accountLinks: 'https://a.example',
          }),
        }),
      ],
    });

    const body = JSON.stringify({ email: 'ann@example.com', password: 'correct horse battery' });
    const sent = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
    const { data } = (await (await fetch(`${url}/api/auth/register`, sent)).json()) as { data: { expiresIn: number } };
    expect(data.expiresIn).toBe(300);
    expect(linesOf(logs, 'warn').filter((line) => !line.includes('SecurityConfig'))).toEqual([]);
    await close();
    await drop();
  });
});

it.each([
  [{ administration: true }, 'administration', 'list'],
  [{ sessions: true }, 'sessions', 'remove'],
  [{ plugins: [passkeys({ rpId: 'a.example', origins: ['https://a.example'] })] }, 'passkeys', 'remove'],
])('%j needs a repositoryClass with the method', async (options, option, method) => {
  class Store extends UserRepository {
    findById = () => Promise.resolve(null);
    findByLogin = () => Promise.resolve(null);
    create = () => Promise.reject(new Error('none'));
    update = () => Promise.resolve(null);
  }
  const { message } = await errorOf({ ...options, repositoryClass: Store });
  expect(message).toMatch(SENTENCE);
  expect(message).toContain(`\`${option}\` must be used with a repositoryClass that has the method \`${method}\``);
});

it('an own repository changes a user only where the hash and the address are still those that were read', async () => {
  const ann = { id: 7, email: 'ann@example.com', username: null, password: 'old' };
  class Store extends UserRepository {
    findById = () => Promise.resolve(ann as never);
    findByLogin = (_field: string, login: string) => Promise.resolve((login === ann.email ? ann : null) as never);
    create = () => Promise.reject(new Error('none'));
    update = (_id: string, fields: object) => Promise.resolve(Object.assign(ann, fields) as never);
  }
  const store = new Store();
  expect(await store.replaceHash('7', 'other', 'new')).toBe(false);
  // The login belongs to another user.
  expect(await store.replaceHash('8', 'old', 'new')).toBe(false);
  expect([await store.replaceHash('7', 'old', 'new'), ann.password]).toEqual([true, 'new']);
  const expected = { email: 'old@example.com', password: 'new' };
  expect(await store.updateIf('7', expected, { password: 'x' })).toBeNull();
  expect(await store.updateIf('7', { ...expected, email: ann.email }, { password: 'x' })).toBe(ann);
});

it('jwtExpirationHours beside sessions is a warning', async () => {
  const { logs } = await bootAuth('express', { auth: { sessions: true, jwtExpirationHours: 1 } });
  expect(linesOf(logs, 'warn').join()).toContain('jwtExpirationHours has no effect with `sessions`');
});

describe('the tables', () => {
  it('that the data source does not know are named', async () => {
    const { error } = await bootAuth('express', {
      auth: { sessions: true },
      dataSource: { autoLoadEntities: false, entities: [User] },
    });
    expect((error as Error).message).toMatch(SENTENCE);
    expect((error as Error).message).toContain('add AuthSession to its entities');
    const listed = await startAuth('express', {
      auth: { sessions: true },
      dataSource: { autoLoadEntities: false, entities: [User, AuthSession] },
    });
    expect(listed.app.get(DataSource).hasMetadata(AuthSession)).toBe(true);
    await listed.close();
  });

  it('need a data source', async () => {
    await expect(startApp('express', { imports: [AuthModule.forRoot({ ...AUTH, sessions: true })] })).rejects.toThrow(
      /data source/,
    );
  });
});
