/** The database is busy, down, or fails in another way while users register and log in. */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AuthUser } from 'declarest';
import { AfterLoad, DataSource, Entity } from 'typeorm';
import type { Answer } from '../harness/client.js';
import { BUSY_CASES, makeBusy } from '../harness/busy-databases.js';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { User } from '../harness/shop.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';

const LOGIN = '/api/auth/login';
const REGISTER = '/api/auth/register';

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

/** A TCP proxy in front of a database server, which can go down and come up again on the same port. */
async function startProxy(target: URL, defaultPort: number) {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || defaultPort), target.hostname);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined));
    client.pipe(upstream).pipe(client);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { port, stop, start: () => listen(port) };
}

const servers = DATABASES.filter((database) => database !== 'sqlite');
(servers.length > 0 ? describe : describe.skip).each(PLATFORMS)('on %s', (platform) => {
  it.each(servers.length > 0 ? servers : ['none' as never])(
    '[2.3] while %s is down every endpoint is 503 with Retry-After, and works again afterwards',
    async (database) => {
      const probe = await createDatabase(database);
      const { url } = probe.options as { url: string };
      const proxy = await startProxy(new URL(url), database === 'postgres' ? 5432 : 3306);
      const proxied = new URL(url);
      proxied.host = `127.0.0.1:${proxy.port}`;
      const app = await startAuth(platform, { database, dataSource: { url: proxied.href } as never });
      const email = uniqueEmail();
      const { token } = await app.register({ email });
      await proxy.stop();
      for (let round = 0; round < 2; round += 1) expectUnavailable(await sendAll(app, email, token));
      await proxy.start();
      expect((await sendAll(app, email, token)).map(({ status }) => status)).toEqual([200, 401, 201, 200]);
      await app.close();
      await proxy.stop();
      await probe.drop();
    },
  );
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

@Entity()
class Unreadable extends AuthUser {
  @AfterLoad()
  fail(): void {
    throw new Error('cannot be read');
  }
}

it.each(PLATFORMS)('[2.3] on %s any other failure is logged once, and is a 500 without details', async (platform) => {
  const app = await startAuth(platform, { auth: { userClass: Unreadable } });
  const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
  const answer = await app.post(REGISTER, { email: uniqueEmail(), password: PASSWORD });
  expect(expectFailure(answer, 500)).toBe('Internal server error');
  expect(logged).toHaveBeenCalledTimes(1);
  logged.mockRestore();
  await app.close();
});
