/** An access token whose session has ended is valid until it expires, and opens no endpoint of accounts. */
import { AccessReport, administration, mailedLinks, sessions, UserAccounts } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { oidc } from 'declarest-logins/oidc';
import { passkeys } from 'declarest-logins/passkeys';
import { secondFactor } from 'declarest-logins/second-factor';
import { DataSource } from 'typeorm';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { Mailbox } from '../auth/mailbox.js';
import { request } from '../harness/client.js';
import { ONE_PLATFORM } from '../harness/platforms.js';

interface LoggedIn {
  readonly id: number;
  readonly email: string;
  readonly token: string;
  readonly refreshToken: string;
}

/** How a session may end, by its user or by others. */
const ENDS: Record<string, (app: AuthApp, user: LoggedIn, admin: string) => Promise<unknown>> = {
  'a logout': (app, { token }) => app.post('/api/auth/logout', undefined, { token }),
  'a logout by the refresh token': (app, { refreshToken }) => app.post('/api/auth/logout', { refreshToken }),
  'a logout everywhere': (app, { token }) => app.post('/api/auth/logout-all', undefined, { token }),
  'a new password, set in another session': async (app, { email }) => {
    const { token } = (await app.post('/api/auth/login', { email, password: PASSWORD })).json.data;
    await app.post('/api/auth/password', { current: PASSWORD, new: 'another long password' }, { token });
  },
  'a session that its user ends in a list': async (app, { token }) => {
    const { data } = (await app.get('/api/auth/sessions', { token })).json;
    for (const { id } of data) await request(app.url, 'DELETE', `/api/auth/sessions/${id}`, { token });
  },
  'an administrator': (app, { id }, token) => request(app.url, 'DELETE', `/api/auth/users/${id}/sessions`, { token }),
  'the application': (app, { id }) => app.app.get(UserAccounts).setPassword(id, 'a third long password'),
};

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  let app: AuthApp;
  let admin: string;
  /** `POST /api/auth/keys`: every route of accounts that is refused without a token. */
  const closed: string[] = [];

  beforeAll(async () => {
    app = await startAuth(platform, {
      auth: {
        mailer: { useClass: Mailbox },
        accountLinks: 'https://shop.example/account',
        plugins: [
          sessions(),
          mailedLinks(),
          administration(),
          apiKeys(),
          secondFactor(),
          passkeys({ rpId: 'shop.example', origins: ['https://shop.example'], secondFactor: true }),
          oidc({
            providers: {
              main: {
                issuer: 'https://id.example',
                clientId: 'a',
                clientSecret: 'b',
                redirectUris: ['https://shop.example/in'],
              },
            },
          }),
        ],
      } as never,
    });
    const email = uniqueEmail();
    await app.app.get(UserAccounts).create({ email, password: PASSWORD, role: 'ADMIN' });
    admin = (await app.post('/api/auth/login', { email, password: PASSWORD })).json.data.token;
    for (const { method, path } of app.app.get(AccessReport, { strict: false }).rows) {
      // A logout ends what may have ended already.
      if (!path.startsWith('/api/auth/') || path.endsWith('/logout')) continue;
      const { status, json } = await request(app.url, method, path.replace(':id', '1'), { json: {} });
      if (status === 401 && json.error === 'Authentication required') closed.push(`${method} ${path}`);
    }
  });
  afterAll(() => app.close());

  const newUser = async (): Promise<LoggedIn> => {
    const email = uniqueEmail();
    const { user, ...tokens } = await app.register({ email });
    return { id: Number(user['id']), email, ...(tokens as unknown as Pick<LoggedIn, 'token' | 'refreshToken'>) };
  };
  const contents = async (): Promise<unknown[]> => {
    const dataSource = app.app.get(DataSource, { strict: false });
    const tables = dataSource.entityMetadatas.filter(({ tableName }) => !/throttle/.test(tableName));
    return Promise.all(tables.map(({ tableName }) => dataSource.query(`SELECT * FROM ${tableName}`)));
  };

  it('[2.9] covers the endpoints of all plugins', () => {
    for (const route of [
      'POST /api/auth/password',
      'PATCH /api/auth/me',
      'POST /api/auth/email',
      'POST /api/auth/keys',
    ])
      expect(closed).toContain(route);
    for (const route of ['mfa/enrol', 'mfa/confirm', 'passkeys', 'passkeys/options', 'identities', 'identities/:id'])
      expect(closed).toContain(`POST /api/auth/${route}`);
    expect(closed.length).toBeGreaterThan(15);
  });

  it.each(Object.keys(ENDS))('[2.9] [issue 18] a token opens no account endpoint after %s', async (end) => {
    const user = await newUser();
    await ENDS[end]?.(app, user, admin);
    const before = await contents();
    for (const route of closed) {
      const [method, path] = route.split(' ') as [string, string];
      const answer = await request(app.url, method, path.replace(':id', '1'), { json: {}, token: user.token });
      expect([route, answer.status, answer.headers['www-authenticate']]).toEqual([
        route,
        // Administration refuses users of other roles first.
        path.includes('/users') ? 403 : 401,
        path.includes('/users') ? undefined : expect.stringContaining('invalid_token'),
      ]);
    }
    expect(await contents()).toEqual(before);
  });

  it('[2.9] [issue 18] the token of an administrator changes no user after a logout', async () => {
    const { id, email } = await newUser();
    await app.app.get(UserAccounts).setRole(id, 'ADMIN');
    const { token } = (await app.post('/api/auth/login', { email, password: PASSWORD })).json.data;
    await app.post('/api/auth/logout', undefined, { token });
    const change = (by: string) =>
      request(app.url, 'PATCH', `/api/auth/users/${id}`, { json: { firstName: 'Eve' }, token: by });
    expect((await change(token)).status).toBe(401);
    expect((await change(admin)).status).toBe(200);
  });

  it('[2.9] [issue 18] a session that goes on is asked for nothing more', async () => {
    const { token } = await newUser();
    expect((await app.post('/api/auth/keys', { password: PASSWORD, name: 'backup' }, { token })).status).toBe(201);
    expect((await request(app.url, 'PATCH', '/api/auth/me', { json: { firstName: 'Ann' }, token })).status).toBe(200);
  });
});
