/** What lasts longer than a session needs a fresh proof of its user, besides the token. */
import { AuthSession, sessions } from 'declarest';
import { waysIn } from 'declarest-logins/administration';
import { apiKeys } from 'declarest-logins/api-keys';
import { oidc } from 'declarest-logins/oidc';
import { passkeys } from 'declarest-logins/passkeys';
import { secondFactor } from 'declarest-logins/second-factor';
import { accountEndpoint, type AuthPlugin, Logins } from 'declarest/plugin';
import { DataSource } from 'typeorm';
import { type AuthApp, bootAuth, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { Mailbox } from '../auth/mailbox.js';
import { type Answer, request } from '../harness/client.js';
import { linesOf, ONE_PLATFORM } from '../harness/platforms.js';
import { AuthenticatorApp } from './authenticator-app.js';
import { Person } from './passkeys/passkey-app.js';

const URI = 'https://shop.example/login/github';
const STEP_UP =
  'Bearer error="insufficient_user_authentication", error_description="A recent login is required", max_age="300"';

/** Logs a user in by nothing but an id, as a provider's login does. */
const asked: AuthPlugin = {
  name: 'asked',
  endpoints: [
    accountEndpoint({
      name: 'logInAsAsked',
      route: 'POST asked',
      access: 'public',
      texts: { id: { type: 'string' } },
      summary: 'Log in',
      run: ({ get }, { body, request: sent }) => get(Logins).complete({ id: body.id }, sent),
    }),
  ],
};

const OTHERS: readonly AuthPlugin[] = [
  apiKeys(),
  secondFactor({ issuer: 'Shop' }),
  passkeys({ rpId: 'shop.example', origins: ['https://shop.example'], secondFactor: true }),
  oidc({ providers: { github: { type: 'github', clientId: 'a', clientSecret: 'b', redirectUris: [URI] } } }),
  asked,
];

/** What begins or creates something that lasts, and what a right request is answered with. */
const LASTING: Record<string, readonly [body: object, status: number]> = {
  keys: [{ name: 'backup' }, 201],
  'identities/github': [{}, 200],
  'mfa/enrol': [{}, 200],
  'passkeys/options': [{}, 200],
};

it('[2.9] [issue 18] each endpoint of the package that needs a token and changes something is listed here', () => {
  const changing = [sessions(), ...OTHERS, waysIn()]
    .flatMap(({ endpoints = [] }) => endpoints)
    .filter(({ access, route }) => access !== 'public' && !route.startsWith('GET '));
  expect(changing.flatMap(({ needsProof, route }) => (needsProof ? [route] : []))).toEqual([
    'POST keys',
    'POST mfa/enrol',
    'POST passkeys/options',
    'DELETE passkeys/:id',
    'POST identities/:id',
    'DELETE users/:id/ways-in/:kind/:way',
    'POST users/:id/keys',
  ]);
  expect(changing.flatMap(({ needsProof, route }) => (needsProof ? [] : [route]))).toEqual([
    'POST logout-all',
    'DELETE sessions/:id',
    // The present password is in the body.
    'POST password',
    'PATCH me',
    'DELETE me',
    'DELETE keys/:id',
    // They end what `mfa/enrol` has begun, or take a code.
    'POST mfa/confirm',
    'POST mfa/disable',
    'POST mfa/codes',
    'POST passkeys/confirm/options',
    // They end what was begun with a proof.
    'POST passkeys',
    'PATCH passkeys/:id',
    'POST identities',
    'DELETE identities/:id',
  ]);
});

it('[2.9] [issue 18] a factor of users whose address nobody verifies is one warning at startup', async () => {
  const key = passkeys({ rpId: 'shop.example', origins: ['https://shop.example'] });
  const warned = async (plugins: readonly AuthPlugin[], auth: object = {}): Promise<number> => {
    const { logs } = await bootAuth('express', { auth: { plugins, ...auth } });
    return linesOf(logs, 'warn').filter((line) => /no e-mail address is verified/.test(line)).length;
  };
  expect(await warned(OTHERS)).toBe(1);
  expect(await warned([secondFactor({ issuer: 'Shop' })])).toBe(1);
  expect(await warned([key])).toBe(0);
  expect(await warned(OTHERS, { mailer: { useClass: Mailbox }, passwordReset: true })).toBe(0);
  expect(await warned(OTHERS, { registration: false })).toBe(0);
  expect(await warned([secondFactor({ issuer: 'Shop' })], { loginMethod: 'username' })).toBe(0);
});

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  describe.each(['with sessions', 'without sessions'])('%s', (mode) => {
    const hasSessions = mode === 'with sessions';
    let app: AuthApp;
    beforeAll(async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      app = await startAuth(platform, {
        auth: { throttle: false, plugins: [...(hasSessions ? [sessions()] : []), ...OTHERS] } as never,
      });
    });
    afterAll(async () => {
      vi.useRealTimers();
      await app.close();
    });

    const send = (path: string, json: object, token: string | undefined): Promise<Answer> =>
      request(app.url, 'POST', `/api/auth/${path}`, { json, token: token ?? '' });
    const tried = async (path: string, proof: object, token: string | undefined): Promise<number> =>
      (await send(path, { ...LASTING[path]?.[0], ...proof }, token)).status;
    const contents = async (): Promise<unknown[]> => {
      const dataSource = app.app.get(DataSource, { strict: false });
      const tables = dataSource.entityMetadatas.filter(({ tableName }) => !/throttle|session/.test(tableName));
      const rows = tables.map(async ({ tableName }): Promise<{ purpose?: string }[]> =>
        dataSource.query(`SELECT * FROM ${tableName}`),
      );
      // The challenge of the proof itself is spent.
      return (await Promise.all(rows)).map((all) => all.filter(({ purpose }) => purpose !== 'passkey confirm'));
    };
    /** Neither nothing nor a wrong proof creates anything; the right one does. */
    const expectProof = async (
      path: string,
      token: string | undefined,
      right: () => Promise<object>,
      wrong: object,
    ) => {
      const before = await contents();
      const none = await send(path, LASTING[path]?.[0] ?? {}, token);
      expect([path, none.status]).toEqual([path, 400]);
      expect(none.json.message).toMatch(/^(password|code|credential): required/);
      expect([path, await tried(path, wrong, token)]).toEqual([path, 401]);
      const two = await send(
        path,
        { ...LASTING[path]?.[0], ...(await right()), password: PASSWORD, code: '123456' },
        token,
      );
      expect([path, two.status, two.json.message]).toEqual([
        path,
        400,
        expect.stringMatching(/: not accepted beside /),
      ]);
      expect(await contents()).toEqual(before);
      expect([path, await tried(path, await right(), token)]).toEqual([path, LASTING[path]?.[1]]);
    };
    const age = async (): Promise<void> => {
      if (hasSessions) {
        const repository = app.app.get(DataSource, { strict: false }).getRepository(AuthSession);
        await repository
          .createQueryBuilder()
          .update()
          .set({ createdAt: () => 'createdAt - 301000' })
          .execute();
      } else vi.setSystemTime(Date.now() + 301_000);
    };
    /** A user without a password, passkey and factor, who has just logged in. */
    const stranger = async () => {
      const { user } = await app.register({ email: uniqueEmail() });
      await app.users().update({ id: Number(user['id']) }, { password: '-' });
      return (await app.post('/api/auth/asked', { id: String(user['id']) })).json.data;
    };

    it.each(Object.keys(LASTING))('[2.9] [issue 18] POST %s needs the password of a user who has one', async (path) => {
      const { token } = await app.register({ email: uniqueEmail() });
      await expectProof(path, token, async () => ({ password: PASSWORD }), { password: 'not the password' });
    });

    it.each(Object.keys(LASTING))('[2.9] [issue 18] POST %s needs the passkey of a user who has one', async (path) => {
      const ann = new Person(app);
      await ann.register();
      const wrong = { credential: await ann.confirmation({ origin: 'https://evil.example' }) };
      await expectProof(path, ann.token, async () => ({ credential: await ann.confirmation() }), wrong);
    });

    it.each(Object.keys(LASTING))('[2.9] [issue 18] POST %s takes the code of an app', async (path) => {
      const email = uniqueEmail();
      const phone = new AuthenticatorApp(app, email, (await app.register({ email })).token);
      await phone.enrol();
      await phone.logIn();
      await expectProof(path, phone.token, async () => ({ code: await phone.nextCode() }), { code: '000000' });
      // A thief who knows the password too adds no factor of his own.
      const isFactor = LASTING[path]?.[1] === 200 && path !== 'identities/github';
      expect([path, await tried(path, { password: PASSWORD }, phone.token)]).toEqual([
        path,
        isFactor ? 400 : LASTING[path]?.[1],
      ]);
    });

    it.each(Object.keys(LASTING))('[2.9] [issue 18] POST %s needs a recent login of any other user', async (path) => {
      const { token, refreshToken } = await stranger();
      expect([path, await tried(path, {}, token)]).toEqual([path, LASTING[path]?.[1]]);
      await age();
      const before = await contents();
      const refused = await send(path, LASTING[path]?.[0] ?? {}, token);
      expect([path, refused.status, refused.json]).toEqual([path, 401, { error: 'Authentication required' }]);
      expect(refused.headers['www-authenticate']).toBe(STEP_UP);
      expect(await contents()).toEqual(before);
      if (!hasSessions) return;
      // A refresh is no login.
      const { json } = await app.post('/api/auth/refresh', { refreshToken });
      expect(await tried(path, {}, json.data.token)).toBe(401);
    });
  });
});
