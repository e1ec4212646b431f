/** externalTokens(): tokens of another issuer beside those of AuthModule. */
import { externalTokens, type ExternalTokensOptions, fromRequest, UserAccounts } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { jwks } from 'declarest-logins/jwks';
import type { AuthPlugin } from 'declarest/plugin';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { PLATFORMS } from '../harness/platforms.js';
import { claims, makeToken } from '../harness/tokens.js';
import { AUDIENCE, type Issuer, startIssuer } from './issuer.js';

describe.each(PLATFORMS)('on %s', (platform) => {
  let issuer: Issuer;
  let app: AuthApp;
  const links = new Map<string, string>();
  beforeEach(async () => {
    issuer = await startIssuer();
  });
  afterEach(() => app?.close());

  const start = async (options: Partial<ExternalTokensOptions> = {}, more: AuthPlugin[] = []) => {
    const plugin = externalTokens({
      authenticate: jwks({ issuer: issuer.issuer, audience: AUDIENCE }),
      userOf: ({ id }, { users }) => users.findById(links.get(String(id)) ?? ''),
      ...options,
    });
    app = await startAuth(platform, { auth: { plugins: [plugin, ...more], administration: true } });
    const email = uniqueEmail();
    const user = await app.app
      .get(UserAccounts, { strict: false })
      .create({ email, password: PASSWORD, role: 'ADMIN' });
    links.set('external', String(user.id));
    return user;
  };
  const status = async (path: string, token: string) => (await app.get(path, { token })).status;
  const both = async (token: string) => [await status('/api/auth/me', token), await status('/api/auth/users', token)];

  it('a token stands for the stored user, with the stored role, while the user is active', async () => {
    const user = await start();
    const token = await issuer.sign({ sub: 'external', roles: ['OWNER'] });
    expect(await both(token)).toEqual([200, 200]);
    expect((await app.get('/api/auth/me', { token })).json.data.user.id).toBe(user.id);
    const accounts = app.app.get(UserAccounts, { strict: false });
    await accounts.setRole(user.id, 'USER');
    expect(await both(token)).toEqual([200, 403]);
    await accounts.setActive(user.id, false);
    expect(await both(token)).toEqual([401, 401]);
    const refused = await app.get('/api/auth/users', { token });
    expect(refused.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
  });

  it('tokens of two issuers stand for users', async () => {
    const other = await startIssuer();
    const sources = [issuer, other].map((each) => jwks({ issuer: each.issuer, audience: AUDIENCE }));
    await start({ authenticate: sources });
    for (const each of [issuer, other]) expect(await both(await each.sign({ sub: 'external' }))).toEqual([200, 200]);
    expect(await both(await other.sign({ sub: 'external', iss: issuer.issuer }))).toEqual([401, 401]);
  });

  it('a token of another issuer never counts as one of ours, and the other way round', async () => {
    const user = await start();
    // The id of a stored user as the subject of another issuer.
    expect(await both(await issuer.sign({ sub: String(user.id), roles: ['ADMIN'] }))).toEqual([401, 401]);
    const own = claims({ sub: String(user.id), roles: ['ADMIN'], iss: issuer.issuer, aud: AUDIENCE });
    expect(await both(makeToken({ payload: own }))).toEqual([200, 200]);
    // Signed by us, for a subject of theirs.
    expect(await both(makeToken({ payload: { ...own, sub: 'external' } }))).toEqual([401, 401]);
    expect(await both(makeToken({ payload: own, secret: 'another secret of more than 32 bytes, at least' }))).toEqual([
      401, 401,
    ]);
  });

  it('tokens of another issuer and API keys are accepted side by side', async () => {
    await start({}, [apiKeys()]);
    const external = await issuer.sign({ sub: 'external' });
    // The issuer cannot end the key.
    const forever = await app.post('/api/auth/keys', { password: PASSWORD, name: 'backup' }, { token: external });
    expect([forever.status, forever.json]).toEqual([400, expect.objectContaining({ message: 'expiresAt: required' })]);
    const unset = await app.post(
      '/api/auth/keys',
      { password: PASSWORD, name: 'backup', expiresAt: null },
      { token: external },
    );
    expect([unset.status, unset.json.message]).toEqual([400, expect.stringMatching(/^expiresAt: /)]);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const { json } = await app.post(
      '/api/auth/keys',
      { password: PASSWORD, name: 'backup', expiresAt },
      { token: external },
    );
    expect(json.data.key).toMatch(/^dk_/);
    expect(await Promise.all([status('/who', json.data.key), status('/who', external)])).toEqual([200, 200]);
    // A key opens no account endpoint.
    expect([await both(external), await both(json.data.key)]).toEqual([
      [200, 200],
      [403, 403],
    ]);
    expect(await both(`${json.data.key}x`)).toEqual([401, 401]);
  });

  it('the application is not asked for the user of an API key', async () => {
    const asked: unknown[] = [];
    const authenticate: ExternalTokensOptions['authenticate'] = ({ headers }) => {
      asked.push(headers.authorization);
      throw new Error('away');
    };
    const user = await start({ authenticate }, [apiKeys()]);
    const login = await app.post('/api/auth/login', { email: user.email, password: PASSWORD });
    const { json } = await app.post(
      '/api/auth/keys',
      { password: PASSWORD, name: 'backup' },
      { token: login.json.data.token },
    );
    const who = await app.get('/who', { token: json.data.key });
    expect([who.json.user, asked]).toEqual([expect.objectContaining({ id: user.id }), []]);
    expect(await status('/api/auth/me', 'foreign')).toBe(503);
    expect(asked).toEqual(['Bearer foreign']);
  });

  it('logins by password go on while the key server is away', async () => {
    const user = await start();
    const token = await issuer.sign({ sub: 'external' });
    await issuer.close();
    expect(await both(token)).toEqual([503, 503]);
    const login = await app.post('/api/auth/login', { email: user.email, password: PASSWORD });
    expect(login.status).toBe(200);
    expect(await both(login.json.data.token)).toEqual([200, 200]);
    await issuer.reopen();
    // It is asked again when `Retry-After` is over.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6_000 });
    expect(await both(token)).toEqual([200, 200]);
    vi.useRealTimers();
  });

  it('tokens of AuthModule are passed neither to authenticate nor to userOf', async () => {
    const away = () => Promise.reject(new Error('away'));
    const user = await start({ authenticate: away, userOf: away });
    expect(await both(makeToken({ payload: claims({ sub: String(user.id), roles: ['ADMIN'] }) }))).toEqual([200, 200]);
    expect(await both('x')).toEqual([503, 503]);
  });

  it('a lookup that throws is 503', async () => {
    await start({ userOf: () => Promise.reject(new Error('away')) });
    expect(await both(await issuer.sign({ sub: 'external' }))).toEqual([503, 503]);
  });
});

const EXAMPLE = { issuer: 'https://login.example', audience: AUDIENCE };

it.each<[what: string, options: object, sentence: RegExp]>([
  ['no source', { userOf: () => null }, /externalTokens option `authenticate` must be a function/],
  [
    'no function',
    { authenticate: () => undefined },
    /externalTokens option `userOf` must be a function, got undefined/,
  ],
  ['fromRequest()', { authenticate: fromRequest(() => null), userOf: () => null }, /must read the token itself/],
  [
    'tokens in a cookie',
    {
      authenticate: [jwks(EXAMPLE), jwks({ ...EXAMPLE, credential: { in: 'cookie', name: 'token' } })],
      userOf: () => null,
    },
    /externalTokens option `authenticate` must be a source of bearer tokens, got one with `credential`/,
  ],
  ['an unknown option', { authenticate: () => undefined, userOf: () => null, roles: [] }, /got "roles"/],
])('refuses %s by one sentence', (_what, options, sentence) => {
  expect(() => externalTokens(options as never)).toThrow(sentence);
});
