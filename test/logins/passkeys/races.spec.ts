/** Challenges, counters and last passkeys that are used at once, by two applications with one database. */
import { OneTimeToken } from 'declarest';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { AuthApp } from '../../auth/auth-app.js';
import { slowStatements } from '../../auth/slow-statements.js';
import { DATABASES } from '../../harness/databases.js';
import { type Answer, request } from '../../harness/client.js';
import { accountsOf, Person, rowsOf, startPasskeyApp } from './passkey-app.js';

describe.each(DATABASES)('on %s', (database) => {
  let apps: [AuthApp, AuthApp];
  let ann: Person;
  beforeAll(async () => {
    const auth = { throttle: false as const };
    const first = await startPasskeyApp('fastify', auth, { database });
    const { url, database: name } = first.app.get(DataSource).options as DataSourceOptions & { url?: string };
    const dataSource = { synchronize: false, ...(url === undefined ? { database: name } : { url }) } as object;
    apps = [first, await startPasskeyApp('express', auth, { database, dataSource })];
  });
  afterAll(async () => {
    await apps[1].close();
    await apps[0].close();
  });
  beforeEach(async () => {
    ann = new Person(apps[0]);
    await ann.register();
  });
  afterEach(() => vi.restoreAllMocks());

  const rowsOfUser = async (id: string) => (await rowsOf(apps[0])).filter(({ userId }) => userId === id);

  /** Sends requests to both applications in turn, which overlap between their statements. */
  async function sendAll(
    method: string,
    requests: readonly (readonly [path: string, json: object])[],
    to: readonly AuthApp[] = apps,
  ) {
    slowStatements(apps[0]);
    const options = { ...(ann.token !== undefined && { token: ann.token }) };
    const answers = await Promise.all(
      requests.map(([path, json], index) =>
        request((to[index % to.length] as AuthApp).url, method, `/api/auth/${path}`, { ...options, json }),
      ),
    );
    vi.restoreAllMocks();
    return countStatuses(answers);
  }

  it('of parallel uses of one challenge exactly one logs in', async () => {
    const credential = await ann.assertion();
    const uses = Array.from({ length: 10 }, () => ['passkeys/login', { credential }] as const);
    expect(await sendAll('POST', uses)).toEqual({ 200: 1, 401: 9 });
  });

  it('of parallel uses of one challenge exactly one adds a passkey', async () => {
    const credential = await ann.confirmation();
    const { json } = await ann.post('passkeys/options', { credential });
    const uses = Array.from({ length: 10 }, () => ['passkeys', { credential: ann.device.create(json.data) }] as const);
    expect(await sendAll('POST', uses)).toEqual({ 201: 1, 400: 9 });
    expect(await ann.list()).toHaveLength(2);
  });

  it('of parallel registrations with one address one wins, and the others leave no passkey', async () => {
    const eve = new Person(apps[0]);
    const uses: [string, object][] = [];
    for (let count = 0; count < 6; count += 1) {
      const { json } = await eve.post('passkeys/register/options', { email: eve.email });
      uses.push(['passkeys/register', { email: eve.email, credential: eve.device.create(json.data) }]);
    }
    const before = (await rowsOf(apps[0])).length;
    expect(await sendAll('POST', uses)).toEqual({ 201: 1, 400: 5 });
    expect(await rowsOf(apps[0])).toHaveLength(before + 1);
  });

  it('two copies of an authenticator that counts do not both log in', async () => {
    const eve = new Person(apps[0]);
    eve.device.counter = 5;
    await eve.register();
    const uses: [string, object][] = [];
    for (let count = 0; count < 6; count += 1)
      uses.push(['passkeys/login', { credential: await eve.assertion({ counter: 9 }) }]);
    expect(await sendAll('POST', uses)).toEqual({ 200: 1, 401: 5 });
  });

  it('one of the last two passkeys stays when both are removed at once', async () => {
    await ann.add({ credential: await ann.confirmation() });
    const own = await ann.list();
    const removals: [string, object][] = [];
    for (const { id } of own) removals.push([`passkeys/${id}`, { credential: await ann.confirmation() }]);
    // A second connection to an SQLite file, whose transaction reads first, is 503.
    const to = database === 'sqlite' ? [apps[0]] : apps;
    expect(await sendAll('DELETE', removals, to)).toEqual({ 204: 1, 409: 1 });
    expect(await ann.list()).toHaveLength(1);
    const [last] = await rowsOfUser(await ann.id());
    const options = { ...(await ann.loginOptions()), allowCredentials: [{ id: String(last?.credentialId) }] };
    expect((await ann.post('passkeys/login', { credential: ann.device.get(options) })).status).toBe(200);
  });

  it('the tables hold no challenge, and expired ones are refused by the clock of the database', async () => {
    const options = await ann.loginOptions();
    const challenges = apps[0].app.get(DataSource).getRepository(OneTimeToken);
    expect(JSON.stringify(await challenges.find())).not.toContain(options.challenge);
    const late = ann.device.get(options);
    await challenges.update({ purpose: 'passkey login' }, { expiresAt: Date.now() - 1_000 });
    expect((await ann.post('passkeys/login', { credential: late })).status).toBe(401);
  });

  it('the passkeys of a deleted user end with it', async () => {
    const id = await ann.id();
    await accountsOf(apps[0]).remove(id);
    expect(await rowsOfUser(id)).toEqual([]);
  });
});

function countStatuses(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
