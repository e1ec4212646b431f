/** Passwords that are changed and reset, addresses that are verified and changed. */
import { setTimeout as delay } from 'node:timers/promises';
import bcrypt from 'bcrypt';
import {
  OneTimeToken,
  AuthEvents,
  AuthSession,
  LoginMethod,
  type PasswordHasher,
  UserAccounts,
  UserRepository,
} from 'declarest';
import { AccountTables } from 'declarest/plugin';
import { DataSource } from 'typeorm';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, unique, uniqueEmail, whole } from './auth-app.js';
import { Mailbox, mailsTo, noMailsTo } from './mailbox.js';

const NEW = 'a new password of mine';
const MAILS = { mailer: { useClass: Mailbox }, accountLinks: 'https://shop.example/account/' };

interface Session {
  email: string;
  id: number;
  token: string;
  refreshToken: string;
}

async function register(app: AuthApp, more: object = {}): Promise<Session> {
  const email = uniqueEmail();
  const { user, ...tokens } = (await app.register({ email, ...more })) as unknown as Session & { user: { id: number } };
  return { ...tokens, email, id: user.id };
}
const login = (app: AuthApp, email: string, password: string): Promise<Answer> =>
  app.post('/api/auth/login', { email, password });
const refreshes = async (app: AuthApp, { refreshToken }: Session): Promise<number> =>
  (await app.post('/api/auth/refresh', { refreshToken })).status;
const repository = (app: AuthApp, entity: typeof OneTimeToken | typeof AuthSession) =>
  app.app.get(DataSource, { strict: false }).getRepository<object>(entity);

beforeEach(() => {
  Mailbox.mails.length = 0;
  Mailbox.work = () => Promise.resolve();
});
afterEach(() => vi.restoreAllMocks());

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  describe.each(DATABASES)('on %s', (database) => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform, {
        database,
        auth: { ...MAILS, sessions: true, passwordReset: true, throttle: false },
      });
    });
    afterAll(() => app.close());
    const forgot = (email: string) => app.post('/api/auth/password/forgot', { email });
    const reset = (token: string | undefined, password = NEW) =>
      app.post('/api/auth/password/reset', { token, password });
    const resetToken = async (email: string): Promise<string> => {
      const before = Mailbox.mails.length;
      await forgot(email);
      await mailsTo(email, 1);
      while (Mailbox.mails.length === before) await delay(5);
      return Mailbox.mails.at(-1)?.token as string;
    };

    it('a changed password ends the other sessions, and the user is told', async () => {
      const session = await register(app);
      const other = { ...session, ...(await login(app, session.email, PASSWORD)).json.data } as Session;
      const change = (body: object) => app.post('/api/auth/password', body, { token: session.token });
      expect(expectFailure(await change({ current: 'not the password', new: NEW }), 401)).toBe('Invalid credentials');
      expect(expectFailure(await change({ current: PASSWORD, new: 'short' }))).toBe(
        'password: expected at least 8 characters',
      );
      expect(expectFailure(await change({ current: PASSWORD }))).toBe('new: required');
      expect(expectFailure(await change({ current: PASSWORD, new: NEW, id: 1 }))).toContain('id: not accepted here');
      expect(await refreshes(app, other)).toBe(200);
      const changed = await change({ current: PASSWORD, new: NEW });
      expect([changed.status, changed.text]).toEqual([204, '']);
      expect([await refreshes(app, other), await refreshes(app, session)]).toEqual([401, 200]);
      expect((await login(app, session.email, PASSWORD)).status).toBe(401);
      expect((await login(app, session.email, NEW)).status).toBe(200);
      expect(await mailsTo(session.email)).toEqual([
        {
          to: session.email,
          kind: 'changed',
          changed: 'password',
          link: undefined,
          token: undefined,
          user: expect.objectContaining({ id: session.id, email: session.email }),
        },
      ]);
    });

    it('a forgotten password is replaced by a mailed link, once, and all sessions end', async () => {
      const session = await register(app);
      const answer = await forgot(` ${session.email.toUpperCase()} `);
      expect([answer.status, answer.json.success]).toEqual([202, true]);
      const [mail] = await mailsTo(session.email);
      expect(mail).toEqual({
        to: session.email,
        kind: 'reset',
        link: `https://shop.example/account/reset#token=${mail?.token}`,
        token: expect.stringMatching(/^[\w-]{43}$/),
        changed: undefined,
        user: {
          id: session.id,
          email: session.email,
          username: null,
          firstName: null,
          lastName: null,
          role: 'USER',
          active: true,
        },
      });
      const stored = JSON.stringify(await repository(app, OneTimeToken).find());
      expect(stored).not.toContain(mail?.token);
      // A refused password does not spend the token.
      expect(expectFailure(await reset(mail?.token, 'short'))).toContain('at least 8 characters');
      expect(expectFailure(await reset(mail?.token, 'x'.repeat(73)))).toContain('at most 72 bytes');
      const done = await reset(mail?.token);
      expect([done.status, done.text]).toEqual([204, '']);
      expect(await refreshes(app, session)).toBe(401);
      expect((await login(app, session.email, NEW)).status).toBe(200);
      expect(expectFailure(await reset(mail?.token), 401)).toBe('This link is not valid, or was used before');
      expect((await mailsTo(session.email, 2))[1]).toMatchObject({ kind: 'changed', changed: 'password' });
    });

    it('the answer is the same for unknown, inactive and malformed addresses, without a mail', async () => {
      const [known, inactive] = [await register(app), await register(app)];
      await app.app.get(UserAccounts, { strict: false }).setActive(inactive.id, false);
      const reference = whole(await forgot(known.email));
      await mailsTo(known.email);
      for (const email of [inactive.email, 'nobody@example.com', 'no address', '', '\0', 'x'.repeat(5_000)])
        expect(whole(await forgot(email))).toEqual(reference);
      await noMailsTo(inactive.email);
      expect(Mailbox.mails.map(({ to }) => to)).toEqual([known.email]);
    });

    it('an unknown address leads to the same statements, also after the answer', async () => {
      const { email } = await register(app);
      const tables = app.app.get(AccountTables, { strict: false });
      const statements = [vi.spyOn(tables, 'read'), vi.spyOn(tables, 'run')];
      const login = vi.spyOn(app.app.get(UserRepository as never, { strict: false }), 'findByLogin' as never);
      const counts: number[][] = [];
      for (const path of ['/password/forgot', '/verify/resend'])
        for (const address of [email, 'nobody@example.com']) {
          const before = await repository(app, OneTimeToken).count();
          await app.post(`/api/auth${path}`, { email: address });
          let tokens = 0;
          for (let tries = 0; tokens === 0 && tries < 300; tries += 1) {
            await delay(10);
            tokens = (await repository(app, OneTimeToken).count()) - before;
          }
          counts.push([tokens, statements.flatMap(({ mock }) => mock.calls).length, login.mock.calls.length]);
          statements.forEach((each) => each.mockClear());
          login.mockClear();
        }
      vi.restoreAllMocks();
      expect(counts).toEqual([
        [1, 1, 1],
        [1, 1, 1],
        [1, 2, 1],
        [1, 2, 1],
      ]);
    });

    it('a mailer that is slow or throws does not show, and no token is logged', async () => {
      const { email } = await register(app);
      let finish = (): void => {};
      const finished = new Promise<void>((resolve) => (finish = resolve));
      Mailbox.work = () => finished;
      expect((await forgot(email)).status).toBe(202);
      finish();
      const [mail] = await mailsTo(email);
      Mailbox.work = () => Promise.reject(new Error(`no connection for ${mail?.token}`));
      expect((await forgot(email)).status).toBe(202);
      while (!app.logs.some((line) => line.includes('The mail of kind reset failed: Error.'))) await delay(10);
      expect(app.logs.join('\n')).not.toContain(mail?.token);
    });

    it('of 50 parallel uses of one link exactly one wins', async () => {
      const { email } = await register(app);
      const token = await resetToken(email);
      const passwords = Array.from({ length: 50 }, (_, n) => `${NEW} ${n}`);
      const answers = await Promise.all(passwords.map((password) => reset(token, password)));
      const statuses = answers.map(({ status }) => status);
      expect([statuses.filter((each) => each === 204).length, statuses.filter((each) => each === 401).length]).toEqual([
        1, 49,
      ]);
      expect((await login(app, email, passwords[statuses.indexOf(204)] ?? '')).status).toBe(200);
    });

    it('a link ends with a change of the password or of the address, with the user, and after an hour', async () => {
      const accounts = app.app.get(UserAccounts, { strict: false });
      const ends: ((session: Session) => Promise<unknown>)[] = [
        ({ id }) => accounts.setPassword(id, NEW),
        ({ id }) => app.users().update({ id }, { email: uniqueEmail() }),
        ({ id }) => accounts.setActive(id, false),
        ({ id }) => app.users().delete({ id }),
        async ({ id }) => {
          const [row] = await repository(app, OneTimeToken).find({ where: { userId: String(id) } });
          const { expiresAt } = row as OneTimeToken;
          expect(expiresAt - Date.now()).toBeGreaterThan(59 * 60_000);
          expect(expiresAt - Date.now()).toBeLessThanOrEqual(60 * 60_000);
          return repository(app, OneTimeToken).update({ userId: String(id) }, { expiresAt: Date.now() - 1 });
        },
      ];
      for (const [index, end] of ends.entries()) {
        const session = await register(app);
        const token = await resetToken(session.email);
        await end(session);
        expect([index, (await reset(token)).status]).toEqual([index, 401]);
      }
    });

    it('a new address counts when its link is used, and the old one is told', async () => {
      const session = await register(app);
      const address = uniqueEmail();
      const change = (body: object) => app.post('/api/auth/email', body, { token: session.token });
      expect(expectFailure(await change({ password: 'not the password', email: address }), 401)).toBe(
        'Invalid credentials',
      );
      expect(expectFailure(await change({ password: PASSWORD, email: 'no address' }))).toContain('email: expected');
      const taken = await register(app);
      expect(expectFailure(await change({ password: PASSWORD, email: taken.email }))).toBe(
        `User with email ${taken.email} already exists`,
      );
      expect((await change({ password: PASSWORD, email: ` ${address.toUpperCase()}` })).status).toBe(202);
      const [mail] = await mailsTo(address);
      expect(mail).toMatchObject({ kind: 'verify', link: `https://shop.example/account/verify#token=${mail?.token}` });
      expect((await login(app, address, PASSWORD)).status).toBe(401);
      expect((await login(app, session.email, PASSWORD)).status).toBe(200);
      // It is no token for a new password.
      expect((await reset(mail?.token)).status).toBe(401);
      expect((await app.post('/api/auth/verify', { token: mail?.token })).status).toBe(204);
      expect((await app.post('/api/auth/verify', { token: mail?.token })).status).toBe(401);
      expect((await login(app, address, PASSWORD)).status).toBe(200);
      expect((await login(app, session.email, PASSWORD)).status).toBe(401);
      expect((await mailsTo(session.email))[0]).toMatchObject({ kind: 'changed', changed: 'email' });
    });

    it('a link for a new address ends with a change of the address that the application makes', async () => {
      const { email, id, token } = await register(app);
      const [other, changed] = [uniqueEmail(), uniqueEmail()];
      await app.post('/api/auth/email', { password: PASSWORD, email: other }, { token });
      const [mail] = await mailsTo(other);
      await app.users().update({ id }, { email: changed });
      expect((await app.post('/api/auth/verify', { token: mail?.token })).status).toBe(401);
      await app.users().update({ id }, { email });
      expect((await app.post('/api/auth/verify', { token: mail?.token })).status).toBe(204);
    });

    it('of parallel uses of a link for a new address one wins, and the link is no other token', async () => {
      const { email, token } = await register(app);
      const other = uniqueEmail();
      await app.post('/api/auth/email', { password: PASSWORD, email: other }, { token });
      const link = (await mailsTo(other))[0]?.token as string;
      expect((await app.get('/api/auth/me', { token: link })).status).toBe(401);
      expect((await app.post('/api/auth/refresh', { refreshToken: link })).status).toBe(401);
      expect((await reset(link)).status).toBe(401);
      const uses = await Promise.all(Array.from({ length: 20 }, () => app.post('/api/auth/verify', { token: link })));
      expect(uses.filter(({ status }) => status === 204)).toHaveLength(1);
      expect(uses.filter(({ status }) => status === 401)).toHaveLength(19);
      expect((await mailsTo(email))[0]).toMatchObject({ kind: 'changed', changed: 'email' });
    });

    it('a link for a new address ends with a change and with a reset of the password', async () => {
      const ends: ((session: Session) => Promise<Answer>)[] = [
        ({ token }) => app.post('/api/auth/password', { current: PASSWORD, new: NEW }, { token }),
        async ({ email }) => reset(await resetToken(email)),
      ];
      for (const end of ends) {
        const session = await register(app);
        const address = uniqueEmail();
        await app.post('/api/auth/email', { password: PASSWORD, email: address }, { token: session.token });
        const [mail] = await mailsTo(address);
        expect((await end(session)).status).toBe(204);
        expect((await app.post('/api/auth/verify', { token: mail?.token })).status).toBe(401);
        expect((await login(app, session.email, NEW)).status).toBe(200);
      }
    });

    it('an address that was taken meanwhile is 400', async () => {
      const session = await register(app);
      const address = uniqueEmail();
      await app.post('/api/auth/email', { password: PASSWORD, email: address }, { token: session.token });
      const [mail] = await mailsTo(address);
      await app.register({ email: address });
      expect(expectFailure(await app.post('/api/auth/verify', { token: mail?.token }))).toBe(
        `User with email ${address} already exists`,
      );
    });

    it('a reset token is neither an access nor a refresh token, and the reverse', async () => {
      const session = await register(app);
      const token = await resetToken(session.email);
      expect((await app.get('/api/auth/me', { token })).status).toBe(401);
      expect((await app.post('/api/auth/refresh', { refreshToken: token })).status).toBe(401);
      expect((await app.post('/api/auth/verify', { token })).status).toBe(401);
      for (const other of [session.token, session.refreshToken, '', 'x'.repeat(43), 'x'.repeat(90_000), `${token}=`])
        expect((await reset(other)).status).toBe(401);
      expect((await reset(token)).status).toBe(204);
    });

    it('UserAccounts verifies and sets passwords, and ends sessions', async () => {
      const accounts = app.app.get(UserAccounts, { strict: false });
      const session = await register(app);
      expect(await accounts.verifyPassword(session.id, PASSWORD)).toBe(true);
      expect(await accounts.verifyPassword(session.id, NEW)).toBe(false);
      await accounts.setPassword(session.id, 'p'.repeat(72));
      expect(await accounts.verifyPassword(session.id, `${'p'.repeat(72)}q`)).toBe(false);
      await accounts.setPassword(session.id, PASSWORD);
      Object.assign(session, (await login(app, session.email, PASSWORD)).json.data);
      expect(await accounts.verifyPassword(987_654, PASSWORD)).toBe(false);
      expect(await accounts.endSessions(session.id)).toBe(1);
      expect(await refreshes(app, session)).toBe(401);
      const again = (await login(app, session.email, PASSWORD)).json.data as Session;
      await accounts.setPassword(session.id, NEW);
      expect(await refreshes(app, again)).toBe(401);
    });

    it('events tell of each change, without a secret', async () => {
      const events: { name: string }[] = [];
      const names = [
        'password.forgotten',
        'password.changed',
        'email.verified',
        'email.changed',
        'user.changed',
      ] as const;
      const off = names.map((name) =>
        app.app.get(AuthEvents, { strict: false }).on(name, (event) => void events.push(event)),
      );
      const { email } = await register(app);
      const token = await resetToken(email);
      await reset(token);
      off.forEach((remove) => remove());
      expect(events.map(({ name }) => name)).toEqual(['password.forgotten', 'password.changed']);
      expect(JSON.stringify(events)).not.toContain(token);
      await forgot(email);
      await mailsTo(email, 3);
      expect(events).toHaveLength(2);
    });
  });

  describe('with requireVerified', () => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform, { auth: { ...MAILS, requireVerified: true, sessions: true, throttle: false } });
    });
    afterAll(() => app.close());

    it('register gives no token, and login is 403 until the link is used', async () => {
      const email = uniqueEmail();
      const registered = await app.post('/api/auth/register', { email, password: PASSWORD });
      expect([registered.status, Object.keys(registered.json.data)]).toEqual([201, ['user']]);
      expect((await login(app, email, 'not the password')).status).toBe(401);
      expect(expectFailure(await login(app, email, PASSWORD), 403)).toBe('The e-mail address is not verified');
      const [mail] = await mailsTo(email);
      expect(mail?.kind).toBe('verify');
      expect((await app.post('/api/auth/verify', { token: mail?.token })).status).toBe(204);
      expect((await login(app, email, PASSWORD)).status).toBe(200);
      expect((await app.post('/api/auth/verify', { token: mail?.token })).status).toBe(401);
    });

    it('another link may be asked for, by the same answer for everybody', async () => {
      const email = uniqueEmail();
      await app.post('/api/auth/register', { email, password: PASSWORD });
      await mailsTo(email);
      const resend = (address: string) => app.post('/api/auth/verify/resend', { email: address });
      const answer = await resend(email);
      expect(answer.status).toBe(202);
      const [, second] = await mailsTo(email, 2);
      expect((await app.post('/api/auth/verify', { token: second?.token })).status).toBe(204);
      expect(whole(await resend(email))).toEqual(whole(answer));
      expect(whole(await resend('nobody@example.com'))).toEqual(whole(answer));
      expect(await noMailsTo(email)).toHaveLength(2);
    });

    it('an address that the application changed is not verified, and users of UserAccounts are', async () => {
      const accounts = app.app.get(UserAccounts, { strict: false });
      const user = await accounts.create({ email: uniqueEmail(), password: PASSWORD });
      expect((await login(app, String(user.email), PASSWORD)).status).toBe(200);
      const address = uniqueEmail();
      await app.users().update({ id: user.id }, { email: address });
      expect((await login(app, address, PASSWORD)).status).toBe(403);
    });

    it('the routes of passwordReset do not exist', async () => {
      expect((await app.post('/api/auth/password/forgot', { email: 'a@b.example' })).status).toBe(404);
    });
  });

  it('a login by username resets by the address', async () => {
    const app = await startAuth(platform, {
      auth: { ...MAILS, passwordReset: true, loginMethod: LoginMethod.USERNAME },
    });
    const [email, username] = [uniqueEmail(), unique('ann')];
    await app.register({ email, username });
    await app.post('/api/auth/password/forgot', { email });
    const [mail] = await mailsTo(email);
    expect((await app.post('/api/auth/password/reset', { token: mail?.token, password: NEW })).status).toBe(204);
    expect((await app.post('/api/auth/login', { username, password: NEW })).status).toBe(200);
    // Without sessions.
    expect((await app.post('/api/auth/password', { current: NEW, new: PASSWORD })).status).toBe(404);
    await app.close();
  });

  it('an application that stops sends the mails that it has answered for', async () => {
    const app = await startAuth(platform, { auth: { ...MAILS, passwordReset: true } });
    const { email } = await register(app);
    Mailbox.work = () => delay(200);
    await app.post('/api/auth/password/forgot', { email });
    await app.close();
    expect(Mailbox.mails.map(({ to, kind }) => [to, kind])).toEqual([[email, 'reset']]);
  });

  describe('with 7 rounds', () => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform, { auth: { bcryptRounds: 7 } });
    });
    afterAll(() => app.close());

    it.each<[string, string, string, boolean]>([
      ['a hash of a lower cost', bcrypt.hashSync(PASSWORD, 4), 'not the password', true],
      ['a hash that is not one of bcrypt', '!', 'not the password', true],
      ['the right password of an inactive user', bcrypt.hashSync(PASSWORD, 4), PASSWORD, false],
      ['an over-long password', bcrypt.hashSync('p'.repeat(72), 4), 'p'.repeat(73), true],
    ])('%s takes as long as an unknown user', async (_, hash, sent, active) => {
      const { id, email } = await register(app);
      await app.users().update({ id }, { password: hash, active });
      const compare = vi.spyOn(bcrypt, 'compare');
      expect((await login(app, email, sent)).status).toBe(401);
      const costs = compare.mock.calls.map(([, each]) => (each === '!' ? -Infinity : bcrypt.getRounds(String(each))));
      expect(costs.reduce((sum, cost) => sum + 2 ** cost, 0)).toBe(2 ** 7);
    });
  });

  it('a link has the host of `accountLinks`, whatever host a request names', async () => {
    const app = await startAuth(platform, { auth: { ...MAILS, passwordReset: true } });
    const { email } = await register(app);
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', origin: 'https://evil.example' };
    await request(app.url, 'POST', '/api/auth/password/forgot', { json: { email }, headers });
    expect((await mailsTo(email))[0]?.link).toMatch(/^https:\/\/shop\.example\/account\/reset#token=/);
    await app.close();
  });

  it('with requireVerified and usernames, an address is required', async () => {
    const app = await startAuth(platform, {
      auth: { ...MAILS, requireVerified: true, loginMethod: LoginMethod.USERNAME },
    });
    const body = { username: 'ann', password: PASSWORD };
    expect(expectFailure(await app.post('/api/auth/register', body))).toBe('email: required');
    await app.close();
  });

  it('without a mailer, development logs the link', async () => {
    const app = await startAuth(platform, { auth: { passwordReset: true } });
    const { email } = await register(app);
    await app.post('/api/auth/password/forgot', { email });
    const line = () => app.logs.find((each) => each.includes('http://localhost:5173/reset#token='));
    while (!line()) await delay(10);
    const token = /token=([\w-]{43})/.exec(line() ?? '')?.[1];
    expect((await app.post('/api/auth/password/reset', { token, password: NEW })).status).toBe(204);
    await app.close();
  });

  describe('passwordPolicy', () => {
    let app: AuthApp;
    beforeAll(async () => {
      const check = async (password: string, { username }: Readonly<Record<string, unknown>>) => {
        await delay(1);
        return typeof username === 'string' && password.includes(username) ? 'one without the username' : undefined;
      };
      app = await startAuth(platform, { auth: { ...MAILS, passwordPolicy: { minLength: 10, check }, sessions: true } });
    });
    afterAll(() => app.close());

    it.each([
      ['short one', 'at least 10 characters'],
      ['1234567890', 'a password that few people use'],
      ['QwertyUiop', 'a password that few people use'],
      ['my name is anna', 'one without the username'],
    ])('refuses %j at register, at a change, and in UserAccounts', async (password, expected) => {
      const message = `password: expected ${expected}`;
      const username = 'anna';
      expect(expectFailure(await app.post('/api/auth/register', { email: uniqueEmail(), username, password }))).toBe(
        message,
      );
      const accounts = app.app.get(UserAccounts, { strict: false });
      await expect(accounts.create({ email: uniqueEmail(), username, password })).rejects.toThrow(message);
      const found = (await accounts.list({ text: 'anna' })).users[0];
      const user = found ?? (await accounts.create({ email: uniqueEmail(), username, password: 'a fine password' }));
      await expect(accounts.setPassword(user.id, password)).rejects.toThrow(message);
      const { token } = (await login(app, String(user.email), 'a fine password')).json.data;
      const change = await app.post('/api/auth/password', { current: 'a fine password', new: password }, { token });
      expect(expectFailure(change)).toBe(message);
    });
  });

  it('a login renews a hash of a lower cost, unless the password has changed meanwhile', async () => {
    const app = await startAuth(platform, { auth: { bcryptRounds: 5 } });
    const { id, email } = await register(app);
    const old = await bcrypt.hash(PASSWORD, 4);
    const hash = async () => (await app.row({ id }))['password'] as string;
    await app.users().update({ id }, { password: old });
    expect((await login(app, email, PASSWORD)).status).toBe(200);
    const renewed = await hash();
    expect([bcrypt.getRounds(renewed), await bcrypt.compare(PASSWORD, renewed)]).toEqual([5, true]);
    expect((await login(app, email, PASSWORD)).status).toBe(200);
    expect(await hash()).toBe(renewed);
    // A hash of a higher cost stays.
    await app.users().update({ id }, { password: await bcrypt.hash(PASSWORD, 6) });
    expect((await login(app, email, PASSWORD)).status).toBe(200);
    expect(bcrypt.getRounds(await hash())).toBe(6);
    // The password changes while the login computes the new hash of the old one.
    await app.users().update({ id }, { password: old });
    const changed = await bcrypt.hash(NEW, 5);
    const compute = bcrypt.hash.bind(bcrypt) as (password: string, rounds: number) => Promise<string>;
    vi.spyOn(bcrypt, 'hash').mockImplementation((async (password: string, rounds: number) => {
      await app.users().update({ id }, { password: changed });
      return compute(password, rounds);
    }) as never);
    expect((await login(app, email, PASSWORD)).status).toBe(401);
    vi.restoreAllMocks();
    expect(await hash()).toBe(changed);
    await app.close();
  });

  it('another passwordHasher hashes, verifies, and takes over the hashes of bcrypt', async () => {
    const calls: string[] = [];
    const passwordHasher: PasswordHasher = {
      hash: (password) => Promise.resolve(`$own$${Buffer.from(password).toString('hex')}`),
      verify: (password, hash) => {
        calls.push(hash.slice(0, 5));
        return hash.startsWith('$own$')
          ? Promise.resolve(hash === `$own$${Buffer.from(password).toString('hex')}`)
          : bcrypt.compare(password, hash);
      },
      needsRehash: (hash) => !hash.startsWith('$own$'),
    };
    const app = await startAuth(platform, { auth: { passwordHasher } });
    const { id, email } = await register(app);
    expect((await app.row({ id }))['password']).toBe(`$own$${Buffer.from(PASSWORD).toString('hex')}`);
    expect((await login(app, email, 'not the password')).status).toBe(401);
    expect((await login(app, 'nobody@example.com', PASSWORD)).status).toBe(401);
    expect(calls).toEqual(['$own$', '$own$']);
    await app.users().update({ id }, { password: await bcrypt.hash(PASSWORD, 4) });
    expect((await login(app, email, PASSWORD)).status).toBe(200);
    expect((await app.row({ id }))['password']).toMatch(/^\$own\$/);
    await app.close();
  });

  describe('bodies that are not as described', () => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform, { auth: { ...MAILS, passwordReset: true } });
    });
    afterAll(() => app.close());

    it.each(['/password/forgot', '/password/reset', '/verify', '/verify/resend'])('%s refuses', async (path) => {
      const send = (sent: RequestOptions) => request(app.url, 'POST', `/api/auth${path}`, sent);
      for (const json of [
        {},
        { email: 7, token: 7, password: 7 },
        [],
        'x',
        { email: 'a@b.example', token: 'x', password: 'y', role: 'ADMIN' },
      ])
        expectFailure(await send({ json }));
      expectFailure(await send({ body: '{', headers: { 'content-type': 'application/json' } }));
      expectFailure(await send({ body: 'x', headers: { 'content-type': 'text/plain' } }), 415);
    });
  });
});
