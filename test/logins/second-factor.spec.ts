/** The plugin secondFactor: enrolment, the second step of each login, what tokens say of it, and roles that need it. */
import { generateKeyPairSync } from 'node:crypto';
import { Controller, Get, Post } from '@nestjs/common';
import {
  AccessReport,
  administration,
  AuthEvents,
  AuthSession,
  type AuthOptions,
  CurrentUser,
  InvalidOptionError,
  type Principal,
  SecurityConfig,
  sessions,
  UserAccounts,
  OneTimeToken,
} from 'declarest';
import {
  hasFactor,
  SecondFactor,
  secondFactor,
  type SecondFactorOptions,
  SecondFactors,
} from 'declarest-logins/second-factor';
import { accountEndpoint, type AuthPlugin, Logins } from 'declarest/plugin';
import { DataSource } from 'typeorm';
import { type AuthApp, type AuthAppOptions, bootAuth, PASSWORD } from '../auth/auth-app.js';
import { expectFailure, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { beforeStatement } from '../auth/slow-statements.js';
import { type Answer, request } from '../harness/client.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { refusal } from '../harness/refusal.js';
import { StatementLog } from '../harness/statement-log.js';
import { AuthenticatorApp, payloadOf } from './authenticator-app.js';

const OTHER_PASSWORD = 'another password of mine';
const WRONG_CODE = 'This code is not valid, or was used before';
const WRONG_CHALLENGE = 'This challenge is not valid, or was used before. Log in again';
const RECOVERY_CODE = /^[a-z2-7]{4}(-[a-z2-7]{4}){5}$/;

/** Logs in the user with the id that is the code, as a mailed link would. */
const links: AuthPlugin = {
  name: 'links',
  endpoints: [
    accountEndpoint({
      name: 'useLink',
      route: 'POST link',
      access: 'public',
      summary: 'Log in by a link',
      texts: { id: { type: 'string' } },
      run: ({ get }, { body: { id }, request: sent }) => get(Logins).complete({ id }, sent),
    }),
  ],
};

@Controller()
class PayoutsController {
  @Post('api/payouts/:id/send')
  send() {
    return { sent: true };
  }
  @Post('api/payouts/:id/draft')
  draft() {
    return { drafted: true };
  }
  @Get('api/orders')
  orders(@CurrentUser() user: Principal) {
    return { user };
  }
}

class Rules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/who');
    this.requireAuth('/api/**');
    this.requirePolicy('second factor', hasFactor(), 'POST /api/payouts/**');
    this.requirePolicy('recent factor', hasFactor({ maxAgeMinutes: 5 }), 'POST /api/payouts/7/send');
  }
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  let app: AuthApp;
  const start = async (
    options: SecondFactorOptions = {},
    auth: Partial<AuthOptions> = {},
    more: AuthAppOptions = { controllers: [PayoutsController], providers: [Rules] },
  ) => {
    const plugins = [secondFactor(options), ...(auth.plugins ?? [])];
    app = await startAuth(platform, { ...more, auth: { sessions: true, ...auth, plugins } });
  };
  afterEach(() => app?.close());

  const accounts = () => app.app.get(UserAccounts, { strict: false });
  const rows = <T extends object>(entity: new () => T) => app.app.get(DataSource).getRepository(entity);
  async function user(role = 'USER') {
    const email = uniqueEmail();
    const { id } = await accounts().create({ email, password: PASSWORD, role });
    const { json } = await app.post('/api/auth/login', { email, password: PASSWORD });
    const { token, refreshToken } = json.data as { token: string; refreshToken: string };
    return { phone: new AuthenticatorApp(app, email, token), id, refreshToken };
  }
  const statusOf = async (answer: Promise<Answer>) => (await answer).status;

  describe('enrolment', () => {
    beforeEach(() => start({ issuer: 'Ann’s Shop' }));

    it('answers what the app needs, and ten recovery codes after a code of it', async () => {
      const events: unknown[] = [];
      app.app.get(AuthEvents, { strict: false }).on('factor.enabled', ({ userId }) => void events.push(userId));
      const { phone, id, refreshToken } = await user();
      const begun = await phone.post('mfa/enrol', { password: PASSWORD });
      const { uri, secret } = begun.json.data;
      expect([begun.status, begun.headers['cache-control']]).toEqual([200, 'no-store']);
      const { protocol, host, pathname, searchParams } = new URL(uri);
      expect([protocol, host, decodeURIComponent(pathname)]).toEqual([
        'otpauth:',
        'totp',
        `/Ann’s Shop:${phone.email}`,
      ]);
      expect(Object.fromEntries(searchParams)).toMatchObject({ secret, issuer: 'Ann’s Shop' });
      expect(secret).toMatch(/^[A-Z2-7]{32}$/);
      // Nothing is needed until the code.
      expect((await phone.login()).json.data.token).toEqual(expect.any(String));
      expect(await statusOf(phone.post('mfa/confirm', { code: 'k3vd-2m7q-xa5c-pl6e-5wtn-r2bo' }))).toBe(401);
      const code = await phone.code(0, secret);
      const confirmed = await phone.post('mfa/confirm', { code });
      const { recoveryCodes } = confirmed.json.data;
      expect([confirmed.status, confirmed.headers['cache-control']]).toEqual([200, 'no-store']);
      expect(new Set(recoveryCodes).size).toBe(10);
      for (const code of recoveryCodes) expect(code).toMatch(RECOVERY_CODE);
      expect(events).toEqual([String(id)]);
      // The sessions before have not given the factor.
      expect(await statusOf(app.post('/api/auth/refresh', { refreshToken }))).toBe(401);
      expect(expectFailure(await phone.answer(await phone.challenge(), code), 401)).toBe(WRONG_CODE);
    });

    it('stores nothing that logs in: the secret is encrypted for its user, and recovery codes are hashed', async () => {
      const { phone, id } = await user();
      const other = await user();
      await phone.enrol();
      await other.phone.enrol();
      const row = await rows(SecondFactor).findOneByOrFail({ userId: String(id) });
      const stored = JSON.stringify(await rows(SecondFactor).find());
      expect(stored).not.toContain(phone.secret);
      for (const code of phone.recoveryCodes)
        for (const text of [code, code.replaceAll('-', '')]) expect(stored).not.toContain(text);
      // A row that is copied to another user opens nothing.
      await rows(SecondFactor).update({ userId: String(other.id) }, { secret: row.secret, lastStep: 0 });
      const challenge = await other.phone.challenge();
      expect(expectFailure(await other.phone.answer(challenge, await phone.nextCode()), 401)).toBe(WRONG_CODE);
    });

    it('over a factor needs a code of it, which counts until the new one is confirmed', async () => {
      const { phone } = await user();
      await phone.enrol();
      await phone.logIn();
      expect(expectFailure(await phone.post('mfa/enrol', { password: PASSWORD }))).toMatch(/^code: required/);
      expect(expectFailure(await phone.post('mfa/enrol', { code: '000000' }), 401)).toBe(WRONG_CODE);
      expect(await statusOf(phone.post('mfa/confirm', { code: await phone.nextCode() }))).toBe(409);
      const { secret } = (await phone.post('mfa/enrol', { code: await phone.nextCode() })).json.data;
      await phone.logIn();
      const [old, next] = [await phone.nextCode(), await phone.code(0, secret)];
      expect(expectFailure(await phone.post('mfa/confirm', { code: old }), 401)).toBe(WRONG_CODE);
      const { recoveryCodes } = (await phone.post('mfa/confirm', { code: next })).json.data;
      for (const code of [await phone.nextCode(), phone.recoveryCodes[0] ?? ''])
        expect(await statusOf(phone.answer(await phone.challenge(), code))).toBe(401);
      expect(await statusOf(phone.answer(await phone.challenge(), recoveryCodes[0]))).toBe(200);
    });

    it('an enrolment that another request has confirmed meanwhile is not replaced without a code', async () => {
      const { phone } = await user();
      const { secret } = (await phone.post('mfa/enrol', { password: PASSWORD })).json.data;
      beforeStatement(app, /INSERT INTO "?`?declarest_second_factor/, async () => {
        const confirmed = await phone.post('mfa/confirm', { code: await phone.code(0, secret) });
        expect(confirmed.status).toBe(200);
      });
      expect(await statusOf(phone.post('mfa/enrol', { password: PASSWORD }))).toBe(409);
    });

    it('disable and new recovery codes need a code, and the old codes end', async () => {
      const { phone } = await user();
      await phone.enrol();
      await phone.logIn();
      for (const path of ['mfa/disable', 'mfa/codes']) {
        expect(expectFailure(await phone.post(path, {}))).toMatch(/^code: /);
        expect(expectFailure(await phone.post(path, { code: '000000' }), 401)).toBe(WRONG_CODE);
        expect(await statusOf(request(app.url, 'POST', `/api/auth/${path}`, { json: { code: '000000' } }))).toBe(401);
      }
      const [first = '', second = ''] = phone.recoveryCodes;
      const renewed = await phone.post('mfa/codes', { code: first });
      expect([renewed.status, new Set(renewed.json.data.recoveryCodes).size]).toEqual([200, 10]);
      expect(await statusOf(phone.post('mfa/disable', { code: second }))).toBe(401);
      const { refreshToken } = await phone.logIn();
      expect(await statusOf(phone.post('mfa/disable', { code: renewed.json.data.recoveryCodes[3] }))).toBe(204);
      expect(await statusOf(app.post('/api/auth/refresh', { refreshToken }))).toBe(401);
      expect((await phone.login()).json.data.token).toEqual(expect.any(String));
      expect(await rows(SecondFactor).count()).toBe(0);
    });

    it('what cannot be a code is 400 without a query but that of the session, and a challenge that cannot be one 401', async () => {
      await app.close();
      const log = new StatementLog();
      await start({}, {}, { dataSource: { logger: log } });
      const { phone } = await user();
      await phone.enrol();
      await phone.logIn();
      const challenge = await phone.challenge();
      log.take();
      for (const code of [
        '',
        '12345',
        '1234567',
        '12345a',
        '１２３４５６',
        'k3vd-2m7q',
        `${'9'.repeat(1e4)}`,
        "' OR 1=1",
      ]) {
        for (const path of ['mfa/confirm', 'mfa/disable', 'mfa/codes'])
          expect(expectFailure(await phone.post(path, { code }))).toMatch(/^code: expected the 6 digits/);
        expect(expectFailure(await phone.answer(challenge, code))).toMatch(/^code: expected the 6 digits/);
      }
      for (const text of ['', 'x', challenge.slice(1), `${challenge}=`])
        expect(expectFailure(await phone.answer(text, '123456'), 401)).toBe(WRONG_CHALLENGE);
      expect(log.take().filter(([sql]) => !sql.includes('declarest_auth_session'))).toEqual([]);
      for (const json of [{}, { code: 123456, challenge }, { code: '123456', challenge, more: 1 }, []])
        expectFailure(await app.post('/api/auth/mfa/challenge', json));
      expect(await statusOf(phone.answer(challenge, await phone.nextCode()))).toBe(200);
    });
  });

  describe('the second step of a login', () => {
    beforeEach(() => start({}, { plugins: [links] }));

    it('accepts a code once: of the present step, or of one beside it', async () => {
      const { phone } = await user();
      await phone.enrol();
      await phone.nextCode();
      await phone.nextCode();
      for (const steps of [-2, 2])
        expect(await statusOf(phone.answer(await phone.challenge(), await phone.code(steps)))).toBe(401);
      for (const steps of [-1, 0, 1]) {
        const code = await phone.code(steps);
        const { status, headers, json } = await phone.answer(
          await phone.challenge(),
          `${code.slice(0, 3)} ${code.slice(3)}`,
        );
        expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
        expect(json.data).toMatchObject({ user: { email: phone.email }, refreshToken: expect.any(String) });
        expect(expectFailure(await phone.answer(await phone.challenge(), code), 401)).toBe(WRONG_CODE);
      }
      // Codes before the last one do not count either.
      expect(await statusOf(phone.answer(await phone.challenge(), await phone.code(0)))).toBe(401);
    });

    it('accepts each recovery code once, as people type it', async () => {
      const { phone } = await user();
      const { phone: other } = await user();
      await phone.enrol();
      await other.enrol();
      const [first = '', second = ''] = phone.recoveryCodes;
      expect(await statusOf(other.answer(await other.challenge(), first))).toBe(401);
      expect(await statusOf(phone.answer(await phone.challenge(), first))).toBe(200);
      expect(expectFailure(await phone.answer(await phone.challenge(), first), 401)).toBe(WRONG_CODE);
      const typed = ` ${second.toUpperCase().replaceAll('-', ' ')}`;
      expect(await statusOf(phone.answer(await phone.challenge(), typed))).toBe(200);
    });

    it('takes a challenge once, only with a code of its user, and for five minutes', async () => {
      const { phone } = await user();
      const { phone: thief } = await user();
      await phone.enrol();
      await thief.enrol();
      expect(await statusOf(thief.answer(await phone.challenge(), await thief.nextCode()))).toBe(401);
      const challenge = await phone.challenge();
      expect(await statusOf(phone.answer(challenge, await phone.nextCode()))).toBe(200);
      expect(expectFailure(await phone.answer(challenge, await phone.nextCode()), 401)).toBe(WRONG_CHALLENGE);
      const late = await phone.challenge();
      const { expiresAt } = await rows(OneTimeToken).findOneByOrFail({});
      vi.useRealTimers();
      expect((expiresAt - Date.now()) / 60_000).toBeCloseTo(5, 0);
      const all = rows(OneTimeToken).createQueryBuilder();
      await all
        .update()
        .set({ expiresAt: Date.now() - 1 })
        .where('1 = 1')
        .execute();
      expect(expectFailure(await phone.answer(late, '123456'), 401)).toBe(WRONG_CHALLENGE);
    });

    it.each<[string, (id: number, phone: AuthenticatorApp) => Promise<unknown>]>([
      ['a new password', (id) => accounts().setPassword(id, OTHER_PASSWORD)],
      [
        'a deactivation',
        (id) =>
          accounts()
            .setActive(id, false)
            .then(() => accounts().setActive(id, true)),
      ],
      ['a new role', (id) => accounts().setRole(id, 'ADMIN')],
      ['the end of all sessions', (id) => accounts().endSessions(id)],
      ['a logout everywhere', (_, phone) => phone.logIn().then(() => phone.post('logout-all', {}))],
    ])('a challenge ends with %s, and the factor stays', async (_, change) => {
      const { phone, id } = await user();
      await phone.enrol();
      const challenge = await phone.challenge();
      await change(id as number, phone);
      expect(await statusOf(phone.answer(challenge, await phone.nextCode()))).toBe(401);
      expect(await app.app.get(SecondFactors, { strict: false }).isEnabled(id)).toBe(true);
    });

    it('a password that changes between the two steps leaves no session', async () => {
      const { phone, id } = await user();
      await phone.enrol();
      const change = () => accounts().setPassword(id, OTHER_PASSWORD);
      const challenge = await phone.challenge();
      const code = await phone.nextCode();
      // The change has ended the sessions before this one is stored, and ends the challenge after it was spent.
      beforeStatement(app, /INSERT INTO "?`?declarest_auth_session/, async () => {
        await app.users().update({ id: Number(id) }, { password: 'another hash' });
      });
      expect(await statusOf(phone.answer(challenge, code))).toBe(401);
      expect(await rows(AuthSession).countBy({ userId: String(id) })).toBe(0);
      vi.restoreAllMocks();
      await accounts().setPassword(id, PASSWORD);
      // While the challenge of a login with the old one is stored.
      beforeStatement(app, /INSERT INTO "?`?declarest_one_time_token/, change);
      expect(await statusOf(phone.login())).toBe(401);
    });

    it.each(['first', 'last'])(
      'a factor that is confirmed during a login leaves no session, with sessions %s',
      async (place) => {
        await app.close();
        const [factor, kept] = [secondFactor({ issuer: 'Shop' }), sessions()];
        app = await startAuth(platform, { auth: { plugins: place === 'first' ? [kept, factor] : [factor, kept] } });
        const { phone, id } = await user();
        beforeStatement(app, /INSERT INTO "?`?declarest_auth_session/, async () => void (await phone.enrol()));
        expect(await statusOf(phone.login())).toBe(401);
        expect(await rows(AuthSession).countBy({ userId: String(id) })).toBe(0);
      },
    );

    it('a deleted user has no factor: an id that is given again starts without one', async () => {
      const { phone, id } = await user();
      await phone.enrol();
      await phone.challenge();
      await phone.logIn();
      expect(
        await statusOf(
          request(app.url, 'DELETE', '/api/auth/me', { token: phone.token, json: { password: PASSWORD } }),
        ),
      ).toBe(204);
      expect([await rows(SecondFactor).count(), await rows(OneTimeToken).count()]).toEqual([0, 0]);
      expect(await app.app.get(SecondFactors, { strict: false }).remove(id)).toBe(false);
    });

    it('every other login has it too, and no token of a login without it is issued', async () => {
      const { phone, id } = await user();
      await phone.enrol();
      const linked = await app.post('/api/auth/link', { id: String(id) });
      expect([linked.status, Object.keys(linked.json.data)]).toEqual([200, ['mfaRequired', 'challenge']]);
      expect(await statusOf(phone.answer(linked.json.data.challenge, await phone.nextCode()))).toBe(200);
      // The challenge is no token of any kind.
      const { challenge } = (await phone.login()).json.data;
      expect(await statusOf(app.get('/api/auth/me', { token: challenge }))).toBe(401);
      expect(await statusOf(app.post('/api/auth/refresh', { refreshToken: challenge }))).toBe(401);
      // A factor that is confirmed while a login is under way.
      const late = await user();
      const { secret } = (await late.phone.post('mfa/enrol', { password: PASSWORD })).json.data;
      beforeStatement(app, /INSERT INTO "?`?declarest_auth_session/, async () => {
        await late.phone.post('mfa/confirm', { code: await late.phone.code(0, secret) });
      });
      expect(await statusOf(late.phone.login())).toBe(401);
    });

    it('runs the hooks of other plugins for both steps, and its own once', async () => {
      await app.close();
      const seen: string[] = [];
      let isRefused = false;
      const other: AuthPlugin = {
        name: 'other',
        beforeLogin(_services, _user, { login }) {
          seen.push(login ? 'second' : 'first');
          return isRefused ? { message: 'Wait' } : undefined;
        },
      };
      await start({}, { plugins: [other] });
      const { phone } = await user();
      await phone.enrol();
      seen.length = 0;
      const challenge = await phone.challenge();
      expect(seen).toEqual([]);
      isRefused = true;
      expect((await phone.answer(challenge, await phone.nextCode())).json).toEqual({ success: true, message: 'Wait' });
      expect(seen).toEqual(['second']);
    });
  });

  describe('guessing', () => {
    it('a challenge takes five codes, also at once', async () => {
      await start({}, { throttle: false });
      const { phone } = await user();
      await phone.enrol();
      const challenge = await phone.challenge();
      const guesses = await Promise.all(Array.from({ length: 12 }, () => phone.answer(challenge, '000000')));
      const messages = guesses.map((each) => expectFailure(each, 401));
      expect(messages.filter((each) => each === WRONG_CODE)).toHaveLength(5);
      expect(expectFailure(await phone.answer(challenge, await phone.nextCode()), 401)).toBe(WRONG_CHALLENGE);
    });

    it('failures count for the account, by all challenges and endpoints, and stop no other user', async () => {
      await start({}, { throttle: { tries: 6 } });
      const refused: unknown[] = [];
      app.app.get(AuthEvents, { strict: false }).on('factor.refused', ({ userId }) => void refused.push(userId));
      const { phone, id } = await user();
      const { phone: other } = await user();
      await phone.enrol();
      await other.enrol();
      await phone.logIn();
      const right = await phone.nextCode();
      for (const path of ['mfa/enrol', 'mfa/disable', 'mfa/codes'])
        expect(await statusOf(phone.post(path, { code: '000000' }))).toBe(401);
      for (let tries = 0; tries < 3; tries += 1)
        expect(await statusOf(phone.answer(await phone.challenge(), '000000'))).toBe(401);
      const stopped = await phone.answer(await phone.challenge(), right);
      expect([stopped.status, stopped.headers['retry-after']]).toEqual([429, '1']);
      expect(refused).toEqual(Array(6).fill(String(id)));
      await other.logIn();
    });
  });

  describe('tokens', () => {
    beforeEach(() => start());

    it('say when the factor was given, also after a refresh, and not before', async () => {
      const { phone } = await user();
      expect(Object.keys(payloadOf(phone.token))).toEqual(['sub', 'email', 'roles', 'sid', 'iat', 'exp']);
      await phone.enrol();
      const { token, refreshToken } = await phone.logIn();
      const { amr, auth_time, iat } = payloadOf(token);
      expect([amr, auth_time]).toEqual([['otp', 'mfa'], iat]);
      vi.setSystemTime(Date.now() + 600_000);
      const refreshed = await app.post('/api/auth/refresh', { refreshToken });
      const later = payloadOf(refreshed.json.data.token);
      expect([later.amr, later.auth_time, later.iat]).toEqual([amr, auth_time, iat + 600]);
    });

    it('rules can ask for the factor, and for a recent one', async () => {
      const send = (token?: string, id = 7, action = 'send') =>
        request(app.url, 'POST', `/api/payouts/${id}/${action}`, { json: {}, ...(token !== undefined && { token }) });
      const challengeOf = ({ status, headers, json }: Answer) => [status, headers['www-authenticate'], json];
      const required = refusal('Authentication required');
      const description = 'error_description="A second factor is required"';
      const insufficient = `Bearer error="insufficient_user_authentication", ${description}`;
      const { phone } = await user();
      expect(challengeOf(await send())).toEqual([401, 'Bearer', required]);
      expect(challengeOf(await send('x'))).toEqual([401, 'Bearer error="invalid_token"', required]);
      expect(challengeOf(await send(phone.token, 8))).toEqual([401, insufficient, required]);
      await phone.enrol();
      const { token, refreshToken } = await phone.logIn();
      for (const [id, action] of [
        [7, 'send'],
        [7, 'draft'],
        [8, 'send'],
      ] as const)
        expect(await statusOf(send(token, id, action))).toBe(201);
      vi.setSystemTime(Date.now() + 301_000);
      const old = [401, `${insufficient}, max_age="300"`, required];
      expect(challengeOf(await send(token))).toEqual(old);
      expect(await statusOf(send(token, 8))).toBe(201);
      // A refresh does not renew it: a login does.
      const { json } = await app.post('/api/auth/refresh', { refreshToken });
      expect(challengeOf(await send(json.data.token))).toEqual(old);
      expect(await statusOf(send((await phone.logIn()).token))).toBe(201);
      const report = app.app.get(AccessReport, { strict: false }).rows;
      expect(report.find(({ path }) => path === '/api/payouts/:id/draft')?.access).toBe('policy "second factor"');
    });
  });

  describe('`required`', () => {
    const REFUSED = [403, refusal('Second factor access required')];
    const get = (path: string, token: string) => app.get(path, { token });
    const answerOf = ({ status, json }: Answer) => [status, json];

    it('a token of such a role is good for the enrolment only, until a login has given the factor', async () => {
      await start({ required: ['ADMIN'] }, { plugins: [administration()], roleHierarchy: { OWNER: ['ADMIN'] } });
      for (const role of ['ADMIN', 'OWNER']) {
        const { phone, refreshToken } = await user(role);
        for (const token of [phone.token, (await app.post('/api/auth/refresh', { refreshToken })).json.data.token]) {
          expect(answerOf(await get('/api/orders', token))).toEqual(REFUSED);
          expect(answerOf(await get('/api/auth/users', token))).toEqual(REFUSED);
          expect(answerOf(await get('/api/auth/sessions', token))).toEqual(REFUSED);
          for (const path of ['logout-all', 'mfa/disable', 'mfa/codes'])
            expect(answerOf(await phone.post(path, { code: '000000' }, token))).toEqual(REFUSED);
          // On public routes it counts as none.
          expect(answerOf(await get('/who', token))).toEqual([200, { user: null }]);
          expect((await get('/api/auth/me', token)).json.data.user).toMatchObject({ email: phone.email, role });
          expect(await statusOf(request(app.url, 'HEAD', '/api/auth/me', { token }))).toBe(200);
          for (const spelling of ['/api/auth/%6De', '/api/auth/me/', '/API/auth/me', '/api/auth//me', '/api/auth/me;x'])
            expect([401, 403, 404]).toContain(await statusOf(get(spelling, token)));
        }
        const before = phone.token;
        await phone.enrol();
        // The tokens before have not given it.
        expect(answerOf(await get('/api/orders', before))).toEqual(REFUSED);
        await phone.logIn();
        for (const path of ['/api/orders', '/api/auth/users']) expect(await statusOf(get(path, phone.token))).toBe(200);
        expect((await get('/who', phone.token)).json.user).toMatchObject({ roles: [role] });
        const code = await phone.nextCode();
        expect(await statusOf(phone.post('mfa/disable', { code }))).toBe(204);
        const { token } = (await phone.login()).json.data;
        expect(answerOf(await get('/api/orders', token))).toEqual(REFUSED);
        expect(await statusOf(phone.post('logout', {}, token))).toBe(204);
      }
      const { phone } = await user();
      expect(await statusOf(get('/api/orders', phone.token))).toBe(200);
    });

    it('such a role is known, and not in another case', async () => {
      await start({ required: ['AUDITOR'] });
      const { id } = await user();
      await expect(accounts().setRole(id, 'auditor')).rejects.toThrow(/^role/);
      await accounts().setRole(id, 'AUDITOR');
      expect(app.logs.filter((line) => line.includes('AUDITOR'))).toEqual([]);
    });

    it('a user who gets the role does not use it by an older token', async () => {
      await start({ required: ['ADMIN'] }, { plugins: [administration()] });
      const { phone, id } = await user();
      await accounts().setRole(id, 'ADMIN');
      // The administration reads the role from the database.
      expect(answerOf(await get('/api/auth/users', phone.token))).toEqual(REFUSED);
      expect(await statusOf(get('/api/orders', phone.token))).toBe(200);
    });

    it('`USER` is every user, a new one and an administrator too', async () => {
      await start(
        { required: ['USER'] },
        {},
        {
          controllers: [PayoutsController],
          providers: [Rules],
          configure: (each) => void each.setGlobalPrefix('v1'),
        },
      );
      const json = { email: uniqueEmail(), password: PASSWORD };
      const { token } = (await request(app.url, 'POST', '/v1/api/auth/register', { json })).json.data;
      expect(answerOf(await get('/v1/api/auth/sessions', token))).toEqual(REFUSED);
      const boss = await accounts().create({ email: uniqueEmail(), password: PASSWORD, role: 'ADMIN' });
      const login = { email: boss.email, password: PASSWORD };
      const { data } = (await request(app.url, 'POST', '/v1/api/auth/login', { json: login })).json;
      expect(answerOf(await get('/v1/api/auth/sessions', data.token))).toEqual(REFUSED);
      expect(await statusOf(get('/v1/api/auth/me', token))).toBe(200);
      expect(
        await statusOf(request(app.url, 'POST', '/v1/api/auth/mfa/enrol', { json: { password: PASSWORD }, token })),
      ).toBe(200);
    });
  });

  it('a private key encrypts where there is no jwtSecret', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const key = { kid: 'one', alg: 'EdDSA', privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) };
    await start({}, { jwtSecret: undefined, jwtKeys: [key] } as Partial<AuthOptions>);
    const { phone } = await user();
    await phone.enrol();
    const { token } = await phone.logIn();
    expect(payloadOf(token)).toMatchObject({ amr: expect.arrayContaining(['mfa']) });
  });

  it('a secret that an earlier jwtSecret has encrypted is read, and encrypted again when it is used', async () => {
    const [earlier, later] = ['x'.repeat(40), 'y'.repeat(40)];
    await start({}, { jwtSecret: earlier });
    const { phone } = await user();
    await phone.enrol();
    const first = app;
    const { options } = first.app.get(DataSource);
    const restart = (jwtSecret: string | string[]) =>
      start({}, { jwtSecret }, { dataSource: { database: options.database } as object });
    await restart([later, earlier]);
    const answer = async (code: string) => phone.answer(await phone.challenge(app.url), code, app.url);
    expect(await statusOf(answer(await phone.nextCode()))).toBe(200);
    await app.close();
    await restart(later);
    expect(await statusOf(answer(await phone.nextCode()))).toBe(200);
    await app.close();
    // Recovery codes need no secret.
    await restart('z'.repeat(40));
    expect(await statusOf(answer(await phone.nextCode()))).toBe(401);
    expect(app.logs.join('\n')).toContain('was encrypted with another secret. Add the earlier one to jwtSecret or');
    expect(await statusOf(answer(phone.recoveryCodes[0] ?? ''))).toBe(200);
    await first.close();
  });
});

describe('startup', () => {
  it.each<[string, () => unknown, string]>([
    ['an unknown option', () => secondFactor({ rqeuired: ['ADMIN'] } as never), 'issuer, required'],
    [
      'an issuer with a colon',
      () => secondFactor({ issuer: 'a:b' }),
      'secondFactor option `issuer` must be a name without a colon',
    ],
    [
      'a required role without a name',
      () => secondFactor({ required: [''] }),
      'secondFactor option `required` must be an array of roles',
    ],
    ['an unknown option of a rule', () => hasFactor({ maxAge: 5 } as never), 'maxAgeMinutes'],
    [
      'an age of no time',
      () => hasFactor({ maxAgeMinutes: 0 }),
      '`maxAgeMinutes` must be a positive number of minutes',
    ],
  ])('refuses %s', (_, declare, part) => {
    expect(declare).toThrow(InvalidOptionError);
    expect(declare).toThrow(part);
  });

  it('refuses a data source without the tables', async () => {
    const { error } = await bootAuth('express', {
      auth: { plugins: [secondFactor()] },
      dataSource: { synchronize: false },
    });
    expect((error as Error).message).toMatch(
      /`secondFactor` must be used with the table declarest_second_factor of SecondFactor/,
    );
  });

  it('works without sessions', async () => {
    const app = await startAuth('express', { auth: { plugins: [secondFactor()] } });
    const email = uniqueEmail();
    const { token } = await app.register({ email });
    const phone = new AuthenticatorApp(app, email, token);
    await phone.enrol();
    expect(payloadOf((await phone.logIn()).token).amr).toEqual(['otp', 'mfa']);
    await app.close();
  });
});
