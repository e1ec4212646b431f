/** A failover that loses registrations gives their ids again: a token opens only the account that it was made for. */
import { AuthSession } from 'declarest';
import { DataSource } from 'typeorm';
import { request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type AuthApp, PASSWORD, startAuth } from './auth-app.js';

describe.each(PLATFORMS.map((platform, index) => [platform, DATABASES[index % DATABASES.length]!] as const))(
  'a user id that is given again, on %s and %s',
  (platform, database) => {
    let app: AuthApp;
    let lost: string;
    let present: string;
    const me = '/api/auth/me';
    beforeAll(async () => {
      app = await startAuth(platform, { database, auth: { sessions: true, bcryptRounds: 4 } });
      const { token, user } = await app.register({ email: 'lost@shop.example' });
      lost = token;
      // As if the registration had never been: the next user has its id.
      await app.users().delete({ id: user['id'] as number });
      await app.app.get(DataSource, { strict: false }).getRepository(AuthSession).clear();
      const next = await app.register({ email: 'present@shop.example' });
      await app.users().update({ id: next.user['id'] as number }, { id: user['id'] as number });
      const { json } = await app.post('/api/auth/login', { email: 'present@shop.example', password: PASSWORD });
      present = json.data.token as string;
    });
    afterAll(() => app.close());

    it.each([
      ['GET', me],
      ['PATCH', me],
      ['DELETE', me],
      ['GET', '/api/auth/sessions'],
      ['POST', '/api/auth/logout-all'],
    ])('[2.5] is not opened by the token of the user who had it before: %s %s', async (method, path) => {
      const bodies: Readonly<Record<string, object>> = {
        PATCH: { firstName: 'Taken' },
        DELETE: { password: PASSWORD },
      };
      const json = bodies[method];
      const { status } = await request(app.url, method, path, { token: lost, ...(json && { json }) });
      expect(status).toBe(401);
      const { json: own } = await app.get(me, { token: present });
      expect(own.data.user).toMatchObject({ email: 'present@shop.example', firstName: null });
      expect((await app.get('/api/auth/sessions', { token: present })).json.data.length).toBeGreaterThan(0);
    });
  },
);
