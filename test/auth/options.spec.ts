import { Controller, Get, Injectable, Module, Post } from '@nestjs/common';
import {
  AuthModule,
  type AuthOptions,
  type AuthSettings,
  AuthUser,
  CrudModule,
  CurrentUser,
  InvalidOptionError,
  LoginMethod,
  type Principal,
  UserAccounts,
} from 'declarest';
import { Column, Entity } from 'typeorm';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { Category, User } from '../harness/shop.js';
import { makeToken, TEST_SECRET } from '../harness/tokens.js';
import { AUTH, type AuthAppOptions, bootAuth, expectFailure, PASSWORD, startAuth } from './auth-app.js';

const SECRET_OF_32 = 'canary-0123456789-0123456789-012';

class NoEntity extends AuthUser {}
class NoUser {
  readonly name = 'Ann';
}
class NoRepository {
  readonly rows = [];
}

@Entity()
class Member extends AuthUser {
  @Column('varchar', { nullable: true })
  nickname!: string | null;
}

@Entity()
class Strict extends AuthUser {
  @Column()
  taxNumber!: string;
}

@Controller()
class TakesLogin {
  @Post('api/auth/login')
  login() {
    return 'mine';
  }
}
@Controller('api/auth')
class TakesMe {
  @Get('me')
  me() {
    return 'mine';
  }
}
@Controller('api/auth/register')
class TakesRegister {
  @Post()
  register() {
    return 'mine';
  }
}

afterEach(() => {
  process.env['NODE_ENV'] = 'test';
});

/** One sentence: path of the option, what was expected, what was got, what to do. */
function expectSentence(error: unknown, option: string, expected?: RegExp, got?: RegExp): string {
  expect(error).toBeInstanceOf(InvalidOptionError);
  const { message } = error as Error;
  const found = /^(?<path>[^\n]+): expected (?<expected>[^\n]+?), got (?<got>[^\n]+?); (?<advice>[^\n]{10,})\.$/.exec(
    message,
  );
  expect([message, found?.groups]).toEqual([message, expect.anything()]);
  expect(found?.groups?.['path']).toContain(option);
  if (expected) expect(found?.groups?.['expected']).toMatch(expected);
  if (got) expect(found?.groups?.['got']).toMatch(got);
  return message;
}

describe.each(PLATFORMS)('on %s', (platform) => {
  const errorOf = async (auth: Record<string, unknown>) => {
    const { error } = await bootAuth(platform, { auth: auth as Partial<AuthOptions> });
    return error;
  };
  const warningsOf = async (auth: Partial<AuthOptions>, more: AuthAppOptions = {}) => {
    const { logs, error } = await bootAuth(platform, { auth, ...more });
    expect(error).toBeUndefined();
    return linesOf(logs, 'warn');
  };

  type Row = [option: string, value: unknown, expected: RegExp, got: RegExp];
  const SETTINGS: Row[] = [
    ['loginMethod', 'PHONE', /EMAIL.*USERNAME/, /"PHONE"/],
    ['loginMethod', 'email', /EMAIL.*USERNAME/, /"email"/],
    ['loginMethod', '', /EMAIL.*USERNAME/, /empty/],
    ['loginMethod', 0, /EMAIL.*USERNAME/, /0/],
    ['loginMethod', null, /EMAIL.*USERNAME/, /null/],
    ['loginMethod', ['EMAIL'], /EMAIL.*USERNAME/, /array/],
    ['jwtExpirationHours', 0, /positive number/, /0/],
    ['jwtExpirationHours', -1, /positive number/, /-1/],
    ['jwtExpirationHours', Number.NaN, /positive number/, /NaN/],
    ['jwtExpirationHours', Number.POSITIVE_INFINITY, /positive number/, /Infinity/],
    ['jwtExpirationHours', '24', /positive number/, /"24"/],
    ['jwtExpirationHours', '24h', /positive number/, /"24h"/],
    ['jwtExpirationHours', null, /positive number/, /null/],
    ['bcryptRounds', 3, /4/, /3/],
    ['bcryptRounds', 32, /31/, /32/],
    ['bcryptRounds', 10.5, /integer|whole/, /10\.5/],
    ['bcryptRounds', '12', /integer|whole|number/, /"12"/],
    ['bcryptRounds', Number.NaN, /integer|whole|number/, /NaN/],
    ['bcryptRounds', null, /integer|whole|number/, /null/],
    ['registrationFields', 'nickname', /array/, /"nickname"/],
    ['registrationFields', [5], /array/, /array|5/],
    ['registrationFields', [''], /array/, /array|empty/],
    ['registrationFields', ['surname'], /column/, /"surname"/],
    ['registrationFields', ['role'], /column/, /"role"/],
    ['registrationFields', ['active'], /column/, /"active"/],
    ['registrationFields', ['id'], /column/, /"id"/],
    ['registrationFields', ['password'], /column/, /"password"/],
    ['registrationFields', {}, /array/, /object/],
    ['defaultAccess', 'open', /(?=.*authenticated)(?=.*public)(?=.*denied)/, /"open"/],
    ['defaultAccess', 'deny', /(?=.*authenticated)(?=.*public)(?=.*denied)/, /"deny"/],
    ['defaultAccess', true, /(?=.*authenticated)(?=.*public)(?=.*denied)/, /true/],
    ['defaultAccess', 'toString', /(?=.*authenticated)(?=.*public)(?=.*denied)/, /"toString"/],
    ['enforcedRoles', 'ADMIN', /array/, /"ADMIN"/],
    ['enforcedRoles', [''], /array/, /array|empty/],
    ['enforcedRoles', [5], /array/, /array|5/],
    ['enforcedRoles', null, /array/, /null/],
    ['jwtSecret', null, /string|text/, /null|object/],
    ['jwtSecret', 12_345, /string|text/, /number/],
    ['jwtSecret', '', /string|text|secret/, /empty/],
  ];
  const STATICS: Row[] = [
    ['userClass', undefined, /AuthUser/, /undefined|none/],
    ['userClass', null, /AuthUser/, /null/],
    ['userClass', 'User', /AuthUser/, /"User"/],
    ['userClass', NoUser, /AuthUser/, /NoUser/],
    ['userClass', AuthUser, /AuthUser/, /AuthUser/],
    ['userClass', new NoEntity(), /AuthUser/, /object/],
    ['userClass', () => User, /AuthUser/, /./],
    ['userClass', NoEntity, /entity/i, /NoEntity/],
    ['repositoryClass', NoRepository, /UserRepository/, /NoRepository/],
    ['repositoryClass', 'UserRepository', /UserRepository/, /"UserRepository"/],
    ['repositoryClass', {}, /UserRepository/, /object/],
    ['repositoryClass', null, /UserRepository/, /null/],
    ['authBasePath', '', /path/, /empty/],
    ['authBasePath', 5, /path/, /5/],
    ['authBasePath', null, /path/, /null/],
    ['authBasePath', '/api/:tenant/auth', /path/, /:tenant/],
    ['authBasePath', '/api/auth/*', /path/, /\*/],
    ['authBasePath', '/api/auth?x=1', /path/, /\?x=1/],
    ['authBasePath', '/api/../auth', /path/, /\.\./],
    ['authBasePath', '/api/%61uth', /path/, /%61/],
    ['authBasePath', '/api/my auth', /path/, /my auth/],
    ['authBasePath', ['/api/auth'], /path/, /array/],
    ['registration', 'false', /true or false/, /"false"/],
    ['registration', 0, /true or false/, /0/],
    ['registration', null, /true or false/, /null/],
  ];

  it.each([...SETTINGS, ...STATICS])(
    '[2.2] the option %s with %j fails with one sentence: its path, what was expected, what was got, what to do',
    async (option, value, expected, got) => {
      expectSentence(await errorOf({ userClass: Member, [option]: value }), option, expected, got);
    },
  );

  it.each(SETTINGS)(
    '[2.2] the option %s with %j from the factory of forRootAsync fails alike',
    async (option, value, expected, got) => {
      const settings = { jwtSecret: TEST_SECRET, [option]: value } as AuthSettings;
      const authModules = [AuthModule.forRootAsync({ userClass: Member, useFactory: () => settings })];
      const { error } = await bootAuth(platform, { authModules });
      expectSentence(error, option, expected, got);
    },
  );

  it.each(STATICS)('[2.2] the option %s with %j beside a factory fails alike', async (option, value, expected, got) => {
    const declare = () =>
      AuthModule.forRootAsync({ userClass: Member, useFactory: () => ({}), [option]: value } as never);
    let error: unknown;
    try {
      declare();
    } catch (thrown) {
      error = thrown;
    }
    expectSentence(error, option, expected, got);
  });

  const ALL = [
    'userClass',
    'repositoryClass',
    'loginMethod',
    'jwtSecret',
    'jwtExpirationHours',
    'authBasePath',
    'bcryptRounds',
    'registration',
    'registrationFields',
    'defaultAccess',
    'enforcedRoles',
  ];

  it('[1] an unknown option is an error that names it and lists the known ones', async () => {
    const message = expectSentence(await errorOf({ jwtSecert: SECRET_OF_32 }), 'AuthModule');
    expect(message).toContain('jwtSecert');
    for (const option of ALL) expect(message).toContain(option);
    expect(message).not.toContain(SECRET_OF_32);
  });

  it.each([undefined, null, 'User', 5, []])('[1] forRoot(%j) is an error that says what was expected', (options) => {
    let error: unknown;
    try {
      AuthModule.forRoot(options as never);
    } catch (thrown) {
      error = thrown;
    }
    expectSentence(error, 'AuthModule');
  });

  it('[2.2] a column of the user that must have a value and cannot be given refuses to boot, and names it', async () => {
    const message = expectSentence(await errorOf({ userClass: Strict }), 'registrationFields');
    expect(message).toContain('taxNumber');
  });

  it('[2.2] it boots once that column is listed, and then the column is required', async () => {
    const app = await startAuth(platform, { auth: { userClass: Strict, registrationFields: ['taxNumber'] } });
    const email = 'ann@example.com';
    expect(expectFailure(await app.post('/api/auth/register', { email, password: PASSWORD }))).toContain('taxNumber');
    expect((await app.post('/api/auth/register', { email, password: PASSWORD, taxNumber: '7' })).status).toBe(201);
    await app.close();
  });

  describe('jwtSecret', () => {
    it('[2.2] without one there is one warning, and tokens work', async () => {
      const app = await startAuth(platform, { auth: { jwtSecret: undefined } });
      expect(linesOf(app.logs, 'warn').filter((line) => /secret/i.test(line))).toHaveLength(1);
      const { token } = await app.register({ email: 'ann@example.com' });
      expect((await app.get('/api/auth/me', { token })).status).toBe(200);
      await app.close();
    });

    it('[2.2] without one every boot has another: a token of one is none of the next', async () => {
      const [first, second] = [
        await startAuth(platform, { auth: { jwtSecret: undefined } }),
        await startAuth(platform, { auth: { jwtSecret: undefined } }),
      ];
      const { token } = await first.register({ email: 'ann@example.com' });
      await second.register({ email: 'ann@example.com' });
      expect((await first.get('/api/auth/me', { token })).status).toBe(200);
      expect((await second.get('/api/auth/me', { token })).status).toBe(401);
      await Promise.all([first.close(), second.close()]);
    });

    it('[2.2] the random one is none that could be guessed', async () => {
      const app = await startAuth(platform, { auth: { jwtSecret: undefined } });
      await app.register({ email: 'ann@example.com' });
      for (const secret of ['', 'secret', 'undefined', 'null', 'changeme', TEST_SECRET])
        expect((await app.get('/api/auth/me', { token: makeToken({ secret }) })).status).toBe(401);
      await app.close();
    });

    it('[2.2] without one it refuses to boot with NODE_ENV=production', async () => {
      process.env['NODE_ENV'] = 'production';
      expectSentence(await errorOf({ jwtSecret: undefined }), 'jwtSecret', /secret/, /none|undefined/);
    });

    it('[2.2] without one from a factory it refuses to boot with NODE_ENV=production', async () => {
      process.env['NODE_ENV'] = 'production';
      const authModules = [AuthModule.forRootAsync({ userClass: User, useFactory: async () => ({}) })];
      const { error } = await bootAuth(platform, { authModules });
      expectSentence(error, 'jwtSecret');
    });

    it.each([
      ['31 bytes', SECRET_OF_32.slice(1)],
      ['8 bytes', 'canary-7'],
      ['15 characters of two bytes', 'ä'.repeat(15)],
    ])('[2.2] one of %s is a warning, and works', async (_, jwtSecret) => {
      const app = await startAuth(platform, { auth: { jwtSecret } });
      const warnings = linesOf(app.logs, 'warn').filter((line) => /secret/i.test(line));
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain('32');
      await app.register({ email: 'ann@example.com' });
      expect((await app.get('/api/auth/me', { token: makeToken({ secret: jwtSecret }) })).status).toBe(200);
      await app.close();
    });

    it.each([
      ['31 bytes', SECRET_OF_32.slice(1)],
      ['30 bytes in 15 characters', 'ä'.repeat(15)],
    ])('[2.2] one of %s refuses to boot with NODE_ENV=production', async (_, jwtSecret) => {
      process.env['NODE_ENV'] = 'production';
      expectSentence(await errorOf({ jwtSecret }), 'jwtSecret', /32 bytes/, /3[01] bytes/);
    });

    it.each([
      ['32 bytes', SECRET_OF_32],
      ['32 bytes in 16 characters', 'ä'.repeat(16)],
      ['more', TEST_SECRET],
    ])('[2.2] one of %s is no warning, and boots with NODE_ENV=production', async (_, jwtSecret) => {
      expect((await warningsOf({ jwtSecret })).filter((line) => /secret/i.test(line))).toEqual([]);
      process.env['NODE_ENV'] = 'production';
      expect((await warningsOf({ jwtSecret })).filter((line) => /secret/i.test(line))).toEqual([]);
    });

    it.each([
      ['test', 'canary-7'],
      ['production', 'canary-7'],
      ['production', `${SECRET_OF_32}${SECRET_OF_32}`],
      ['test', ['canary-7']],
      ['test', { key: 'canary-7' }],
      ['test', Buffer.from('canary-7')],
      ['test', Object.assign(() => undefined, { toString: () => 'canary-7' })],
      ['test', Symbol('canary-7')],
      ['test', 9_876_543_210],
    ])('[1] secrets are described, never printed (NODE_ENV=%s, %p)', async (environment, jwtSecret) => {
      process.env['NODE_ENV'] = environment;
      const { logs, error } = await bootAuth(platform, { auth: { jwtSecret } as never });
      const printed = [...logs, error instanceof Error ? `${error.message}\n${error.stack}` : ''].join('\n');
      // The stack names this file and its test, never the value.
      expect(printed.replaceAll(/^ +at .*$/gm, '')).not.toMatch(/canary|9876543210|9,876/);
    });
  });

  describe('defaults', () => {
    it('[2.2] userClass is the only option that is required', async () => {
      const app = await startAuth(platform, { authModules: [AuthModule.forRoot({ userClass: User })] });
      // loginMethod EMAIL, authBasePath /api/auth, registration true, jwtExpirationHours 24
      const { token, user } = await app.register({ email: 'ann@example.com' });
      const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
      expect([exp - iat, user['email']]).toEqual([24 * 3600, 'ann@example.com']);
      // bcryptRounds 12
      expect((await app.row({ email: 'ann@example.com' }))['password']).toMatch(/^\$2b\$12\$/);
      await app.close();
    });

    it('[2.2] bcryptRounds is the cost of a hash', async () => {
      const app = await startAuth(platform, { auth: { bcryptRounds: 6 } });
      await app.register({ email: 'ann@example.com' });
      expect((await app.row({ email: 'ann@example.com' }))['password']).toMatch(/^\$2b\$06\$/);
      await app.close();
    });

    it.each([[LoginMethod.EMAIL], ['EMAIL' as const]])('[1] loginMethod %s is by e-mail', async (loginMethod) => {
      const app = await startAuth(platform, { auth: { loginMethod } });
      expect((await app.register({ email: 'ann@example.com' })).user['email']).toBe('ann@example.com');
      await app.close();
    });

    it.each([[LoginMethod.USERNAME], ['USERNAME' as const]])(
      '[1] loginMethod %s is by username',
      async (loginMethod) => {
        const app = await startAuth(platform, { auth: { loginMethod } });
        expect((await app.register({ username: 'ann' })).user['username']).toBe('ann');
        await app.close();
      },
    );

    it.each([Number.MAX_VALUE, 1e300, 1e12, 1e-9])(
      '[2.2] jwtExpirationHours %d is a positive number: it works, or is refused at boot',
      async (jwtExpirationHours) => {
        const { error } = await bootAuth(platform, { auth: { jwtExpirationHours } });
        if (error !== undefined) return void expectSentence(error, 'jwtExpirationHours');
        const app = await startAuth(platform, { auth: { jwtExpirationHours } });
        const { token } = await app.register({ email: 'ann@example.com' });
        expect((await app.get('/api/auth/me', { token })).status).toBe(200);
        await app.close();
      },
    );
  });

  it('[2.2] registration: false removes the endpoint, and nothing else', async () => {
    const app = await startAuth(platform, { auth: { registration: false } });
    const email = 'ann@example.com';
    expect((await app.post('/api/auth/register', { email, password: PASSWORD })).status).toBe(404);
    expect((await app.post('/api/auth/register', 'no object')).status).toBe(404);
    expect(await app.users().count()).toBe(0);
    await app.app.get(UserAccounts, { strict: false }).create({ email, password: PASSWORD });
    const { status, json } = await app.post('/api/auth/login', { email, password: PASSWORD });
    expect(status).toBe(200);
    expect((await app.get('/api/auth/me', { token: json.data.token })).status).toBe(200);
    await app.close();
  });

  it('[2.2] registration: true is the default', async () => {
    const app = await startAuth(platform, { auth: { registration: true } });
    expect((await app.register({ email: 'ann@example.com' })).user['email']).toBe('ann@example.com');
    await app.close();
  });

  describe('authBasePath', () => {
    it.each([
      ['auth', '/auth'],
      ['/auth', '/auth'],
      ['/auth/', '/auth'],
      ['auth/', '/auth'],
      ['/api/v1/users', '/api/v1/users'],
      ['id', '/id'],
      ['/api/auth/', '/api/auth'],
    ])('[2.2] %j is normalised: the endpoints stand together at %s', async (authBasePath, base) => {
      const app = await startAuth(platform, { auth: { authBasePath } });
      const body = { email: 'ann@example.com', password: PASSWORD };
      expect((await app.post(`${base}/register`, body)).status).toBe(201);
      const { status, json } = await app.post(`${base}/login`, body);
      expect(status).toBe(200);
      expect((await app.get(`${base}/me`, { token: json.data.token })).status).toBe(200);
      expect((await app.get(`${base}/me`)).status).toBe(401);
      await app.close();
    });

    it('[2.3] with another base path the old ones are 404', async () => {
      const app = await startAuth(platform, { auth: { authBasePath: '/id' } });
      const body = { email: 'ann@example.com', password: PASSWORD };
      const { json } = await app.post('/id/register', body);
      expect((await app.post('/api/auth/register', body)).status).toBe(404);
      expect((await app.post('/api/auth/login', body)).status).toBe(404);
      expect((await app.get('/api/auth/me', { token: json.data.token })).status).toBe(404);
      expect((await app.get('/api/auth/me')).status).toBe(404);
      await app.close();
    });

    it('[2.3] two applications in one process have each their own', async () => {
      const [one, other] = [await startAuth(platform), await startAuth(platform, { auth: { authBasePath: '/id' } })];
      const body = { email: 'ann@example.com', password: PASSWORD };
      expect((await one.post('/api/auth/register', body)).status).toBe(201);
      expect((await one.post('/id/register', body)).status).toBe(404);
      expect((await other.post('/id/register', body)).status).toBe(201);
      expect((await other.post('/api/auth/register', body)).status).toBe(404);
      await Promise.all([one.close(), other.close()]);
    });

    it.each([
      ['login', TakesLogin],
      ['me', TakesMe],
      ['register', TakesRegister],
    ])('[2.2] a collision of %s with a route of the application refuses to boot, and names it', async (name, taker) => {
      const { error } = await bootAuth(platform, { controllers: [taker] });
      expect(error).toBeInstanceOf(Error);
      expect((error as Error).message).toContain(`/api/auth/${name}`);
      expect((error as Error).message).toContain('authBasePath');
    });

    it('[2.2] a collision with a generated route refuses to boot, whichever is imported first', async () => {
      const crud = CrudModule.forFeature({ entity: Category, endpoint: '/api/auth' });
      for (const authModules of [
        [AuthModule.forRoot(AUTH), crud],
        [crud, AuthModule.forRoot(AUTH)],
      ]) {
        const { error } = await bootAuth(platform, { authModules });
        expect(error).toBeInstanceOf(Error);
        expect((error as Error).message).toContain('/api/auth');
      }
    });

    it('[2.2] where registration is removed its route may be taken', async () => {
      const app = await startAuth(platform, { auth: { registration: false }, controllers: [TakesRegister] });
      expect((await app.post('/api/auth/register', {})).text).toBe('mine');
      await app.close();
    });

    it('[2.2] one that repeats the global prefix is a warning', async () => {
      const configure: AuthAppOptions['configure'] = (app) => void app.setGlobalPrefix('api');
      const warnings = await warningsOf({}, { configure });
      const about = warnings.filter((line) => /prefix/.test(line));
      expect(about).toHaveLength(1);
      expect(about[0]).toContain('/api/auth');
      expect(about[0]).toContain('/api/api/auth');
    });

    it.each([
      ['auth', 'api'],
      ['/apiary/auth', 'api'],
      ['/api/auth', 'shop'],
    ])('[2.2] %s under the global prefix %s is none', async (authBasePath, prefix) => {
      const configure: AuthAppOptions['configure'] = (app) => void app.setGlobalPrefix(prefix);
      const warnings = await warningsOf({ authBasePath }, { configure });
      expect(warnings.filter((line) => /prefix/.test(line))).toEqual([]);
    });

    it('[2.3] under a global prefix the endpoints stand behind it', async () => {
      const configure: AuthAppOptions['configure'] = (app) => void app.setGlobalPrefix('v1');
      const app = await startAuth(platform, { auth: { authBasePath: '/auth' }, configure });
      const body = { email: 'ann@example.com', password: PASSWORD };
      expect((await app.post('/v1/auth/register', body)).status).toBe(201);
      expect((await app.post('/auth/register', body)).status).toBe(404);
      await app.close();
    });
  });

  it('[2.3] without AuthModule all endpoints are 404', async () => {
    const app = await startAuth(platform, { authModules: [] });
    const body = { email: 'ann@example.com', password: PASSWORD };
    expect((await app.post('/api/auth/register', body)).status).toBe(404);
    expect((await app.post('/api/auth/login', body)).status).toBe(404);
    expect((await app.get('/api/auth/me', { token: makeToken() })).status).toBe(404);
    await app.close();
  });

  describe('forRootAsync', () => {
    @Injectable()
    class Vault {
      readonly secret = SECRET_OF_32;
    }
    @Module({ providers: [Vault], exports: [Vault] })
    class VaultModule {}

    it('[1] takes a factory with what it injects', async () => {
      const authModules = [
        AuthModule.forRootAsync({
          userClass: User,
          imports: [VaultModule],
          inject: [Vault],
          useFactory: async (...[vault]: unknown[]) => {
            await Promise.resolve();
            return {
              jwtSecret: (vault as Vault).secret,
              bcryptRounds: 5,
              jwtExpirationHours: 2,
              loginMethod: 'USERNAME',
            };
          },
        }),
      ];
      const app = await startAuth(platform, { authModules });
      const { token } = await app.register({ username: 'ann' });
      const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
      expect(exp - iat).toBe(7200);
      expect((await app.row({ username: 'ann' }))['password']).toMatch(/^\$2b\$05\$/);
      expect((await app.get('/api/auth/me', { token: makeToken({ secret: SECRET_OF_32 }) })).status).toBe(200);
      expect(linesOf(app.logs, 'warn').filter((line) => /secret/i.test(line))).toEqual([]);
      await app.close();
    });

    it('[1] takes userClass, authBasePath and registration statically', async () => {
      const authModules = [
        AuthModule.forRootAsync({
          userClass: Member,
          authBasePath: 'id/',
          registration: false,
          useFactory: () => ({ jwtSecret: TEST_SECRET, bcryptRounds: 4 }),
        }),
      ];
      const app = await startAuth(platform, { authModules, auth: { userClass: Member } });
      const body = { email: 'ann@example.com', password: PASSWORD };
      await app.app.get(UserAccounts, { strict: false }).create({ ...body, nickname: 'Annie' });
      expect((await app.post('/id/register', body)).status).toBe(404);
      expect((await app.post('/id/login', body)).status).toBe(200);
      expect((await app.post('/api/auth/login', body)).status).toBe(404);
      expect((await app.row({ email: body.email }))['nickname']).toBe('Annie');
      await app.close();
    });

    it.each(['userClass', 'repositoryClass', 'authBasePath', 'registration'])(
      '[1] %s from the factory is refused, not silently left out',
      async (name) => {
        const value = { userClass: User, repositoryClass: NoRepository, authBasePath: '/id', registration: false }[
          name
        ];
        const useFactory = () => ({ jwtSecret: TEST_SECRET, [name]: value });
        const { error } = await bootAuth(platform, {
          authModules: [AuthModule.forRootAsync({ userClass: User, useFactory })],
        });
        expect(expectSentence(error, 'AuthModule')).toContain(name);
      },
    );

    it.each(['jwtSecret', 'loginMethod', 'bcryptRounds', 'useFactroy'])(
      '[1] the unknown name %s beside the factory is refused, and the known ones are listed',
      (name) => {
        const options = { userClass: User, useFactory: () => ({}), [name]: SECRET_OF_32 };
        let error: unknown;
        try {
          AuthModule.forRootAsync(options);
        } catch (thrown) {
          error = thrown;
        }
        const message = expectSentence(error, 'AuthModule');
        for (const known of [
          name,
          'userClass',
          'repositoryClass',
          'authBasePath',
          'registration',
          'useFactory',
          'inject',
        ])
          expect(message).toContain(known);
        expect(message).not.toContain(SECRET_OF_32);
      },
    );

    it('[1] an unknown name from the factory is refused, and the known ones are listed', async () => {
      const useFactory = () => ({ jwtSecert: SECRET_OF_32 }) as AuthSettings;
      const { error } = await bootAuth(platform, {
        authModules: [AuthModule.forRootAsync({ userClass: User, useFactory })],
      });
      const message = expectSentence(error, 'AuthModule');
      for (const known of ['jwtSecert', 'jwtSecret', 'loginMethod', 'jwtExpirationHours', 'bcryptRounds'])
        expect(message).toContain(known);
      expect(message).not.toContain(SECRET_OF_32);
    });

    it.each([undefined, null, 'secret', []])(
      '[1] a factory that returns %j is refused by a sentence',
      async (returned) => {
        const useFactory = () => returned as never;
        const { error } = await bootAuth(platform, {
          authModules: [AuthModule.forRootAsync({ userClass: User, useFactory })],
        });
        expectSentence(error, 'AuthModule');
      },
    );

    it('[1] without a factory it is refused by a sentence', async () => {
      let error: unknown;
      try {
        ({ error } = await bootAuth(platform, { authModules: [AuthModule.forRootAsync({ userClass: User })] }));
      } catch (thrown) {
        error = thrown;
      }
      expect(expectSentence(error, 'AuthModule')).toContain('useFactory');
    });
  });
});
