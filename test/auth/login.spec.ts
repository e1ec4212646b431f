import { setTimeout as delay } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import bcrypt from 'bcrypt';
import { LoginMethod, UserAccounts } from 'declarest';
import { type Answer, request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type Shop, startShop } from '../harness/shop.js';
import { claims, makeToken } from '../harness/tokens.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, unique, uniqueEmail } from './auth-app.js';

const LOGIN = '/api/auth/login';
const ME = '/api/auth/me';
const TOKEN = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
const INVALID_CREDENTIALS = { success: false, message: 'Invalid credentials' };

@Controller('api/own')
class OwnController {
  @Get()
  own() {
    return { seen: true };
  }
}

/** What tells two answers apart, but for the time of day. */
function whole({ status, headers, text }: Answer): object {
  const { date: _, ...others } = headers;
  return { status, headers: others, text };
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe.each(PLATFORMS)('on %s', (platform) => {
  describe('with login by e-mail', () => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform);
    });
    afterAll(() => app.close());
    const login = (json: unknown) => app.post(LOGIN, json);
    const accounts = () => app.app.get(UserAccounts, { strict: false });

    it('[2.3] login answers 200 with id, e-mail, username and role of the user, and a token', async () => {
      const [email, username] = [uniqueEmail(), unique('ann')];
      const { user } = await app.register({ email, username, firstName: 'Ann', lastName: 'Lee' });
      const answer = await login({ email, password: PASSWORD });
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({
        success: true,
        message: expect.stringMatching(/\S/),
        data: { user: { id: user['id'], email, username, role: 'USER' }, token: TOKEN },
      });
    });

    it('[2.3] in the answer to a login an absent username is null', async () => {
      const email = uniqueEmail();
      const { user } = await app.register({ email });
      const { json } = await login({ email, password: PASSWORD });
      expect(json.data.user).toEqual({ id: user['id'], email, username: null, role: 'USER' });
    });

    it('[2.4] the answer to a login, which holds a token, carries Cache-Control: no-store', async () => {
      const email = uniqueEmail();
      await app.register({ email });
      const { headers } = await login({ email, password: PASSWORD });
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
    });

    it.each([
      ['in upper case', (email: string) => email.toUpperCase()],
      ['with space around it', (email: string) => `\t ${email}  `],
    ])('[2.3] the e-mail is compared trimmed and lower-cased: %s it logs in', async (_, spell) => {
      const email = uniqueEmail();
      await app.register({ email });
      const { status, json } = await login({ email: spell(email), password: PASSWORD });
      expect([status, json.data?.user.email]).toEqual([200, email]);
    });

    it('[2.3] with login by e-mail a username does not log in', async () => {
      const username = unique('bob');
      await app.register({ email: uniqueEmail(), username });
      expectFailure(await login({ username, password: PASSWORD }));
      expect((await login({ email: username, password: PASSWORD })).status).toBe(401);
    });

    it.each([
      ['no e-mail', { password: PASSWORD }, ['email']],
      ['no password', { email: 'ann@example.com' }, ['password']],
      ['neither', {}, ['email', 'password']],
      ['an e-mail of null', { email: null, password: PASSWORD }, ['email']],
      ['a password of null', { email: 'ann@example.com', password: null }, ['password']],
      ['an e-mail that is a number', { email: 5, password: PASSWORD }, ['email']],
      ['an e-mail that is true', { email: true, password: PASSWORD }, ['email']],
      ['an e-mail in an array', { email: ['ann@example.com'], password: PASSWORD }, ['email']],
      ['an e-mail that is an operator', { email: { $gt: '' }, password: PASSWORD }, ['email']],
      ['a password that is a number', { email: 'ann@example.com', password: 12345678 }, ['password']],
      ['a password in an array', { email: 'ann@example.com', password: [PASSWORD] }, ['password']],
      ['a password that is an operator', { email: 'ann@example.com', password: { $ne: 1 } }, ['password']],
      ['both of another type', { email: 1, password: {} }, ['email', 'password']],
    ])('[2.4] a login with %s is 400 and names every wrong field', async (_, body, fields) => {
      const message = expectFailure(await login(body));
      for (const field of ['email', 'password']) expect(message.includes(field)).toBe(fields.includes(field));
    });

    describe('a login that fails', () => {
      let email: string;
      let inactive: string;
      const hopeless: [string, () => object][] = [
        ['a wrong password', () => ({ email, password: 'not the password' })],
        ['an unknown user', () => ({ email: 'nobody@example.com', password: PASSWORD })],
        ['an inactive user', () => ({ email: inactive, password: PASSWORD })],
        ['an inactive user and a wrong password', () => ({ email: inactive, password: 'not the password' })],
        ['an over-long password', () => ({ email, password: 'x'.repeat(73) })],
        ['a right password with bytes beyond the 72nd', () => ({ email: longest, password: `${'p'.repeat(72)}q` })],
        [
          'an over-long password of an unknown user',
          () => ({ email: 'nobody@example.com', password: 'x'.repeat(5_000) }),
        ],
        ['an empty password', () => ({ email, password: '' })],
        ['an empty e-mail', () => ({ email: '', password: PASSWORD })],
        ['what is no e-mail', () => ({ email: 'no address', password: PASSWORD })],
        ['an over-long e-mail', () => ({ email: `${'a'.repeat(300)}@example.com`, password: PASSWORD })],
        ['an e-mail with a wildcard of SQL', () => ({ email: '%', password: PASSWORD })],
        ['an e-mail with an injection', () => ({ email: `' OR '1'='1`, password: PASSWORD })],
        ['an e-mail with a NUL', () => ({ email: `${email}\0`, password: PASSWORD })],
        ['the hash for a password', () => ({ email, password: hash })],
      ];
      const longest = 'longest@example.com';
      let hash: string;
      beforeAll(async () => {
        [email, inactive] = [uniqueEmail(), uniqueEmail()];
        await app.register({ email });
        await app.register({ email: longest, password: 'p'.repeat(72) });
        const { user } = await app.register({ email: inactive });
        await accounts().setActive(user['id'] as number, false);
        hash = (await app.row({ email }))['password'] as string;
      });

      it.each(hopeless)('[2.3] for %s is 401 with exactly "Invalid credentials"', async (_, body) => {
        const { status, json } = await login(body());
        expect([status, json]).toEqual([401, INVALID_CREDENTIALS]);
      });

      it.each(hopeless.slice(1))(
        '[2.4] for %s has the body and headers of one for a wrong password',
        async (_, body) => {
          const wrongPassword = await login({ email, password: 'not the password' });
          expect(whole(await login(body()))).toEqual(whole(wrongPassword));
        },
      );

      // Time itself is the benchmark's to show; here is what makes it equal: one comparison each, at the cost of a stored hash.
      it.each(hopeless)('[2.4] for %s costs one bcrypt comparison at the configured cost', async (_, body) => {
        const compare = jest.spyOn(bcrypt, 'compare');
        const others = (['hash', 'hashSync', 'compareSync'] as const).map((name) => jest.spyOn(bcrypt, name));
        await login(body());
        expect(compare.mock.calls.map(([, against]) => [against.length, bcrypt.getRounds(against)])).toEqual([[60, 4]]);
        for (const other of others) expect(other).not.toHaveBeenCalled();
      });

      it('[2.4] costs as many comparisons as one that succeeds', async () => {
        const compare = jest.spyOn(bcrypt, 'compare');
        expect((await login({ email, password: PASSWORD })).status).toBe(200);
        expect(compare).toHaveBeenCalledTimes(1);
      });

      it('[2.4] for an unknown user compares with no hash that could be known', async () => {
        const compare = jest.spyOn(bcrypt, 'compare');
        await login({ email: 'nobody@example.com', password: PASSWORD });
        const [[, against] = ['', '']] = compare.mock.calls;
        for (const guess of ['', PASSWORD, 'password', 'undefined', 'dummy'])
          expect(await bcrypt.compare(guess, against as string)).toBe(false);
      });
    });

    describe('me', () => {
      const unauthorised = (answer: Answer, challenge: string) =>
        expect([answer.status, answer.text, answer.headers['www-authenticate']]).toEqual([
          401,
          '{"error":"Authentication required"}',
          challenge,
        ]);

      it('[2.3] answers 200 with the whole user, and no message', async () => {
        const [email, username] = [uniqueEmail(), unique('eve')];
        const { user, token } = await app.register({ email, username, firstName: 'Eve', lastName: 'Lee' });
        const answer = await app.get(ME, { token });
        expect(answer.status).toBe(200);
        expect(answer.json).toEqual({
          success: true,
          data: {
            user: { id: user['id'], email, username, firstName: 'Eve', lastName: 'Lee', role: 'USER', active: true },
          },
        });
      });

      it('[2.3] shows absent optional fields as null', async () => {
        const { token, user } = await app.register({ email: uniqueEmail() });
        expect((await app.get(ME, { token })).json.data.user).toEqual(user);
        expect(user).toMatchObject({ username: null, firstName: null, lastName: null });
      });

      it('[2.3] takes the token of a login as well as that of the registration', async () => {
        const email = uniqueEmail();
        await app.register({ email });
        const { json } = await login({ email, password: PASSWORD });
        expect((await app.get(ME, { token: json.data.token })).json.data.user.email).toBe(email);
      });

      it('[2.3] without a token is 401 with exactly {"error":"Authentication required"}', async () => {
        unauthorised(await app.get(ME), 'Bearer');
      });

      it('[2.4] reads the user from the database: what changed since the token was signed shows', async () => {
        const email = uniqueEmail();
        const { token, user } = await app.register({ email, firstName: 'Ann' });
        await accounts().setRole(user['id'] as number, 'ADMIN');
        await app.users().update({ id: user['id'] as number }, { firstName: 'Anna', email: `new-${email}` });
        expect((await app.get(ME, { token })).json.data.user).toMatchObject({
          firstName: 'Anna',
          email: `new-${email}`,
          role: 'ADMIN',
        });
      });

      it('[2.4] with the token of a user who was deleted is 401', async () => {
        const { token, user } = await app.register({ email: uniqueEmail() });
        await app.users().delete({ id: user['id'] as number });
        unauthorised(await app.get(ME, { token }), 'Bearer error="invalid_token"');
      });

      it('[2.4] with the token of a user who is inactive is 401, and 200 once active again', async () => {
        const { token, user } = await app.register({ email: uniqueEmail() });
        await accounts().setActive(user['id'] as number, false);
        unauthorised(await app.get(ME, { token }), 'Bearer error="invalid_token"');
        await accounts().setActive(user['id'] as number, true);
        expect((await app.get(ME, { token })).status).toBe(200);
      });

      it('[2.4] tells a deleted user by nothing from an inactive one', async () => {
        const gone = await app.register({ email: uniqueEmail() });
        const idle = await app.register({ email: uniqueEmail() });
        await app.users().delete({ id: gone.user['id'] as number });
        await accounts().setActive(idle.user['id'] as number, false);
        const [one, other] = await Promise.all([gone, idle].map(({ token }) => app.get(ME, { token })));
        expect(whole(one!)).toEqual(whole(other!));
      });

      it('[2.4] answers for the user of the token, whatever ids are stored beside it', async () => {
        const [ann, bob] = [await app.register({ email: uniqueEmail() }), await app.register({ email: uniqueEmail() })];
        expect((await app.get(ME, { token: ann.token })).json.data.user.id).toBe(ann.user['id']);
        expect((await app.get(ME, { token: bob.token })).json.data.user.id).toBe(bob.user['id']);
      });

      it('[2.1] a token of an id beyond the safe integers never shows another user', async () => {
        const email = uniqueEmail();
        await app.register({ email });
        await app.users().query(`UPDATE "user" SET id = 9007199254740992 WHERE email = '${email}'`);
        const answer = await app.get(ME, { token: makeToken({ payload: claims({ sub: '9007199254740993' }) }) });
        unauthorised(answer, 'Bearer error="invalid_token"');
        await app.users().delete({ email });
      });
    });
  });

  describe('with login by username', () => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform, { auth: { loginMethod: LoginMethod.USERNAME } });
    });
    afterAll(() => app.close());
    const login = (json: unknown) => app.post(LOGIN, json);

    it('[2.3] login takes username and password and answers 200', async () => {
      const username = unique('Ann Lee ');
      const { user } = await app.register({ username });
      const answer = await login({ username, password: PASSWORD });
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({
        success: true,
        message: expect.stringMatching(/\S/),
        data: { user: { id: user['id'], email: null, username, role: 'USER' }, token: TOKEN },
      });
      expect(answer.headers['cache-control']).toBe('no-store');
    });

    it.each([
      ['in another case', (name: string) => name.toUpperCase()],
      ['with a space in front', (name: string) => ` ${name}`],
      ['with a space behind', (name: string) => `${name} `],
    ])('[2.3] usernames are exact: %s it is unknown', async (_, spell) => {
      const username = unique('bob');
      await app.register({ username });
      const { status, json } = await login({ username: spell(username), password: PASSWORD });
      expect([status, json]).toEqual([401, INVALID_CREDENTIALS]);
    });

    it('[2.3] with login by username an e-mail does not log in', async () => {
      const email = uniqueEmail();
      await app.register({ username: unique('carl'), email });
      expect(expectFailure(await login({ email, password: PASSWORD }))).toContain('username');
      expect((await login({ username: email, password: PASSWORD })).status).toBe(401);
    });

    it.each([
      ['no username', { password: PASSWORD }, ['username']],
      ['no password', { username: 'ann' }, ['password']],
      ['neither', {}, ['username', 'password']],
      ['a username that is a number', { username: 5, password: PASSWORD }, ['username']],
      ['a password of null', { username: 'ann', password: null }, ['password']],
    ])('[2.4] a login with %s is 400 and names every wrong field', async (_, body, fields) => {
      const message = expectFailure(await login(body));
      for (const field of ['username', 'password']) expect(message.includes(field)).toBe(fields.includes(field));
    });

    it.each([
      ['an unknown user', 'nobody', PASSWORD],
      ['a username that none can have', 'x'.repeat(65), PASSWORD],
      ['an empty username', '', PASSWORD],
      ['an over-long password', 'known', 'x'.repeat(80)],
      ['an inactive user', 'idle', PASSWORD],
    ])('[2.4] for %s a login is the 401 of a wrong password after the same work', async (_, username, password) => {
      if (!(await app.users().existsBy({ username: 'known' }))) {
        await app.register({ username: 'known' });
        const { user } = await app.register({ username: 'idle' });
        await app.app.get(UserAccounts, { strict: false }).setActive(user['id'] as number, false);
      }
      const compare = jest.spyOn(bcrypt, 'compare');
      const answer = await login({ username, password });
      expect(compare.mock.calls.map(([, against]) => bcrypt.getRounds(against))).toEqual([4]);
      expect(whole(answer)).toEqual(whole(await login({ username: 'known', password: 'not the password' })));
      expect([answer.status, answer.json]).toEqual([401, INVALID_CREDENTIALS]);
    });
  });

  describe('elsewhere than at me', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await startShop(platform, { controllers: [OwnController] });
    });
    afterAll(() => shop.close());
    const accounts = () => shop.app.get(UserAccounts, { strict: false });
    const status = async (path: string, token: string) => (await request(shop.url, 'GET', path, { token })).status;

    it('[2.4] a token is judged by itself until it expires, though its user is inactive', async () => {
      const email = uniqueEmail();
      const token = await shop.register(email);
      const { json } = await request(shop.url, 'GET', ME, { token });
      await accounts().setActive(json.data.user.id, false);
      expect([await status('/api/own', token), await status(ME, token)]).toEqual([200, 401]);
    });

    it('[2.4] a token keeps the role it was signed with; the next login has the new one', async () => {
      const token = await shop.admin('root@example.com');
      const { json } = await request(shop.url, 'GET', ME, { token });
      await accounts().setRole(json.data.user.id, 'USER');
      expect(await status('/api/admin/stats', token)).toBe(200);
      const again = await request(shop.url, 'POST', LOGIN, { json: { email: 'root@example.com', password: PASSWORD } });
      expect(again.json.data.user.role).toBe('USER');
      expect(await status('/api/admin/stats', again.json.data.token)).toBe(403);
    });
  });

  it.each(DATABASES)(
    '[2.1] an id is a 64-bit integer: one beyond 32 bits works in row, token and answer (%s)',
    async (database) => {
      const app = await startAuth(platform, { database });
      const { user } = await app.register({ email: 'ann@example.com' });
      await app.users().update({ id: user['id'] as number }, { id: 9_007_199_254_740_991 });
      const { json } = await app.post(LOGIN, { email: 'ann@example.com', password: PASSWORD });
      expect(json.data.user.id).toBe(9_007_199_254_740_991);
      const me = await app.get(ME, { token: json.data.token });
      expect([me.status, me.json.data?.user.id]).toEqual([200, 9_007_199_254_740_991]);
      await app.close();
    },
  );

  // Were the event loop blocked, no request could be answered between the first hash and the last.
  it.each([
    ['logins', (app: AuthApp, n: number) => app.post(LOGIN, { email: `user${n}@example.com`, password: PASSWORD })],
    [
      'failed logins',
      (app: AuthApp, n: number) => app.post(LOGIN, { email: `no${n}@example.com`, password: PASSWORD }),
    ],
    [
      'registrations',
      (app: AuthApp, n: number) => app.post('/api/auth/register', { email: `new${n}@example.com`, password: PASSWORD }),
    ],
  ])('[2.4] hashing never blocks the event loop: requests are answered while 4 %s run', async (_, work) => {
    const app = await startAuth(platform, { auth: { bcryptRounds: 11 } });
    for (let n = 0; n < 4; n += 1)
      await app.app.get(UserAccounts, { strict: false }).create({ email: `user${n}@example.com`, password: PASSWORD });
    const state = { running: 4, ticks: 0, answered: 0 };
    const jobs = Array.from({ length: 4 }, async (__, n) => {
      await work(app, n);
      state.running -= 1;
    });
    const ticking = setInterval(() => (state.ticks += state.running === 4 ? 1 : 0), 1);
    while (state.running === 4) {
      expect((await app.get('/who')).status).toBe(200);
      if (state.running === 4) state.answered += 1;
      await delay(1);
    }
    clearInterval(ticking);
    await Promise.all(jobs);
    expect(state.answered).toBeGreaterThanOrEqual(5);
    expect(state.ticks).toBeGreaterThanOrEqual(5);
    await app.close();
  });
});
