/** What the access table, the command line, the OpenAPI document and the front-end client say about API keys. */
import { Controller, Get, Module, Post } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessReport, Authenticated, AuthModule, CrudModule, SecurityConfig, sessions } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { createClient } from 'declarest-client';
import { addAccess } from 'declarest/openapi';
import { accessMatrix } from 'declarest/testing';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { AccessRules } from '../../lib/access/access-rules.js';
import { compileApplication } from '../../lib/cli/compile-application.js';
import { describeExplanation, explain } from '../../lib/reach/explain.js';
import { AUTH, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { request } from '../harness/client.js';
import { linesOf, ONE_PLATFORM } from '../harness/platforms.js';
import { DescribedApi, documentOf } from '../openapi/described.js';
import { createKey, KEY, keyOf, logIn } from './keyed-app.js';

@Entity('keyed_report')
class Report {
  @PrimaryGeneratedColumn() id!: number;
  @Column() cost!: number;
}

@Controller('api/jobs')
class JobsController {
  @Authenticated({ by: ['key'] })
  @Post()
  start() {
    return {};
  }
  @Get()
  list() {
    return [];
  }
  @Get('payouts')
  payouts() {
    return [];
  }
}

class Rules extends SecurityConfig {
  configure(): void {
    this.requireAuth('/api/**');
    this.requireRole('ADMIN', 'POST /api/jobs');
    this.requireRole('LOGIN', '/api/jobs/payouts');
  }
}

const OPTIONS = {
  auth: { plugins: [sessions(), apiKeys()], strict: true },
  imports: [
    CrudModule.forFeature({
      entity: Report,
      endpoint: '/api/reports',
      maxListSize: 10,
      fieldPermissions: { cost: { read: ['LOGIN'] } },
    }),
  ],
  controllers: [JobsController],
  providers: [Rules],
};

/** `strict` needs a rule for the controller of the tests. */
class WhoRules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/who');
  }
}

const ACCESS = [
  'POST /api/jobs ADMIN, and KEY',
  'GET /api/jobs any token',
  'GET /api/jobs/payouts LOGIN',
  'GET /api/auth/me LOGIN',
  'POST /api/auth/login public',
  'POST /api/auth/logout public',
  'GET /api/auth/keys LOGIN',
  'POST /api/auth/keys LOGIN',
  'DELETE /api/auth/keys/:id LOGIN',
];

const textOf = ({ method, path, access }: { method: string; path: string; access: string }) =>
  `${method} ${path} ${access}`;

/** Everybody but trainees sees all wards. */
class TraineeRules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/who');
    this.requireAuth('/api/**');
    this.requirePolicy('no trainees', ({ roles }) => !roles.includes('TRAINEE'), '/api/jobs');
  }
}

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  it('[2.7] a key with fewer roles sees no row, and passes no policy, that its user does not', async () => {
    const app = await startAuth(platform, {
      auth: { plugins: [apiKeys()], roleHierarchy: { TRAINEE: ['READER'] } },
      imports: [
        CrudModule.forFeature({
          entity: Report,
          endpoint: '/api/reports',
          maxListSize: 10,
          scope: ({ user }) => (user?.roles.includes('TRAINEE') ? { cost: 1 } : {}),
        }),
      ],
      controllers: [JobsController],
      providers: [TraineeRules],
    });
    for (const cost of [1, 2]) await app.post('/api/reports', { cost }, { token: (await logIn(app)).token });
    const seenBy = async (token: string) => {
      const { json } = await request(app.url, 'GET', '/api/reports', { token });
      const costs = json.data.map(({ cost }: { cost: number }) => cost);
      return [costs, (await request(app.url, 'GET', '/api/jobs', { token })).status];
    };
    const trainee = await logIn(app, 'TRAINEE');
    const keys = await Promise.all([[], ['READER'], ['TRAINEE']].map((roles) => keyOf(app, trainee, { roles })));
    for (const token of [trainee.token, ...keys]) expect(await seenBy(token)).toEqual([[1], 403]);
    const other = await logIn(app);
    for (const token of [other.token, await keyOf(app, other, { roles: [] })])
      expect(await seenBy(token)).toEqual([[1, 2], 200]);
    await app.close();
  });

  it('the access table and what is observed agree, also of the command line', async () => {
    const app = await startAuth(platform, { ...OPTIONS, providers: [Rules, WhoRules] });
    const { rows } = app.app.get(AccessReport, { strict: false });
    expect(rows.map(textOf)).toEqual(expect.arrayContaining(ACCESS));
    expect(rows.find(({ path }) => path === '/api/auth/me')?.rules).toContain('plugin apiKeys');
    expect(linesOf(app.logs, 'log').find((line) => line.includes('Route access:'))).toMatch(/\/api\/auth\/keys +LOGIN/);
    const matrix = await accessMatrix(app.app);
    expect(matrix.filter(({ agrees }) => !agrees)).toEqual([]);
    const observed = (path: string) =>
      Object.fromEntries(matrix.filter((row) => row.path === path).map((row) => [row.as, row.observed]));
    expect(observed('/api/auth/me')).toEqual({
      anonymous: 401,
      USER: 'allowed',
      ADMIN: 'allowed',
      KEY: 403,
      LOGIN: 'allowed',
    });
    expect(observed('/api/jobs/payouts')).toMatchObject({ USER: 'allowed', KEY: 403 });

    @Module({
      imports: [
        TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true }),
        AuthModule.forRoot({ ...AUTH, ...OPTIONS.auth }),
        ...OPTIONS.imports,
      ],
      controllers: [JobsController],
      providers: [Rules],
    })
    class AppModule {}
    const { compiled, reach } = await compileApplication({ module: AppModule } as never, platform);
    expect(compiled.rows.map(textOf)).toEqual(expect.arrayContaining(ACCESS));
    expect(reach.callers).toEqual(expect.arrayContaining(['nobody', 'USER', 'ADMIN', 'KEY', 'LOGIN']));
    const cost = reach.resources[0]?.fields['cost']?.read;
    expect(cost).toEqual(['USER', 'ADMIN', 'LOGIN']);
    await app.close();
  });

  it('explain says what a key and a login get', async () => {
    const app = await startAuth(platform, { ...OPTIONS, providers: [Rules, WhoRules] });
    const { compiled } = app.app.get(AccessRules, { strict: false });
    const say = (method: string, path: string, ...roles: string[]) =>
      describeExplanation(explain(compiled!, { method, path, roles })).split('\n').at(-1);
    expect(say('GET', '/api/auth/me', 'USER')).toBe('Answer: allowed (LOGIN), by plugin apiKeys');
    expect(say('GET', '/api/auth/me', 'ADMIN', 'KEY')).toBe('Answer: 403, LOGIN is required, by plugin apiKeys');
    expect(say('POST', '/api/jobs', 'ADMIN')).toBe(
      'Answer: 403, KEY is required, by @Authenticated on JobsController.start',
    );
    expect(say('POST', '/api/jobs', 'ADMIN', 'KEY')).toMatch(/^Answer: allowed/);
    expect(say('GET', '/api/jobs', 'KEY')).toMatch(/^Answer: allowed/);
    await app.close();
  });

  it('the document has the endpoints, and which credentials an operation takes', async () => {
    const app = await startAuth(platform, { ...OPTIONS, providers: [Rules, WhoRules] });
    const document = addAccess(documentOf(app.app), app.app);
    const api = new DescribedApi(document);
    const securityOf = (path: string, method: 'get' | 'post') => document.paths[path]?.[method]?.security;
    expect(document.components?.securitySchemes).toMatchObject({
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      apiKey: { type: 'http', scheme: 'bearer' },
    });
    expect(securityOf('/api/jobs', 'post')).toEqual([{ apiKey: [] }]);
    expect(securityOf('/api/jobs', 'get')).toEqual([{ bearer: [] }, { apiKey: [] }]);
    expect(securityOf('/api/jobs/payouts', 'get')).toEqual([{ bearer: [] }]);
    expect(securityOf('/api/auth/keys', 'post')).toEqual([{ bearer: [] }]);
    expect(securityOf('/api/auth/login', 'post')).toEqual([]);
    expect(Object.keys(api.operation('createKey').responses)).toEqual([
      '201',
      '400',
      '401',
      '403',
      '409',
      '413',
      '415',
      '429',
      '500',
      '503',
    ]);

    const ann = await logIn(app);
    const body = { roles: ['USER'], expiresAt: '2999-01-31T09:30:00Z' };
    const created = await createKey(app, ann, body);
    const schema = api.operation('createKey').requestBody!.content['application/json']!.schema;
    expect(api.problems(schema, { name: 'backup', ...body })).toEqual([]);
    const answers = {
      createKey: created,
      findKeys: await app.get('/api/auth/keys', { token: ann.token }),
      deleteKey: await request(app.url, 'DELETE', '/api/auth/keys/7', { token: ann.token }),
    };
    for (const [id, answer] of Object.entries(answers)) expect(api.wrongWith(api.operation(id), answer)).toEqual([]);
    expect(api.wrongWith(api.operation('createKey'), await createKey(app, ann, { name: '' }))).toEqual([]);
    expect(
      api.wrongWith(api.operation('findKeys'), await app.get('/api/auth/keys', { token: created.json.data.key })),
    ).toEqual([]);
    await app.close();
  });

  it('the front-end client calls the endpoints', async () => {
    const app = await startAuth(platform, { ...OPTIONS, providers: [Rules, WhoRules] });
    const client = createClient(`${app.url}/api`);
    const email = uniqueEmail();
    await app.register({ email });
    await client.login({ email, password: PASSWORD });
    interface Created {
      readonly data: { readonly id: string; readonly key: string };
    }
    const { data } = await client.request<Created>('POST', 'auth/keys', {
      json: { password: PASSWORD, name: 'backup' },
    });
    expect(data.key).toMatch(KEY);
    expect(await client.request('GET', 'auth/keys')).toMatchObject({ data: [{ id: data.id, name: 'backup' }] });
    await client.request('DELETE', 'auth/keys/:id', { params: { id: data.id } });
    expect(await client.request('GET', 'auth/keys')).toMatchObject({ data: [] });
    await app.close();
  });
});

it('without keys, the document has one security scheme', async () => {
  const app = await startAuth('express', { auth: { sessions: true } });
  const { components, paths } = addAccess(documentOf(app.app), app.app);
  expect(Object.keys(components?.securitySchemes ?? {})).toEqual(['bearer']);
  expect(paths['/api/auth/me']?.get?.security).toEqual([{ bearer: [] }]);
  await app.close();
});
