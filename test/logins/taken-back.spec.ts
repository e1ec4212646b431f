/** A stranger who has registered with an address that nobody had verified, and its owner, who sets the password by a mail. */
import { mailedLinks, UserAccounts } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { secondFactor } from 'declarest-logins/second-factor';
import { expectFailure, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { Mailbox, mailsTo } from '../auth/mailbox.js';
import { beforeStatement } from '../auth/slow-statements.js';
import { request } from '../harness/client.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { AuthenticatorApp } from './authenticator-app.js';
import { browse, CLIENT, type IdentityProvider, startProvider } from './identity-provider.js';
import { type OidcApp, startOidc } from './oidc-app.js';

const MAIN = 'https://shop.example/login/main';

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  let app: OidcApp;
  let provider: IdentityProvider;
  beforeAll(async () => {
    provider = await startProvider([MAIN]);
    const providers = { main: { issuer: provider.issuer, ...CLIENT, redirectUris: [MAIN] } };
    app = await startOidc(
      platform,
      { providers },
      { plugins: [mailedLinks(), apiKeys()], auth: { mailer: { useClass: Mailbox } } },
    );
    provider.accounts.set('eve', { email: 'eve@elsewhere.example', email_verified: true });
    provider.accounts.set('ann', { email: 'ann@elsewhere.example', email_verified: true });
  });
  afterAll(async () => {
    await app.close();
    await provider.close();
  });

  const reset = async (email: string, password: string, count: number) => {
    await app.post('/api/auth/password/forgot', { email });
    const mails = (await mailsTo(email, count)).filter(({ kind }) => kind === 'reset');
    return (await app.post('/api/auth/password/reset', { token: mails.at(-1)?.token, password })).status;
  };
  const newKey = async (token: string, password = PASSWORD): Promise<string> =>
    (await app.post('/api/auth/keys', { password, name: 'backup' }, { token })).json.data.key;
  const userOf = async (token: string) => (await request(app.url, 'GET', '/who', { token })).json.user;

  it('the login at a provider and the key of the stranger end, and those of the owner stay', async () => {
    const email = uniqueEmail();
    const eve = await app.register({ email });
    expect((await app.link(eve.token, 'eve')).status).toBe(200);
    const strange = await newKey(eve.token);
    expect([await userOf(strange), (await app.logIn('eve')).status]).toEqual([expect.anything(), 200]);

    expect(await reset(email, 'the password of the owner', 1)).toBe(204);
    expect(await userOf(strange)).toBeNull();
    const another = await app.logIn('eve');
    expect(another.json.data?.user.id).not.toBe(eve.user['id']);

    const { token } = (await app.post('/api/auth/login', { email, password: 'the password of the owner' })).json.data;
    const own = await newKey(token, 'the password of the owner');
    // One mail tells of the change.
    expect(await reset(email, PASSWORD, 3)).toBe(204);
    expect(await userOf(own)).toMatchObject({ id: eve.user['id'] });
  });

  it('[issue 18] the second factor of the stranger ends, and that of the owner stays', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const plugins = [mailedLinks(), secondFactor()];
    const factors = await startAuth(platform, { auth: { plugins, mailer: { useClass: Mailbox }, sessions: true } });
    const send = (path: string, json: object) => request(factors.url, 'POST', `/api/auth/${path}`, { json });
    const email = uniqueEmail();
    const { token } = await factors.register({ email });
    await new AuthenticatorApp(factors, email, token).enrol();
    const resetTo = async (password: string, mails: number) => {
      await send('password/forgot', { email });
      const links = (await mailsTo(email, mails)).filter(({ kind }) => kind === 'reset');
      expect((await send('password/reset', { token: links.at(-1)?.token, password })).status).toBe(204);
      return (await send('login', { email, password })).json.data;
    };

    const owner = await resetTo('the password of the owner', 1);
    expect(owner).toHaveProperty('token');
    await new AuthenticatorApp(factors, email, owner.token).enrol(undefined, { password: 'the password of the owner' });
    expect(await resetTo(PASSWORD, 3)).toMatchObject({ mfaRequired: true });
    vi.useRealTimers();
    await factors.close();
  });

  it('[issue 18] a password that the application sets leaves keys and logins of the user', async () => {
    const email = uniqueEmail();
    const { user, token } = await app.register({ email });
    expect((await app.link(token, 'ann')).status).toBe(200);
    const key = await newKey(token);
    await app.app.get(UserAccounts).setPassword(Number(user['id']), 'a password of the support');
    expect(await userOf(key)).toMatchObject({ id: user['id'] });
    expect((await app.logIn('ann')).json.data?.user.id).toBe(user['id']);
  });

  it('a login is not linked when a reset of the password comes before it is stored', async () => {
    const email = uniqueEmail();
    const { token } = await app.register({ email });
    provider.accounts.set(email, { email, email_verified: false });
    const { url, verifier } = (await app.beginLink(token)).json.data;
    const response = { url: await browse(url, email), verifier };
    beforeStatement(app, /^INSERT INTO "declarest_external_identity"\(/, () => reset(email, 'another password', 1));
    expect(expectFailure(await app.finishLink(token, response), 401)).toBe('The login at the provider failed');
    vi.restoreAllMocks();
    expect(await app.identities(token)).toEqual([]);
  });
});
