/** Options of AuthModule. Startup errors for other values, and collisions of routes, are in test/boot.spec.ts. */
import { Injectable, Module, type INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, type AuthOptions, type AuthSettings, AuthUser, InvalidOptionError, UserAccounts } from 'declarest';
import { as, type Client } from 'declarest/testing';
import { Column, Entity } from 'typeorm';
import { createDatabase } from '../harness/databases.js';
import { bootError, linesOf, PLATFORMS } from '../harness/platforms.js';
import { User } from '../harness/shop.js';
import { makeToken, TEST_SECRET } from '../harness/tokens.js';
import { AUTH, bootAuth, expectFailure, PASSWORD, startAuth } from './auth-app.js';

const SECRET_OF_32 = 'canary-0123456789-0123456789-012';
const RANDOM_SECRET_WARNING = 'No jwtSecret configured; using a random one. Tokens become invalid on restart.';

class NoEntity extends AuthUser {}
class NoRepository {
  readonly rows = [];
}

@Entity()
class Member extends AuthUser {
  @Column()
  taxNumber!: string;
}

@Entity()
class OwnId extends AuthUser {
  @Column()
  override id: number = 0;
}

afterEach(() => {
  process.env['NODE_ENV'] = 'test';
});

/** One sentence: option, expected, got, what to do. Returns it. */
function expectSentence(error: unknown, ...parts: (string | RegExp)[]): string {
  expect(error).toBeInstanceOf(InvalidOptionError);
  const { message } = error as Error;
  expect(message).toMatch(/^[^\n]+ must be [^\n]+, got [^\n]+\. [A-Z][^\n]{10,}\.$/);
  for (const part of parts) expect(message).toMatch(part);
  return message;
}

const errorOf = async (auth: Record<string, unknown>): Promise<unknown> =>
  (await bootAuth('express', { auth: auth as Partial<AuthOptions> })).error;
const asyncErrorOf = async (options: Record<string, unknown>): Promise<unknown> => {
  try {
    const module = AuthModule.forRootAsync({ userClass: User, ...options } as never);
    return (await bootAuth('express', { authModules: [module] })).error;
  } catch (error) {
    return error;
  }
};

describe('an invalid option', () => {
  it.each<[option: string, value: unknown, expected: string | RegExp, got: string]>([
    ['loginMethod', 'PHONE', 'EMAIL', '"PHONE"'],
    ['jwtSecret', null, 'string', 'object'],
    ['jwtExpirationHours', Number.NaN, 'positive number', 'NaN'],
    ['bcryptRounds', 3, 'integer from 4 to 31', '3'],
    ['registrationFields', ['surname'], 'column', '"surname"'],
    ['registrationFields', ['role'], 'column', '"role"'],
    ['registrationFields', 'nickname', 'array', '"nickname"'],
    ['registrationRole', 'ADMIN', 'a role other than "ADMIN"', '"ADMIN"'],
    ['registrationRole', 'admin', 'a role other than "ADMIN"', '"admin"'],
    ['registrationRole', '', 'a role', 'an empty string'],
    ['defaultAccess', 'toString', /public.*denied|denied.*public/, '"toString"'],
    ['enforcedRoles', [''], 'array', 'array'],
    ['strict', 1, 'true or false', '1'],
    ['explainRefusals', 'yes', 'true or false', '"yes"'],
  ])('[2.2] %s with %j is refused in forRoot and from a factory', async (option, value, expected, got) => {
    expectSentence(await errorOf({ [option]: value }), `\`${option}\``, expected, new RegExp(`got .*${got}`));
    const settings = { jwtSecret: TEST_SECRET, [option]: value };
    expectSentence(
      await asyncErrorOf({ useFactory: () => settings }),
      `\`${option}\``,
      expected,
      new RegExp(`got .*${got}`),
    );
  });

  it.each<[option: string, value: unknown, expected: string, got: string]>([
    ['userClass', AuthUser, 'extends AuthUser', 'AuthUser'],
    ['userClass', NoEntity, 'entity', 'NoEntity'],
    ['userClass', OwnId, 'inherits the `id`', 'OwnId'],
    ['repositoryClass', NoRepository, 'extends UserRepository', 'NoRepository'],
    ['authBasePath', '/api/:tenant/auth', 'path', ':tenant'],
    ['authBasePath', '/api/../auth', 'path', '\\.\\.'],
    ['authBasePath', '//', 'path', '"//"'],
    ['registration', 0, 'true or false', '0'],
  ])('[2.2] %s with %o is refused in forRoot and beside a factory', async (option, value, expected, got) => {
    expectSentence(await errorOf({ [option]: value }), `\`${option}\``, expected, new RegExp(`got .*${got}`));
    const useFactory = () => ({});
    expectSentence(
      await asyncErrorOf({ useFactory, [option]: value }),
      `\`${option}\``,
      expected,
      new RegExp(`got .*${got}`),
    );
  });

  it('[1] an unknown name is refused, the known ones are listed, and its value is not printed', async () => {
    const known = ['userClass', 'repositoryClass', 'authBasePath', 'registration'];
    const settings = ['loginMethod', 'jwtSecret', 'jwtExpirationHours', 'bcryptRounds', 'registrationFields'];
    const useFactory = () => ({ jwtSecert: SECRET_OF_32 }) as AuthSettings;
    for (const [error, names] of [
      [await errorOf({ jwtSecert: SECRET_OF_32 }), [...known, ...settings, 'defaultAccess', 'enforcedRoles']],
      [await asyncErrorOf({ jwtSecret: SECRET_OF_32, useFactory }), [...known, 'useFactory', 'inject', 'imports']],
      [await asyncErrorOf({ useFactory }), settings],
    ] as const)
      expect(expectSentence(error, /"jwtSec(er|re)t"/, ...names)).not.toContain(SECRET_OF_32);
  });

  it('[1] forRoot without options, and a factory that is missing or returns none, are refused', async () => {
    for (const options of [undefined, null, 'User', []])
      expect(() => AuthModule.forRoot(options as never)).toThrow(InvalidOptionError);
    expectSentence(await asyncErrorOf({}), 'useFactory');
    expectSentence(await asyncErrorOf({ useFactory: () => null }), 'AuthModule');
  });

  it('[1] a static option from the factory is refused', async () => {
    for (const name of ['userClass', 'repositoryClass', 'authBasePath', 'registration'])
      expectSentence(await asyncErrorOf({ useFactory: () => ({ [name]: undefined }) }), `got "${name}"`);
  });

  it('[2.2] a mandatory column that registration cannot set is refused, and required once it is listed', async () => {
    expectSentence(await errorOf({ userClass: Member }), 'registrationFields', 'taxNumber');
    const app = await startAuth('express', { auth: { userClass: Member, registrationFields: ['taxNumber'] } });
    const body = { email: 'ann@example.com', password: PASSWORD };
    expect(expectFailure(await app.post('/api/auth/register', body))).toBe('taxNumber: required');
    expect((await app.post('/api/auth/register', { ...body, taxNumber: '7' })).status).toBe(201);
    await app.close();
  });
});

describe.each(PLATFORMS)('without a table for users on %s', (platform) => {
  it('[2.2] no TypeOrmModule is an error that says what to import', async () => {
    const error = await bootError(platform, { imports: [AuthModule.forRoot(AUTH)] });
    expectSentence(error, '`userClass`', 'got `User` without a data source', 'TypeOrmModule.forRoot');
  });

  it('[2.2] a user class that the data source does not know is an error that says how to add it', async () => {
    const { error } = await bootAuth(platform, { dataSource: { autoLoadEntities: false } as never });
    expectSentence(error, '`userClass`', 'got `User` that the data source does not know', 'autoLoadEntities');
  });
});

describe('jwtSecret', () => {
  const secretWarnings = (logs: readonly string[]): string[] =>
    linesOf(logs, 'warn').filter((line) => /secret/i.test(line));

  it('[2.2] without one, each forRoot call uses another random secret and each start logs one warning', async () => {
    const start = () => startAuth('express', { auth: { jwtSecret: undefined } });
    const [first, second] = [await start(), await start()];
    for (const { logs } of [first, second])
      expect(secretWarnings(logs)).toEqual([`warn [AuthModule] ${RANDOM_SECRET_WARNING}`]);
    const { token } = await first.register({ email: 'ann@example.com' });
    await second.register({ email: 'ann@example.com' });
    expect((await first.get('/api/auth/me', { token })).status).toBe(200);
    for (const bad of [token, ...['', 'secret', 'undefined'].map((secret) => makeToken({ secret }))])
      expect((await second.get('/api/auth/me', { token: bad })).status).toBe(401);
    await Promise.all([first.close(), second.close()]);
  });

  it.each(PLATFORMS)(
    '[2.2] the random secret is the same after a second compile() of a testing module (%s)',
    async (platform) => {
      const database = await createDatabase();
      const imports = [
        TypeOrmModule.forRoot(database.options),
        AuthModule.forRoot({ userClass: User, bcryptRounds: 4 }),
      ];
      const builder = Test.createTestingModule({ imports }).setLogger({ log() {}, error() {}, warn() {} });
      const apps: INestApplication[] = [];
      // Both modules share a container, which returns the providers of the last compile().
      const accounts: UserAccounts[] = [];
      for (let start = 0; start < 2; start += 1) {
        const module = await builder.compile();
        const adapter = platform === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
        const app = module.createNestApplication<INestApplication>(adapter);
        await app.listen(0, '127.0.0.1');
        apps.push(app);
        accounts.push(module.get(UserAccounts, { strict: false }));
      }
      expect(accounts[1]).not.toBe(accounts[0]);
      const [first, second] = apps.map((app) => as(app)) as [Client, Client];
      const json = { email: 'ann@example.com', password: PASSWORD };
      const registered = await first.post('/api/auth/register', json);
      const logged = await second.post('/api/auth/login', json);
      expect([registered.status, logged.status]).toEqual([201, 200]);
      const statuses = [registered, logged].map(async ({ json: { data } }, index) => {
        const headers = { authorization: `Bearer ${data.token}` };
        return (await [second, first][index]!.request('GET', '/api/auth/me', { headers })).status;
      });
      expect(await Promise.all(statuses)).toEqual([200, 200]);
      await Promise.all(apps.map((app) => app.close()));
      await database.drop();
    },
  );

  it('[2.2] in production a missing or short one is an error', async () => {
    process.env['NODE_ENV'] = 'production';
    expectSentence(await errorOf({ jwtSecret: undefined }), '`jwtSecret`', 'got none');
    expectSentence(await asyncErrorOf({ useFactory: async () => ({}) }), '`jwtSecret`', 'got none');
    expectSentence(await errorOf({ jwtSecret: SECRET_OF_32.slice(1) }), '`jwtSecret`', '32 bytes', 'got 31 bytes');
    expectSentence(await errorOf({ jwtSecret: 'ä'.repeat(15) }), '`jwtSecret`', 'got 30 bytes');
    for (const jwtSecret of [SECRET_OF_32, 'ä'.repeat(16)]) {
      const { logs, error } = await bootAuth('express', { auth: { jwtSecret } });
      expect([error, secretWarnings(logs)]).toEqual([undefined, []]);
    }
  });

  it('[2.2] elsewhere a short one is a warning, and works', async () => {
    const jwtSecret = SECRET_OF_32.slice(1);
    const app = await startAuth('express', { auth: { jwtSecret } });
    expect(secretWarnings(app.logs)).toEqual([expect.stringMatching(/31 bytes.*32/)]);
    await app.register({ email: 'ann@example.com' });
    expect((await app.get('/api/auth/me', { token: makeToken({ secret: jwtSecret }) })).status).toBe(200);
    await app.close();
  });

  it.each<[string, unknown]>([
    ['test', 'canary-7'],
    ['production', 'canary-7'],
    ['production', `${SECRET_OF_32}${SECRET_OF_32}`],
    ['test', ['canary-7']],
    ['test', { key: 'canary-7' }],
    ['test', Buffer.from('canary-7')],
    ['test', Object.assign(() => undefined, { toString: () => 'canary-7' })],
    ['test', Symbol('canary-7')],
    ['test', 9_876_543_210],
  ])('[1] it is never printed (NODE_ENV=%s, %o)', async (environment, jwtSecret) => {
    process.env['NODE_ENV'] = environment;
    const { logs, error } = await bootAuth('express', { auth: { jwtSecret } as never });
    const printed = [...logs, error instanceof Error ? error.message : ''].join('\n');
    expect(printed).not.toMatch(/canary|9876543210|9,876/);
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  const body = { email: 'ann@example.com', password: PASSWORD };

  it('[2.2] userClass is the only mandatory option', async () => {
    const app = await startAuth(platform, { authModules: [AuthModule.forRoot({ userClass: User })] });
    const { token, user } = await app.register({ email: 'ann@example.com' });
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    expect([exp - iat, user['email']]).toEqual([24 * 3600, 'ann@example.com']);
    expect((await app.row({ email: 'ann@example.com' }))['password']).toMatch(/^\$2b\$12\$/);
    await app.close();
  });

  it('[2.2] registration: false removes that endpoint only', async () => {
    const app = await startAuth(platform, { auth: { registration: false } });
    expect((await app.post('/api/auth/register', body)).status).toBe(404);
    await app.app.get(UserAccounts, { strict: false }).create(body);
    const { status, json } = await app.post('/api/auth/login', body);
    expect([status, (await app.get('/api/auth/me', { token: json.data?.token })).status]).toEqual([200, 200]);
    await app.close();
  });

  it.each([
    ['auth', '/auth'],
    ['/id/', '/id'],
    ['/api/v1/users', '/api/v1/users'],
  ])('[2.2] authBasePath %j is normalised and moves all endpoints to %s', async (authBasePath, base) => {
    const app = await startAuth(platform, { auth: { authBasePath } });
    expect((await app.post(`${base}/register`, body)).status).toBe(201);
    const { token } = (await app.post(`${base}/login`, body)).json.data;
    expect((await app.get(`${base}/me`, { token })).status).toBe(200);
    expect((await app.get(`${base}/me`)).status).toBe(401);
    for (const path of ['register', 'login']) expect((await app.post(`/api/auth/${path}`, body)).status).toBe(404);
    expect((await app.get('/api/auth/me', { token })).status).toBe(404);
    await app.close();
  });

  it('[2.2] an authBasePath that repeats the global prefix is one warning', async () => {
    const configure = (app: INestApplication) => void app.setGlobalPrefix('api');
    const warningsFor = async (auth: Partial<AuthOptions>) =>
      linesOf((await bootAuth(platform, { auth, configure })).logs, 'warn').filter((line) => /prefix/.test(line));
    expect(await warningsFor({})).toEqual([expect.stringContaining('/api/api/auth')]);
    for (const authBasePath of ['auth', '/apiary/auth']) expect(await warningsFor({ authBasePath })).toEqual([]);
  });

  it('[2.3] without AuthModule the endpoints are 404', async () => {
    const app = await startAuth(platform, { authModules: [] });
    for (const path of ['register', 'login']) expect((await app.post(`/api/auth/${path}`, body)).status).toBe(404);
    expect((await app.get('/api/auth/me', { token: makeToken() })).status).toBe(404);
    await app.close();
  });

  it('[1] forRootAsync injects into the factory, and takes the static options beside it', async () => {
    @Injectable()
    class Vault {
      readonly secret = SECRET_OF_32;
    }
    @Module({ providers: [Vault], exports: [Vault] })
    class VaultModule {}
    const module = AuthModule.forRootAsync({
      userClass: User,
      authBasePath: 'id/',
      imports: [VaultModule],
      inject: [Vault],
      useFactory: async (...[vault]: unknown[]) => ({
        jwtSecret: (vault as Vault).secret,
        bcryptRounds: 5,
        jwtExpirationHours: 2,
        loginMethod: 'USERNAME',
      }),
    });
    const app = await startAuth(platform, { authModules: [module] });
    const { token } = (await app.post('/id/register', { username: 'ann', password: PASSWORD })).json.data;
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
    expect(exp - iat).toBe(7200);
    expect((await app.row({ username: 'ann' }))['password']).toMatch(/^\$2b\$05\$/);
    expect((await app.get('/id/me', { token: makeToken({ secret: SECRET_OF_32 }) })).status).toBe(200);
    await app.close();
  });
});
