/** The database is busy, down, or fails in another way while users register and log in. */
import { databaseFailureOf } from '../../lib/entities/database-errors.js';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AuthUser } from 'declarest';
import { AfterLoad, DataSource, Entity } from 'typeorm';
import type { Answer } from '../harness/client.js';
import { BUSY_CASES, makeBusy, SERVER_DATABASES, startProxy } from '../harness/busy-databases.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { User } from '../harness/shop.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';

const LOGIN = '/api/auth/login';
const REGISTER = '/api/auth/register';

@Entity()
class Unreadable extends AuthUser {
  @AfterLoad()
  fail(): void {
    throw new Error('cannot be read');
  }
}

/** Every endpoint, for a known and an unknown user, one after another: a pool may have one connection. */
async function sendAll(app: AuthApp, email: string, token: string): Promise<Answer[]> {
  return [
    await app.post(LOGIN, { email, password: PASSWORD }),
    await app.post(LOGIN, { email: 'nobody@example.com', password: PASSWORD }),
    await app.post(REGISTER, { email: 'new@example.com', password: PASSWORD }),
    await app.get('/api/auth/me', { token }),
  ];
}

function expectUnavailable(answers: Answer[]): void {
  for (const answer of answers) {
    expect(expectFailure(answer, 503)).toMatch(/^The database is .+, try again$/);
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  }
}

const cases = PLATFORMS.flatMap((platform) =>
  BUSY_CASES.map((each) => [platform, each.database, each.what, each] as const),
);

it.each(cases)('[2.3] on %s a busy database (%s: %s) is 503 with Retry-After', async (platform, database, _, busy) => {
  const app = await startAuth(platform, { database, dataSource: { extra: busy.extra } as never });
  const email = uniqueEmail();
  const { token } = await app.register({ email });
  const release = await makeBusy(app.app.get(DataSource, { strict: false }), User, busy);
  expectUnavailable(await sendAll(app, email, token));
  await release();
  expect((await sendAll(app, email, token)).map(({ status }) => status)).toEqual([200, 401, 201, 200]);
  await app.close();
});

describe.each(PLATFORMS)('on %s', (platform) => {
  for (const database of SERVER_DATABASES)
    it(`[2.3] while ${database} is down every endpoint is 503 with Retry-After, and works again afterwards`, async () => {
      const proxy = await startProxy(database);
      const app = await startAuth(platform, { database });
      const email = uniqueEmail();
      const { token } = await app.register({ email });
      await proxy.stop();
      // The first round meets ended connections, the second one refused connections.
      for (let round = 0; round < 2; round += 1) expectUnavailable(await sendAll(app, email, token));
      await proxy.start();
      expect((await sendAll(app, email, token)).map(({ status }) => status)).toEqual([200, 401, 201, 200]);
      await app.close();
      await proxy.remove();
    });

  it('[2.3] any other failure is logged once, and is a 500 without details', async () => {
    const app = await startAuth(platform, { auth: { userClass: Unreadable } });
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const answer = await app.post(REGISTER, { email: uniqueEmail(), password: PASSWORD });
    expect(expectFailure(answer, 500)).toBe('Internal server error');
    expect(logged).toHaveBeenCalledTimes(1);
    logged.mockRestore();
    await app.close();
  });
});

(DATABASES.includes('postgres') ? it : it.skip).each(PLATFORMS)(
  '[2.3] on %s a registration that is stored is 201, even if reading it back finds the pool full',
  async (platform) => {
    const extra = { max: 1, connectionTimeoutMillis: 1_000 };
    const app = await startAuth(platform, { database: 'postgres', dataSource: { extra } as never });
    const dataSource = app.app.get(DataSource, { strict: false });
    const { master } = dataSource.driver as unknown as { master: { waitingCount: number } };
    const runner = dataSource.createQueryRunner();
    await runner.query('SELECT 1');
    const email = uniqueEmail();
    const registering = app.post(REGISTER, { email, password: PASSWORD });
    // The insert waits for the connection; the long query below gets it before the user is read back.
    while (master.waitingCount === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const long = dataSource.query('SELECT pg_sleep(1.5)');
    await runner.release();
    const { status, json } = await registering;
    const user = { id: 1, email, username: null, firstName: null, lastName: null, role: 'USER', active: true };
    expect([status, json.data?.user]).toEqual([201, user]);
    await long;
    await app.close();
  },
);

it.each(['53300', '57P04', '08006', '57P01'])('[4.3] a connection that PostgreSQL refuses with %s is 503', (code) => {
  expect(databaseFailureOf(Object.assign(new Error('refused'), { code }))).toBe('unavailable');
});
