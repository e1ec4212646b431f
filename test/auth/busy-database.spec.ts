/** A database of users that keeps a request waiting for longer than the application lets it. */
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AuthUser } from 'declarest';
import { AfterLoad, DataSource, Entity } from 'typeorm';
import { BUSY_CASES, makeBusy } from '../harness/busy-databases.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { User } from '../harness/shop.js';
import { PASSWORD, startAuth, uniqueEmail } from './auth-app.js';

const LOGIN = '/api/auth/login';
const REGISTER = '/api/auth/register';
const BUSY = [503, { success: false, message: 'The database is busy, try again' }];

const cases = PLATFORMS.flatMap((platform) =>
  BUSY_CASES.map((each) => [platform, each.database, each.what, each] as const),
);

describe('[2.4] users in a database that is busy are told of as 503, and nothing has changed', () => {
  it.each(cases)('on %s and %s: %s', async (platform, database, _, busyCase) => {
    const app = await startAuth(platform, { database, dataSource: { extra: busyCase.extra } as never });
    const [email, other] = [uniqueEmail(), uniqueEmail()];
    const { token } = await app.register({ email });
    const release = await makeBusy(app.app.get(DataSource, { strict: false }), User, busyCase);
    const answers = await Promise.all([
      app.post(LOGIN, { email, password: PASSWORD }),
      app.post(LOGIN, { email: 'nobody@example.com', password: PASSWORD }),
      app.post(REGISTER, { email: other, password: PASSWORD }),
      app.get('/api/auth/me', { token }),
    ]);
    expect(answers.map(({ status, json }) => [status, json])).toEqual([BUSY, BUSY, BUSY, BUSY]);
    await release();
    expect((await app.post(LOGIN, { email, password: PASSWORD })).status).toBe(200);
    expect((await app.post(REGISTER, { email: other, password: PASSWORD })).status).toBe(201);
    await app.close();
  });
});

(DATABASES.includes('postgres') ? it : it.skip).each(PLATFORMS)(
  '[2.2] on %s, who is stored has registered, also where the pool is full right after',
  async (platform) => {
    const extra = { max: 1, connectionTimeoutMillis: 1_000 };
    const app = await startAuth(platform, { database: 'postgres', dataSource: { extra } as never });
    const dataSource = app.app.get(DataSource, { strict: false });
    const { master } = dataSource.driver as unknown as { master: { waitingCount: number } };
    const runner = dataSource.createQueryRunner();
    await runner.query('SELECT 1');
    const email = uniqueEmail();
    const registering = app.post(REGISTER, { email, password: PASSWORD });
    // The insert waits for the one connection: whoever comes now stands before the look at what was stored.
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

it.each(PLATFORMS)(
  '[2.2] on %s, what else fails when the stored user is looked at is not passed over',
  async (platform) => {
    const app = await startAuth(platform, { auth: { userClass: Unreadable } });
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const { status, json } = await app.post(REGISTER, { email: uniqueEmail(), password: PASSWORD });
    expect([status, json]).toEqual([500, { success: false, message: 'Internal server error' }]);
    expect(logged).toHaveBeenCalledTimes(1);
    logged.mockRestore();
    await app.close();
  },
);
