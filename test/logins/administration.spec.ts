/** What lets other users in: administrators list it, revoke it, and create keys. */
import { AuthEvents, UserAccounts } from 'declarest';
import { waysIn } from 'declarest-logins/administration';
import { apiKeys } from 'declarest-logins/api-keys';
import { ExternalIdentity, oidc } from 'declarest-logins/oidc';
import { passkeys } from 'declarest-logins/passkeys';
import { secondFactor } from 'declarest-logins/second-factor';
import type { AuthPlugin } from 'declarest/plugin';
import { DataSource } from 'typeorm';
import { type AuthApp, expectFailure, PASSWORD, startAuth, unique, uniqueEmail } from '../auth/auth-app.js';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { refusal } from '../harness/refusal.js';
import { DescribedApi, documentOf } from '../openapi/described.js';
import { AuthenticatorApp, payloadOf } from './authenticator-app.js';
import { keyOf, logIn, type Owner } from './keyed-app.js';
import { ORIGIN, Person, RP_ID } from './passkeys/passkey-app.js';

const GITHUB = {
  type: 'github',
  clientId: 'a',
  clientSecret: 'b',
  redirectUris: ['https://shop.example/login'],
} as const;

/** The doors that a badge of a user opens. */
const badges = new Map<string, string>();
const doors: AuthPlugin = {
  name: 'doors',
  waysIn: () => ({
    kind: 'badge',
    list: async (userId) => [...badges].filter(([, owner]) => owner === userId).map(([id]) => ({ id })),
    revoke: async (userId, id) => badges.get(id) === userId && badges.delete(id),
  }),
};

interface Way {
  readonly userId: string;
  readonly id: string;
  /** Of a login of the user. */
  readonly token: string | undefined;
  works(): Promise<boolean>;
}

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: AuthApp;
  let api: DescribedApi;
  let boss: Owner;
  const events: object[] = [];
  beforeAll(async () => {
    app = await startAuth(platform, {
      auth: {
        sessions: true,
        administration: true,
        throttle: false,
        roleHierarchy: { OWNER: ['ADMIN'], ADMIN: ['EDITOR'] },
        plugins: [
          apiKeys(),
          secondFactor({ issuer: 'Shop' }),
          passkeys({ rpId: RP_ID, origins: [ORIGIN] }),
          oidc({ providers: { github: GITHUB } }),
          doors,
          waysIn(),
        ],
      },
    });
    api = new DescribedApi(documentOf(app.app));
    for (const name of ['wayIn.created', 'wayIn.revoked'] as const)
      app.app.get(AuthEvents, { strict: false }).on(name, ({ at: _at, ...event }) => void events.push(event));
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    boss = await logIn(app, 'ADMIN');
    events.length = 0;
  });
  afterEach(() => void vi.useRealTimers());

  /** Each answer must be as the document says. */
  const send = async (method: string, path: string, options: RequestOptions = {}): Promise<Answer> => {
    const url = `/api/auth/users/${path}`;
    const answer = await request(app.url, method, url, { token: boss.token, ...options });
    const operation = api.find(method, url);
    expect(operation ? api.wrongWith(operation, answer) : `no operation is ${method} ${url}`).toEqual([]);
    return answer;
  };
  const list = async (userId: string): Promise<{ id: string; kind: string }[]> =>
    (await send('GET', `${userId}/ways-in`)).json.data;
  const revoke = (userId: unknown, kind: string, id: string, proof: object = { password: PASSWORD }, token?: string) =>
    send('DELETE', `${String(userId)}/ways-in/${kind}/${id}`, { json: proof, ...(token !== undefined && { token }) });
  const statusOfMe = async (token: string | undefined) =>
    (await app.get('/api/auth/me', { token: token ?? '' })).status;

  const WAYS: Record<string, () => Promise<Way>> = {
    async key() {
      const ann = await logIn(app);
      const key = await keyOf(app, ann);
      const { json } = await app.get('/api/auth/keys', ann);
      const works = async () => (await app.get('/who', { token: key })).json.user !== null;
      return { userId: String(ann.id), id: json.data[0].id, token: ann.token, works };
    },
    async session() {
      const ann = await app.register({ email: uniqueEmail() });
      let { refreshToken } = ann as unknown as { refreshToken: string };
      const works = async () => {
        const { status, json } = await app.post('/api/auth/refresh', { refreshToken });
        if (status === 200) ({ refreshToken } = json.data);
        return status === 200;
      };
      return { userId: String(ann.user['id']), id: payloadOf(ann.token).sid, token: ann.token, works };
    },
    // The last way to log in of a user without a password.
    async passkey() {
      const ann = new Person(app);
      await ann.register();
      const { token } = ann;
      const [passkey] = await ann.list();
      expectFailure(await ann.send('DELETE', `passkeys/${passkey!.id}`, { credential: await ann.confirmation() }), 409);
      return { userId: await ann.id(), id: passkey!.id, token, works: async () => (await ann.logIn()).status === 200 };
    },
    async factor() {
      const ann = await logIn(app);
      const phone = new AuthenticatorApp(app, ann.email, ann.token);
      await phone.enrol();
      const { token } = await phone.logIn();
      const works = async () => (await phone.login()).json.data.mfaRequired === true;
      return { userId: String(ann.id), id: 'app', token, works };
    },
    // Another one: only a factor or a password lets the user in besides.
    async identity() {
      const ann = await logIn(app);
      const id = unique('identity');
      const table = app.app.get(DataSource).getRepository(ExternalIdentity);
      const { issuer, subject } = { issuer: 'https://github.com/login/oauth', subject: id };
      const row = { id, userId: String(ann.id), provider: 'github', issuer, subject, email: null, isLinked: true };
      await table.insert({ ...row, linkedAt: Date.now() });
      await app.users().update({ id: ann.id }, { password: '-' });
      expectFailure(await request(app.url, 'DELETE', `/api/auth/identities/${id}`, ann), 409);
      const works = async () => (await table.findOneByOrFail({ id })).isLinked;
      return { userId: String(ann.id), id, token: ann.token, works };
    },
    async badge() {
      const ann = await logIn(app);
      const id = unique('badge');
      badges.set(id, String(ann.id));
      return { userId: String(ann.id), id, token: ann.token, works: async () => badges.has(id) };
    },
  };

  it.each(Object.keys(WAYS))('a %s of another user is listed, and revoked', async (kind) => {
    const { userId, id, token, works } = await WAYS[kind]!();
    const ofKind = async () => (await list(userId)).filter((each) => each.kind === kind);
    const [way, ...others] = await ofKind();
    expect([way, others]).toEqual([expect.objectContaining({ kind, id }), []]);
    expect(Object.keys(way!).filter((name) => /hash|secret|token|code|handle|publicKey/i.test(name))).toEqual([]);
    expect([await works(), await statusOfMe(token)]).toEqual([true, 200]);
    // Neither without a proof of the administrator, nor as one of another user.
    expect((await revoke(userId, kind, id, {})).json.fields).toEqual({ password: expect.stringContaining('required') });
    expect(expectFailure(await revoke(userId, kind, id, { password: 'not the password' }), 401)).toMatch(/^Invalid/);
    expectFailure(await revoke(boss.id, kind, id), 404);
    expectFailure(await revoke(userId, kind, 'x'), 404);
    expectFailure(await revoke(userId, 'door', id), 404);
    expect([await works(), await statusOfMe(token), events]).toEqual([true, 200, []]);
    const answer = await revoke(userId, kind, id);
    expect([answer.status, answer.headers['cache-control']]).toEqual([204, 'no-store']);
    expect([await works(), await ofKind()]).toEqual([false, []]);
    // What the way in has opened ends with it.
    expect(await statusOfMe(token)).toBe(kind === 'key' ? 200 : 401);
    expectFailure(await revoke(userId, kind, id), 404);
    expect(events).toEqual([{ name: 'wayIn.revoked', userId, kind, id, by: String(boss.id) }]);
  });

  it('a user sees and revokes nothing of others, and only who has a role above ADMIN manages it', async () => {
    const [ann, owner] = [await logIn(app), await logIn(app, 'OWNER')];
    const { userId, id, works } = await WAYS['badge']!();
    badges.set('of-owner', String(owner.id));
    const create = (of: unknown, token: string) =>
      send('POST', `${String(of)}/keys`, { token, json: { name: 'x', password: PASSWORD } });
    for (const answer of [
      await send('GET', `${userId}/ways-in`, ann),
      await revoke(userId, 'badge', id, { password: PASSWORD }, ann.token),
      await create(userId, ann.token),
    ])
      expect([answer.status, answer.json]).toEqual([403, refusal('Admin access required')]);
    expect((await request(app.url, 'GET', `/api/auth/users/${userId}/ways-in`)).status).toBe(401);
    for (const answer of [
      await send('GET', `${owner.id}/ways-in`),
      await revoke(owner.id, 'badge', 'of-owner'),
      await create(owner.id, boss.token),
    ])
      expect([answer.status, answer.json]).toEqual([403, refusal('Owner access required')]);
    expect([await works(), badges.has('of-owner'), events]).toEqual([true, true, []]);
    expect((await send('GET', `${owner.id}/ways-in`, owner)).status).toBe(200);
    for (const answer of [
      await send('GET', '999999/ways-in'),
      await revoke('999999', 'badge', id),
      await create('999999', boss.token),
    ])
      expect(expectFailure(answer, 404)).toBe('User with id 999999 not found');
  });

  it('[2.9] an administrator with a factor revokes by its code only', async () => {
    const { userId, id, works } = await WAYS['badge']!();
    const phone = new AuthenticatorApp(app, boss.email, boss.token);
    await phone.enrol();
    const { token } = await phone.logIn();
    expect((await revoke(userId, 'badge', id, { password: PASSWORD }, token)).json.message).toBe('code: required');
    expect(await works()).toBe(true);
    expect((await revoke(userId, 'badge', id, { code: await phone.nextCode() }, token)).status).toBe(204);
  });

  describe('a key of a partner', () => {
    const create = (userId: unknown, body: object = {}) =>
      send('POST', `${String(userId)}/keys`, { json: { name: 'import', password: PASSWORD, ...body } });

    it('has roles of the partner and an end, and is the partner’s own', async () => {
      const partner = await logIn(app, 'EDITOR');
      const { status, json } = await create(partner.id, { roles: ['EDITOR'], expiresAt: '2999-01-31T09:30:00Z' });
      const { key, ...view } = json.data;
      expect([status, view]).toMatchObject([201, { roles: ['EDITOR'], expiresAt: '2999-01-31T09:30:00.000Z' }]);
      expect((await app.get('/who', { token: key })).json.user).toMatchObject({
        id: partner.id,
        roles: ['EDITOR', 'KEY'],
      });
      // Its last use is stored behind the answer.
      const { lastUsedAt: _used, ...shown } = view;
      expect((await app.get('/api/auth/keys', partner)).json.data).toEqual([expect.objectContaining(shown)]);
      expect(await list(String(boss.id))).not.toContainEqual(expect.objectContaining({ kind: 'key' }));
      expect(events).toEqual([
        { name: 'wayIn.created', userId: String(partner.id), kind: 'key', id: view.id, by: String(boss.id) },
      ]);
    });

    it('[2.9] has no role of the administrator, and none without a proof or for an inactive partner', async () => {
      const partner = await logIn(app);
      const wider = await create(partner.id, { roles: ['ADMIN'] });
      expect([wider.status, wider.json.fields]).toEqual([
        400,
        { roles: 'expected an array of roles of the user (USER)' },
      ]);
      expect((await create(partner.id, { password: undefined })).json.message).toBe('password: required');
      expect((await create(partner.id, { password: 'not the password' })).status).toBe(401);
      await app.app.get(UserAccounts, { strict: false }).setActive(partner.id, false);
      expect(expectFailure(await create(partner.id), 409)).toBe('This user is not active');
      expect([await list(String(partner.id)), events]).toEqual([[], []]);
    });
  });
});

it('without apiKeys, no administrator creates a key, and only what the application has is listed', async () => {
  const app = await startAuth('express', { auth: { administration: true, plugins: [waysIn()] } });
  const boss = await logIn(app, 'ADMIN');
  const json = { name: 'x', password: PASSWORD };
  expect((await app.post(`/api/auth/users/${boss.id}/keys`, json, boss)).status).toBe(404);
  expect((await app.get(`/api/auth/users/${boss.id}/ways-in`, boss)).json).toEqual({ success: true, data: [] });
  await app.close();
});
