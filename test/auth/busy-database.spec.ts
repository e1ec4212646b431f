/** Users in a database that is locked, out of connections, or down. */
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AuthUser } from 'declarest';
import { AfterLoad, DataSource, Entity } from 'typeorm';
import { BUSY_CASES, type DatabaseProxy, makeBusy, SERVER_DATABASES, startProxy } from '../harness/busy-databases.js';
import type { Answer } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { User } from '../harness/shop.js';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';

const LOGIN = '/api/auth/login';
const REGISTER = '/api/auth/register';

const requests = (app: AuthApp, email: string, token: string): (() => Promise<Answer>)[] => [
  () => app.post(LOGIN, { email, password: PASSWORD }),
  () => app.post(LOGIN, { email: 'nobody@example.com', password: PASSWORD }),
  () => app.post(REGISTER, { email: `new.${email}`, password: PASSWORD }),
  () => app.get('/api/auth/me', { token }),
];

/** Nothing has changed: the user can log in, and the other address is free. */
async function expectAvailable(sent: (() => Promise<Answer>)[]): Promise<void> {
  const statuses: number[] = [];
  for (const send of sent) statuses.push((await send()).status);
  expect(statuses).toEqual([200, 401, 201, 200]);
}

async function expectUnavailable(sent: (() => Promise<Answer>)[]): Promise<void> {
  const message = 'The database is temporarily unavailable, try again';
  for (const { status, headers, json } of await Promise.all(sent.map((send) => send())))
    expect([status, headers['retry-after'], json]).toEqual([503, '5', { success: false, message }]);
}

const cases = BUSY_CASES.map((each, index) => [each.database, each.what, PLATFORMS[index % 2]!, each] as const);

it.each(cases)('[2.4] %s, %s, on %s: a busy database is 503 with Retry-After', async (database, _, platform, busy) => {
  const app = await startAuth(platform, { database, dataSource: { extra: busy.extra } as never });
  const email = uniqueEmail();
  const { token } = await app.register({ email });
  const release = await makeBusy(app.app.get(DataSource, { strict: false }), User, busy);
  await expectUnavailable(requests(app, email, token));
  await release();
  await expectAvailable(requests(app, email, token));
  await app.close();
});

const servers = SERVER_DATABASES.flatMap((database) => PLATFORMS.map((platform) => [database, platform] as const));
(servers.length > 0 ? describe : describe.skip).each(servers)('%s on %s', (database, platform) => {
  let proxy: DatabaseProxy | undefined;
  afterEach(() => proxy?.remove());

  it('[2.4] is 503 with Retry-After while the server is down, and answers again afterwards', async () => {
    proxy = await startProxy(database);
    const app = await startAuth(platform, { database });
    const email = uniqueEmail();
    const { token } = await app.register({ email });
    await proxy.stop();
    await expectUnavailable(requests(app, email, token));
    await proxy.start();
    await expectAvailable(requests(app, email, token));
    await app.close();
  });
});

(DATABASES.includes('postgres') ? it : it.skip).each(PLATFORMS)(
  '[2.2] on %s, a stored user is registered, even if the pool is full right after the insert',
  async (platform) => {
    const extra = { max: 1, connectionTimeoutMillis: 1_000 };
    const app = await startAuth(platform, { database: 'postgres', dataSource: { extra } as never });
    const dataSource = app.app.get(DataSource, { strict: false });
    const { master } = dataSource.driver as unknown as { master: { waitingCount: number } };
    const runner = dataSource.createQueryRunner();
    await runner.query('SELECT 1');
    const email = uniqueEmail();
    const registering = app.post(REGISTER, { email, password: PASSWORD });
    // The insert waits for the only connection; this query is queued before the one that reads the stored user.
    while (master.waitingCount === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const long = dataSource.query('SELECT pg_sleep(1.5)');
    await runner.release();
    const { status, json } = await registering;
    expect([status, json.data?.user]).toEqual([
      201,
      { id: 1, email, username: null, firstName: null, lastName: null, role: 'USER', active: true },
    ]);
    await long;
    expect((await app.post(LOGIN, { email, password: PASSWORD })).status).toBe(200);
    await app.close();
  },
);

@Entity()
class Unreadable extends AuthUser {
  @AfterLoad()
  fail(): void {
    throw new Error('cannot be read');
  }
}

it.each(PLATFORMS)('[2.2] on %s, any other failure to read the stored user is 500', async (platform) => {
  const app = await startAuth(platform, { auth: { userClass: Unreadable } });
  const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
  const { status, json } = await app.post(REGISTER, { email: uniqueEmail(), password: PASSWORD });
  expect([status, json]).toEqual([500, { success: false, message: 'Internal server error' }]);
  expect(logged).toHaveBeenCalledTimes(1);
  logged.mockRestore();
  await app.close();
});
