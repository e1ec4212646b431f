/** What the access table, the OpenAPI document and the front-end client say about API keys. */
import { AccessReport, CrudModule, SecurityConfig } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { createClient } from 'declarest-client';
import { addAccess } from 'declarest/openapi';
import { accessMatrix } from 'declarest/testing';
import { PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { request } from '../harness/client.js';
import { linesOf, ONE_PLATFORM } from '../harness/platforms.js';
import { DescribedApi, documentOf } from '../openapi/described.js';
import { createKey, KEY, keyOf, logIn } from './keyed-app.js';
import { ACCESS, JobsController, OPTIONS, Report, Rules, textOf, WhoRules } from './keyed-jobs.js';

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

  it('the access table and what is observed agree', async () => {
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
