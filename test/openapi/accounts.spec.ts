/** The endpoints of accounts: in the document, and in the access report. */
import { AccessReport, AuthModule, AuthUser, SecurityConfig, UserAccounts } from 'declarest';
import { addAccess } from 'declarest/openapi';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, Entity } from 'typeorm';
import { Mailbox, mailsTo } from '../auth/mailbox.js';
import { type Answer, request } from '../harness/client.js';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { PLATFORMS, type RunningApp, startApp } from '../harness/platforms.js';
import { DescribedApi, documentOf } from './described.js';

@Entity('member')
class Member extends AuthUser {
  @Column({ type: 'varchar', length: 20, nullable: true }) phone!: string | null;
}

/** Broad rules of an application, which the package’s own rules are narrower than. */
class Rules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/api/**');
  }
}

const OPERATIONS = [
  'POST /api/auth/register register public',
  'POST /api/auth/login login public',
  'GET /api/auth/me getCurrentUser authenticated',
  'POST /api/auth/refresh refresh public',
  'POST /api/auth/logout logout public',
  'POST /api/auth/logout-all logoutAll authenticated',
  'GET /api/auth/sessions findSessions authenticated',
  'DELETE /api/auth/sessions/{id} endSession authenticated',
  'POST /api/auth/password changePassword authenticated',
  'PATCH /api/auth/me updateMe authenticated',
  'DELETE /api/auth/me deleteMe authenticated',
  'POST /api/auth/verify verifyEmail public',
  'POST /api/auth/verify/resend resendVerification public',
  'POST /api/auth/email changeEmail authenticated',
  'POST /api/auth/password/forgot forgotPassword public',
  'POST /api/auth/password/reset resetPassword public',
  'GET /api/auth/users findUsers ADMIN',
  'PATCH /api/auth/users/{id} changeUser ADMIN',
  'POST /api/auth/users/{id}/reset mailPasswordReset ADMIN',
  'DELETE /api/auth/users/{id}/sessions endUserSessions ADMIN',
];

const PASSWORD = 'correct horse battery';

describe.each(PLATFORMS)('on %s', (platform) => {
  let running: RunningApp;
  let drop: () => Promise<void>;
  let api: DescribedApi;
  beforeAll(async () => {
    const { options, drop: end } = await createDatabase(DATABASES[0]);
    drop = end;
    running = await startApp(platform, {
      imports: [
        TypeOrmModule.forRoot(options),
        AuthModule.forRoot({
          userClass: Member,
          registrationFields: ['phone'],
          bcryptRounds: 4,
          sessions: true,
          passwordReset: true,
          administration: true,
          mailer: { useClass: Mailbox },
        }),
      ],
      providers: [Rules],
    });
    api = new DescribedApi(addAccess(documentOf(running.app), running.app));
  });
  afterAll(async () => {
    await running.close();
    await drop();
  });

  it('the document and the access report have every endpoint, closed also below a broad public rule', () => {
    const described = api.operations.map(({ method, path, operationId }) => `${method} ${path} ${operationId}`);
    expect(described.toSorted()).toEqual(OPERATIONS.map((each) => each.replace(/ \S+$/, '')).toSorted());
    const { rows } = running.app.get(AccessReport, { strict: false });
    const report = rows.map(({ method, path, access }) =>
      [method, path, access === 'any token' ? 'authenticated' : access].join(' '),
    );
    const expected = OPERATIONS.map((each) => each.replace(/ \w+ (\w+)$/, ' $1').replaceAll(/\{(\w+)\}/g, ':$1'));
    expect(report.toSorted()).toEqual(expected.toSorted());
    for (const each of OPERATIONS) {
      const [method = '', path = '', , access] = each.split(' ');
      const { security } = api.document.paths[path]?.[method.toLowerCase() as 'get'] ?? {};
      expect([each, security]).toEqual([each, access === 'public' ? [] : [{ bearer: [] }]]);
    }
  });

  it('requests and answers are as the document says', async () => {
    const problems: unknown[] = [];
    const send = async (id: string, json?: unknown, token?: string, at = ''): Promise<Answer> => {
      const operation = api.operation(id);
      const path = operation.path.replace('{id}', at);
      const answer = await request(running.url, operation.method, path, {
        ...(json !== undefined && { json }),
        ...(token !== undefined && { token }),
      });
      problems.push(...api.wrongWith(operation, answer));
      return answer;
    };
    const credentials = { email: `${platform}@shop.example`, password: PASSWORD };
    expect((await send('register', { ...credentials, phone: '1' })).status).toBe(201);
    const { id } = (await running.app.get(UserAccounts, { strict: false }).list()).users[0]!;
    await running.app.get(UserAccounts, { strict: false }).setRole(id, 'ADMIN');
    const { token, refreshToken } = (await send('login', credentials)).json.data;
    const other = (await send('register', { ...credentials, email: `b-${platform}@shop.example` })).json.data;
    const third = (await send('register', { ...credentials, email: `d-${platform}@shop.example` })).json.data;
    const steps: [number, string, unknown?, string?, string?][] = [
      [400, 'register', { ...credentials, role: 'ADMIN' }],
      [401, 'login', { ...credentials, password: 'wrong password' }],
      [200, 'refresh', { refreshToken }],
      [401, 'refresh', { refreshToken: 'x' }],
      [400, 'refresh', {}],
      [200, 'findSessions', undefined, token],
      [401, 'findSessions'],
      [404, 'endSession', undefined, token, 'x'],
      [400, 'changePassword', {}, token],
      [401, 'changePassword', { current: 'wrong password', new: PASSWORD }, token],
      [204, 'changePassword', { current: PASSWORD, new: PASSWORD }, token],
      [200, 'updateMe', { firstName: 'Ann', phone: null }, token],
      [400, 'updateMe', { role: 'x' }, token],
      [202, 'forgotPassword', { email: credentials.email }],
      [400, 'forgotPassword', {}],
      [401, 'resetPassword', { token: 'x', password: PASSWORD }],
      [202, 'resendVerification', { email: credentials.email }],
      [401, 'verifyEmail', { token: 'x' }],
      [202, 'changeEmail', { password: PASSWORD, email: `c-${platform}@shop.example` }, token],
      [400, 'changeEmail', { password: PASSWORD, email: 'x' }, token],
      [200, 'findUsers', undefined, token],
      [403, 'findUsers', undefined, other.token],
      [200, 'changeUser', { role: 'EDITOR', active: true }, token, String(other.user.id)],
      [409, 'changeUser', { role: 'USER' }, token, String(id)],
      [404, 'changeUser', { role: 'USER' }, token, '999999'],
      [202, 'mailPasswordReset', undefined, token, String(other.user.id)],
      [204, 'endUserSessions', undefined, token, String(third.user.id)],
      [409, 'deleteMe', { password: PASSWORD }, token],
      [401, 'deleteMe', { password: 'wrong password' }, other.token],
      [204, 'deleteMe', { password: PASSWORD }, other.token],
      [204, 'logoutAll', undefined, token],
      [400, 'logout', { x: 1 }],
      [401, 'logout', {}],
      [204, 'logout', undefined, token],
    ];
    for (const [status, operation, ...rest] of steps)
      expect([operation, rest[0], (await send(operation, ...rest)).status]).toEqual([operation, rest[0], status]);
    const [mail] = await mailsTo(`c-${platform}@shop.example`);
    expect((await send('verifyEmail', { token: mail?.token })).status).toBe(204);
    expect(problems).toEqual([]);
  });

  it('the example of each body is accepted by its schema', () => {
    for (const { operationId, requestBody } of api.operations) {
      const { schema, examples } = requestBody?.content['application/json'] ?? {};
      const { value } = (examples as { example?: { value: unknown } } | undefined)?.example ?? {};
      if (schema) expect([operationId, api.problems(schema, value)]).toEqual([operationId, []]);
    }
  });
});
