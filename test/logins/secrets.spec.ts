/** Each secret that the package gives opens one door: at all others, it is refused as a text that was never given. */
import { apiKeys } from 'declarest-logins/api-keys';
import { secondFactor } from 'declarest-logins/second-factor';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { Mailbox, mailsTo } from '../auth/mailbox.js';
import { type Answer, request } from '../harness/client.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { AuthenticatorApp } from './authenticator-app.js';

const NEW_PASSWORD = 'another horse battery';

/** What takes a secret, by the kind that it takes. Keys are tokens too, but of no account: api-keys.spec.ts. */
type Door = (url: string, secret: string) => Promise<Answer>;
const post =
  (path: string, body: (secret: string) => object): Door =>
  (url, secret) =>
    request(url, 'POST', `/api/auth/${path}`, { json: body(secret) });
const DOORS: Readonly<Record<string, Door>> = {
  'access token': (url, token) => request(url, 'GET', '/who', { token }),
  'refresh token': post('refresh', (refreshToken) => ({ refreshToken })),
  'verification token': post('verify', (token) => ({ token })),
  'reset token': post('password/reset', (token) => ({ token, password: NEW_PASSWORD })),
  challenge: post('mfa/challenge', (challenge) => ({ challenge, code: '123456' })),
};

describe.each(ONE_PLATFORM)('secrets on %s', (platform) => {
  let app: AuthApp;
  const secrets = new Map<string, string>();

  beforeAll(async () => {
    app = await startAuth(platform, {
      auth: {
        sessions: true,
        passwordReset: true,
        requireVerified: true,
        mailer: { useClass: Mailbox },
        accountLinks: 'https://shop.example/account',
        throttle: false,
        plugins: [secondFactor(), apiKeys()],
      },
    });
    vi.useFakeTimers({ toFake: ['Date'] });
    const tokenIn = async (email: string, count: number): Promise<string> => {
      const mail = (await mailsTo(email, count)).at(-1);
      return new URL(mail?.link ?? '').hash.replace(/^#token=/, '');
    };
    const register = async (): Promise<string> => {
      const email = uniqueEmail();
      await app.post('/api/auth/register', { email, password: PASSWORD });
      return email;
    };
    secrets.set('verification token', await tokenIn(await register(), 1));
    const email = await register();
    await app.post('/api/auth/verify', { token: await tokenIn(email, 1) });
    const { json } = await app.post('/api/auth/login', { email, password: PASSWORD });
    const phone = new AuthenticatorApp(app, email, json.data.token);
    await phone.enrol();
    const { token, refreshToken } = await phone.logIn();
    secrets.set('access token', token).set('refresh token', refreshToken);
    const { json: made } = await app.post('/api/auth/keys', { password: PASSWORD, name: 'backup' }, { token });
    secrets.set('key', made.data.key).set('recovery code', phone.recoveryCodes[0] as string);
    await app.post('/api/auth/password/forgot', { email });
    secrets.set('reset token', await tokenIn(email, 2)).set('challenge', await phone.challenge());
    secrets.set('secret of the authenticator app', phone.secret);
  });
  afterAll(async () => {
    vi.useRealTimers();
    await app.close();
  });

  it.each(Object.entries(DOORS))('only the %s opens its endpoint', async (kind, open) => {
    expect(secrets.size).toBe(8);
    const refusal = async (secret: string) => {
      const { status, json } = await open(app.url, secret);
      return [status, json.user ?? null, json.data];
    };
    const unknown = await refusal('x'.repeat(43));
    const others = [...secrets].filter(
      ([other]) => ![kind, ...(kind === 'access token' ? ['key'] : [])].includes(other),
    );
    for (const [other, secret] of others) expect([other, await refusal(secret)]).toEqual([other, unknown]);
  });

  it('each still opens its own afterwards', async () => {
    const opened: [string, number][] = [];
    for (const [kind, open] of Object.entries(DOORS).filter(([kind]) => kind !== 'challenge'))
      opened.push([kind, (await open(app.url, secrets.get(kind) as string)).status]);
    expect(opened).toEqual([
      ['access token', 200],
      ['refresh token', 200],
      ['verification token', 204],
      ['reset token', 204],
    ]);
  });
});
