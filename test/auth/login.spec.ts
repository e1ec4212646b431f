import bcrypt from 'bcrypt';
import { LoginMethod, UserAccounts } from 'declarest';
import { type Answer, request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { startShop } from '../harness/shop.js';
import { claims, makeToken } from '../harness/tokens.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, unique, uniqueEmail, whole } from './auth-app.js';
import { refusal } from '../harness/refusal.js';

const LOGIN = '/api/auth/login';
const ME = '/api/auth/me';
const TOKEN = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
const INVALID_CREDENTIALS = { success: false, message: 'Invalid credentials' };
const LONGEST = 'longest@example.com';

const accountsOf = (app: AuthApp): UserAccounts => app.app.get(UserAccounts, { strict: false });

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(PLATFORMS)('on %s', (platform) => {
  describe('with login by e-mail', () => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform);
    });
    afterAll(() => app.close());
    const login = (json: unknown) => app.post(LOGIN, json);

    it('[2.3] login answers 200 with id, e-mail, username and role of the user, and a token', async () => {
      const [email, username] = [uniqueEmail(), unique('ann')];
      const { user } = await app.register({ email, username, firstName: 'Ann', lastName: 'Lee' });
      const answer = await login({ email: `\t ${email.toUpperCase()}  `, password: PASSWORD });
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({
        success: true,
        message: expect.stringMatching(/\S/),
        data: { user: { id: user['id'], email, username, role: 'USER' }, token: TOKEN },
      });
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    });

    it.each<[string, object, string[]]>([
      ['no e-mail', { password: PASSWORD }, ['email']],
      ['neither field', {}, ['email', 'password']],
      ['only a username', { username: 'ann', password: PASSWORD }, ['email']],
      ['a password of null', { email: 'ann@example.com', password: null }, ['password']],
      ['an e-mail in an array', { email: ['ann@example.com'], password: PASSWORD }, ['email']],
      ['an e-mail that is an operator', { email: { $gt: '' }, password: PASSWORD }, ['email']],
      ['a password that is a number', { email: 'ann@example.com', password: 12345678 }, ['password']],
      ['a password with a lone surrogate', { email: 'ann@example.com', password: `${PASSWORD}\ud800` }, ['password']],
      ['an e-mail with a lone surrogate', { email: '\ud800@example.com', password: PASSWORD }, ['email']],
    ])('[2.4] a login with %s is 400 and names every invalid field', async (_, body, fields) => {
      const message = expectFailure(await login(body));
      expect(message.split('; ').map((problem) => problem.split(':')[0])).toEqual(fields);
    });

    it('[2.4] a different lone surrogate does not log in', async () => {
      // Such a hash may be stored from an earlier version, or by a repositoryClass.
      const email = uniqueEmail();
      const { user } = await app.register({ email });
      const hash = await bcrypt.hash(`${PASSWORD}\ud800`, 4);
      await app.users().update({ id: user['id'] as number }, { password: hash });
      expectFailure(await login({ email, password: `${PASSWORD}\udbff` }));
    });

    describe('a login that fails', () => {
      let email: string;
      let inactive: string;
      let hash: string;
      beforeAll(async () => {
        [email, inactive] = [uniqueEmail(), uniqueEmail()];
        await app.register({ email });
        await app.register({ email: LONGEST, password: 'p'.repeat(72) });
        const { user } = await app.register({ email: inactive });
        await accountsOf(app).setActive(user['id'] as number, false);
        hash = (await app.row({ email }))['password'] as string;
      });

      it.each<[string, () => object]>([
        ['a wrong password', () => ({ email, password: 'not the password' })],
        ['an unknown user', () => ({ email: 'nobody@example.com', password: PASSWORD })],
        ['an inactive user', () => ({ email: inactive, password: PASSWORD })],
        ['an over-long password', () => ({ email, password: 'x'.repeat(73) })],
        ['a right password with a 73rd byte', () => ({ email: LONGEST, password: `${'p'.repeat(72)}q` })],
        ['an over-long password of nobody', () => ({ email: 'nobody@example.com', password: 'x'.repeat(5_000) })],
        ['an empty password', () => ({ email, password: '' })],
        ['an empty e-mail', () => ({ email: '', password: PASSWORD })],
        ['an over-long e-mail', () => ({ email: `${'a'.repeat(300)}@example.com`, password: PASSWORD })],
        ['an e-mail with an injection', () => ({ email: `' OR '1'='1`, password: PASSWORD })],
        ['an e-mail with a NUL', () => ({ email: `${email}\0`, password: PASSWORD })],
        ['the hash as password', () => ({ email, password: hash })],
      ])('[2.4] for %s is the same 401 after one bcrypt comparison of the same cost', async (_, body) => {
        const reference = whole(await login({ email, password: 'not the password' }));
        const compare = vi.spyOn(bcrypt, 'compare');
        const others = (['hash', 'hashSync', 'compareSync'] as const).map((name) => vi.spyOn(bcrypt, name));
        const answer = await login(body());
        expect([answer.status, answer.json]).toEqual([401, INVALID_CREDENTIALS]);
        expect(whole(answer)).toEqual(reference);
        expect(compare.mock.calls.map(([, against]) => [against.length, bcrypt.getRounds(against)])).toEqual([[60, 4]]);
        for (const other of others) expect(other).not.toHaveBeenCalled();
      });

      it('[2.4] compares as often as one that succeeds, and for an unknown user with an unknown hash', async () => {
        const compare = vi.spyOn(bcrypt, 'compare');
        expect((await login({ email, password: PASSWORD })).status).toBe(200);
        expect(compare).toHaveBeenCalledTimes(1);
        await login({ email: 'nobody@example.com', password: PASSWORD });
        const against = compare.mock.calls[1]?.[1] as string;
        for (const guess of ['', PASSWORD, 'undefined']) expect(await bcrypt.compare(guess, against)).toBe(false);
      });
    });

    describe('me', () => {
      const expectUnauthorized = (answer: Answer, challenge: string) =>
        expect([answer.status, answer.text, answer.headers['www-authenticate']]).toEqual([
          401,
          JSON.stringify(refusal('Authentication required')),
          challenge,
        ]);

      it('[2.3] answers 200 with the whole user and no message', async () => {
        const fields = { email: uniqueEmail(), username: unique('eve'), firstName: 'Eve', lastName: 'Lee' };
        const { user, token } = await app.register(fields);
        const answer = await app.get(ME, { token });
        expect(answer.status).toBe(200);
        const profile = { id: user['id'], ...fields, role: 'USER', active: true };
        expect(answer.json).toEqual({ success: true, data: { user: profile } });
        expectUnauthorized(await app.get(ME), 'Bearer');
      });

      it('[2.4] reads the user from the database', async () => {
        const { token, user } = await app.register({ email: uniqueEmail(), firstName: 'Ann' });
        await accountsOf(app).setRole(user['id'] as number, 'ADMIN');
        await app.users().update({ id: user['id'] as number }, { firstName: 'Anna' });
        const me = (await app.get(ME, { token })).json.data.user;
        expect(me).toEqual({ ...user, firstName: 'Anna', role: 'ADMIN' });
      });

      it('[2.4] is the same 401 for a deleted and an inactive user', async () => {
        const gone = await app.register({ email: uniqueEmail() });
        const inactive = await app.register({ email: uniqueEmail() });
        await app.users().delete({ id: gone.user['id'] as number });
        await accountsOf(app).setActive(inactive.user['id'] as number, false);
        const answer = await app.get(ME, { token: gone.token });
        expectUnauthorized(answer, 'Bearer error="invalid_token"');
        expect(whole(await app.get(ME, { token: inactive.token }))).toEqual(whole(answer));
        await accountsOf(app).setActive(inactive.user['id'] as number, true);
        expect((await app.get(ME, { token: inactive.token })).status).toBe(200);
      });

      it('[2.1] never shows another user for an id beyond the safe integers', async () => {
        const email = uniqueEmail();
        await app.register({ email });
        await app.users().query(`UPDATE "user" SET id = 9007199254740992 WHERE email = '${email}'`);
        const token = makeToken({ payload: claims({ sub: '9007199254740993' }) });
        expectUnauthorized(await app.get(ME, { token }), 'Bearer error="invalid_token"');
        await app.users().delete({ email });
      });
    });
  });

  it('[2.3] with login by username, usernames compare exactly and an e-mail does not log in', async () => {
    const app = await startAuth(platform, { auth: { loginMethod: LoginMethod.USERNAME } });
    const { user } = await app.register({ username: 'Ann Lee', email: 'ann@example.com' });
    const login = (username: unknown) => app.post(LOGIN, { username, password: PASSWORD });
    const answer = await login('Ann Lee');
    const { id } = user;
    expect([answer.status, answer.json.data]).toEqual([
      200,
      { user: { id, email: 'ann@example.com', username: 'Ann Lee', role: 'USER' }, token: TOKEN },
    ]);
    for (const other of ['ANN LEE', ' Ann Lee', 'Ann Lee ', 'ann@example.com', 'x'.repeat(65), '']) {
      const { status, json } = await login(other);
      expect([other, status, json]).toEqual([other, 401, INVALID_CREDENTIALS]);
    }
    expect(expectFailure(await login(5))).toBe('username: expected well-formed text');
    expect(expectFailure(await app.post(LOGIN, { email: 'ann@example.com' }))).toBe(
      'username: required; password: required',
    );
    await app.close();
  });

  it('[2.4] elsewhere than at me a token keeps its role until it expires', async () => {
    const shop = await startShop(platform);
    const token = await shop.admin('root@example.com');
    const status = async (path: string, sent: string) => (await request(shop.url, 'GET', path, { token: sent })).status;
    const { id } = (await request(shop.url, 'GET', ME, { token })).json.data.user;
    const accounts = shop.app.get(UserAccounts, { strict: false });
    await accounts.setRole(id, 'USER');
    expect(await status('/api/admin/stats', token)).toBe(200);
    const json = { email: 'root@example.com', password: PASSWORD };
    const again = await request(shop.url, 'POST', LOGIN, { json });
    expect(await status('/api/admin/stats', again.json.data.token)).toBe(403);
    await accounts.setActive(id, false);
    expect([await status('/api/admin/stats', token), await status(ME, token)]).toEqual([200, 401]);
    await shop.close();
  });

  it.each(DATABASES)('[2.1] ids have 64 bits in row, token and response (%s)', async (database) => {
    const app = await startAuth(platform, { database });
    const { user } = await app.register({ email: 'ann@example.com' });
    await app.users().update({ id: user['id'] as number }, { id: Number.MAX_SAFE_INTEGER });
    const { json } = await app.post(LOGIN, { email: 'ann@example.com', password: PASSWORD });
    const me = await app.get(ME, { token: json.data.token });
    expect([json.data.user.id, me.json.data?.user.id]).toEqual([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
    await app.close();
  });

  it('[2.4] hashing does not block the event loop', async () => {
    const app = await startAuth(platform);
    const body = { email: 'ann@example.com', password: PASSWORD };
    const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);
    // With a salt that is made, bcrypt begins at once.
    const salt = bcrypt.genSaltSync(11);
    const work = [
      [201, '/api/auth/register', body],
      [200, LOGIN, body],
      [401, LOGIN, { ...body, email: 'nobody@example.com' }],
    ] as const;
    for (const [expected, path, sent] of work) {
      let isFree = false;
      // While these have all threads of Node's pool, only the event loop could hash.
      const others = Array.from({ length: threads }, () => bcrypt.hash(PASSWORD, salt).then(() => (isFree = true)));
      const { status } = await app.post(path, sent);
      expect([status, isFree]).toEqual([expected, true]);
      await Promise.all(others);
    }
    await app.close();
  });
});
