/** Passkeys as a second factor: the second step of other logins, alone and beside the codes of `secondFactor()`. */
import { Controller, Get } from '@nestjs/common';
import { type AuthOptions, SecurityConfig, OneTimeToken } from 'declarest';
import { passkeys } from 'declarest-logins/passkeys';
import { hasFactor, secondFactor } from 'declarest-logins/second-factor';
import { accountEndpoint, type AuthPlugin, Logins } from 'declarest/plugin';
import { DataSource } from 'typeorm';
import { type AuthApp, expectFailure, PASSWORD } from '../../auth/auth-app.js';
import { beforeStatement } from '../../auth/slow-statements.js';
import { type Answer, request } from '../../harness/client.js';
import { ONE_PLATFORM } from '../../harness/platforms.js';
import { DescribedApi, documentOf } from '../../openapi/described.js';
import { AuthenticatorApp, payloadOf } from '../authenticator-app.js';
import { accountsOf, ORIGIN, Person, RP_ID, startPasskeyApp } from './passkey-app.js';

const ASKED = passkeys({ rpId: RP_ID, origins: [ORIGIN], secondFactor: true });
const WRONG_CHALLENGE = 'This challenge is not valid, or was used before. Log in again';

/** Logs in the user with the id, as a mailed link would. */
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

@Controller('api/payouts')
class PayoutsController {
  @Get()
  get() {
    return {};
  }
}

class Rules extends SecurityConfig {
  configure(): void {
    this.requirePolicy('second factor', hasFactor(), '/api/payouts');
  }
}

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  let app: AuthApp;
  const start = async (plugins: AuthPlugin[] = [ASKED], auth: Partial<AuthOptions> = {}): Promise<void> => {
    const more = { controllers: [PayoutsController], providers: [Rules] };
    app = await startPasskeyApp(platform, { plugins, ...auth }, more);
  };
  afterEach(async () => {
    vi.useRealTimers();
    await app.close();
  });
  /** A user with a password and a passkey. */
  async function person(): Promise<Person> {
    const added = await new Person(app).registerByPassword();
    expect((await added.add()).status).toBe(201);
    return added;
  }
  const login = ({ email }: Person, password = PASSWORD): Promise<Answer> =>
    app.post('/api/auth/login', { email, password });
  const answer = (credential: object): Promise<Answer> => app.post('/api/auth/passkeys/challenge', { credential });
  const begin = async (who: Person) => {
    const { status, json } = await login(who);
    expect([status, json.data?.mfaRequired]).toEqual([200, true]);
    return json.data;
  };
  const payouts = async (token: string): Promise<number> =>
    (await request(app.url, 'GET', '/api/payouts', { token })).status;
  const challenges = () => app.app.get(DataSource, { strict: false }).getRepository(OneTimeToken);

  it('[2.9] [issue 18] a new passkey ends the other sessions, and the one that adds it goes on', async () => {
    await start();
    const who = await new Person(app).registerByPassword();
    const other = (await login(who)).json.data;
    const refresh = (refreshToken: string) => app.post('/api/auth/refresh', { refreshToken });
    expect((await who.add()).status).toBe(201);
    expect((await refresh(other.refreshToken)).status).toBe(401);
    expect((await who.list()).length).toBe(1);
    expect((await app.get('/api/auth/sessions', { token: who.token ?? '' })).json.data).toHaveLength(1);
  });

  it.each([
    ['first', [ASKED, secondFactor({ issuer: 'Shop' })]],
    ['last', [secondFactor({ issuer: 'Shop' }), ASKED]],
    ['alone', [ASKED]],
  ])('[2.9] [issue 18] a login that was running ends with a new passkey, %s in the list', async (_, plugins) => {
    await start(plugins);
    const who = await new Person(app).registerByPassword();
    beforeStatement(app, /INSERT INTO "?`?declarest_auth_session/, async () => void (await who.add()));
    const late = await login(who);
    vi.restoreAllMocks();
    expect(expectFailure(late, 401)).toBe('Log in again: a second factor was set up meanwhile');
    expect((await app.get('/api/auth/sessions', { token: who.token ?? '' })).json.data).toHaveLength(1);
    expect((await answer(who.device.get((await begin(who)).passkey))).status).toBe(200);
  });

  it('the right password is answered by a challenge, and the passkey logs in', async () => {
    await start();
    const ann = await person();
    const { status, json } = await login(ann);
    expect([status, json]).toEqual([
      200,
      {
        success: true,
        message: 'Use a passkey',
        data: {
          mfaRequired: true,
          challenge: expect.stringMatching(/^[\w-]{43}$/),
          passkey: expect.objectContaining({
            rpId: RP_ID,
            challenge: json.data.challenge,
            userVerification: 'required',
            allowCredentials: [expect.objectContaining({ id: ann.device.passkeys[0]?.id })],
          }),
        },
      },
    ]);
    expect(await challenges().find()).not.toEqual([expect.objectContaining({ hash: json.data.challenge })]);
    const loggedIn = await answer(ann.device.get(json.data.passkey));
    expect([loggedIn.status, loggedIn.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(loggedIn.json.data).toMatchObject({ user: { email: ann.email }, refreshToken: expect.any(String) });
    const { token, refreshToken } = loggedIn.json.data;
    expect(payloadOf(token)).toMatchObject({ amr: ['pop', 'mfa'], auth_time: expect.any(Number) });
    expect(await payouts(token)).toBe(200);
    const refreshed = (await app.post('/api/auth/refresh', { refreshToken })).json.data;
    expect(await payouts(refreshed.token)).toBe(200);
    expect(await challenges().count()).toBe(0);
  });

  it('a wrong password gets no challenge, and users without a passkey log in as before', async () => {
    await start();
    const ann = await person();
    expect(expectFailure(await login(ann, 'not the password'), 401)).toBe('Invalid credentials');
    const bob = await new Person(app).registerByPassword();
    const { json } = await login(bob);
    expect(json.data.token).toEqual(expect.any(String));
    expect(await payouts(json.data.token)).toBe(401);
  });

  it('a login by a passkey alone has given the factor', async () => {
    await start();
    const ann = await person();
    const { status, json } = await ann.logIn();
    expect([status, payloadOf(json.data.token).amr]).toEqual([200, ['pop', 'mfa']]);
    expect(await payouts(json.data.token)).toBe(200);
  });

  it('other logins need it too', async () => {
    await start([links, ASKED]);
    const ann = await person();
    const { json } = await app.post('/api/auth/link', { id: await ann.id() });
    expect(json.data.mfaRequired).toBe(true);
    expect((await answer(ann.device.get(json.data.passkey))).status).toBe(200);
  });

  it('without the option, nothing of it exists, and a passkey gives no factor', async () => {
    await start([passkeys({ rpId: RP_ID, origins: [ORIGIN] })]);
    const ann = await person();
    expect((await login(ann)).json.data.token).toEqual(expect.any(String));
    expect(await payouts((await ann.logIn()).json.data.token)).toBe(401);
    expect((await answer(await ann.assertion())).status).toBe(404);
  });

  describe('refuses', () => {
    beforeEach(() => start());

    it('the passkey of another user', async () => {
      const [ann, eve] = [await person(), await person()];
      const { passkey } = await begin(ann);
      const forged = eve.device.get({ ...passkey, allowCredentials: [] });
      expect(expectFailure(await answer(forged), 401)).toBe('Invalid credentials');
      // Not even with the handle of Ann.
      const stolen = { ...forged, response: { ...forged.response, userHandle: ann.device.passkeys[0]?.handle } };
      expect((await answer(stolen)).status).toBe(401);
      expect((await answer(ann.device.get(passkey))).status).toBe(200);
    });

    it('a challenge that was used, also at once', async () => {
      const ann = await person();
      const { passkey } = await begin(ann);
      const credential = ann.device.get(passkey);
      const all = await Promise.all(Array.from({ length: 5 }, () => answer(credential)));
      expect(all.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
      expect(expectFailure(await answer(ann.device.get(passkey)), 401)).toBe(WRONG_CHALLENGE);
    });

    it('challenges of other ceremonies, and this one elsewhere', async () => {
      const ann = await person();
      expect(expectFailure(await answer(await ann.assertion()), 401)).toBe(WRONG_CHALLENGE);
      expect(expectFailure(await answer(await ann.confirmation()), 401)).toBe(WRONG_CHALLENGE);
      const { passkey } = await begin(ann);
      const credential = ann.device.get(passkey);
      expect((await ann.post('passkeys/login', { credential })).status).toBe(401);
      expect((await ann.post('passkeys/options', { credential })).status).toBe(401);
      expect((await answer(credential)).status).toBe(200);
    });

    it('a challenge after 5 minutes, after a change of the password, and of a user who is deactivated', async () => {
      const ann = await person();
      const id = await ann.id();
      const late = await begin(ann);
      await challenges().update({ userId: id }, { expiresAt: Date.now() - 1 });
      expect((await answer(ann.device.get(late.passkey))).status).toBe(401);
      const before = await begin(ann);
      await accountsOf(app).setPassword(id, PASSWORD);
      expect((await answer(ann.device.get(before.passkey))).status).toBe(401);
      const open = await begin(ann);
      // A statement of the application, of which no hook is told.
      await app.users().update({ id: Number(id) }, { password: (await app.row({ id: Number(id) }))['password'] + 'x' });
      expect((await answer(ann.device.get(open.passkey))).status).toBe(401);
      await accountsOf(app).setPassword(id, PASSWORD);
      const last = await begin(ann);
      await accountsOf(app).setActive(id, false);
      expect((await answer(ann.device.get(last.passkey))).status).toBe(401);
    });

    it.each([
      [
        'a deactivation',
        async (id: string) => {
          await accountsOf(app).setActive(id, false);
          await accountsOf(app).setActive(id, true);
        },
      ],
      ['another role', (id: string) => accountsOf(app).setRole(id, 'EDITOR')],
      ['the end of all sessions', (id: string) => accountsOf(app).endSessions(id)],
    ] as [string, (id: string) => Promise<unknown>][])('a challenge before %s', async (_, change) => {
      const ann = await person();
      const { passkey } = await begin(ann);
      await change(await ann.id());
      expect(expectFailure(await answer(ann.device.get(passkey)), 401)).toBe(WRONG_CHALLENGE);
    });

    it('a login without user verification, and a passkey that was removed', async () => {
      const ann = await person();
      const { passkey } = await begin(ann);
      expect((await answer(ann.device.get(passkey, { flags: 0x01 }))).status).toBe(401);
      const [row] = await ann.list();
      expect((await ann.send('DELETE', `passkeys/${row?.id}`, { password: PASSWORD })).status).toBe(204);
      expect((await answer(ann.device.get(passkey))).status).toBe(401);
      expect((await login(ann)).json.data.token).toEqual(expect.any(String));
    });

    it('more than 5 tries of one challenge', async () => {
      const [ann, eve] = [await person(), await person()];
      const { passkey } = await begin(ann);
      const wrong = eve.device.get({ ...passkey, allowCredentials: [] });
      for (let tries = 0; tries < 5; tries += 1) expect((await answer(wrong)).status).toBe(401);
      expect(expectFailure(await answer(ann.device.get(passkey)), 401)).toBe(WRONG_CHALLENGE);
    });

    it('what cannot be an assertion, by 400', async () => {
      for (const body of [{}, { credential: 7 }, { credential: {} }, { credential: null, challenge: 'x' }])
        expectFailure(await app.post('/api/auth/passkeys/challenge', body));
    });
  });

  it('wrong passkeys are throttled for the account', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    await start([ASKED], { throttle: { tries: 2, accountTries: 100, addressTries: 1_000 } });
    const [ann, eve] = [await person(), await person()];
    const statuses: number[] = [];
    for (let tries = 0; tries < 4; tries += 1) {
      const { passkey } = await begin(ann);
      statuses.push((await answer(eve.device.get({ ...passkey, allowCredentials: [] }))).status);
    }
    expect(statuses).toEqual([401, 401, 429, 429]);
  });

  it.each([
    ['first', [ASKED, secondFactor({ issuer: 'Shop' })]],
    ['last', [secondFactor({ issuer: 'Shop' }), ASKED]],
  ])('beside secondFactor(), %s in the list, either of both logs in, once', async (_, plugins) => {
    await start(plugins);
    vi.useFakeTimers({ toFake: ['Date'] });
    const ann = await person();
    const phone = new AuthenticatorApp(app, ann.email, ann.token ?? '');
    await phone.enrol(undefined, { credential: await ann.confirmation() });
    const both = await begin(ann);
    expect(both.passkey.challenge).toBe(both.challenge);
    expect((await answer(ann.device.get(both.passkey))).status).toBe(200);
    expect((await phone.answer(both.challenge, await phone.nextCode())).status).toBe(401);
    const again = await begin(ann);
    const byCode = await phone.answer(again.challenge, await phone.nextCode());
    expect([byCode.status, payloadOf(byCode.json.data.token).amr]).toEqual([200, ['otp', 'mfa']]);
    expect((await answer(ann.device.get(again.passkey))).status).toBe(401);
    // A passkey alone is both steps.
    expect((await ann.logIn()).json.data.token).toEqual(expect.any(String));
    const bob = await person();
    const only = await begin(bob);
    expect((await phone.answer(only.challenge, '123456')).status).toBe(401);
    const carl = await new Person(app).registerByPassword();
    const hasCodes = new AuthenticatorApp(app, carl.email, carl.token ?? '');
    await hasCodes.enrol();
    expect((await login(carl)).json.data).toEqual({ mfaRequired: true, challenge: expect.any(String) });
  });

  it('a passkey is the factor of a role that requires one', async () => {
    await start([
      secondFactor({ issuer: 'Shop', required: ['USER'] }),
      passkeys({ rpId: RP_ID, origins: [ORIGIN], secondFactor: true }),
    ]);
    const ann = new Person(app);
    await ann.register();
    const list = (token: string) => request(app.url, 'GET', '/api/auth/passkeys', { token });
    expect((await list(ann.token ?? '')).status).toBe(403);
    expect((await list((await ann.logIn()).json.data.token)).status).toBe(200);

    // Who has none yet sets one up, by the token that is good for little else.
    const bob = await new Person(app).registerByPassword();
    expect((await list(bob.token ?? '')).status).toBe(403);
    expect((await bob.add()).status).toBe(201);
    expect((await list(bob.token ?? '')).status).toBe(403);
    expect((await list((await bob.logIn()).json.data.token)).status).toBe(200);
  });

  it('a passkey that is no factor is set up after one', async () => {
    await start([secondFactor({ issuer: 'Shop', required: ['USER'] }), passkeys({ rpId: RP_ID, origins: [ORIGIN] })]);
    const bob = await new Person(app).registerByPassword();
    const options = { password: PASSWORD };
    const sent = await request(app.url, 'POST', '/api/auth/passkeys/options', {
      token: bob.token ?? '',
      json: options,
    });
    expect([sent.status, sent.json]).toEqual([403, { error: 'Second factor access required' }]);
  });

  it('the document describes it', async () => {
    await start();
    const api = new DescribedApi(documentOf(app.app));
    const ann = await person();
    const asked = await login(ann);
    const answered = await answer(ann.device.get(asked.json.data.passkey));
    for (const [path, each] of [
      ['/api/auth/login', asked],
      ['/api/auth/passkeys/challenge', answered],
    ] as const)
      expect(api.wrongWith(api.find('POST', path)!, each)).toEqual([]);
  });
});
