/** Logins with a second factor, and rules that ask for one, through the client and the providers. */
import { Controller, Post } from '@nestjs/common';
import { SecurityConfig } from 'declarest';
import { hasFactor, secondFactor } from 'declarest-logins/second-factor';
import { type Client, createClient, Failure } from 'declarest-client';
import * as reactAdmin from 'ra-data-declarest';
import * as refine from 'refine-declarest';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { AuthenticatorApp } from '../logins/authenticator-app.js';
import { PASSKEYS } from '../logins/passkeys/passkey-app.js';
import { recordedOptions, type RecordedOptions } from './admin-service.js';

interface Step {
  readonly challenge: string;
  readonly code: string;
}
type Params = { readonly email: string; readonly password: string } | Step | { readonly passkey: true };

interface Refused {
  readonly message: string;
  readonly status: number;
  readonly needsFactor: boolean;
  /** Whether the front end logs out after it. */
  readonly logsOut: boolean;
}

/** What all of them do, by the same names. */
interface FrontEnd {
  /** @returns the challenge of a login that needs a code, or the message of a failure */
  login: (params: Params) => Promise<{ challenge?: unknown; message?: string | undefined }>;
  isLoggedIn: () => Promise<boolean>;
  payOut: () => Promise<Refused | undefined>;
  readonly client: Client;
}

type Open = (api: string, options: Pick<RecordedOptions, 'fetch' | 'storage'>) => FrontEnd;

const SEND_CODE = 'Send a code of the second factor';
const messageOf = (error: unknown) => ({ message: (error as Error).message });

/** What a call fails with. */
async function refusal<E>(call: Promise<unknown>, describe: (error: E) => Refused | Promise<Refused>) {
  try {
    await call;
    return undefined;
  } catch (error) {
    return describe(error as E);
  }
}

const openClient: Open = (api, options) => {
  const client = createClient(api, options);
  const enter = async (params: Params) => {
    if ('passkey' in params) return client.loginByPasskey();
    return 'code' in params ? client.answerChallenge(params.challenge, params.code) : client.login(params);
  };
  return {
    login: (params) => enter(params).then(({ data }) => ({ challenge: data.challenge }), messageOf),
    isLoggedIn: async () => (await client.claims()) !== undefined,
    payOut: () =>
      refusal<Failure>(client.request('POST', 'payouts'), ({ message, status, needsFactor, needsLogin }) => ({
        message,
        status,
        needsFactor,
        logsOut: needsLogin,
      })),
    client,
  };
};

const openReactAdmin: Open = (api, options) => {
  const [auth, data] = [reactAdmin.authProvider(api, options), reactAdmin.dataProvider(api, options)];
  return {
    login: (params) =>
      auth.login(params).then(
        () => ({}),
        (error: reactAdmin.ChallengeError) => {
          if (error.challenge) expect([error.message, error.status]).toEqual([SEND_CODE, 401]);
          return error.challenge ? { challenge: error.challenge } : messageOf(error);
        },
      ),
    isLoggedIn: () =>
      auth.checkAuth({}).then(
        () => true,
        () => false,
      ),
    payOut: () =>
      refusal<Refused>(data.custom('payouts', { method: 'POST' }), async (error) => ({
        message: error.message,
        status: error.status,
        needsFactor: error.needsFactor,
        logsOut: await auth.checkError(error).then(
          () => false,
          () => true,
        ),
      })),
    client: auth.client,
  };
};

const openRefine: Open = (api, options) => {
  const [auth, data] = [refine.authProvider(api, options), refine.dataProvider(api, options)];
  return {
    login: async (params) => {
      const { success, challenge, error, redirectTo } = await auth.login(params);
      expect(redirectTo).toBe(success ? '/' : undefined);
      if (challenge !== undefined) expect(error?.message).toBe(SEND_CODE);
      return challenge === undefined ? { message: error?.message } : { challenge };
    },
    isLoggedIn: async () => (await auth.check()).authenticated,
    payOut: () =>
      refusal<Refused & { statusCode: number }>(data.custom({ url: 'payouts', method: 'post' }), async (error) => ({
        message: error.message,
        status: error.statusCode,
        needsFactor: error.needsFactor,
        logsOut: (await auth.onError({ ...error, message: error.message })).logout === true,
      })),
    client: auth.client,
  };
};

@Controller()
class PayoutsController {
  @Post('api/payouts')
  payOut() {
    return { paid: true };
  }
}

class Rules extends SecurityConfig {
  override configure(): void {
    this.requireAuth('/api/**');
    this.requirePolicy('recent factor', hasFactor({ maxAgeMinutes: 5 }), '/api/payouts');
  }
}

describe.each([
  ['client', openClient],
  ['react-admin', openReactAdmin],
  ['refine', openRefine],
] as const)('%s', (name, open) => {
  // The client cannot see the platform. test/logins checks the endpoints on both.
  let app: AuthApp;
  beforeAll(async () => {
    const auth = { sessions: true, plugins: [secondFactor({ issuer: 'Shop' }), PASSKEYS] };
    app = await startAuth('fastify', { auth, controllers: [PayoutsController], providers: [Rules] });
  });
  afterAll(() => app.close());

  let email: string;
  let phone: AuthenticatorApp;
  let options: RecordedOptions;
  let front: FrontEnd;
  beforeEach(async () => {
    email = uniqueEmail();
    phone = new AuthenticatorApp(app, email, (await app.register({ email })).token);
    options = recordedOptions(`${app.url}/api`);
    front = open(`${app.url}/api`, options);
  });
  afterEach(() => vi.useRealTimers());

  const paths = (): string[] => options.sent.map(({ method, path }) => `${method} ${path}`);
  const begin = async (): Promise<string> => String((await front.login({ email, password: PASSWORD })).challenge);

  it('logs in by a password and a code', async () => {
    await phone.enrol();
    const challenge = await begin();
    expect(challenge).toMatch(/^[\w-]{20,}$/);
    expect([options.items.size, await front.isLoggedIn()]).toEqual([0, false]);
    const wrong = await front.login({ challenge, code: '000000' });
    expect(wrong).toEqual({ message: 'This code is not valid, or was used before' });
    expect([options.items.size, await front.isLoggedIn()]).toEqual([0, false]);
    const login = await front.login({ challenge, code: await phone.nextCode() });
    expect([login.challenge, login.message]).toEqual([undefined, undefined]);
    expect([await front.isLoggedIn(), (await front.client.user<{ email: string }>()).email]).toEqual([true, email]);
    // The tokens are those of a session, as after a login by a password.
    expect([...options.items.values()].join()).toContain('refreshToken');
    expect(paths().filter((path) => path.includes('POST'))).toEqual([
      'POST /auth/login',
      'POST /auth/mfa/challenge',
      'POST /auth/mfa/challenge',
    ]);
    expect(
      options.sent.every(({ method, headers }) => method !== 'POST' || headers['Authorization'] === undefined),
    ).toBe(true);
  });

  it('logs in by a password alone where the user has no factor', async () => {
    expect(await front.login({ email, password: PASSWORD })).not.toMatchObject({ challenge: expect.anything() });
    expect(await front.isLoggedIn()).toBe(true);
  });

  it('says that an endpoint needs a factor, keeps the login, and goes on after a login with a code', async () => {
    await front.login({ email, password: PASSWORD });
    const ended = vi.fn();
    front.client.onSessionEnd(ended);
    options.sent.length = 0;
    const message =
      name === 'client'
        ? 'Authentication required'
        : 'This needs a code of your second factor. Log in again with a code, and repeat it then.';
    const refused = { message, status: 401, needsFactor: true, logsOut: false };
    expect(await front.payOut()).toEqual(refused);
    // Another token would not help.
    expect([paths(), ended.mock.calls.length]).toEqual([['POST /payouts'], 0]);
    expect([await front.isLoggedIn(), front.client.keepsRefusedLogin]).toEqual([true, true]);

    await phone.enrol();
    await front.login({ challenge: await begin(), code: await phone.nextCode() });
    expect(await front.payOut()).toBeUndefined();
    vi.setSystemTime(Date.now() + 6 * 60_000);
    expect(await front.payOut()).toEqual(refused);
  });

  it('says that a login by a passkey needs a browser', async () => {
    const { message } = await front.login({ passkey: true });
    expect(message).toBe('Passkeys need a browser of 2025 or later, and a page at https: or localhost.');
  });
});
