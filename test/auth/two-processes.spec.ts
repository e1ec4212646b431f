/** Sessions in two processes that share one database: what ends on one, ends on the other at once. */
import { request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { startTwice, type TwoProcesses } from '../two-processes.js';
import { PASSWORD, uniqueEmail } from './auth-app.js';

describe.each(DATABASES)('on %s', (name) => {
  let processes: TwoProcesses;
  let urls: TwoProcesses['urls'];
  beforeAll(async () => {
    processes = await startTwice(name, { auth: `sessions: { revocation: 'immediate', maxSessions: 3 }` });
    ({ urls } = processes);
  });
  afterAll(() => processes.end());

  const me = async (token: string): Promise<number[]> =>
    Promise.all(urls.map(async (url) => (await request(url, 'GET', '/api/auth/me', { token })).status));

  it.each(['logout', 'logout-all'])('%s on one process holds on the other at once', async (path) => {
    const json = { email: uniqueEmail(), password: PASSWORD };
    const { token, refreshToken } = (await request(urls[0], 'POST', '/api/auth/register', { json })).json.data;
    expect(await me(token)).toEqual([200, 200]);
    expect((await request(urls[0], 'POST', `/api/auth/${path}`, { token, json: {} })).status).toBe(204);
    expect(await me(token)).toEqual([401, 401]);
    const refreshed = await request(urls[1], 'POST', '/api/auth/refresh', { json: { refreshToken } });
    expect(refreshed.status).toBe(401);
  });

  it('of refreshes of one token on both processes, no second family begins', async () => {
    for (let round = 0; round < 10; round += 1) {
      const json = { email: uniqueEmail(), password: PASSWORD };
      const { refreshToken } = (await request(urls[0], 'POST', '/api/auth/register', { json })).json.data;
      const answers = await Promise.all(
        urls.map((url) => request(url, 'POST', '/api/auth/refresh', { json: { refreshToken } })),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(new Set(answers.map((answer) => answer.json.data.refreshToken)).size).toBe(1);
    }
  });

  it('of 20 logins at once on both processes, maxSessions are left', async () => {
    const json = { email: uniqueEmail(), password: PASSWORD };
    await request(urls[0], 'POST', '/api/auth/register', { json });
    const logins = Array.from({ length: 20 }, (_, index) =>
      request(urls[index % 2] as string, 'POST', '/api/auth/login', { json }),
    );
    const tokens = (await Promise.all(logins)).map((answer) => answer.json.data.token as string);
    const found = await Promise.all(tokens.map(me));
    expect(found.map(String).toSorted()).toEqual([
      ...Array<string>(3).fill('200,200'),
      ...Array<string>(17).fill('401,401'),
    ]);
  });
});
