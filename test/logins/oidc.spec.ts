/** Logins at other providers, against two real servers of OpenID Connect. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { mailedLinks, UserAccounts, OneTimeToken } from 'declarest';
import { createClient } from 'declarest-client';
import { ExternalIdentity } from 'declarest-logins/oidc';
import type { AuthPlugin } from 'declarest/plugin';
import { ForbiddenException } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { expectFailure, PASSWORD, unique, uniqueEmail } from '../auth/auth-app.js';
import { REPOSITORY } from '../compiled.js';
import { blocksOf } from '../docs-blocks.js';
import { PLATFORMS } from '../harness/platforms.js';
import { browse, CLIENT, type IdentityProvider, startProvider } from './identity-provider.js';
import { BASE, type OidcApp, startOidc } from './oidc-app.js';

const MAIN = 'https://shop.example/login/main';
const PHONE = 'https://phone.shop.example/';
const OTHER = 'https://shop.example/login/other';
const FAILED = 'The login at the provider failed';
const NO_ACCOUNT = 'No account is linked to this login. Log in another way, and link it there';

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: OidcApp;
  let main: IdentityProvider;
  let other: IdentityProvider;
  let isRefused = false;
  /** What other plugins are asked before a login. */
  const asked: [id: unknown, isNew: boolean][] = [];
  const asking: AuthPlugin = {
    name: 'asking',
    beforeLogin(_services, { id }, { isNew }) {
      asked.push([id, isNew]);
      if (isRefused) throw new ForbiddenException('Not today');
      return undefined;
    },
  };

  beforeAll(async () => {
    // The one has the claims in the user info, the other in the ID token. Both would send users to all addresses.
    main = await startProvider([MAIN, PHONE, OTHER]);
    other = await startProvider([OTHER, MAIN], { conformIdTokenClaims: false });
    app = await startOidc(
      platform,
      {
        providers: {
          main: { issuer: main.issuer, ...CLIENT, redirectUris: [MAIN, PHONE] },
          other: { issuer: other.issuer, ...CLIENT, redirectUris: [OTHER] },
        },
      },
      { auth: { sessions: true }, plugins: [mailedLinks(), asking] },
    );
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([main.close(), other.close()]);
  });
  afterEach(() => {
    isRefused = false;
    asked.length = 0;
  });

  /** How many codes the provider was sent for tokens. */
  const exchanges = () => main.requests.filter((line) => line === 'POST /token').length;
  const table = <T extends object>(entity: new () => T) => app.app.get(DataSource).getRepository(entity);
  /** A user of a provider. @returns the subject */
  const member = (claims: object = {}, at = main): string => {
    const subject = unique('Sub');
    at.accounts.set(subject, { email: `${subject}@shop.example`, email_verified: true, ...claims });
    return subject;
  };
  const expectNothing = async (answer: Awaited<ReturnType<OidcApp['finish']>>, status = 401) =>
    expect(expectFailure(answer, status)).toBe(status === 401 ? FAILED : NO_ACCOUNT);

  it.each(['main', 'other'])('a first login at %s registers, and the next one is of the same user', async (name) => {
    const at = { main, other }[name]!;
    const subject = member({ given_name: 'Ann', family_name: 'x'.repeat(101) }, at);
    const email = `${subject.toLowerCase()}@shop.example`;
    const first = await app.logIn(subject, name);
    expect([first.status, first.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(first.json).toMatchObject({
      success: true,
      message: 'Registration successful',
      data: {
        user: { email, role: 'USER', firstName: 'Ann', lastName: null, active: true },
        token: expect.any(String),
      },
    });
    const again = await app.logIn(subject, name);
    const { id } = first.json.data.user;
    expect(again.json).toMatchObject({ message: 'Login successful', data: { user: { id, email }, refreshToken: /./ } });
    expect(asked).toEqual([
      [id, true],
      [id, false],
    ]);
    expect(await app.identities(again.json.data.token)).toEqual([
      { id: expect.stringMatching(/^[0-9a-f]{64}$/), provider: name, email, linkedAt: expect.stringMatching(/Z$/) },
    ]);
  });

  it('a user without a password cannot log in by any, until one is set', async () => {
    const { user } = (await app.logIn(member())).json.data;
    const { password: stored } = await app.row({ id: user.id });
    const login = (password: string) => app.post(`${BASE}/login`, { email: user.email, password });
    for (const password of [String(stored), 'undefined', ' ']) expectFailure(await login(password), 401);
    await app.app.get(UserAccounts, { strict: false }).setPassword(user.id, PASSWORD);
    expect((await login(PASSWORD)).status).toBe(200);
  });

  it('the address at the provider has a state, a nonce and a challenge, which the table does not tell', async () => {
    const { url, verifier } = await app.begin();
    const { searchParams } = new URL(url);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: CLIENT.clientId,
      response_type: 'code',
      scope: 'openid email profile',
      redirect_uri: MAIN,
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const rows = JSON.stringify(await table(OneTimeToken).find());
    for (const secret of [verifier, searchParams.get('state')!]) expect(rows).not.toContain(secret);
  });

  it.each([
    'https://evil.example/login/main',
    `${MAIN}/../evil`,
    `${MAIN}/%2e%2e/evil`,
    `${MAIN}#x`,
    `${MAIN}?x=1`,
    `${MAIN}x`,
  ])('the redirect URI %s is 400', async (redirectUri) => {
    expect(expectFailure(await app.post(`${BASE}/oidc/main`, { redirectUri }))).toMatch(/^redirectUri: expected one/);
  });

  it('a client may name any of the declared redirect URIs, and those of its provider only', async () => {
    const { url, verifier } = await app.begin('main', { redirectUri: PHONE });
    const response = await browse(url, member());
    expect(response).toMatch(/^https:\/\/phone/);
    expect((await app.finish({ url: response, verifier })).status).toBe(200);
    expectFailure(await app.post(`${BASE}/oidc/main`, { redirectUri: OTHER }));
  });

  it('a response counts once', async () => {
    const response = await app.respond(member());
    const before = exchanges();
    const answers = await Promise.all([1, 2, 3].map(() => app.finish(response)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
    await expectNothing(await app.finish(response));
    expect(exchanges() - before).toBe(1);
  });

  it('only the client that has begun a login can finish it', async () => {
    const [victim, thief] = [await app.respond(member()), await app.begin()];
    await expectNothing(await app.finish({ url: victim.url, verifier: thief.verifier }));
    await expectNothing(await app.finish({ url: victim.url, verifier: 'x' }));
    // The stranger has not spent it.
    expect((await app.finish(victim)).status).toBe(200);
  });

  it('a login ends 10 minutes after its begin', async () => {
    const response = await app.respond(member());
    const [{ expiresAt } = { expiresAt: 0 }] = await table(OneTimeToken).find({
      order: { expiresAt: 'DESC' },
      take: 1,
    });
    expect(Math.abs(expiresAt - Date.now() - 600_000)).toBeLessThan(10_000);
    await table(OneTimeToken).update({ purpose: 'oidc' }, { expiresAt: Date.now() - 1 });
    await expectNothing(await app.finish(response));
  });

  it('an ID token with another nonce is refused', async () => {
    const { url, verifier } = await app.begin();
    const forged = new URL(url);
    forged.searchParams.set('nonce', 'another');
    await expectNothing(await app.finish({ url: await browse(forged.href, member()), verifier }));
    expect(app.logs.join('\n')).toContain('The provider main sent an answer that is refused: OAUTH_JWT_CLAIM');
  });

  it('the code of another login is refused', async () => {
    const [victim, thief] = [await app.respond(member()), await app.respond(member())];
    const injected = new URL(thief.url);
    injected.searchParams.set('code', new URL(victim.url).searchParams.get('code')!);
    await expectNothing(await app.finish({ url: injected.href, verifier: thief.verifier }));
  });

  it('the response of another provider is refused, and its code stays here', async () => {
    const subject = member({}, other);
    const before = exchanges();
    // The provider "main" sends the user on to "other", with a state of its own.
    const mixUp = async (redirectUri: string) => {
      const { url, verifier } = await app.begin();
      const { search } = new URL(url);
      const forged = new URL(`${other.issuer}/auth${search}`);
      forged.searchParams.set('redirect_uri', redirectUri);
      return { url: await browse(forged.href, subject), verifier };
    };
    await expectNothing(await app.finish(await mixUp(OTHER)));
    await expectNothing(await app.finish(await mixUp(MAIN)));
    const without = await app.respond(member());
    await expectNothing(await app.finish({ ...without, url: without.url.replace(/&iss=[^&]*/, '') }));
    expect(exchanges()).toBe(before);
  });

  it.each<[string, (url: string) => string]>([
    ['at another host', (url) => url.replace('shop.example', 'evil.example')],
    ['at another path', (url) => url.replace('/login/main', '/login/main/')],
    ['with a fragment', (url) => `${url}#x`],
    ['with two states', (url) => `${url}&state=x`],
    ['with two codes', (url) => `${url}&code=x`],
    ['with two issuers', (url) => `${url}&iss=x`],
    ['without a state', (url) => url.replace('state=', 'x=')],
    ['without a code', (url) => url.replace('code=', 'x=')],
    ['that is an error', (url) => url.replace(/code=[^&]*/, 'error=access_denied')],
    ['that has an ID token', (url) => `${url}&id_token=x.y.z`],
  ])('a response %s is refused', async (_, change) => {
    const { url, verifier } = await app.respond(member());
    await expectNothing(await app.finish({ url: change(url), verifier }));
  });

  it('what cannot be a state needs no query', async () => {
    const query = vi.spyOn(app.app.get(DataSource), 'createQueryRunner');
    for (const state of ['x', 'x'.repeat(43), '\0', 'é'.repeat(43)]) {
      const url = `${MAIN}?${new URLSearchParams({ state, code: 'x' })}`;
      await expectNothing(await app.finish({ url, verifier: 'x' }));
    }
    expect(query).not.toHaveBeenCalled();
    query.mockRestore();
  });

  it.each<[string, object, number, RegExp]>([
    ['oidc/main', { redirectUri: MAIN, x: 1 }, 400, /x: not accepted/],
    ['oidc/main', { redirectUri: 5 }, 400, /redirectUri: expected well-formed text/],
    ['oidc/nobody', {}, 404, /^Provider with id nobody not found$/],
    ['oidc/__proto__', {}, 404, /not found/],
    ['oidc', {}, 400, /url: required; verifier: required/],
    ['oidc', { url: MAIN, verifier: 'x', state: 'x' }, 400, /state: not accepted/],
    ['oidc', { url: '/login/main?code=x', verifier: 'x' }, 400, /^url: expected the address/],
    ['oidc', { url: MAIN, verifier: 'x' }, 401, /failed/],
  ])('POST %s %o is %i', async (path, json, status, message) => {
    expect(expectFailure(await app.post(`${BASE}/${path}`, json), status)).toMatch(message);
  });

  it('failures at an address are counted', async () => {
    const counting = await startOidc(
      platform,
      { providers: { main: { issuer: main.issuer, ...CLIENT, redirectUris: [MAIN] } } },
      { auth: { throttle: { addressTries: 2 } } },
    );
    const statuses = async (count: number, path: string, json: object): Promise<number[]> => {
      const found: number[] = [];
      for (let tries = 0; tries < count; tries += 1) found.push((await counting.post(`${BASE}/${path}`, json)).status);
      return found;
    };
    expect(await statuses(3, 'oidc', { url: MAIN, verifier: 'x' })).toEqual([401, 401, 429]);
    expect(await statuses(21, 'oidc/main', {})).toEqual([...Array<number>(20).fill(200), 429]);
    await counting.close();
  });

  describe('an account with the same address', () => {
    it('is linked where both sides have verified it, in any case', async () => {
      const { id, email, token } = await app.createVerified();
      const subject = member({ email: email.toUpperCase() });
      const answer = await app.logIn(subject);
      expect([answer.status, String(answer.json.data.user.id)]).toEqual([200, id]);
      expect((await app.identities(token)).map((each) => each.email)).toEqual([email]);
      // The subject counts from then on, not the address.
      main.accounts.set(subject, { email: (await app.createVerified()).email, email_verified: true });
      expect(String((await app.logIn(subject)).json.data.user.id)).toBe(id);
    });

    it.each([[false], ['false'], ['true'], [1], [null], [undefined]])(
      'is not linked where the provider says %o, and nobody learns of it',
      async (isVerified) => {
        const { email, token } = await app.createVerified();
        await expectNothing(await app.logIn(member({ email, email_verified: isVerified })), 409);
        await expectNothing(await app.logIn(member({ email_verified: isVerified })), 409);
        expect(await app.identities(token)).toEqual([]);
      },
    );

    it('is not linked where its user has not verified it', async () => {
      const email = uniqueEmail();
      const { token } = await app.register({ email });
      await expectNothing(await app.logIn(member({ email })), 409);
      expect(await app.identities(token)).toEqual([]);
    });

    it('is not linked to a second user of the provider', async () => {
      const subject = member();
      const { token } = (await app.logIn(subject)).json.data;
      await expectNothing(await app.logIn(member({ email: `${subject}@shop.example` })), 409);
      // Another provider says the same of the same address.
      const elsewhere = member({ email: `${subject}@shop.example` }, other);
      expect((await app.logIn(elsewhere, 'other')).status).toBe(200);
      expect((await app.identities(token)).map(({ provider }) => provider)).toEqual(['main', 'other']);
    });

    it('is not used while its user is inactive', async () => {
      const subject = member();
      const { user } = (await app.logIn(subject)).json.data;
      await app.app.get(UserAccounts, { strict: false }).setActive(user.id, false);
      expect(expectFailure(await app.logIn(subject), 401)).toBe('Invalid credentials');
      await expectNothing(await app.logIn(member({ email: user.email }, other), 'other'), 409);
    });
  });

  it('the front end of docs/tasks/external-logins.md logs in', async () => {
    const text = await readFile(join(REPOSITORY, 'docs/tasks/external-logins.md'), 'utf8');
    const { text: code } = blocksOf({ path: '', text }).find(({ language }) => language === 'js')!;
    const location = { href: '', pathname: '/login/main', assign: (url: string) => (location.href = url) };
    const frontEnd = runInNewContext(`${code}; ({ beginLogin, finishLogin })`, {
      location,
      history: { replaceState: () => undefined },
      shop: createClient(`${app.url}/api`),
    });
    await frontEnd.beginLogin('main');
    location.href = await browse(location.href, member());
    expect(await frontEnd.finishLogin()).toMatchObject({ data: { token: expect.any(String) } });
  });

  it('a plugin that refuses a registration leaves nothing behind', async () => {
    const subject = member();
    isRefused = true;
    expect(expectFailure(await app.logIn(subject), 403)).toBe('Not today');
    expect(await app.users().countBy({ email: `${subject.toLowerCase()}@shop.example` })).toBe(0);
    expect(await table(ExternalIdentity).countBy({ subject })).toBe(0);
    isRefused = false;
    expect((await app.logIn(subject)).status).toBe(200);
  });
});
